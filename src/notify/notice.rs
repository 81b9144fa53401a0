//! A notice about a batch.

use crate::{
    report::{
        needs::{NeedKind, commands},
        words::{counted, one_line, short},
    },
    store::{BatchRow, BatchTotals, JobRow, PAUSED_BY_PERSON},
};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
};
use serde::Serialize;
use std::fmt::Write;
use uuid::Uuid;

/// The most jobs that a message names.
pub const MOST_NEEDS: usize = 20;

/// The reason for a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// All jobs of the batch have ended.
    BatchEnded,
    /// Some of its jobs need a person, and others may still be worked.
    NeedsPerson,
}

impl NoticeKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::BatchEnded => "batch_ended",
            Self::NeedsPerson => "needs_person",
        }
    }
}

/// The content of a notice. As JSON its fields are a promise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Notice {
    pub event: NoticeKind,
    pub batch: Uuid,
    pub name: Option<String>,
    pub instructions: String,
    pub model: String,
    pub created: Timestamp,
    /// Jobs of the batch, and how many there are in each status.
    pub jobs: u64,
    #[serde(flatten)]
    pub totals: BatchTotals,
    pub cost_usd: f64,
    pub budget_usd: Option<f64>,
    /// Jobs that need a person; the first of them are named.
    pub need: u64,
    pub needs: Vec<NoticeNeed>,
    /// The whole notice in one sentence.
    pub message: String,
}

/// A job that needs a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoticeNeed {
    pub job: JobId,
    pub label: String,
    pub status: JobStatus,
    pub hold_reason: Option<HoldReason>,
    pub reason: Option<String>,
    /// A command that can be typed.
    pub command: Option<String>,
}

impl Notice {
    /// A notice about a batch with `need` jobs that need a person, of which `needs` are the first.
    pub fn of(event: NoticeKind, row: &BatchRow, need: u64, needs: Vec<NoticeNeed>) -> Self {
        let (batch, totals) = (&row.batch, &row.totals);
        Self {
            event,
            batch: batch.id,
            name: batch.name.clone(),
            instructions: batch.instructions.clone(),
            model: batch.model.clone(),
            created: batch.created,
            jobs: totals.all(),
            totals: *totals,
            cost_usd: row.spent_usd,
            budget_usd: batch.budget_usd,
            need,
            needs,
            message: message(event, row, need),
        }
    }

    /// The first line of an e-mail.
    pub fn subject(&self) -> String {
        format!("overnight: {}", self.message)
    }

    /// The message with the jobs that need a person, as text for people.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.message);
        for need in &self.needs {
            let held = need.hold_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            let reason = need.reason.as_deref().map(|reason| format!(": {}", short(reason))).unwrap_or_default();
            let _ = write!(text, "\n{}: {}{held}{reason}\n", short(&need.label), need.status);
            text.extend(need.command.iter().map(|command| format!("    {command}\n")));
        }
        if self.need > self.needs.len() as u64 {
            let _ = writeln!(text, "\n{} more", self.need - self.needs.len() as u64);
        }
        let _ = write!(text, "\nThe report: overnight report {}\n", self.batch);
        text
    }
}

/// `batch night has ended: 497 of 500 jobs completed, for 31.20 USD; 3 need you`
fn message(event: NoticeKind, row: &BatchRow, need: u64) -> String {
    let (name, totals, cost) = (one_line(&row.batch.shown_name()), &row.totals, row.cost_told());
    let all = totals.all();
    let verb = if need == 1 { "needs" } else { "need" };
    match event {
        NoticeKind::BatchEnded => {
            let needs = if need == 0 { String::new() } else { format!("; {need} {verb} you") };
            let all = counted(all, "job");
            format!("batch {name} has ended: {} of {all} completed, for {cost}{needs}", totals.completed)
        }
        NoticeKind::NeedsPerson => {
            let needs = counted(need, "job");
            format!("batch {name}: {needs} {verb} you; {} of {all} ended, for {cost}", totals.ended())
        }
    }
}

impl NoticeNeed {
    /// `None` if no person is needed, or if that person knows it: a job that a person paused waits for the same person.
    pub fn of(row: &JobRow) -> Option<Self> {
        let state = &row.state;
        let kind = match state.status {
            JobStatus::Failed => NeedKind::Failed,
            // A person has reviewed it, and accepts it as it is.
            JobStatus::Blocked | JobStatus::Partial if state.approved_by.is_some() => return None,
            JobStatus::Partial => NeedKind::Partial,
            JobStatus::Blocked => NeedKind::Blocked,
            JobStatus::Held => match state.hold_reason? {
                HoldReason::Review => NeedKind::Review,
                HoldReason::Budget | HoldReason::Limit | HoldReason::Outage => NeedKind::Held,
                HoldReason::Paused if state.reason.as_deref().is_some_and(|reason| reason != PAUSED_BY_PERSON) => {
                    NeedKind::Held
                }
                HoldReason::Paused | HoldReason::Window | HoldReason::Disk => return None,
            },
            JobStatus::Queued
            | JobStatus::Running
            | JobStatus::Waiting
            | JobStatus::Completed
            | JobStatus::Cancelled => return None,
        };
        let (id, queue) = (row.job.id, row.queue.as_ref()?);
        let batch = queue.batch.to_string();
        Some(Self {
            job: id,
            label: queue.label.clone(),
            status: state.status,
            hold_reason: state.hold_reason,
            reason: state.reason.clone(),
            command: commands(kind, state.hold_reason, &id.to_string(), Some(&batch)).into_iter().next(),
        })
    }
}
