//! A model's server that is down. The job is held meanwhile, and its runner waits with it, so that it goes on as soon as the
//! server answers.

use super::{
    JobRunner,
    calls_in_flight::{CallOutcome, EndedCall},
    checkpoints::RETRY_AFTER,
    later_answers::submitted_call,
};
use crate::{
    failpoint,
    model::{Failure, FailureKind, Model, Remedy, endpoint::WakeReason},
    runner::{RunError, lease::until_stopped, open_job::OpenJob},
};
use overnight_core::{
    job::record::HoldReason,
    machine::effect::{Command, EffectId, Outcome},
};
use std::{sync::Arc, time::Duration};

/// The interval at which signals are checked, and derived files updated, while the job is held.
const HELD_TICK: Duration = Duration::from_secs(2);

impl JobRunner<'_> {
    /// The job waits for its server, with its turn undone.
    pub(super) async fn hold_for_outage(
        &mut self,
        opened: &mut OpenJob,
        EffectId { conversation: number, .. }: EffectId,
        reason: &str,
    ) -> Result<(), RunError> {
        if self.models.fall_back(&mut self.recorder, opened, number, reason).await? {
            return Ok(());
        }
        let Some(conversation) = opened.job.conversation(number) else { return Ok(()) };
        let model = self.models.asked(&opened.job, conversation)?;
        if conversation.can_be_spared(&opened.job.spec) {
            let id = EffectId { conversation: number, number: conversation.facts };
            let failure = Failure::new(FailureKind::Exhausted, format!("its model does not answer: {reason}"));
            return self.decide(opened, id, Outcome::Failed { failure, wait_ms: 0 }).await.map(drop);
        }
        self.waits_for = number;
        let server = model.endpoint().map_or_else(|| model.name(), |endpoint| endpoint.name());
        let detail = format!("{server} does not answer as it should, and is asked again now and then: {reason}");
        self.recorder.hold(opened, HoldReason::Outage, detail).await
    }

    /// A job that is held because its server is down waits here until the server answers: nothing is called but to probe.
    /// The hold has given the lease back; it is claimed again before anything else is written.
    pub(super) async fn wait_for_server(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        // After a resume it is unknown which conversation waits: the first that would make a call is taken.
        let job = &opened.job;
        let first = || job.sub_agents.values().next().unwrap_or(&job.own);
        let conversation = job.conversation(self.waits_for).filter(|one| !job.waits(one)).unwrap_or_else(first);
        let number = conversation.number;
        let Some(endpoint) = self.models.asked(job, conversation)?.endpoint().cloned() else { return Ok(()) };
        while opened.job.is_out() {
            let wake = {
                // One wait, whatever signals arrive meanwhile: a new one would go to the end of the queue.
                let wake = endpoint.wake();
                tokio::pin!(wake);
                loop {
                    tokio::select! {
                        biased;
                        () = until_stopped(&mut self.recorder.stop) => {
                            if opened.lease.is_queued() {
                                return Ok(());
                            }
                            if self.claim_again(opened).await? {
                                self.recorder.pause(opened, "stopped by a person").await?;
                            }
                            return Ok(());
                        }
                        wake = &mut wake => break wake,
                        () = tokio::time::sleep(HELD_TICK) => {
                            self.check_signals_while_held(opened).await?;
                            if !opened.job.is_out() {
                                return Ok(());
                            }
                        }
                    }
                }
            };
            let outcome = match wake {
                WakeReason::Answers => None,
                WakeReason::Probe(probe) => {
                    let Some(id) = effect_of(opened, number) else { return Ok(()) };
                    self.start_call(opened, id, Some(probe))?;
                    let Some(ended) = self.probed(opened, id).await? else { continue };
                    let EndedCall { model, prompt_sha256, key, outcome, .. } = ended;
                    match outcome {
                        CallOutcome::Replied(reply, facts) => {
                            Some(Outcome::Done(self.replied(&model, *reply, facts, prompt_sha256)))
                        }
                        CallOutcome::Submitted(taken) => {
                            Some(Outcome::Submitted(submitted_call(key, &*model, prompt_sha256, taken)))
                        }
                        CallOutcome::Down => continue,
                        CallOutcome::Failed(failure) => {
                            self.probe_failed(opened, id, &model, failure).await?;
                            continue;
                        }
                    }
                }
            };
            self.check_signals_while_held(opened).await?;
            if !opened.job.is_out() || !self.claim_again(opened).await? {
                return Ok(());
            }
            let limits = opened.job.limits;
            self.recorder.command(opened, Command::Resume { limits }).await?;
            let text = format!("{} answers again; the job goes on", endpoint.name());
            self.recorder.note(opened, text);
            if let (Some(outcome), Some(id)) = (outcome, effect_of(opened, number)) {
                self.decide(opened, id, outcome).await?;
            }
        }
        Ok(())
    }

    /// The end of the probe; none where the work is to stop or the job waits no more. Calls of other conversations go on.
    async fn probed(&mut self, opened: &mut OpenJob, id: EffectId) -> Result<Option<EndedCall>, RunError> {
        loop {
            tokio::select! {
                biased;
                ended = self.in_flight.next_of(id) => {
                    failpoint::hit("model.replied");
                    return Ok(Some(ended));
                }
                () = until_stopped(&mut self.recorder.stop) => {}
                () = tokio::time::sleep(HELD_TICK) => self.check_signals_while_held(opened).await?,
            }
            if *self.recorder.stop.borrow() || !opened.job.is_out() {
                self.in_flight.give_up(|given_up, _| given_up == id);
                return Ok(None);
            }
        }
    }

    /// Handles a probe that failed: the server does not answer yet, or it answers with a permanent refusal.
    async fn probe_failed(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        model: &Arc<dyn Model>,
        failure: Failure,
    ) -> Result<(), RunError> {
        match failure.kind.remedy() {
            Remedy::Retry { .. } | Remedy::AskAgain | Remedy::Compact | Remedy::Reopen => {
                // The row still states held, so a control signal is not lost, as it would be by claiming the job.
                self.decide(opened, id, Outcome::Failed { failure, wait_ms: 0 }).await?;
                opened.journal.sync()?;
                if !opened.job.is_out() {
                    self.claim_again(opened).await?;
                }
                Ok(())
            }
            Remedy::Configure | Remedy::GiveUp => {
                if self.claim_again(opened).await? {
                    self.on_call_failed(opened, id, model, failure).await?;
                }
                Ok(())
            }
        }
    }

    /// Takes the lease again. `false`: the work is to stop first.
    async fn claim_again(&mut self, opened: &mut OpenJob) -> Result<bool, RunError> {
        loop {
            match opened.claim(self.recorder.store).await {
                Ok(()) => return Ok(true),
                Err(RunError::Store(error)) if error.retryable() => {
                    self.recorder.tolerate_outage(opened, error)?;
                    if *self.recorder.stop.borrow() {
                        return Ok(false);
                    }
                    tokio::select! {
                        () = tokio::time::sleep(RETRY_AFTER) => {}
                        () = until_stopped(&mut self.recorder.stop) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Obeys a cancel or a pause that was asked for while the job waits for its server.
    async fn check_signals_while_held(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        opened.refresh_derived()?;
        match self.recorder.ask_for_signal(opened).await? {
            Some(signal) if self.claim_again(opened).await? => self.recorder.obey(opened, signal).await,
            Some(_) | None => Ok(()),
        }
    }
}

/// The id of the effect for the next call of a conversation, as things are now.
fn effect_of(opened: &OpenJob, conversation: u32) -> Option<EffectId> {
    let conversation = opened.job.conversation(conversation)?;
    Some(EffectId { conversation: conversation.number, number: conversation.facts })
}
