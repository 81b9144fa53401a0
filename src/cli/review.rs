//! `overnight approve` and `overnight feedback`: a person's review of a job that is held for it.

use super::{
    AppContext, CliError,
    resume::is_in_review,
    run_job,
    server::{self, ServerArgs, Target},
};
use crate::runner::OpenJob;
use overnight_core::{
    job::state::{INSTRUCTIONS_FILE, Job},
    machine::effect::Command,
};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

/// Bytes of one feedback: it stands in every later prompt.
const MOST_FEEDBACK: u64 = 16 * 1024;
/// Approving needs no model, but a drive has one; the embedded one can always be had.
const ANY_MODEL: &str = "offline";

const FEEDBACK_EXAMPLES: &str = "\
Examples:
  overnight feedback last \"Section 4 is missing; name the owner of each item.\"
  overnight feedback 0193 - < comments.txt

The text is added to the job's instructions, the plan is made anew, and the job goes on here and now.";

#[derive(Debug, clap::Args)]
pub(super) struct ApproveArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
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
    pub(super) server: ServerArgs,
    #[command(flatten)]
    show: run_job::OutputArgs,
}

/// The result is accepted: the job ends.
pub(super) async fn approve(app: &AppContext, args: &ApproveArgs) -> Result<u8, CliError> {
    let (mut opened, path) = reviewed(app, &args.job).await?;
    let models = server::only(server::open(app, &Target::new(ANY_MODEL, &app.settings)).await?);
    let words = vec![opened.opening(&opened.job.choice.model), Command::Approve];
    run_job::run_job(app, &mut opened, &path, models, words, args.show).await
}

/// The result is sent back: the job goes on with the feedback among its instructions.
pub(super) async fn feedback(app: &AppContext, args: &FeedbackArgs) -> Result<u8, CliError> {
    let text = text(&args.text)?;
    let (mut opened, path) = reviewed(app, &args.job).await?;
    let instructions = with_feedback(&path, &opened.job, &text)?;
    let target = Target::of(&opened, &app.settings)?;
    let models = server::open_all(app, &target, &opened.job.spec.instructions).await?;
    let mut words = target.commands(&models, &opened);
    words.push(Command::Feedback { text, instructions });
    run_job::run_job(app, &mut opened, &path, models, words, args.show).await
}

/// Opens a job that is held for review.
async fn reviewed(app: &AppContext, job: &str) -> Result<(OpenJob, PathBuf), CliError> {
    let known = app.job(job).await?;
    let path = app.own_workspace(&known)?;
    let row = &known.row;
    let mut opened = run_job::open(app, row, &path).await?;
    if is_in_review(&opened.job) {
        return Ok((opened, path));
    }
    if opened.job.ended().is_some() {
        run_job::settle_row(app, &mut opened, row).await?;
    }
    let (status, reason, _) = opened.job.job_status();
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    Err(CliError::usage(format!("job {} is not held for review: it is {status}{reason}", row.job.id)))
}

/// The feedback as it was typed, or from stdin.
fn text(typed: &str) -> Result<String, CliError> {
    let mut text = typed.to_owned();
    if typed == "-" {
        text.clear();
        let read = std::io::stdin().lock().take(MOST_FEEDBACK + 1).read_to_string(&mut text);
        read.map_err(|error| CliError::usage(format!("the feedback can't be read from stdin ({error})")))?;
    }
    if text.len() as u64 > MOST_FEEDBACK {
        return Err(CliError::usage(format!(
            "the feedback is longer than {MOST_FEEDBACK} bytes: say it in fewer words"
        )));
    }
    match text.trim() {
        "" => Err(CliError::usage("the feedback is empty: say what is to be changed")),
        text => Ok(text.to_owned()),
    }
}

/// `instructions.md` as it stands, and the feedback under its heading.
fn with_feedback(path: &Path, job: &Job, text: &str) -> Result<String, CliError> {
    let file = path.join(INSTRUCTIONS_FILE);
    let present = std::fs::read(&file)
        .map_err(|error| CliError::failed(format!("{} can't be read ({error})", file.display())))?;
    let present = String::from_utf8_lossy(&present);
    Ok(format!("{}\n\n## Feedback {}\n\n{text}\n", present.trim_end(), job.feedback.len() + 1))
}
