//! Works on a claimed job here and now, and shows what came of it.

use super::{CliError, Office, exit, out, progress::Progress, result, server::Models, stop, traces::Traces};
use crate::{
    runner::{Anchor, Drive, Outcome, RunError, Session, save_row},
    store::{JobRow, StoreError},
    telemetry::Trace,
    workspace::{journal::JournalError, lock::LockError},
};
use overnight_core::job::{id::JobId, record::JobStatus, rows::Extent, step::Command};
use std::path::Path;

/// How the work is shown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Show {
    /// Print the result as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Claims a job and drives it, after `words`, until it ends or is held; shows the result. The exit code says how it came to rest.
pub(super) async fn drive(
    office: &Office,
    session: &mut Session,
    path: &Path,
    models: Models,
    words: Vec<Command>,
    show: Show,
) -> Result<u8, CliError> {
    let id = session.job.spec.id;
    out::about(id);
    let (keeper, known) = super::depot::keeper(office, id).await?;
    let is_of_batch = office.store.job(id).await?.is_some_and(|row| row.queue.is_some());
    session.claim(office.store.as_ref()).await.map_err(|error| unclaimed(id, error))?;
    // Before the first word: who reads it may send a signal.
    let stop = stop::listen()?;
    let mut progress = Progress::begin(&session.job);
    super::server::warn_of_price(&models, session.job.limits.cost_usd);
    let traces = Traces::begin(office);
    let mut trace = traces.feed().map(|feed| Trace::begin(feed, &session.job, models.first.name()));
    let mut watch = |job: &overnight_core::job::state::Job, report: crate::runner::Report<'_>| {
        if let Some(trace) = &mut trace {
            trace.on(job, &report);
        }
        progress.show(job, &report);
    };
    // A server that has never answered this job, and can't be reached, is a wrong address.
    let chosen = words.iter().find_map(|word| if let Command::Choose { choice } = word { Some(choice) } else { None });
    let choice = chosen.unwrap_or(&session.job.choice);
    let is_known = session.job.answered.servers.contains(choice.server());
    let mut drive = Drive::new(office.store.as_ref(), models.first, stop, &mut watch)
        .or(models.others)
        .storing(keeper, known)
        .sharing(is_of_batch)
        .known(is_known)
        .after(words);
    let outcome = drive.run(session).await;
    progress.end();
    if let Some(trace) = trace {
        trace.end(&session.job, outcome.is_err());
    }
    traces.end().await;
    let outcome = outcome.map_err(|error| stopped(id, &error))?;
    result::show(&session.job, path, outcome, show.json)?;
    if outcome == Outcome::Interrupted {
        out::talk(&format!("interrupted, and kept: go on with `overnight resume {id}`"));
    }
    Ok(code(outcome))
}

/// The exit code of a job that came to rest.
pub(super) fn code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Ended(status) => match status {
            JobStatus::Completed => exit::COMPLETED,
            JobStatus::Partial | JobStatus::Blocked => exit::PARTIAL_OR_BLOCKED,
            JobStatus::Cancelled => exit::CANCELLED,
            JobStatus::Failed | JobStatus::Queued | JobStatus::Running | JobStatus::Held => exit::FAILED,
        },
        Outcome::Held(_) => exit::HELD,
        Outcome::Interrupted => exit::INTERRUPTED,
    }
}

/// The job could not be taken up; what was asked of it has not happened.
fn unclaimed(id: JobId, error: RunError) -> CliError {
    let message = |then: &str| format!("{error}; job {id} is kept as it is: {then}");
    if error.is_disk_full() {
        // Where even the first row finds no room, the database doesn't know the job yet.
        let then = format!("make room, then `overnight reindex` and `overnight resume {id}` go on");
        return CliError { message: message(&then), code: exit::HELD };
    }
    let then = format!("when the database is back, `overnight reindex` and `overnight resume {id}` go on");
    if matches!(&error, RunError::Store(StoreError::Unreachable { .. })) {
        return CliError::failed(message(&then));
    }
    // A file that may be read and not written is found out here only.
    if matches!(&error, RunError::Store(StoreError::Connect { .. })) {
        return CliError::usage(message(&then));
    }
    error.into()
}

/// The work stopped for a reason that is not the job's: nothing is lost.
fn stopped(id: JobId, error: &RunError) -> CliError {
    let lost = matches!(error, RunError::Store(StoreError::LeaseLost { .. }));
    if let RunError::Configuration(reason) = error {
        return CliError::usage(format!("{reason}; nothing is lost: `overnight resume {id}` goes on"));
    }
    CliError::failed(if lost {
        format!("{error}: another process works on it now; see `overnight show {id}`")
    } else {
        format!("{error}; what was done is kept: `overnight resume {id}` goes on")
    })
}

/// Opens the workspace of the job in `row`, with its lock. A broken journal ends the job as failed.
pub(super) async fn open(office: &Office, row: &JobRow, path: &Path) -> Result<Session, CliError> {
    let id = row.job.id;
    match Session::open(path, Anchor::of(row)) {
        Ok(session) if session.job.spec.id == id => Ok(session),
        Ok(session) => Err(CliError::failed(format!(
            "{} holds job {}, not {id}: put the right workspace there",
            path.display(),
            session.job.spec.id
        ))),
        Err(RunError::Journal(error @ JournalError::Broken { .. })) => {
            let reason = format!("{error}; the job ends as failed, because it can't be known what was done");
            save_row(office.store.as_ref(), id, &error.to_string()).await?;
            Err(CliError::failed(format!("job {id}: {reason}")))
        }
        Err(RunError::Lock(error @ LockError::Held { .. })) => {
            Err(CliError::usage(format!("{error}: wait for it, or stop it with `overnight pause {id}`")))
        }
        Err(error @ (RunError::Lock(_) | RunError::Workspace(_) | RunError::Journal(_))) => Err(CliError::failed(
            format!("job {id} can't be taken up: {error}; when that is mended, `overnight resume {id}` goes on"),
        )),
        Err(error) => Err(error.into()),
    }
}

/// Writes the row of a job whose journal has ended, or holds it: the process that did it may have died before it could.
pub(super) async fn settle(office: &Office, session: &mut Session, row: &JobRow) -> Result<(), CliError> {
    let (status, reason, _) = session.job.job_status();
    if row.state.status.is_end() || (row.state.status, row.state.hold_reason) == (status, reason) {
        return Ok(());
    }
    match session.claim(office.store.as_ref()).await {
        // The process that ended it has written the row since it was read.
        Err(RunError::Store(StoreError::Ended { .. })) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(session.checkpoint(office.store.as_ref(), Extent::All).await?),
    }
}
