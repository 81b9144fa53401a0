//! Reads the journal's lines in order, through archives and live file, and later the new ones. Each is checked against the chain.

use super::{AuditError, damage::ReadExtent};
use crate::workspace::{
    Workspace, WorkspaceError,
    chain::{self, ChainPosition, InvalidLine, JournalLine, LIVE, LineReader},
    journal::JournalError,
};
use overnight_core::job::{event::Event, part::PartRegister};
use serde::Deserialize;
use std::{
    fs::File,
    io::{Seek, SeekFrom},
    path::Path,
};

/// A line, of which only the number is read.
#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

/// The number of a file's first line; `None` if there is no whole line yet. Moves the handle's position.
fn first_seq(file: &File) -> Result<Option<u64>, AuditError> {
    let failed = |error| WorkspaceError::from_io("read", LIVE, error);
    let mut lines = LineReader::new(file.try_clone().map_err(failed)?);
    let line = lines.next().map_err(failed)?.filter(|line| line.ended);
    Ok(line.and_then(|line| serde_json::from_slice::<Numbered>(line.bytes).ok()).map(|line| line.seq))
}

/// A position in the journal from which reading goes on.
#[derive(Debug)]
pub struct Tail {
    workspace: Workspace,
    position: ChainPosition,
    parts: PartRegister,
    /// The file that was read last, by the number of its first line, which stays the same when it is archived.
    first_seq: u64,
    /// Bytes and whole lines that were read of that file.
    offset: u64,
    lines: u64,
    /// Bytes after the last whole line of the file that was read last.
    torn: Option<u64>,
}

impl Tail {
    /// Begins at the journal's first line.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let workspace = Workspace::open(path)?;
        Ok(Self {
            workspace,
            position: ChainPosition::start(),
            parts: PartRegister::default(),
            first_seq: 0,
            offset: 0,
            lines: 0,
            torn: None,
        })
    }

    /// How far the journal has been read.
    pub fn journal_end(&self) -> ReadExtent<'_> {
        ReadExtent { seq: self.position.seq, head: &self.position.head, torn: self.torn }
    }

    /// Passes on all whole lines since the last call, as bytes without the newline, and as decisions.
    pub fn read(&mut self, each: &mut dyn FnMut(&[u8], JournalLine<Event>)) -> Result<(), AuditError> {
        // The live file is opened first: if it is archived meanwhile, this handle keeps its lines, and the next call reads on.
        let (live, size) = match self.workspace.stream(LIVE) {
            Ok((file, size)) => (first_seq(&file)?.map(|first| (first, file)), Some(size)),
            Err(error) if error.is_not_found() => (None, None),
            Err(error) => return Err(error.into()),
        };
        let segments = chain::segments(&self.workspace)?;
        if size.is_none() && !segments.is_empty() {
            return Err(
                JournalError::Broken { file: LIVE.to_owned(), line: 0, what: "the file is missing".into() }.into()
            );
        }
        for segment in segments {
            let Some(first) = segment.first_seq else {
                let what = "its first line is missing, or was changed".to_owned();
                return Err(JournalError::Broken { file: segment.journal(), line: 1, what }.into());
            };
            if first >= self.first_seq {
                let name = segment.journal();
                let (file, _) = self.workspace.stream(&name)?;
                self.file(first, &name, file, each)?;
            }
        }
        match live {
            Some((first, file)) if first >= self.first_seq => self.file(first, LIVE, file, each),
            Some(_) => Ok(()),
            None => {
                self.torn = size.filter(|size| *size > 0);
                Ok(())
            }
        }
    }

    fn file(
        &mut self,
        first: u64,
        name: &str,
        mut file: File,
        each: &mut dyn FnMut(&[u8], JournalLine<Event>),
    ) -> Result<(), AuditError> {
        if first > self.first_seq {
            (self.first_seq, self.offset, self.lines) = (first, 0, 0);
        }
        let failed = |error| AuditError::from(WorkspaceError::from_io("read", name, error));
        file.seek(SeekFrom::Start(self.offset)).map_err(failed)?;
        let mut lines = LineReader::new(file);
        self.torn = None;
        while let Some(line) = lines.next().map_err(failed)? {
            // A line without its end is being written, or was cut off by a crash.
            if !line.ended {
                self.torn = Some(line.bytes.len() as u64);
                break;
            }
            self.lines += 1;
            let decision = self.position.follow(line.bytes, &mut self.parts).map_err(|error| match error {
                InvalidLine::OtherFormat(format) => {
                    JournalError::OtherFormat { folder: self.workspace.path().display().to_string(), format }
                }
                InvalidLine::Damaged(what) => JournalError::Broken { file: name.to_owned(), line: self.lines, what },
            })?;
            self.offset += line.bytes.len() as u64 + 1;
            each(line.bytes, decision);
        }
        Ok(())
    }
}
