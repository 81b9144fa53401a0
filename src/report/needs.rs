//! The reasons why jobs need a person, and the commands for them. A job that will go on by itself needs nobody.

use super::facts::{FileState, JobFacts, JobStanding, RecordState};
use crate::model::rules;
use overnight_core::job::{id::JobId, record::HoldReason};
use serde::Serialize;
use uuid::Uuid;

/// A completed job with a lower confidence needs a person to look at it.
pub const LOW_CONFIDENCE: f64 = 0.7;

/// Why a person is needed, the most pressing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// It waits for a person's review.
    Review,
    /// It is held: budget, limit, paused, outage or disk.
    Held,
    Interrupted,
    Failed,
    Blocked,
    Partial,
    /// The workspace is not where it was.
    Gone,
    /// The journal is not as it was left.
    Broken,
    /// A deliverable is not as it was delivered.
    Deliverable,
    /// Every record that was added was refused, so that the result has none.
    Records,
    Confidence,
}

impl NeedKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Held => "held",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Partial => "partial",
            Self::Gone => "gone",
            Self::Broken => "broken",
            Self::Deliverable => "deliverable",
            Self::Records => "records",
            Self::Confidence => "confidence",
        }
    }
}

/// One reason why a job needs a person. A job may have several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    pub job: JobId,
    pub why: NeedKind,
    pub hold_reason: Option<HoldReason>,
    /// The details, in sentences.
    pub detail: String,
    /// Commands that can be typed, the likeliest first.
    pub commands: Vec<String>,
    #[serde(skip)]
    pub batch: Option<Uuid>,
}

/// The reasons why a job needs a person.
pub(super) fn of_job(job: &JobFacts) -> Vec<Need> {
    let mut needs = Vec::new();
    let batch = job.batch.map(|batch| batch.to_string());
    let mut need = |why: NeedKind, detail: String| {
        // The result of a linked job is that of the job that did it.
        let name = job.same_as.unwrap_or(job.id).to_string();
        needs.push(Need {
            job: job.id,
            why,
            hold_reason: job.summary.hold_reason,
            detail,
            commands: commands(why, job.summary.hold_reason, &name, batch.as_deref()),
            batch: job.batch,
        });
    };
    let reason = || job.summary.reason.clone().unwrap_or_default();
    match job.standing() {
        JobStanding::Held => match job.summary.hold_reason {
            Some(HoldReason::Review) => need(NeedKind::Review, reason()),
            Some(HoldReason::Window) => {}
            // The process that has the workspace retries by itself.
            Some(HoldReason::Outage) if job.worked_on || job.batch.is_some() => {}
            // It is queued by itself at that time.
            _ if job.run_after.is_some() => {}
            Some(
                HoldReason::Budget | HoldReason::Limit | HoldReason::Outage | HoldReason::Paused | HoldReason::Disk,
            )
            | None => need(NeedKind::Held, held(job)),
        },
        JobStanding::Interrupted => need(NeedKind::Interrupted, "no process works on it".to_owned()),
        JobStanding::Failed => need(NeedKind::Failed, reason()),
        // A person has reviewed it, and accepts it as it is.
        JobStanding::Blocked | JobStanding::Partial if job.summary.approved_by.is_some() => {}
        JobStanding::Blocked => need(NeedKind::Blocked, reason()),
        JobStanding::Partial => {
            let unmet: Vec<String> =
                job.checks_failed.iter().map(|check| format!("{}: {}", check.name, check.detail)).collect();
            need(NeedKind::Partial, if unmet.is_empty() { reason() } else { unmet.join("; ") });
        }
        JobStanding::Completed
        | JobStanding::Running
        | JobStanding::Waiting
        | JobStanding::Queued
        | JobStanding::Cancelled => {}
    }
    if let Some(fault) = &job.record_fault {
        need(if job.record == RecordState::Gone { NeedKind::Gone } else { NeedKind::Broken }, fault.clone());
    }
    // A missing workspace is already reported.
    if job.record != RecordState::Gone {
        let is_lost = |state| !matches!(state, FileState::AsDelivered | FileState::Elsewhere | FileState::Stored);
        let lost = job.deliverables.iter().filter(|file| is_lost(file.state));
        let lost: Vec<String> = lost.map(|file| format!("{}: {}", file.path, file.state.name())).collect();
        if !lost.is_empty() {
            need(NeedKind::Deliverable, lost.join("; "));
        }
    }
    // Notes on a linked job's result belong to the job that did the work.
    let is_unread =
        job.standing() == JobStanding::Completed && job.same_as.is_none() && job.summary.approved_by.is_none();
    if let Some(refused) = job.refused_records.as_ref().filter(|counts| is_unread && counts.unmended > 0)
        && job.without_records
    {
        need(NeedKind::Records, format!("the result has no record: {}", refused.told()));
    }
    // Rules give each result the same confidence.
    let is_counted = is_unread && job.model != rules::NAME;
    if let Some(confidence) = job.summary.confidence.filter(|confidence| is_counted && *confidence < LOW_CONFIDENCE) {
        need(NeedKind::Confidence, format!("completed with a confidence of {confidence}"));
    }
    needs
}

/// The reason why the job is held. A job that no worker has begun has no reason of its own.
fn held(job: &JobFacts) -> String {
    let reason = job.summary.reason.clone().filter(|reason| !reason.trim().is_empty());
    reason.unwrap_or_else(|| "it waits until somebody resumes it, or its batch".to_owned())
}

/// The commands for the job `name`, of the batch with this id.
pub fn commands(why: NeedKind, hold: Option<HoldReason>, name: &str, batch: Option<&str>) -> Vec<String> {
    match batch.and_then(|batch| of_batch(why, hold, name, batch)) {
        Some(commands) => commands,
        None => of_one(why, hold, name),
    }
}

/// The commands for a batch's job, if they differ from those for a single job.
fn of_batch(why: NeedKind, hold: Option<HoldReason>, name: &str, batch: &str) -> Option<Vec<String>> {
    match (why, hold) {
        (NeedKind::Held, Some(HoldReason::Paused)) => {
            Some(vec![format!("overnight resume {batch}"), format!("overnight resume {name}")])
        }
        (NeedKind::Held, Some(HoldReason::Budget)) => Some(vec![
            format!("overnight resume {batch} --budget-usd USD"),
            format!("overnight resume {name} --cost USD"),
        ]),
        (NeedKind::Interrupted, _) => Some(vec!["overnight work".to_owned(), format!("overnight resume {name}")]),
        (NeedKind::Failed, _) => Some(vec![format!("overnight retry {name}"), format!("overnight show {name}")]),
        (
            NeedKind::Held
            | NeedKind::Review
            | NeedKind::Blocked
            | NeedKind::Partial
            | NeedKind::Gone
            | NeedKind::Broken
            | NeedKind::Deliverable
            | NeedKind::Records
            | NeedKind::Confidence,
            _,
        ) => None,
    }
}

fn of_one(why: NeedKind, hold: Option<HoldReason>, name: &str) -> Vec<String> {
    match why {
        NeedKind::Review => vec![
            format!("overnight approve {name}"),
            format!("overnight feedback {name} \"…\""),
            format!("overnight show {name}"),
        ],
        NeedKind::Held => match hold {
            Some(HoldReason::Budget) => {
                vec![format!("overnight resume {name} --cost USD"), format!("overnight resume {name} --tokens N")]
            }
            Some(HoldReason::Limit) => {
                vec![format!("overnight resume {name} --turns N"), format!("overnight resume {name} --wall-clock TIME")]
            }
            Some(
                HoldReason::Window | HoldReason::Outage | HoldReason::Review | HoldReason::Paused | HoldReason::Disk,
            )
            | None => vec![format!("overnight resume {name}"), format!("overnight cancel {name}")],
        },
        NeedKind::Interrupted => vec![format!("overnight resume {name}"), format!("overnight cancel {name}")],
        NeedKind::Failed => vec![format!("overnight logs {name}"), format!("overnight audit verify {name}")],
        NeedKind::Blocked | NeedKind::Partial => vec![
            format!("overnight show {name}"),
            format!("overnight feedback {name} \"…\""),
            format!("overnight approve {name}"),
        ],
        // It may have been moved.
        NeedKind::Gone => vec![format!("overnight show {name} --workspaces FOLDER")],
        NeedKind::Broken | NeedKind::Deliverable => vec![format!("overnight audit verify {name}")],
        NeedKind::Records => vec![format!("overnight show {name}"), format!("overnight feedback {name} \"…\"")],
        NeedKind::Confidence => vec![format!("overnight show {name}")],
    }
}
