//! The loop that drives a job. Facts are on the disk before their effects; checkpoints go to the database after todos
//! and phases, and when the job rests.
//!
//! - `recorder`: decisions under the lease, with `checkpoints` to the workspace store and the database, and `signals`, the
//!   requests to a running job
//! - `model_call`: a model call and its retries; `calls_in_flight`: calls in progress; `later_answers`: calls answered
//!   later; `model_chain`: the model and its fallbacks; `cheap_tier`: its tier; `server_outage`: its server is down
//! - `read_call`: a reading call, which may take long
//! - `batch_budget`: its part of the budget that all jobs of its batch share

mod batch_budget;
mod calls_in_flight;
mod cheap_tier;
mod checkpoints;
mod later_answers;
mod model_call;
mod model_chain;
mod read_call;
mod recorder;
mod server_outage;
mod signals;

pub use later_answers::waits_for;

use super::{
    Disposition, RunError,
    clock::now,
    edited_files, input_check,
    open_job::{Anchor, OpenJob},
    page_reading, second_lists,
};
use crate::{
    blocking::run_blocking,
    failpoint,
    model::Model,
    store::{Store, StoreError},
    table_query::DocumentReader,
    workspace_store::Uploader,
};
use batch_budget::BatchBudget;
use calls_in_flight::CallsInFlight;
use checkpoints::Checkpoints;
use model_call::Rest;
use model_chain::ModelChain;
use overnight_core::{
    job::{
        conversation::OWN,
        event::{Decision, Event, PhaseEvent},
        record::{HoldReason, JobStatus},
        state::{Job, Status},
    },
    machine::effect::{Command, Effect, EffectId, EffectResult, Outcome, Owed},
};
use recorder::JobRecorder;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// A report to the observer. Reports come after the commit, never before.
#[derive(Debug)]
pub enum RunReport<'a> {
    /// A decision is written and applied; on the disk too, unless it only records a reply of the model or a tool.
    Decided(&'a Decision),
    /// A model call of this conversation begins.
    Calling(u32),
    /// A note for a person; one sentence.
    Note(String),
}

/// The state in which the work on a job came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    Ended(JobStatus),
    Held(HoldReason),
    /// Answers to submitted calls are still to come: a queued job rests until then.
    Waiting,
    /// Stopped: a person's job is held as paused, one of the queue is to be given back.
    Interrupted,
}

/// Works on one open and claimed job.
pub struct JobRunner<'a> {
    recorder: JobRecorder<'a>,
    /// Commands to the job before the work begins.
    commands: Vec<Command>,
    models: ModelChain,
    /// Reads documents for tools, in processes of their own.
    reader: Option<Arc<dyn DocumentReader>>,
    budget: BatchBudget,
    in_flight: CallsInFlight,
    /// Conversations that pause before their next call.
    resting: BTreeMap<u32, Rest>,
    /// The conversation for whose server the job waits.
    waits_for: u32,
    /// The setting that a person must change before the model can be used.
    misconfigured: Option<String>,
    /// How long the job is to wait, and why: it goes back to the queue meanwhile.
    later: Option<(Duration, String)>,
    /// The time at which to check next for answers to submitted calls; none: immediately.
    looks_at: Option<Instant>,
}

impl std::fmt::Debug for JobRunner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobRunner").field("models", &self.models).finish_non_exhaustive()
    }
}

impl<'a> JobRunner<'a> {
    /// `stop` becomes true when the work is to stop; `observer` receives the reports.
    pub fn new(
        store: &'a dyn Store,
        model: Arc<dyn Model>,
        stop: watch::Receiver<bool>,
        observer: &'a mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    ) -> Self {
        Self {
            recorder: JobRecorder { store, stop, observer, checkpoints: Checkpoints::new() },
            commands: Vec::new(),
            models: ModelChain::new(model),
            reader: None,
            budget: BatchBudget::default(),
            in_flight: CallsInFlight::default(),
            resting: BTreeMap::new(),
            waits_for: OWN,
            misconfigured: None,
            later: None,
            looks_at: None,
        }
    }

    /// Has the job hear `commands` first: as part of the work, so that a full disk holds it here as anywhere.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<Command>) -> Self {
        self.commands = commands;
        self
    }

    /// Lets tools read documents in processes of their own: paint their pages, and ask their tables.
    #[must_use]
    pub fn with_reader(mut self, reader: Arc<dyn DocumentReader>) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Has other models go on, one after the other, when the one before is down or refuses.
    #[must_use]
    pub fn with_fallbacks(mut self, fallbacks: Vec<Arc<dyn Model>>) -> Self {
        self.models.add_fallbacks(fallbacks);
        self
    }

    /// Gives the models that are named for sub-agents.
    #[must_use]
    pub fn with_named(mut self, named: BTreeMap<String, Arc<dyn Model>>) -> Self {
        self.models.named = named;
        self
    }

    /// Whether the model's server is known to be at its address: if so, that it can't be reached is an outage, not a mistake.
    #[must_use]
    pub fn with_known_server(mut self, is_known: bool) -> Self {
        self.models.is_known = is_known;
        self
    }

    /// Has the workspace in the store at each checkpoint. `anchor` is the journal's end as the database knows it.
    #[must_use]
    pub fn with_uploader(mut self, uploader: Option<Uploader>, anchor: Option<Anchor>) -> Self {
        self.recorder.checkpoints.set_upload(uploader, anchor);
        self
    }

    /// The job belongs to a batch: the cost of its calls is reserved from the batch's budget.
    #[must_use]
    pub fn with_shared_budget(mut self, is_shared: bool) -> Self {
        self.budget = BatchBudget::shared(is_shared);
        self
    }

    /// Whether the job was held because the budget of its batch has no room.
    pub fn has_spent_batch_budget(&self) -> bool {
        self.budget.is_spent
    }

    /// Works on a claimed job until it ends, is held, or is to stop.
    pub async fn run(&mut self, opened: &mut OpenJob) -> Result<JobOutcome, RunError> {
        let heartbeat = opened.lease.start_heartbeat(self.recorder.store)?;
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
            self.fetch_answers(opened).await?;
            let owed = opened.job.owed();
            self.in_flight.give_up(|id, _| !opened.job.is_owed(id));
            let is_later = self.later.is_some() && opened.job.is_running();
            if !is_interrupted && opened.job.is_waiting() && !opened.lease.is_queued() {
                self.wait_for_answers(opened).await?;
                continue;
            }
            if owed.is_empty() || is_later || (is_interrupted && opened.job.is_running()) {
                break;
            }
            self.work_on(opened, owed).await?;
        }
        self.in_flight.give_up(|_, _| true);
        let is_waiting = opened.job.is_waiting() && !is_interrupted;
        self.recorder.checkpoints.waits = is_waiting;
        self.recorder.finish(opened).await?;
        failpoint::hit("runner.rested");
        if opened.job.ended().is_some() {
            self.withdraw(opened).await;
        }
        if let Some(reason) = self.misconfigured.take() {
            return Err(RunError::Configuration(reason));
        }
        if let Some((wait, reason)) = self.later.take().filter(|_| opened.job.is_running() && !is_interrupted) {
            return Err(RunError::Later { wait, reason });
        }
        Ok(match &opened.job.status {
            Status::Ended(ending) => JobOutcome::Ended(ending.status),
            Status::Held { reason, .. } if !is_interrupted => JobOutcome::Held(*reason),
            Status::Running if is_waiting => JobOutcome::Waiting,
            Status::Held { .. } | Status::Running => JobOutcome::Interrupted,
        })
    }

    async fn begin(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        // Making and opening the workspace may have taken longer than a lease.
        self.recorder.await_lease(opened).await?;
        if let Some(edited) = run_blocking(|| edited_files::find(opened))? {
            self.recorder.command(opened, edited).await?;
        }
        for command in std::mem::take(&mut self.commands) {
            opened.command(command)?;
        }
        if opened.job.is_running() || opened.job.is_out() {
            let reason = "the model is asked at this tier";
            self.models.tell_tier(&mut self.recorder, opened, self.models.own_tier(), reason).await?;
        }
        run_blocking(|| input_check::check(opened))?;
        failpoint::hit("runner.begun");
        opened.write_derived()?;
        self.recorder.checkpoints.lags = !opened.is_recorded;
        self.recorder.save(opened).await?;
        if !opened.job.is_running() || *self.recorder.stop.borrow() || self.recorder.is_database_paused() {
            return Ok(());
        }
        // A control signal that reached no process before this one is obeyed first.
        match self.recorder.ask_for_signal(opened).await? {
            Some(signal) => self.recorder.obey(opened, signal).await,
            None => Ok(()),
        }
    }

    /// Handles what comes before the next effect: a stop, the lease, people's requests, the time window, a server
    /// outage. Returns whether the work is to stop.
    async fn attend(&mut self, opened: &mut OpenJob) -> Result<bool, RunError> {
        let is_stopped = *self.recorder.stop.borrow() && opened.job.is_running();
        if is_stopped {
            if opened.lease.is_queued() {
                return Ok(true);
            }
            self.recorder.pause(opened, "stopped by a person").await?;
        }
        if opened.job.is_running() {
            self.recorder.await_lease(opened).await?;
            self.recorder.check_signals(opened).await?;
            if self.in_flight.is_empty() {
                self.recorder.check_window(opened).await?;
            }
        }
        if !opened.job.is_out() {
            return Ok(is_stopped);
        }
        self.wait_for_server(opened).await?;
        Ok(is_stopped || (!opened.job.is_running() && *self.recorder.stop.borrow()))
    }

    /// Begins all model calls that are owed, and performs one of the other effects; if there is none, waits for a call.
    async fn work_on(&mut self, opened: &mut OpenJob, owed: Vec<Owed>) -> Result<(), RunError> {
        // Calls that are paid for are answered before the job rests.
        if !self.in_flight.is_empty() && (opened.job.limit_reached().is_some() || opened.lease.is_window_closed()) {
            return self.await_call(opened).await;
        }
        let (calls, others): (Vec<Owed>, Vec<Owed>) = owed.into_iter().partition(|one| one.effect == Effect::Model);
        for Owed { id, .. } in calls {
            if !self.begin_call(opened, id).await? {
                return Ok(());
            }
        }
        let Some(Owed { id, effect }) = others.into_iter().next() else { return self.await_call(opened).await };
        let Some(result) = self.perform(opened, id, &effect).await? else { return Ok(()) };
        if self.decide(opened, id, Outcome::Done(result)).await? {
            Ok(())
        } else {
            Err(RunError::NoDecision(format!("{effect:?}")))
        }
    }

    /// Performs a requested effect. `None`: the work is to stop, or something else comes first.
    async fn perform(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        effect: &Effect,
    ) -> Result<Option<EffectResult>, RunError> {
        match effect {
            Effect::Read { call, read } => read_call::read(self, opened, id, effect, (call, read)).await,
            Effect::ReadPages => run_blocking(|| {
                opened.prepare(effect)?;
                page_reading::read_pages(&opened.job, &opened.workspace, self.reader.as_deref())
            })
            .map(Some),
            Effect::FindDoubled => {
                run_blocking(|| second_lists::find_doubled(&opened.job, &opened.workspace)).map(Some)
            }
            Effect::Model
            | Effect::Decide
            | Effect::Prepare(_)
            | Effect::Change(..)
            | Effect::GenerateSummary
            | Effect::Archive { .. }
            | Effect::Summary
            | Effect::Examine
            | Effect::Write(_)
            | Effect::FindQuotes(_)
            | Effect::Check(_) => run_blocking(|| opened.perform(id, effect, self.reader.as_deref())).map(Some),
        }
    }

    /// Has an outcome decided on; then what follows from the decision: the job's own model goes on in a new phase, and the
    /// checkpoint. Returns whether anything was decided.
    pub(super) async fn decide(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        outcome: Outcome,
    ) -> Result<bool, RunError> {
        let Some(decision) = self.recorder.decide(opened, id, outcome).await? else { return Ok(false) };
        if decision.events.iter().any(|event| matches!(event, Event::Phase(PhaseEvent::PhaseStarted { .. }))) {
            self.models.return_to_first(opened)?;
        }
        self.recorder.save_after(opened, &decision).await?;
        Ok(true)
    }

    /// Marks the job's row as held if a person must first free space or repair something.
    async fn on_error(&mut self, opened: &mut OpenJob, error: RunError) -> Result<JobOutcome, RunError> {
        let is_queued = opened.lease.is_queued();
        let is_held = match error.disposition() {
            Disposition::Hold(HoldReason::Disk, wakes_after) => {
                let wakes_after = wakes_after.filter(|_| is_queued);
                return self.hold_for_room(opened, error.with_advice(is_queued), wakes_after).await;
            }
            Disposition::Repair | Disposition::Fail => true,
            // Without a queue, the job waits for a person.
            Disposition::GiveBack(_) => !is_queued,
            Disposition::Hold(..) => opened.lease.held() > 0 && !matches!(error, RunError::WorkspaceStore(_)),
            Disposition::Lost | Disposition::FailAttempt => false,
        };
        if is_held {
            // The first error is the one to report.
            let _ = self.recorder.hold_row(opened, HoldReason::Paused, &error.to_string()).await;
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
            // Space may be freed without any notice to the queue.
            let _ = self.recorder.store.wake_at(opened.lease.id, opened.lease.number, now().after(after)).await;
        }
        // A short line may still fit where a long one did not; then only the workspace states why the job rests.
        let _ = opened.command(Command::Hold { reason: HoldReason::Disk, detail: detail.clone() });
        match self.recorder.hold_row(opened, HoldReason::Disk, &detail).await {
            // The database lies on the same disk; its row is written when the job is taken up again.
            Ok(()) | Err(StoreError::Full { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.recorder.note(opened, detail);
        Ok(JobOutcome::Held(HoldReason::Disk))
    }
}

/// Many jobs are driven at once by several threads.
#[cfg(test)]
mod tests {
    use super::*;

    fn is_send<T: Send>(_: &T) {}

    #[test]
    fn the_work_can_move_between_threads() {
        // This code never runs: the test is that it compiles.
        let _ = |runner: &'static mut JobRunner<'static>, opened: &'static mut OpenJob| {
            is_send(&runner.run(opened));
        };
    }
}
