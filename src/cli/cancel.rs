//! `overnight cancel` and `overnight pause`. A process that works on the job is signalled; if there is none, the job is changed here. A batch,
//! a job that no worker has begun, and one that only another machine can open are changed through the queue.

use super::{
    AppContext, CliError, exit,
    job_or_batch::{JobOrBatch, batch_argument, batch_title},
    out,
    progress::counted,
    queue::{DatabaseJob, STATUSES},
    run_job,
};
use crate::{
    runner::{Anchor, OpenJob, RunError},
    store::{BatchRow, BatchTotals, ControlSignal, JobTarget, PAUSED_BY_PERSON},
    view::RequestOutcome,
    workspace::lock::LockError,
};
use overnight_core::{
    job::{
        id::JobId,
        record::{HoldReason, JobStatus},
        rows::CheckpointExtent,
        state::Status,
    },
    machine::effect::Command,
};

#[derive(Debug, clap::Args)]
pub(super) struct CancelArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    job: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct PauseArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    job: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl RequestOutcome {
    /// Prints the outcome. With `--json`, also if the request had no effect, which is still an error.
    pub(super) fn answer(
        request: &'static str,
        named: &JobOrBatch,
        outcome: Result<Self, CliError>,
        as_json: bool,
    ) -> Result<u8, CliError> {
        match outcome {
            Ok(outcome) if as_json => out::json(&outcome)?,
            Ok(outcome) => out::result(&format!("{}\n", outcome.message))?,
            Err(error) => {
                if as_json && error.code == exit::USAGE {
                    let (job, batch) = named.ids();
                    out::json(&Self { request, job, batch, done: 0, asked: 0, message: error.message.clone() })?;
                }
                return Err(error);
            }
        }
        Ok(exit::COMPLETED)
    }

    /// For one job: the request is done, or was passed on.
    fn of_job(request: &'static str, job: JobId, is_done: bool, message: String) -> Self {
        Self { request, job: Some(job), batch: None, done: is_done.into(), asked: (!is_done).into(), message }
    }
}

pub(super) async fn run_cancel(app: &AppContext, args: &CancelArgs) -> Result<u8, CliError> {
    let named = app.job_or_batch(&args.job).await?;
    RequestOutcome::answer("cancel", &named, cancel(app, &named).await, args.json)
}

pub(super) async fn cancel(app: &AppContext, named: &JobOrBatch) -> Result<RequestOutcome, CliError> {
    match named {
        JobOrBatch::Job(job) => cancel_job(app, job).await,
        JobOrBatch::Batch(batch) => cancel_batch(app, batch).await,
    }
}

pub(super) async fn run_pause(app: &AppContext, args: &PauseArgs) -> Result<u8, CliError> {
    let named = app.job_or_batch(&args.job).await?;
    RequestOutcome::answer("pause", &named, pause(app, &named, &args.job).await, args.json)
}

/// `typed`: the name as a person typed it.
pub(super) async fn pause(app: &AppContext, named: &JobOrBatch, typed: &str) -> Result<RequestOutcome, CliError> {
    match named {
        JobOrBatch::Job(job) => pause_job(app, job).await,
        JobOrBatch::Batch(batch) => pause_batch(app, batch, typed).await,
    }
}

async fn cancel_job(app: &AppContext, job: &DatabaseJob) -> Result<RequestOutcome, CliError> {
    let id = job.id();
    let (is_done, text) = match open_or_signal(app, job, ControlSignal::Cancel).await? {
        Reach::Opened(mut opened) => {
            apply_command(app, &mut opened, Command::Cancel).await?;
            (true, format!("job {id} is cancelled; what it made stays in its workspace"))
        }
        Reach::Signalled => (false, format!("job {id} is being worked on; that process was asked to cancel it")),
        Reach::Queue => {
            app.cancel(JobTarget::Job(id)).await?;
            let row = app.store.job(id).await?;
            match row.map(|row| row.state.status) {
                Some(JobStatus::Cancelled) => (true, format!("job {id} is cancelled; it was never begun")),
                Some(status) if status.is_end() => return Err(ended(job, status)),
                Some(_) | None => {
                    let text =
                        format!("job {id} is cancelled by the worker that has it, or by the next one that takes it");
                    (false, text)
                }
            }
        }
    };
    Ok(RequestOutcome::of_job("cancel", id, is_done, text))
}

async fn pause_job(app: &AppContext, job: &DatabaseJob) -> Result<RequestOutcome, CliError> {
    let id = job.id();
    let asked = || (false, format!("job {id} is being worked on; that process was asked to hold it at its next turn"));
    let (is_done, text) = match open_or_signal(app, job, ControlSignal::Pause).await? {
        Reach::Opened(mut opened) => {
            if let Status::Held { reason, detail } = &opened.job.status {
                return Err(CliError::usage(format!("job {id} is held already ({reason}): {detail}")));
            }
            let detail = PAUSED_BY_PERSON.to_owned();
            apply_command(app, &mut opened, Command::Hold { reason: HoldReason::Paused, detail }).await?;
            (true, format!("job {id} is held (paused); `overnight resume {id}` goes on"))
        }
        Reach::Signalled => asked(),
        Reach::Queue => {
            let held = app.store.hold(JobTarget::Job(id), HoldReason::Paused, None).await?;
            let state = app.store.job(id).await?.map(|row| row.state);
            let reason = state.as_ref().and_then(|state| state.hold_reason);
            match (state.map(|state| state.status), reason) {
                (Some(JobStatus::Held), Some(reason)) if held == 0 => {
                    return Err(CliError::usage(format!("job {id} is held already ({reason})")));
                }
                (Some(JobStatus::Held), _) => {
                    (true, format!("job {id} is held (paused); `overnight resume {id}` queues it again"))
                }
                (Some(status), _) if status.is_end() => return Err(ended(job, status)),
                (Some(_) | None, _) => asked(),
            }
        }
    };
    Ok(RequestOutcome::of_job("pause", id, is_done, text))
}

async fn cancel_batch(app: &AppContext, batch: &BatchRow) -> Result<RequestOutcome, CliError> {
    let words = batch_title(batch);
    let cancelled = app.cancel(JobTarget::Batch(batch.batch.id)).await?;
    if cancelled == 0 {
        return Err(CliError::usage(format!("nothing of {words} can be cancelled: {}", standing(&batch.totals))));
    }
    let after = app.store.totals(batch.batch.id).await?;
    let at_once = after.cancelled.saturating_sub(batch.totals.cancelled).min(cancelled);
    let begun = cancelled - at_once;
    let parts = [
        (at_once, format!("never begun {} cancelled", is_or_are(at_once))),
        (
            begun,
            format!("already begun will be cancelled by the worker that has {0} or next takes {0}", it_or_them(begun)),
        ),
    ];
    let message = format!("{}; what was made stays", sentence(&words, &parts));
    let batch = Some(batch.batch.id);
    Ok(RequestOutcome { request: "cancel", job: None, batch, done: at_once, asked: begun, message })
}

async fn pause_batch(app: &AppContext, batch: &BatchRow, typed: &str) -> Result<RequestOutcome, CliError> {
    let words = batch_title(batch);
    let paused = app.store.hold(JobTarget::Batch(batch.batch.id), HoldReason::Paused, None).await?;
    if paused == 0 {
        return Err(CliError::usage(format!("nothing of {words} can be paused: {}", standing(&batch.totals))));
    }
    let after = app.store.totals(batch.batch.id).await?;
    let at_once = after.held.saturating_sub(batch.totals.held).min(paused);
    let begun = paused - at_once;
    let parts = [
        (at_once, format!("{} held (paused)", is_or_are(at_once))),
        (begun, format!("at work {} asked to hold at the next turn", if begun == 1 { "was" } else { "were" })),
    ];
    let message = format!("{}; `overnight resume {}` goes on", sentence(&words, &parts), batch_argument(batch, typed));
    let batch = Some(batch.batch.id);
    Ok(RequestOutcome { request: "pause", job: None, batch, done: at_once, asked: begun, message })
}

/// `batch 'night': 3 jobs …; 1 job …`; parts with the number 0 are left out.
fn sentence(batch: &str, parts: &[(u64, String)]) -> String {
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{} {what}", counted(*number, "job"))).collect();
    format!("{batch}: {}", parts.join("; "))
}

pub(super) fn it_or_them(number: u64) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

pub(super) fn is_or_are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// `its 3 jobs: 2 completed, 1 held`.
pub(super) fn standing(totals: &BatchTotals) -> String {
    let parts = STATUSES.into_iter().map(|status| (totals.of(status), status)).filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, status)| format!("{number} {status}")).collect();
    if parts.is_empty() { "it has no job".to_owned() } else { format!("its jobs are {}", parts.join(", ")) }
}

/// The way to reach a job.
enum Reach {
    /// No process works on it: this process has opened it.
    Opened(Box<OpenJob>),
    /// A process works on it, and was signalled.
    Signalled,
    /// It has no workspace yet, or one that only another machine can open.
    Queue,
}

/// Opens the job if no process works on it, else signals that process. A job that has ended is an error.
async fn open_or_signal(app: &AppContext, job: &DatabaseJob, signal: ControlSignal) -> Result<Reach, CliError> {
    let id = job.id();
    if job.status().is_end() {
        return Err(ended(job, job.status()));
    }
    if !app.has_workspace(job) {
        return Ok(Reach::Queue);
    }
    let path = app.workspace(job)?;
    // Opened here rather than in `run_job::open`, for which a lock is an error.
    let mut opened = match OpenJob::open(&path, Anchor::of(&job.row)) {
        Err(RunError::Lock(LockError::Held { .. })) => {
            app.store.send_signal(id, signal).await.map_err(|error| CliError::usage(error.to_string()))?;
            return Ok(Reach::Signalled);
        }
        Err(_) => run_job::open(app, &job.row, &path).await?,
        Ok(opened) => opened,
    };
    match opened.job.ended().map(|ending| ending.status) {
        Some(status) => {
            run_job::settle_row(app, &mut opened, &job.row).await?;
            Err(ended(job, status))
        }
        None => Ok(Reach::Opened(Box::new(opened))),
    }
}

fn ended(job: &DatabaseJob, status: JobStatus) -> CliError {
    CliError::usage(format!("job {} has ended already: it is {status}", job.id()))
}

async fn apply_command(app: &AppContext, opened: &mut OpenJob, command: Command) -> Result<(), CliError> {
    opened.claim(app.store.as_ref()).await?;
    let model = opened.job.choice.model.clone();
    opened.command(opened.opening(&model))?;
    opened.command(command)?;
    Ok(opened.checkpoint(app.store.as_ref(), CheckpointExtent::All).await?)
}
