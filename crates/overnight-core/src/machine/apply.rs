//! What a fact means for the state: the transition table. Nothing here decides; every line follows from its event alone.

use crate::{
    job::{
        call::Family,
        conversation::Conversation,
        coverage::Coverage,
        effort::Effort,
        event::{CallEnd, Decision, Event, ExaminedFiles, PhaseKind, PlanStep, SavedFile, ToolResult, Why},
        failure::Remedy,
        instructions::{FoldPolicy, SummaryBy},
        models::Answered,
        plan::Plan,
        spec::JobSpec,
        state::{
            Attempts, CompletionRefusals, EarlyEnds, FileWrite, INSTRUCTIONS_FILE, Job, PLAN_FILE, PLANNING_READS,
            PastPhase, Phase, Planning, Progress, ReplyCalls, Spent, Status, Totals,
        },
        time::Timestamp,
        todo_list::TodoList,
    },
    message::Usage,
    prompt::{compact, layers},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

impl Job {
    /// The job that its first decision describes; `None` if that decision does not begin a job.
    pub fn begin(first: &Decision) -> Option<Self> {
        let (created @ Event::JobCreated { spec, .. }, rest) = first.events.split_first()? else {
            return None;
        };
        let mut job = Self::new(Arc::new((**spec).clone()), first.at);
        job.answered.observe(created);
        for event in rest {
            job.apply(first.at, event);
        }
        Some(job)
    }

    fn new(spec: Arc<JobSpec>, at: Timestamp) -> Self {
        Self {
            limits: spec.instructions.limits,
            choice: spec.choice(),
            answered: Answered::default(),
            status: Status::Running,
            progress: Progress::Executing,
            phase: Phase::new(0, 1, PhaseKind::Bootstrap, "Bootstrap", None, TodoList::default(), at),
            past: Vec::new(),
            plan: None,
            memory: None,
            instructions: spec.instructions.task_text(),
            feedback: Vec::new(),
            accomplishments: Vec::new(),
            notes: Vec::new(),
            layer4: layers::at_the_start(&spec),
            conversation: Conversation::default(),
            coverage: Coverage::default(),
            deliverables: BTreeMap::new(),
            totals: Totals::default(),
            attempts: Attempts::default(),
            calls: ReplyCalls::default(),
            writes: VecDeque::new(),
            early_ends: EarlyEnds::default(),
            refusals: CompletionRefusals::default(),
            last_at: at,
            spec,
        }
    }

    /// Applies a whole decision.
    pub fn apply_all(&mut self, decision: &Decision) {
        for event in &decision.events {
            self.apply(decision.at, event);
        }
    }

    /// What `event` means for the state. `at` is the decision's time.
    pub fn apply(&mut self, at: Timestamp, event: &Event) {
        // What lies before an opening is not work: the process was down, or the job was held.
        if self.is_running() && !matches!(event, Event::Opened { .. }) {
            // No call takes longer than it may: more is a clock that was set, a machine that slept, a database away.
            let longest = self.limits.model_call_ms.saturating_add(self.limits.tool_call_ms);
            self.totals.worked_ms += at.millis_since(self.last_at).min(longest);
        }
        self.last_at = self.last_at.max(at);
        self.answered.observe(event);
        match event {
            Event::JobCreated { .. } | Event::TodosWarned { .. } => {}
            Event::Opened { .. } => self.attempts = Attempts::default(),
            Event::ModelChosen { choice } => self.choice = choice.clone(),
            Event::PhaseStarted { number, attempt, kind, title, plan_phase, todos } => {
                if *number != self.phase.number {
                    self.early_ends.in_a_row = 0;
                }
                let list = TodoList::new(todos.clone(), at);
                self.phase = Phase::new(*number, *attempt, *kind, title, *plan_phase, list, at);
                if let Progress::Planning(planning) = &self.progress {
                    self.phase.spent = planning.spent;
                }
                self.progress = match (self.spec.instructions.context.summary, kind) {
                    (SummaryBy::Model, PhaseKind::Planned) => Progress::Digesting,
                    (SummaryBy::Model, PhaseKind::Bootstrap | PhaseKind::Review) | (SummaryBy::Digest, _) => {
                        Progress::Executing
                    }
                };
            }
            Event::PhaseEnded { why, folder } => self.on_phase_ended(why, folder, at),
            Event::ArchiveStored { .. } => {
                if let Progress::Archiving { why, ending, .. } = &mut self.progress {
                    self.progress = match ending.take() {
                        Some(ending) => Progress::Closing { ending, approved: false },
                        None => Progress::Summarising { why: why.clone() },
                    };
                }
            }
            Event::SummaryWritten { .. } => {
                if let Progress::Summarising { why } = &self.progress {
                    self.progress = Progress::Examining { why: why.clone() };
                }
            }
            Event::FilesExamined { files } => self.on_examined(files),
            Event::PlanSet { text, .. } => {
                self.plan = self.plan_of(text);
                self.writes.push_back(FileWrite { path: PLAN_FILE, text: text.clone() });
            }
            Event::FileWritten { .. } => {
                self.writes.pop_front();
            }
            Event::StepEnded { step, .. } => self.on_step_ended(*step),
            Event::TodosRefused { .. } => {
                if let Progress::Planning(planning) = &mut self.progress {
                    planning.refusals += 1;
                }
            }
            Event::TodosWritten { todos } => {
                let before = self.phase.todos.current().map(|todo| todo.id);
                self.phase.todos = TodoList::new(todos.clone(), at);
                if self.phase.todos.current().map(|todo| todo.id) == before {
                    self.phase.effort.on_list_change();
                } else {
                    self.phase.effort.on_todo_change();
                }
            }
            Event::TodoCompleted { id, outcome, unevidenced } => {
                self.phase.todos.complete(*id, outcome.as_deref(), *unevidenced, at);
                self.phase.effort.on_todo_change();
                if self.spec.instructions.context.fold == FoldPolicy::Todo {
                    self.conversation.on_todo_finished();
                }
            }
            Event::TodoCompletionRefused { .. } => self.phase.effort.on_completion_refused(),
            Event::ContextMasked { calls } => self.conversation.mask(calls),
            Event::TurnsFolded { entries, digest } => {
                self.conversation.drop_oldest(*entries);
                self.layer4 = layers::with_folded_turns(&self.layer4, digest, self.spec.budget_tokens);
            }
            Event::ContextCompacted { layer4 } => {
                self.layer4.clone_from(layer4);
                self.conversation.clear();
                if self.progress == Progress::Digesting {
                    self.progress = Progress::Executing;
                    // The digest called no tool, as it was asked to; the work on the first todo begins now.
                    self.phase.effort.on_todo_change();
                }
            }
            Event::ModelReplied { text, calls, usage, cost_usd, carried, .. } => {
                self.attempts = Attempts::default();
                self.calls = ReplyCalls::of(calls);
                self.totals.counted = Some((usage.input, compact::local_tokens(self)));
                self.totals.spent.add(usage, *cost_usd);
                if let Progress::Planning(planning) = &mut self.progress {
                    let reads = self.calls.pending.iter().any(|call| call.family() == Some(Family::Reading));
                    planning.on_reply(usage, *cost_usd, reads);
                } else {
                    self.phase.spent.add(usage, *cost_usd);
                }
                for part in self.conversation.on_answered() {
                    if self.coverage.add(&part) {
                        self.phase.effort.on_change();
                    }
                }
                self.conversation.push_reply(text, calls, carried.as_ref());
                self.phase.effort.on_turn(calls.len());
            }
            Event::ToolStarted { prepared, .. } => self.calls.prepared = Some(prepared.clone()),
            Event::ToolReturned { result, .. } => self.on_tool_returned(result),
            Event::AccomplishmentAdded { text } => {
                self.accomplishments.push(text.clone());
                self.phase.notes.push(text.clone());
            }
            Event::NoteAdded { text } => {
                self.notes.push(text.clone());
                self.phase.notes.push(text.clone());
            }
            Event::CompletionRefused { .. } => {
                let turn = self.totals.spent.turns;
                if self.refusals.in_turn != turn {
                    self.refusals = CompletionRefusals { counted: self.refusals.counted + 1, in_turn: turn };
                }
            }
            // The phase's end follows in the same decision, and takes it along.
            Event::EndingDecided { ending } => {
                self.progress = Progress::Closing { ending: ending.clone(), approved: false };
            }
            Event::Held { reason, detail } => self.status = Status::Held { reason: *reason, detail: detail.clone() },
            Event::AttemptFailed { kind, .. } => {
                self.attempts.failed += 1;
                if kind.remedy() == Remedy::Compact {
                    self.attempts.too_long += 1;
                }
            }
            Event::Resumed { limits } => {
                self.attempts = Attempts::default();
                self.limits = *limits;
                self.status = Status::Running;
            }
            Event::FeedbackGiven { number, text, instructions } => {
                self.status = Status::Running;
                self.feedback.push(text.clone());
                self.instructions.clone_from(instructions);
                self.writes.push_back(FileWrite { path: INSTRUCTIONS_FILE, text: instructions.clone() });
                self.early_ends = EarlyEnds::default();
                self.refusals.counted = 0;
                self.progress = Progress::Summarising { why: Why::Feedback { number: *number, text: text.clone() } };
            }
            Event::Approved => {
                self.status = Status::Running;
                if let Progress::Closing { approved, .. } = &mut self.progress {
                    *approved = true;
                }
            }
            Event::JobEnded { ending } => {
                self.calls = ReplyCalls::default();
                self.writes.clear();
                self.status = Status::Ended(ending.clone());
            }
        }
    }

    fn on_phase_ended(&mut self, why: &Why, folder: &str, at: Timestamp) {
        self.phase.todos.abandon(match why {
            // A phase that is done has open todos only where `job_complete` ended it.
            Why::PhaseDone => "left open when the job ended",
            Why::Rewound { .. }
            | Why::Stuck { .. }
            | Why::LimitReached { .. }
            | Why::Reset { .. }
            | Why::Abandoned { .. }
            | Why::Feedback { .. } => "abandoned with the phase",
        });
        if why.is_early_end() {
            self.early_ends.in_a_row += 1;
            self.early_ends.in_all += 1;
        } else {
            self.early_ends.in_a_row = 0;
        }
        self.calls = ReplyCalls::default();
        self.past.push(PastPhase { phase: self.phase.clone(), why: why.clone(), folder: folder.to_owned(), ended: at });
        let ending = self.decided_ending().cloned().map(Box::new);
        self.progress = Progress::Archiving { folder: folder.to_owned(), why: why.clone(), ending };
    }

    fn on_examined(&mut self, files: &ExaminedFiles) {
        let Progress::Examining { why } = &self.progress else {
            return;
        };
        let why = why.clone();
        if let Some(plan) = files.plan.as_deref().and_then(|text| self.plan_of(text)) {
            self.plan = Some(plan);
        }
        self.memory.clone_from(&files.memory);
        self.instructions.clone_from(&files.instructions);
        // Planning is shown the plan as the system has marked it, not as it was a moment before.
        let mut shown = files.clone();
        if let Some((plan, _)) = self.marked(files) {
            shown.plan = Some(plan.text().to_owned());
            self.plan = Some(plan);
        }
        self.conversation.push_user(layers::examined(&shown, self.spec.budget_tokens));
        self.progress = Progress::Planning(Planning::new(why));
    }

    /// The plan that `text` says; nobody reads again what the plan's own text says already.
    fn plan_of(&self, text: &str) -> Option<Plan> {
        match &self.plan {
            Some(plan) if plan.text() == text => Some(plan.clone()),
            Some(_) | None => Plan::parse(text).ok(),
        }
    }

    fn on_step_ended(&mut self, step: PlanStep) {
        let Progress::Planning(planning) = &mut self.progress else {
            return;
        };
        planning.tries = 0;
        planning.reads = 0;
        planning.step = match step {
            PlanStep::UpdateMemory => PlanStep::UpdatePlan,
            PlanStep::UpdatePlan | PlanStep::CreateTodos => PlanStep::CreateTodos,
        };
    }

    fn on_tool_returned(&mut self, result: &ToolResult) {
        let Some(call) = self.calls.pending.pop_front() else {
            return;
        };
        let (said, family) = (&call.said, call.family());
        self.calls.prepared = None;
        self.conversation.push_result(said, call.tool, result);
        let effort = &mut self.phase.effort;
        match result.end {
            CallEnd::Done => {
                effort.on_readable();
                if family != Some(Family::Control) {
                    effort.on_worked();
                }
            }
            CallEnd::Failed => effort.on_failed(&said.name),
            CallEnd::Refused => {
                let is_unreadable = family != Some(Family::Control) && !said.arguments.is_object();
                if family.is_none() || is_unreadable {
                    self.calls.unreadable.get_or_insert_with(|| said.name.clone());
                }
                if !said.arguments.is_object() {
                    effort.on_malformed();
                }
            }
            CallEnd::Skipped => {
                self.calls.skipped.get_or_insert_with(|| said.name.clone());
            }
            CallEnd::Interrupted => {}
        }
        match result.end {
            CallEnd::Done | CallEnd::Failed | CallEnd::Refused => effort
                .on_call(self.totals.spent.turns, signature(&said.name, &said.arguments.to_string(), &result.text)),
            CallEnd::Skipped | CallEnd::Interrupted => {}
        }
        if let Some(changed) = &result.changed {
            self.phase.files.insert(changed.path.clone());
            self.phase.effort.on_change();
        }
        for state in &result.checked {
            self.deliverables.insert(state.path.clone(), state.clone());
        }
        match &result.saved {
            Some(SavedFile::Plan { text }) => self.plan = self.plan_of(text),
            Some(SavedFile::Memory { text }) => self.memory = Some(text.clone()),
            None => {}
        }
    }
}

/// Tells calls with the same result from others.
fn signature(name: &str, arguments: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, arguments, text).hash(&mut hasher);
    hasher.finish()
}

impl Planning {
    fn new(why: Why) -> Self {
        Self { step: PlanStep::UpdateMemory, why, tries: 0, reads: 0, refusals: 0, spent: Spent::default() }
    }

    fn on_reply(&mut self, usage: &Usage, cost_usd: Option<f64>, reads: bool) {
        self.spent.add(usage, cost_usd);
        if reads && self.reads < PLANNING_READS {
            self.reads += 1;
        } else {
            self.tries += 1;
        }
    }
}

impl Phase {
    pub(super) fn new(
        number: u32,
        attempt: u32,
        kind: PhaseKind,
        title: &str,
        plan_phase: Option<u32>,
        todos: TodoList,
        started: Timestamp,
    ) -> Self {
        Self {
            number,
            attempt,
            kind,
            title: title.to_owned(),
            plan_phase,
            todos,
            started,
            spent: Spent::default(),
            effort: Effort::default(),
            files: BTreeSet::new(),
            notes: Vec::new(),
        }
    }
}
