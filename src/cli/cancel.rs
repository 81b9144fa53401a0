//! `overnight cancel` and `overnight pause`: whoever works on the job is asked; where nobody does, it is done here. What no
//! worker has begun, or what only another machine can open, is left to the queue; and so is a batch.

use super::{
    CliError, Office,
    named::{Named, batch_words, typed_batch},
    out,
    progress::counted,
    queue::{Known, STATUSES},
    run::opening,
    work,
};
use crate::{
    runner::{Anchor, RunError, Session},
    store::{BatchRow, Totals, Which, Wish},
    workspace::lock::LockError,
};
use overnight_core::job::{
    record::{HoldReason, JobStatus},
    rows::Extent,
    state::Status,
    step::Command,
};

#[derive(Debug, clap::Args)]
pub(super) struct CancelArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    job: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct PauseArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    job: String,
}

pub(super) async fn cancel(office: &Office, args: &CancelArgs) -> Result<u8, CliError> {
    let job = match office.named(&args.job).await? {
        Named::Job(job) => job,
        Named::Batch(batch) => return cancel_batch(office, &batch).await,
    };
    let id = job.id();
    let text = match unworked(office, &job, Wish::Cancel).await? {
        Reached::Opened(mut session) => {
            put(office, &mut session, Command::Cancel).await?;
            format!("job {id} is cancelled; what it made stays in its workspace\n")
        }
        Reached::Asked => format!("job {id} is being worked on; that process was asked to cancel it\n"),
        Reached::Queue => {
            office.cancel(Which::Job(id)).await?;
            let row = office.store.job(id).await?;
            match row.map(|row| row.state.status) {
                Some(JobStatus::Cancelled) => format!("job {id} is cancelled; it was never begun\n"),
                Some(status) if status.is_end() => return Err(ended(&job, status)),
                Some(_) | None => {
                    format!("job {id} is cancelled by the worker that has it, or by the next one that takes it\n")
                }
            }
        }
    };
    out::result(&text)?;
    Ok(super::exit::COMPLETED)
}

pub(super) async fn pause(office: &Office, args: &PauseArgs) -> Result<u8, CliError> {
    let job = match office.named(&args.job).await? {
        Named::Job(job) => job,
        Named::Batch(batch) => return pause_batch(office, &batch, &args.job).await,
    };
    let id = job.id();
    let text = match unworked(office, &job, Wish::Pause).await? {
        Reached::Opened(mut session) => {
            if let Status::Held { reason, detail } = &session.job.status {
                return Err(CliError::usage(format!("job {id} is held already ({reason}): {detail}")));
            }
            let detail = "paused by a person".to_owned();
            put(office, &mut session, Command::Hold { reason: HoldReason::Paused, detail }).await?;
            format!("job {id} is held (paused); `overnight resume {id}` goes on\n")
        }
        Reached::Asked => format!("job {id} is being worked on; that process was asked to hold it at its next turn\n"),
        Reached::Queue => {
            let held = office.store.hold(Which::Job(id), HoldReason::Paused, None).await?;
            let state = office.store.job(id).await?.map(|row| row.state);
            let reason = state.as_ref().and_then(|state| state.hold_reason);
            match (state.map(|state| state.status), reason) {
                (Some(JobStatus::Held), Some(reason)) if held == 0 => {
                    return Err(CliError::usage(format!("job {id} is held already ({reason})")));
                }
                (Some(JobStatus::Held), _) => {
                    format!("job {id} is held (paused); `overnight resume {id}` queues it again\n")
                }
                (Some(status), _) if status.is_end() => return Err(ended(&job, status)),
                (Some(_) | None, _) => {
                    format!("job {id} is being worked on; that process was asked to hold it at its next turn\n")
                }
            }
        }
    };
    out::result(&text)?;
    Ok(super::exit::COMPLETED)
}

async fn cancel_batch(office: &Office, batch: &BatchRow) -> Result<u8, CliError> {
    let words = batch_words(batch);
    let cancelled = office.cancel(Which::Batch(batch.batch.id)).await?;
    if cancelled == 0 {
        return Err(CliError::usage(format!("nothing of {words} can be cancelled: {}", standing(&batch.totals))));
    }
    let after = office.store.totals(batch.batch.id).await?;
    let at_once = after.cancelled.saturating_sub(batch.totals.cancelled).min(cancelled);
    let begun = cancelled - at_once;
    let parts = [
        (at_once, format!("never begun {} cancelled", is_or_are(at_once))),
        (
            begun,
            format!("already begun will be cancelled by the worker that has {0} or next takes {0}", it_or_them(begun)),
        ),
    ];
    let text = told(&words, &parts);
    out::result(&format!("{text}; what was made stays\n"))?;
    Ok(super::exit::COMPLETED)
}

async fn pause_batch(office: &Office, batch: &BatchRow, typed: &str) -> Result<u8, CliError> {
    let words = batch_words(batch);
    let paused = office.store.hold(Which::Batch(batch.batch.id), HoldReason::Paused, None).await?;
    if paused == 0 {
        return Err(CliError::usage(format!("nothing of {words} can be paused: {}", standing(&batch.totals))));
    }
    let after = office.store.totals(batch.batch.id).await?;
    let at_once = after.held.saturating_sub(batch.totals.held).min(paused);
    let begun = paused - at_once;
    let parts = [
        (at_once, format!("{} held (paused)", is_or_are(at_once))),
        (begun, format!("at work {} asked to hold at the next turn", if begun == 1 { "was" } else { "were" })),
    ];
    let text = told(&words, &parts);
    out::result(&format!("{text}; `overnight resume {}` goes on\n", typed_batch(batch, typed)))?;
    Ok(super::exit::COMPLETED)
}

/// `batch 'night': 3 jobs …; 1 job …`, without what there is none of.
fn told(batch: &str, parts: &[(u64, String)]) -> String {
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
pub(super) fn standing(totals: &Totals) -> String {
    let parts = STATUSES.into_iter().map(|status| (totals.of(status), status)).filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, status)| format!("{number} {status}")).collect();
    if parts.is_empty() { "it has no job".to_owned() } else { format!("its jobs are {}", parts.join(", ")) }
}

/// How a job can be reached.
enum Reached {
    /// Nobody works on it: it is open here.
    Opened(Box<Session>),
    /// A process works on it, and the wish is left for that one.
    Asked,
    /// It has no workspace yet, or one that only another machine can open.
    Queue,
}

/// The job, opened, if nobody works on it; else the wish is left for who does. A job that has ended is an error.
async fn unworked(office: &Office, job: &Known, wish: Wish) -> Result<Reached, CliError> {
    let id = job.id();
    if job.status().is_end() {
        return Err(ended(job, job.status()));
    }
    if !office.has_workspace(job) {
        return Ok(Reached::Queue);
    }
    let path = office.workspace(job)?;
    // Asked here rather than in `work::open`, for which a lock is an error.
    let mut session = match Session::open(&path, Anchor::of(&job.row)) {
        Err(RunError::Lock(LockError::Held { .. })) => {
            office.store.want(id, wish).await.map_err(|error| CliError::usage(error.to_string()))?;
            return Ok(Reached::Asked);
        }
        Err(_) => work::open(office, &job.row, &path).await?,
        Ok(session) => session,
    };
    match session.job.ended().map(|ending| ending.status) {
        Some(status) => {
            work::settle(office, &mut session, &job.row).await?;
            Err(ended(job, status))
        }
        None => Ok(Reached::Opened(Box::new(session))),
    }
}

fn ended(job: &Known, status: JobStatus) -> CliError {
    CliError::usage(format!("job {} has ended already: it is {status}", job.id()))
}

async fn put(office: &Office, session: &mut Session, command: Command) -> Result<(), CliError> {
    session.claim(office.store.as_ref()).await?;
    let model = session.job.choice.model.clone();
    session.command(opening(&model, session.torn()))?;
    session.command(command)?;
    Ok(session.checkpoint(office.store.as_ref(), Extent::All).await?)
}
