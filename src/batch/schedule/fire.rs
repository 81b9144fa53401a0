//! Handles a schedule's due runs: the batch is submitted, once; or the reason against it is recorded.

use super::Cron;
use crate::{
    batch::{derived_id::derived_id, on_the_wall, zone},
    store::{BatchStore, CommandLine, ScheduleRow, ScheduleStore, Store, StoreError},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use std::time::Duration;
use uuid::Uuid;

/// A run that is begun within this time after its moment is on time, also where missed runs are not made up for.
const ON_TIME: Duration = Duration::from_mins(10);

/// How long a run's submitter may be silent before another takes over the run.
const RUN_LEASE: Duration = Duration::from_mins(1);

/// Submits a batch, as `overnight submit` does.
#[async_trait]
pub trait Submit: Send + Sync {
    /// Submits the command line as the batch `batch`. It may be called again for the same batch if a crash or a broken
    /// connection left the result unknown: an existing batch stays as it is, and that is no error.
    async fn submit(&self, command: &CommandLine, batch: Uuid) -> Result<(), NotSubmitted>;
}

/// The reason why a batch was not submitted.
#[derive(Debug, thiserror::Error)]
pub enum NotSubmitted {
    /// The command can't be carried out, for example because a folder is gone: this run is given up. One sentence.
    #[error("{0}")]
    Refused(String),
    /// The database failed: the next free worker tries again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A due run, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiredRun {
    pub schedule: String,
    /// The planned time of the run.
    pub run: Timestamp,
    pub outcome: RunOutcome,
}

/// The outcome of a run. If it wasn't submitted, the reason is a sentence, which the schedule keeps until its next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    Submitted(Uuid),
    /// The previous batch has not ended.
    Overlaps(String),
    /// No worker ran when the run was due, and it is too late now.
    Missed(String),
    Refused(String),
    /// Another process is submitting a run of this schedule right now.
    Busy,
}

/// The batch of a run: the same id for every submitter. Its time is the run's, so batches sort by their runs.
pub fn batch_of(schedule: Uuid, run: Timestamp) -> Uuid {
    let millis = u64::try_from(run.utc().timestamp_millis()).unwrap_or(0);
    derived_id(millis, &format!("{schedule} {run}"))
}

/// Submits the runs that are due at `now`, the database's clock ([`ScheduleStore::clock`]). Any worker may call it at
/// any time: each run is submitted once. A schedule that fails keeps the reason in its note, and delays no other.
pub async fn fire_due(store: &dyn Store, now: Timestamp, submit: &dyn Submit) -> Result<Vec<FiredRun>, StoreError> {
    let mut fired = Vec::new();
    for row in store.due(now).await? {
        let Some(run) = begin(store, &row, now).await? else { continue };
        let outcome = carry_out(store, &row, &run, row.schedule.may_overlap, submit).await?;
        fired.push(FiredRun { schedule: row.schedule.name, run: run.at, outcome });
    }
    Ok(fired)
}

/// Moves planned runs that are later than the next run after `now`: they were computed before the clock was set back.
/// Returns the names of the schedules.
pub async fn mend_runs(store: &dyn ScheduleStore, now: Timestamp) -> Result<Vec<String>, StoreError> {
    let mut mended = Vec::new();
    for row in store.schedules().await? {
        let Some(planned) = row.next_run.filter(|_| row.enabled) else { continue };
        let Ok(cron) = Cron::read(&row.schedule.cron, &row.schedule.timezone, now) else { continue };
        if let Some(next) = cron.after(now).filter(|next| *next < planned)
            && store.move_run(row.schedule.id, planned, next).await?
        {
            mended.push(row.schedule.name);
        }
    }
    Ok(mended)
}

/// Submits a run now, on request. While the last batch has not ended, this needs `force`, or a schedule that allows it.
pub async fn fire_now(
    store: &dyn Store,
    row: &ScheduleRow,
    now: Timestamp,
    force: bool,
    submit: &dyn Submit,
) -> Result<RunOutcome, StoreError> {
    let may_overlap = force || row.schedule.may_overlap;
    // Checked before the run begins: the person sees the reason, so it needs no note.
    if let Some(why) = overlap(store, row, now, may_overlap).await? {
        return Ok(RunOutcome::Overlaps(why));
    }
    if !store.begin_run(row.schedule.id, row.next_run, row.next_run, now, millis(RUN_LEASE)).await? {
        return Ok(RunOutcome::Busy);
    }
    carry_out(store, row, &BegunRun { at: now, missed: None }, true, submit).await
}

/// A run that this worker has begun.
struct BegunRun {
    at: Timestamp,
    /// The reason why it must no longer be submitted.
    missed: Option<String>,
}

/// Begins the due run of a schedule; `None` if another worker was faster.
async fn begin(store: &dyn ScheduleStore, row: &ScheduleRow, now: Timestamp) -> Result<Option<BegunRun>, StoreError> {
    let schedule = &row.schedule;
    let make_up = Duration::from_millis(schedule.make_up_ms).max(ON_TIME);
    let cron = Cron::read(&schedule.cron, &schedule.timezone, now);
    let too_late = |run: Timestamp| {
        let at = wall(&schedule.timezone, run);
        format!("the run of {at} was missed: nothing was there to submit it, and now it is too late")
    };
    if let Some(run) = row.run {
        // The worker that began the run was lost. The run keeps its time, because its batch may already exist.
        let taken = store.take_over_run(schedule.id, run, millis(RUN_LEASE)).await?;
        let missed = (u128::from(now.millis_since(run)) > make_up.as_millis()).then(|| too_late(run));
        return Ok(taken.then_some(BegunRun { at: run, missed }));
    }
    let Some(planned) = row.next_run else { return Ok(None) };
    let (next, run) = match cron {
        Ok(cron) => match cron.last(planned, now, make_up) {
            Some(last) => (cron.after(now), BegunRun { at: last, missed: None }),
            None => (cron.after(now), BegunRun { at: planned, missed: Some(too_late(planned)) }),
        },
        // Another version of this program wrote it, or it was edited by hand. It is not run again.
        Err(why) => {
            let why = format!("the schedule can't be read, and is not run again: {why}");
            (None, BegunRun { at: planned, missed: Some(why) })
        }
    };
    let begun = store.begin_run(schedule.id, Some(planned), next, run.at, millis(RUN_LEASE)).await?;
    Ok(begun.then_some(run))
}

/// Submits a run that was begun, and ends it.
async fn carry_out(
    store: &dyn Store,
    row: &ScheduleRow,
    run: &BegunRun,
    may_overlap: bool,
    submit: &dyn Submit,
) -> Result<RunOutcome, StoreError> {
    let schedule = &row.schedule;
    let batch = batch_of(schedule.id, run.at);
    let outcome = if is_there(store, batch).await? {
        RunOutcome::Submitted(batch)
    } else if let Some(why) = &run.missed {
        RunOutcome::Missed(why.clone())
    } else if let Some(why) = overlap(store, row, run.at, may_overlap).await? {
        RunOutcome::Overlaps(why)
    } else {
        match renewing(store, schedule.id, run.at, submit.submit(&schedule.command, batch)).await {
            Ok(()) => RunOutcome::Submitted(batch),
            // The run stays begun: when its lease has expired, it is due again.
            Err(NotSubmitted::Store(error)) if error.retryable() => return Err(error),
            Err(why) => RunOutcome::Refused(why.to_string()),
        }
    };
    let (batch, note) = match &outcome {
        RunOutcome::Submitted(batch) => (Some(*batch), None),
        RunOutcome::Overlaps(why) | RunOutcome::Missed(why) | RunOutcome::Refused(why) => (None, Some(why.as_str())),
        RunOutcome::Busy => return Ok(outcome),
    };
    // If another worker has ended it meanwhile, the outcome was the same.
    store.end_run(schedule.id, run.at, batch, note).await?;
    Ok(outcome)
}

/// Waits for the submission, and renews the lease of the run meanwhile.
async fn renewing<T>(
    store: &dyn ScheduleStore,
    schedule: Uuid,
    run: Timestamp,
    submission: impl Future<Output = T>,
) -> T {
    let mut submission = std::pin::pin!(submission);
    loop {
        match tokio::time::timeout(RUN_LEASE / 3, &mut submission).await {
            Ok(done) => return done,
            // The next renewal makes up for one that fails; else another worker takes over, and finds this batch or submits it.
            Err(_) => drop(store.renew_run(schedule, run, millis(RUN_LEASE)).await),
        }
    }
}

async fn is_there(store: &dyn BatchStore, batch: Uuid) -> Result<bool, StoreError> {
    match store.batch(&batch.to_string()).await {
        Ok(_) => Ok(true),
        Err(StoreError::NoBatch { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The reason why a run has to wait for the last batch, if it has to.
async fn overlap(
    store: &dyn BatchStore,
    row: &ScheduleRow,
    run: Timestamp,
    may_overlap: bool,
) -> Result<Option<String>, StoreError> {
    let Some(last) = row.last_batch.filter(|_| !may_overlap) else { return Ok(None) };
    let totals = store.totals(last).await?;
    let open = totals.all() - totals.ended();
    let jobs = if open == 1 { "job" } else { "jobs" };
    let at = wall(&row.schedule.timezone, run);
    Ok((open > 0).then(|| {
        format!("the run of {at} was not submitted: the batch before it, {last}, still has {open} {jobs} to do")
    }))
}

fn wall(timezone: &str, run: Timestamp) -> String {
    zone(timezone).map_or_else(|_| run.to_string(), |zone| on_the_wall(run, zone))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
