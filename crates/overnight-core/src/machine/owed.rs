//! The table of the two loops: which effects are due. If nothing from outside is needed (`Effect::Decide`), the facts
//! come from the state alone.

use super::{
    answers::{self, refusal, returned, unseen},
    control,
    effect::{Effect, EffectId, Owed},
    given_documents, next_prompt, part_reading,
    phase_end::{self, held},
    planning, scans, sub_agent,
};
use crate::{
    answer,
    job::{
        arguments::CompletionStatus,
        call::{ControlCall, FileChange, ParsedCall, PendingCall, WorkCall},
        conversation::{Conversation, SUB_AGENTS_FOLDER},
        event::{CallEnd, EpochCause, Event, PlanningEnd, Why},
        state::{BOOTSTRAP_TURNS, CompletionRule, Job, MEMORY_FILE, PLAN_FILE, PLANNING_TRIES, Progress},
        submitted_call::SubmittedCall,
        time::Timestamp,
    },
    prompt::{
        bounds,
        compact::{self, Compaction},
        todo_board,
    },
    tokens,
};

impl Job {
    /// All effects that may be performed now, each with its name; none while the job is held or has ended. Decisions
    /// from the state alone, and files that the machine wants on the disk, come first and alone; other effects on files
    /// come one by one. Submitted calls ([`Job::submitted`]) are not among them.
    pub fn owed(&self) -> Vec<Owed> {
        if !self.is_running() {
            return Vec::new();
        }
        let named = |conversation: &Conversation, effect| {
            let id = EffectId { conversation: conversation.number, number: conversation.facts };
            Owed { id, effect }
        };
        if let Some(write) = self.writes.front() {
            return vec![named(&self.own, Effect::Write(write.clone()))];
        }
        // Whether the runner has a message is known before it is composed.
        let decides = |one: &&Conversation| {
            one.submitted.is_none() && (self.facts_owed(one, self.last_at).is_some() || self.owes_word(one))
        };
        if let Some(one) = self.conversations().find(decides) {
            return vec![named(one, Effect::Decide)];
        }
        let mut is_idle = true;
        let mut fits = |effect: &Effect| *effect == Effect::Model || std::mem::take(&mut is_idle);
        // The conversation that waits longest is asked first: each gets its turn, in the same order after a crash.
        let mut at_work: Vec<&Conversation> = self.conversations().collect();
        at_work.sort_by_key(|one| one.last_fact);
        let due = at_work.into_iter().filter_map(|one| Some((one, self.effect_of(one)?)));
        due.filter(|(_, effect)| fits(effect)).map(|(one, effect)| named(one, effect)).collect()
    }

    /// The calls whose answers are to come, each with the name under which its outcome comes back.
    pub fn submitted(&self) -> impl Iterator<Item = (EffectId, &SubmittedCall)> {
        self.conversations().filter_map(|one| {
            let id = EffectId { conversation: one.number, number: one.facts };
            one.submitted.as_ref().map(|call| (id, call))
        })
    }

    /// Whether an outcome of that name still counts. It may be owed without being among the effects to perform now.
    pub fn is_owed(&self, id: EffectId) -> bool {
        self.is_running() && self.conversation(id.conversation).is_some_and(|one| one.facts == id.number)
    }

    /// Model calls that may be in flight at once.
    pub fn most_in_flight(&self) -> u64 {
        let asked = self.totals.spent.turns + self.submitted().count() as u64;
        self.limits.turns.saturating_sub(asked).min(self.spec.instructions.most_parallel().into())
    }

    /// The effect that a conversation needs from the outside world; `None` if it waits for others.
    fn effect_of(&self, conversation: &Conversation) -> Option<Effect> {
        if conversation.submitted.is_some() {
            return None;
        }
        if conversation.is_own() {
            if !self.sub_agents.is_empty() {
                return None;
            }
            if scans::owes_pages(self) {
                return Some(Effect::ReadPages);
            }
            if part_reading::owes_doubled(self) {
                return Some(Effect::FindDoubled);
            }
            match &self.progress {
                Progress::Archiving { folder, why, .. } => {
                    return Some(Effect::Archive { folder: folder.clone(), why: why.clone() });
                }
                Progress::Summarising { .. } => return Some(Effect::Summary),
                Progress::Examining { .. } => return Some(Effect::Examine),
                Progress::Closing { .. } => return None,
                Progress::Executing | Progress::Planning(_) | Progress::Digesting => {}
            }
        }
        Some(match conversation.calls.pending.front() {
            Some(call) => effect_of_call(conversation, call),
            None if conversation.is_own() && self.owes_checks() => Effect::Check(None),
            None => Effect::Model,
        })
    }

    /// Whether the review begins: the model is shown how every check stands.
    fn owes_checks(&self) -> bool {
        self.is_review() && self.is_executing() && self.phase.checks.is_none() && self.own.calls.pending.is_empty()
    }

    /// The facts that follow from the state alone, if any, except for the runner's message before a model call.
    pub(super) fn facts_owed(&self, conversation: &Conversation, at: Timestamp) -> Option<Vec<Event>> {
        if let Some(role) = &conversation.role {
            return sub_agent::owed_by_sub_agent(self, conversation, role);
        }
        if let Some(events) = part_reading::owed_to_readers(self) {
            return Some(events);
        }
        if !self.sub_agents.is_empty() {
            return self.due_call(conversation).and_then(|call| self.owed_to_call(call, at));
        }
        if let Some(events) = scans::owed_to_scans(self) {
            return Some(events);
        }
        if !scans::owes_pages(self)
            && let Some(events) = given_documents::owed_to_opening(self)
        {
            return Some(events);
        }
        match &self.progress {
            Progress::Summarising { .. } => return self.replan_limit(),
            Progress::Closing { ending, approved } => return Some(vec![self.close(ending, *approved)]),
            Progress::Archiving { .. } | Progress::Examining { .. } => return None,
            // The model is not asked if the plan is a moment old, or no phase is left.
            Progress::Planning(planning) if planning.why == Why::PhaseDone && self.is_planning_needless() => {
                return Some(planning::end(self, planning, PlanningEnd::Done, at));
            }
            Progress::Digesting if !self.own.calls.pending.is_empty() => {
                return Some(answers::skipped(&self.own, 0, &answer!("skipped.only_digest")));
            }
            Progress::Planning(_) | Progress::Executing | Progress::Digesting => {}
        }
        if let Some(call) = self.due_call(conversation) {
            return self.owed_to_call(call, at);
        }
        self.limit_reached().map(|cause| vec![held(&cause)]).or_else(|| self.forced_end(at))
    }

    /// Whether the runner's message before a model call is due.
    pub(super) fn owes_word(&self, conversation: &Conversation) -> bool {
        if !conversation.is_own() {
            return conversation.calls.pending.is_empty() && !conversation.epoch.is_complete();
        }
        let is_between_replies = match &self.progress {
            Progress::Planning(_) | Progress::Executing | Progress::Digesting => {
                self.own.calls.pending.is_empty() && self.sub_agents.is_empty()
            }
            Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Closing { .. } => false,
        };
        is_between_replies && !self.owes_checks() && !part_reading::owes_doubled(self) && next_prompt::has_word(self)
    }

    fn is_planning_needless(&self) -> bool {
        // The job's own model has nothing to remember from the readers' work.
        self.is_bootstrap() || self.is_part_reading() || self.next_planned().is_none()
    }

    fn owed_to_call(&self, pending: &PendingCall, at: Timestamp) -> Option<Vec<Event>> {
        let PendingCall { said, call, .. } = pending;
        let refused = |text: String| Some(vec![refusal(said, text)]);
        let skipped = |text: String| Some(vec![returned(said, CallEnd::Skipped, text)]);
        if let Some(text) = self.refusal_after_unreadable(pending) {
            return refused(text);
        }
        if let Some(events) = self.owed_while_planning(pending, at) {
            return Some(events);
        }
        match call {
            ParsedCall::Control(ControlCall::Delegate(_))
                if let Some(report) = self.own.calls.reports.get(&said.id) =>
            {
                Some(vec![super::sub_agent::reported(said, report)])
            }
            ParsedCall::Control(ControlCall::TodoComplete { .. }) if let Some(text) = self.completes_nothing() => {
                skipped(text)
            }
            // Nothing is called done while its work is still to come.
            ParsedCall::Control(_) if let Some(name) = &self.own.calls.skipped => {
                skipped(answer!("skipped.not_run_before", name = tokens::head(name, 20)))
            }
            ParsedCall::Control(ControlCall::JobComplete { status: CompletionStatus::Complete, .. })
                if let Some(sent_back) = self.own.calls.sent_back.first() =>
            {
                skipped(unseen(sent_back))
            }
            // A job that ends takes nothing more.
            ParsedCall::Control(ControlCall::JobComplete { status: CompletionStatus::Complete, .. })
                if let Some(name) = self.changes_behind() =>
            {
                skipped(answer!("skipped.job_complete_last", name))
            }
            ParsedCall::Control(control) => control::control(self, said, control, at),
            ParsedCall::Invalid { reason } => refused(reason.clone()),
            ParsedCall::Work(WorkCall::Change(change))
                if change.plain_path().to_lowercase().starts_with(&format!("{SUB_AGENTS_FOLDER}/")) =>
            {
                refused(answer!("refused.sub_agents_folder"))
            }
            ParsedCall::Work(call) if call.fills_the_context() && bounds::is_full(&self.spec, &self.own) => {
                skipped(answer!("skipped.context_full"))
            }
            ParsedCall::Work(_) => None,
        }
    }

    /// The first call after the due one that changes a file.
    fn changes_behind(&self) -> Option<&str> {
        let mut behind = self.own.calls.pending.iter().skip(1);
        let change = behind.find(|pending| matches!(&pending.call, ParsedCall::Work(WorkCall::Change(_))));
        change.map(|pending| pending.said.name.as_str())
    }

    /// Why `todo_complete` completes nothing now, without a fault of the model: an outcome is for the todo that it saw.
    fn completes_nothing(&self) -> Option<String> {
        if self.is_bootstrap() {
            return Some(answer!("skipped.bootstrap"));
        }
        if self.own.calls.is_completion_refused {
            return Some(answer!("skipped.completion_not_taken"));
        }
        if let Some(sent_back) = self.own.calls.unseen_work() {
            return Some(unseen(sent_back));
        }
        match self.own.calls.completions {
            CompletionRule::Run => None,
            CompletionRule::AfterWork => Some(answer!("skipped.phase_not_worked", title = self.phase.title)),
            CompletionRule::Skip => Some(answer!("skipped.phase_not_shown", title = self.phase.title)),
        }
    }

    /// The facts of a call during planning; `None` means that it is run.
    fn owed_while_planning(&self, pending: &PendingCall, at: Timestamp) -> Option<Vec<Event>> {
        let Progress::Planning(planning) = &self.progress else { return None };
        let said = &pending.said;
        let skipped = |text: String| Some(vec![returned(said, CallEnd::Skipped, text)]);
        // A sub-agent does work, like a working call.
        let call = match &pending.call {
            ParsedCall::Control(ControlCall::Delegate(_)) => &ParsedCall::Work(WorkCall::GenerateWorkspaceSummary),
            call => call,
        };
        match call {
            ParsedCall::Control(
                ControlCall::TodoComplete { .. } | ControlCall::TodoRewind { .. } | ControlCall::ArchiveAndReset { .. },
            ) => skipped(planning::completes_nothing(planning)),
            // It is accepted even after a call that was skipped.
            ParsedCall::Control(ControlCall::TodoWrite(items)) => {
                Some(planning::set_todos(self, planning, said, items, at))
            }
            ParsedCall::Control(_) | ParsedCall::Invalid { .. } => None,
            ParsedCall::Work(WorkCall::Change(change)) if is_plan_or_memory(change) => None,
            ParsedCall::Work(_) if planning.is_refused_now => skipped(answer!("skipped.plan_not_taken")),
            ParsedCall::Work(_) if !planning.owes() => Some(planning::end(self, planning, PlanningEnd::Done, at)),
            ParsedCall::Work(_) if planning.is_last_try() => {
                Some(planning::end(self, planning, PlanningEnd::FellBack, at))
            }
            ParsedCall::Work(_) => {
                skipped(answer!("skipped.phase_ended", owed = todo_board::owed(planning).unwrap_or_default()))
            }
        }
    }

    /// Refuses changes after a call that could not be read: the model replied in the belief that it would be run.
    fn refusal_after_unreadable(&self, pending: &PendingCall) -> Option<String> {
        use crate::job::tool::Family;
        let name = tokens::head(self.own.calls.unreadable.as_deref()?, 20);
        let changes = match (&pending.call, pending.family()?) {
            (_, Family::Control) | (ParsedCall::Work(_), Family::Writing) => pending.said.arguments.is_object(),
            // A call that can't be run reports that itself.
            (ParsedCall::Control(_) | ParsedCall::Invalid { .. }, Family::Writing) | (_, Family::Reading) => false,
        };
        changes.then(|| answer!("skipped.unreadable_before", name))
    }

    /// Ends work that can't continue by itself, once all calls of the reply have their results: planning, the
    /// bootstrap, stuck phases, and phases over their limits.
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
                (is_full || is_over || self.own.effort.stuck().is_some()).then(|| planning::plan_by_system(self))
            }
            Progress::Executing => {
                let (effort, limits) = (&self.own.effort, &self.limits);
                let why = if self.is_review() && self.next_planned().is_some() {
                    Why::Reset { reason: "the plan has a new phase".to_owned() }
                } else if effort.turns >= limits.turns_per_todo {
                    Why::LimitReached { detail: format!("{} turns on one todo", effort.turns) }
                } else if self.phase.own_turns() >= limits.turns_per_phase {
                    Why::LimitReached { detail: format!("{} turns in one phase", self.phase.own_turns()) }
                } else {
                    Why::Stuck { detail: effort.stuck()? }
                };
                Some(phase_end::end_phase(self, Vec::new(), why))
            }
            Progress::Digesting
            | Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Closing { .. } => None,
        }
    }
}

/// The effect that the first call of a conversation needs from the outside world.
fn effect_of_call(of: &Conversation, PendingCall { said, call, .. }: &PendingCall) -> Effect {
    match call {
        ParsedCall::Work(WorkCall::Read(read)) => Effect::Read { call: said.clone(), read: read.clone() },
        ParsedCall::Work(WorkCall::GenerateWorkspaceSummary) => Effect::GenerateSummary,
        ParsedCall::Work(WorkCall::CheckDeliverables) => Effect::Check(None),
        ParsedCall::Work(WorkCall::Change(change)) => match &of.calls.prepared {
            None => Effect::Prepare(change.clone()),
            Some(prepared) => Effect::Change(change.clone(), prepared.clone()),
        },
        ParsedCall::Control(ControlCall::Verdict(given)) => Effect::FindQuotes(given.clone()),
        // A completion is checked.
        ParsedCall::Control(ControlCall::JobComplete { completion, .. }) => Effect::Check(Some(completion.clone())),
        ParsedCall::Control(_) | ParsedCall::Invalid { .. } => Effect::Decide,
    }
}

/// Whether a change is one that planning waits for.
fn is_plan_or_memory(change: &FileChange) -> bool {
    [PLAN_FILE, MEMORY_FILE].contains(&change.plain_path().as_str())
}
