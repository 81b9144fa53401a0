//! How the work on a claimed job ended.

use overnight_core::job::record::{HoldReason, JobStatus};

/// How the work on a claimed job ended here.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimOutcome {
    /// With the reason, where there is one.
    Ended(JobStatus, Option<String>),
    Held(HoldReason, String),
    /// Answers are still to come; the sentence names them.
    Waiting(String),
    /// Queued again, with no attempt used.
    GivenBack(String),
    /// An attempt failed: the job is queued again.
    Failed(String),
    /// The last attempt failed, and with it the job.
    GivenUp(String),
    /// Another has it, or the database can't be reached: its lease runs out.
    Lost(String),
}

impl ClaimOutcome {
    /// The word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ended(status, _) => status.name(),
            Self::Held(..) => "held",
            Self::Waiting(_) => JobStatus::Waiting.name(),
            Self::GivenBack(_) => "given_back",
            Self::Failed(_) => "attempt_failed",
            Self::GivenUp(_) => JobStatus::Failed.name(),
            Self::Lost(_) => "lost",
        }
    }
}
