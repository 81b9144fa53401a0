//! Spans of this process's work on a job, its phases, todos, turns and tool calls, named by OpenTelemetry's conventions for generative AI.
//!
//! A phase's span begins with the planning that led to the phase, as its costs do. A turn has one span per attempt. A
//! phase that one process began and another continues has a span in each; all are one trace, which is the job.

use super::span::{SpanExt, moment, short, span};
use crate::runner::RunReport;
use opentelemetry::{
    Array, Value,
    trace::{SpanId, SpanKind},
};
use opentelemetry_sdk::trace::SpanData;
use overnight_core::{
    job::{
        call::PendingCall,
        event::{CallEnd, ConversationEvent, Decision, Event, LifeEvent, PhaseEvent, ToolEvent},
        id::JobId,
        record::JobStatus,
        state::{Job, Phase, Spent},
        time::Timestamp,
        todo::Todo,
        todo_list::TodoList,
    },
    message::Stop,
};
use std::collections::BTreeMap;

/// The conventions' value for anything else.
const OTHER: &str = "_OTHER";

/// The unfinished spans, and the data for the next ones.
#[derive(Debug)]
pub struct JobSpans {
    id: JobId,
    /// The time when this process began to work on the job.
    begun: Timestamp,
    /// Spans so far.
    made: u64,
    provider: String,
    model: String,
    /// The job's usage before that.
    before: Spent,
    job: SpanData,
    phase: Option<SpanData>,
    todo: Option<(u32, SpanData)>,
    /// By conversation.
    turns: BTreeMap<u32, SpanData>,
    /// The turns whose calls are being run, by conversation.
    replied: BTreeMap<u32, SpanId>,
    /// The time of the last report.
    last: Timestamp,
    finished: Vec<SpanData>,
}

impl JobSpans {
    /// This process takes the job up at `now`, with a model of this name.
    pub fn begin(job: &Job, model: &str, now: Timestamp) -> Self {
        let (provider, model) = provider(model);
        let spec = &job.spec;
        let name = format!("invoke_agent {}", short(&spec.instructions.name));
        let mut work = span(spec.id, now, 0, SpanId::INVALID, name, now);
        work.text("gen_ai.operation.name", "invoke_agent");
        work.text("gen_ai.provider.name", &provider);
        work.text("gen_ai.request.model", &model);
        work.text("gen_ai.agent.name", &spec.instructions.name);
        work.text("gen_ai.conversation.id", &spec.id.to_string());
        work.text("overnight.job.id", &spec.id.to_string());
        work.count("overnight.job.documents", spec.documents.len() as u64);
        let mut spans = Self {
            id: spec.id,
            begun: now,
            made: 1,
            provider,
            model,
            before: job.totals.spent,
            job: work,
            phase: None,
            todo: None,
            turns: BTreeMap::new(),
            replied: BTreeMap::new(),
            last: now,
            finished: Vec::new(),
        };
        if job.ended().is_none() && job.is_phase_open() {
            spans.phase_begins(&job.phase, now);
            spans.follow_todo(job, now);
        }
        spans
    }

    /// The spans that `report` finishes. `job` is the state after it; `now` is called only if the report has no time.
    pub fn on(&mut self, job: &Job, report: &RunReport<'_>, now: impl FnOnce() -> Timestamp) -> Vec<SpanData> {
        match report {
            RunReport::Note(_) => {}
            RunReport::Calling(conversation) => self.on_calling(job, *conversation, now().max(self.last)),
            RunReport::Decided(decision) => self.on_decided(job, decision),
        }
        std::mem::take(&mut self.finished)
    }

    /// This process leaves the job. `is_broken`: not because the job came to rest.
    pub fn finish(mut self, job: &Job, is_broken: bool, now: Timestamp) -> Vec<SpanData> {
        let now = now.max(self.last);
        self.drop_turn(now);
        self.end_todo(&job.phase.todos, now);
        self.end_phase("unfinished", &job.phase, now);
        let (status, reason, _) = job.job_status();
        let mut work = self.job.clone();
        work.text("overnight.job.status", status.name());
        if let Some(reason) = reason {
            work.text("overnight.job.hold_reason", reason.name());
        }
        let (spent, before) = (&job.totals.spent, &self.before);
        work.count("overnight.turns", spent.turns.saturating_sub(before.turns));
        work.count("overnight.input_tokens", spent.usage.input.saturating_sub(before.usage.input));
        work.count("overnight.output_tokens", spent.usage.output.saturating_sub(before.usage.output));
        work.count("overnight.cached_tokens", spent.usage.cached.saturating_sub(before.usage.cached));
        if spent.unpriced == before.unpriced {
            work.set("overnight.cost_usd", (spent.cost_usd - before.cost_usd).max(0.0));
        }
        if is_broken {
            work.fail(OTHER);
        } else if status == JobStatus::Failed {
            work.fail(status.name());
        }
        self.end(work, now);
        self.finished
    }

    fn on_calling(&mut self, job: &Job, conversation: u32, now: Timestamp) {
        self.drop_turn_of(conversation, now);
        if self.phase.is_none() {
            self.phase = Some(self.open("phase", self.job.id(), now));
        }
        self.follow_todo(job, now);
        let failed = job.conversation(conversation).map_or(0, |one| one.attempts.failed);
        let turn = self.turn_begins(job.totals.spent.turns + 1, failed + 1, now);
        self.turns.insert(conversation, turn);
        self.last = now;
    }

    fn on_decided(&mut self, job: &Job, decision: &Decision) {
        let at = decision.at.max(self.last);
        for event in &decision.events {
            self.on_event(job, event, at);
        }
        self.last = at;
        self.follow_todo(job, at);
    }

    fn on_event(&mut self, job: &Job, event: &Event, at: Timestamp) {
        match event {
            Event::Conversation(ConversationEvent::ModelReplied {
                conversation,
                turn,
                calls,
                usage,
                cost_usd,
                stop,
                model,
                ..
            }) => {
                let mut span = self.turns.remove(conversation).unwrap_or_else(|| self.turn_begins(*turn, 1, self.last));
                span.text("gen_ai.response.model", model);
                span.count("gen_ai.usage.input_tokens", usage.input);
                span.count("gen_ai.usage.output_tokens", usage.output);
                span.count("gen_ai.usage.cache_read.input_tokens", usage.cached);
                span.count("overnight.cached_tokens", usage.cached);
                let reasons = Array::String(vec![finish_reason(*stop, calls).into()]);
                span.set("gen_ai.response.finish_reasons", Value::Array(reasons));
                if let Some(cost) = cost_usd {
                    span.set("overnight.cost_usd", *cost);
                }
                self.replied.insert(*conversation, span.id());
                self.end(span, at);
            }
            Event::Conversation(ConversationEvent::AttemptFailed {
                conversation,
                turn,
                attempt,
                kind,
                status,
                wait_ms,
                ..
            }) => {
                let mut span =
                    self.turns.remove(conversation).unwrap_or_else(|| self.turn_begins(*turn, *attempt, self.last));
                if let Some(status) = status {
                    span.count("http.response.status_code", (*status).into());
                }
                span.count("overnight.wait_ms", *wait_ms);
                span.fail(kind.name());
                self.end(span, at);
            }
            Event::Conversation(ConversationEvent::CallSubmitted { conversation, call, .. }) => {
                if let Some(mut span) = self.turns.remove(conversation) {
                    span.text("overnight.submitted_as", &call.handle);
                    self.end(span, at);
                }
            }
            Event::Tool(ToolEvent::ToolReturned { conversation, call, name, result, .. }) => {
                let parent = self.replied.get(conversation).copied();
                self.tool_returned(parent, call, name, result.end, at);
            }
            Event::Phase(PhaseEvent::TodoCompleted { id, unevidenced, .. }) => {
                let open = self.todo.take_if(|(open, _)| open == id).map(|(_, span)| span);
                let Some(todo) = job.phase.todos.all().iter().find(|todo| todo.id == *id) else { return };
                // One that is completed together with another has a span without length.
                let mut span = open.unwrap_or_else(|| self.todo_begins(todo, at));
                if *unevidenced {
                    span.set("overnight.todo.unevidenced", true);
                }
                span.text("overnight.todo.status", todo.status.name());
                self.end(span, at);
            }
            Event::Phase(PhaseEvent::PhaseEnded { why, .. }) => {
                self.drop_turn(at);
                let phase = job.past.last().map_or(&job.phase, |past| &past.phase);
                self.end_todo(&phase.todos, at);
                self.end_phase(why.outcome(), phase, at);
            }
            Event::Phase(PhaseEvent::PhaseStarted { .. }) => self.phase_begins(&job.phase, at),
            Event::Life(LifeEvent::JobEnded { ending }) if ending.status == JobStatus::Failed => {
                self.fail_turn(OTHER, at);
            }
            Event::Life(LifeEvent::Held { .. } | LifeEvent::JobEnded { .. }) => self.drop_turn(at),
            _ => {}
        }
    }

    /// A phase begins, or the phase whose planning has a span already gets its number.
    fn phase_begins(&mut self, phase: &Phase, at: Timestamp) {
        let mut span = match self.phase.take() {
            Some(span) => span,
            None => self.open("phase", self.job.id(), at),
        };
        span.name = format!("phase {}", phase.number).into();
        span.count("overnight.phase.number", phase.number.into());
        span.count("overnight.phase.attempt", phase.attempt.into());
        span.text("overnight.phase.kind", phase.kind.name());
        span.text("overnight.phase.title", &phase.title);
        self.phase = Some(span);
    }

    fn end_phase(&mut self, outcome: &str, phase: &Phase, at: Timestamp) {
        let Some(mut span) = self.phase.take() else { return };
        span.text("overnight.phase.outcome", outcome);
        // Usage by another process is included: it is the phase's, not the span's.
        if span.attributes.iter().any(|known| known.key.as_str() == "overnight.phase.number") {
            span.count("overnight.phase.turns", phase.spent.turns);
            if let Some(cost) = phase.spent.cost() {
                span.set("overnight.phase.cost_usd", cost);
            }
        }
        self.end(span, at);
    }

    /// Makes sure that the current todo has a span, and no other.
    fn follow_todo(&mut self, job: &Job, at: Timestamp) {
        let is_worked = job.ended().is_none() && job.is_executing() && job.is_phase_open();
        let current = if is_worked { job.phase.todos.current() } else { None };
        if self.todo.as_ref().map(|(id, _)| *id) == current.map(|todo| todo.id) {
            return;
        }
        self.end_todo(&job.phase.todos, at);
        let Some(todo) = current else { return };
        self.todo = Some((todo.id, self.todo_begins(todo, at)));
    }

    fn todo_begins(&mut self, todo: &Todo, at: Timestamp) -> SpanData {
        let mut span = self.open(&format!("todo {}", todo.id), self.phase_or_job(), at);
        span.count("overnight.todo.id", todo.id.into());
        span.text("overnight.todo.content", &todo.content);
        span
    }

    /// `todos` is the list that contains the todo.
    fn end_todo(&mut self, todos: &TodoList, at: Timestamp) {
        let Some((id, mut span)) = self.todo.take() else { return };
        if let Some(todo) = todos.all().iter().find(|todo| todo.id == id) {
            span.text("overnight.todo.status", todo.status.name());
        }
        self.end(span, at);
    }

    fn turn_begins(&mut self, turn: u64, attempt: u32, at: Timestamp) -> SpanData {
        let mut span = self.open(&format!("chat {}", short(&self.model)), self.todo_or_phase(), at);
        span.span_kind = match self.provider.as_str() {
            "offline" | "scripted" | "replay" => SpanKind::Internal,
            _ => SpanKind::Client,
        };
        span.text("gen_ai.operation.name", "chat");
        span.text("gen_ai.provider.name", &self.provider);
        span.text("gen_ai.request.model", &self.model);
        span.text("gen_ai.conversation.id", &self.id.to_string());
        span.count("overnight.turn", turn);
        span.count("overnight.attempt", attempt.into());
        span
    }

    /// A call that is no longer awaited: stopped, paused, cancelled, or given up.
    fn drop_turn(&mut self, at: Timestamp) {
        self.fail_turn("dropped", at);
    }

    fn drop_turn_of(&mut self, conversation: u32, at: Timestamp) {
        if let Some(mut span) = self.turns.remove(&conversation) {
            span.fail("dropped");
            self.end(span, at);
        }
    }

    fn fail_turn(&mut self, word: &str, at: Timestamp) {
        for (_, mut span) in std::mem::take(&mut self.turns) {
            span.fail(word);
            self.end(span, at);
        }
    }

    /// Calls are done one after the other: each begins when the one before it is over.
    fn tool_returned(&mut self, parent: Option<SpanId>, call: &str, name: &str, end: CallEnd, at: Timestamp) {
        let error = match end {
            CallEnd::Done => None,
            CallEnd::Failed => Some("failed"),
            CallEnd::Refused => Some("refused"),
            CallEnd::Interrupted => Some("interrupted"),
            // Nothing was done.
            CallEnd::Skipped => return,
        };
        let parent = parent.unwrap_or_else(|| self.todo_or_phase());
        let mut span = self.open(&format!("execute_tool {}", short(name)), parent, self.last);
        span.text("gen_ai.operation.name", "execute_tool");
        span.text("gen_ai.tool.name", name);
        span.text("gen_ai.tool.call.id", call);
        span.text("gen_ai.tool.type", "function");
        if let Some(word) = error {
            span.fail(word);
        }
        self.end(span, at);
    }

    fn todo_or_phase(&self) -> SpanId {
        self.todo.as_ref().map_or_else(|| self.phase_or_job(), |(_, span)| span.id())
    }

    fn phase_or_job(&self) -> SpanId {
        self.phase.as_ref().map_or(self.job.id(), SpanExt::id)
    }

    fn open(&mut self, name: &str, parent: SpanId, at: Timestamp) -> SpanData {
        self.made += 1;
        span(self.id, self.begun, self.made - 1, parent, name.to_owned(), at)
    }

    fn end(&mut self, mut span: SpanData, at: Timestamp) {
        span.end_time = moment(at).max(span.start_time);
        self.finished.push(span);
    }
}

/// Provider and model of `provider:model`, as the conventions name the provider.
fn provider(name: &str) -> (String, String) {
    let (provider, model) = name.split_once(':').unwrap_or((name, name));
    let provider = match provider {
        "gemini" => "gcp.gemini",
        other => other,
    };
    (provider.to_owned(), model.to_owned())
}

/// The reason why the model stopped, in the conventions' terms.
fn finish_reason(stop: Stop, calls: &[PendingCall]) -> &'static str {
    match stop {
        Stop::Done if calls.is_empty() => "stop",
        Stop::Done => "tool_calls",
        Stop::Length => "length",
        Stop::Refused => "content_filter",
    }
}
