//! A model's server that is down. The job is held meanwhile, and its runner waits with it, so that it goes on as soon as the
//! server answers.

use super::{
    RunError,
    checkpoints::RETRY_AFTER,
    job_runner::{JobRunner, RunReport, until_stopped},
    model_call::CallOutcome,
    open_job::OpenJob,
};
use crate::model::{Failure, FailureKind, Remedy, endpoint::WakeReason};
use overnight_core::{
    job::record::HoldReason,
    machine::effect::{Command, EffectResult},
};
use std::time::Duration;

/// How often signals are looked for, and the files that follow from the state are looked after, while the job is held.
const HELD_TICK: Duration = Duration::from_secs(2);

impl JobRunner<'_> {
    /// The job waits for its server, with its turn undone.
    pub(super) async fn hold_for_outage(&mut self, opened: &mut OpenJob, reason: &str) -> Result<(), RunError> {
        if self.fall_back(opened, reason).await? {
            return Ok(());
        }
        if opened.job.can_spare_helper() {
            let failure = Failure::new(FailureKind::Exhausted, format!("its model does not answer: {reason}"));
            return self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await.map(drop);
        }
        let model = self.models.asked(&opened.job)?;
        let server = model.endpoint().map_or_else(|| model.name(), |endpoint| endpoint.name());
        let detail = format!("{server} does not answer as it should, and is asked again now and then: {reason}");
        self.hold(opened, HoldReason::Outage, detail).await
    }

    /// A job that is held because its server is down waits here until the server answers: nothing is called but to probe.
    /// The hold has given the lease back; it is claimed again before anything else is written.
    pub(super) async fn wait_for_server(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let Some(endpoint) = self.models.asked(&opened.job)?.endpoint().cloned() else { return Ok(()) };
        while opened.job.is_out() {
            let wake = {
                // One wait, whatever is heard meanwhile: a new one would go to the end of the queue.
                let wake = endpoint.wake();
                tokio::pin!(wake);
                loop {
                    tokio::select! {
                        biased;
                        () = until_stopped(&mut self.stop) => {
                            if opened.lease.is_queued() {
                                return Ok(());
                            }
                            if self.claim_again(opened).await? {
                                self.pause(opened, "stopped by a person").await?;
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
            let reply = match wake {
                WakeReason::Answers => None,
                WakeReason::Probe(probe) => match self.call(opened, Some(probe)).await? {
                    CallOutcome::Replied(reply) => Some(*reply),
                    CallOutcome::Interrupted | CallOutcome::Down => continue,
                    CallOutcome::Failed(failure) => {
                        self.probe_failed(opened, failure).await?;
                        continue;
                    }
                },
            };
            self.check_signals_while_held(opened).await?;
            if !opened.job.is_out() || !self.claim_again(opened).await? {
                return Ok(());
            }
            let limits = opened.job.limits;
            self.command(opened, Command::Resume { limits }).await?;
            let text = format!("{} answers again; the job goes on", endpoint.name());
            (self.observer)(&opened.job, RunReport::Note(text));
            if let Some(reply) = reply {
                self.decide(opened, reply).await?;
            }
        }
        Ok(())
    }

    /// The server does not answer yet, or it does, and refuses for good.
    async fn probe_failed(&mut self, opened: &mut OpenJob, failure: Failure) -> Result<(), RunError> {
        match failure.kind.remedy() {
            Remedy::Retry { .. } | Remedy::AskAgain | Remedy::Compact | Remedy::Reopen => {
                // The row still says held, and a control signal is not forgotten, as it would be by claiming the job.
                self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await?;
                opened.journal.sync()?;
                if !opened.job.is_out() {
                    self.claim_again(opened).await?;
                }
                Ok(())
            }
            Remedy::Configure | Remedy::GiveUp => {
                if self.claim_again(opened).await? {
                    self.on_call_failed(opened, failure).await?;
                }
                Ok(())
            }
        }
    }

    /// Takes the lease again. `false`: the work is to stop first.
    async fn claim_again(&mut self, opened: &mut OpenJob) -> Result<bool, RunError> {
        loop {
            match opened.claim(self.store).await {
                Ok(()) => return Ok(true),
                Err(RunError::Store(error)) if error.retryable() => {
                    self.tolerate_outage(opened, error)?;
                    if *self.stop.borrow() {
                        return Ok(false);
                    }
                    tokio::select! {
                        () = tokio::time::sleep(RETRY_AFTER) => {}
                        () = until_stopped(&mut self.stop) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Obeys a cancel or a pause that was asked for while the job waits for its server.
    async fn check_signals_while_held(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        opened.refresh_derived()?;
        match self.ask_for_signal(opened).await? {
            Some(signal) if self.claim_again(opened).await? => self.obey(opened, signal).await,
            Some(_) | None => Ok(()),
        }
    }
}
