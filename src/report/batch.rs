//! What a report says of batches as such: what they were given, what they spent, and what of them waits in the queue.

use super::facts::JobFacts;
use crate::{
    job::{
        record::{HoldReason, JobStatus},
        time::Timestamp,
    },
    store::BatchRow,
};
use serde::Serialize;
use uuid::Uuid;

/// One batch. The numbers are those of all its jobs, also where only some of them are in the report. Its fields are a
/// promise; a value that isn't there is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchFacts {
    pub id: Uuid,
    pub name: Option<String>,
    pub created: Timestamp,
    pub instructions: String,
    pub model: String,
    /// When jobs may be started, as it was typed.
    pub time_window: Option<String>,
    pub budget_usd: Option<f64>,
    /// What its jobs have cost so far, as the database counts it against the budget.
    pub spent_usd: f64,
    pub jobs: u64,
    pub queued: u64,
    pub running: u64,
    pub held: u64,
    pub completed: u64,
    pub partial: u64,
    pub blocked: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Of the completed, those that another job did before.
    pub linked: u64,
}

impl BatchFacts {
    pub fn of(row: BatchRow) -> Self {
        let BatchRow { batch, spent_usd, totals, .. } = row;
        Self {
            id: batch.id,
            name: batch.name,
            created: batch.created,
            instructions: batch.instructions,
            model: batch.model,
            time_window: batch.time_window,
            budget_usd: batch.budget_usd,
            spent_usd,
            jobs: totals.all(),
            queued: totals.queued,
            running: totals.running,
            held: totals.held,
            completed: totals.completed,
            partial: totals.partial,
            blocked: totals.blocked,
            failed: totals.failed,
            cancelled: totals.cancelled,
            linked: totals.linked,
        }
    }
}

/// Jobs of batches that wait alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    pub jobs: u64,
    /// When the first of them goes on by itself. Null: a worker has to come, or a person.
    pub until: Option<Timestamp>,
}

impl Waiting {
    /// In the order of the statuses' names, those that go on by themselves last.
    pub fn of(jobs: &[JobFacts]) -> Vec<Self> {
        let mut sums: Vec<Self> = Vec::new();
        let waits = |job: &&JobFacts| job.batch.is_some() && matches!(job.status, JobStatus::Queued | JobStatus::Held);
        for job in jobs.iter().filter(waits) {
            let of = |sum: &&mut Self| {
                (sum.status, sum.hold_reason, sum.until.is_some())
                    == (job.status, job.hold_reason, job.run_after.is_some())
            };
            match sums.iter_mut().find(of) {
                Some(sum) => {
                    sum.jobs += 1;
                    sum.until = sum.until.min(job.run_after);
                }
                None => {
                    sums.push(Self { status: job.status, hold_reason: job.hold_reason, jobs: 1, until: job.run_after });
                }
            }
        }
        sums.sort_by_key(|sum| (sum.status == JobStatus::Held, sum.hold_reason.map(HoldReason::name), sum.until));
        sums
    }
}
