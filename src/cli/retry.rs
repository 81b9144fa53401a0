//! `overnight retry`: failed jobs of a batch are queued again, and so is a held one whose workspace is gone. A job of `overnight run` belongs to no queue.

use super::{
    CliError, Office,
    cancel::{is_or_are, it_or_them, standing},
    exit,
    named::{Named, batch_words},
    out,
    progress::counted,
    queue::Known,
};
use crate::store::Which;

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
}

pub(super) async fn run(office: &Office, args: &RetryArgs) -> Result<u8, CliError> {
    let (which, words, nothing) = match office.named(&args.name).await? {
        Named::Batch(batch) => {
            let words = format!(" of {}", batch_words(&batch));
            let nothing = format!("no job{words} has failed: {}", standing(&batch.totals));
            (Which::Batch(batch.batch.id), words, nothing)
        }
        Named::Job(job) => {
            let id = job.id();
            if job.queue.is_none() {
                return Err(CliError::usage(alone(&job)));
            }
            let is_lost = job.is_held_here() && office.workspace(&job).is_err();
            if is_lost && office.store.begin_anew(id).await? {
                let anew = "its workspace is gone, and it is queued again from its beginning";
                out::result(&format!("job {id}: {anew}; a worker takes it (`overnight work`)\n"))?;
                return Ok(exit::COMPLETED);
            }
            let nothing = format!("job {id} has not failed: it is {}", job.status());
            (Which::Job(id), format!(" ({id})"), nothing)
        }
    };
    let queued = office.store.retry(which).await?;
    if queued == 0 {
        return Err(CliError::usage(nothing));
    }
    out::result(&format!(
        "{}{words} {} queued again; a worker takes {} (`overnight work`)\n",
        counted(queued, "job"),
        is_or_are(queued),
        it_or_them(queued)
    ))?;
    Ok(exit::COMPLETED)
}

/// What to do about a job that is in no batch.
fn alone(job: &Known) -> String {
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
