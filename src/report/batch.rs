//! The facts about batches in a report: their inputs, their cost, and their jobs that wait in the queue.

use super::{facts::JobFacts, words::short};
use crate::{
    batch::BatchSettings,
    store::{BatchRow, BatchTotals},
    workspace::lock,
};
use overnight_core::job::{
    left_out::LeftOutFile,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// One batch, with the numbers of all its jobs, also of those not in the report. Its fields are a promise; a missing value is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchFacts {
    pub id: Uuid,
    pub name: Option<String>,
    pub created: Timestamp,
    pub instructions: String,
    /// The hash of the instructions' file and the files beside it.
    pub instructions_sha256: String,
    pub model: String,
    /// The hours in which jobs may start, as typed.
    pub time_window: Option<String>,
    pub budget_usd: Option<f64>,
    /// The cost of its jobs so far, as the database counts it against the budget.
    pub spent_usd: f64,
    /// Jobs with turns whose price isn't known: the true cost is higher.
    pub unpriced_jobs: u64,
    pub jobs: u64,
    #[serde(flatten)]
    pub totals: BatchTotals,
    /// Files that were left out when it was submitted.
    pub left_out_files: u64,
    /// Their names, as far as they were kept: the first 5,000, as long as they fit into a MiB.
    pub left_out: Vec<LeftOutFile>,
    /// The result of the cascade that began with this batch, as a sentence's beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cascade: Option<String>,
}

impl BatchFacts {
    pub fn of(row: BatchRow) -> Self {
        let BatchRow { batch, spent_usd, unpriced_jobs, totals, .. } = row;
        let left_out = BatchSettings::left_out(&batch.settings);
        Self {
            id: batch.id,
            name: batch.name,
            created: batch.created,
            instructions: batch.instructions,
            instructions_sha256: batch.instructions_sha256,
            model: batch.model,
            time_window: batch.time_window,
            budget_usd: batch.budget_usd,
            spent_usd,
            unpriced_jobs,
            jobs: totals.all(),
            totals,
            left_out_files: left_out.files,
            left_out: left_out.first,
            cascade: None,
        }
    }
}

/// Jobs of batches that wait for the same thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    /// The other machine that has their workspaces: only workers there can go on with them. Null: any worker here can.
    pub host: Option<String>,
    pub jobs: u64,
    /// When the first of them goes on by itself. Null: a worker or a person is needed.
    pub until: Option<Timestamp>,
}

impl Waiting {
    /// The state of a batch's job, as one group; `None` for a job without a batch.
    pub fn of(job: &JobFacts) -> Option<Self> {
        job.batch.map(|_| Self {
            status: job.summary.status,
            hold_reason: job.summary.hold_reason,
            host: job.host.clone(),
            jobs: 1,
            until: job.run_after,
        })
    }

    /// Groups the waiting jobs; those that don't wait are left out.
    pub fn summed(all: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let here = lock::host();
        let mut sums: Vec<Self> = Vec::new();
        for one in all {
            one.add_to(&mut sums, &here);
        }
        Self::in_order(sums)
    }

    /// Adds these jobs to the group that waits for the same thing; `here` is this machine.
    pub fn add_to(self, sums: &mut Vec<Self>, here: &str) {
        if !matches!(self.status, JobStatus::Queued | JobStatus::Waiting | JobStatus::Held) {
            return;
        }
        let one = Self { host: self.host.filter(|host| host != here), ..self };
        let is_alike = |sum: &&mut Self| {
            (sum.status, sum.hold_reason, &sum.host, sum.until.is_some())
                == (one.status, one.hold_reason, &one.host, one.until.is_some())
        };
        match sums.iter_mut().find(is_alike) {
            Some(sum) => {
                sum.jobs += one.jobs;
                sum.until = sum.until.min(one.until);
            }
            None => sums.push(one),
        }
    }

    /// Sorted by the statuses' names, with jobs that go on by themselves last.
    pub fn in_order(mut sums: Vec<Self>) -> Vec<Self> {
        sums.sort_by(|a, b| {
            let key = |sum: &Self| (sum.status == JobStatus::Held, sum.hold_reason.map(HoldReason::name), sum.until);
            key(a).cmp(&key(b)).then_with(|| a.host.cmp(&b.host))
        });
        sums
    }

    /// A text on what they wait for.
    pub fn words(&self, time: &dyn Fn(Timestamp) -> String) -> String {
        let there = self.host.as_deref().map(short);
        if self.status == JobStatus::Waiting {
            let until =
                self.until.map(|until| format!("; the first until {} at most", time(until))).unwrap_or_default();
            return format!("for answers to what was handed in{until}");
        }
        match (self.until.map(time), self.hold_reason, there) {
            (Some(until), None, None) => format!("for a time; the first until {until}"),
            (Some(until), None, Some(host)) => {
                format!("for a time, and then for a worker on {host}; the first until {until}")
            }
            (Some(until), Some(_), None) => format!("goes on by itself; the first at {until}"),
            (Some(until), Some(_), Some(host)) => {
                format!("goes on by itself, with a worker on {host}; the first at {until}")
            }
            (None, None, None) => "for a worker".to_owned(),
            (None, None, Some(host)) => format!("for a worker on {host}, which has the workspace"),
            (None, Some(_), None) => "for a person".to_owned(),
            (None, Some(_), Some(host)) => format!("for a person, and then for a worker on {host}"),
        }
    }
}
