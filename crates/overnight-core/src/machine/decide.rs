//! The table of the two loops: which effect is due next, and what its result means.
//!
//! `next` gives one effect for the outside world; `decide` turns its result into facts. Where nothing from outside is
//! needed (`Effect::Decide`), the facts come from `owed` alone.

use super::{
    control::{refusal, result_tokens, returned, unseen},
    effect::{Command, Effect, EffectResult},
    ending::held,
    planning,
};
use crate::{
    job::{
        call::{ControlCall, FileChange, ParsedCall, PendingCall, WorkCall, arguments::CompletionStatus},
        event::{CallEnd, EpochCause, Event, PlanningEnd, PreparedWrite, SavedFile, ToolResult, Why},
        helper::HELPERS_FOLDER,
        record::{HoldReason, JobStatus},
        state::{BOOTSTRAP_TURNS, CompletionRule, Job, MEMORY_FILE, PLAN_FILE, PLANNING_TRIES, Progress, Status},
        time::Timestamp,
    },
    prompt::{
        bounds,
        compact::{self, Compaction},
        todo_board,
        tools::ToolList,
    },
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
        // Whether the runner has a word to say is known before it is composed.
        if self.owed(self.last_at).is_some() || self.owes_word() {
            return Effect::Decide;
        }
        if let Some(helper) = &self.helper {
            return helper.calls.pending.front().map_or(Effect::Model, |call| self.effect_of_call(call));
        }
        match &self.progress {
            Progress::Archiving { folder, why, .. } => {
                return Effect::Archive { folder: folder.clone(), why: why.clone() };
            }
            Progress::Summarising { .. } => return Effect::Summary,
            Progress::Examining { .. } => return Effect::Examine,
            Progress::Closing { .. } => return Effect::Decide,
            Progress::Executing | Progress::Planning(_) | Progress::Digesting => {}
        }
        match self.calls.pending.front() {
            Some(call) => self.effect_of_call(call),
            None if self.owes_checks() => Effect::Check(None),
            None => Effect::Model,
        }
    }

    /// Whether the review begins: the model is shown how every check stands.
    fn owes_checks(&self) -> bool {
        self.is_review() && self.is_executing() && self.phase.checks.is_none() && self.calls.pending.is_empty()
    }

    fn effect_of_call(&self, PendingCall { said, call, .. }: &PendingCall) -> Effect {
        match call {
            ParsedCall::Work(WorkCall::Read(read)) => Effect::Read { call: said.clone(), read: read.clone() },
            ParsedCall::Work(WorkCall::GenerateWorkspaceSummary) => Effect::GenerateSummary,
            ParsedCall::Work(WorkCall::CheckDeliverables) => Effect::Check(None),
            ParsedCall::Work(WorkCall::Change(change)) => match &self.present_calls().prepared {
                None => Effect::Prepare(change.clone()),
                Some(prepared) => Effect::Change(change.clone(), prepared.clone()),
            },
            ParsedCall::Control(ControlCall::Verdict(given)) => Effect::FindQuotes(given.clone()),
            // A completion is checked.
            ParsedCall::Control(ControlCall::JobComplete { completion, .. }) => Effect::Check(Some(completion.clone())),
            ParsedCall::Control(_) | ParsedCall::Invalid { .. } => Effect::Decide,
        }
    }

    /// The facts that follow from the state alone, where some do; but for the word that comes before a model call.
    fn owed(&self, at: Timestamp) -> Option<Vec<Event>> {
        if let Some(helper) = &self.helper {
            return self.owed_by_helper(helper);
        }
        match &self.progress {
            Progress::Summarising { .. } => return self.replan_limit(),
            Progress::Closing { ending, approved } => return Some(vec![self.close(ending, *approved)]),
            Progress::Archiving { .. } | Progress::Examining { .. } => return None,
            // Nothing is asked where the plan is a moment old, or no phase is left.
            Progress::Planning(planning) if planning.why == Why::PhaseDone && self.is_planning_needless() => {
                return Some(planning::end(self, planning, PlanningEnd::Done, at));
            }
            Progress::Digesting if !self.calls.pending.is_empty() => {
                return Some(self.skipped(0, "not run: only the digest was asked for"));
            }
            Progress::Planning(_) | Progress::Executing | Progress::Digesting => {}
        }
        if let Some(call) = self.calls.pending.front() {
            return self.owed_to_call(call, at);
        }
        self.limit_reached().map(|cause| vec![held(&cause)]).or_else(|| self.forced_end(at))
    }

    /// Whether a model call is due that the runner's word comes before.
    fn owes_word(&self) -> bool {
        if let Some(helper) = &self.helper {
            return helper.calls.pending.is_empty() && !helper.epoch.is_complete();
        }
        let is_between_replies = match &self.progress {
            Progress::Planning(_) | Progress::Executing | Progress::Digesting => self.calls.pending.is_empty(),
            Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Closing { .. } => false,
        };
        is_between_replies && !self.owes_checks() && self.has_word()
    }

    fn is_planning_needless(&self) -> bool {
        self.is_bootstrap() || self.next_planned().is_none()
    }

    fn owed_to_call(&self, pending: &PendingCall, at: Timestamp) -> Option<Vec<Event>> {
        let PendingCall { said, call, .. } = pending;
        let refused = |text: &str| Some(vec![refusal(said, text)]);
        let skipped = |text: &str| Some(vec![returned(said, CallEnd::Skipped, text)]);
        if let Some(text) = self.refusal_after_unreadable(pending) {
            return refused(&text);
        }
        if let Some(events) = self.owed_while_planning(pending, at) {
            return Some(events);
        }
        match call {
            ParsedCall::Control(ControlCall::TodoComplete { .. }) if let Some(text) = self.completes_nothing() => {
                skipped(&text)
            }
            // Nothing is called done whose work is still to come.
            ParsedCall::Control(_) if let Some(name) = &self.calls.skipped => {
                let name = tokens::head(name, 20);
                skipped(&format!("not run: {name} before it in this reply was not run; call both again"))
            }
            ParsedCall::Control(ControlCall::JobComplete { status: CompletionStatus::Complete, .. })
                if let Some(sent_back) = self.calls.sent_back.first() =>
            {
                skipped(&unseen(sent_back))
            }
            // A job that ends takes nothing more.
            ParsedCall::Control(ControlCall::JobComplete { status: CompletionStatus::Complete, .. })
                if let Some(name) = self.changes_behind() =>
            {
                skipped(&format!("not run: {name} stands behind it in this reply; send job_complete as the last call"))
            }
            ParsedCall::Control(control) => self.control(said, control, at),
            ParsedCall::Invalid { reason } => refused(reason),
            ParsedCall::Work(WorkCall::Change(change))
                if change.plain_path().to_lowercase().starts_with(&format!("{HELPERS_FOLDER}/")) =>
            {
                refused("helpers/ holds what helpers have written; write results under output/")
            }
            ParsedCall::Work(_) if bounds::is_full(self) => {
                skipped("not run: the results of this reply fill the context already; call it again in the next reply")
            }
            ParsedCall::Work(_) => None,
        }
    }

    /// The first call behind the one that is due that changes a file.
    fn changes_behind(&self) -> Option<&str> {
        let mut behind = self.calls.pending.iter().skip(1);
        let change = behind.find(|pending| matches!(&pending.call, ParsedCall::Work(WorkCall::Change(_))));
        change.map(|pending| pending.said.name.as_str())
    }

    /// Why `todo_complete` completes nothing now, where the fault is not the model's: an outcome is for the todo that it saw.
    fn completes_nothing(&self) -> Option<String> {
        if self.is_bootstrap() {
            let text = "not run: the bootstrap ends when main_plan.md is saved with a plan that can be read";
            return Some(text.to_owned());
        }
        if self.calls.is_completion_refused {
            return Some("not run: a todo_complete before it in this reply was not taken".to_owned());
        }
        if let Some(sent_back) = self.calls.unseen_work() {
            return Some(unseen(sent_back));
        }
        let why = match self.calls.completions {
            CompletionRule::Run => return None,
            CompletionRule::AfterWork => "nothing of its first task was worked yet",
            CompletionRule::Skip => "its todos were not shown yet",
        };
        Some(format!("not run: the phase '{}' has just begun, and {why}", self.phase.title))
    }

    /// What becomes of a call while there is planning; none: it is run.
    fn owed_while_planning(&self, pending: &PendingCall, at: Timestamp) -> Option<Vec<Event>> {
        let Progress::Planning(planning) = &self.progress else { return None };
        let said = &pending.said;
        let skipped = |text: String| Some(vec![returned(said, CallEnd::Skipped, text)]);
        let owed = todo_board::owed(planning);
        // A helper does work.
        let call = match &pending.call {
            ParsedCall::Control(ControlCall::Delegate(_)) => &ParsedCall::Work(WorkCall::GenerateWorkspaceSummary),
            call => call,
        };
        match call {
            ParsedCall::Control(
                ControlCall::TodoComplete { .. } | ControlCall::TodoRewind { .. } | ControlCall::ArchiveAndReset { .. },
            ) => skipped(planning::completes_nothing(planning)),
            // Also behind a call that was skipped.
            ParsedCall::Control(ControlCall::TodoWrite(items)) => {
                Some(planning::set_todos(self, planning, said, items, at))
            }
            ParsedCall::Control(_) | ParsedCall::Invalid { .. } => None,
            ParsedCall::Work(WorkCall::Change(change)) if is_plan_or_memory(change) => None,
            ParsedCall::Work(_) if planning.is_refused_now => skipped(
                "not run: the plan or the todos before it were not taken; mend them, and call it again".to_owned(),
            ),
            ParsedCall::Work(_) if !planning.owes() => Some(planning::end(self, planning, PlanningEnd::Done, at)),
            ParsedCall::Work(_) if planning.is_last_try() => {
                Some(planning::end(self, planning, PlanningEnd::FellBack, at))
            }
            ParsedCall::Work(_) => {
                let first = owed.unwrap_or_default();
                skipped(format!("not run: the phase has ended; first {first}, then call it again"))
            }
        }
    }

    /// Nothing is changed behind a call that could not be read: the reply was written in the belief that it would be run.
    fn refusal_after_unreadable(&self, pending: &PendingCall) -> Option<String> {
        use crate::job::call::Family;
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

    /// Ends what can't go on by itself, once all calls of the reply have their results: planning, the bootstrap, stuck
    /// phases, and phases over their limits.
    fn forced_end(&self, at: Timestamp) -> Option<Vec<Event>> {
        match &self.progress {
            Progress::Planning(planning) if planning.asked == 0 => None,
            Progress::Planning(planning) if !planning.owes() && !planning.is_refused_now => {
                Some(planning::end(self, planning, PlanningEnd::Done, at))
            }
            Progress::Planning(planning) => {
                planning.is_last_try().then(|| planning::end(self, planning, PlanningEnd::FellBack, at))
            }
            Progress::Executing if self.is_bootstrap() => {
                let is_full = compact::owed(self) == Compaction::Due(EpochCause::Full);
                let is_over = self.phase.tries >= PLANNING_TRIES || self.phase.own_turns() >= BOOTSTRAP_TURNS;
                (is_full || is_over || self.phase.effort.stuck().is_some()).then(|| planning::plan_by_system(self))
            }
            Progress::Executing => {
                let (effort, limits) = (&self.phase.effort, &self.limits);
                let why = if self.is_review() && self.next_planned().is_some() {
                    Why::Reset { reason: "the plan has a new phase".to_owned() }
                } else if effort.turns >= limits.turns_per_todo {
                    Why::LimitReached { detail: format!("{} turns on one todo", effort.turns) }
                } else if self.phase.own_turns() >= limits.turns_per_phase {
                    Why::LimitReached { detail: format!("{} turns in one phase", self.phase.own_turns()) }
                } else {
                    Why::Stuck { detail: effort.stuck()? }
                };
                Some(self.end_phase(Vec::new(), why))
            }
            Progress::Digesting
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
            | EffectResult::Tool(..)
            | EffectResult::Archived { .. }
            | EffectResult::Summarised { .. }
            | EffectResult::Examined(_)
            | EffectResult::Written
            | EffectResult::Checked { .. }
            | EffectResult::QuotesFound(_) => self.is_running(),
        };
        if !is_heard {
            return Vec::new();
        }
        // A working tool bounds what it gives by itself.
        let is_of_tool = matches!(&result, EffectResult::Tool(..));
        let most = if is_of_tool { bounds::reply_tokens(&self.spec) } else { bounds::answer_tokens(&self.spec) };
        let mut events = self.facts(at, result);
        for event in &mut events {
            crate::machine::control::bound_result(event, most);
        }
        events
    }

    fn facts(&self, at: Timestamp, result: EffectResult) -> Vec<Event> {
        match result {
            EffectResult::Now => match self.owed(at) {
                Some(events) => events,
                None if self.owes_word() => vec![match &self.helper {
                    Some(helper) => self.word_to(helper),
                    None => self.word_of_the_runner(),
                }],
                None => Vec::new(),
            },
            EffectResult::Reply { reply, cost_usd, prompt_sha256 } => self.on_reply(reply, cost_usd, prompt_sha256),
            EffectResult::AttemptFailed { failure, wait_ms } => self.attempt_failed(failure, wait_ms),
            EffectResult::Prepared(prepared, saved) => self.on_prepared(prepared, saved.as_ref()),
            EffectResult::Tool(result, saved) => self.on_result(result, saved),
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
            EffectResult::QuotesFound(found) => self.on_quotes_found(&found),
            EffectResult::Checked { checks, states, deliverables, quotes, lists } => {
                let mut events = self.on_checked(checks, deliverables, quotes, lists.as_ref());
                // The first result is that of the call for which the checks were made.
                let mut results = events.iter_mut().filter(|event| matches!(event, Event::ToolReturned { .. }));
                if let Some(Event::ToolReturned { result, .. }) = results.next() {
                    result.checked = states;
                }
                events
            }
            EffectResult::Command(command) => self.on_command(at, command),
        }
    }

    /// A change is about to be made: a plan is checked first.
    fn on_prepared(&self, prepared: PreparedWrite, saved: Option<&SavedFile>) -> Vec<Event> {
        let Some(PendingCall { said: call, .. }) = self.present_calls().pending.front() else {
            return Vec::new();
        };
        if let Some(SavedFile::Plan { text }) = saved
            && let Err(fault) = self.check_plan(text)
        {
            let reason = format!("main_plan.md is not saved: {fault}");
            let mut events = vec![refusal(call, &*reason)];
            if self.planning().is_some() || fault.is_of_bounds() {
                events.push(Event::PlanningRefused { reason });
            }
            return events;
        }
        vec![Event::ToolStarted { conversation: self.conversation(), call: call.id.clone(), prepared }]
    }

    fn on_result(&self, mut result: ToolResult, saved: Option<SavedFile>) -> Vec<Event> {
        let Some(PendingCall { said: call, .. }) = self.present_calls().pending.front() else {
            return Vec::new();
        };
        let is_done = result.end == CallEnd::Done;
        self.refused.number(&mut result.refused);
        let mut facts = Vec::new();
        match saved.filter(|_| is_done) {
            Some(SavedFile::Plan { text }) => facts = self.on_plan_saved(&text, &mut result.text),
            Some(SavedFile::Memory { text }) => facts.push(Event::MemorySaved { text: text.into() }),
            None => {}
        }
        let tokens = result_tokens(&result.text);
        let mut events = vec![Event::ToolReturned {
            conversation: self.conversation(),
            call: call.id.clone(),
            name: call.name.clone(),
            result,
            tokens,
        }];
        events.extend(facts);
        events
    }

    /// The end from outside: no look at the deliverables, and no archive.
    pub(super) fn end_unfinished(&self, status: JobStatus, reason: String) -> Vec<Event> {
        let ending = self.unchecked(status, reason, self.open_todos());
        let mut events = self.unanswered();
        events.push(Event::JobEnded { ending: Box::new(ending) });
        events
    }

    fn on_command(&self, at: Timestamp, command: Command) -> Vec<Event> {
        match (command, &self.status) {
            (
                command @ (Command::Approve { .. }
                | Command::ApproveRecord { .. }
                | Command::Correct(_)
                | Command::CorrectionWritten { .. }
                | Command::Settle { .. }
                | Command::Feedback { .. }
                | Command::AddDocuments { .. }),
                _,
            ) => self.on_review(at, command),
            // A review is left by approval or feedback only, and an end is an end.
            (_, Status::Ended(_))
            | (Command::Hold { reason: HoldReason::Outage, .. }, Status::Held { .. })
            | (Command::Resume { .. }, Status::Held { reason: HoldReason::Review, .. }) => Vec::new(),
            (Command::Open { version, model, torn_bytes }, _) => {
                let tools_sha256 = ToolList::of(self.spec.instructions.tools_of_job()).sha256.clone();
                vec![Event::Opened { version, model, tools_sha256, torn_bytes }]
            }
            (Command::Edited { plan, memory }, _) => self.on_files_edited(plan, memory),
            (Command::ChangeTier { tier, .. }, _) if tier == self.answered.tier => Vec::new(),
            (Command::ChangeTier { tier, reason }, _) => vec![Event::TierChanged { tier, reason }],
            (Command::Choose { choice }, _) => vec![Event::ModelChosen { choice }],
            (Command::Hold { .. }, Status::Held { reason, .. }) if *reason != HoldReason::Outage => Vec::new(),
            (Command::Hold { reason, detail }, _) => vec![Event::Held { reason, detail }],
            (Command::Resume { limits }, _) => vec![Event::Resumed { limits }],
            (Command::Cancel, _) => self.end_unfinished(JobStatus::Cancelled, "cancelled by a person".to_owned()),
            (Command::Fail { reason }, _) => self.end_unfinished(JobStatus::Failed, reason),
        }
    }
}

/// Whether a change is one that planning waits for.
fn is_plan_or_memory(change: &FileChange) -> bool {
    [PLAN_FILE, MEMORY_FILE].contains(&change.plain_path().as_str())
}
