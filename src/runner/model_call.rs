//! One model call with all that may go wrong with it: the budget before it, attempts and waits, and the server that is
//! down. What each failure means for the job, the machine decides; here is only when the next attempt comes.

use super::{
    RunError,
    batch_budget::BudgetAnswer,
    clock::now,
    job_runner::{JobRunner, RunReport, until_stopped},
    lease::Timers,
    open_job::OpenJob,
};
use crate::{
    failpoint,
    model::{
        Failure, FailureKind, Remedy, Request,
        endpoint::{Probe, ServerDown, WakeReason},
        retry,
    },
};
use overnight_core::{
    job::{
        decide::{Command, EffectResult},
        record::HoldReason,
    },
    prompt::{
        compose,
        message::{Prompt, Reply, Stop},
    },
};
use std::{
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

/// How often, during a wait, control signals are asked for and the files that follow from the state are brought up to date.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// The same, while the job is held because its server is down.
const HELD_TICK: Duration = Duration::from_secs(2);
/// Attempts at one turn after which the server counts as down for this job, whatever it answers.
const MOST_ATTEMPTS: u32 = 10;

/// How a model call ended.
enum CallOutcome {
    Replied(EffectResult),
    Failed(Failure),
    /// The server turned out to be down while the call waited for its turn.
    Down,
    /// The work is to stop, or the job's state is not what it was.
    Interrupted,
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitOutcome {
    Elapsed,
    /// The work is to stop, or the job's state is not what it was.
    Interrupted,
}

impl JobRunner<'_> {
    /// One turn: `None` when the work is to stop, or something else comes first. A call that is dropped costs nothing but
    /// itself: its turn has not happened.
    pub(super) async fn turn(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
    ) -> Result<Option<EffectResult>, RunError> {
        opened.journal.sync()?;
        if opened.job.has_budget() {
            let expected = opened.job.expected_call();
            if let Some(detail) = opened.job.over_budget(&expected, self.model.cost(&expected)) {
                self.hold(opened, HoldReason::Budget, detail).await?;
                return Ok(None);
            }
        }
        match self.reserve_call(opened, timers).await? {
            BudgetAnswer::Fits => {}
            BudgetAnswer::Later => return Ok(None),
            BudgetAnswer::Spent(detail) => {
                self.hold(opened, HoldReason::Budget, detail).await?;
                return Ok(None);
            }
        }
        match self.call(opened, timers, None).await? {
            CallOutcome::Replied(answer) => {
                if let EffectResult::Reply { reply: Reply { stop: Stop::Refused, .. }, .. } = &answer {
                    // The reply stands; who is asked next may think otherwise.
                    self.decide(opened, answer).await?;
                    self.fall_back(opened, "it withheld its reply").await?;
                    return Ok(None);
                }
                Ok(Some(answer))
            }
            CallOutcome::Failed(failure) => self.on_call_failed(opened, timers, failure).await.map(|()| None),
            CallOutcome::Down => self.hold_for_outage(opened, "other jobs' calls failed").await.map(|()| None),
            CallOutcome::Interrupted => Ok(None),
        }
    }

    /// One attempt, by way of the queue of its server.
    async fn call(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
        probe: Option<Probe>,
    ) -> Result<CallOutcome, RunError> {
        (self.observer)(&opened.job, RunReport::Calling);
        let prompt: Prompt = compose::prompt(&opened.job);
        let prompt_sha256 = compose::prompt_sha256(&prompt);
        let turn = opened.job.totals.spent.turns + 1;
        let limit = Duration::from_millis(opened.job.limits.model_call_ms);
        let model = self.model.clone();
        // Who has no server has no queue either.
        let expected = model.endpoint().map(|_| opened.job.expected_call()).unwrap_or_default();
        let received = AtomicU64::new(0);
        failpoint::hit("model.called");
        let attempt = async {
            let permit = match model.endpoint() {
                Some(endpoint) => Some(endpoint.admit(expected.input + expected.output, probe).await?),
                None => None,
            };
            // The time in the queue is not the model's.
            let reply = model.reply(Request { prompt: &prompt, turn, received: &received });
            let result = tokio::time::timeout(limit, reply).await.unwrap_or_else(|_| {
                let reason = format!("the model {} did not answer within {} s", model.name(), limit.as_secs());
                Err(Failure::new(FailureKind::TimedOut, reason))
            });
            match (permit, &result) {
                (Some(permit), Ok(reply)) => permit.answered(reply.usage.input + reply.usage.output),
                (Some(permit), Err(failure)) => permit.failed(failure),
                (None, _) => {}
            }
            Ok::<_, ServerDown>(result)
        };
        tokio::pin!(attempt);
        loop {
            tokio::select! {
                biased;
                result = &mut attempt => {
                    // The call is over, and its turn is not yet on the disk.
                    failpoint::hit("model.replied");
                    return Ok(match result {
                        Err(ServerDown) => CallOutcome::Down,
                        Ok(Err(failure)) => CallOutcome::Failed(failure),
                        Ok(Ok(reply)) => {
                            self.reached = true;
                            let cost_usd = model.cost(&reply.usage);
                            CallOutcome::Replied(EffectResult::Reply { reply, cost_usd, prompt_sha256 })
                        }
                    });
                }
                () = until_stopped(&mut self.stop) => return Ok(CallOutcome::Interrupted),
                () = tokio::time::sleep(TICK.min(work_left(opened))) => {
                    opened.refresh_derived()?;
                    if opened.job.is_running() {
                        self.check_signals(opened, timers).await?;
                        self.check_time(opened).await?;
                        if !opened.job.is_running() {
                            return Ok(CallOutcome::Interrupted);
                        }
                    }
                }
            }
        }
    }

    /// Holds the job when its time of work is over, although no answer has come that would lead to a decision.
    async fn check_time(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        match opened.job.work_left(now()) {
            Some((0, detail)) => self.hold(opened, HoldReason::Limit, detail).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Records a failed attempt, and waits until the next one may be made.
    async fn on_call_failed(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
        failure: Failure,
    ) -> Result<(), RunError> {
        let attempts = opened.job.attempts;
        let is_wrong_address = failure.kind == FailureKind::Unreachable && !self.reached;
        self.reached |= failure.status.is_some();
        let remedy = if is_wrong_address { Remedy::Configure } else { failure.kind.remedy() };
        match remedy {
            Remedy::Retry { .. } => {
                let is_down = self.model.endpoint().is_some_and(|endpoint| endpoint.is_down());
                if is_down || attempts.failed + 1 >= MOST_ATTEMPTS {
                    let reason = failure.reason.clone();
                    self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await?;
                    return self.hold_for_outage(opened, &reason).await;
                }
                self.retry_after_wait(opened, timers, failure, attempts.failed + 1).await
            }
            // The first makes the prompt shorter at once.
            Remedy::Compact => self.retry_after_wait(opened, timers, failure, attempts.too_long).await,
            Remedy::Configure => {
                let reason = failure.reason.clone();
                // Written down, a refusal holds the job: who goes on instead comes before that.
                if failure.kind.remedy() == Remedy::Configure && self.fall_back(opened, &reason).await? {
                    return Ok(());
                }
                self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await?;
                if opened.job.is_running() && self.fall_back(opened, &reason).await? {
                    return Ok(());
                }
                if opened.job.is_running() {
                    self.hold(opened, HoldReason::Paused, reason.clone()).await?;
                }
                self.misconfigured = Some(reason);
                Ok(())
            }
            Remedy::GiveUp => self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await.map(drop),
        }
    }

    /// Records a failed attempt, and waits as long as its number calls for.
    async fn retry_after_wait(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
        failure: Failure,
        number: u32,
    ) -> Result<(), RunError> {
        let wait = match number {
            0 => Duration::ZERO,
            number => retry::wait(number, failure.retry_after, fastrand::f64()),
        };
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms }).await?;
        opened.journal.sync()?;
        self.wait(opened, timers, wait).await.map(drop)
    }

    /// Waits, and meanwhile receives control signals and keeps the lease.
    pub(super) async fn wait(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
        time: Duration,
    ) -> Result<WaitOutcome, RunError> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(WaitOutcome::Elapsed);
            }
            tokio::select! {
                () = until_stopped(&mut self.stop) => return Ok(WaitOutcome::Interrupted),
                () = tokio::time::sleep(left.min(TICK).min(work_left(opened))) => {
                    if !self.check_in(opened, timers).await? {
                        return Ok(WaitOutcome::Interrupted);
                    }
                }
            }
        }
    }

    /// During a wait: keeps the lease, receives control signals, and holds the job when its time of work is over. Returns
    /// whether the job still runs.
    pub(super) async fn check_in(&mut self, opened: &mut OpenJob, timers: &mut Timers) -> Result<bool, RunError> {
        opened.refresh_derived()?;
        self.keep_lease(opened, timers).await?;
        self.check_signals(opened, timers).await?;
        self.check_time(opened).await?;
        Ok(opened.job.is_running())
    }

    /// A job that is held because its server is down waits here until the server answers: nothing is called but to probe.
    /// The hold has given the lease back; it is claimed again before anything else is written.
    pub(super) async fn wait_for_server(&mut self, opened: &mut OpenJob, timers: &mut Timers) -> Result<(), RunError> {
        let Some(endpoint) = self.model.endpoint().cloned() else { return Ok(()) };
        while opened.job.is_out() {
            let wake = {
                // One wait, whatever is heard meanwhile: a new one would go to the end of the queue.
                let wake = endpoint.wake();
                tokio::pin!(wake);
                loop {
                    tokio::select! {
                        biased;
                        () = until_stopped(&mut self.stop) => {
                            if self.lease_handle.is_some() {
                                return Ok(());
                            }
                            if self.claim_again(opened, timers).await? == WaitOutcome::Elapsed {
                                self.pause(opened, "stopped by a person").await?;
                            }
                            return Ok(());
                        }
                        wake = &mut wake => break wake,
                        () = tokio::time::sleep(HELD_TICK) => {
                            self.check_signals_while_held(opened, timers).await?;
                            if !opened.job.is_out() {
                                return Ok(());
                            }
                        }
                    }
                }
            };
            let called = match wake {
                WakeReason::Answers => None,
                WakeReason::Probe(probe) => Some(self.call(opened, timers, Some(probe)).await?),
            };
            let answer = match called {
                Some(CallOutcome::Interrupted | CallOutcome::Down) => continue,
                Some(CallOutcome::Replied(answer)) => Some(answer),
                Some(CallOutcome::Failed(failure)) => {
                    self.probe_failed(opened, timers, failure).await?;
                    continue;
                }
                None => None,
            };
            self.check_signals_while_held(opened, timers).await?;
            if !opened.job.is_out() || self.claim_again(opened, timers).await? == WaitOutcome::Interrupted {
                return Ok(());
            }
            let limits = opened.job.limits;
            self.decide(opened, EffectResult::Command(Command::Resume { limits })).await?;
            let text = format!("{} answers again; the job goes on", endpoint.name());
            (self.observer)(&opened.job, RunReport::Note(text));
            if let Some(reply) = answer {
                self.decide(opened, reply).await?;
            }
        }
        Ok(())
    }

    /// The server does not answer yet, or it does, and refuses for good.
    async fn probe_failed(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
        failure: Failure,
    ) -> Result<(), RunError> {
        match failure.kind.remedy() {
            Remedy::Retry { .. } | Remedy::Compact => {
                // The row still says held, and a control signal is not forgotten, as it would be by claiming the job.
                self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await?;
                opened.journal.sync()?;
                if !opened.job.is_out() {
                    self.claim_again(opened, timers).await?;
                }
                Ok(())
            }
            Remedy::Configure | Remedy::GiveUp => match self.claim_again(opened, timers).await? {
                WaitOutcome::Elapsed => self.on_call_failed(opened, timers, failure).await,
                WaitOutcome::Interrupted => Ok(()),
            },
        }
    }

    /// The next model takes over, where there is one.
    async fn fall_back(&mut self, opened: &mut OpenJob, reason: &str) -> Result<bool, RunError> {
        let Some(next) = self.fallbacks.pop_front() else { return Ok(false) };
        let text = format!("{} is left ({reason}); {} goes on", self.model.name(), next.name());
        self.model = next;
        self.reached = false;
        let (version, model) = (env!("CARGO_PKG_VERSION").to_owned(), self.model.name().to_owned());
        self.decide(opened, EffectResult::Command(Command::Open { version, model, torn_bytes: None })).await?;
        (self.observer)(&opened.job, RunReport::Note(text));
        Ok(true)
    }

    /// The job waits for its server, with its turn undone.
    async fn hold_for_outage(&mut self, opened: &mut OpenJob, reason: &str) -> Result<(), RunError> {
        if self.fall_back(opened, reason).await? {
            return Ok(());
        }
        let server = self.model.endpoint().map_or_else(|| self.model.name(), |endpoint| endpoint.name());
        let detail = format!("{server} does not answer as it should, and is asked again now and then: {reason}");
        self.hold(opened, HoldReason::Outage, detail).await
    }

    async fn claim_again(&mut self, opened: &mut OpenJob, timers: &mut Timers) -> Result<WaitOutcome, RunError> {
        loop {
            let sent = Instant::now();
            let (worker, for_ms) = self.claim_terms();
            match opened.claim_for(self.store, worker, for_ms).await {
                Ok(()) => {
                    timers.renewed = sent;
                    self.claimed(opened.lease, sent);
                    return Ok(WaitOutcome::Elapsed);
                }
                Err(RunError::Store(error)) if error.retryable() => {
                    self.tolerate_outage(opened, error)?;
                    if *self.stop.borrow() {
                        return Ok(WaitOutcome::Interrupted);
                    }
                    tokio::select! {
                        () = tokio::time::sleep(super::job_runner::RETRY_AFTER) => {}
                        () = until_stopped(&mut self.stop) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Obeys a cancel or a pause that was asked for while the job waits for its server.
    async fn check_signals_while_held(&mut self, opened: &mut OpenJob, timers: &mut Timers) -> Result<(), RunError> {
        opened.refresh_derived()?;
        match self.signal_while_held(opened).await {
            Ok(None) => Ok(()),
            Ok(Some(signal)) => {
                if self.claim_again(opened, timers).await? == WaitOutcome::Elapsed {
                    self.obey(opened, signal).await?;
                }
                Ok(())
            }
            Err(error) => self.tolerate_outage(opened, error),
        }
    }

    async fn hold(&mut self, opened: &mut OpenJob, reason: HoldReason, detail: String) -> Result<(), RunError> {
        if let (HoldReason::Outage, Some(handle)) = (reason, &self.lease_handle) {
            let wakes = now().after(handle.wakes_after);
            // Where this is not heard, the checkpoint isn't either: the job stays running, and is found by a sweep.
            if let Err(error) = self.store.wake_at(opened.job.spec.id, opened.lease, wakes).await {
                self.tolerate_outage(opened, error)?;
            }
        }
        self.decide(opened, EffectResult::Command(Command::Hold { reason, detail })).await?;
        self.save(opened).await
    }
}

/// How long the job may still be worked.
fn work_left(opened: &OpenJob) -> Duration {
    opened.job.work_left(now()).map_or(Duration::MAX, |(left_ms, _)| Duration::from_millis(left_ms))
}
