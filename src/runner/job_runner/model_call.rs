//! Model calls and everything that may go wrong with them: the budget before one, attempts and waits, and a server that
//! is down. The machine decides what each failure means for the job; this file only times the next attempt.

use super::{
    JobRunner, RunReport,
    batch_budget::BudgetAnswer,
    calls_in_flight::{CallOutcome, CallSize, EndedCall, NewCall},
    cheap_tier::batch_deadline,
    later_answers::submitted_call,
};
use crate::{
    failpoint,
    model::{Failure, FailureKind, Model, Remedy, endpoint::Probe, later::AnswerFacts, retry},
    runner::{RunError, clock::now, lease::until_stopped, open_job::OpenJob},
    workspace::Workspace,
};
use overnight_core::{
    job::{digest::sha256, models::Tier, record::HoldReason},
    machine::effect::{EffectId, EffectResult, Outcome},
    message::{Image, Prompt, Reply, Stop},
    prompt::compose,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A queued job that has to wait this long leaves its place with the worker to others.
const LONG_WAIT: Duration = Duration::from_secs(30);
/// The interval, during a wait, at which control signals are checked and the derived files are updated.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// Attempts at one turn after which the server counts as down for this job, whatever it answers.
const MOST_ATTEMPTS: u32 = 10;

/// A conversation that makes no call before this moment, and why.
#[derive(Debug)]
pub(super) struct Rest {
    until: Instant,
    reason: String,
}

impl Rest {
    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl JobRunner<'_> {
    /// Begins the call that is owed, unless it is in flight or waits. `false`: something else comes first.
    pub(super) async fn begin_call(&mut self, opened: &mut OpenJob, id: EffectId) -> Result<bool, RunError> {
        if self.in_flight.contains(id) {
            return Ok(true);
        }
        self.models.flex_is_asked(opened);
        if let Some(reason) = self.models.tier_is_over(opened) {
            self.models.leave_tier(&mut self.recorder, opened, reason).await?;
            self.resting.clear();
            return Ok(false);
        }
        if self.resting.get(&id.conversation).is_some_and(|rest| !rest.left().is_zero()) {
            return Ok(true);
        }
        self.resting.remove(&id.conversation);
        if self.in_flight.len() >= opened.job.most_in_flight() {
            return Ok(true);
        }
        opened.journal.sync()?;
        if self.recorder.is_upload_due() {
            self.recorder.save(opened).await?;
        }
        let Some(conversation) = opened.job.conversation(id.conversation) else { return Ok(false) };
        let model = self.models.asked(&opened.job, conversation)?;
        let own = CallSize::of(&*model, opened.job.expected_call(conversation));
        let together = own.and(self.in_flight.size()).and(self.submitted_size(opened)?);
        let own = opened.job.has_budget().then(|| opened.job.over_budget(&together.tokens, together.usd));
        let is_alone = self.in_flight.is_empty();
        let spent = match own.flatten() {
            Some(cause) => Some(cause.to_string()),
            None => match self.budget.reserve(&mut self.recorder, opened, together.worst_usd, is_alone).await? {
                BudgetAnswer::Fits => None,
                BudgetAnswer::Later => return Ok(!is_alone),
                BudgetAnswer::AskAgainAfter(pause) => {
                    self.wait(opened, pause).await?;
                    return Ok(false);
                }
                BudgetAnswer::Spent(detail) => Some(detail),
            },
        };
        match spent {
            // The calls in flight may cost less than expected.
            Some(_) if !self.in_flight.is_empty() => Ok(true),
            Some(detail) => {
                self.recorder.hold(opened, HoldReason::Budget, detail).await?;
                Ok(false)
            }
            None => {
                self.start_call(opened, id, None)?;
                Ok(true)
            }
        }
    }

    /// Starts a call.
    pub(super) fn start_call(&mut self, opened: &OpenJob, id: EffectId, probe: Option<Probe>) -> Result<(), RunError> {
        let job = &opened.job;
        let Some(conversation) = job.conversation(id.conversation) else { return Ok(()) };
        (self.recorder.observer)(job, RunReport::Calling(id.conversation));
        let model = self.models.asked(job, conversation)?;
        self.in_flight.start(NewCall {
            id,
            size: CallSize::of(&*model, job.expected_call(conversation)),
            model,
            prompt: Prompt {
                effort: job.effort_of(conversation).map(str::to_owned),
                ..with_bytes(compose::prompt(conversation), &opened.workspace)?
            },
            key: conversation.submission_key(job.spec.id, &conversation.epoch.prompt_sha256()),
            job: job.spec.id,
            until: batch_deadline(opened),
            attempts: conversation.attempts,
            prompt_sha256: conversation.epoch.prompt_sha256(),
            turn: job.turn_of_model(conversation),
            turn_of_conversation: conversation.turns + 1,
            limit: Duration::from_millis(job.limits.model_call_ms),
            probe,
        });
        Ok(())
    }

    /// Waits for what comes first: the end of a call, the end of a rest, a stop, a control signal.
    pub(super) async fn await_call(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let is_there = |number: &u32| opened.job.conversation(*number).is_some();
        self.resting.retain(|number, _| is_there(number));
        let rest = self.resting.values().min_by_key(|rest| rest.until);
        let left = rest.map_or(Duration::MAX, Rest::left);
        if self.in_flight.is_empty() {
            if let Some(rest) = rest.filter(|_| opened.lease.is_queued() && left >= LONG_WAIT) {
                self.later = Some((left, rest.reason.clone()));
                return Ok(());
            }
            return self.wait(opened, left.min(TICK)).await;
        }
        if let Some(ended) = self.next_call(opened, left).await? {
            self.on_call_ended(opened, ended).await?;
        }
        Ok(())
    }

    /// The next call that ends. None: it is time to look what comes first.
    pub(super) async fn next_call(
        &mut self,
        opened: &mut OpenJob,
        most: Duration,
    ) -> Result<Option<EndedCall>, RunError> {
        tokio::select! {
            biased;
            ended = self.in_flight.next() => {
                // The call is over, and its turn is not yet on the disk.
                failpoint::hit("model.replied");
                return Ok(Some(ended));
            }
            () = until_stopped(&mut self.recorder.stop) => {}
            () = tokio::time::sleep(TICK.min(most).min(work_left(opened))) => {
                opened.refresh_derived()?;
                if opened.job.is_running() {
                    self.recorder.check_signals(opened).await?;
                    self.check_time(opened).await?;
                    if opened.job.is_running() && self.models.tier_is_over(opened).is_some() {
                        let is_last = self.models.flex_is_last(opened);
                        self.in_flight.give_up(|_, received| received == 0 || is_last);
                    }
                }
            }
        }
        Ok(None)
    }

    pub(super) async fn on_call_ended(&mut self, opened: &mut OpenJob, ended: EndedCall) -> Result<(), RunError> {
        let EndedCall { id, model, prompt_sha256, key, outcome } = ended;
        match outcome {
            CallOutcome::Down => self.on_server_down(opened, id, &model).await,
            CallOutcome::Submitted(taken) => {
                let call = submitted_call(key, &*model, prompt_sha256, taken);
                self.on_submitted(opened, id, call).await
            }
            CallOutcome::Failed(failure) => self.on_call_failed(opened, id, &model, failure).await,
            CallOutcome::Replied(reply, facts) => {
                let is_withheld = reply.stop == Stop::Refused;
                let result = self.replied(&model, *reply, facts, prompt_sha256);
                // The reply stays; the next model may answer differently.
                if !self.decide(opened, id, Outcome::Done(result)).await? {
                    let text = "a reply came that nobody waits for any more; it is dropped".to_owned();
                    self.recorder.note(opened, text);
                } else if is_withheld && self.is_asked(opened, id, &model) {
                    self.models.fall_back(&mut self.recorder, opened, id.conversation, "it withheld its reply").await?;
                }
                Ok(())
            }
        }
    }

    async fn on_server_down(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        model: &Arc<dyn Model>,
    ) -> Result<(), RunError> {
        if self.is_asked(opened, id, model) {
            return self.hold_for_outage(opened, id, "its server does not answer").await;
        }
        Ok(())
    }

    /// Whether this model is still the current one of a conversation: the outcome of a call to a model that was left
    /// says nothing about its successor.
    fn is_asked(&self, opened: &OpenJob, id: EffectId, model: &Arc<dyn Model>) -> bool {
        let conversation = opened.job.conversation(id.conversation);
        let asked = conversation.and_then(|one| self.models.asked(&opened.job, one).ok());
        asked.is_some_and(|asked| Arc::ptr_eq(&asked, model))
    }

    /// A reply with its cost: a reply at the standard tier costs that tier's price.
    pub(super) fn replied(
        &mut self,
        model: &Arc<dyn Model>,
        mut reply: Reply,
        facts: AnswerFacts,
        prompt_sha256: String,
    ) -> EffectResult {
        self.models.is_known = true;
        self.models.flex_has_answered();
        let AnswerFacts { batch, primer_usd } = facts;
        let usual = model.standard_tier();
        let standard_usd = usual.as_ref().and_then(|usual| usual.cost(&reply.usage));
        if let Some(usd) = primer_usd {
            reply.mended.push(format!(
                "{usd:.6} USD of its cost are those of a primer: a short request that filled the provider's cache for the batch"
            ));
        }
        let (cost_usd, standard_usd) = match standard_usd.filter(|_| reply.tier == Some(Tier::Standard)) {
            Some(usd) => (Some(usd), None),
            None => (model.cost(&reply.usage), standard_usd),
        };
        let cost_usd = cost_usd.map(|usd| usd + primer_usd.unwrap_or_default());
        EffectResult::Reply { reply, cost_usd, standard_usd, batch, prompt_sha256 }
    }

    /// Holds the job when its time of work is over, although no answer has come that would lead to a decision.
    async fn check_time(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        match opened.job.work_left(now()) {
            Some((0, cause)) => self.recorder.hold(opened, cause.reason(), cause.to_string()).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Records a failed attempt, and waits until the next one may be made.
    pub(super) async fn on_call_failed(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        model: &Arc<dyn Model>,
        failure: Failure,
    ) -> Result<(), RunError> {
        let number = id.conversation;
        let Some(conversation) = opened.job.conversation(number) else { return Ok(()) };
        let (attempts, is_last_unreadable) = (conversation.attempts, conversation.is_last_unreadable());
        let was_handed_in = conversation.submitted.is_some();
        if !self.is_asked(opened, id, model) {
            return if was_handed_in { self.ask_at_once(opened, id, failure).await } else { Ok(()) };
        }
        let is_wrong_address = failure.kind == FailureKind::Unreachable && !self.models.is_known;
        self.models.is_known |= failure.status.is_some();
        let remedy = if is_wrong_address { Remedy::Configure } else { failure.kind.remedy() };
        match remedy {
            Remedy::Retry { .. } => {
                let is_down = model.endpoint().is_some_and(|endpoint| endpoint.is_down());
                // A lack of capacity at the tier is no outage: the calls continue.
                let is_full = failure.kind == FailureKind::NoRoom;
                if is_down || (attempts.failed + 1 >= MOST_ATTEMPTS && !is_full) {
                    let reason = failure.reason.clone();
                    self.decide(opened, id, Outcome::Failed { failure, wait_ms: 0 }).await?;
                    return self.hold_for_outage(opened, id, &reason).await;
                }
                self.retry_after_wait(opened, id, failure, attempts.failed + 1).await
            }
            Remedy::AskAgain => {
                let is_last = is_last_unreadable;
                // Once recorded, the last failure holds the job: so a fallback is tried before that.
                if is_last && self.models.fall_back(&mut self.recorder, opened, number, &failure.reason).await? {
                    return Ok(());
                }
                self.retry_after_wait(opened, id, failure, if is_last { 0 } else { attempts.failed + 1 }).await
            }
            // The next request is another one.
            Remedy::Reopen => self.retry_after_wait(opened, id, failure, 0).await,
            // The first such failure shortens the prompt immediately.
            Remedy::Compact => self.retry_after_wait(opened, id, failure, attempts.too_long).await,
            // The provider may accept at the standard tier what it refuses at its cheap tier.
            Remedy::Configure if is_of_tier(&failure, &**model) => {
                let reason = format!("refused at the {} tier: {}", model.tier().name(), failure.reason);
                if was_handed_in {
                    self.ask_at_once(opened, id, failure).await?;
                }
                self.models.leave_tier(&mut self.recorder, opened, &reason).await
            }
            Remedy::Configure => {
                let reason = failure.reason.clone();
                // Once recorded, a refusal holds the job: so a fallback is tried before that.
                if failure.kind.remedy() == Remedy::Configure
                    && self.models.fall_back(&mut self.recorder, opened, number, &reason).await?
                {
                    return Ok(());
                }
                self.decide(opened, id, Outcome::Failed { failure, wait_ms: 0 }).await?;
                if opened.job.is_running() && self.models.fall_back(&mut self.recorder, opened, number, &reason).await?
                {
                    return Ok(());
                }
                if opened.job.is_running() {
                    self.recorder.hold(opened, HoldReason::Paused, reason.clone()).await?;
                }
                self.misconfigured = Some(reason);
                Ok(())
            }
            Remedy::GiveUp => self.decide(opened, id, Outcome::Failed { failure, wait_ms: 0 }).await.map(drop),
        }
    }

    /// A submitted call gets no answer: it is made live instead.
    async fn ask_at_once(&mut self, opened: &mut OpenJob, id: EffectId, failure: Failure) -> Result<(), RunError> {
        let failure = Failure { kind: FailureKind::Unanswered, ..failure };
        self.decide(opened, id, Outcome::Failed { failure, wait_ms: 0 }).await.map(drop)
    }

    /// Records a failed attempt; the conversation rests as long as its number calls for.
    async fn retry_after_wait(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        failure: Failure,
        number: u32,
    ) -> Result<(), RunError> {
        let wait = match number {
            0 => Duration::ZERO,
            number => retry::wait(number, failure.retry_after, fastrand::f64()),
        };
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let reason = failure.reason.clone();
        self.decide(opened, id, Outcome::Failed { failure, wait_ms }).await?;
        opened.journal.sync()?;
        if !wait.is_zero() {
            self.resting.insert(id.conversation, Rest { until: Instant::now() + wait, reason });
        }
        Ok(())
    }

    /// Waits, unless the work is to stop or the job's state changes; receives control signals, and keeps the lease.
    pub(super) async fn wait(&mut self, opened: &mut OpenJob, time: Duration) -> Result<(), RunError> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.models.tier_is_over(opened).is_some() {
                return Ok(());
            }
            tokio::select! {
                () = until_stopped(&mut self.recorder.stop) => return Ok(()),
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
        self.recorder.await_lease(opened).await?;
        self.recorder.check_signals(opened).await?;
        self.check_time(opened).await?;
        Ok(opened.job.is_running())
    }
}

/// The prompt with the bytes of its images, which must match the journal's hashes.
fn with_bytes(mut prompt: Prompt, workspace: &Workspace) -> Result<Prompt, RunError> {
    let images: Vec<Image> = prompt.images().cloned().collect();
    for image in images {
        let path = image.path();
        let bytes = workspace.read(&path)?;
        if sha256(&bytes) != image.sha256 {
            return Err(RunError::Request(format!(
                "{path} in {} is not the image that the model was shown: put it back, or send the job back",
                workspace.path().display()
            )));
        }
        prompt.image_bytes.insert(image.sha256, bytes.into());
    }
    Ok(prompt)
}

/// Whether a refusal may concern only the cheap tier. A server without a batch endpoint doesn't know its path.
fn is_of_tier(failure: &Failure, model: &dyn Model) -> bool {
    match model.tier() {
        Tier::Standard => false,
        Tier::Flex => failure.kind == FailureKind::BadRequest,
        // Whatever is wrong, a live call will show it again.
        Tier::Batch => failure.kind.remedy() == Remedy::Configure,
    }
}

/// How long the job may still be worked.
fn work_left(opened: &OpenJob) -> Duration {
    opened.job.work_left(now()).map_or(Duration::MAX, |(left_ms, _)| Duration::from_millis(left_ms))
}
