//! `overnight cancel` and `overnight pause`: whoever works on the job is asked; where nobody does, it is done here.

use super::{CliError, Office, out, run::opening, work};
use crate::{
    job::{
        record::{HoldReason, JobStatus},
        rows::Extent,
        state::Status,
        step::Command,
    },
    runner::{RunError, Session},
    store::{JobRow, Wish},
    workspace::lock::LockError,
};

#[derive(Debug, clap::Args)]
pub(super) struct CancelArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct PauseArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
}

pub(super) async fn cancel(office: &Office, args: &CancelArgs) -> Result<u8, CliError> {
    let row = office.job(&args.job).await?;
    let id = row.job.id;
    let Some(mut session) = unworked(office, &row, Wish::Cancel).await? else {
        out::result(&format!("job {id} is being worked on; that process was asked to cancel it\n"))?;
        return Ok(super::exit::COMPLETED);
    };
    put(office, &mut session, Command::Cancel).await?;
    out::result(&format!("job {id} is cancelled; what it made stays in its workspace\n"))?;
    Ok(super::exit::COMPLETED)
}

pub(super) async fn pause(office: &Office, args: &PauseArgs) -> Result<u8, CliError> {
    let row = office.job(&args.job).await?;
    let id = row.job.id;
    let Some(mut session) = unworked(office, &row, Wish::Pause).await? else {
        out::result(&format!("job {id} is being worked on; that process was asked to hold it at its next turn\n"))?;
        return Ok(super::exit::COMPLETED);
    };
    if let Status::Held { reason, detail } = &session.job.status {
        return Err(CliError::usage(format!("job {id} is held already ({reason}): {detail}")));
    }
    let detail = "paused by a person".to_owned();
    put(office, &mut session, Command::Hold { reason: HoldReason::Paused, detail }).await?;
    out::result(&format!("job {id} is held (paused); `overnight resume {id}` goes on\n"))?;
    Ok(super::exit::COMPLETED)
}

/// The job, opened, if nobody works on it; else the wish is left for who does. A job that has ended is an error.
async fn unworked(office: &Office, row: &JobRow, wish: Wish) -> Result<Option<Session>, CliError> {
    let id = row.job.id;
    if row.state.status.is_end() {
        return Err(ended(row, row.state.status));
    }
    let path = office.workspace(row)?;
    // Asked here rather than in `work::open`, for which a lock is an error.
    let mut session = match Session::open(&path, work::anchor(row)) {
        Err(RunError::Lock(LockError::Held { .. })) => {
            office.store.want(id, wish).await.map_err(|error| CliError::usage(error.to_string()))?;
            return Ok(None);
        }
        Err(_) => work::open(office, row, &path).await?,
        Ok(session) => session,
    };
    match session.job.ended().map(|ending| ending.status) {
        Some(status) => {
            work::settle(office, &mut session, row).await?;
            Err(ended(row, status))
        }
        None => Ok(Some(session)),
    }
}

fn ended(row: &JobRow, status: JobStatus) -> CliError {
    CliError::usage(format!("job {} has ended already: it is {status}", row.job.id))
}

async fn put(office: &Office, session: &mut Session, command: Command) -> Result<(), CliError> {
    session.claim(office.store.as_ref()).await?;
    let model = session.job.spec.model.clone();
    session.command(opening(&model, session.torn()))?;
    session.command(command)?;
    Ok(session.checkpoint(office.store.as_ref(), Extent::All).await?)
}
