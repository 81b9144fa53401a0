//! Model calls whose answers come later: submitted calls are tracked here, and a queued job that has nothing else to do
//! rests meanwhile, with no lease, no lock and no task.

use super::{
    JobRunner,
    calls_in_flight::{CallOutcome, CallSize, EndedCall},
};
use crate::{
    failpoint,
    model::{
        Failure, FailureKind, Model, Remedy,
        later::{LaterAnswer, LaterAnswers, TakenCall},
    },
    runner::{RunError, clock::now, open_job::OpenJob},
    store::{AwaitedCall, Store},
};
use overnight_core::{
    job::{submitted_call::SubmittedCall, time::Timestamp},
    machine::effect::{EffectId, Outcome},
    prompt::compose,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// The pause of a job whose model no worker knows, as a person chose it for this job: then the job checks for itself.
const LOOKS_AFTER: Duration = Duration::from_mins(5);

/// A call that `model` has taken, as a fact.
pub(super) fn submitted_call(key: String, model: &dyn Model, prompt_sha256: String, taken: TakenCall) -> SubmittedCall {
    let TakenCall { handle, within } = taken;
    SubmittedCall { key, handle, model: model.name().to_owned(), prompt_sha256, waits_until: now().after(within) }
}

impl JobRunner<'_> {
    /// The total size of the submitted calls.
    pub(super) fn submitted_size(&self, opened: &OpenJob) -> Result<CallSize, RunError> {
        let mut sum = CallSize::default();
        for (id, _) in opened.job.submitted() {
            if let Some(conversation) = opened.job.conversation(id.conversation) {
                let model = self.models.asked(&opened.job, conversation)?;
                sum = sum.and(CallSize::of(&*model, opened.job.expected_call(conversation)));
            }
        }
        Ok(sum)
    }

    pub(super) async fn on_submitted(
        &mut self,
        opened: &mut OpenJob,
        id: EffectId,
        call: SubmittedCall,
    ) -> Result<(), RunError> {
        // The call is paid for, but not yet recorded here.
        failpoint::hit("model.submitted");
        self.models.is_known = true;
        self.looks_at = None;
        self.decide(opened, id, Outcome::Submitted(call)).await.map(drop)
    }

    /// The job has ended: what its models have of it, and of no job that waits, is given up. If that fails, it is only paid for in vain.
    pub(super) async fn withdraw(&mut self, opened: &OpenJob) {
        for model in self.models.all() {
            let Some(later) = model.later() else { continue };
            if let Err(failure) = later.withdraw().await {
                let name = model.name();
                self.recorder
                    .note(opened, format!("what {name} has of the job could not be cancelled there: {failure}"));
            }
        }
    }

    /// Fetches the answers that have come, when it is time to look.
    pub(super) async fn fetch_answers(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        if !opened.job.is_running() || self.looks_at.is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        let mut every = Duration::MAX;
        let mut ended = BTreeMap::new();
        let submitted: Vec<(EffectId, SubmittedCall)> =
            opened.job.submitted().map(|(id, call)| (id, call.clone())).collect();
        for (id, call) in submitted.clone() {
            let Some(conversation) = opened.job.conversation(id.conversation) else { continue };
            let model = match self.models.taker(&call.model) {
                Some(taker) => Arc::clone(taker),
                None => self.models.asked(&opened.job, conversation)?,
            };
            let asked = model.later().filter(|_| model.name() == call.model);
            every = asked.map_or(every, |asked| every.min(asked.every()));
            if let Some(asked) = asked
                && !self.has_ended(opened, asked, &call, &submitted, &mut ended).await
            {
                continue;
            }
            if let Some(outcome) = self.outcome(opened, asked, (id, &call)).await {
                let (key, prompt_sha256) = (call.key.clone(), call.prompt_sha256.clone());
                let call_ended = EndedCall { id, model: Arc::clone(&model), prompt_sha256, key, outcome };
                self.on_call_ended(opened, call_ended).await?;
                if let Some(asked) = model.later() {
                    opened.journal.sync()?;
                    // An answer that is kept too long does no harm.
                    let _ = asked.forget(&[call.handle]).await;
                }
            }
            if !opened.job.is_running() {
                return Ok(());
            }
        }
        self.looks_at = Instant::now().checked_add(every);
        Ok(())
    }

    /// Whether a call has come to an end, or is waited for no longer. All calls of one model are asked about together.
    async fn has_ended(
        &mut self,
        opened: &OpenJob,
        asked: &dyn LaterAnswers,
        call: &SubmittedCall,
        submitted: &[(EffectId, SubmittedCall)],
        ended: &mut BTreeMap<String, BTreeSet<String>>,
    ) -> bool {
        if !ended.contains_key(&call.model) {
            let of_model = submitted.iter().filter(|(_, other)| other.model == call.model);
            let handles: Vec<String> = of_model.map(|(_, other)| other.handle.clone()).collect();
            let known = asked.ended(&handles).await.unwrap_or_else(|failure| {
                self.recorder.note(opened, format!("{failure}; its answer is looked for again"));
                BTreeSet::new()
            });
            ended.insert(call.model.clone(), known);
        }
        ended.get(&call.model).is_some_and(|ended| ended.contains(&call.handle)) || now() >= call.waits_until
    }

    /// The outcome of a call; none: it is still awaited.
    async fn outcome(
        &mut self,
        opened: &OpenJob,
        asked: Option<&dyn LaterAnswers>,
        (id, call): (EffectId, &SubmittedCall),
    ) -> Option<CallOutcome> {
        let gone = |reason: String| Some(CallOutcome::Failed(Failure::new(FailureKind::Unanswered, reason)));
        let Some(asked) = asked else {
            return gone(format!("{} was asked, and is no longer the model of this job", call.model));
        };
        let prompt = compose::prompt(opened.job.conversation(id.conversation)?);
        match asked.answer(&call.handle, &prompt).await {
            Ok(LaterAnswer::Replied(reply, facts)) => Some(CallOutcome::Replied(reply, facts)),
            Ok(LaterAnswer::Pending) if now() >= call.waits_until => {
                gone(format!("{} has not answered by {}", call.model, call.waits_until))
            }
            Ok(LaterAnswer::Pending) => None,
            // A failed query says nothing about the answer.
            Err(failure) if matches!(failure.kind.remedy(), Remedy::Retry { .. }) && now() < call.waits_until => {
                self.recorder.note(opened, format!("{failure}; its answer is looked for again"));
                None
            }
            Ok(LaterAnswer::Failed(failure)) | Err(failure) => Some(CallOutcome::Failed(failure)),
        }
    }

    /// A person's job waits here for its submitted calls, and keeps its lease.
    pub(super) async fn wait_for_answers(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let left = self.looks_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
        self.wait(opened, left).await
    }
}

/// Records in the queue what the job waits for, before the checkpoint with which it rests.
pub(super) async fn await_answers(store: &dyn Store, opened: &OpenJob) -> Result<(), RunError> {
    let job = &opened.job;
    let calls: Vec<AwaitedCall> = job
        .submitted()
        .map(|(_, call)| AwaitedCall { model: call.model.clone(), handle: call.handle.clone() })
        .collect();
    let Some(until) = waits_until(opened) else { return Ok(()) };
    let looks_at = Some(now().after(LOOKS_AFTER)).filter(|_| job.choice != job.spec.choice());
    let until = looks_at.map_or(until, |at| at.min(until));
    Ok(store.await_answers(opened.lease.id, opened.lease.number, &calls, until).await?)
}

/// When the job stops waiting for the first of its answers.
fn waits_until(opened: &OpenJob) -> Option<Timestamp> {
    opened.job.submitted().map(|(_, call)| call.waits_until).min()
}

/// A sentence about what a waiting job waits for.
pub fn waits_for(opened: &OpenJob) -> String {
    let mut models: Vec<&str> = opened.job.submitted().map(|(_, call)| call.model.as_str()).collect();
    let answers = if let [_] = models[..] { "the answer".to_owned() } else { format!("{} answers", models.len()) };
    models.dedup();
    let until = waits_until(opened).map(|until| format!(", until {until} at most")).unwrap_or_default();
    format!("{answers} of {} to what was handed in{until}", models.join(" and "))
}
