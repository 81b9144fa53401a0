//! Works on one job in this process until it ends or is held, and shows the result.

use super::{AppContext, CliError, exit, out, progress::ProgressDisplay, result, stop, traces::Traces};
use crate::{
    runner::{Anchor, Disposition, JobOutcome, OpenJob, RunError, fail_row},
    store::{JobRow, StoreError},
    worker::{JobModels, JobSetup},
    workspace::lock::LockError,
};
use overnight_core::{
    job::{
        id::JobId,
        record::{HoldReason, JobStatus},
        rows::CheckpointExtent,
    },
    machine::effect::Command,
};
use std::{path::Path, sync::Arc};

/// How the result is printed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct OutputArgs {
    /// Print the result as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Claims a job, works on it after `commands` until it ends or is held, and shows the result. Returns the exit code.
pub(super) async fn run_job(
    app: &AppContext,
    opened: &mut OpenJob,
    path: &Path,
    models: JobModels,
    commands: Vec<Command>,
    show: OutputArgs,
) -> Result<u8, CliError> {
    let (id, store) = (opened.job.spec.id, app.store.as_ref());
    out::set_job(id);
    let row = store.job(id).await?;
    let uploader = match &row {
        Some(row) => super::workspace_store::uploader(app, row).await?,
        None => None,
    };
    opened.claim(store).await.map_err(|error| claim_error(id, error))?;
    // Done before the first output: its reader may send a signal.
    let stop = stop::listen()?;
    let mut progress = ProgressDisplay::begin(&opened.job);
    super::server::warn_of_price(&models, opened.job.limits.cost_usd);
    super::models::warn_of_retirement(&models);
    super::models::warn_of_other_documents(&models, &opened.job.spec);
    let traces = Traces::begin(app);
    // If a server has never answered this job, and can't be reached, its address is probably wrong.
    let chosen = commands.iter().find_map(|it| if let Command::Choose { choice } = it { Some(choice) } else { None });
    let choice = chosen.unwrap_or(&opened.job.choice);
    let setup = JobSetup {
        store,
        models,
        reader: Arc::new(super::documents::extractor(&app.settings)?),
        is_server_known: opened.job.answered.servers.contains(choice.server()),
        commands,
        uploader,
        row: row.as_ref(),
        traces: traces.feed(),
        stop,
    };
    let (outcome, _) = setup.work_on(opened, &mut |job, report| progress.show(job, report)).await;
    progress.end();
    traces.end().await;
    let outcome = outcome.map_err(|error| interruption_error(id, &error))?;
    result::show(&opened.job, path, outcome, show.json)?;
    if outcome == JobOutcome::Interrupted {
        out::note(&format!("interrupted, and kept: go on with `overnight resume {id}`"));
    }
    Ok(exit_code(outcome))
}

/// The exit code for a job that had already ended; `is_accepted`: a person has accepted its result.
pub(super) fn ended_exit_code(status: JobStatus, is_accepted: bool) -> u8 {
    match status {
        JobStatus::Partial | JobStatus::Blocked if is_accepted => exit::COMPLETED,
        status => exit_code(JobOutcome::Ended(status)),
    }
}

/// The exit code for the outcome of a job.
pub(super) fn exit_code(outcome: JobOutcome) -> u8 {
    match outcome {
        JobOutcome::Ended(status) => match status {
            JobStatus::Completed => exit::COMPLETED,
            JobStatus::Partial | JobStatus::Blocked => exit::PARTIAL_OR_BLOCKED,
            JobStatus::Cancelled => exit::CANCELLED,
            JobStatus::Failed | JobStatus::Queued | JobStatus::Running | JobStatus::Waiting | JobStatus::Held => {
                exit::FAILED
            }
        },
        JobOutcome::Held(_) => exit::HELD,
        JobOutcome::Waiting | JobOutcome::Interrupted => exit::INTERRUPTED,
    }
}

/// The error if the job could not be claimed: nothing was done.
fn claim_error(id: JobId, error: RunError) -> CliError {
    let message = |then: &str| format!("{error}; job {id} is kept as it is: {then}");
    if let Disposition::Hold(HoldReason::Disk, _) = error.disposition() {
        // If there is no room even for the first row, the database doesn't know the job yet.
        let then = format!("make room, then `overnight reindex` and `overnight resume {id}` go on");
        return CliError { message: message(&then), code: exit::HELD };
    }
    let then = format!("when the database is back, `overnight reindex` and `overnight resume {id}` go on");
    if matches!(&error, RunError::Store(StoreError::Unreachable { .. })) {
        return CliError::failed(message(&then));
    }
    // A file that is readable but not writable is only noticed here.
    if matches!(&error, RunError::Store(StoreError::Connect { .. })) {
        return CliError::usage(message(&then));
    }
    error.into()
}

/// The error if the work was interrupted for a reason outside the job: nothing is lost.
fn interruption_error(id: JobId, error: &RunError) -> CliError {
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
pub(super) async fn open(app: &AppContext, row: &JobRow, path: &Path) -> Result<OpenJob, CliError> {
    let id = row.job.id;
    match OpenJob::open(path, Anchor::of(row)) {
        Ok(opened) if opened.job.spec.id == id => Ok(opened),
        Ok(opened) => Err(CliError::failed(format!(
            "{} holds job {}, not {id}: put the right workspace there",
            path.display(),
            opened.job.spec.id
        ))),
        Err(error) if error.disposition() == Disposition::Fail => {
            fail_row(app.store.as_ref(), id, &error.to_string()).await?;
            Err(CliError::failed(format!("job {id}: {}", error.with_advice(false))))
        }
        Err(RunError::Lock(error @ LockError::Held { .. })) => {
            Err(CliError::usage(format!("{error}: wait for it, or stop it with `overnight pause {id}`")))
        }
        Err(error) if error.is_usage() => Err(error.into()),
        Err(error @ (RunError::Lock(_) | RunError::Workspace(_) | RunError::Journal(_))) => Err(CliError::failed(
            format!("job {id} can't be taken up: {error}; when that is mended, `overnight resume {id}` goes on"),
        )),
        Err(error) => Err(error.into()),
    }
}

/// Writes the row of a job whose journal says that it ended or is held: the process that did it may have died before it wrote the row.
pub(super) async fn settle_row(app: &AppContext, opened: &mut OpenJob, row: &JobRow) -> Result<(), CliError> {
    let (status, reason, _) = opened.job.job_status();
    if row.state.status.is_end() && status.is_end() || (row.state.status, row.state.hold_reason) == (status, reason) {
        return Ok(());
    }
    match opened.claim(app.store.as_ref()).await {
        // The process that ended it has written the row since it was read.
        Err(RunError::Store(StoreError::Ended { .. })) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(opened.checkpoint(app.store.as_ref(), CheckpointExtent::All).await?),
    }
}
