//! Records a person's review of a result: of a job that is held for review, or that has ended. This is the only way to
//! do so, for the command line and for the pages of `overnight serve`. Facts go to the journal under the workspace's
//! lock, and the database gets the journal's new end; only feedback makes the job continue.

use super::{
    Anchor, NewDocuments, OpenJob, RunError,
    corrections::{CorrectedValue, WantedValue},
};
use crate::{
    blocking::run_blocking,
    failpoint,
    store::{JobRow, Store, StoreError},
    workspace::{WorkspaceError, journal::JournalMark},
    workspace_store::Uploader,
};
use overnight_core::{
    job::{
        json_path,
        record::{HoldReason, JobStatus},
        reviewed::corrected_path,
        rows::CheckpointExtent,
        seen_result::SeenResult,
        state::{INSTRUCTIONS_FILE, Job},
    },
    machine::effect::{Command, Effect, EffectResult, Outcome, Owed},
};
use std::{collections::BTreeSet, path::Path, time::Duration};

/// Bytes of one feedback, reason or comment: feedback stands in every later prompt.
pub const MOST_WORDS: usize = 16 * 1024;
/// Characters of a name.
const LONGEST_NAME: usize = 100;
/// Seconds before each try to update the database.
const LAST_TRIES: [u64; 4] = [0, 1, 2, 4];

/// A person's review of a result.
#[derive(Clone, Debug)]
pub enum ReviewAction {
    /// It is accepted.
    Approve {
        /// In that person's words.
        comment: Option<String>,
        /// The result that they had in view.
        seen: Option<Box<SeenResult>>,
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
    /// One field gets another value.
    Correct {
        /// The deliverable.
        file: String,
        /// `$.requirements[3].text`.
        place: String,
        value: CorrectedValue,
        /// In that person's words.
        comment: Option<String>,
    },
    /// A finding is declared not to be a fault.
    Settle {
        /// The id of the finding.
        finding: String,
        /// The reason.
        reason: String,
    },
    /// The job continues, with this text added to its instructions.
    SendBack {
        /// The requested changes.
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
        /// The id of the job.
        id: String,
        /// Its current status.
        status: JobStatus,
    },
    /// The review is not acceptable.
    #[error("{0}")]
    Refused(String),
    /// It could not be recorded whole.
    #[error("{0}; nothing of it is recorded, and the job is as it was: mend that and say it again")]
    TakenBack(RunError),
    /// It is in the journal, but not in the row.
    #[error(
        "{error}; the job's record has it, and the database not yet: when that answers, `overnight reindex` tells it of job {id}"
    )]
    Untold {
        /// The id of the job.
        id: String,
        /// The error of the last try.
        error: StoreError,
    },
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

/// No one else has the job open.
fn advice(status: JobStatus, id: &str) -> String {
    if status == JobStatus::Running { format!("; `overnight resume {id}` goes on with it") } else { String::new() }
}

fn refused<T>(why: impl Into<String>) -> Result<T, ReviewError> {
    Err(ReviewError::Refused(why.into()))
}

/// Opens the job in `row`, with its workspace at `path`, records the review of its result by `by`, and closes it. If
/// the job continues, it is queued for a worker, or held if it belongs to no batch. Returns the job's new state.
pub async fn review_job(
    store: &dyn Store,
    row: &JobRow,
    path: &Path,
    by: &str,
    action: ReviewAction,
    uploader: Option<Uploader>,
) -> Result<Job, ReviewError> {
    let mut opened = run_blocking(|| OpenJob::open(path, Anchor::of(row)))?;
    let then = if row.queue.is_some() { GoingOn::Leased } else { GoingOn::Held };
    record(store, &mut opened, by, action, (uploader, then)).await?;
    if opened.job.is_running() {
        store.give_back(opened.lease.id, opened.lease.number, 0, None).await?;
    }
    Ok(opened.job)
}

/// Records the review by `by` of the result of an open job. A job that then continues still has its lease.
pub async fn record_review(
    store: &dyn Store,
    opened: &mut OpenJob,
    by: &str,
    action: ReviewAction,
    uploader: Option<Uploader>,
) -> Result<(), ReviewError> {
    record(store, opened, by, action, (uploader, GoingOn::Leased)).await
}

/// The state in which a job that continues after its review is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoingOn {
    /// Running, under the lease of this process.
    Leased,
    /// For a person to resume.
    Held,
}

/// The state that a failed review is rolled back to.
struct BeforeReview {
    end: JournalMark,
    job: Job,
}

/// A review is recorded completely or not at all: after any failure, journal, files, lease and row are as before. Only
/// if the database stops answering at the last step, the review stays in the journal, and the row follows later.
async fn record(
    store: &dyn Store,
    opened: &mut OpenJob,
    by: &str,
    action: ReviewAction,
    (mut uploader, then): (Option<Uploader>, GoingOn),
) -> Result<(), ReviewError> {
    let by = name(by)?;
    if !opened.job.has_result() {
        let (status, ..) = opened.job.job_status();
        return Err(ReviewError::NoResult { id: opened.job.spec.id.to_string(), status });
    }
    opened.lease.claim_for_review(store).await?;
    failpoint::hit("review.claimed");
    let mut before = BeforeReview { end: opened.journal.mark(), job: opened.job.clone() };
    let decided = async {
        // Remains of an earlier review that a crash cut off are completed whatever the outcome of this one.
        run_blocking(|| opened.write_corrections())?;
        before = BeforeReview { end: opened.journal.mark(), job: opened.job.clone() };
        run_blocking(|| opened.decide_review(by, action, then))?;
        if opened.job.ended().is_none() && before.job.feedback.len() < opened.job.feedback.len() {
            store.reopen(opened.lease.id, opened.lease.number, opened.row().documents).await?;
        }
        if let Some(uploader) = &mut uploader {
            opened.upload(uploader).await.map_err(|error| match error {
                // Whether the store's confirmation was lost isn't known.
                RunError::Store(error) if error.retryable() => {
                    ReviewError::Untold { id: opened.job.spec.id.to_string(), error }
                }
                error => error.into(),
            })?;
        }
        Ok::<(), ReviewError>(())
    };
    let recorded = match decided.await {
        Ok(()) => tell_database(store, opened, uploader.is_some()).await,
        Err(error) => Err(error),
    };
    let error = match recorded {
        Ok(()) => {
            failpoint::hit("review.done");
            return Ok(());
        }
        Err(ReviewError::Run(error)) => ReviewError::TakenBack(error),
        Err(error @ ReviewError::Refused(_)) => error,
        Err(error @ (ReviewError::NoResult { .. } | ReviewError::TakenBack(_) | ReviewError::Untold { .. })) => {
            return Err(error);
        }
    };
    run_blocking(|| opened.take_back(before));
    // If the database doesn't accept this either, its row stays as it was before.
    let _ = opened.checkpoint(store, CheckpointExtent::All).await;
    Err(error)
}

/// The last step: the row follows the journal. Where it isn't known whether it did, or other machines have the journal already,
/// the decision stands.
async fn tell_database(store: &dyn Store, opened: &OpenJob, is_uploaded: bool) -> Result<(), ReviewError> {
    let mut last = Ok(());
    for seconds in LAST_TRIES {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        match opened.checkpoint(store, CheckpointExtent::All).await {
            Ok(()) => return Ok(()),
            Err(error) if error.retryable() => last = Err(error),
            Err(error) => {
                last = Err(error);
                break;
            }
        }
    }
    last.map_err(|error| {
        let stands = is_uploaded || error.retryable();
        if stands { ReviewError::Untold { id: opened.job.spec.id.to_string(), error } } else { error.into() }
    })
}

impl OpenJob {
    /// Records `action` and its immediate consequences.
    fn decide_review(&mut self, by: String, action: ReviewAction, then: GoingOn) -> Result<(), ReviewError> {
        let sent_back = Command::Hold { reason: HoldReason::Paused, detail: format!("sent back by {by}") };
        let command = self.command_of(by, action)?;
        self.command(command)?;
        failpoint::hit("review.recorded");
        self.write_corrections()?;
        // An approval of a held job ends it: nothing outside is needed for that.
        while let Some(Owed { id, effect: Effect::Decide }) = self.job.owed().into_iter().next() {
            if self.decide(id, Outcome::Done(EffectResult::Now))?.is_none() {
                break;
            }
        }
        if self.job.is_running() && then == GoingOn::Held {
            self.command(sent_back)?;
        }
        Ok(self.write_derived()?)
    }

    /// Rolls journal and files back to the state before a review. A failed rollback is like a crash: it is repaired
    /// when the job is opened next.
    fn take_back(&mut self, before: BeforeReview) {
        if self.journal.take_back(before.end).is_err() {
            return;
        }
        let after = std::mem::replace(&mut self.job, before.job);
        for added in after.spec.documents.iter().filter(|document| self.job.spec.document(&document.name).is_none()) {
            NewDocuments::remove(&self.workspace, &added.name);
        }
        let corrected: BTreeSet<String> =
            after.corrections().filter_map(|it| it.file.as_deref()).map(corrected_path).collect();
        for path in corrected {
            let is_corrected = |job: &Job| {
                job.corrections().filter(|it| it.file.as_deref().map(corrected_path).as_ref() == Some(&path)).count()
            };
            match is_corrected(&self.job) {
                0 => drop(self.workspace.remove(&path)),
                count if count < is_corrected(&after) => drop(self.write_corrected(&path)),
                _ => {}
            }
        }
        let _ = self.write_derived();
    }

    /// The command for `action`.
    fn command_of(&self, by: String, action: ReviewAction) -> Result<Command, ReviewError> {
        Ok(match action {
            ReviewAction::Approve { comment, seen } => Command::Approve { by, comment: comment_of(comment)?, seen },
            ReviewAction::ApproveRecord { file, record, comment } => {
                let mut content = self.corrected(self.deliverable(&file)?)?;
                if json_path::at_mut(&mut content, &record).is_none_or(|found| found.is_null()) {
                    return refused(format!("there is no record {record} in {file}"));
                }
                Command::ApproveRecord { file, record, by, comment: comment_of(comment)? }
            }
            ReviewAction::Correct { file, place, value, comment } => {
                let comment = comment_of(comment)?;
                Command::Correct(Box::new(self.correction(WantedValue { file, place, value, by, comment })?))
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

    /// The current `instructions.md` with the feedback under its heading.
    fn with_feedback(&self, text: &str) -> Result<String, ReviewError> {
        let present = self.workspace.read(INSTRUCTIONS_FILE)?;
        let present = String::from_utf8_lossy(&present);
        Ok(format!("{}\n\n## Feedback {}\n\n{text}\n", present.trim_end(), self.job.feedback.len() + 1))
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
