//! One model call with all that may go wrong with it: the budget before it, attempts and waits, and the server that is
//! down. What each failure means for the job, the machine decides; here is only when the next attempt comes.

use super::{
    RunError,
    batch_budget::BudgetAnswer,
    clock::now,
    job_runner::{JobRunner, RunReport, until_stopped},
    lease::LeaseHandle,
    open_job::OpenJob,
};
use crate::{
    failpoint,
    model::{
        Failure, FailureKind, Remedy, Request,
        endpoint::{Probe, ServerDown},
        retry,
    },
};
use overnight_core::{
    job::{models::Tier, record::HoldReason},
    machine::effect::{Command, EffectResult},
    message::{Prompt, Reply, Stop},
    prompt::compose,
};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// A job of the queue that has to wait so long leaves its place with the worker to others.
const LONG_WAIT: Duration = Duration::from_secs(30);
/// How often, during a wait, control signals are asked for and the files that follow from the state are brought up to date.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// Attempts at one turn after which the server counts as down for this job, whatever it answers.
const MOST_ATTEMPTS: u32 = 10;

/// How a model call ended.
pub(super) enum CallOutcome {
    Replied(Box<EffectResult>),
    Failed(Failure),
    /// The server turned out to be down while the call waited for its turn.
    Down,
    /// The work is to stop, or the job's state is not what it was.
    Interrupted,
}

impl JobRunner<'_> {
    /// One turn: `None` when the work is to stop, or something else comes first. A call that is dropped costs nothing but
    /// itself: its turn has not happened.
    pub(super) async fn turn(&mut self, opened: &mut OpenJob) -> Result<Option<EffectResult>, RunError> {
        opened.journal.sync()?;
        self.flex_is_asked(opened);
        if let Some(reason) = self.flex_is_over(opened) {
            self.leave_flex(opened, reason).await?;
        }
        let expected = opened.job.expected_call();
        let model = self.models.asked(&opened.job)?;
        let own = opened.job.has_budget().then(|| opened.job.over_budget(&expected, model.cost(&expected)));
        let spent = match own.flatten() {
            Some(cause) => Some(cause.to_string()),
            None => match self.reserve_call(opened).await? {
                BudgetAnswer::Fits => None,
                BudgetAnswer::Later => return Ok(None),
                BudgetAnswer::Spent(detail) => Some(detail),
            },
        };
        if let Some(detail) = spent {
            self.hold(opened, HoldReason::Budget, detail).await?;
            return Ok(None);
        }
        match self.call(opened, None).await? {
            CallOutcome::Replied(answer) => {
                if let EffectResult::Reply { reply: Reply { stop: Stop::Refused, .. }, .. } = *answer {
                    // The reply stands; who is asked next may think otherwise.
                    self.decide(opened, *answer).await?;
                    self.fall_back(opened, "it withheld its reply").await?;
                    return Ok(None);
                }
                Ok(Some(*answer))
            }
            CallOutcome::Failed(failure) => self.on_call_failed(opened, failure).await.map(|()| None),
            CallOutcome::Down => self.hold_for_outage(opened, "its server does not answer").await.map(|()| None),
            CallOutcome::Interrupted => Ok(None),
        }
    }

    /// One attempt, by way of the queue of its server.
    pub(super) async fn call(&mut self, opened: &mut OpenJob, probe: Option<Probe>) -> Result<CallOutcome, RunError> {
        (self.observer)(&opened.job, RunReport::Calling);
        let prompt: Prompt = compose::prompt(&opened.job);
        let prompt_sha256 = opened.job.history().prompt_sha256();
        let limit = Duration::from_millis(opened.job.limits.model_call_ms);
        let model = self.models.asked(&opened.job)?;
        let turn = self.models.turn(&opened.job);
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
                            self.models.is_known = true;
                            self.flex_has_answered();
                            // What was answered at the usual tier costs what it costs there.
                            let usual = model.standard_tier().filter(|_| reply.tier == Some(Tier::Standard));
                            let cost_usd = usual.as_ref().unwrap_or(&model).cost(&reply.usage);
                            CallOutcome::Replied(Box::new(EffectResult::Reply { reply, cost_usd, prompt_sha256 }))
                        }
                    });
                }
                () = until_stopped(&mut self.stop) => return Ok(CallOutcome::Interrupted),
                () = tokio::time::sleep(TICK.min(work_left(opened))) => {
                    opened.refresh_derived()?;
                    if opened.job.is_running() {
                        self.check_signals(opened).await?;
                        self.check_time(opened).await?;
                        let has_begun = received.load(Ordering::Relaxed) > 0;
                        if !opened.job.is_running() || self.flex_is_given_up(opened, has_begun) {
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
            Some((0, cause)) => self.hold(opened, cause.reason(), cause.to_string()).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Records a failed attempt, and waits until the next one may be made.
    pub(super) async fn on_call_failed(&mut self, opened: &mut OpenJob, failure: Failure) -> Result<(), RunError> {
        let attempts = opened.job.attempts;
        let is_wrong_address = failure.kind == FailureKind::Unreachable && !self.models.is_known;
        self.models.is_known |= failure.status.is_some();
        let remedy = if is_wrong_address { Remedy::Configure } else { failure.kind.remedy() };
        match remedy {
            Remedy::Retry { .. } => {
                let is_down = self.models.asked(&opened.job)?.endpoint().is_some_and(|endpoint| endpoint.is_down());
                // That the tier has no room is no outage: it is asked on.
                let is_full = failure.kind == FailureKind::NoRoom;
                if is_down || (attempts.failed + 1 >= MOST_ATTEMPTS && !is_full) {
                    let reason = failure.reason.clone();
                    self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await?;
                    return self.hold_for_outage(opened, &reason).await;
                }
                self.retry_after_wait(opened, failure, attempts.failed + 1).await
            }
            Remedy::AskAgain => {
                let is_last = opened.job.is_last_unreadable();
                // Written down, the last one holds the job: who goes on instead comes before that.
                if is_last && self.fall_back(opened, &failure.reason).await? {
                    return Ok(());
                }
                self.retry_after_wait(opened, failure, if is_last { 0 } else { attempts.failed + 1 }).await
            }
            // The next request is another one.
            Remedy::Reopen => self.retry_after_wait(opened, failure, 0).await,
            // The first makes the prompt shorter at once.
            Remedy::Compact => self.retry_after_wait(opened, failure, attempts.too_long).await,
            // What the provider refuses at its cheap tier, it may take at the usual one.
            Remedy::Configure
                if failure.kind == FailureKind::BadRequest && self.models.asked(&opened.job)?.tier() == Tier::Flex =>
            {
                let reason = format!("refused at the flex tier: {}", failure.reason);
                self.leave_flex(opened, &reason).await
            }
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
                self.models.misconfigured = Some(reason);
                Ok(())
            }
            Remedy::GiveUp => self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms: 0 }).await.map(drop),
        }
    }

    /// Records a failed attempt, and waits as long as its number calls for.
    async fn retry_after_wait(&mut self, opened: &mut OpenJob, failure: Failure, number: u32) -> Result<(), RunError> {
        let wait = match number {
            0 => Duration::ZERO,
            number => retry::wait(number, failure.retry_after, fastrand::f64()),
        };
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let reason = failure.reason.clone();
        self.decide(opened, EffectResult::AttemptFailed { failure, wait_ms }).await?;
        opened.journal.sync()?;
        if opened.lease.is_queued() && wait >= LONG_WAIT && opened.job.is_running() {
            self.later = Some((wait, reason));
            return Ok(());
        }
        self.wait(opened, wait).await
    }

    /// Waits, unless the work is to stop or the job's state changes: control signals are heard, and the lease is kept.
    pub(super) async fn wait(&mut self, opened: &mut OpenJob, time: Duration) -> Result<(), RunError> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.flex_is_over(opened).is_some() {
                return Ok(());
            }
            tokio::select! {
                () = until_stopped(&mut self.stop) => return Ok(()),
                () = tokio::time::sleep(left.min(TICK).min(work_left(opened))) => {
                    if !self.check_in(opened).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// During a wait: keeps the lease, receives control signals, and holds the job when its time of work is over. Returns
    /// whether the job still runs.
    pub(super) async fn check_in(&mut self, opened: &mut OpenJob) -> Result<bool, RunError> {
        opened.refresh_derived()?;
        self.await_lease(opened).await?;
        self.check_signals(opened).await?;
        self.check_time(opened).await?;
        Ok(opened.job.is_running())
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
            // Where this is not heard, the checkpoint isn't either: the job stays running, and is found by a sweep.
            if let Err(error) = self.store.wake_at(id, number, wakes).await {
                self.tolerate_outage(opened, error)?;
            }
        }
        self.command(opened, Command::Hold { reason, detail }).await?;
        self.save(opened).await
    }
}

/// How long the job may still be worked.
fn work_left(opened: &OpenJob) -> Duration {
    opened.job.work_left(now()).map_or(Duration::MAX, |(left_ms, _)| Duration::from_millis(left_ms))
}
