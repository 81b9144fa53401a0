//! The journal as a crash, a bad disk or somebody's hand may leave it: whatever was changed, what is
//! read is a beginning of what was written. A torn end of the live file is cut off, and said; all else is a break that names its
//! file, and nothing goes on.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::cases;
use overnight::workspace::{
    Workspace,
    chain::{JournalLine, LIVE},
    journal::{self, Journal, JournalError},
};
use overnight_core::job::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Two archives and a live file of so many lines each.
struct Record {
    _folder: TempDir,
    workspace: Workspace,
    files: Vec<String>,
    /// The events of all lines, in order.
    written: Vec<Value>,
}

impl Record {
    fn of(lines: [usize; 3]) -> Self {
        let folder = TempDir::new().unwrap();
        let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job").unwrap();
        let mut journal = Journal::open(&workspace, |_: JournalLine<Value>| Ok(())).unwrap();
        let mut files = Vec::new();
        let mut written = Vec::new();
        for (part, count) in lines.into_iter().enumerate() {
            for line in 0..count {
                let event =
                    json!({"type": "noted", "text": format!("part {part}, line {line}: é \n \u{1}"), "n": line});
                journal.append(Timestamp::default(), 3, std::slice::from_ref(&event)).unwrap();
                written.push(json!([event]));
            }
            if part < 2 {
                let name = format!("archive/phase-{part:02}-part/{LIVE}");
                workspace.write(&name, &workspace.read(LIVE).unwrap()).unwrap();
                journal.after_archive().unwrap();
                files.push(name);
            }
        }
        files.push(LIVE.to_owned());
        Self { _folder: folder, workspace, files, written }
    }

    fn read(&self) -> (Vec<Value>, Result<Option<u64>, JournalError>) {
        let mut seen = Vec::new();
        let read = journal::read(&self.workspace, |decision: JournalLine<Value>| {
            seen.push(Value::Array(decision.events));
            Ok(())
        });
        (seen, read.map(|read| read.torn))
    }

    fn open(&self) -> (Vec<Value>, Result<Journal, JournalError>) {
        let mut seen = Vec::new();
        let journal = Journal::open(&self.workspace, |decision: JournalLine<Value>| {
            seen.push(Value::Array(decision.events));
            Ok(())
        });
        (seen, journal)
    }
}

/// What becomes of one of the files.
#[derive(Clone, Debug)]
enum Harm {
    /// One byte (of a thousand parts of the file) becomes another.
    Flip(usize, u8),
    Cut(usize),
    Take(usize, usize),
    Put(usize, Vec<u8>),
    Zeros(usize, usize),
    /// A line once more.
    Repeat(usize),
    /// A line and the one after it change places.
    Swap(usize),
    DropLine(usize),
    Remove,
    Empty,
    /// The content of another of the files.
    Other(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let place = 0_usize..1_000;
    prop_oneof![
        6 => (place.clone(), 1_u8..=255).prop_map(|(at, by)| Harm::Flip(at, by)),
        4 => place.clone().prop_map(Harm::Cut),
        2 => (place.clone(), 1_usize..60).prop_map(|(at, count)| Harm::Take(at, count)),
        2 => (place.clone(), proptest::collection::vec(any::<u8>(), 1..40)).prop_map(|(at, bytes)| Harm::Put(at, bytes)),
        1 => (place.clone(), prop::sample::select(vec!["\n", "\n\n", "{}\n", "\r\n", " ", "\u{feff}"]))
            .prop_map(|(at, text)| Harm::Put(at, text.as_bytes().to_vec())),
        2 => (place.clone(), 1_usize..300).prop_map(|(at, count)| Harm::Zeros(at, count)),
        2 => (0_usize..6).prop_map(Harm::Repeat),
        2 => (0_usize..6).prop_map(Harm::Swap),
        2 => (0_usize..6).prop_map(Harm::DropLine),
        1 => Just(Harm::Remove),
        1 => Just(Harm::Empty),
        2 => (0_usize..3).prop_map(Harm::Other),
    ]
}

impl Harm {
    /// The file's content afterwards; `None` where it is gone.
    fn done_to(&self, record: &Record, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        let len = bytes.len();
        let place = |at: usize| len * at / 1_000;
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        match self {
            Self::Flip(at, by) => {
                if let Some(byte) = bytes.get_mut(place(*at)) {
                    *byte = byte.wrapping_add(*by);
                }
            }
            Self::Cut(at) => bytes.truncate(place(*at)),
            Self::Take(at, count) => drop(bytes.drain(place(*at)..len.min(place(*at) + count))),
            Self::Put(at, put) => drop(bytes.splice(place(*at)..place(*at), put.iter().copied())),
            Self::Zeros(at, count) => bytes[place(*at)..len.min(place(*at) + count)].fill(0),
            Self::Repeat(line) => {
                if let Some(again) = lines.get(*line).cloned() {
                    lines.insert(*line, again);
                }
                bytes = lines.concat();
            }
            Self::Swap(line) => {
                if line + 1 < lines.len() {
                    lines.swap(*line, line + 1);
                }
                bytes = lines.concat();
            }
            Self::DropLine(line) => {
                if *line < lines.len() {
                    lines.remove(*line);
                }
                bytes = lines.concat();
            }
            Self::Remove => return None,
            Self::Empty => bytes.clear(),
            // What was taken away before can only be taken away here too.
            Self::Other(which) => return record.workspace.read(&record.files[*which]).ok(),
        }
        Some(bytes)
    }
}

/// What was written, as far as it goes: a beginning, line for line.
fn is_beginning(seen: &[Value], written: &[Value]) -> bool {
    seen.len() <= written.len() && seen == &written[..seen.len()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(50), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_is_a_beginning_of_what_was_written(
        lines in (1_usize..4, 1_usize..4, 0_usize..5),
        harms in proptest::collection::vec((0_usize..3, harm()), 1..3),
    ) {
        let record = Record::of([lines.0, lines.1, lines.2]);
        let before: Vec<Vec<u8>> = record.files.iter().map(|name| record.workspace.read(name).unwrap()).collect();
        for (which, harm) in &harms {
            let name = &record.files[*which];
            let Ok(bytes) = record.workspace.read(name) else { continue };
            match harm.done_to(&record, &bytes) {
                Some(after) => drop(record.workspace.write(name, &after).unwrap()),
                None => record.workspace.remove(name).unwrap(),
            }
        }
        let archived = lines.0 + lines.1;
        let (seen, read) = record.read();
        prop_assert!(is_beginning(&seen, &record.written), "{:?}", seen);
        let (again, opened) = record.open();
        prop_assert_eq!(&again, &seen, "an auditor and a runner read the same");
        match (read, opened) {
            (Ok(torn), Ok(mut journal)) => {
                // Archived lines are never given up silently; of the live file, only an unfinished end is. Where the live
                // file has no line that goes on from the archive, its end is held by its manifest and by the database.
                let goes_on = seen.len() > archived;
                let newest = record.workspace.read(&record.files[1]).unwrap();
                prop_assert!(goes_on || before[1].starts_with(&newest) && newest.ends_with(b"\n"), "{} lines", seen.len());
                prop_assert_eq!(torn, journal.torn());
                prop_assert_eq!(journal.seq(), seen.len() as u64);
                // It stands ready: what is appended is the next line, and there is nothing left to mend.
                journal.append(Timestamp::default(), 4, &[json!({"type": "opened"})]).unwrap();
                drop(journal);
                let (more, read) = record.read();
                prop_assert_eq!(read.unwrap(), None);
                prop_assert_eq!(more.len(), seen.len() + 1);
                prop_assert_eq!(&more[..seen.len()], &seen[..]);
            }
            (Err(error), Err(same)) => {
                prop_assert_eq!(error.to_string(), same.to_string());
                let JournalError::Broken { file, .. } = error else { panic!("{error}") };
                prop_assert!(record.files.contains(&file), "{}", file);
                // The break is named no earlier than the first file that isn't as it was.
                let changed = record.files.iter().zip(&before).position(|(name, bytes)| {
                    record.workspace.read(name).ok().as_ref() != Some(bytes)
                });
                let named = record.files.iter().position(|name| *name == file);
                prop_assert!(named >= changed, "{} is named, and is as it was", file);
            }
            (read, opened) => panic!("read: {read:?}, opened: {opened:?}"),
        }
    }

    /// Any bytes at all as the live file, and as an archived one.
    #[test]
    fn any_bytes_give_lines_or_a_break(bytes in proptest::collection::vec(any::<u8>(), 0..300), archived in any::<bool>()) {
        let record = Record::of([1, 1, 1]);
        record.workspace.write(&record.files[if archived { 0 } else { 2 }], &bytes).unwrap();
        let (seen, read) = record.read();
        prop_assert!(is_beginning(&seen, &record.written));
        prop_assert_eq!(read.is_ok(), record.open().1.is_ok());
    }
}

/// Depth and length that no line of ours has.
#[test]
fn lines_made_to_hurt_are_torn_or_broken() {
    let record = Record::of([1, 1, 1]);
    for unit in ["[", "{\"a\":", "\n", "\0", "\0\n", "{\"seq\":4,\"events\":[", "1", "\"", "\u{feff}"] {
        for end in ["", "\n"] {
            record.workspace.write(LIVE, (unit.repeat(1_000_000 / unit.len()) + end).as_bytes()).unwrap();
            let (seen, _) = record.read();
            assert_eq!(seen, record.written[..2], "{unit:?}");
        }
    }
}
