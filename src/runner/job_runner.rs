//! The loop that drives a job. Facts are on the disk before their effects; checkpoints go to the database after todos
//! and phases, and when the job rests.

use super::{
    Disposition, RunError, batch_budget::BatchBudget, checkpoints::Checkpoints, clock::now, edited_files, input_check,
    model_chain::ModelChain, open_job::OpenJob,
};
use crate::{
    blocking::run_blocking,
    failpoint,
    model::Model,
    store::{Store, StoreError},
};
use overnight_core::{
    job::{
        event::{Decision, Event},
        record::{HoldReason, JobStatus},
        state::{Job, Status},
    },
    machine::effect::{Command, Effect, EffectResult},
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

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

/// How the work on a job came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    Ended(JobStatus),
    Held(HoldReason),
    /// Stopped: a person's job is held as paused, one of the queue is to be given back.
    Interrupted,
}

/// Works on one open and claimed job.
pub struct JobRunner<'a> {
    pub(super) store: &'a dyn Store,
    /// Turns true when the work is to stop.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) observer: &'a mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    /// Commands to the job before the work begins.
    commands: Vec<Command>,
    pub(super) models: ModelChain,
    pub(super) checkpoints: Checkpoints,
    pub(super) budget: BatchBudget,
    /// The job is to wait so long, and why: it goes back to the queue meanwhile.
    pub(super) later: Option<(Duration, String)>,
}

impl std::fmt::Debug for JobRunner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobRunner").field("models", &self.models).finish_non_exhaustive()
    }
}

impl<'a> JobRunner<'a> {
    /// `stop` turns true when the work is to stop; `observer` is told what happened.
    pub fn new(
        store: &'a dyn Store,
        model: Arc<dyn Model>,
        stop: watch::Receiver<bool>,
        observer: &'a mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    ) -> Self {
        let (models, checkpoints, budget) = (ModelChain::new(model), Checkpoints::new(), BatchBudget::default());
        Self { store, stop, observer, commands: Vec::new(), models, checkpoints, budget, later: None }
    }

    /// Has the job hear `commands` first: as part of the work, so that a full disk holds it here as anywhere.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<Command>) -> Self {
        self.commands = commands;
        self
    }

    /// Works on a claimed job until it ends, is held, or is to stop.
    pub async fn run(&mut self, opened: &mut OpenJob) -> Result<JobOutcome, RunError> {
        let heartbeat = opened.lease.start_heartbeat(self.store)?;
        let outcome = match self.work(opened).await {
            Err(error) => self.on_error(opened, error).await,
            outcome => outcome,
        };
        if let Some(heartbeat) = heartbeat {
            heartbeat.end().await;
        }
        outcome
    }

    async fn work(&mut self, opened: &mut OpenJob) -> Result<JobOutcome, RunError> {
        self.begin(opened).await?;
        let mut is_interrupted = false;
        loop {
            is_interrupted |= self.attend(opened).await?;
            let effect = opened.job.next();
            let is_later = self.later.is_some() && opened.job.is_running();
            if effect == Effect::Nothing || is_later || (is_interrupted && opened.job.is_running()) {
                break;
            }
            let Some(result) = self.perform(opened, &effect).await? else { continue };
            if !self.decide(opened, result).await? {
                return Err(RunError::NoDecision(format!("{effect:?}")));
            }
        }
        self.finish(opened).await?;
        failpoint::hit("runner.rested");
        if let Some(reason) = self.models.misconfigured.take() {
            return Err(RunError::Configuration(reason));
        }
        if let Some((wait, reason)) = self.later.take().filter(|_| opened.job.is_running() && !is_interrupted) {
            return Err(RunError::Later { wait, reason });
        }
        Ok(match &opened.job.status {
            Status::Ended(ending) => JobOutcome::Ended(ending.status),
            Status::Held { reason, .. } if !is_interrupted => JobOutcome::Held(*reason),
            Status::Held { .. } | Status::Running => JobOutcome::Interrupted,
        })
    }

    async fn begin(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        // Making and opening the workspace may have taken longer than a lease.
        self.await_lease(opened).await?;
        if let Some(edited) = run_blocking(|| edited_files::find(opened))? {
            self.command(opened, edited).await?;
        }
        for command in std::mem::take(&mut self.commands) {
            opened.command(command)?;
        }
        if opened.job.is_running() {
            self.tell_tier(opened, "the model is asked at this tier").await?;
        }
        run_blocking(|| input_check::check(opened))?;
        failpoint::hit("runner.begun");
        opened.write_derived()?;
        self.checkpoints.lags = !opened.is_recorded;
        self.save(opened).await?;
        if !opened.job.is_running() || *self.stop.borrow() || self.is_database_paused() {
            return Ok(());
        }
        // A control signal that reached no process before this one is obeyed first.
        match self.ask_for_signal(opened).await? {
            Some(signal) => self.obey(opened, signal).await,
            None => Ok(()),
        }
    }

    /// What comes before the next effect: a stop, the lease, what people ask for, the time window, a model's server that is down.
    /// Whether the work is to stop.
    async fn attend(&mut self, opened: &mut OpenJob) -> Result<bool, RunError> {
        let is_stopped = *self.stop.borrow() && opened.job.is_running();
        if is_stopped {
            if opened.lease.is_queued() {
                return Ok(true);
            }
            self.pause(opened, "stopped by a person").await?;
        }
        if opened.job.is_running() {
            self.await_lease(opened).await?;
            self.check_signals(opened).await?;
            self.check_window(opened).await?;
        }
        if !opened.job.is_out() {
            return Ok(is_stopped);
        }
        self.wait_for_server(opened).await?;
        Ok(is_stopped || (!opened.job.is_running() && *self.stop.borrow()))
    }

    /// Does what the job asks for. `None`: the work is to stop, or something else comes first.
    async fn perform(&mut self, opened: &mut OpenJob, effect: &Effect) -> Result<Option<EffectResult>, RunError> {
        match effect {
            Effect::Model => {
                if self.is_upload_due() {
                    opened.journal.sync()?;
                    self.save(opened).await?;
                }
                self.turn(opened).await
            }
            Effect::Read { call, read } => self.read(opened, effect, (call, read)).await,
            Effect::Nothing
            | Effect::Decide
            | Effect::Prepare(_)
            | Effect::Change(..)
            | Effect::GenerateSummary
            | Effect::Archive { .. }
            | Effect::Summary
            | Effect::Examine
            | Effect::Write(_)
            | Effect::FindQuotes(_)
            | Effect::Check(_) => run_blocking(|| opened.perform(effect)).map(Some),
        }
    }

    /// Decides, appends, applies, reports; then what follows from the decision: derived files and the checkpoint.
    pub(super) async fn decide(&mut self, opened: &mut OpenJob, result: EffectResult) -> Result<bool, RunError> {
        self.await_lease(opened).await?;
        let Some(decision) = opened.decide(result)? else {
            return Ok(false);
        };
        opened.refresh_derived()?;
        (self.observer)(&opened.job, RunReport::Decided(&decision));
        if decision.events.iter().any(|event| matches!(event, Event::PhaseStarted { .. })) {
            self.return_to_first(opened)?;
        }
        if opened.job.is_running() && decision.events.iter().any(is_checkpoint) {
            self.save(opened).await?;
        }
        Ok(true)
    }

    pub(super) async fn command(&mut self, opened: &mut OpenJob, command: Command) -> Result<(), RunError> {
        self.decide(opened, EffectResult::Command(command)).await.map(drop)
    }

    pub(super) async fn pause(&mut self, opened: &mut OpenJob, detail: &str) -> Result<(), RunError> {
        self.command(opened, Command::Hold { reason: HoldReason::Paused, detail: detail.to_owned() }).await
    }

    /// Has the job's row say that it is held, where a person must make room or repair something first.
    async fn on_error(&mut self, opened: &mut OpenJob, error: RunError) -> Result<JobOutcome, RunError> {
        let is_queued = opened.lease.is_queued();
        let is_held = match error.disposition() {
            Disposition::Hold(HoldReason::Disk, wakes_after) => {
                let wakes_after = wakes_after.filter(|_| is_queued);
                return self.hold_for_room(opened, error.with_advice(is_queued), wakes_after).await;
            }
            Disposition::Repair | Disposition::Fail => true,
            // Where there is no queue, it waits for its person.
            Disposition::GiveBack(_) => !is_queued,
            Disposition::Hold(..) => opened.lease.held() > 0 && !matches!(error, RunError::WorkspaceStore(_)),
            Disposition::Lost | Disposition::FailAttempt => false,
        };
        if is_held {
            // The first error is the one to tell.
            let _ = self.hold_row(opened, HoldReason::Paused, &error.to_string()).await;
        }
        Err(error)
    }

    async fn hold_for_room(
        &mut self,
        opened: &mut OpenJob,
        detail: String,
        wakes_after: Option<Duration>,
    ) -> Result<JobOutcome, RunError> {
        if let Some(after) = wakes_after {
            // Room may be made without a word to the queue.
            let _ = self.store.wake_at(opened.lease.id, opened.lease.number, now().after(after)).await;
        }
        // A short line may still fit where something long did not; then the workspace alone says why it rests.
        let _ = opened.command(Command::Hold { reason: HoldReason::Disk, detail: detail.clone() });
        match self.hold_row(opened, HoldReason::Disk, &detail).await {
            // The database lies on the same disk; its row is written when the job is taken up again.
            Ok(()) | Err(StoreError::Full { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        (self.observer)(&opened.job, RunReport::Note(detail));
        Ok(JobOutcome::Held(HoldReason::Disk))
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
            | Event::Approved { .. }
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
        let _ = |runner: &'static mut JobRunner<'static>, opened: &'static mut OpenJob| {
            is_send(&runner.run(opened));
        };
    }
}
