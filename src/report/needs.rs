//! What needs a person, and what to type. A job that will go on by itself isn't here.

use super::facts::{FileState, JobFacts, Record, Standing};
use overnight_core::job::{id::JobId, record::HoldReason};
use serde::Serialize;

/// A completed job that is less sure than this is worth a look.
pub const SURE: f64 = 0.7;

/// Why a person is needed, the most pressing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
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
    Confidence,
    /// The model left notes for the reader.
    Notes,
}

impl Why {
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
            Self::Confidence => "confidence",
            Self::Notes => "notes",
        }
    }
}

/// One thing that needs a person. A job may need one for several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    pub job: JobId,
    pub why: Why,
    pub hold_reason: Option<HoldReason>,
    /// In sentences.
    pub detail: String,
    /// What can be typed, the likeliest first.
    pub commands: Vec<String>,
}

/// What the jobs need, the most pressing first, and of these the oldest job's first.
pub(super) fn needs(jobs: &[JobFacts]) -> Vec<Need> {
    let mut needs: Vec<Need> = jobs.iter().flat_map(of_job).collect();
    needs.sort_by_key(|need| (need.why, need.job));
    needs
}

fn of_job(job: &JobFacts) -> Vec<Need> {
    let mut needs = Vec::new();
    let batch = job.batch.map(|batch| batch.to_string());
    let mut need = |why: Why, detail: String| {
        let name = job.id.to_string();
        needs.push(Need {
            job: job.id,
            why,
            hold_reason: job.hold_reason,
            detail,
            commands: commands(why, job.hold_reason, &name, batch.as_deref()),
        });
    };
    let reason = || job.reason.clone().unwrap_or_default();
    match job.standing() {
        Standing::Held => match job.hold_reason {
            Some(HoldReason::Review) => need(Why::Review, reason()),
            Some(HoldReason::Window) => {}
            // The process that has the workspace asks the server again.
            Some(HoldReason::Outage) if job.worked_on || job.batch.is_some() => {}
            // It is queued by itself then.
            _ if job.run_after.is_some() => {}
            Some(
                HoldReason::Budget | HoldReason::Limit | HoldReason::Outage | HoldReason::Paused | HoldReason::Disk,
            )
            | None => need(Why::Held, held(job)),
        },
        Standing::Interrupted => need(Why::Interrupted, "no process works on it".to_owned()),
        Standing::Failed => need(Why::Failed, reason()),
        Standing::Blocked => need(Why::Blocked, reason()),
        Standing::Partial => {
            let unmet: Vec<String> =
                job.checks_failed.iter().map(|check| format!("{}: {}", check.name, check.detail)).collect();
            need(Why::Partial, if unmet.is_empty() { reason() } else { unmet.join("; ") });
        }
        Standing::Completed | Standing::Running | Standing::Queued | Standing::Cancelled => {}
    }
    if let Some(fault) = &job.record_fault {
        need(if job.record == Record::Gone { Why::Gone } else { Why::Broken }, fault.clone());
    }
    // A workspace that is gone was told already.
    if job.record != Record::Gone {
        let is_lost = |state| !matches!(state, FileState::AsDelivered | FileState::Elsewhere | FileState::Stored);
        let lost = job.deliverables.iter().filter(|file| is_lost(file.state));
        let lost: Vec<String> = lost.map(|file| format!("{}: {}", file.path, file.state.name())).collect();
        if !lost.is_empty() {
            need(Why::Deliverable, lost.join("; "));
        }
    }
    // What is to be said of a linked job's result is said of the job that did it.
    if job.standing() == Standing::Completed && job.same_as.is_none() {
        if let Some(confidence) = job.confidence.filter(|confidence| *confidence < SURE) {
            need(Why::Confidence, format!("completed with a confidence of {confidence}"));
        }
        if let Some(notes) = job.notes.as_deref().filter(|notes| says_something(notes)) {
            need(Why::Notes, notes.to_owned());
        }
    }
    needs
}

/// Why the job is held. One that no worker has begun has no sentence of its own.
fn held(job: &JobFacts) -> String {
    let reason = job.reason.clone().filter(|reason| !reason.trim().is_empty());
    reason.unwrap_or_else(|| "it waits until somebody resumes it, or its batch".to_owned())
}

/// Models that have no notes often say so.
fn says_something(notes: &str) -> bool {
    let said = notes.trim().trim_end_matches('.').to_lowercase();
    !["", "none", "no", "no notes", "n/a", "-"].contains(&said.as_str())
}

/// What can be typed about a job that is called `name`, of the batch with this id.
pub fn commands(why: Why, hold: Option<HoldReason>, name: &str, batch: Option<&str>) -> Vec<String> {
    match batch.and_then(|batch| of_batch(why, hold, name, batch)) {
        Some(commands) => commands,
        None => of_one(why, hold, name),
    }
}

/// What can be typed about a job of a batch, where that is other than for a job of its own.
fn of_batch(why: Why, hold: Option<HoldReason>, name: &str, batch: &str) -> Option<Vec<String>> {
    match (why, hold) {
        (Why::Held, Some(HoldReason::Paused)) => {
            Some(vec![format!("overnight resume {batch}"), format!("overnight resume {name}")])
        }
        (Why::Held, Some(HoldReason::Budget)) => Some(vec![
            format!("overnight resume {batch} --budget-usd USD"),
            format!("overnight resume {name} --cost USD"),
        ]),
        (Why::Interrupted, _) => Some(vec!["overnight work".to_owned(), format!("overnight resume {name}")]),
        (Why::Failed, _) => Some(vec![format!("overnight retry {name}"), format!("overnight show {name}")]),
        (
            Why::Held
            | Why::Review
            | Why::Blocked
            | Why::Partial
            | Why::Gone
            | Why::Broken
            | Why::Deliverable
            | Why::Confidence
            | Why::Notes,
            _,
        ) => None,
    }
}

fn of_one(why: Why, hold: Option<HoldReason>, name: &str) -> Vec<String> {
    match why {
        Why::Review => vec![
            format!("overnight approve {name}"),
            format!("overnight feedback {name} \"…\""),
            format!("overnight show {name}"),
        ],
        Why::Held => match hold {
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
        Why::Interrupted => vec![format!("overnight resume {name}"), format!("overnight cancel {name}")],
        Why::Failed => vec![format!("overnight logs {name}"), format!("overnight audit verify {name}")],
        Why::Blocked | Why::Partial => vec![format!("overnight show {name}"), format!("overnight audit {name}")],
        // It may have been moved.
        Why::Gone => vec![format!("overnight show {name} --workspaces FOLDER")],
        Why::Broken | Why::Deliverable => vec![format!("overnight audit verify {name}")],
        Why::Confidence | Why::Notes => vec![format!("overnight show {name}")],
    }
}
