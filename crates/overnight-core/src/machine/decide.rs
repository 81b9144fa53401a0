//! The table of the two loops: which effect is due next, and what its result means.
//!
//! `next` gives one effect for the outside world; `decide` turns its result into facts. Where nothing from outside is
//! needed (`Effect::Decide`), the facts come from `owed` alone.

use super::{
    control::{refusal, returned},
    effect::{Command, Effect, EffectResult},
    ending::held,
    planning,
};
use crate::{
    job::{
        call::{ControlCall, Family, ParsedCall, PendingCall, WorkCall},
        ending::Ending,
        event::{CallEnd, Event, PlanStep, PreparedWrite, SavedFile, StepEnd, ToolResult, Why},
        record::{HoldReason, JobStatus},
        state::{Job, PLANNING_TRIES, Planning, Progress, Status},
        time::Timestamp,
    },
    message::{Reply, Stop, ToolCall, readable},
    prompt::{bounds, compact, layers, todo_board},
    tokens,
};

impl Job {
    /// The effect that is due now.
    pub fn next(&self) -> Effect {
        if !self.is_running() {
            return Effect::Nothing;
        }
        if let Some(write) = self.writes.front() {
            return Effect::Write(write.clone());
        }
        if self.owed(self.last_at).is_some() {
            return Effect::Decide;
        }
        if let Some(call) = self.calls.pending.front() {
            return self.effect_of_call(call);
        }
        match &self.progress {
            Progress::Executing | Progress::Planning(_) | Progress::Digesting => Effect::Model,
            Progress::Archiving { folder, why, .. } => Effect::Archive { folder: folder.clone(), why: why.clone() },
            Progress::Summarising { .. } => Effect::Summary,
            Progress::Examining { .. } => Effect::Examine,
            Progress::Closing { .. } => Effect::Decide,
        }
    }

    fn effect_of_call(&self, PendingCall { said, call, .. }: &PendingCall) -> Effect {
        match call {
            ParsedCall::Work(WorkCall::Read(read)) => Effect::Read { call: said.clone(), read: read.clone() },
            ParsedCall::Work(WorkCall::GenerateWorkspaceSummary) => Effect::GenerateSummary,
            ParsedCall::Work(WorkCall::Change(change)) => match &self.calls.prepared {
                None => Effect::Prepare(change.clone()),
                Some(prepared) => Effect::Change(change.clone(), prepared.clone()),
            },
            // The only control call that needs the outside is a completion to be checked.
            ParsedCall::Control(ControlCall::JobComplete { completion, .. }) => Effect::Check(completion.clone()),
            ParsedCall::Control(_) | ParsedCall::Invalid { .. } => Effect::Decide,
        }
    }

    /// The facts that follow from the state alone, where some do.
    fn owed(&self, at: Timestamp) -> Option<Vec<Event>> {
        match &self.progress {
            Progress::Summarising { .. } => return self.replan_limit(),
            Progress::Closing { ending, approved } => return Some(vec![self.close(ending, *approved)]),
            Progress::Archiving { .. } | Progress::Examining { .. } => return None,
            Progress::Planning(planning) if planning.step == PlanStep::CreateTodos && self.next_planned().is_none() => {
                return Some(planning::start_review(self, at));
            }
            Progress::Digesting if !self.calls.pending.is_empty() => {
                return Some(self.skipped(0, "not run: only the digest was asked for"));
            }
            Progress::Planning(_) | Progress::Executing | Progress::Digesting => {}
        }
        if let Some(call) = self.calls.pending.front() {
            return self.owed_to_call(call, at);
        }
        self.limit_reached()
            .map(|cause| vec![held(&cause)])
            .or_else(|| self.forced_phase_end(at))
            .or_else(|| compact::owed(self))
    }

    fn owed_to_call(&self, pending: &PendingCall, at: Timestamp) -> Option<Vec<Event>> {
        let PendingCall { said, tool, call } = pending;
        let refused = |text: &str| Some(vec![refusal(said, text)]);
        let skipped = |text: &str| Some(vec![returned(said, CallEnd::Skipped, text)]);
        if let Some(text) = self.refusal_after_unreadable(pending) {
            return refused(&text);
        }
        match call {
            // Nothing is called done whose work is still to come.
            ParsedCall::Control(_) | ParsedCall::Invalid { .. }
                if pending.family() == Some(Family::Control)
                    && let Some(name) = &self.calls.skipped =>
            {
                let name = tokens::head(name, 20);
                skipped(&format!("not run: {name} before it in this reply was not run; call both again"))
            }
            ParsedCall::Control(_) | ParsedCall::Invalid { .. }
                if let Some(text) = tool.and_then(|tool| self.belongs_to_work(tool)) =>
            {
                refused(&text)
            }
            ParsedCall::Control(control) => self.control(said, control, at),
            ParsedCall::Invalid { reason } => refused(reason),
            ParsedCall::Work(_) if compact::is_full(self) => {
                skipped("not run: the results of this reply fill the context already; call it again in the next reply")
            }
            ParsedCall::Work(_) => None,
        }
    }

    /// Nothing is changed behind a call that could not be read: the reply was written in the belief that it would be run.
    fn refusal_after_unreadable(&self, pending: &PendingCall) -> Option<String> {
        let name = tokens::head(self.calls.unreadable.as_deref()?, 20);
        let changes = match (&pending.call, pending.family()?) {
            (_, Family::Control) | (ParsedCall::Work(_), Family::Writing) => pending.said.arguments.is_object(),
            // What can't be run says so itself.
            (ParsedCall::Control(_) | ParsedCall::Invalid { .. }, Family::Writing) | (_, Family::Reading) => false,
        };
        changes.then(|| {
            format!(
                "not run: {name} before it in this reply could not be read; look at its result, and call both again"
            )
        })
    }

    /// Ends what can't go on by itself: planning without success, stuck phases, and phases over their limits.
    fn forced_phase_end(&self, at: Timestamp) -> Option<Vec<Event>> {
        match &self.progress {
            Progress::Planning(planning) if planning.tries >= PLANNING_TRIES => {
                Some(planning::fall_back(self, planning, at))
            }
            Progress::Executing => {
                let (effort, limits) = (&self.phase.effort, &self.limits);
                let why = if effort.turns >= limits.turns_per_todo {
                    Why::LimitReached { detail: format!("{} turns on one todo", effort.turns) }
                } else if self.phase.spent.turns >= limits.turns_per_phase {
                    Why::LimitReached { detail: format!("{} turns in one phase", self.phase.spent.turns) }
                } else {
                    Why::Stuck { detail: effort.stuck()? }
                };
                Some(self.end_phase(Vec::new(), why))
            }
            Progress::Planning(_)
            | Progress::Digesting
            | Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Closing { .. } => None,
        }
    }

    /// The facts that a result means. `at` is when it came. A job that is held or has ended has no effect due, so a result
    /// that comes late means nothing; only a command does.
    pub fn decide(&self, at: Timestamp, result: EffectResult) -> Vec<Event> {
        let is_heard = match &result {
            EffectResult::Command(_) => true,
            // A server that is down is asked now and then.
            EffectResult::AttemptFailed { .. } => self.is_running() || self.is_out(),
            EffectResult::Now
            | EffectResult::Reply { .. }
            | EffectResult::Prepared(..)
            | EffectResult::Tool(_)
            | EffectResult::Archived { .. }
            | EffectResult::Summarised { .. }
            | EffectResult::Examined(_)
            | EffectResult::Written
            | EffectResult::Checked { .. } => self.is_running(),
        };
        if !is_heard {
            return Vec::new();
        }
        // A working tool bounds what it gives by itself.
        let is_of_tool = matches!(&result, EffectResult::Tool(_));
        let most = if is_of_tool { bounds::reply_tokens(&self.spec) } else { self.max_result_tokens() };
        let mut events = self.facts(at, result);
        for event in &mut events {
            crate::machine::control::bound_result(event, most);
        }
        events
    }

    /// The most tokens of a control tool's answer.
    pub(super) fn max_result_tokens(&self) -> u64 {
        layers::share_of(self.spec.budget_tokens, compact::RESULT_TOKENS)
    }

    fn facts(&self, at: Timestamp, result: EffectResult) -> Vec<Event> {
        match result {
            EffectResult::Now => self.owed(at).unwrap_or_default(),
            EffectResult::Reply { reply, cost_usd, prompt_sha256 } => self.on_reply(reply, cost_usd, prompt_sha256),
            EffectResult::AttemptFailed { failure, wait_ms } => self.attempt_failed(failure, wait_ms),
            EffectResult::Prepared(prepared, saved) => self.on_prepared(prepared, saved.as_ref()),
            EffectResult::Tool(result) => self.on_result(result),
            EffectResult::Archived { manifest_sha256 } => {
                let Progress::Archiving { folder, .. } = &self.progress else { return Vec::new() };
                vec![Event::ArchiveStored { folder: folder.clone(), manifest_sha256 }]
            }
            EffectResult::Summarised { sha256 } => vec![Event::SummaryWritten { sha256 }],
            EffectResult::Examined(files) => self.on_files_examined(files),
            EffectResult::Written => self
                .writes
                .front()
                .map_or_else(Vec::new, |write| vec![Event::FileWritten { path: write.path.to_owned() }]),
            EffectResult::Checked { checks, deliverables, quotes } => self.on_checked(checks, deliverables, quotes),
            EffectResult::Command(command) => self.on_command(command),
        }
    }

    fn on_reply(&self, reply: Reply, cost_usd: Option<f64>, prompt_sha256: String) -> Vec<Event> {
        let turn = self.totals.spent.turns + 1;
        // Calls get names of our own: providers leave them out, repeat them, or use letters that others refuse.
        let calls: Vec<ToolCall> = (1..)
            .zip(reply.calls)
            .map(|(place, call): (u32, ToolCall)| ToolCall {
                id: format!("call_{turn}_{place}"),
                name: call.name,
                arguments: readable(call.arguments),
            })
            .collect();
        let is_cut = reply.stop == Stop::Length;
        let digest = reply.text.trim().to_owned();
        let mut events = vec![Event::ModelReplied {
            turn,
            text: reply.text,
            calls: calls.clone(),
            usage: reply.usage,
            cost_usd,
            stop: reply.stop,
            model: reply.model,
            prompt_sha256,
            carried: reply.carried,
            mended: reply.mended,
        }];
        if is_cut {
            let text = "not run: the reply was cut at the token limit; do less in one reply";
            events.extend(calls.iter().map(|call| returned(call, CallEnd::Refused, text)));
        }
        if self.progress == Progress::Digesting {
            if !is_cut {
                let text = "not run: only the digest was asked for";
                events.extend(calls.iter().map(|call| returned(call, CallEnd::Skipped, text)));
            }
            let digest = (!digest.is_empty()).then_some(digest.as_str());
            events.push(Event::ContextCompacted { layer4: layers::compacted(self, self.plan.as_ref(), digest) });
        }
        events
    }

    /// A change is about to be made: the plan is checked first, and so is the step.
    fn on_prepared(&self, prepared: PreparedWrite, saved: Option<&SavedFile>) -> Vec<Event> {
        let Some(PendingCall { said: call, .. }) = self.calls.pending.front() else {
            return Vec::new();
        };
        if let Some(SavedFile::Plan { text }) = saved {
            if let Some(Planning { step: PlanStep::UpdateMemory, .. }) = self.planning() {
                let text = format!(
                    "main_plan.md comes in the next step; this is update_memory (1 of 3): {}",
                    todo_board::expected(PlanStep::UpdateMemory)
                );
                return vec![refusal(call, text)];
            }
            if let Err(fault) = self.check_plan(text) {
                return vec![refusal(call, format!("main_plan.md is not saved: {fault}"))];
            }
        }
        vec![Event::ToolStarted { call: call.id.clone(), prepared }]
    }

    fn on_result(&self, mut result: ToolResult) -> Vec<Event> {
        let Some(PendingCall { said: call, .. }) = self.calls.pending.front() else {
            return Vec::new();
        };
        let normalised = match &result.saved {
            Some(SavedFile::Plan { text }) => self.read_plan(text).ok(),
            Some(SavedFile::Memory { .. }) | None => None,
        };
        if let Some(plan) = &normalised {
            use std::fmt::Write;
            let _ = write!(result.text, " It is understood as a plan with {} phases.", plan.phases().len());
        }
        let ended = match (&result.saved, self.planning().map(|planning| planning.step)) {
            (Some(SavedFile::Memory { .. }), Some(PlanStep::UpdateMemory)) => Some(PlanStep::UpdateMemory),
            (Some(SavedFile::Plan { .. }), Some(PlanStep::UpdatePlan)) => Some(PlanStep::UpdatePlan),
            (Some(SavedFile::Memory { .. } | SavedFile::Plan { .. }) | None, _) => None,
        };
        let is_changed = match (&result.saved, &normalised) {
            (Some(SavedFile::Plan { text }), Some(plan)) => plan.text() != text,
            (Some(SavedFile::Plan { .. } | SavedFile::Memory { .. }) | None, _) => false,
        };
        let mut events = vec![Event::ToolReturned { call: call.id.clone(), name: call.name.clone(), result }];
        if let Some(plan) = normalised.filter(|_| is_changed) {
            events
                .push(Event::PlanSet { text: plan.text().to_owned(), because: "put into the plan's form".to_owned() });
        }
        events.extend(ended.map(|step| Event::StepEnded { step, end: StepEnd::Saved }));
        events
    }

    /// The end from outside: no look at the deliverables, and no archive.
    pub(super) fn end_unfinished(&self, status: JobStatus, reason: String) -> Vec<Event> {
        let ending = Ending::unchecked(status, reason, self.open_todos());
        let mut events = self.unanswered();
        events.push(Event::JobEnded { ending: Box::new(ending) });
        events
    }

    fn on_command(&self, command: Command) -> Vec<Event> {
        match (command, &self.status) {
            // A review is left by approval or feedback only, and an end is an end.
            (_, Status::Ended(_))
            | (Command::Hold { reason: HoldReason::Outage, .. }, Status::Held { .. })
            | (Command::Resume { .. }, Status::Held { reason: HoldReason::Review, .. }) => Vec::new(),
            (Command::Open { version, model, torn_bytes }, _) => vec![Event::Opened { version, model, torn_bytes }],
            (Command::Choose { choice }, _) => vec![Event::ModelChosen { choice }],
            (Command::Hold { .. }, Status::Held { reason, .. }) if *reason != HoldReason::Outage => Vec::new(),
            (Command::Hold { reason, detail }, _) => vec![Event::Held { reason, detail }],
            (Command::Resume { limits }, _) => vec![Event::Resumed { limits }],
            (Command::Approve, Status::Held { reason: HoldReason::Review, .. }) => vec![Event::Approved],
            (Command::Feedback { text, instructions }, Status::Held { reason: HoldReason::Review, .. }) => {
                let number = u32::try_from(self.feedback.len()).unwrap_or(u32::MAX) + 1;
                vec![Event::FeedbackGiven { number, text, instructions }]
            }
            (Command::Approve | Command::Feedback { .. }, _) => Vec::new(),
            (Command::Cancel, _) => self.end_unfinished(JobStatus::Cancelled, "cancelled by a person".to_owned()),
            (Command::Fail { reason }, _) => self.end_unfinished(JobStatus::Failed, reason),
        }
    }
}
