//! Model calls in flight: each in a task of its own, known by the name of its effect, so that several conversations of one job
//! are answered side by side. A call that is dropped costs nothing but itself: its turn has not happened.

use crate::{
    failpoint,
    model::{
        Failure, FailureKind, Model, Request,
        endpoint::{Probe, ServerDown},
        later::{AnswerFacts, LaterCall, TakenCall},
    },
};
use overnight_core::{
    job::{failure::Attempts, id::JobId, time::Timestamp},
    machine::effect::EffectId,
    message::{Prompt, Reply, Usage},
};
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::task::{AbortHandle, Id, JoinSet};

/// How a model call ended.
#[derive(Debug)]
pub(super) enum CallOutcome {
    Replied(Box<Reply>, AnswerFacts),
    Failed(Failure),
    /// Its answer comes later.
    Submitted(TakenCall),
    /// The server turned out to be down while the call waited for its turn.
    Down,
}

/// The size of a call: expected tokens, with their cost if the price is known; and the worst case, with the longest
/// possible reply.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallSize {
    pub(super) tokens: Usage,
    pub(super) usd: Option<f64>,
    pub(super) worst_usd: Option<f64>,
}

impl CallSize {
    /// The size of a call of `model`.
    pub(super) fn of(model: &dyn Model, tokens: Usage) -> Self {
        let output = tokens.output.max(model.most_output().unwrap_or_default());
        Self { tokens, usd: model.cost(&tokens), worst_usd: model.cost(&Usage { output, ..tokens }) }
    }

    /// The sum of both; the price covers only calls whose price is known.
    pub(super) fn and(self, other: Self) -> Self {
        let sum = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
        };
        let input = self.tokens.input + other.tokens.input;
        let output = self.tokens.output + other.tokens.output;
        Self {
            tokens: Usage { input, output, ..Usage::default() },
            usd: sum(self.usd, other.usd),
            worst_usd: sum(self.worst_usd, other.worst_usd),
        }
    }
}

/// A model call to begin.
#[derive(Debug)]
pub(super) struct NewCall {
    pub(super) id: EffectId,
    pub(super) model: Arc<dyn Model>,
    pub(super) prompt: Prompt,
    pub(super) prompt_sha256: String,
    /// The name under which it is submitted if its answer comes later.
    pub(super) key: String,
    pub(super) job: JobId,
    /// The time until which a later answer is useful.
    pub(super) until: Option<Timestamp>,
    /// The attempts made for this turn.
    pub(super) attempts: Attempts,
    /// The number of the turn, as the model counts that is asked.
    pub(super) turn: u64,
    /// The number of the turn in its conversation.
    pub(super) turn_of_conversation: u64,
    /// The longest time that it may take, without the time in its server's queue.
    pub(super) limit: Duration,
    pub(super) size: CallSize,
    pub(super) probe: Option<Probe>,
}

/// A call that has ended, with the prompt that it was made with.
#[derive(Debug)]
pub(super) struct EndedCall {
    pub(super) id: EffectId,
    pub(super) model: Arc<dyn Model>,
    pub(super) prompt_sha256: String,
    pub(super) key: String,
    pub(super) outcome: CallOutcome,
}

/// The known facts about a call while it is in flight.
#[derive(Debug)]
struct FlyingCall {
    id: EffectId,
    task: AbortHandle,
    model: Arc<dyn Model>,
    prompt_sha256: String,
    key: String,
    received: Arc<AtomicU64>,
    size: CallSize,
}

/// All calls of one job that are in flight.
#[derive(Debug, Default)]
pub(super) struct CallsInFlight {
    tasks: JoinSet<CallOutcome>,
    calls: HashMap<Id, FlyingCall>,
    /// Calls that ended while another one was awaited.
    ended: VecDeque<EndedCall>,
}

impl CallsInFlight {
    pub(super) fn len(&self) -> u64 {
        (self.calls.len() + self.ended.len()) as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.ended.is_empty()
    }

    pub(super) fn contains(&self, id: EffectId) -> bool {
        self.calls.values().any(|call| call.id == id) || self.ended.iter().any(|call| call.id == id)
    }

    /// The total size of all of them.
    pub(super) fn size(&self) -> CallSize {
        self.calls.values().fold(CallSize::default(), |sum, call| sum.and(call.size))
    }

    /// Gives up the calls selected by `is_given_up`, by their ids and the bytes received.
    pub(super) fn give_up(&mut self, is_given_up: impl Fn(EffectId, u64) -> bool) {
        self.calls.retain(|_, call| {
            let is_given_up = is_given_up(call.id, call.received.load(Ordering::Relaxed));
            if is_given_up {
                call.task.abort();
            }
            !is_given_up
        });
        self.ended.retain(|call| !is_given_up(call.id, u64::MAX));
    }

    /// Begins a call, by way of the queue of its server.
    pub(super) fn start(&mut self, call: NewCall) {
        let NewCall { id, model, prompt, prompt_sha256, key, size, .. } = call;
        let NewCall { job, until, attempts, turn, turn_of_conversation, limit, probe, .. } = call;
        let received = Arc::new(AtomicU64::new(0));
        failpoint::hit("model.called");
        let (asked, counted, name) = (model.clone(), received.clone(), key.clone());
        let task = self.tasks.spawn(async move {
            let conversation = id.conversation;
            let request = Request { prompt: &prompt, turn, conversation, turn_of_conversation, received: &counted };
            let output_tokens = size.tokens.output;
            let call = LaterCall { request, key: &name, job, until, output_tokens, attempts };
            attempt(&*asked, call, size.tokens.input + output_tokens, limit, probe).await
        });
        self.calls.insert(task.id(), FlyingCall { id, task, model, prompt_sha256, key, received, size });
    }

    /// The next call that ends; for ever, where none is in flight.
    pub(super) async fn next(&mut self) -> EndedCall {
        match self.ended.pop_front() {
            Some(ended) => ended,
            None => self.next_in_flight().await,
        }
    }

    /// The end of this call; others that end before are kept for [`Self::next`].
    pub(super) async fn next_of(&mut self, id: EffectId) -> EndedCall {
        loop {
            let ended = self.next_in_flight().await;
            if ended.id == id {
                return ended;
            }
            self.ended.push_back(ended);
        }
    }

    async fn next_in_flight(&mut self) -> EndedCall {
        loop {
            let Some(joined) = self.tasks.join_next_with_id().await else {
                std::future::pending::<()>().await;
                continue;
            };
            match joined {
                Ok((task, outcome)) => {
                    if let Some(FlyingCall { id, model, prompt_sha256, key, .. }) = self.calls.remove(&task) {
                        return EndedCall { id, model, prompt_sha256, key, outcome };
                    }
                }
                Err(error) => {
                    self.calls.remove(&error.id());
                    if let Ok(panic) = error.try_into_panic() {
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
    }
}

/// One attempt. The time in the queue is not the model's.
async fn attempt(
    model: &dyn Model,
    call: LaterCall<'_>,
    tokens: u64,
    limit: Duration,
    probe: Option<Probe>,
) -> CallOutcome {
    let later = model.later().filter(|later| later.is_worth(&call));
    // Submitted calls are sent when it is time, and have limits of their own.
    let permit = match model.endpoint().filter(|_| later.is_none()) {
        Some(endpoint) => match endpoint.admit(tokens, probe).await {
            Ok(permit) => Some(permit),
            Err(ServerDown) => return CallOutcome::Down,
        },
        None => None,
    };
    let asked = async {
        Ok(match later {
            None => CallOutcome::Replied(Box::new(model.reply(call.request).await?), AnswerFacts::default()),
            Some(later) => CallOutcome::Submitted(later.submit(call).await?),
        })
    };
    let outcome = tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| {
        let reason = format!("the model {} did not answer within {} s", model.name(), limit.as_secs());
        Err(Failure::new(FailureKind::TimedOut, reason))
    });
    match (permit, &outcome) {
        (Some(permit), Ok(CallOutcome::Replied(reply, _))) => permit.answered(reply.usage.input + reply.usage.output),
        (Some(permit), Ok(_)) => permit.answered(0),
        (Some(permit), Err(failure)) => permit.failed(failure),
        (None, _) => {}
    }
    outcome.unwrap_or_else(CallOutcome::Failed)
}
