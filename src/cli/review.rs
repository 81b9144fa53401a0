//! Reviews of a job's result by people: `overnight approve`, `feedback`, `correct`, `settle` and `add-documents`.

use super::{
    AppContext, CliError, documents,
    job_or_batch::short_label,
    out,
    progress::counted,
    result, run_job,
    server::{self, ServerArgs, Target},
    workspace_store,
};
use crate::{
    cascade::{CascadeStep, read_by_person},
    config::user_name,
    runner::{
        CorrectedValue, JobOutcome, MOST_WORDS, NewDocuments, OpenJob, ReviewAction, ReviewError, now, record_review,
    },
    store::JobRow,
};
use overnight_core::job::{
    finding::CorrectedQuote,
    record::JobStatus,
    seen_result::{ApprovalWay, SeenResult},
    state::Status,
};
use std::{io::Read, path::PathBuf, sync::Arc};

/// Quotes, at most, that are named as not found after a correction.
const MOST_QUOTES: usize = 5;

const FEEDBACK_EXAMPLES: &str = "\
Examples:
  overnight feedback last \"Section 4 is missing; name the owner of each item.\"
  overnight feedback 0193 - < comments.txt

The text is added to the job's instructions, the result is archived, the plan is made anew, and the job goes on here and now. So
it is with a job that is held for review, and with one that is completed, partial or blocked.";

const CORRECT_EXAMPLES: &str = "\
Examples:
  overnight correct last '$.requirements[3].level' MUST
  overnight correct 0193 '$.clauses[0].cap_usd' 250000 --comment \"Annex B says so\"
  overnight correct last '$.clauses[2]' null --comment \"Said twice\"
  overnight correct last '$.clauses[7]' '{\"title\": \"Term\"}'

A record that becomes null is deleted; one directly behind the last is added.

The model's file stays as it is: output/NAME.corrected.json has all corrections, and findings.jsonl says who made them.";

/// Who reviews, and what else is said.
#[derive(Debug, clap::Args)]
pub(super) struct ReviewerArgs {
    /// Name of who reviews [default: the user's]
    #[arg(long = "as", value_name = "NAME")]
    reviewer: Option<String>,
}

impl ReviewerArgs {
    /// The name that goes into the record.
    pub(super) fn name(&self) -> String {
        self.reviewer.clone().unwrap_or_else(user_name)
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct ApproveArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
    /// Only this record, such as '$.requirements[3]'
    #[arg(long, value_name = "PLACE")]
    record: Option<String>,
    /// The deliverable that the record is in [default: the first one with quotes]
    #[arg(long, value_name = "PATH", requires = "record")]
    file: Option<String>,
    /// What is to be said with it
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    #[command(flatten)]
    reviewer: ReviewerArgs,
    #[command(flatten)]
    show: run_job::OutputArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = FEEDBACK_EXAMPLES)]
pub(super) struct FeedbackArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
    /// What is to be changed; - reads it from stdin
    #[arg(allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    reviewer: ReviewerArgs,
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(flatten)]
    show: run_job::OutputArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = CORRECT_EXAMPLES)]
pub(super) struct CorrectArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
    /// The field, such as '$.requirements[3].text', or a record
    place: String,
    /// The value that it is to have; JSON where the field is no text
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// The deliverable [default: the first one with quotes]
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    #[command(flatten)]
    reviewer: ReviewerArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct SettleArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
    /// Id of the finding, such as r3
    finding: String,
    /// Why it is no fault
    reason: String,
    #[command(flatten)]
    reviewer: ReviewerArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct AddDocumentsArgs {
    /// Id of a job that has a result, the beginning of one, or 'last'
    job: String,
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reviewer: ReviewerArgs,
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(flatten)]
    show: run_job::OutputArgs,
}

/// Accepts the result, or one record of it: a job that is held for review ends.
pub(super) async fn approve(app: &AppContext, args: &ApproveArgs) -> Result<u8, CliError> {
    let (mut opened, path, row) = open(app, &args.job).await?;
    let comment = args.comment.clone();
    let action = match &args.record {
        None => ReviewAction::Approve { comment, seen: Some(Box::new(SeenResult::unopened(ApprovalWay::Command))) },
        Some(record) => {
            let file = file(&opened, args.file.as_ref())?;
            ReviewAction::ApproveRecord { file, record: record.clone(), comment }
        }
    };
    record(app, &mut opened, &row, &args.reviewer, action).await?;
    let outcome = match &opened.job.status {
        _ if args.record.is_some() => {
            let record = args.record.as_deref().unwrap_or_default();
            return said(&format!("record {} of job {} is approved", short_label(record), row.job.id));
        }
        Status::Ended(ending) => JobOutcome::Ended(ending.status),
        Status::Held { reason, .. } => JobOutcome::Held(*reason),
        Status::Running => JobOutcome::Interrupted,
    };
    let by = args.reviewer.name();
    out::note(&match outcome {
        JobOutcome::Ended(JobStatus::Completed) => format!("approved by {by}"),
        JobOutcome::Ended(status) => format!("approved by {by} as it is: it stays {status}, and needs nobody any more"),
        JobOutcome::Held(_) | JobOutcome::Waiting | JobOutcome::Interrupted => format!("approval by {by} recorded"),
    });
    result::show(&opened.job, &path, outcome, args.show.json)?;
    Ok(match outcome {
        // The outcome is accepted by a person, whatever it is.
        JobOutcome::Ended(_) => super::exit::COMPLETED,
        JobOutcome::Held(_) | JobOutcome::Waiting | JobOutcome::Interrupted => run_job::exit_code(outcome),
    })
}

/// Sends the result back: the job goes on with the feedback among its instructions.
pub(super) async fn feedback(app: &AppContext, args: &FeedbackArgs) -> Result<u8, CliError> {
    let action = ReviewAction::SendBack { text: text(&args.text)? };
    go_on(app, &args.job, &args.reviewer, action, args.show).await
}

/// Adds documents: the job goes on with them.
pub(super) async fn add_documents(app: &AppContext, args: &AddDocumentsArgs) -> Result<u8, CliError> {
    let new = NewDocuments {
        paths: args.paths.clone(),
        own: documents::own(&app.settings)?,
        extractor: Arc::new(documents::extractor(&app.settings)?),
    };
    go_on(app, &args.job, &args.reviewer, ReviewAction::AddDocuments(Box::new(new)), args.show).await
}

/// Corrects the value of a field.
pub(super) async fn correct(app: &AppContext, args: &CorrectArgs) -> Result<u8, CliError> {
    let (mut opened, path, row) = open(app, &args.job).await?;
    let file = file(&opened, args.file.as_ref())?;
    let (place, comment) = (args.place.clone(), args.comment.clone());
    let value = CorrectedValue::Typed(args.value.clone());
    let action = ReviewAction::Correct { file: file.clone(), place, value, comment };
    record(app, &mut opened, &row, &args.reviewer, action).await?;
    let written = path.join(overnight_core::job::reviewed::corrected_path(&file));
    let name = out::one_line(&written.display().to_string());
    let mut lines = vec![format!("{} is corrected: {name}", short_label(&args.place))];
    lines.extend(opened.job.corrections().last().map(|correction| quotes_told(&correction.quotes)).unwrap_or_default());
    said(&lines.join("\n"))
}

/// The outcome of searching for the quotes again: those that are found together, each of the others by its key.
fn quotes_told(quotes: &[CorrectedQuote]) -> Vec<String> {
    let (found, others): (Vec<_>, Vec<_>) =
        quotes.iter().partition(|quote| quote.wrong.is_none() && quote.line.is_some());
    let found = match found.len() {
        0 => None,
        1 => Some("its quote is found in its document".to_owned()),
        count => Some(format!("its {count} quotes are found in their documents")),
    };
    let told = |quote: &&CorrectedQuote| {
        let name = if quotes.len() == 1 { "its quote" } else { &quote.key };
        match &quote.wrong {
            Some(wrong) => format!("{name} is not found: {}", out::one_line(wrong)),
            None => format!("{name} is empty now"),
        }
    };
    if quotes.len() > 1 && quotes.iter().all(|quote| quote.line.is_none() && quote.wrong.is_none()) {
        return vec![format!("its {} quotes are no longer looked for", quotes.len())];
    }
    let rest = others.len().saturating_sub(MOST_QUOTES);
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    found.into_iter().chain(others.iter().take(MOST_QUOTES).map(told)).chain(rest).collect()
}

/// Settles a finding as no fault.
pub(super) async fn settle(app: &AppContext, args: &SettleArgs) -> Result<u8, CliError> {
    let (mut opened, _, row) = open(app, &args.job).await?;
    let action = ReviewAction::Settle { finding: args.finding.clone(), reason: args.reason.clone() };
    record(app, &mut opened, &row, &args.reviewer, action).await?;
    said(&format!("finding {} of job {} is settled", short_label(&args.finding), row.job.id))
}

fn said(text: &str) -> Result<u8, CliError> {
    out::result(&format!("{text}\n"))?;
    Ok(super::exit::COMPLETED)
}

/// Records an action that makes the job go on, and works on it here and now.
async fn go_on(
    app: &AppContext,
    job: &str,
    reviewer: &ReviewerArgs,
    action: ReviewAction,
    show: run_job::OutputArgs,
) -> Result<u8, CliError> {
    let (mut opened, path, row) = open(app, job).await?;
    // Checked before anything is recorded: a key may be missing.
    let target = Target::of(&opened, &app.settings)?;
    let models = server::open_all(app, &target, &opened.job.spec.instructions).await?;
    record(app, &mut opened, &row, reviewer, action).await?;
    let words = target.commands(&models, &opened);
    run_job::run_job(app, &mut opened, &path, models, words, show).await
}

async fn record(
    app: &AppContext,
    opened: &mut OpenJob,
    row: &JobRow,
    reviewer: &ReviewerArgs,
    action: ReviewAction,
) -> Result<(), CliError> {
    let uploader = workspace_store::uploader(app, row).await?;
    record_review(app.store.as_ref(), opened, &reviewer.name(), action, uploader).await?;
    if let Some(told) = draw_goes_on(app, row).await {
        out::note(&told);
    }
    Ok(())
}

/// Advances the cascade that drew a job, if one did, after a review of its result. Returns its outcome. A failure here
/// does not affect the review, which is recorded: the next review tries again.
pub(super) async fn draw_goes_on(app: &AppContext, row: &JobRow) -> Option<String> {
    let workspaces = app.settings.workspaces.value.as_path();
    match read_by_person(app.store.as_ref(), row, workspaces, now()).await {
        Ok(Some(CascadeStep::Over { told })) => Some(format!("cascade: {told}")),
        Ok(Some(CascadeStep::ForPeople { unread })) => {
            Some(format!("{} of the cascade's draw still to be read", counted(unread as u64, "result")))
        }
        Ok(Some(CascadeStep::NotAsked | CascadeStep::TooEarly | CascadeStep::Submitted { .. }) | None) => None,
        Err(error) => Some(format!("the cascade of its batch can't go on: {error}")),
    }
}

/// Opens the workspace of the job that a person named.
async fn open(app: &AppContext, job: &str) -> Result<(OpenJob, PathBuf, JobRow), CliError> {
    let known = app.job(job).await?;
    let path = app.own_workspace(&known)?;
    let mut opened = run_job::open(app, &known.row, &path).await?;
    if opened.job.ended().is_some() {
        run_job::settle_row(app, &mut opened, &known.row).await?;
    }
    Ok((opened, path, known.row))
}

/// The deliverable that was named, else the first one with quotes.
fn file(opened: &OpenJob, named: Option<&String>) -> Result<String, CliError> {
    let deliverables = &opened.job.spec.instructions.deliverables;
    let first = deliverables.iter().find(|deliverable| !deliverable.quotes.is_empty());
    named.cloned().or_else(|| first.map(|first| first.path.clone())).ok_or_else(|| {
        CliError::usage("no deliverable of this job has quotes: name the one that is meant with --file PATH")
    })
}

/// The feedback, from the command line or from stdin.
fn text(typed: &str) -> Result<String, CliError> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MOST_WORDS as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| CliError::usage(format!("the feedback can't be read from stdin ({error})")))?;
    Ok(text)
}

impl From<ReviewError> for CliError {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Run(error) => error.into(),
            ReviewError::TakenBack(ref cause) if cause.is_usage() => Self::usage(error.to_string()),
            ReviewError::TakenBack(_) | ReviewError::Untold { .. } => Self::failed(error.to_string()),
            ReviewError::NoResult { .. } | ReviewError::Refused(_) => Self::usage(error.to_string()),
        }
    }
}
