//! Packs the workspace of a job that has ended: its record replaces the folder. A crash at any moment leaves the
//! folder, the record, or both, each complete: the record gets its name once it is on disk, is compared with the folder
//! file by file, and only then is the folder renamed and removed.

use super::{RecordAnchor, RecordError, UnsealedRecord};
use crate::{
    failpoint,
    runner::{RunError, load, now},
    workspace::{
        Workspace, WorkspaceError,
        files::{EntryKind, temporary_name},
        lock::{Lock, LockError},
        packed::{packed_path, sync_parent},
    },
};
use overnight_core::job::id::JobId;
use std::{collections::BTreeMap, io, path::Path};

/// The lock of a folder, which belongs to the machine.
const LOCK: &str = ".lock";

/// What packing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedSize {
    /// Bytes of the folder's files.
    pub before: u64,
    /// Bytes of the record.
    pub after: u64,
}

/// The reason why a workspace stays as it is. One sentence each.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("its workspace says that it has not ended")]
    NotEnded,
    #[error("its folder holds job {0}")]
    Other(JobId),
    #[error("{path} in it is no file, and a record holds files only")]
    Special { path: String },
    #[error("it is not as it was left: {0}")]
    Faulty(String),
    #[error("the record that was written differs from the folder at {path}")]
    Differs { path: String },
}

/// Packs the workspace of job `id` at `path`; `None`: it is already packed. Fails while another process works on it.
pub fn pack(path: &Path, id: JobId, anchor: &RecordAnchor) -> Result<Option<PackedSize>, PackError> {
    let workspace = Workspace::open(path)?;
    if workspace.is_packed() {
        return Ok(None);
    }
    let _hold = Lock::acquire(&workspace, now())?;
    let job = load(path)?.job;
    match job.ended() {
        _ if job.spec.id != id => return Err(PackError::Other(job.spec.id)),
        None => return Err(PackError::NotEnded),
        Some(_) => {}
    }
    let found = contents(&workspace)?;
    let record = packed_path(path);
    let failed = |cause: io::Error| RecordError::Write { path: record.display().to_string(), cause };
    // A crash left this record beside a complete folder, and the job may have gone on since.
    match std::fs::remove_file(&record) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error).into()),
        Ok(()) | Err(_) => {}
    }
    let unsealed = UnsealedRecord::write(path, anchor, &record, None)?;
    if let Some(fault) = unsealed.faults.first() {
        return Err(PackError::Faulty(fault.to_string()));
    }
    let sealed = unsealed.seal(None, None)?;
    failpoint::hit("pack.named");
    if let Err(error) = check(&workspace, &record, &found) {
        // Best effort: if both exist, the folder counts.
        let _ = std::fs::remove_file(&record);
        return Err(error);
    }
    sync_parent(path).map_err(failed)?;
    failpoint::hit("pack.checked");
    let aside = path.with_file_name(temporary_name());
    std::fs::rename(path, &aside).map_err(failed)?;
    sync_parent(path).map_err(failed)?;
    failpoint::hit("pack.aside");
    std::fs::remove_dir_all(&aside).map_err(failed)?;
    Ok(Some(PackedSize { before: found.values().sum(), after: sealed.bytes }))
}

/// Path → bytes of the files to pack.
fn contents(workspace: &Workspace) -> Result<BTreeMap<String, u64>, PackError> {
    let (mut found, mut special) = (BTreeMap::new(), None);
    workspace.walk(".", &mut |met| match met.kind {
        EntryKind::File if met.entry.path == LOCK => {}
        EntryKind::File => drop(found.insert(met.entry.path, met.entry.bytes)),
        EntryKind::Special => special = Some(met.entry.path),
    })?;
    special.map_or(Ok(found), |path| Err(PackError::Special { path }))
}

/// Reads the record, and compares each file with the folder's.
fn check(folder: &Workspace, record: &Path, found: &BTreeMap<String, u64>) -> Result<(), PackError> {
    let packed = Workspace::open(record)?;
    let written = contents(&packed)?;
    let differs = |path: &str| PackError::Differs { path: path.to_owned() };
    if let Some((path, _)) = found.iter().find(|(path, bytes)| written.get(*path) != Some(*bytes)) {
        return Err(differs(path));
    }
    if let Some(path) = written.keys().find(|path| !found.contains_key(*path)) {
        return Err(differs(path));
    }
    for path in found.keys() {
        if folder.hash(path)? != packed.hash(path)? {
            return Err(differs(path));
        }
    }
    if folder.empty_folders()? == packed.empty_folders()? { Ok(()) } else { Err(differs("its empty folders")) }
}
