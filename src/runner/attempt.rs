//! One model call with all that may go wrong with it: the budget before it, attempts and waits, and the server that is
//! down. What each failure means for the job, the machine decides; here is only when the next attempt comes.

use super::{
    RunError,
    clock::now,
    drive::{Drive, Report, stopped},
    lease::Beat,
    session::Session,
    share::Share,
};
use crate::{
    crash,
    model::{
        Failure, FailureKind, Remedy, Request,
        endpoint::{Down, Probe, Wake},
        retry,
    },
};
use overnight_core::{
    job::{
        record::HoldReason,
        step::{Answer, Command},
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

/// How often the database is asked for wishes, and the files that follow from the state are looked after, during a wait.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// The same, while the job is held because its server is down.
const HELD_TICK: Duration = Duration::from_secs(2);
/// Attempts at one turn after which the server counts as down for this job, whatever it answers.
const MOST_ATTEMPTS: u32 = 10;

/// What came of a call.
enum Called {
    Replied(Answer),
    Failed(Failure),
    /// The server turned out to be down while the call waited for its turn.
    Down,
    /// The work is to stop, or the job's state is not what it was.
    Left,
}

/// What came of a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Through,
    /// The work is to stop, or the job's state is not what it was.
    Over,
}

impl Drive<'_> {
    /// One turn: `None` when the work is to stop, or something else comes first. A call that is dropped costs nothing but
    /// itself: its turn has not happened.
    pub(super) async fn turn(&mut self, session: &mut Session, beat: &mut Beat) -> Result<Option<Answer>, RunError> {
        session.journal.sync()?;
        if session.job.has_budget() {
            let expected = session.job.expected_call();
            if let Some(detail) = session.job.over_budget(&expected, self.model.cost(&expected)) {
                self.hold(session, HoldReason::Budget, detail).await?;
                return Ok(None);
            }
        }
        match self.share(session, beat).await? {
            Share::Room => {}
            Share::Later => return Ok(None),
            Share::Spent(detail) => {
                self.hold(session, HoldReason::Budget, detail).await?;
                return Ok(None);
            }
        }
        match self.call(session, beat, None).await? {
            Called::Replied(answer) => {
                if let Answer::Reply { reply: Reply { stop: Stop::Refused, .. }, .. } = &answer {
                    // The reply stands; who is asked next may think otherwise.
                    self.decide(session, answer).await?;
                    self.fall_back(session, "it withheld its reply").await?;
                    return Ok(None);
                }
                Ok(Some(answer))
            }
            Called::Failed(failure) => self.failed(session, beat, failure).await.map(|()| None),
            Called::Down => self.out(session, "other jobs' calls failed").await.map(|()| None),
            Called::Left => Ok(None),
        }
    }

    /// One attempt, by way of the queue of its server.
    async fn call(&mut self, session: &mut Session, beat: &mut Beat, probe: Option<Probe>) -> Result<Called, RunError> {
        (self.watch)(&session.job, Report::Calling);
        let prompt: Prompt = compose::prompt(&session.job);
        let prompt_sha256 = compose::prompt_sha256(&prompt);
        let turn = session.job.totals.spent.turns + 1;
        let limit = Duration::from_millis(session.job.limits.model_call_ms);
        let model = self.model.clone();
        // Who has no server has no queue either.
        let expected = model.endpoint().map(|_| session.job.expected_call()).unwrap_or_default();
        let received = AtomicU64::new(0);
        crash::point("model.called");
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
            Ok::<_, Down>(result)
        };
        tokio::pin!(attempt);
        loop {
            tokio::select! {
                biased;
                result = &mut attempt => {
                    // The call is over, and its turn is not yet on the disk.
                    crash::point("model.replied");
                    return Ok(match result {
                        Err(Down) => Called::Down,
                        Ok(Err(failure)) => Called::Failed(failure),
                        Ok(Ok(reply)) => {
                            self.reached = true;
                            let cost_usd = model.cost(&reply.usage);
                            Called::Replied(Answer::Reply { reply, cost_usd, prompt_sha256 })
                        }
                    });
                }
                () = stopped(&mut self.stop) => return Ok(Called::Left),
                () = tokio::time::sleep(TICK.min(work_left(session))) => {
                    session.refresh_derived()?;
                    if session.job.is_running() {
                        self.listen(session, beat).await?;
                        self.mind_time(session).await?;
                        if !session.job.is_running() {
                            return Ok(Called::Left);
                        }
                    }
                }
            }
        }
    }

    /// Holds the job when its time of work is over, though nothing has come that would be decided on.
    async fn mind_time(&mut self, session: &mut Session) -> Result<(), RunError> {
        match session.job.work_left(now()) {
            Some((0, detail)) => self.hold(session, HoldReason::Limit, detail).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Writes a failed attempt down, and waits until the next may come.
    async fn failed(&mut self, session: &mut Session, beat: &mut Beat, failure: Failure) -> Result<(), RunError> {
        let attempts = session.job.attempts;
        let is_wrong_address = failure.kind == FailureKind::Unreachable && !self.reached;
        self.reached |= failure.status.is_some();
        let remedy = if is_wrong_address { Remedy::Configure } else { failure.kind.remedy() };
        match remedy {
            Remedy::Retry { .. } => {
                let is_down = self.model.endpoint().is_some_and(|endpoint| endpoint.is_down());
                if is_down || attempts.failed + 1 >= MOST_ATTEMPTS {
                    let reason = failure.reason.clone();
                    self.decide(session, Answer::AttemptFailed { failure, wait_ms: 0 }).await?;
                    return self.out(session, &reason).await;
                }
                self.again(session, beat, failure, attempts.failed + 1).await
            }
            // The first makes the prompt shorter at once.
            Remedy::Compact => self.again(session, beat, failure, attempts.too_long).await,
            Remedy::Configure => {
                let reason = failure.reason.clone();
                // Written down, a refusal holds the job: who goes on instead comes before that.
                if failure.kind.remedy() == Remedy::Configure && self.fall_back(session, &reason).await? {
                    return Ok(());
                }
                self.decide(session, Answer::AttemptFailed { failure, wait_ms: 0 }).await?;
                if session.job.is_running() && self.fall_back(session, &reason).await? {
                    return Ok(());
                }
                if session.job.is_running() {
                    self.hold(session, HoldReason::Paused, reason.clone()).await?;
                }
                self.misconfigured = Some(reason);
                Ok(())
            }
            Remedy::GiveUp => self.decide(session, Answer::AttemptFailed { failure, wait_ms: 0 }).await.map(drop),
        }
    }

    /// Writes a failed attempt down, and waits as its number says.
    async fn again(
        &mut self,
        session: &mut Session,
        beat: &mut Beat,
        failure: Failure,
        number: u32,
    ) -> Result<(), RunError> {
        let wait = match number {
            0 => Duration::ZERO,
            number => retry::wait(number, failure.retry_after, fastrand::f64()),
        };
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.decide(session, Answer::AttemptFailed { failure, wait_ms }).await?;
        session.journal.sync()?;
        self.wait(session, beat, wait).await.map(drop)
    }

    /// Waits, while wishes are heard and the lease is kept.
    pub(super) async fn wait(
        &mut self,
        session: &mut Session,
        beat: &mut Beat,
        time: Duration,
    ) -> Result<Waited, RunError> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Waited::Through);
            }
            tokio::select! {
                () = stopped(&mut self.stop) => return Ok(Waited::Over),
                () = tokio::time::sleep(left.min(TICK).min(work_left(session))) => {
                    if !self.look_around(session, beat).await? {
                        return Ok(Waited::Over);
                    }
                }
            }
        }
    }

    /// During a wait: keeps the lease, hears wishes, minds the time of work. Whether the job still runs.
    pub(super) async fn look_around(&mut self, session: &mut Session, beat: &mut Beat) -> Result<bool, RunError> {
        session.refresh_derived()?;
        self.keep_lease(session, beat).await?;
        self.listen(session, beat).await?;
        self.mind_time(session).await?;
        Ok(session.job.is_running())
    }

    /// A job that is held because its server is down waits here until the server answers: nothing is called but to probe.
    /// The hold has given the lease back; it is claimed again before anything else is written.
    pub(super) async fn wait_for_server(&mut self, session: &mut Session, beat: &mut Beat) -> Result<(), RunError> {
        let Some(endpoint) = self.model.endpoint().cloned() else { return Ok(()) };
        while session.job.is_out() {
            let wake = {
                // One wait, whatever is heard meanwhile: who begins anew goes to the end of the queue.
                let wake = endpoint.wake();
                tokio::pin!(wake);
                loop {
                    tokio::select! {
                        biased;
                        () = stopped(&mut self.stop) => {
                            if self.kept.is_some() {
                                return Ok(());
                            }
                            if self.claim_again(session, beat).await? == Waited::Through {
                                self.pause(session, "stopped by a person").await?;
                            }
                            return Ok(());
                        }
                        wake = &mut wake => break wake,
                        () = tokio::time::sleep(HELD_TICK) => {
                            self.hear_while_held(session, beat).await?;
                            if !session.job.is_out() {
                                return Ok(());
                            }
                        }
                    }
                }
            };
            let called = match wake {
                Wake::Answers => None,
                Wake::Probe(probe) => Some(self.call(session, beat, Some(probe)).await?),
            };
            let answer = match called {
                Some(Called::Left | Called::Down) => continue,
                Some(Called::Replied(answer)) => Some(answer),
                Some(Called::Failed(failure)) => {
                    self.probe_failed(session, beat, failure).await?;
                    continue;
                }
                None => None,
            };
            self.hear_while_held(session, beat).await?;
            if !session.job.is_out() || self.claim_again(session, beat).await? == Waited::Over {
                return Ok(());
            }
            let limits = session.job.limits;
            self.decide(session, Answer::Command(Command::Resume { limits })).await?;
            let text = format!("{} answers again; the job goes on", endpoint.name());
            (self.watch)(&session.job, Report::Talk(text));
            if let Some(reply) = answer {
                self.decide(session, reply).await?;
            }
        }
        Ok(())
    }

    /// The server does not answer yet, or it does, and refuses for good.
    async fn probe_failed(&mut self, session: &mut Session, beat: &mut Beat, failure: Failure) -> Result<(), RunError> {
        match failure.kind.remedy() {
            Remedy::Retry { .. } | Remedy::Compact => {
                // The row says held still, and what was wished of the job is not forgotten, as claiming it would.
                self.decide(session, Answer::AttemptFailed { failure, wait_ms: 0 }).await?;
                session.journal.sync()?;
                if !session.job.is_out() {
                    self.claim_again(session, beat).await?;
                }
                Ok(())
            }
            Remedy::Configure | Remedy::GiveUp => match self.claim_again(session, beat).await? {
                Waited::Through => self.failed(session, beat, failure).await,
                Waited::Over => Ok(()),
            },
        }
    }

    /// The next model takes over, where there is one.
    async fn fall_back(&mut self, session: &mut Session, reason: &str) -> Result<bool, RunError> {
        let Some(next) = self.fallbacks.pop_front() else { return Ok(false) };
        let text = format!("{} is left ({reason}); {} goes on", self.model.name(), next.name());
        self.model = next;
        self.reached = false;
        let (version, model) = (env!("CARGO_PKG_VERSION").to_owned(), self.model.name().to_owned());
        self.decide(session, Answer::Command(Command::Open { version, model, torn_bytes: None })).await?;
        (self.watch)(&session.job, Report::Talk(text));
        Ok(true)
    }

    /// The job waits for its server, with its turn undone.
    async fn out(&mut self, session: &mut Session, reason: &str) -> Result<(), RunError> {
        if self.fall_back(session, reason).await? {
            return Ok(());
        }
        let server = self.model.endpoint().map_or_else(|| self.model.name(), |endpoint| endpoint.name());
        let detail = format!("{server} does not answer as it should, and is asked again now and then: {reason}");
        self.hold(session, HoldReason::Outage, detail).await
    }

    async fn claim_again(&mut self, session: &mut Session, beat: &mut Beat) -> Result<Waited, RunError> {
        loop {
            let sent = Instant::now();
            let (worker, for_ms) = self.terms();
            match session.claim_for(self.store, worker, for_ms).await {
                Ok(()) => {
                    beat.renewed = sent;
                    self.claimed(session.lease, sent);
                    return Ok(Waited::Through);
                }
                Err(RunError::Store(error)) if error.retryable() => {
                    self.unless_lost(session, error)?;
                    if *self.stop.borrow() {
                        return Ok(Waited::Over);
                    }
                    tokio::select! {
                        () = tokio::time::sleep(super::drive::RETRY_AFTER) => {}
                        () = stopped(&mut self.stop) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A cancel or a pause that is wished while the job waits for its server.
    async fn hear_while_held(&mut self, session: &mut Session, beat: &mut Beat) -> Result<(), RunError> {
        session.refresh_derived()?;
        match self.wished_while_held(session).await {
            Ok(None) => Ok(()),
            Ok(Some(wish)) => {
                if self.claim_again(session, beat).await? == Waited::Through {
                    self.heed(session, wish).await?;
                }
                Ok(())
            }
            Err(error) => self.unless_lost(session, error),
        }
    }

    async fn hold(&mut self, session: &mut Session, reason: HoldReason, detail: String) -> Result<(), RunError> {
        if let (HoldReason::Outage, Some(kept)) = (reason, &self.kept) {
            let wakes = now().after(kept.wakes_after);
            // Where this is not heard, the checkpoint isn't either: the job stays running, and is found by a sweep.
            if let Err(error) = self.store.wake_at(session.job.spec.id, session.lease, wakes).await {
                self.unless_lost(session, error)?;
            }
        }
        self.decide(session, Answer::Command(Command::Hold { reason, detail })).await?;
        self.save(session).await
    }
}

/// How long the job may still be worked.
fn work_left(session: &Session) -> Duration {
    session.job.work_left(now()).map_or(Duration::MAX, |(left_ms, _)| Duration::from_millis(left_ms))
}
