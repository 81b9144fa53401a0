//! The effect of each fact on the state: the transition table. Nothing here decides; each line needs only its event.

use super::{apply_conversation, apply_result, part_reading, review, scans};
use crate::job::{
    answered::Answered,
    conversation::{Conversation, OWN},
    effort::Effort,
    event::{
        BoardKind, Decision, EpochCause, Event, ExaminedFiles, LifeEvent, PhaseEvent, PhaseKind, PlanEvent, ProofEvent,
        Why,
    },
    failure::Attempts,
    limits::Limits,
    part_reading::PartReading,
    plan::Plan,
    proof::{GivenVerdict, Proof, SecondReading},
    refused_records::RefusedRecords,
    reviewed::Reviewed,
    scans::Scans,
    spec::JobSpec,
    state::{
        CompactionDue, CompletionRefusals, CompletionRule, EarlyEnds, FileWrite, Job, PLAN_FILE, PastPhase, Phase,
        Planning, Progress, ReplyCalls, Spent, Status, Totals,
    },
    time::Timestamp,
    todo::Todo,
    todo_list::TodoList,
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

impl Job {
    /// The job that its first decision describes; `None` if that decision does not begin a job.
    pub fn begin(first: &Decision) -> Option<Self> {
        let (created @ Event::Life(LifeEvent::JobCreated { spec, tools_sha256, .. }), rest) =
            first.events.split_first()?
        else {
            return None;
        };
        let mut job = Self::new(Arc::new((**spec).clone()), tools_sha256.clone(), first.at);
        job.answered.observe(created);
        for event in rest {
            job.apply(first.at, event);
        }
        Some(job)
    }

    fn new(spec: Arc<JobSpec>, tools_sha256: String, at: Timestamp) -> Self {
        Self {
            limits: with_scans(spec.instructions.limits, &spec),
            choice: spec.choice(),
            opened_with: None,
            answered: Answered::default(),
            status: Status::Running,
            tools_sha256,
            progress: Progress::Executing,
            phase: Phase::new(0, 1, PhaseKind::Bootstrap, "Bootstrap", None, TodoList::default(), at),
            past: Vec::new(),
            plan: None,
            memory: None,
            instructions: spec.task_text(),
            feedback: Vec::new(),
            accomplishments: Vec::new(),
            notes: Vec::new(),
            lessons: Vec::new(),
            compaction: CompactionDue::default(),
            warnings: Vec::new(),
            own: Conversation::new(OWN, None, spec.tools_of_job(), &spec.system_prompt),
            sub_agents: BTreeMap::new(),
            facts: 0,
            sub_agents_begun: 0,
            turns_of_named: BTreeMap::new(),
            scans: Scans::default(),
            part_reading: None,
            proof: Proof::default(),
            reviewed: Reviewed::default(),
            ended_at: None,
            deliverables: BTreeMap::new(),
            refused: RefusedRecords::default(),
            totals: Totals::default(),
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

    /// Applies `event` to the state. `at` is the decision's time.
    pub fn apply(&mut self, at: Timestamp, event: &Event) {
        // Time before an opening is not work: the process was down, or the job held. Nor is waiting for an answer.
        if self.is_running() && !self.is_waiting() && !matches!(event, Event::Life(LifeEvent::Opened { .. })) {
            // No call may take longer: more is a clock that was set, a machine that slept, a database that was away.
            let longest = self.limits.model_call_ms.saturating_add(self.limits.tool_call_ms);
            self.totals.worked_ms += at.millis_since(self.last_at).min(longest);
        }
        self.last_at = self.last_at.max(at);
        self.answered.observe(event);
        let number = event.conversation();
        match event {
            Event::Life(event) => self.apply_life(at, event),
            Event::Phase(event) => self.apply_phase(at, event),
            Event::Plan(event) => self.apply_plan(event),
            Event::Conversation(event) => apply_conversation::apply_to_conversation(self, event),
            Event::Tool(event) => apply_result::apply_tool(self, event),
            Event::Proof(event) => self.apply_proof(at, event),
            Event::Person(event) => review::apply_review(self, at, event),
        }
        // A process that opens the job continues with the same effects.
        if matches!(event, Event::Life(LifeEvent::Opened { .. })) {
            return;
        }
        self.facts += 1;
        let facts = self.facts;
        if let Some(one) = self.conversation_mut(number) {
            one.facts += 1;
            one.last_fact = facts;
        }
    }

    fn apply_life(&mut self, at: Timestamp, event: &LifeEvent) {
        match event {
            LifeEvent::Opened { tools_sha256, model, .. } => {
                let before = self.opened_with.replace(model.clone());
                if before.is_some_and(|before| before != *model) {
                    self.compaction.forced = Some(EpochCause::ModelChanged);
                }
                self.own.attempts = Attempts::default();
                self.sub_agents.values_mut().for_each(|sub_agent| sub_agent.attempts = Attempts::default());
                if self.tools_sha256 != *tools_sha256 {
                    self.tools_sha256.clone_from(tools_sha256);
                    self.compaction.forced = Some(EpochCause::ToolsChanged);
                }
            }
            // The phase's end follows in the same decision, and takes over this ending.
            LifeEvent::EndingDecided { ending } => {
                self.progress = Progress::Closing { ending: ending.clone(), approved: false };
            }
            LifeEvent::Held { reason, detail } => {
                self.status = Status::Held { reason: *reason, detail: detail.clone() }
            }
            LifeEvent::Resumed { limits } => {
                self.own.attempts = Attempts::default();
                self.sub_agents.values_mut().for_each(|sub_agent| sub_agent.attempts = Attempts::default());
                self.limits = *limits;
                self.status = Status::Running;
            }
            LifeEvent::JobEnded { ending } => {
                self.own.calls = ReplyCalls::default();
                self.sub_agents.clear();
                self.writes.clear();
                self.status = Status::Ended(ending.clone());
                self.ended_at = Some(at);
            }
            // The field `answered` keeps track of the tier.
            LifeEvent::JobCreated { .. } | LifeEvent::TierChanged { .. } => {}
        }
    }

    fn apply_phase(&mut self, at: Timestamp, event: &PhaseEvent) {
        match event {
            PhaseEvent::PhaseStarted { number, attempt, kind, title, plan_phase, todos } => {
                if *number != self.phase.number {
                    self.early_ends.in_a_row = 0;
                }
                let list = TodoList::new(todos.clone(), at);
                self.own.calls.completions = match (kind, self.phase.kind, self.planning()) {
                    (PhaseKind::Planned, PhaseKind::Planned | PhaseKind::Review, Some(Planning { asked: 0, .. })) => {
                        CompletionRule::Skip
                    }
                    (PhaseKind::Planned, _, _) => CompletionRule::AfterWork,
                    (PhaseKind::Bootstrap | PhaseKind::Review, _, _) => CompletionRule::Run,
                };
                self.own.effort = Effort::default();
                self.phase = Phase::new(*number, *attempt, *kind, title, *plan_phase, list, at);
                self.phase.is_oriented = self.own.calls.completions != CompletionRule::Skip;
                if let Progress::Planning(planning) = &self.progress {
                    self.phase.spent = planning.spent;
                }
                self.progress = match kind {
                    // The system does the first todos itself.
                    PhaseKind::Bootstrap => Progress::Summarising { why: None },
                    PhaseKind::Planned | PhaseKind::Review => Progress::Executing,
                };
                self.compaction.phase_ended = true;
            }
            PhaseEvent::PhaseEnded { why, folder } => self.on_phase_ended(why, folder, at),
            PhaseEvent::ArchiveStored { .. } => {
                if let Progress::Archiving { why, ending, .. } = &mut self.progress {
                    self.progress = match ending.take() {
                        Some(ending) => Progress::Closing { ending, approved: false },
                        None => Progress::Summarising { why: Some(why.clone()) },
                    };
                }
            }
            PhaseEvent::SummaryWritten { .. } => {
                if let Progress::Summarising { why } = &self.progress {
                    self.progress = Progress::Examining { why: why.clone() };
                }
            }
            PhaseEvent::TodosWritten { todos } => self.on_todos_written(todos, at),
            PhaseEvent::TodoCompleted { id, outcome, unevidenced } => {
                self.phase.todos.complete(*id, outcome.as_deref(), *unevidenced, at);
                self.own.effort.on_todo_change();
                self.compaction.todo_ended = true;
            }
            PhaseEvent::TodoCompletionRefused { .. } => {
                self.own.effort.on_completion_refused();
                self.own.calls.is_completion_refused = true;
            }
            PhaseEvent::AccomplishmentAdded { text } => {
                self.accomplishments.push(text.clone());
                self.phase.notes.push(text.clone());
            }
            PhaseEvent::LessonProposed { lesson } => self.lessons.push(lesson.clone()),
            PhaseEvent::NoteAdded { text } => {
                self.notes.push(text.clone());
                self.phase.notes.push(text.clone());
            }
        }
    }

    fn apply_plan(&mut self, event: &PlanEvent) {
        match event {
            PlanEvent::FilesExamined { files } => self.on_examined(files),
            PlanEvent::PlanRead { text, phases } => self.plan = Some(Plan::stored(text.text(), phases)),
            PlanEvent::PlanSaved { text, phases } => {
                self.plan = Some(Plan::stored(text.text(), phases));
                if let Progress::Planning(planning) = &mut self.progress {
                    planning.owes_plan = false;
                }
            }
            PlanEvent::PlanSet { text, phases, .. } => {
                self.plan = Some(Plan::stored(text.text(), phases));
                self.writes.push_back(FileWrite { path: PLAN_FILE, text: text.text().to_owned() });
            }
            PlanEvent::MemorySaved { text } => {
                self.memory = Some(text.text().to_owned());
                self.phase.is_memory_saved = true;
                if let Progress::Planning(planning) = &mut self.progress {
                    planning.owes_memory = false;
                }
            }
            PlanEvent::FileWritten { path } if self.reviewed.unwritten.as_ref() == Some(path) => {
                self.reviewed.unwritten = None;
            }
            PlanEvent::FileWritten { .. } => {
                self.writes.pop_front();
            }
            PlanEvent::PlanningRefused { .. } => {
                if let Progress::Planning(planning) = &mut self.progress {
                    planning.refused += 1;
                    planning.is_refused_now = true;
                } else {
                    self.phase.refused_for_bounds += 1;
                }
            }
            PlanEvent::TodosWarned { warning } => self.warnings.push(warning.clone()),
            // The phase's beginning follows in the same decision.
            PlanEvent::PlanningEnded { .. } => {}
        }
    }

    fn apply_proof(&mut self, at: Timestamp, event: &ProofEvent) {
        match event {
            ProofEvent::PartReadingBegun { parts } => {
                self.part_reading = Some(PartReading::new(self.phase.number, parts));
            }
            ProofEvent::PartsRead { doubled } => part_reading::on_parts_read(self, doubled),
            ProofEvent::PagesRead { documents, pages } => scans::on_pages_read(self, documents, pages),
            ProofEvent::SecondReadingBegun { seed, units } => {
                self.proof.reading = Some(SecondReading::new(*seed, units.clone()));
            }
            ProofEvent::ListsCompared { comparison, findings } => {
                if let Some(reading) = &mut self.proof.reading {
                    reading.comparison = Some(comparison.clone());
                }
                self.proof.findings.extend(findings.iter().cloned());
            }
            ProofEvent::VerdictGiven { round, verdict, findings, .. } => {
                self.proof.verdicts.push(GivenVerdict { round: *round, verdict: *verdict });
                self.proof.findings.extend(findings.iter().cloned());
            }
            ProofEvent::FindingSettled { id, settlement, by } => self.proof.settle(id, settlement, by, at),
            ProofEvent::ChecksMade { checks } => self.phase.checks = Some(checks.clone()),
            ProofEvent::CompletionRefused { checks } => {
                self.phase.on_checks_failed(checks);
                let turn = self.totals.spent.turns;
                if self.refusals.in_turn != turn {
                    self.refusals = CompletionRefusals { counted: self.refusals.counted + 1, in_turn: turn };
                }
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
        self.past.push(PastPhase { phase: self.phase.clone(), why: why.clone(), folder: folder.to_owned(), ended: at });
        let ending = self.decided_ending().cloned().map(Box::new);
        self.progress = Progress::Archiving { folder: folder.to_owned(), why: why.clone(), ending };
    }

    fn on_examined(&mut self, files: &ExaminedFiles) {
        let Progress::Examining { why } = &self.progress else {
            return;
        };
        self.progress = match why.clone() {
            None => Progress::Executing,
            Some(why) => Progress::Planning(Planning {
                owes_memory: why == Why::PhaseDone
                    && self.phase.kind == PhaseKind::Planned
                    && !self.phase.is_memory_saved,
                owes_plan: why != Why::PhaseDone,
                asked: 0,
                refused: 0,
                is_refused_now: false,
                todos: None,
                spent: Spent::default(),
                why,
            }),
        };
        self.memory = files.memory.as_ref().map(|memory| memory.text().to_owned());
        files.instructions.text().clone_into(&mut self.instructions);
    }

    fn on_todos_written(&mut self, todos: &[Todo], at: Timestamp) {
        if let Progress::Planning(planning) = &mut self.progress {
            planning.owes_plan = false;
            planning.todos = Some(todos.to_vec());
            return;
        }
        let before = self.phase.todos.current().map(|todo| todo.id);
        self.phase.todos = TodoList::new(todos.to_vec(), at);
        if self.phase.todos.current().map(|todo| todo.id) == before {
            self.own.effort.on_list_change();
        } else {
            self.own.effort.on_todo_change();
        }
    }

    /// The runner's message was shown, so its warnings are not needed any more.
    pub(super) fn on_shown(&mut self, kind: BoardKind) {
        self.warnings.clear();
        self.phase.is_oriented = true;
        match (kind, &mut self.progress) {
            (BoardKind::Digest, progress) => *progress = Progress::Digesting,
            (_, progress @ Progress::Digesting) => {
                *progress = Progress::Executing;
                // The digest called no tool, as it was asked to; the work on the first todo begins now.
                self.own.effort.on_todo_change();
            }
            (BoardKind::Todos | BoardKind::Planning | BoardKind::SubAgent, _) => {}
        }
    }
}

impl Phase {
    /// Turns of the job's own conversation.
    pub(super) fn own_turns(&self) -> u64 {
        self.spent.turns - self.sub_agent_turns
    }

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
            sub_agent_turns: 0,
            files: BTreeSet::new(),
            notes: Vec::new(),
            is_oriented: true,
            is_memory_saved: false,
            tries: 0,
            refused_for_bounds: 0,
            checks: None,
        }
    }
}

/// Each reading of a scanned page is a turn in addition to those of the work.
fn with_scans(limits: Limits, spec: &JobSpec) -> Limits {
    let readings = spec.scans.len() * spec.instructions.page_readers(&spec.model).count();
    Limits { turns: limits.turns.saturating_add(readings as u64), ..limits }
}
