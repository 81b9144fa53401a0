//! The reasons why a job can't be created, opened or driven.

use crate::{
    model::ModelError,
    store::StoreError,
    workspace::{
        WorkspaceError,
        archive::ArchiveError,
        error::{is_full, is_out_of_reach},
        journal::JournalError,
        lock::LockError,
    },
    workspace_store::WorkspaceStoreError,
};
use overnight_core::job::{instructions::InstructionsError, record::HoldReason};
use overnight_documents::DocumentError;
use std::{error::Error, io, time::Duration};

/// An error that stops the runner; each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Instructions(#[from] InstructionsError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace store did not do what it was asked.
    #[error(transparent)]
    WorkspaceStore(WorkspaceStoreError),
    /// The record is intact; it is this program that can't read it.
    #[error(
        "{file} line {line} can't be read by overnight {}: overnight {version} has worked on this job since ({what}); use that version",
        env!("CARGO_PKG_VERSION")
    )]
    OtherVersion { file: String, line: u64, version: String, what: String },
    /// Something outside the job is wrong, such as its model's key, name or address: a person must change it.
    #[error("{0}")]
    Configuration(String),
    /// Its model's server asks for no calls for this long: the job waits in the queue.
    #[error("it goes on in {} s: {reason}", wait.as_secs())]
    Later { wait: Duration, reason: String },
    /// The request itself can't be met.
    #[error("{0}")]
    Request(String),
    /// The machine had no decision for an answer: a defect of the program, reported rather than looped on.
    #[error("the job can't go on: no decision follows from {0}; please report this with the job's journal")]
    NoDecision(String),
}

/// `ENFILE` and `EMFILE`, of the machine and of the process.
const OUT_OF_FILES: [i32; 2] = [23, 24];
/// The time after which a queued job that was held because of a full disk continues by itself.
const DISK_WAKES: Duration = Duration::from_mins(5);
/// The same, where the workspace store doesn't answer.
const STORE_WAKES: Duration = Duration::from_mins(1);
/// After how long a workspace that another process has open is tried again.
const LOCK_RETRY: Duration = Duration::from_secs(3);
/// The time for which a job is left to other processes when this one has reached its limit of open files.
const OTHERS_FIRST: Duration = Duration::from_secs(10);

/// The consequence of an error for the job that it stops, whichever process runs the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The database did not do what was requested, or another process has the lease: nothing more is written, and the
    /// process that claims the job next continues it.
    Lost,
    /// Nothing is wrong with the job. It goes back to the queue for at least this long, with no attempt used.
    GiveBack(Duration),
    /// It is held: in the queue for this long, if waiting can help, else until a person has changed something.
    Hold(HoldReason, Option<Duration>),
    /// A person must repair its workspace. While it is worked, it is held until then; before that, an attempt has failed.
    Repair,
    /// An attempt has failed, and the next may get further.
    FailAttempt,
    /// It ends as failed, because it can't be known what was done.
    Fail,
}

impl RunError {
    pub fn disposition(&self) -> Disposition {
        match self {
            _ if self.is_disk_full() => Disposition::Hold(HoldReason::Disk, Some(DISK_WAKES)),
            Self::Store(_) => Disposition::Lost,
            Self::Lock(LockError::Held { .. }) => Disposition::GiveBack(LOCK_RETRY),
            Self::Later { wait, .. } => Disposition::GiveBack(*wait),
            Self::Journal(JournalError::Broken { .. }) => Disposition::Fail,
            _ if self.is_out_of_files() => Disposition::GiveBack(OTHERS_FIRST),
            _ if self.is_out_of_reach() => Disposition::Hold(HoldReason::Paused, None),
            // A job whose end has not reached the store is not reported as ended.
            Self::WorkspaceStore(error) if error.retryable() => {
                Disposition::Hold(HoldReason::Outage, Some(STORE_WAKES))
            }
            Self::OtherVersion { .. }
            | Self::Journal(JournalError::OtherFormat { .. })
            | Self::Configuration(_)
            | Self::Model(_)
            | Self::WorkspaceStore(_) => Disposition::Hold(HoldReason::Paused, None),
            Self::Workspace(_) | Self::Journal(_) | Self::Archive(_) | Self::Request(_) => Disposition::Repair,
            Self::Document(_) | Self::Instructions(_) | Self::Lock(_) | Self::NoDecision(_) => Disposition::FailAttempt,
        }
    }

    /// The error with advice or consequences, if its own message doesn't state them.
    pub fn with_advice(&self, is_queued: bool) -> String {
        let advice = match self.disposition() {
            Disposition::Hold(HoldReason::Disk, _) if is_queued => "make room: it goes on by itself in a few minutes",
            Disposition::Hold(HoldReason::Disk, _) => "make room and resume",
            Disposition::Fail => "the job ends as failed, because it can't be known what was done",
            _ if self.is_out_of_files() => "this machine has too many files open (ulimit -n)",
            _ if self.is_out_of_reach() => "see that its folder can be written, and resume the job",
            _ => return self.to_string(),
        };
        format!("{self}; {advice}")
    }

    /// Whether the only problem is a lack of disk space.
    fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(StoreError::Full { .. })) || self.of_system().is_some_and(is_full)
    }

    /// Whether this process, or the machine, has too many files open: nothing is wrong with the job.
    fn is_out_of_files(&self) -> bool {
        self.of_system().and_then(io::Error::raw_os_error).is_some_and(|code| OUT_OF_FILES.contains(&code))
    }

    /// Whether the system refuses the workspace's files: a folder that can only be read, a permission, a failing disk.
    fn is_out_of_reach(&self) -> bool {
        let is_of_workspace = matches!(self, Self::Workspace(_) | Self::Journal(_) | Self::Archive(_) | Self::Lock(_));
        is_of_workspace && self.of_system().is_some_and(is_out_of_reach)
    }

    /// The underlying error of the operating system, if there is one.
    fn of_system(&self) -> Option<&io::Error> {
        let mut next: Option<&dyn Error> = Some(self);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }

    /// Whether the only problem is that the database or the workspace store can't be reached.
    pub(super) fn is_retryable(&self) -> bool {
        matches!(self, Self::Store(error) if error.retryable())
            || matches!(self, Self::WorkspaceStore(error) if error.retryable())
    }

    /// Whether the user's request or configuration is what is wrong, rather than the job or the machine.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Document(_)
                | Self::Instructions(_)
                | Self::Model(_)
                | Self::OtherVersion { .. }
                | Self::Journal(JournalError::OtherFormat { .. })
                | Self::Configuration(_)
                | Self::Request(_)
        )
    }
}

/// A database error is the same, whichever component reports it.
impl From<WorkspaceStoreError> for RunError {
    fn from(error: WorkspaceStoreError) -> Self {
        match error {
            WorkspaceStoreError::Database(error) => Self::Store(error),
            error => Self::WorkspaceStore(error),
        }
    }
}
