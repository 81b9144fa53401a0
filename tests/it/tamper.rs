//! What someone else does to a finished job's record, by the real program: bytes flipped, files taken, added and swapped, the
//! journal cut, the chain written anew. Each is found, and named by file and line.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::samples;
use overnight::audit::verify::verify;
use overnight_core::job::digest::sha256;
use std::{
    fs,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// A folder with a completed job, and its workspace.
struct TestDir {
    folder: TempDir,
    workspace: PathBuf,
}

impl TestDir {
    fn new() -> Self {
        let mut dir = Self { folder: TempDir::new().unwrap(), workspace: PathBuf::new() };
        let documents = samples().join("standards");
        let words = ["run", "extract-requirements", "--quiet", "--json", "--documents", documents.to_str().unwrap()];
        let (code, said) = dir.run(&words);
        assert_eq!(code, 0, "{said}");
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        dir.workspace = PathBuf::from(said["workspace"].as_str().unwrap());
        dir
    }

    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_overnight"))
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// The first line of what verifying with the database says, and its exit code.
    fn verified(&self) -> (i32, String) {
        let (code, said) = self.run(&["audit", "verify", "last"]);
        (code, said.lines().next().unwrap_or_default().to_owned())
    }

    fn file(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap()
    }

    /// Folders of the archive, by name.
    fn archives(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.file("archive"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Replaces one byte, and gives the old one.
fn put(path: &Path, place: u64, byte: u8) -> u8 {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut old = [0];
    file.read_exact_at(&mut old, place).unwrap();
    file.write_all_at(&[byte], place).unwrap();
    old[0]
}

/// Numbers that look like chance and are the same in every run (the generator of Numerical Recipes).
fn chance(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Each byte of the record is as likely as any other, and takes any other value; no database is asked.
#[test]
fn a_thousand_flipped_bytes_are_each_found_and_named() {
    let dir = TestDir::new();
    let mut files = vec!["journal.jsonl".to_owned()];
    for archive in dir.archives() {
        for entry in fs::read_dir(dir.file("archive").join(&archive)).unwrap() {
            files.push(format!("archive/{archive}/{}", entry.unwrap().file_name().into_string().unwrap()));
        }
    }
    files.sort();
    let sizes: Vec<u64> = files.iter().map(|file| fs::metadata(dir.file(file)).unwrap().len()).collect();
    let all: u64 = sizes.iter().sum();
    let mut state = 11;
    for flip in 0..1000 {
        // One in four in the live journal, which is the smallest part and the least protected.
        let mut place = chance(&mut state) % all;
        let mut which =
            sizes.iter().position(|size| place.checked_sub(*size).map(|rest| place = rest).is_none()).unwrap();
        if flip % 4 == 0 {
            which = files.iter().position(|file| file == "journal.jsonl").unwrap();
            place = chance(&mut state) % sizes[which];
        }
        let (name, path) = (&files[which], dir.file(&files[which]));
        let content = fs::read(&path).unwrap();
        let old = content[usize::try_from(place).unwrap()];
        let new = old ^ u8::try_from(1 + chance(&mut state) % 255).unwrap();
        put(&path, place, new);
        let found = verify(&dir.workspace, None);
        put(&path, place, old);
        let faults = found.unwrap_err();
        let line = content[..usize::try_from(place).unwrap()].split(|byte| *byte == b'\n').count() as u64;
        let is_journal = name.ends_with("journal.jsonl");
        assert_eq!(
            (faults[0].file.as_str(), faults[0].line),
            (name.as_str(), is_journal.then_some(line)),
            "byte {place} of {name}: {old} became {new}"
        );
    }
    assert_eq!(dir.verified().0, 0);
}

#[test]
fn what_is_missing_added_swapped_or_cut_is_named_by_the_program() {
    let dir = TestDir::new();
    let archives = dir.archives();
    let (first, second) = (format!("archive/{}", archives[1]), format!("archive/{}", archives[2]));
    let check = |name: &str, expected: &str| {
        let (code, said) = dir.verified();
        assert_eq!((code, said.as_str()), (1, expected), "{name}");
    };
    let aside = dir.folder.path().join("aside");
    let take = |path: &str| fs::rename(dir.file(path), &aside).unwrap();
    let give = |path: &str| fs::rename(&aside, dir.file(path)).unwrap();

    for file in [format!("{first}/todos.md"), format!("{second}/journal.jsonl")] {
        take(&file);
        assert!(dir.verified().1.starts_with(&format!("{file}: missing")), "{}", dir.verified().1);
        give(&file);
    }
    take(&first);
    assert!(dir.verified().1.starts_with(&format!("{first}: missing")), "{}", dir.verified().1);
    give(&first);

    fs::write(dir.file(&first).join("extra.md"), "more").unwrap();
    check("added", &format!("{first}/extra.md: added: its manifest doesn't know it"));
    fs::remove_file(dir.file(&first).join("extra.md")).unwrap();

    take(&first);
    fs::rename(dir.file(&second), dir.file(&first)).unwrap();
    fs::rename(&aside, dir.file(&second)).unwrap();
    let (code, said) = dir.verified();
    assert_eq!(code, 1);
    assert!(said.starts_with(&format!("{second}/manifest.json: changed")), "{said}");
    fs::rename(dir.file(&second), &aside).unwrap();
    fs::rename(dir.file(&first), dir.file(&second)).unwrap();
    give(&first);

    // A line of the end taken away: only the database knows that it was there.
    let whole = dir.text("journal.jsonl");
    let lines = whole.lines().count();
    let (kept, _) = whole.trim_end().rsplit_once('\n').unwrap();
    fs::write(dir.file("journal.jsonl"), format!("{kept}\n")).unwrap();
    let (code, said) = dir.verified();
    assert_eq!(code, 1);
    assert!(said.contains("the journal ends at") && said.ends_with("its end was cut off"), "{said}");
    fs::write(dir.file("journal.jsonl"), &whole[..whole.len() - 7]).unwrap();
    let (code, said) = dir.verified();
    assert_eq!(code, 1);
    assert!(said.starts_with(&format!("journal.jsonl line {lines}: the line has no end")), "{said}");
    fs::write(dir.file("journal.jsonl"), &whole).unwrap();
    assert_eq!(dir.verified().0, 0);
}

/// Someone who knows the format changes what was found, and makes everything after it fit: each line, the archives' manifests,
/// and the lines that hold those. A copied folder can't show it; the database can.
#[test]
fn a_chain_written_anew_is_found_by_the_database() {
    let dir = TestDir::new();
    let lines: Vec<String> = dir.text("journal.jsonl").lines().map(str::to_owned).collect();
    let place = lines.iter().position(|line| line.contains("\"confidence\":")).unwrap();
    let confidence = regex::Regex::new(r#""confidence":[0-9.]+"#).unwrap();
    let mut forged = lines[..place].to_vec();
    for line in &lines[place..] {
        let (start, rest) = line.split_once("\"prev\":\"").unwrap();
        let prev = forged.last().map_or_else(|| rest[..64].to_owned(), |line| sha256(line.as_bytes()));
        let (content, _) = rest[64..].rsplit_once(",\"sum\":").unwrap();
        let content = confidence.replace_all(content, "\"confidence\":0.123");
        let content = format!("{start}\"prev\":\"{prev}{content}");
        forged.push(format!("{content},\"sum\":\"{}\"}}", &sha256(content.as_bytes())[..16]));
    }
    assert_ne!(forged, lines);
    fs::write(dir.file("journal.jsonl"), forged.join("\n") + "\n").unwrap();
    assert_eq!(
        verify(&dir.workspace, None).map(|verified| verified.head),
        Ok(sha256(forged.last().unwrap().as_bytes()))
    );
    let (code, said) = dir.verified();
    assert_eq!(code, 1);
    let (seq, _) = forged.last().unwrap()["{\"seq\":".len()..].split_once(',').unwrap();
    assert_eq!(
        said,
        format!(
            "journal.jsonl line {}: the database's last checkpoint holds another line {seq} ({}): the journal was written anew",
            forged.len(),
            sha256(lines.last().unwrap().as_bytes())
        )
    );
}
