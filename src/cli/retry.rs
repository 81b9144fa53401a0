//! `overnight retry`: failed jobs of a batch are queued again, and so is a held one whose workspace is gone. A job of `overnight run` belongs to no queue.

use super::{
    AppContext, CliError,
    cancel::{is_or_are, it_or_them, standing},
    job_or_batch::{JobOrBatch, batch_title},
    out,
    progress::counted,
    queue::DatabaseJob,
};
use crate::{store::JobTarget, view::RequestOutcome};

const EXAMPLES: &str = "\
Examples:
  overnight retry contracts        # all failed jobs of the batch of this name
  overnight retry 0193             # failed, or held because its workspace is gone: from its beginning

The jobs are queued with no attempt used; a worker (`overnight work`) takes them.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RetryArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    name: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(app: &AppContext, args: &RetryArgs) -> Result<u8, CliError> {
    let named = app.job_or_batch(&args.name).await?;
    RequestOutcome::answer("retry", &named, retry(app, &named).await, args.json)
}

pub(super) async fn retry(app: &AppContext, named: &JobOrBatch) -> Result<RequestOutcome, CliError> {
    let (job, batch) = named.ids();
    let outcome = |done: u64, message: String| RequestOutcome { request: "retry", job, batch, done, asked: 0, message };
    let (which, words, nothing) = match named {
        JobOrBatch::Batch(batch) => {
            let words = format!(" of {}", batch_title(batch));
            let nothing = format!("no job{words} has failed: {}", standing(&batch.totals));
            (JobTarget::Batch(batch.batch.id), words, nothing)
        }
        JobOrBatch::Job(job) => {
            let id = job.id();
            if job.queue.is_none() {
                return Err(CliError::usage(not_in_batch_hint(job)));
            }
            let is_lost = job.is_held_here() && app.workspace(job).is_err();
            if is_lost && app.store.restart_from_nothing(id).await? {
                let anew = "its workspace is gone, and it is queued again from its beginning";
                let message = format!("job {id}: {anew}; a worker takes it (`overnight work`)");
                return Ok(outcome(1, message));
            }
            let nothing = format!("job {id} has not failed: it is {}", job.status());
            (JobTarget::Job(id), format!(" ({id})"), nothing)
        }
    };
    let queued = app.store.retry(which).await?;
    if queued == 0 {
        return Err(CliError::usage(nothing));
    }
    let message = format!(
        "{}{words} {} queued again; a worker takes {} (`overnight work`)",
        counted(queued, "job"),
        is_or_are(queued),
        it_or_them(queued)
    );
    Ok(outcome(queued, message))
}

/// Advice for a job that is in no batch.
fn not_in_batch_hint(job: &DatabaseJob) -> String {
    let id = job.id();
    if job.status().is_end() {
        let instructions = out::one_line(&job.row.job.instructions);
        format!(
            "job {id} is in no batch, and what has ended stays so: `overnight run {instructions} --documents …` makes a new job"
        )
    } else {
        format!("job {id} is in no batch, and has not failed: `overnight resume {id}` goes on with it")
    }
}
