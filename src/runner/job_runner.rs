//! The loop that drives a job. Facts are on the disk before their effects; checkpoints go to the database after todos,
//! phases and endings.

use super::{
    RunError,
    blocking::run_blocking,
    clock::now,
    lease::{LeaseHandle, Timers},
    open_job::OpenJob,
    workspace_upload::WorkspaceUpload,
};
use crate::{
    failpoint,
    model::Model,
    store::{Store, StoreError},
    tool,
};
use overnight_core::job::{
    decide::{Command, Effect, EffectResult},
    event::{Decision, Event},
    record::{Checkpoint, HoldReason, JobStatus},
    rows::CheckpointExtent,
    state::{Job, Status},
};
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long a database that couldn't be reached is not asked again while the lease lasts.
const DATABASE_PAUSE: Duration = Duration::from_secs(20);
/// After how long a job that was held for want of room goes on by itself, where a worker drives it.
const DISK_WAKES: Duration = Duration::from_mins(5);
/// How soon it is tried again while the job waits for it.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Seconds before each try at the last checkpoint when the database can't be reached.
const LAST_TRIES: [u64; 5] = [0, 1, 2, 4, 8];

/// What happened, for whoever shows it. Reports come after the commit, never before.
#[derive(Debug)]
pub enum RunReport<'a> {
    /// A decision is written and applied; on the disk too, unless it only says what the model or a tool answered.
    Decided(&'a Decision),
    /// A model call begins.
    Calling,
    /// Something a person may want to know; one sentence.
    Note(String),
}

/// How the work on a job came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    Ended(JobStatus),
    Held(HoldReason),
    /// Stopped by the person at the terminal; held as paused.
    Interrupted,
}

/// Drives one job.
pub struct JobRunner<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) model: Arc<dyn Model>,
    pub(super) stop: watch::Receiver<bool>,
    pub(super) observer: &'a mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    /// What is used when the model is down or refuses, in this order.
    pub(super) fallbacks: VecDeque<Arc<dyn Model>>,
    /// The model's server answered something since the work began.
    pub(super) reached: bool,
    /// What a person must change before the model can be used.
    pub(super) misconfigured: Option<String>,
    /// Commands to the job before the work begins.
    commands: Vec<Command>,
    /// Since when the database can't be reached; the person was told.
    outage: Option<Instant>,
    /// The last checkpoint that the database took from this runner.
    saved: Option<Checkpoint>,
    /// The database may lack rows of phases before the last two.
    lags: bool,
    /// The worker that keeps the lease; none: this runner keeps it itself.
    pub(super) lease_handle: Option<LeaseHandle>,
    /// Uploads the workspace for other machines; none: it stays here.
    pub(super) upload: Option<WorkspaceUpload>,
    /// USD that the job may cost before its batch is asked again; none: nobody else spends from its budget.
    pub(super) granted_usd: Option<f64>,
    pub(super) has_spent_batch_budget: bool,
}

impl std::fmt::Debug for JobRunner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobRunner").field("model", &self.model).finish_non_exhaustive()
    }
}

impl<'a> JobRunner<'a> {
    /// `stop` turns true when the work is to stop; `watch` is told what happened.
    pub fn new(
        store: &'a dyn Store,
        model: Arc<dyn Model>,
        stop: watch::Receiver<bool>,
        observer: &'a mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    ) -> Self {
        Self {
            store,
            model,
            stop,
            observer,
            fallbacks: VecDeque::new(),
            reached: false,
            misconfigured: None,
            commands: Vec::new(),
            outage: None,
            saved: None,
            lags: true,
            lease_handle: None,
            upload: None,
            granted_usd: None,
            has_spent_batch_budget: false,
        }
    }

    /// Gives the job these commands first: as part of the work, so that a full disk holds it here as anywhere.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<Command>) -> Self {
        self.commands = commands;
        self
    }

    /// Has other models go on, one after the other, when the one before is down or refuses.
    #[must_use]
    pub fn with_fallbacks(mut self, fallbacks: Vec<Arc<dyn Model>>) -> Self {
        self.fallbacks = fallbacks.into();
        self
    }

    /// Whether the model's server is known to be at its address: if so, that it can't be reached is an outage, not a mistake.
    #[must_use]
    pub fn with_known_server(mut self, is_known: bool) -> Self {
        self.reached = is_known;
        self
    }

    /// Leaves the lease to a worker, and a stop to whoever works on the job next. What the job costs counts in its batch's
    /// budget.
    #[must_use]
    pub fn with_lease_handle(mut self, handle: LeaseHandle) -> Self {
        self.lease_handle = Some(handle);
        self.granted_usd = Some(0.0);
        self
    }

    /// The job is one of a batch: what its calls may cost is asked of the batch's budget.
    #[must_use]
    pub fn with_shared_budget(mut self, is_shared: bool) -> Self {
        self.granted_usd = self.granted_usd.or(is_shared.then_some(0.0));
        self
    }

    /// Whether the job was held because the budget of its batch has no room.
    pub fn has_spent_batch_budget(&self) -> bool {
        self.has_spent_batch_budget
    }

    /// Works on a claimed job until it ends, is held, or is to stop.
    pub async fn run(&mut self, opened: &mut OpenJob) -> Result<JobOutcome, RunError> {
        match self.work(opened).await {
            Err(error) if error.is_disk_full() => {
                let mut detail = format!("{error}; make room and resume");
                if self.lease_handle.is_some() {
                    // Room may be made without a word to the queue.
                    detail = format!("{error}; make room: it goes on by itself in a few minutes");
                    let _ = self.store.wake_at(opened.job.spec.id, opened.lease, now().after(DISK_WAKES)).await;
                }
                // A short line may still fit where something long did not; then the workspace alone says why it rests.
                let _ = opened.command(Command::Hold { reason: HoldReason::Disk, detail: detail.clone() });
                let anchor = self.upload_or_disclaim(opened).await;
                self.publish_lease(0);
                opened
                    .checkpoint_as(self.store, self.extent(), |state| {
                        anchor(state);
                        state.status = JobStatus::Held;
                        state.hold_reason = Some(HoldReason::Disk);
                        state.reason = Some(detail.clone());
                    })
                    .await
                    .or_else(|error| match error {
                        // The database lies on the same disk; its row is written when the job is taken up again.
                        StoreError::Full { .. } => Ok(()),
                        other => Err(other),
                    })?;
                (self.observer)(&opened.job, RunReport::Note(detail));
                Ok(JobOutcome::Held(HoldReason::Disk))
            }
            // What the person must mend first: the row says so, and no process works on the job.
            Err(
                error @ (RunError::Workspace(_) | RunError::Archive(_) | RunError::Journal(_) | RunError::Request(_)),
            ) => {
                let anchor = self.upload_or_disclaim(opened).await;
                self.publish_lease(0);
                let held = opened.checkpoint_as(self.store, self.extent(), |state| {
                    anchor(state);
                    state.status = JobStatus::Held;
                    state.hold_reason = Some(HoldReason::Paused);
                    state.reason = Some(error.to_string());
                });
                // The first error is the one to tell.
                let _ = held.await;
                Err(error)
            }
            other => other,
        }
    }

    async fn work(&mut self, opened: &mut OpenJob) -> Result<JobOutcome, RunError> {
        // Making and opening the workspace may have taken longer than a lease.
        self.await_lease(opened).await?;
        for command in std::mem::take(&mut self.commands) {
            opened.command(command)?;
        }
        run_blocking(|| super::input_check::check(opened))?;
        failpoint::hit("drive.begun");
        opened.write_derived()?;
        self.publish_lease(opened.lease);
        // A control signal that reached no process before this one is obeyed first.
        let mut timers = Timers { asked: None, renewed: Instant::now() };
        self.lags = !opened.is_recorded;
        self.save(opened).await?;
        let mut interrupted = false;
        loop {
            if *self.stop.borrow() && opened.job.is_running() {
                interrupted = true;
                if self.lease_handle.is_some() {
                    break;
                }
                self.pause(opened, "stopped by a person").await?;
            }
            if opened.job.is_running() {
                self.keep_lease(opened, &mut timers).await?;
                self.check_signals(opened, &mut timers).await?;
                self.check_window(opened).await?;
            }
            if opened.job.is_out() {
                self.wait_for_server(opened, &mut timers).await?;
                interrupted |= !opened.job.is_running() && *self.stop.borrow();
            }
            let effect = opened.job.next();
            let result = match &effect {
                Effect::Nothing => break,
                Effect::Model => {
                    if self.is_upload_due() {
                        opened.journal.sync()?;
                        self.save(opened).await?;
                    }
                    match self.turn(opened, &mut timers).await? {
                        Some(result) => result,
                        None => continue,
                    }
                }
                Effect::Tool { call, work, .. } if tool::is_reading(work) => {
                    match self.read(opened, &mut timers, &effect, (call, work)).await? {
                        Some(result) => result,
                        None => continue,
                    }
                }
                Effect::Decide
                | Effect::Prepare(_)
                | Effect::Tool { .. }
                | Effect::Archive { .. }
                | Effect::Summary
                | Effect::Examine
                | Effect::Write(_)
                | Effect::Check(_) => run_blocking(|| opened.perform(&effect))?,
            };
            if !self.decide(opened, result).await? {
                return Err(RunError::NoDecision(format!("{effect:?}")));
            }
        }
        self.finish(opened).await?;
        failpoint::hit("drive.rested");
        if let Some(reason) = self.misconfigured.take() {
            return Err(RunError::Configuration(reason));
        }
        Ok(match &opened.job.status {
            Status::Ended(ending) => JobOutcome::Ended(ending.status),
            Status::Held { .. } if interrupted => JobOutcome::Interrupted,
            Status::Held { reason, .. } => JobOutcome::Held(*reason),
            Status::Running => JobOutcome::Interrupted,
        })
    }

    /// Decides, appends, applies, reports; then what follows from the decision: derived files and the checkpoint.
    pub(super) async fn decide(&mut self, opened: &mut OpenJob, result: EffectResult) -> Result<bool, RunError> {
        self.await_lease(opened).await?;
        let Some(decision) = opened.decide(result)? else {
            return Ok(false);
        };
        opened.refresh_derived()?;
        (self.observer)(&opened.job, RunReport::Decided(&decision));
        if opened.job.is_running() && decision.events.iter().any(is_checkpoint) {
            self.save(opened).await?;
        }
        Ok(true)
    }

    pub(super) async fn pause(&mut self, opened: &mut OpenJob, detail: &str) -> Result<(), RunError> {
        let command = Command::Hold { reason: HoldReason::Paused, detail: detail.to_owned() };
        self.decide(opened, EffectResult::Command(command)).await.map(drop)
    }

    /// Whether the database is not asked just now: each try costs the time that a connection may take, and the work would
    /// wait for it.
    pub(super) fn is_database_paused(&self) -> bool {
        self.outage.is_some_and(|since| since.elapsed() < DATABASE_PAUSE)
    }

    /// A database that can't be reached now is tried again at the next checkpoint; a lost lease ends the work.
    pub(super) fn tolerate_outage(&mut self, opened: &OpenJob, error: StoreError) -> Result<(), RunError> {
        if !error.retryable() {
            return Err(error.into());
        }
        if self.outage.replace(Instant::now()).is_none() {
            let text =
                format!("{error}; the job goes on while its lease lasts, then waits; its rows are written later");
            (self.observer)(&opened.job, RunReport::Note(text));
        }
        Ok(())
    }

    /// The same for errors of the workspace store, which is asked before the database.
    fn tolerate_any_outage(&mut self, opened: &OpenJob, error: RunError) -> Result<(), RunError> {
        match error {
            RunError::Store(error) => self.tolerate_outage(opened, error),
            RunError::WorkspaceStore(error) if error.retryable() => {
                if self.outage.replace(Instant::now()).is_none() {
                    let text = format!("{error}; the job goes on, and what it does is kept there later");
                    (self.observer)(&opened.job, RunReport::Note(text));
                }
                Ok(())
            }
            error => Err(error),
        }
    }

    pub(super) async fn save(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        if self.is_database_paused() {
            self.lags = true;
            return Ok(());
        }
        match self.checkpoint(opened).await {
            Ok(()) => {
                self.outage = None;
                Ok(())
            }
            Err(error) => self.tolerate_any_outage(opened, error),
        }
    }

    /// Writes what the database doesn't have. Whatever it takes, it has all rows afterwards, so that its anchor vouches for
    /// them all. It never knows more of the journal than the workspace store has.
    async fn checkpoint(&mut self, opened: &OpenJob) -> Result<(), RunError> {
        self.upload(opened).await?;
        let extent = self.extent();
        if !opened.job.is_running() {
            self.publish_lease(0);
        }
        // What became of a checkpoint that failed isn't known: the next one is written whole.
        self.lags = true;
        let before = self.saved.take();
        self.saved = Some(opened.checkpoint_since(self.store, extent, before.as_ref()).await?);
        self.lags = false;
        Ok(())
    }

    fn extent(&self) -> CheckpointExtent {
        if self.lags { CheckpointExtent::All } else { CheckpointExtent::Recent }
    }

    /// An end is an end only when its checkpoint is in the database.
    async fn finish(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        if opened.job.ended().is_none() {
            opened.write_derived()?;
        }
        let mut last = None;
        // Who stops the work doesn't want to wait for a database; whoever opens the job next writes its row.
        let tries = if *self.stop.borrow() { &LAST_TRIES[..1] } else { &LAST_TRIES[..] };
        if *self.stop.borrow() && self.is_database_paused() {
            return Ok(());
        }
        for &seconds in tries {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            match self.checkpoint(opened).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_retryable() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        match last {
            None => Ok(()),
            Some(error) if *self.stop.borrow() => self.tolerate_any_outage(opened, error),
            Some(error) => Err(error),
        }
    }
}

/// Waits until the work is to stop; for ever, where nobody is left who could say so.
pub(super) async fn until_stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stops| *stops).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Events after which the database is told.
fn is_checkpoint(event: &Event) -> bool {
    matches!(
        event,
        Event::TodoCompleted { .. }
            | Event::TodosWritten { .. }
            | Event::PhaseStarted { .. }
            | Event::ArchiveStored { .. }
            | Event::Opened { .. }
            | Event::Resumed { .. }
            | Event::FeedbackGiven { .. }
            | Event::Approved
    )
}

/// Many jobs are driven at once by several threads.
#[cfg(test)]
mod tests {
    use super::*;

    fn is_send<T: Send>(_: &T) {}

    #[test]
    fn the_work_can_move_between_threads() {
        // Never run: that it compiles is the test.
        let _ = |drive: &'static mut JobRunner<'static>, opened: &'static mut OpenJob| is_send(&drive.run(opened));
    }
}
