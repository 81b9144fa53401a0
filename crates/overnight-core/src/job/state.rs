//! What a job is: the state that the events say, with progress as data inside the variants.

use super::{
    attempts::Attempts,
    coverage::Coverage,
    effort::Effort,
    event::{Ending, PhaseKind, PlanStep, PreparedWrite, Why},
    limits::Limits,
    models::{Answered, ModelChoice},
    plan::Plan,
    record::HoldReason,
    spec::JobSpec,
    time::Timestamp,
    todo_list::TodoList,
};
use crate::prompt::{
    conversation::Conversation,
    message::{ToolCall, Usage},
};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

/// One job. Only events change it (`apply`); what it owes next is derived from it (`next`).
#[derive(Clone, Debug)]
pub struct Job {
    pub spec: Arc<JobSpec>,
    /// As instructed, raised by `resume`.
    pub limits: Limits,
    /// As it began, or as a person chose since.
    pub choice: ModelChoice,
    pub answered: Answered,
    pub status: Status,
    pub progress: Progress,
    /// The current phase, or the last one while there is planning.
    pub phase: Phase,
    /// Phases that ended, oldest first.
    pub past: Vec<PastPhase>,
    pub plan: Option<Plan>,
    pub memory: Option<String>,
    /// `instructions.md` with all feedback.
    pub instructions: String,
    pub feedback: Vec<String>,
    pub accomplishments: Vec<String>,
    pub notes: Vec<String>,
    /// Layer 4.
    pub layer4: String,
    /// Layer 5.
    pub conversation: Conversation,
    pub coverage: Coverage,
    pub totals: Totals,
    /// At the present turn.
    pub attempts: Attempts,
    /// A call of the present reply that could not be read: no such tool, or arguments that are no JSON object.
    pub not_run: Option<String>,
    /// A call of the present reply for whose result there was no room.
    pub skipped: Option<String>,
    /// Spent on planning since the last phase ended: it counts to the phase that begins.
    pub planned_with: Spent,
    /// Calls of the last reply that have no result yet; the first is being done.
    pub pending: VecDeque<ToolCall>,
    /// What the first pending call will do to its file.
    pub prepared: Option<PreparedWrite>,
    /// Files that the machine wants on the disk, oldest first.
    pub writes: VecDeque<FileWrite>,
    pub early_ends: EarlyEnds,
    /// Counted refusals of `job_complete`, and the turn of the last.
    pub refusals: u32,
    pub refused_in_turn: u64,
    /// A person approved the reviewed result.
    pub approved: bool,
    /// How it will end, once the phase is archived.
    pub ending: Option<Box<Ending>>,
    /// The moment of the last decision.
    pub last_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    Running,
    Held { reason: HoldReason, detail: String },
    Ended(Box<Ending>),
}

/// Where in the two loops the job is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The todos of the phase are worked.
    Executing,
    /// The phase has ended; its archive is to be built.
    Archiving {
        folder: String,
        why: Why,
    },
    /// `workspace_summary.md` is to be written.
    Summarising {
        why: Why,
    },
    /// Plan, memory, instructions and summary are to be read from the disk.
    Examining {
        why: Why,
    },
    Planning(Planning),
    /// The new todos exist; the model writes the digest of the past (`context.summary: model`).
    Digesting,
    /// All is archived; the job ends, or is held for a person's review.
    Closing,
}

/// A planning step and what is left of its tries.
#[derive(Clone, Debug, PartialEq)]
pub struct Planning {
    pub step: PlanStep,
    pub why: Why,
    /// Replies in this step that did not finish it: those that called no reading tool, and reading ones over their bound.
    pub tries: u32,
    /// Replies in this step that called a reading tool, up to their bound.
    pub reads: u32,
    /// Todo lists that were refused for their number.
    pub refusals: u32,
}

/// Tries of a planning step.
pub const PLANNING_TRIES: u32 = 4;
/// Reading turns of a planning step that cost no try.
pub const PLANNING_READS: u32 = 10;

#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    pub number: u32,
    /// From 1.
    pub attempt: u32,
    pub kind: PhaseKind,
    pub title: String,
    /// The phase's number in the plan, where it stands there.
    pub plan_phase: Option<u32>,
    pub todos: TodoList,
    pub started: Timestamp,
    pub spent: Spent,
    pub effort: Effort,
    /// Files that were written in this phase.
    pub files: BTreeSet<String>,
    /// Notes and accomplishments that were added in this phase.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PastPhase {
    pub phase: Phase,
    pub why: Why,
    pub folder: String,
    pub ended: Timestamp,
}

/// Turns, tokens and money of a phase or a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub turns: u64,
    pub usage: Usage,
    /// USD, of the turns whose price is known.
    pub cost_usd: f64,
    /// Turns of which no price is known.
    pub unpriced: u64,
}

impl Spent {
    pub fn add(&mut self, usage: &Usage, cost_usd: Option<f64>) {
        self.turns += 1;
        self.usage.input += usage.input;
        self.usage.output += usage.output;
        self.usage.cached += usage.cached;
        self.usage.cache_written += usage.cache_written;
        self.usage.reasoning += usage.reasoning;
        match cost_usd {
            Some(cost) => self.cost_usd += cost,
            None => self.unpriced += 1,
        }
    }

    /// USD, where the price of every turn is known.
    pub fn cost(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.cost_usd)
    }

    pub fn tokens(&self) -> u64 {
        self.usage.input + self.usage.output
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub spent: Spent,
    /// Milliseconds of work, holds not counted.
    pub worked_ms: u64,
    /// The provider's count of the last prompt, and the local estimate of the same prompt: their ratio corrects later estimates.
    pub counted: Option<(u64, u64)>,
}

/// Ends of phases by rewind, stuck, limit or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyEnds {
    pub in_a_row: u32,
    pub in_all: u32,
}

/// Early ends in a row that one phase may have.
pub const EARLY_ENDS_IN_A_ROW: u32 = 3;
/// Early ends that a job may have.
pub const EARLY_ENDS_IN_ALL: u32 = 10;

/// A file that the machine wants on the disk, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    pub path: &'static str,
    pub text: String,
}

pub const PLAN_FILE: &str = "main_plan.md";
pub const MEMORY_FILE: &str = "workspace.md";
pub const INSTRUCTIONS_FILE: &str = "instructions.md";
pub const SUMMARY_FILE: &str = "workspace_summary.md";
pub const PROGRESS_FILE: &str = "progress.md";
pub const TODOS_FILE: &str = "todos.md";
/// Where each quote of the deliverables was found, a JSON object a line.
pub const QUOTES_FILE: &str = "quotes.jsonl";
/// The last todo of a review; only `job_complete` ends it.
pub const LAST_REVIEW_TODO: &str = "Call job_complete()";

impl Job {
    pub fn is_running(&self) -> bool {
        match self.status {
            Status::Running => true,
            Status::Held { .. } | Status::Ended(_) => false,
        }
    }

    /// Whether the job waits for a model server that is down.
    pub fn is_out(&self) -> bool {
        match &self.status {
            Status::Held { reason, .. } => *reason == HoldReason::Outage,
            Status::Running | Status::Ended(_) => false,
        }
    }

    /// The ending, once the job has ended.
    pub fn ended(&self) -> Option<&Ending> {
        match &self.status {
            Status::Ended(ending) => Some(ending),
            Status::Running | Status::Held { .. } => None,
        }
    }

    pub fn planning(&self) -> Option<&Planning> {
        match &self.progress {
            Progress::Planning(planning) => Some(planning),
            Progress::Executing
            | Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Digesting
            | Progress::Closing => None,
        }
    }

    /// The last phase: deliverables are verified and the job is completed.
    pub fn is_review(&self) -> bool {
        self.phase.kind == PhaseKind::Review
    }

    pub fn is_executing(&self) -> bool {
        self.progress == Progress::Executing
    }

    /// The next planned phase: the first in the plan that isn't complete, unless it is the last and only reviews, which
    /// is what the system's own review is for.
    pub fn next_planned(&self) -> Option<&super::plan::PlannedPhase> {
        let plan = self.plan.as_ref()?;
        let current = plan.current()?;
        let is_last = plan.phases().last().is_some_and(|last| last.number == current.number);
        (!(is_last && super::plan::is_final_review(&current.title))).then_some(current)
    }

    /// Phases in the plan, without a final review at its end.
    pub fn planned_count(&self) -> u32 {
        let phases = self.plan.as_ref().map_or(&[][..], Plan::phases);
        let reviews = phases.last().is_some_and(|last| super::plan::is_final_review(&last.title));
        u32::try_from(phases.len() - usize::from(reviews)).unwrap_or(u32::MAX)
    }

    /// Phases that ended, the current one among them while it is archived and re-planned, and the running one.
    pub fn is_phase_open(&self) -> bool {
        self.past
            .last()
            .is_none_or(|past| (past.phase.number, past.phase.attempt) != (self.phase.number, self.phase.attempt))
    }
}
