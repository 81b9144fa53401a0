//! Attempts at a turn: the reply, and failed attempts. Each is a fact; the next reply resets the count.

use super::{
    answers::{in_conversation, returned},
    phase_end::held,
    sub_agent, sub_agent_end,
};
use crate::{
    answer,
    job::{
        call::PendingCall,
        conversation::Conversation,
        event::{CallEnd, ConversationEvent, EpochCause, Event, LifeEvent},
        failure::{Failure, MOST_WITHHELD, Remedy},
        hold_cause::HoldCause,
        record::{HoldReason, JobStatus},
        state::Job,
        sub_agent_role::SubAgentEnd,
    },
    message::{Reply, Stop, ToolCall, readable},
    prompt::{
        compact::FRAME,
        measure::{self, counted_room},
        opening,
    },
    tokens::estimate,
};
use serde_json::Value;

/// Times that one turn's prompt may be too long for the model before the job is held: the first shortens it.
const MOST_TOO_LONG: u32 = 4;

/// Unreadable replies in a row: an endpoint that gives so many is not down, but always answers like this.
const MOST_UNREADABLE: u32 = 3;

impl Conversation {
    /// Whether one more reply that can't be read holds the job, or ends the sub-agent.
    pub fn is_last_unreadable(&self) -> bool {
        self.attempts.unreadable + 1 >= MOST_UNREADABLE
    }
}

/// The facts of a model's reply, and of the way in which it stopped.
pub(super) fn on_reply(
    job: &Job,
    of: &Conversation,
    reply: Reply,
    (cost_usd, standard_usd): (Option<f64>, Option<f64>),
    batch: Option<String>,
    prompt_sha256: String,
) -> Vec<Event> {
    let turn = job.totals.spent.turns + 1;
    // Calls get names of our own: providers leave them out, repeat them, or use letters that others refuse.
    let calls: Vec<PendingCall> = (1..)
        .zip(reply.calls)
        .map(|(place, call): (u32, ToolCall)| {
            sub_agent::as_understood(
                job,
                of,
                PendingCall::new(ToolCall {
                    id: if of.is_own() {
                        format!("call_{turn}_{place}")
                    } else {
                        format!("call_h{}_{}_{place}", of.number, of.turns + 1)
                    },
                    name: call.name,
                    arguments: readable(call.arguments),
                }),
            )
        })
        .collect();
    let (is_cut, withheld) = (reply.stop == Stop::Length, of.attempts.withheld + 1);
    let is_withheld = reply.stop == Stop::Refused && withheld >= MOST_WITHHELD;
    let said: Vec<ToolCall> = calls.iter().map(|call| call.said.clone()).collect();
    let mut events = vec![Event::Conversation(ConversationEvent::ModelReplied {
        conversation: of.number,
        turn,
        reply_tokens: reply_tokens(&reply.text, &said, reply.carried.as_deref()),
        prompt_tokens: measure::local_tokens(of),
        text: reply.text,
        calls,
        usage: reply.usage,
        cost_usd,
        standard_usd,
        batch,
        stop: reply.stop,
        model: reply.model,
        prompt_sha256,
        carried: reply.carried,
        tier: reply.tier.filter(|tier| *tier != job.answered.tier),
        mended: reply.mended,
    })];
    if is_cut {
        let text = answer!("skipped.reply_cut");
        events.extend(said.iter().map(|call| in_conversation(of, returned(call, CallEnd::Refused, &*text))));
    }
    // A sub-agent whose replies are withheld ends, and the job goes on.
    let is_withheld = is_withheld && of.is_own();
    events.extend(is_withheld.then(|| held(&HoldCause::RepliesWithheld { times: withheld })));
    events
}

/// The facts of a failed attempt after which the runner waits for `wait_ms`.
pub(super) fn attempt_failed(job: &Job, of: &Conversation, failure: Failure, wait_ms: u64) -> Vec<Event> {
    let remedy = failure.kind.remedy();
    if remedy == Remedy::GiveUp && of.is_own() {
        return job.end_unfinished(JobStatus::Failed, failure.reason);
    }
    let Failure { kind, status, reason, received, .. } = failure;
    let unreadable = if remedy == Remedy::AskAgain { of.attempts.unreadable + 1 } else { 0 };
    let told = match unreadable {
        0 | 1 => reason.clone(),
        times => format!("{reason} ({times} replies in a row that can't be read)"),
    };
    let mut events = vec![Event::Conversation(ConversationEvent::AttemptFailed {
        conversation: of.number,
        turn: job.totals.spent.turns + 1,
        attempt: of.attempts.failed + 1,
        kind,
        status,
        wait_ms,
        reason: told,
        received,
    })];
    let is_unreadable = unreadable >= MOST_UNREADABLE;
    if !of.is_own() {
        match remedy {
            Remedy::Compact if of.attempts.too_long >= MOST_TOO_LONG => {
                events.extend(sub_agent_end::end_sub_agent(job, of, SubAgentEnd::Full, &reason));
            }
            Remedy::Reopen | Remedy::GiveUp => {
                events.extend(sub_agent_end::end_sub_agent(job, of, SubAgentEnd::Failed, &reason));
            }
            Remedy::Configure => {
                events.push(Event::Life(LifeEvent::Held { reason: HoldReason::Paused, detail: reason }));
            }
            Remedy::AskAgain if is_unreadable => {
                events.extend(sub_agent_end::end_sub_agent(job, of, SubAgentEnd::Failed, &reason));
            }
            Remedy::Compact | Remedy::AskAgain | Remedy::Retry { .. } => {}
        }
        return events;
    }
    match remedy {
        Remedy::AskAgain if is_unreadable => {
            events.push(held(&HoldCause::RepliesUnreadable { times: unreadable, said: reason }));
        }
        Remedy::Retry { .. } | Remedy::AskAgain | Remedy::GiveUp => {}
        Remedy::Compact if of.attempts.too_long == 0 => events.push(shorter(job)),
        // Some servers say so now and then for no reason: the same prompt may be taken the next time.
        Remedy::Compact if of.attempts.too_long < MOST_TOO_LONG => {}
        Remedy::Compact => events.push(held(&HoldCause::PromptTooLong { said: reason })),
        Remedy::Reopen if of.epoch.has_reasoning() => {
            events.push(opening::event(job, EpochCause::HistoryRefused, None, counted_room(&job.spec, of)));
        }
        Remedy::Configure | Remedy::Reopen => {
            events.push(Event::Life(LifeEvent::Held { reason: HoldReason::Paused, detail: reason }));
        }
    }
    events
}

/// An epoch that makes the next prompt half as long, as far as an opening can: by the provider's count it is too
/// long, whatever was counted here.
fn shorter(job: &Job) -> Event {
    let room = counted_room(&job.spec, &job.own).min(job.own.epoch.tokens());
    opening::event(job, EpochCause::TooLong, None, room)
}

/// Estimated tokens of a reply in the history.
fn reply_tokens(text: &str, calls: &[ToolCall], carried: Option<&Value>) -> u64 {
    let of_call = |call: &ToolCall| FRAME + estimate(&call.name) + json_tokens(&call.arguments);
    FRAME + estimate(text) + calls.iter().map(of_call).sum::<u64>() + carried.map_or(0, json_tokens)
}

/// Tokens of a JSON value without writing it out.
fn json_tokens(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + estimate(text),
        Value::Array(items) => 1 + items.iter().map(json_tokens).sum::<u64>(),
        Value::Object(fields) => {
            1 + fields.iter().map(|(key, inner)| 1 + estimate(key) + json_tokens(inner)).sum::<u64>()
        }
    }
}
