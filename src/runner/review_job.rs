//! Records what a person says of a result: of a job that is held for that, or that has ended. The one way to do so, for the
//! command line as for the pages of `overnight serve`. Facts go to the journal under the workspace's lock, and the database
//! gets the journal's new end; only feedback makes the job go on.

use super::{Anchor, NewDocuments, OpenJob, RunError};
use crate::{
    blocking::run_blocking,
    failpoint,
    store::{JobRow, Store, StoreError},
    workspace::WorkspaceError,
    workspace_store::{JournalEnd, Uploader},
};
use overnight_core::{
    job::{
        contract::{QuoteResult, check_deliverable, json_path},
        digest::sha256,
        finding::Finding,
        instructions::Deliverable,
        record::{HoldReason, JobStatus},
        reviewed::corrected_path,
        rows::CheckpointExtent,
        state::{INSTRUCTIONS_FILE, Job},
    },
    machine::effect::{Command, EffectResult, FieldCorrection},
};
use serde_json::Value;
use std::{fmt::Write, path::Path};

/// Bytes of one feedback, reason or comment: feedback stands in every later prompt.
pub const MOST_WORDS: usize = 16 * 1024;
/// Characters of a name.
const LONGEST_NAME: usize = 100;
/// Corrections that feedback tells the model one by one.
const MOST_TOLD: usize = 50;

/// What a person says of a result.
#[derive(Debug)]
pub enum ReviewAction {
    /// It is accepted.
    Approve {
        /// In that person's words.
        comment: Option<String>,
    },
    /// One record is accepted.
    ApproveRecord {
        /// The deliverable.
        file: String,
        /// `$.requirements[3]`.
        record: String,
        /// In that person's words.
        comment: Option<String>,
    },
    /// One field is to have another value.
    Correct {
        /// The deliverable.
        file: String,
        /// `$.requirements[3].text`.
        place: String,
        /// As it was typed: text, or JSON where the field is none.
        value: String,
        /// In that person's words.
        comment: Option<String>,
    },
    /// A finding is no fault.
    Settle {
        /// Of the finding.
        finding: String,
        /// Why.
        reason: String,
    },
    /// The job goes on, with this among its instructions.
    SendBack {
        /// What is to be changed.
        text: String,
    },
    /// The job goes on, with more documents.
    AddDocuments(Box<NewDocuments>),
}

/// Why a review could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is no result.
    #[error("job {id} has no result to be reviewed: it is {status}{}", advice(*status, id))]
    NoResult {
        /// Of the job.
        id: String,
        /// As it stands.
        status: JobStatus,
    },
    /// What was said can't be taken.
    #[error("{0}")]
    Refused(String),
}

impl From<StoreError> for ReviewError {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

impl From<WorkspaceError> for ReviewError {
    fn from(error: WorkspaceError) -> Self {
        Self::Run(error.into())
    }
}

/// Nobody but the one who asks has the job open.
fn advice(status: JobStatus, id: &str) -> String {
    if status == JobStatus::Running { format!("; `overnight resume {id}` goes on with it") } else { String::new() }
}

fn refused<T>(why: impl Into<String>) -> Result<T, ReviewError> {
    Err(ReviewError::Refused(why.into()))
}

/// Opens the job in `row`, whose workspace is at `path`, records what `by` says of its result, and leaves it. A job that goes on
/// then is queued for a worker, or held where it belongs to no batch. Gives the job as it stands.
pub async fn review_job(
    store: &dyn Store,
    row: &JobRow,
    path: &Path,
    by: &str,
    action: ReviewAction,
    uploader: Option<Uploader>,
) -> Result<Job, ReviewError> {
    let mut opened = run_blocking(|| OpenJob::open(path, Anchor::of(row)))?;
    record_review(store, &mut opened, by, action, uploader).await?;
    if opened.job.is_running() {
        if row.queue.is_some() {
            store.give_back(opened.lease.id, opened.lease.number, 0, None).await?;
        } else {
            let detail = format!("sent back by {by}");
            run_blocking(|| opened.command(Command::Hold { reason: HoldReason::Paused, detail }))?;
            opened.checkpoint(store, CheckpointExtent::Recent).await?;
        }
    }
    Ok(opened.job)
}

/// Records what `by` says of the result of an open job. A job that goes on then has its lease still.
pub async fn record_review(
    store: &dyn Store,
    opened: &mut OpenJob,
    by: &str,
    action: ReviewAction,
    uploader: Option<Uploader>,
) -> Result<(), ReviewError> {
    let by = name(by)?;
    let (status, ..) = opened.job.job_status();
    if !opened.job.has_result() {
        return Err(ReviewError::NoResult { id: opened.job.spec.id.to_string(), status });
    }
    if status == JobStatus::Held {
        opened.lease.claim(store).await?;
    } else {
        opened.lease.claim_ended(store).await?;
    }
    failpoint::hit("review.claimed");
    run_blocking(|| opened.write_corrections())?;
    let command = match run_blocking(|| opened.command_of(by, action)) {
        Ok(command) => command,
        Err(error) => {
            // The lease is given back, and the row follows what a crash has left unsaid.
            opened.checkpoint(store, CheckpointExtent::All).await?;
            return Err(error);
        }
    };
    run_blocking(|| -> Result<(), RunError> {
        opened.command(command)?;
        failpoint::hit("review.recorded");
        opened.write_corrections()?;
        // An approval of a held job ends it: nothing outside is needed for that.
        while opened.job.is_running() && opened.job.next() == overnight_core::machine::effect::Effect::Decide {
            if opened.decide(EffectResult::Now)?.is_none() {
                break;
            }
        }
        opened.write_derived()
    })?;
    if opened.job.is_running() {
        store.reopen(opened.lease.id, opened.lease.number, opened.row().documents).await?;
    }
    if let Some(mut uploader) = uploader {
        let Anchor { seq, head } = opened.anchor();
        uploader
            .upload(&opened.workspace, JournalEnd { lease: opened.lease.number, seq, head: &head })
            .await
            .map_err(RunError::from)?;
    }
    opened.checkpoint(store, CheckpointExtent::All).await?;
    failpoint::hit("review.done");
    Ok(())
}

impl OpenJob {
    /// What `action` means as a command.
    fn command_of(&self, by: String, action: ReviewAction) -> Result<Command, ReviewError> {
        Ok(match action {
            ReviewAction::Approve { comment } => Command::Approve { by, comment: comment_of(comment)? },
            ReviewAction::ApproveRecord { file, record, comment } => {
                let mut content = self.corrected(self.deliverable(&file)?)?;
                if json_path::at_mut(&mut content, &record).is_none_or(|found| found.is_null()) {
                    return refused(format!("there is no record {record} in {file}"));
                }
                Command::ApproveRecord { file, record, by, comment: comment_of(comment)? }
            }
            ReviewAction::Correct { file, place, value, comment } => {
                Command::Correct(Box::new(self.correction(by, file, place, &value, comment_of(comment)?)?))
            }
            ReviewAction::Settle { finding, reason } => {
                self.is_open(&finding)?;
                Command::Settle { id: finding, reason: words("the reason", &reason)?, by }
            }
            ReviewAction::SendBack { text } => {
                let text = words("the feedback", &text)?;
                let text = text + &self.corrections_told();
                let instructions = self.with_feedback(&text)?;
                Command::Feedback { text, instructions, by }
            }
            ReviewAction::AddDocuments(new) => {
                let documents = new.copy_into(&self.job, &self.workspace)?;
                let text = NewDocuments::told(&documents) + &self.corrections_told();
                let instructions = self.with_feedback(&text)?;
                Command::AddDocuments { documents, text, instructions, by }
            }
        })
    }

    fn is_open(&self, id: &str) -> Result<(), ReviewError> {
        let open: Vec<&str> = self.job.proof.open().map(|finding| finding.id.as_str()).collect();
        match self.job.proof.finding(id) {
            Some(finding) if finding.settled.is_none() => Ok(()),
            Some(_) => refused(format!("finding {id} is settled already")),
            None if open.is_empty() => refused("no finding is open"),
            None => refused(format!("there is no finding {id}; open are {}", open.join(", "))),
        }
    }

    /// `instructions.md` as it stands, and the feedback under its heading.
    fn with_feedback(&self, text: &str) -> Result<String, ReviewError> {
        let present = self.workspace.read(INSTRUCTIONS_FILE)?;
        let present = String::from_utf8_lossy(&present);
        Ok(format!("{}\n\n## Feedback {}\n\n{text}\n", present.trim_end(), self.job.feedback.len() + 1))
    }

    /// What was corrected in the result that is sent back: the next one is to have it.
    fn corrections_told(&self) -> String {
        let told = |finding: &Finding| {
            let settled = finding.settled.as_ref()?;
            let (file, place) = (finding.file.as_deref()?, finding.place.as_deref()?);
            Some(format!("\n- {file} {place}: {}", settled.settlement.told()))
        };
        let all: Vec<String> = self.job.corrections().filter_map(told).collect();
        if all.is_empty() {
            return String::new();
        }
        let mut text = "\n\nA person has corrected these; take them over:".to_owned();
        text.extend(all.iter().take(MOST_TOLD).map(String::as_str));
        if all.len() > MOST_TOLD {
            let _ = write!(text, "\n- and {} more, which the files named .corrected have", all.len() - MOST_TOLD);
        }
        text
    }

    fn deliverable(&self, file: &str) -> Result<&Deliverable, ReviewError> {
        let all = &self.job.spec.instructions.deliverables;
        all.iter().find(|deliverable| deliverable.path == file).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|deliverable| deliverable.path.as_str()).collect();
            ReviewError::Refused(format!("{file} is no deliverable of this job; it has {}", names.join(", ")))
        })
    }

    /// The deliverable as the model left it, with all corrections so far.
    fn corrected(&self, deliverable: &Deliverable) -> Result<Value, ReviewError> {
        let file = &deliverable.path;
        let bytes = self.workspace.read(file)?;
        let known = self.job.decided_ending().map(|ending| &ending.deliverables[..]).unwrap_or_default();
        if known.iter().any(|known| known.path == *file && known.sha256 != sha256(&bytes)) {
            return refused(format!("{file} was changed since the job's end: `overnight audit verify` says more"));
        }
        let Ok(mut content) = serde_json::from_slice(&bytes) else {
            return refused(format!(
                "{file} is no JSON file, and has no fields: send the job back with feedback instead"
            ));
        };
        self.job.correct(file, &mut content);
        Ok(content)
    }

    fn correction(
        &self,
        by: String,
        file: String,
        place: String,
        typed: &str,
        comment: Option<String>,
    ) -> Result<FieldCorrection, ReviewError> {
        let deliverable = self.deliverable(&file)?;
        let present = self.corrected(deliverable)?;
        let mut content = present.clone();
        let Some(found) = json_path::at_mut(&mut content, &place).filter(|_| place != "$") else {
            return refused(format!("there is no field {place} in {file}"));
        };
        let before = found.clone();
        // A text stays one; elsewhere JSON is meant, unless only a text fits.
        let as_text = Value::String(typed.to_owned());
        let meant = if before.is_string() { None } else { serde_json::from_str(typed).ok() };
        // What fails already may go on failing.
        let was_right = check(deliverable, &present).is_ok();
        let mut fault = None;
        for after in meant.into_iter().chain([as_text]) {
            let mut content = present.clone();
            if let Some(found) = json_path::at_mut(&mut content, &place) {
                found.clone_from(&after);
            }
            if after == before {
                return refused(format!("{place} of {file} has this value already"));
            }
            match check(deliverable, &content) {
                Err(why) if was_right => fault = fault.or(Some(why)),
                Ok(()) | Err(_) => {
                    let text = text_of(&content);
                    let (path, sha256) = (corrected_path(&file), sha256(text.as_bytes()));
                    return Ok(FieldCorrection { file, place, before, after, path, sha256, by, comment });
                }
            }
        }
        refused(format!("{place} of {file} can't have this value: {}", fault.unwrap_or_default()))
    }

    /// Writes the file with corrections that the journal promises, and says so.
    fn write_corrections(&mut self) -> Result<(), RunError> {
        let Some(path) = self.job.reviewed.unwritten.clone() else { return Ok(()) };
        let all = self.job.spec.instructions.deliverables.clone();
        let deliverable = all.iter().find(|deliverable| corrected_path(&deliverable.path) == path);
        let content = match deliverable.map(|deliverable| (deliverable, self.corrected(deliverable))) {
            Some((_, Ok(content))) => Ok(text_of(&content)),
            Some((_, Err(ReviewError::Run(error)))) => return Err(error),
            Some((_, Err(error))) => Err(error.to_string()),
            None => Err(format!("{path} is of no deliverable")),
        };
        self.workspace.write(&path, content.map_err(RunError::Request)?.as_bytes())?;
        failpoint::hit("review.written");
        self.command(Command::CorrectionWritten { path }).map(drop)
    }
}

/// The corrected deliverable as a file.
fn text_of(content: &Value) -> String {
    // A tree of JSON values: writing it can't fail.
    serde_json::to_string_pretty(content).unwrap_or_default() + "\n"
}

/// What the contract has against the corrected deliverable. Its quotes are the model's: a person may know better.
fn check(deliverable: &Deliverable, content: &Value) -> Result<(), String> {
    let text = text_of(content);
    let without_quotes = Deliverable { quotes: Vec::new(), ..deliverable.clone() };
    // Where there are no rules for quotes, none is looked for.
    let checked = check_deliverable(&without_quotes, Some(text.as_bytes()), &mut |_| QuoteResult::NotLookedFor);
    match checked.checks.iter().find(|check| !check.passed) {
        Some(check) => Err(check.detail.clone()),
        None => Ok(()),
    }
}

/// A name: one line.
fn name(by: &str) -> Result<String, ReviewError> {
    let by = by.trim();
    let is_name = !by.is_empty() && by.chars().count() <= LONGEST_NAME && !by.chars().any(char::is_control);
    if is_name {
        Ok(by.to_owned())
    } else {
        refused(format!("who reviews is named in one line of at most {LONGEST_NAME} characters"))
    }
}

/// Text that a person wrote.
fn words(what: &str, text: &str) -> Result<String, ReviewError> {
    match text.trim() {
        "" => refused(format!("{what} is empty: say it in a few words")),
        text if text.len() > MOST_WORDS => {
            refused(format!("{what} is longer than {MOST_WORDS} bytes: say it in fewer words"))
        }
        text => Ok(text.to_owned()),
    }
}

fn comment_of(comment: Option<String>) -> Result<Option<String>, ReviewError> {
    comment.filter(|comment| !comment.trim().is_empty()).map(|comment| words("the comment", &comment)).transpose()
}
