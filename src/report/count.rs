//! Makes the report of many jobs from their facts alone. Sums cover whole jobs, even those that began before its time.

mod counter;

use super::{
    batch::{BatchFacts, Waiting},
    facts::{JobFacts, JobStanding},
    index::CollectionResult,
    needs::Need,
    spooled::SpooledJobs,
    spread::Spread,
};
pub use counter::ReportCounter;
use overnight_core::job::{
    answered::PaidRole,
    failure::FailureKind,
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde::Serialize;
use std::{io, path::Path};

/// Version of the report's JSON form.
pub const FORMAT: u32 = 1;

/// The choice of jobs for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportFilter {
    /// Only jobs made or worked since then.
    pub since: Option<Timestamp>,
    /// Only jobs with these statuses; empty: all.
    pub standings: Vec<JobStanding>,
    /// These jobs were named.
    pub named: bool,
    /// The number of waiting jobs that were left out because nothing can have happened to them since.
    pub older_waiting: u64,
}

/// The results of the jobs. Its fields are a promise; a value that isn't known is null.
#[derive(Debug, Serialize)]
pub struct Report {
    pub format: u32,
    pub made: Timestamp,
    /// Only jobs made or worked since then are in it.
    pub since: Option<Timestamp>,
    /// Only jobs with these statuses are in it; empty: all.
    pub statuses: Vec<&'static str>,
    pub counts: StandingCounts,
    /// The batches that these jobs belong to, the oldest first.
    pub batches: Vec<BatchFacts>,
    /// Waiting jobs of batches, by what they wait for.
    #[serde(rename = "waits_for")]
    pub waiting: Vec<Waiting>,
    /// Jobs of batches that failed as often as they may, or can't be repaired.
    pub given_up: Vec<JobId>,
    /// Jobs that were made before `since`: their numbers are those of the whole job all the same.
    pub made_before: u64,
    /// Held or interrupted jobs that the report leaves out because nothing happened to them since; null if only some jobs were asked for.
    pub older_waiting: Option<u64>,
    /// Reasons for the jobs' statuses, the most frequent first.
    pub reasons: Vec<ReasonCount>,
    /// Checks that were not met when their jobs ended, the most frequent first.
    pub checks_failed: Vec<FailedCheck>,
    pub confidence: Option<Spread>,
    /// Coverage of the jobs that had a turn, and of linked ones.
    pub coverage: Option<Spread>,
    /// Failed attempts, the most frequent first.
    pub attempts_failed: Vec<AttemptTotals>,
    pub holds: Vec<HoldTotals>,
    pub spent: TotalSpent,
    /// The cost by role and tier, of the jobs whose journals can be read.
    pub paid: Vec<PaidRole>,
    /// The slowest jobs, longest first.
    pub slowest: Vec<JobId>,
    /// The dearest jobs, by known cost, then by tokens.
    pub dearest: Vec<JobId>,
    pub needs_person: Vec<Need>,
    pub deliverables: DeliverableCounts,
    pub collected: Option<CollectionResult>,
    /// All jobs of the report, oldest first.
    pub jobs: SpooledJobs,
    #[serde(skip)]
    pub page: PageCounts,
}

/// The numbers of all jobs that the page needs before it shows the first job.
#[derive(Debug, Default)]
pub struct PageCounts {
    /// The kind of name by which a person knows the jobs.
    pub called: Called,
    /// Each job has a different document.
    pub are_documents: bool,
    /// Statuses of jobs that need no person.
    pub unneeding: StandingCounts,
    /// Jobs that need a person.
    pub needing: u64,
    pub of_batches: u64,
    /// Attempts at jobs that failed, and at how many jobs.
    pub lost_attempts: (u64, u64),
    /// Each different note of the models: its text, the number of jobs with it, and the first of them.
    pub notes: Vec<(String, u64, JobId)>,
    pub parts_not_read: u64,
    /// Jobs with such parts.
    pub not_read: u64,
    pub parts_recognised: u64,
    pub without_records: u64,
    pub proofs: u64,
    pub refused: u64,
    /// Jobs with values in doubt.
    pub doubtful: u64,
}

/// The kind of names in a column of [`JobFacts::called`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Called {
    /// Documents for all jobs.
    #[default]
    Document,
    Label,
    Instructions,
    /// Different kinds of names.
    Name,
}

/// The numbers of jobs by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StandingCounts {
    pub jobs: u64,
    pub completed: u64,
    pub partial: u64,
    pub blocked: u64,
    pub failed: u64,
    pub held: u64,
    pub interrupted: u64,
    pub running: u64,
    pub waiting: u64,
    pub queued: u64,
    pub cancelled: u64,
    /// Jobs whose work another job did before: completed, or partial and accepted by a person.
    pub linked: u64,
}

/// Jobs with the same status for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// In one line.
    pub reason: String,
    pub jobs: u64,
    /// Oldest first.
    pub ids: Vec<JobId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedCheck {
    pub check: String,
    pub jobs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptTotals {
    pub kind: FailureKind,
    pub times: u64,
    pub jobs: u64,
    /// Milliseconds that all jobs together waited after them.
    pub waited_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HoldTotals {
    pub reason: HoldReason,
    pub times: u64,
    pub jobs: u64,
}

/// The cost of all jobs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TotalSpent {
    pub turns: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    /// Share of `tokens_in`, 0 to 1; null if there were none.
    pub cached_share: Option<f64>,
    /// Null if a price isn't known.
    pub cost_usd: Option<f64>,
    /// Cost of the turns whose price is known.
    pub priced_usd: f64,
    /// Jobs with turns whose price isn't known.
    pub unpriced_jobs: u64,
    /// The number of these turns; null if a job's can't be read.
    pub unpriced_turns: Option<u64>,
    pub worked_ms: u64,
}

/// The deliverables of all jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeliverableCounts {
    pub jobs: u64,
    pub files: u64,
    /// Size as delivered.
    pub bytes: u64,
    pub changed: u64,
    pub missing: u64,
    pub unreadable: u64,
    /// Files on other machines.
    pub elsewhere: u64,
    /// Files in the workspace store.
    pub stored: u64,
}

impl Report {
    /// Counts `jobs`, which are in the order of their ids.
    pub fn of(
        made: Timestamp,
        filter: &ReportFilter,
        jobs: impl IntoIterator<Item = JobFacts>,
        aside: &Path,
    ) -> io::Result<Self> {
        let mut counter = ReportCounter::new(made, filter, aside);
        for job in jobs {
            counter.add(&job)?;
        }
        Ok(counter.finish())
    }

    pub fn job(&self, id: JobId) -> Option<JobFacts> {
        self.jobs.get(id)
    }
}

/// Whether a person must act before such a job goes on.
pub fn waits(standing: JobStanding) -> bool {
    match standing {
        JobStanding::Held | JobStanding::Interrupted => true,
        JobStanding::Completed
        | JobStanding::Partial
        | JobStanding::Blocked
        | JobStanding::Failed
        | JobStanding::Running
        | JobStanding::Waiting
        | JobStanding::Queued
        | JobStanding::Cancelled => false,
    }
}

impl StandingCounts {
    fn add(&mut self, job: &JobFacts) {
        self.jobs += 1;
        self.linked += u64::from(job.same_as.is_some());
        *match job.standing() {
            JobStanding::Completed => &mut self.completed,
            JobStanding::Partial => &mut self.partial,
            JobStanding::Blocked => &mut self.blocked,
            JobStanding::Failed => &mut self.failed,
            JobStanding::Held => &mut self.held,
            JobStanding::Interrupted => &mut self.interrupted,
            JobStanding::Running => &mut self.running,
            JobStanding::Waiting => &mut self.waiting,
            JobStanding::Queued => &mut self.queued,
            JobStanding::Cancelled => &mut self.cancelled,
        } += 1;
    }

    pub fn number(&self, standing: JobStanding) -> u64 {
        match standing {
            JobStanding::Completed => self.completed,
            JobStanding::Partial => self.partial,
            JobStanding::Blocked => self.blocked,
            JobStanding::Failed => self.failed,
            JobStanding::Held => self.held,
            JobStanding::Interrupted => self.interrupted,
            JobStanding::Running => self.running,
            JobStanding::Waiting => self.waiting,
            JobStanding::Queued => self.queued,
            JobStanding::Cancelled => self.cancelled,
        }
    }
}

/// The tokens that the model read and wrote.
pub fn tokens(job: &JobFacts) -> u64 {
    job.summary.tokens_in.saturating_add(job.summary.tokens_out)
}

#[cfg(test)]
mod tests;
