//! The record of a job while it is worked: decisions under its lease, reports to the observer, and its checkpoints.

use super::{RunReport, checkpoints::Checkpoints};
use crate::{
    runner::{RunError, clock::now, lease::LeaseHandle, open_job::OpenJob},
    store::Store,
};
use overnight_core::{
    job::{
        event::{Decision, Event, LifeEvent, PersonEvent, PhaseEvent},
        record::HoldReason,
        state::Job,
    },
    machine::effect::{Command, EffectId, Outcome},
};
use tokio::sync::watch;

/// Writes down what happens to a job. `checkpoints` has how its rows are saved, `signals` the requests of people.
pub(super) struct JobRecorder<'a> {
    pub(super) store: &'a dyn Store,
    /// Turns true when the work is to stop.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) observer: &'a mut (dyn FnMut(&Job, RunReport<'_>) + Send),
    pub(super) checkpoints: Checkpoints,
}

impl JobRecorder<'_> {
    /// Waits until the lease permits a decision.
    pub(super) async fn await_lease(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        Ok(opened.lease.until_renewed(&mut self.stop).await?)
    }

    /// Tells the observer a sentence for a person.
    pub(super) fn note(&mut self, opened: &OpenJob, note: String) {
        (self.observer)(&opened.job, RunReport::Note(note));
    }

    /// Decides, appends, applies, reports. The checkpoint, where one is due, is the caller's ([`Self::save_after`]).
    pub(super) async fn decide(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        outcome: Outcome,
    ) -> Result<Option<Decision>, RunError> {
        self.await_lease(opened).await?;
        let decision = opened.decide(id, outcome)?;
        self.report(opened, decision.as_ref())?;
        Ok(decision)
    }

    /// [`Self::decide`] on a command, with the checkpoint that follows from it.
    pub(super) async fn command(&mut self, opened: &mut OpenJob, command: Command) -> Result<(), RunError> {
        self.await_lease(opened).await?;
        let decision = opened.decide_command(command)?;
        self.report(opened, decision.as_ref())?;
        match decision {
            Some(decision) => self.save_after(opened, &decision).await,
            None => Ok(()),
        }
    }

    fn report(&mut self, opened: &mut OpenJob, decision: Option<&Decision>) -> Result<(), RunError> {
        let Some(decision) = decision else { return Ok(()) };
        opened.refresh_derived()?;
        (self.observer)(&opened.job, RunReport::Decided(decision));
        Ok(())
    }

    /// Updates the database, if the decision is one after which it is updated.
    pub(super) async fn save_after(&mut self, opened: &OpenJob, decision: &Decision) -> Result<(), RunError> {
        if opened.job.is_running() && decision.events.iter().any(is_checkpoint) {
            self.save(opened).await?;
        }
        Ok(())
    }

    pub(super) async fn pause(&mut self, opened: &mut OpenJob, detail: &str) -> Result<(), RunError> {
        self.command(opened, Command::Hold { reason: HoldReason::Paused, detail: detail.to_owned() }).await
    }

    pub(super) async fn hold(
        &mut self,
        opened: &mut OpenJob,
        reason: HoldReason,
        detail: String,
    ) -> Result<(), RunError> {
        let LeaseHandle { id, number, times, .. } = opened.lease;
        if reason == HoldReason::Outage && opened.lease.is_queued() {
            let wakes = now().after(times.wakes_after);
            // If this fails, so does the checkpoint: the job stays running, and is found by a sweep.
            if let Err(error) = self.store.wake_at(id, number, wakes).await {
                self.tolerate_outage(opened, error)?;
            }
        }
        self.command(opened, Command::Hold { reason, detail }).await?;
        self.save(opened).await
    }
}

/// Events after which the database is updated.
fn is_checkpoint(event: &Event) -> bool {
    matches!(
        event,
        Event::Phase(
            PhaseEvent::TodoCompleted { .. }
                | PhaseEvent::TodosWritten { .. }
                | PhaseEvent::PhaseStarted { .. }
                | PhaseEvent::ArchiveStored { .. }
        ) | Event::Life(LifeEvent::Opened { .. } | LifeEvent::Resumed { .. })
            | Event::Person(PersonEvent::FeedbackGiven { .. } | PersonEvent::Approved { .. })
    )
}
