//! Verifies the journal: reads all lines, also after a break, names the changed one, and collects what the events say about files.

use super::{
    Faults,
    expected_files::{ExpectedFiles, ResultHashes, concerns_files},
};
use crate::workspace::{
    archive_manifest::{ArchiveManifest, MANIFEST},
    chain::{self, ARCHIVE, ChainPosition, LIVE, LineReader, RawLine},
    error::WorkspaceError,
    files::Workspace,
    other_format::OtherFormat,
};
use overnight_core::job::{
    digest::sha256,
    event::{Event, PhaseEvent},
    part::PartRegister,
    state::PLAN_FILE,
};
use serde_json::Value;
use std::fs::File;

/// One archive as it was found.
#[derive(Debug)]
pub(super) struct ArchiveDir {
    pub folder: String,
    /// The manifest with the hash of its text; `None` if it can't be read.
    pub manifest: Option<(ArchiveManifest, String)>,
}

impl ArchiveDir {
    /// Path of one of its files.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{ARCHIVE}/{}/{name}", self.folder)
    }
}

/// The chain of the journal as it was read.
#[derive(Debug)]
pub(super) struct Chain {
    pub lines: u64,
    pub end: ChainPosition,
    /// All `archive_stored`, in order.
    pub stored: Vec<ArchiveMention>,
    /// The facts about files in the events.
    pub files: ExpectedFiles,
    /// Lines are missing or can't be read, so their events aren't known.
    pub has_gap: bool,
    /// The same for the lines since the newest archive.
    pub has_gap_since: bool,
    /// Place of each archive's part in the chain: the number of its first line, and its last one. `None` where nothing can be read.
    pub spans: Vec<Option<(u64, ChainPosition)>>,
    /// Files written while each archive's part of the journal was live.
    pub results: Vec<ResultHashes>,
    /// The file of the first line, if another version of the program wrote it: nothing else is known then.
    pub other_format: Option<(String, OtherFormat)>,
}

/// An `archive_stored` event of the journal.
#[derive(Debug)]
pub(super) struct ArchiveMention {
    pub file: String,
    pub line: u64,
    pub folder: String,
    pub manifest: String,
}

/// The archives in the order of the chain.
pub(super) fn archives(workspace: &Workspace, faults: &mut Faults) -> Vec<ArchiveDir> {
    let segments = chain::segments(workspace).unwrap_or_else(|error| {
        faults.add(ARCHIVE, None, error.to_string());
        Vec::new()
    });
    let mut archives = Vec::new();
    for segment in segments {
        let mut archive = ArchiveDir { folder: segment.folder, manifest: None };
        let path = archive.path(MANIFEST);
        match workspace.read(&path) {
            Ok(text) => match ArchiveManifest::parse(&text) {
                Ok(manifest) => archive.manifest = Some((manifest, sha256(&text))),
                Err(error) => faults.add(&path, None, error.to_string()),
            },
            Err(error) => faults.add(&path, None, error.to_string()),
        }
        let first = first_seq(workspace, &archive, segment.first_seq);
        archives.push((first, archive));
    }
    archives.sort_by_key(|(first, archive)| (*first, archive.folder.clone()));
    archives.into_iter().map(|(_, archive)| archive).collect()
}

/// The number of an archive's first line in the chain. Journal and manifest should agree; if they don't, a changed one
/// must not put all archives out of order, so the number of lines decides.
fn first_seq(workspace: &Workspace, archive: &ArchiveDir, journal: Option<u64>) -> u64 {
    let span = archive.manifest.as_ref().map(|(manifest, _)| &manifest.journal);
    match (journal, span) {
        (Some(first), None) => first,
        (None, Some(span)) => span.first_seq,
        (None, None) => u64::MAX,
        (Some(first), Some(span)) if first == span.first_seq => first,
        (Some(first), Some(span)) => {
            let count = workspace.stream(&archive.path(LIVE)).ok().and_then(|(file, _)| {
                let mut lines = LineReader::new(file);
                let mut count = 0;
                while lines.next().ok()?.is_some() {
                    count += 1;
                }
                Some(count)
            });
            if span.last_seq.checked_sub(span.first_seq).and_then(|steps| steps.checked_add(1)) == count {
                span.first_seq
            } else {
                first
            }
        }
    }
}

/// Reads the whole chain.
pub(super) fn read(
    workspace: &Workspace,
    archives: &[ArchiveDir],
    anchor: Option<(u64, &str)>,
    faults: &mut Faults,
) -> Chain {
    // The live file is opened first: if it is archived meanwhile, this handle keeps its lines.
    let live = workspace.stream(LIVE);
    let mut reader = ChainReader {
        faults,
        anchor,
        anchored: anchor.is_none_or(|(seq, _)| seq == 0),
        expected: Some(1),
        suspect: None,
        is_bad: false,
        last: None,
        first: None,
        record: Chain {
            lines: 0,
            end: ChainPosition::start(),
            stored: Vec::new(),
            files: ExpectedFiles::new(),
            has_gap: false,
            has_gap_since: false,
            spans: Vec::new(),
            results: Vec::new(),
            other_format: None,
        },
        parts: PartRegister::default(),
    };
    for archive in archives {
        let path = archive.path(LIVE);
        reader.first = None;
        match workspace.stream(&path) {
            Ok((file, _)) => reader.file(&path, file),
            Err(error) => reader.unreadable(&path, &error),
        }
        let span = reader.first.map(|first| (first, reader.record.end.clone()));
        reader.record.spans.push(span);
        // The plan at that time, including changes by a person.
        if let (Some((manifest, _)), true) = (&archive.manifest, reader.record.files.plan.is_settled()) {
            reader.record.files.plan.set(manifest.files.get(PLAN_FILE).map(|hash| hash.sha256.clone()));
        }
        let results = std::mem::take(&mut reader.record.files.results);
        reader.record.results.push(results);
    }
    reader.record.has_gap_since = false;
    match live {
        Ok((file, _)) => {
            if !is_superseded(workspace, &file, archives.last()) {
                reader.file(LIVE, file);
            }
        }
        Err(error) => {
            reader.unreadable(LIVE, &error);
            // It is obvious then that the journal doesn't reach the anchor.
            reader.anchored = true;
        }
    }
    reader.end()
}

/// A crash between storing an archive and restarting the live journal leaves both; the archive counts.
fn is_superseded(workspace: &Workspace, live: &File, newest: Option<&ArchiveDir>) -> bool {
    let Some(newest) = newest else { return false };
    let is_empty = live.metadata().is_ok_and(|metadata| metadata.len() == 0);
    // Its own handle: clones share a reading position.
    let (Ok((again, _)), Ok((archived, _))) = (workspace.stream(LIVE), workspace.stream(&newest.path(LIVE))) else {
        return false;
    };
    !is_empty && chain::is_beginning_of(again, archived).unwrap_or(false)
}

struct ChainReader<'a> {
    faults: &'a mut Faults,
    anchor: Option<(u64, &'a str)>,
    anchored: bool,
    /// Number of the next line; `None` after one that can't be read.
    expected: Option<u64>,
    /// A line that doesn't fit the next one, where either may be at fault: the line after the next decides.
    suspect: Option<(String, u64)>,
    /// The last line is known to be changed, so that the next one can't fit it.
    is_bad: bool,
    /// File and number of the last line.
    last: Option<(String, u64)>,
    /// The number in the file's first line.
    first: Option<u64>,
    record: Chain,
    parts: PartRegister,
}

const CHANGED: &str = "this line was changed: the line after it holds another SHA-256";
const MISFIT: &str = "this line was changed: it fits neither the line before it nor the line after it";

impl ChainReader<'_> {
    fn unreadable(&mut self, file: &str, error: &WorkspaceError) {
        let what = if error.is_not_found() { "missing".to_owned() } else { error.to_string() };
        self.faults.add(file, None, what);
        self.gap();
    }

    /// The next line can't be checked against one before it.
    fn gap(&mut self) {
        self.expected = None;
        self.is_bad = true;
        self.record.has_gap = true;
        self.record.has_gap_since = true;
    }

    fn file(&mut self, name: &str, file: File) {
        let mut lines = LineReader::new(file);
        loop {
            match lines.next() {
                Ok(Some(line)) if line.ended => self.line(name, &line),
                Ok(Some(line)) => {
                    let what = format!(
                        "the line has no end ({} bytes): it was cut, or a crash came while it was written",
                        line.bytes.len()
                    );
                    self.faults.add(name, Some(line.number), what);
                    self.gap();
                }
                Ok(None) => break,
                Err(error) => {
                    self.unreadable(name, &WorkspaceError::from_io("read", name, error));
                    break;
                }
            }
        }
    }

    fn line(&mut self, file: &str, line: &RawLine<'_>) {
        let (hash, decision) = chain::parse::<Value>(line.bytes);
        self.record.lines += 1;
        let here = (file.to_owned(), line.number);
        let last = self.last.replace(here);
        let decision = match decision {
            Ok(decision) => decision,
            Err(error) => {
                self.settle(CHANGED);
                self.faults.add(file, Some(line.number), error.to_string());
                // If this is the anchor's line, the fault that the journal doesn't reach the anchor would be redundant.
                self.anchored |= self.anchor.is_some_and(|(seq, _)| self.expected == Some(seq));
                self.gap();
                self.record.end.head = hash;
                return;
            }
        };
        self.first.get_or_insert(decision.seq);
        let fits = decision.prev == self.record.end.head;
        if fits {
            self.settle(CHANGED);
        } else if self.suspect.is_some() {
            // The last line fits neither its predecessor nor this line: it is the last line that was changed.
            self.suspect = last;
            self.settle(MISFIT);
        } else if !self.is_bad {
            match last {
                Some(last) => self.suspect = Some(last),
                None => self.faults.add(
                    file,
                    Some(line.number),
                    "prev is not 64 zeros: the lines before it are missing, or it was changed",
                ),
            }
        }
        let was_bad = std::mem::replace(&mut self.is_bad, false);
        let next = match self.expected {
            Some(expected)
                if decision.seq != expected && !(was_bad && decision.seq.checked_add(1) == Some(expected)) =>
            {
                self.suspect = None;
                let what =
                    format!("seq is {}, expected {expected}: lines are missing, added or out of order", decision.seq);
                self.faults.add(file, Some(line.number), what);
                self.gap();
                // Either this number was changed, or lines before it are gone: the next line fits one of the two.
                if fits { expected } else { decision.seq }
            }
            Some(_) | None => decision.seq,
        };
        self.expected = next.checked_add(1);
        if let Some((seq, head)) = self.anchor
            && seq == decision.seq
        {
            self.anchored = true;
            if head == hash {
                // The anchor confirms this line, so a misfit is the fault of the previous line.
                self.settle(CHANGED);
            } else {
                let what = format!(
                    "the database's last checkpoint holds another line {seq} ({head}): the journal was written anew"
                );
                self.faults.add(file, Some(line.number), what);
            }
        }
        self.record.end = ChainPosition { seq: decision.seq, head: hash };
        if decision.seq == 1 {
            let other = decision.events.first().and_then(OtherFormat::of_event);
            self.record.other_format = other.map(|other| (file.to_owned(), other));
        }
        let mut events: Vec<Event> =
            decision.events.into_iter().filter_map(|event| self.read_event(file, line.number, event)).collect();
        // Missing lines may contain the texts that are named here.
        if let (Err(unknown), false) = (self.parts.resolve(decision.seq, &mut events), self.record.has_gap) {
            self.faults.add(file, Some(line.number), unknown.to_string());
        }
        for event in events {
            self.event(file, line.number, event);
        }
    }

    /// Reports the suspect.
    fn settle(&mut self, what: &str) {
        if let Some((file, line)) = self.suspect.take() {
            self.faults.add(&file, Some(line), what);
        }
    }

    /// Parses an event that concerns files, or whose texts other events refer to.
    fn read_event(&mut self, file: &str, line: u64, event: Value) -> Option<Event> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !concerns_files(&kind) {
            return None;
        }
        match serde_json::from_value(event) {
            Ok(event) => Some(event),
            Err(error) => {
                self.faults.add(file, Some(line), format!("its {kind} can't be read: {error}"));
                self.record.has_gap = true;
                self.record.has_gap_since = true;
                None
            }
        }
    }

    fn event(&mut self, file: &str, line: u64, event: Event) {
        if let Event::Phase(PhaseEvent::ArchiveStored { folder, manifest_sha256: manifest }) = event {
            self.record.stored.push(ArchiveMention { file: file.to_owned(), line, folder, manifest });
            return;
        }
        let strange = self.record.files.on(event);
        // Missing lines may explain the change.
        if let (Some(path), false) = (strange, self.record.has_gap) {
            let what = format!("{path} was not as the journal knew it when this call began: someone else changed it");
            self.faults.add(file, Some(line), what);
        }
    }

    fn end(mut self) -> Chain {
        self.settle("this line was changed, or prev in the line after it, which is the last");
        if let (false, Some((seq, _))) = (self.anchored, self.anchor) {
            let what = format!(
                "the database's last checkpoint is at line {seq} of the chain, and the journal ends at {}: its end was cut off",
                self.record.end.seq
            );
            self.faults.add(LIVE, None, what);
        }
        self.record
    }
}
