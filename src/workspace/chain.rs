//! The hash chain of the journal's lines: each line names its number and the SHA-256 of the line before,
//! and ends with a checksum of its own, so that damage to the newest line is seen too, which no line follows yet.
//! Reading is the same for a runner that resumes and for an auditor that verifies; they differ in what they do at a break.

use super::{error::WorkspaceError, files::Workspace, other_format::OtherFormat};
use overnight_core::job::{
    digest::{ZERO, sha256, sha256_twice},
    event::{Event, LifeEvent},
    part::{Fact, PartRegister},
    spec::FORMAT,
    time::Timestamp,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
};

/// The current phase's part of the journal.
pub const LIVE: &str = "journal.jsonl";
/// The folder of finished and abandoned phases.
pub const ARCHIVE: &str = "archive";

/// One line of the journal: one step of the state machine. `E` is the reader's event type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "E: Fact"))]
pub struct JournalLine<E> {
    /// From 1, without a gap through all files.
    pub seq: u64,
    pub at: Timestamp,
    /// Number of the lease under which it was decided.
    pub lease: u64,
    /// SHA-256 of the line before; 64 zeros in the first.
    pub prev: String,
    #[serde(deserialize_with = "events")]
    pub events: Vec<E>,
    /// Checksum of the line itself, see [`seal`]. Lines without one are read, and only the next line holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<String>,
}

/// Reads events through a tree of values: the parser represents numbers of any length as texts, which an internally
/// tagged enum would not accept as numbers.
fn events<'de, D: Deserializer<'de>, E: Fact>(deserializer: D) -> Result<Vec<E>, D::Error> {
    let values = Vec::<Value>::deserialize(deserializer)?;
    values.into_iter().map(|value| E::from_value(value).map_err(D::Error::custom)).collect()
}

/// Hexadecimal digits of a SHA-256 that are kept as a line's own checksum. It detects damage; a deliberate change can
/// include a new checksum, and is detected by the next line or by the database's anchor.
const SUM_DIGITS: usize = 16;
const SUM_KEY: &[u8] = br#","sum":""#;
const SUM_END: &[u8] = br#""}"#;

/// Ends a line, a JSON object still without checksum, with one: the first 16 hexadecimal digits of the SHA-256 of all
/// bytes before `,"sum":`.
pub(crate) fn seal(line: &mut Vec<u8>) {
    let brace = line.pop();
    debug_assert_eq!(brace, Some(b'}'));
    let sum = sha256(line);
    line.extend_from_slice(SUM_KEY);
    line.extend_from_slice(&sum.as_bytes()[..SUM_DIGITS]);
    line.extend_from_slice(SUM_END);
}

/// Reads one line by itself, with its SHA-256, or returns its fault. Its place in the chain is not checked.
pub(crate) fn parse<E: Fact>(line: &[u8]) -> (String, Result<JournalLine<E>, InvalidLine>) {
    let middle = line.len().saturating_sub(SUM_KEY.len() + SUM_DIGITS + SUM_END.len());
    let (sum, head) = sha256_twice(line, middle);
    let is_sealed = || {
        line[middle..].strip_prefix(SUM_KEY).and_then(|rest| rest.strip_suffix(SUM_END))
            == Some(&sum.as_bytes()[..SUM_DIGITS])
    };
    let decision = match serde_json::from_slice::<JournalLine<E>>(line) {
        Err(error) => Err(reason(&error)),
        Ok(decision) if decision.sum.is_some() && !is_sealed() => {
            Err(InvalidLine::Damaged("this line was changed: its own checksum (sum) is another one".to_owned()))
        }
        Ok(decision) => Ok(decision),
    };
    (head, decision)
}

/// Why a line of the journal can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLine {
    /// It is not as it was written; a fragment.
    #[error("{0}")]
    Damaged(String),
    /// It is the first one, and another version of the program wrote it.
    #[error("it has format {}", .0.format)]
    OtherFormat(OtherFormat),
}

/// A place in the chain: number and SHA-256 of a line; 0 and 64 zeros before the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    pub seq: u64,
    pub head: String,
}

impl ChainPosition {
    pub fn start() -> Self {
        Self { seq: 0, head: ZERO.to_owned() }
    }

    /// Reads `line` as the one after this place, restores its parts from `parts`, and moves on to it; or returns its
    /// fault.
    pub(crate) fn follow<E: Fact>(
        &mut self,
        line: &[u8],
        parts: &mut PartRegister,
    ) -> Result<JournalLine<E>, InvalidLine> {
        let (head, mut read) = parse::<E>(line);
        let may_be_other = match &mut read {
            Ok(decision) => match decision.events.first_mut().and_then(Fact::as_event) {
                Some(Event::Life(LifeEvent::JobCreated { spec, .. })) => spec.format != FORMAT,
                Some(_) | None => false,
            },
            Err(_) => self.seq == 0,
        };
        if may_be_other && let Some(other) = OtherFormat::of_line(line) {
            return Err(InvalidLine::OtherFormat(other));
        }
        let mut decision = read?;
        if decision.seq != self.seq + 1 {
            return Err(InvalidLine::Damaged(format!("seq is {}, expected {}", decision.seq, self.seq + 1)));
        }
        if decision.prev != self.head {
            return Err(InvalidLine::Damaged(format!(
                "prev is not the SHA-256 of the line before it: one of the two was changed (prev {}, line before {})",
                decision.prev, self.head
            )));
        }
        parts.resolve(decision.seq, &mut decision.events).map_err(|error| InvalidLine::Damaged(error.to_string()))?;
        *self = Self { seq: decision.seq, head };
        Ok(decision)
    }
}

/// The parser's words without its own line number, which is always 1 here and would mislead.
fn reason(error: &serde_json::Error) -> InvalidLine {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    InvalidLine::Damaged(format!("not a decision: {text} (column {})", error.column()))
}

/// One line as it stands in the file.
#[derive(Debug)]
pub(crate) struct RawLine<'a> {
    /// From 1.
    pub number: u64,
    /// Without the newline.
    pub bytes: &'a [u8],
    /// Whether the newline was there.
    pub ended: bool,
}

/// Reads a journal file line by line into one buffer.
#[derive(Debug)]
pub(crate) struct LineReader {
    reader: BufReader<File>,
    buffer: Vec<u8>,
    number: u64,
}

impl LineReader {
    pub(crate) fn new(file: File) -> Self {
        Self { reader: BufReader::with_capacity(256 * 1024, file), buffer: Vec::new(), number: 0 }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        self.buffer.clear();
        if self.reader.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let ended = self.buffer.last() == Some(&b'\n');
        let bytes = if ended { &self.buffer[..self.buffer.len() - 1] } else { &self.buffer[..] };
        Ok(Some(RawLine { number: self.number, bytes, ended }))
    }
}

/// An archived part of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JournalSegment {
    /// Name of the folder in `archive/`.
    pub folder: String,
    /// The number in its first line; `None` if there is no such line.
    pub first_seq: Option<u64>,
}

impl JournalSegment {
    /// Path of its journal file.
    pub(crate) fn journal(&self) -> String {
        format!("{ARCHIVE}/{}/{LIVE}", self.folder)
    }
}

/// The archives in the order of the chain. Names don't give it: `phase-02-x.rewound-1` is older than `phase-02-x`.
pub(crate) fn segments(workspace: &Workspace) -> Result<Vec<JournalSegment>, WorkspaceError> {
    let mut segments = Vec::new();
    for folder in workspace.folders(ARCHIVE)? {
        let mut segment = JournalSegment { folder, first_seq: None };
        match workspace.stream(&segment.journal()) {
            Ok((mut file, _)) => segment.first_seq = first_seq(&mut file)?,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        segments.push(segment);
    }
    segments.sort_by_key(|segment| (segment.first_seq.unwrap_or(u64::MAX), segment.folder.clone()));
    Ok(segments)
}

/// The number in a file's first line, from its first bytes: the journal always writes `seq` first.
fn first_seq(file: &mut File) -> Result<Option<u64>, WorkspaceError> {
    let mut head = Vec::with_capacity(32);
    file.take(32).read_to_end(&mut head).map_err(|error| WorkspaceError::from_io("read", ARCHIVE, error))?;
    let digits = head.strip_prefix(br#"{"seq":"#).and_then(|rest| rest.split(|byte| *byte == b',').next());
    Ok(digits.and_then(|digits| std::str::from_utf8(digits).ok()).and_then(|digits| digits.parse().ok()))
}

/// Whether `part` is a prefix of `whole`: a live journal that an archive already holds, complete or half emptied.
pub(crate) fn is_beginning_of(part: File, whole: File) -> io::Result<bool> {
    let mut part = BufReader::with_capacity(64 * 1024, part);
    let mut whole = BufReader::with_capacity(64 * 1024, whole);
    loop {
        let (left, right) = (part.fill_buf()?, whole.fill_buf()?);
        if left.is_empty() {
            return Ok(true);
        }
        let count = left.len().min(right.len());
        if count == 0 || left[..count] != right[..count] {
            return Ok(false);
        }
        part.consume(count);
        whole.consume(count);
    }
}
