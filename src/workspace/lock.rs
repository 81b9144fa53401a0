//! `.lock`: one process at a time works on a workspace. The operating system holds it and frees it when the process
//! ends, however it ends; the file's text only shows others who has it.

use super::{error::WorkspaceError, files::Workspace, private::FILE_MODE};
use crate::failpoint;
use cap_std::fs::{Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    fs::{File, TryLockError},
    io::{self, Read, Seek, Write},
    time::Duration,
};

const LOCK: &str = ".lock";
/// How often, and how long, a worker waits for inspecting processes.
const MOST_LOOKS: u32 = 200;
const LOOK: Duration = Duration::from_millis(1);

/// The process that works on a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockHolder {
    pub pid: u32,
    pub host: String,
    pub started: Timestamp,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {} since {}", self.pid, self.host, self.started)
    }
}

/// The reason why the lock can't be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The job goes back without costing an attempt.
    #[error("job {job} is being worked on by {}", holder.as_ref().map_or("another process".to_owned(), ToString::to_string))]
    Held { job: String, holder: Option<LockHolder> },
    /// It was had, and its file was taken away or replaced: another process may have locked the new one.
    #[error("the lock file of job {job} was taken away while it was worked on, so another process may work on it too")]
    Taken { job: String },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// The right to change the workspace; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: LockedFile,
    /// Device and inode of the file.
    inode: (u64, u64),
    /// Unfinished files of a crash that were removed.
    pub swept: u64,
}

/// A locked file; unlocked when dropped.
#[derive(Debug)]
struct LockedFile(File);

impl Drop for LockedFile {
    /// Closing alone would not do: a child that is being started holds the same opened file until it runs its program.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Whether a process works on the workspace at `path` now, as far as this machine can tell.
pub fn is_worked_on(path: &std::path::Path) -> bool {
    let Ok(workspace) = Workspace::open(path) else { return false };
    let Ok(file) = workspace.root().and_then(|root| root.open(LOCK)) else { return false };
    // Shared: inspecting processes don't take each other for a worker, and a worker waits for them.
    let file = file.into_std();
    match file.try_lock_shared() {
        Ok(()) => {
            drop(LockedFile(file));
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
    }
}

/// Locks the file for a worker. If only inspecting processes hold it, this waits for them, which takes no longer than
/// one inspection.
fn lock_to_work(file: &File) -> Result<(), TryLockError> {
    for _ in 0..MOST_LOOKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            locked => return locked,
        }
        file.try_lock_shared()?;
        file.unlock().map_err(TryLockError::Error)?;
        std::thread::sleep(LOOK);
    }
    file.try_lock()
}

impl Lock {
    /// The file must still be the one that others would have to lock: removing it lets a second process in.
    pub fn check(&self, workspace: &Workspace) -> Result<(), LockError> {
        let found = workspace.root().and_then(|root| root.symlink_metadata(LOCK));
        let is_there = found.is_ok_and(|found| (found.dev(), found.ino()) == self.inode);
        if is_there { Ok(()) } else { Err(LockError::Taken { job: workspace.name() }) }
    }

    /// Takes the lock or reports its holder, and sweeps remains of a crash. Waits for no worker. Others will see `now`.
    pub fn acquire(workspace: &Workspace, now: Timestamp) -> Result<Self, LockError> {
        let failed = |error| WorkspaceError::from_io("lock", LOCK, error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(FILE_MODE);
        let mut file = workspace.root().and_then(|root| root.open_with(LOCK, &options)).map_err(failed)?.into_std();
        failpoint::hit("lock.made");
        match lock_to_work(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held { job: workspace.name(), holder: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error).into()),
        }
        failpoint::hit("lock.held");
        let holder = LockHolder { pid: std::process::id(), host: host(), started: now };
        // The lock is held whether or not its text could be written (a full disk must not keep a job from ending well).
        let _ = write_holder(&mut file, &holder);
        failpoint::hit("lock.told");
        let swept = workspace.sweep()?;
        let own = Metadata::from_file(&file).map_err(failed)?;
        Ok(Self { _file: LockedFile(file), inode: (own.dev(), own.ino()), swept })
    }
}

/// Keeps others from working on a workspace during an inspection; released when dropped.
#[derive(Debug)]
pub struct InspectionLock {
    /// None if there is no file: no process has worked on it since it was copied here.
    _file: Option<LockedFile>,
}

impl InspectionLock {
    /// Locks the workspace for inspection, or reports its worker. Changes nothing, so it works on a read-only disk.
    pub fn acquire(workspace: &Workspace) -> Result<Self, LockError> {
        let failed = |error| WorkspaceError::from_io("lock", LOCK, error);
        if workspace.is_packed() {
            // No process works on it before it is unpacked.
            return Ok(Self { _file: None });
        }
        let mut file = match workspace.root().and_then(|root| root.open(LOCK)) {
            Ok(file) => file.into_std(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self { _file: None }),
            Err(error) => return Err(failed(error).into()),
        };
        match lock_to_work(&file) {
            Ok(()) => Ok(Self { _file: Some(LockedFile(file)) }),
            Err(TryLockError::WouldBlock) => Err(LockError::Held { job: workspace.name(), holder: holder(&mut file) }),
            Err(TryLockError::Error(error)) => Err(failed(error).into()),
        }
    }
}

fn write_holder(file: &mut File, holder: &LockHolder) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let mut line = serde_json::to_vec(holder)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// The holder recorded in the file; `None` while it is being written.
fn holder(file: &mut File) -> Option<LockHolder> {
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// This machine's name: for people, and for the queue, which keeps a job where its workspace is.
pub fn host() -> String {
    let read = |path| std::fs::read_to_string(path).ok().map(|name| name.trim().to_owned());
    read("/proc/sys/kernel/hostname")
        .or_else(|| read("/etc/hostname"))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "this machine".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn the_second_is_told_who_has_it() {
        let folder = TempDir::new().unwrap();
        let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job-1").unwrap();
        workspace.write("output/.overnight-tmp-1", b"half").unwrap();
        let now: Timestamp = serde_json::from_str("\"2026-11-21T03:14:07.123Z\"").unwrap();
        let lock = Lock::acquire(&workspace, now).unwrap();
        assert_eq!(lock.swept, 1);
        let second = Workspace::open(workspace.path()).unwrap();
        assert_eq!(
            Lock::acquire(&second, now).unwrap_err().to_string(),
            format!(
                "job job-1 is being worked on by process {} on {} since 2026-11-21T03:14:07.123Z",
                std::process::id(),
                host()
            )
        );
        assert!(is_worked_on(workspace.path()));
        drop(lock);
        assert!(!is_worked_on(workspace.path()));
        // An inspecting process keeps no worker from starting.
        let looks = second.root().unwrap().open(LOCK).unwrap().into_std();
        looks.lock_shared().unwrap();
        assert!(!is_worked_on(workspace.path()), "another one who looks is nobody who works");
        std::thread::scope(|scope| {
            let working = scope.spawn(|| Lock::acquire(&second, now).unwrap().swept);
            drop(LockedFile(looks));
            assert_eq!(working.join().unwrap(), 0);
        });
    }
}
