//! Archives the state of a phase: its todos, plan, summary and journal with a manifest, in `archive/<folder>/`.
//!
//! Built under a temporary name and renamed into place, then the live journal starts anew. After a crash at any point
//! the same call again comes to the same end: before the rename nothing of it is there (what is unfinished is swept);
//! after it the archive is found, is taken as it is, and only the journal is left to do. Nothing is ever overwritten.

use super::{
    archive_manifest::{ArchiveManifest, ArchiveMeta, FORMAT, JournalSpan, MANIFEST, hash_folder},
    chain::{self, ARCHIVE, LIVE},
    error::WorkspaceError,
    files::{self, EntryKind, Workspace},
    hash::FileHash,
    journal::{Journal, JournalError},
};
use crate::failpoint;
use overnight_core::job::{digest::sha256, finding::FINDINGS_FILE, state::QUOTES_FILE};
use std::{collections::BTreeMap, io};

/// Files of the workspace, as used by the phase, that are copied into an archive if they exist.
const COPIED: [&str; 2] = ["main_plan.md", "workspace_summary.md"];
const TODOS: &str = "todos.md";
/// The value of `meta.kind` in the archive of a result that a person sent back.
pub const RESULT_KIND: &str = "result";
/// Additional files of such an archive, besides the deliverables.
const OF_RESULT: [&str; 2] = [QUOTES_FILE, FINDINGS_FILE];

/// Why a phase can't be archived.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("'{name}' can't be the name of an archive")]
    BadName { name: String },
    /// Archives are never overwritten, and this one has other content.
    #[error("archive/{folder} exists already and is not of this phase: {what}")]
    Conflict { folder: String, what: String },
    #[error("there is nothing to archive in archive/{folder}: the phase's journal is empty")]
    Empty { folder: String },
    #[error("failed to write the manifest: {0}")]
    Encode(serde_json::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// An archive that is in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredArchive {
    /// Hash of `manifest.json`, for the journal.
    pub manifest_sha256: String,
}

/// Archives the phase in the live journal. `todos` is the text of its `todos.md`. The live journal must end with the
/// decision that ended the phase, and is empty afterwards.
pub fn build(
    workspace: &Workspace,
    journal: &mut Journal,
    meta: ArchiveMeta,
    todos: &str,
) -> Result<StoredArchive, ArchiveError> {
    let folder = meta.folder.clone();
    if folder.is_empty() || folder.contains('/') || folder.starts_with('.') {
        return Err(ArchiveError::BadName { name: folder });
    }
    let place = format!("{ARCHIVE}/{folder}");
    if workspace.exists(&place)? {
        return finish(workspace, journal, &meta);
    }
    journal.sync()?;
    if journal.seq() == journal.base().seq {
        return Err(ArchiveError::Empty { folder });
    }
    let failed = |error| WorkspaceError::from_io("archive", &place, error);
    let archive = workspace.make_folder(ARCHIVE).map_err(failed)?;
    let temporary = files::temporary_name();
    let result = write(workspace, journal, meta, todos, &format!("{ARCHIVE}/{temporary}")).and_then(|stored| {
        failpoint::hit("archive.whole");
        archive.rename(&temporary, &archive, &folder).map_err(failed)?;
        failpoint::hit("archive.named");
        files::sync(&archive).map_err(failed)?;
        failpoint::hit("archive.synced");
        Ok(stored)
    });
    match result {
        Ok(stored) => {
            journal.after_archive()?;
            failpoint::hit("archive.done");
            Ok(stored)
        }
        Err(error) => {
            // Best effort: the next process with the lock sweeps it, and the first error is the one to report.
            let _ = archive.remove_dir_all(&temporary);
            Err(error)
        }
    }
}

/// Writes the archive's files into the folder `at`, all of them and the folder on disk when this returns.
fn write(
    workspace: &Workspace,
    journal: &Journal,
    meta: ArchiveMeta,
    todos: &str,
    at: &str,
) -> Result<StoredArchive, ArchiveError> {
    let failed = |error| WorkspaceError::from_io("archive", at, error);
    let folder = workspace.make_folder(at).map_err(failed)?;
    failpoint::hit("archive.begun");
    let put = |name: &str, content: &mut dyn io::Read| files::write_new(&folder, name, content).map_err(failed);
    let mut files: BTreeMap<String, FileHash> = BTreeMap::new();
    files.insert(TODOS.into(), put(TODOS, &mut todos.as_bytes())?);
    if meta.kind == RESULT_KIND {
        copy_result(workspace, at, &mut files)?;
    }
    for name in COPIED.iter().chain(OF_RESULT.iter().filter(|_| meta.kind == RESULT_KIND)).copied() {
        match workspace.stream(name) {
            Ok((mut file, _)) => {
                files.insert(name.into(), put(name, &mut file)?);
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    files.insert(LIVE.into(), put(LIVE, &mut workspace.stream(LIVE)?.0)?);
    let manifest = ArchiveManifest {
        format: FORMAT,
        meta,
        files,
        outputs: hash_folder(workspace, "output")?,
        tool_results: hash_folder(workspace, "tool_results")?,
        journal: JournalSpan {
            first_seq: journal.base().seq + 1,
            last_seq: journal.seq(),
            head: journal.head().to_owned(),
        },
    };
    let text = manifest.render().map_err(ArchiveError::Encode)?;
    failpoint::hit("archive.copied");
    put(MANIFEST, &mut text.as_slice())?;
    files::sync(&folder).map_err(failed)?;
    Ok(StoredArchive { manifest_sha256: sha256(&text) })
}

/// Copies the deliverables into the archive at `at`.
fn copy_result(workspace: &Workspace, at: &str, files: &mut BTreeMap<String, FileHash>) -> Result<(), ArchiveError> {
    let mut found = Vec::new();
    workspace.walk("output", &mut |met| {
        if let EntryKind::File = met.kind {
            found.push(met.entry.path);
        }
    })?;
    for path in found {
        let copy = format!("{at}/{path}");
        let (parent, name) = copy.rsplit_once('/').unwrap_or((at, &path));
        let failed = |error| WorkspaceError::from_io("archive", &copy, error);
        let folder = workspace.make_folder(parent).map_err(failed)?;
        let hash = files::write_new(&folder, name, &mut workspace.stream(&path)?.0).map_err(failed)?;
        files::sync(&folder).map_err(failed)?;
        files.insert(path, hash);
    }
    Ok(())
}

/// The archive is there already: a crash came between the rename and what follows. Takes it if it is of this phase
/// and the newest of the chain: it holds the live journal, or ends where the live journal (which may have got a
/// decision or two after the crash) begins.
fn finish(workspace: &Workspace, journal: &mut Journal, meta: &ArchiveMeta) -> Result<StoredArchive, ArchiveError> {
    let path = format!("{ARCHIVE}/{}/{MANIFEST}", meta.folder);
    let conflict = |what: String| ArchiveError::Conflict { folder: meta.folder.clone(), what };
    failpoint::hit("archive.found");
    let text = workspace.read(&path)?;
    let found = ArchiveManifest::parse(&text).map_err(|error| conflict(error.to_string()))?;
    let wanted = (&meta.folder, meta.phase, &meta.kind, meta.attempt, &meta.outcome);
    let met = (&found.meta.folder, found.meta.phase, &found.meta.kind, found.meta.attempt, &found.meta.outcome);
    if wanted != met {
        return Err(conflict(format!("it is of phase {} attempt {}, {}", met.1, met.3, met.4)));
    }
    let base = journal.base();
    if (found.journal.last_seq, found.journal.head.as_str()) == (journal.seq(), journal.head()) {
        // Opening the journal has seen to it already, unless archive and journal come from one and the same process.
        if base.seq < journal.seq() {
            if !same_journal(workspace, &meta.folder)? {
                return Err(conflict("its journal is not the live one".into()));
            }
            journal.after_archive()?;
        }
    } else if (found.journal.last_seq, &found.journal.head) != (base.seq, &base.head) {
        return Err(conflict(format!(
            "it ends at line {}, and the live journal begins after {}",
            found.journal.last_seq, base.seq
        )));
    }
    Ok(StoredArchive { manifest_sha256: sha256(&text) })
}

fn same_journal(workspace: &Workspace, folder: &str) -> Result<bool, WorkspaceError> {
    let name = format!("{ARCHIVE}/{folder}/{LIVE}");
    let (archived, archived_len) = workspace.stream(&name)?;
    let (live, live_len) = workspace.stream(LIVE)?;
    let failed = |error| WorkspaceError::from_io("read", &name, error);
    Ok(archived_len == live_len && chain::is_beginning_of(live, archived).map_err(failed)?)
}

#[cfg(test)]
mod tests;
