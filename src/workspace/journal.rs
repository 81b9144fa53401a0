//! The append-only record of all decisions: one JSON line each, in a hash chain through the archives' files and the
//! live one. The meaning of events isn't known here.
//!
//! A line is in the file when `append` returns, and on the disk when `sync` does: no external effect may follow from it
//! before. The remains of a crash, and their repair:
//! - an incomplete line at the end of the live file: it was never acted on; it is cut off, and `torn` holds its length;
//! - a hole in one of the last lines, and the lines after it: they were written to the disk together; they are cut off;
//! - an archive, and still the live journal from which it was made: the archive wins, the live file is emptied;
//! - anything else that doesn't fit the chain is [`JournalError::Broken`], and the job does not continue.

use super::{
    chain::{self, ChainPosition, InvalidLine, JournalLine, JournalSegment, LIVE, LineReader},
    error::{WorkspaceError, is_full},
    files::{self, Workspace},
    fsync,
    other_format::OtherFormat,
    private::FILE_MODE,
};
use crate::failpoint;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use overnight_core::job::{
    digest::sha256,
    part::{Fact, PartRegister},
    time::Timestamp,
};
use serde::Serialize;
use std::{
    fs::File,
    io::{self, Seek, Write},
};

/// Why the journal can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The record is not as it was written. The job ends as `failed`: never go on silently.
    /// `line` is from 1; 0 where it is about the whole file.
    #[error("the journal is broken at {file}{}: {what}", place(*line))]
    Broken { file: String, line: u64, what: String },
    /// The record is intact; another version of the program made it.
    #[error("{}", format.sentence(folder))]
    OtherFormat { folder: String, format: OtherFormat },
    /// Nothing of the line is left in the file. Calls for a hold with reason `disk`.
    #[error("failed to append to the journal: the disk is full ({cause})")]
    DiskFull {
        #[source]
        cause: io::Error,
    },
    #[error("failed to append to the journal: {cause}")]
    Append {
        #[source]
        cause: io::Error,
    },
    /// The effect of the last failed append on the disk isn't known. Only reopening the workspace shows it.
    #[error("failed to append to the journal: an append before this one failed; open the workspace anew")]
    Poisoned,
    #[error("failed to write an event as JSON: {0}")]
    Encode(serde_json::Error),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl JournalError {
    /// Whether the only problem is a lack of space.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::DiskFull { .. } => true,
            Self::Workspace(error) => error.is_disk_full(),
            Self::Broken { .. } | Self::OtherFormat { .. } | Self::Append { .. } | Self::Poisoned | Self::Encode(_) => {
                false
            }
        }
    }
}

/// The most lines that may be unsynced at the same time.
const MOST_UNSYNCED: u64 = 4;

/// The journal of a workspace whose lock is held: one reader-and-writer at a time.
#[derive(Debug)]
pub struct Journal {
    root: Dir,
    live: File,
    /// The place before the live file's first line.
    base: ChainPosition,
    written: LineEnd,
    /// The end that is safe from a power cut.
    synced: LineEnd,
    torn: Option<u64>,
    poisoned: bool,
    /// The large texts of all lines, by hash.
    parts: PartRegister,
}

/// A place after a complete line of the live file.
#[derive(Clone, Debug)]
struct LineEnd {
    /// Bytes of the live file before it.
    len: u64,
    position: ChainPosition,
}

/// An end of the journal to which it can be rolled back.
#[derive(Clone, Debug)]
pub struct JournalMark(LineEnd);

/// The result of a read.
#[derive(Clone, Debug)]
pub struct JournalRead {
    /// The last whole line.
    pub position: ChainPosition,
    /// Bytes of an unfinished last line of the live file, which were not read.
    pub torn: Option<u64>,
    /// Before the live file's first line.
    base: ChainPosition,
    /// Bytes of whole lines in the live file.
    len: u64,
    /// The newest archive holds the live file already.
    superseded: bool,
    /// The large texts of all lines.
    parts: PartRegister,
}

#[derive(Serialize)]
struct UnsealedLine<'a, E> {
    seq: u64,
    at: Timestamp,
    lease: u64,
    prev: &'a str,
    events: &'a [E],
}

/// Reads all decisions in order and changes nothing, so it needs no lock; a job may be in progress meanwhile. A
/// decision that `each` refuses is a break at that line.
pub fn read<E: Fact>(
    workspace: &Workspace,
    each: impl FnMut(JournalLine<E>) -> Result<(), String>,
) -> Result<JournalRead, JournalError> {
    // The live file first: if it is archived meanwhile, this handle keeps what it held.
    let live = match workspace.stream(LIVE) {
        Ok((file, _)) => Some(file),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    read_all(workspace, live, each)
}

fn read_all<E: Fact>(
    workspace: &Workspace,
    live: Option<File>,
    mut each: impl FnMut(JournalLine<E>) -> Result<(), String>,
) -> Result<JournalRead, JournalError> {
    let segments = chain::segments(workspace)?;
    let (mut position, mut parts) = (ChainPosition::start(), PartRegister::default());
    for segment in &segments {
        let name = segment.journal();
        let file = match workspace.stream(&name) {
            Ok((file, _)) => file,
            Err(error) if error.is_not_found() => return Err(broken(&name, 0, "the file is missing".into())),
            Err(error) => return Err(error.into()),
        };
        let (len, torn) = read_file(workspace, &name, file, (&mut position, &mut parts), &mut each)?;
        if let Some(TornLines { line, what, .. }) = torn {
            return Err(broken(&name, line, what));
        }
        if len == 0 {
            return Err(broken(&name, 0, "the file is empty; a phase's part holds at least its end".into()));
        }
    }
    let base = position.clone();
    let Some(live) = live else {
        if segments.is_empty() {
            return Ok(JournalRead { position, torn: None, base, len: 0, superseded: false, parts });
        }
        return Err(broken(LIVE, 0, "the file is missing".into()));
    };
    if is_superseded(workspace, &live, segments.last())? {
        return Ok(JournalRead { position, torn: None, base, len: 0, superseded: true, parts });
    }
    let (len, torn) = read_file(workspace, LIVE, live, (&mut position, &mut parts), &mut each)?;
    Ok(JournalRead { position, torn: torn.map(|torn| torn.bytes), base, len, superseded: false, parts })
}

fn is_superseded(workspace: &Workspace, live: &File, newest: Option<&JournalSegment>) -> Result<bool, JournalError> {
    let failed = |error| WorkspaceError::from_io("read", LIVE, error);
    let Some(newest) = newest else { return Ok(false) };
    if live.metadata().map_err(failed)?.len() == 0 {
        return Ok(false);
    }
    let (archived, _) = workspace.stream(&newest.journal())?;
    let mut again = live.try_clone().map_err(failed)?;
    let result = chain::is_beginning_of(live.try_clone().map_err(failed)?, archived).map_err(failed)?;
    // Clones of a handle share one reading position.
    again.rewind().map_err(failed)?;
    Ok(result)
}

/// The remains of a crash after the last complete line.
struct TornLines {
    line: u64,
    bytes: u64,
    what: String,
}

/// Reads one file from `position` on. Returns the bytes of its complete lines, and the truncated rest.
fn read_file<E: Fact>(
    workspace: &Workspace,
    name: &str,
    file: File,
    (position, parts): (&mut ChainPosition, &mut PartRegister),
    each: &mut impl FnMut(JournalLine<E>) -> Result<(), String>,
) -> Result<(u64, Option<TornLines>), JournalError> {
    let failed = |error| WorkspaceError::from_io("read", name, error);
    let mut lines = LineReader::new(file);
    let mut len = 0;
    while let Some(line) = lines.next().map_err(failed)? {
        let (number, bytes) = (line.number, line.bytes.len() as u64);
        if !line.ended {
            return Ok((len, Some(TornLines { line: number, bytes, what: "the line has no end".to_owned() })));
        }
        match position.follow(line.bytes, parts) {
            Ok(decision) => each(decision).map_err(|what| broken(name, number, what))?,
            Err(InvalidLine::OtherFormat(format)) => {
                return Err(JournalError::OtherFormat { folder: workspace.path().display().to_string(), format });
            }
            // A power cut can keep a line's end and lose its middle, which then reads as zeros.
            Err(InvalidLine::Damaged(what)) if line.bytes.contains(&0) => {
                return match rest_of_unsynced(&mut lines).map_err(failed)? {
                    Some(rest) => Ok((len, Some(TornLines { line: number, bytes: bytes + 1 + rest, what }))),
                    None => Err(broken(name, number, what)),
                };
            }
            Err(InvalidLine::Damaged(what)) => return Err(broken(name, number, what)),
        }
        len += bytes + 1;
    }
    Ok((len, None))
}

/// Bytes after a line with a hole, if at most as many lines follow as may have been unsynced with it.
fn rest_of_unsynced(lines: &mut LineReader) -> io::Result<Option<u64>> {
    let mut bytes = 0;
    for _ in 0..MOST_UNSYNCED {
        let Some(line) = lines.next()? else { return Ok(Some(bytes)) };
        bytes += line.bytes.len() as u64 + u64::from(line.ended);
    }
    Ok(None)
}

fn place(line: u64) -> String {
    if line == 0 { String::new() } else { format!(" line {line}") }
}

fn broken(file: &str, line: u64, what: String) -> JournalError {
    JournalError::Broken { file: file.to_owned(), line, what }
}

/// The line just written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedLine {
    pub seq: u64,
    /// Its SHA-256.
    pub head: String,
}

impl Journal {
    /// Reads all decisions in order, repairs the remains of a crash (see the module), and prepares to append. Only for
    /// the holder of the lock. A decision that `each` refuses is a break at that line. A workspace without archives may
    /// have no live file yet; it is created.
    pub fn open<E: Fact>(
        workspace: &Workspace,
        each: impl FnMut(JournalLine<E>) -> Result<(), String>,
    ) -> Result<Self, JournalError> {
        let found = read(workspace, each)?;
        let failed = |error| WorkspaceError::from_io("open", LIVE, error);
        let root = workspace.root().and_then(Dir::try_clone).map_err(failed)?;
        let live = if found.superseded {
            new_live(&root).map_err(failed)?
        } else {
            let is_new = !workspace.exists(LIVE)?;
            let live = open_live(&root).map_err(failed)?;
            failpoint::hit("journal.open.made");
            if is_new {
                files::sync(&root).map_err(failed)?;
            }
            if found.torn.is_some() {
                live.set_len(found.len).and_then(|()| fsync::counted(|| live.sync_all())).map_err(failed)?;
                failpoint::hit("journal.open.cut");
            }
            live
        };
        let end = LineEnd { len: found.len, position: found.position };
        Ok(Self {
            root,
            live,
            base: found.base,
            synced: end.clone(),
            written: end,
            torn: found.torn,
            poisoned: false,
            parts: found.parts.without_texts(),
        })
    }

    /// Writes one decision, which goes to the disk with the next [`Self::sync`]. After an error nothing of it is in the
    /// file, or no further append is possible.
    pub fn append<E: Fact>(&mut self, at: Timestamp, lease: u64, events: &[E]) -> Result<AppendedLine, JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned);
        }
        // A line after bytes that this process did not write could never be read.
        let len = self.live.metadata().map_err(|cause| JournalError::Append { cause })?.len();
        let left = self.written.len;
        if len != left {
            self.poisoned = true;
            let what = format!("it has {len} bytes, and this process left {left}: something else writes to it");
            return Err(broken(LIVE, 0, what));
        }
        let ChainPosition { seq, head: prev } = &self.written.position;
        let seq = seq + 1;
        let mut folded = events.to_vec();
        self.parts.fold(&mut folded);
        let unsealed = UnsealedLine { seq, at, lease, prev, events: &folded };
        let mut line = serde_json::to_vec(&unsealed).map_err(JournalError::Encode)?;
        chain::seal(&mut line);
        let head = sha256(&line);
        line.push(b'\n');
        failpoint::hit("journal.append.before");
        failpoint::half("journal.append.half", &mut self.live, &line);
        if let Err(cause) = self.live.write_all(&line) {
            self.cut_back();
            return Err(append_error(cause));
        }
        failpoint::hit("journal.append.written");
        self.parts.observe(seq, &mut folded);
        self.written = LineEnd { len: left + line.len() as u64, position: ChainPosition { seq, head: head.clone() } };
        if seq - self.synced.position.seq >= MOST_UNSYNCED {
            self.sync()?;
        }
        Ok(AppendedLine { seq, head })
    }

    /// Has all lines on the disk. After an error those that weren't are gone, and no further append is possible.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned);
        }
        if self.synced.position.seq == self.written.position.seq {
            return Ok(());
        }
        if let Err(cause) = fsync::counted(|| self.live.sync_data()) {
            // After a failed sync the system may have dropped the pages and forgotten the error: nothing is known.
            self.written = self.synced.clone();
            self.cut_back();
            self.poisoned = true;
            return Err(append_error(cause));
        }
        self.synced = self.written.clone();
        failpoint::hit("journal.synced");
        Ok(())
    }

    /// Removes the remains of a failed write. If that fails too, the journal is poisoned.
    fn cut_back(&mut self) {
        match self.live.set_len(self.written.len).and_then(|()| fsync::counted(|| self.live.sync_all())) {
            Ok(()) => self.synced = self.written.clone(),
            Err(_) => self.poisoned = true,
        }
    }

    pub fn mark(&self) -> JournalMark {
        JournalMark(self.written.clone())
    }

    /// Rolls back the lines since `mark`, which had no external effect. No append may follow: it could refer to them.
    pub fn take_back(&mut self, mark: JournalMark) -> Result<(), JournalError> {
        if self.written.position.seq != mark.0.position.seq {
            self.poisoned = true;
            self.live
                .set_len(mark.0.len)
                .and_then(|()| fsync::counted(|| self.live.sync_all()))
                .map_err(append_error)?;
        }
        self.synced = mark.0.clone();
        self.written = mark.0;
        Ok(())
    }

    /// Number of the last line; 0 before the first.
    pub fn seq(&self) -> u64 {
        self.written.position.seq
    }

    /// SHA-256 of the last line; 64 zeros before the first.
    pub fn head(&self) -> &str {
        &self.written.position.head
    }

    /// The place before the live file's first line: where the newest archive ends.
    pub fn base(&self) -> &ChainPosition {
        &self.base
    }

    /// Bytes of an incomplete last line that opening cut off. The opener must record them in the journal.
    pub fn torn(&self) -> Option<u64> {
        self.torn
    }

    /// Starts the new live file once the archive holds the old one; the chain continues. The old file is replaced, not
    /// emptied, so that a concurrent reader still reads all of it.
    pub fn after_archive(&mut self) -> Result<(), JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned);
        }
        match new_live(&self.root) {
            Ok(live) => {
                self.live = live;
                self.written.len = 0;
                self.synced = self.written.clone();
                self.base = self.written.position.clone();
                Ok(())
            }
            Err(error) => {
                self.poisoned = true;
                Err(WorkspaceError::from_io("start", LIVE, error).into())
            }
        }
    }
}

fn append_error(cause: io::Error) -> JournalError {
    if is_full(&cause) { JournalError::DiskFull { cause } } else { JournalError::Append { cause } }
}

fn open_live(root: &Dir) -> io::Result<File> {
    Ok(root.open_with(LIVE, OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE))?.into_std())
}

/// Puts an empty file in the live journal's place.
fn new_live(root: &Dir) -> io::Result<File> {
    let temporary = files::temporary_name();
    files::write_new(root, &temporary, &mut io::empty())?;
    root.rename(&temporary, root, LIVE)?;
    failpoint::hit("journal.new.renamed");
    files::sync(root)?;
    failpoint::hit("journal.new.synced");
    open_live(root)
}

#[cfg(test)]
mod tests;
