//! The state of a job, derived from its events, with progress as data inside the variants.

mod conversations;
mod judgements;

use super::{
    answered::Answered,
    contract::{Check, DeliverableState},
    conversation::Conversation,
    ending::Ending,
    event::{EpochCause, PhaseKind, Why},
    lessons::Lesson,
    limits::Limits,
    models::ModelChoice,
    part_reading::PartReading,
    plan::Plan,
    proof::Proof,
    record::HoldReason,
    refused_records::RefusedRecords,
    reviewed::Reviewed,
    scans::Scans,
    spec::JobSpec,
    time::Timestamp,
    todo::Todo,
    todo_list::TodoList,
};
pub use super::{
    reply_calls::{CompletionRule, ReplyCalls},
    spent::{Spent, Totals},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

/// One job. Only events change it (`apply`); what it owes is derived from it (`owed`).
#[derive(Clone, Debug)]
pub struct Job {
    /// The specification; only its documents may change.
    pub spec: Arc<JobSpec>,
    /// The limits, as instructed or as raised by `resume`.
    pub limits: Limits,
    /// The model, as the job began with it or as a person chose it later.
    pub choice: ModelChoice,
    /// The model that the process in charge opened the job with.
    pub opened_with: Option<String>,
    /// The models that answered, with their turns.
    pub answered: Answered,
    /// Whether the job runs, is held or has ended.
    pub status: Status,
    /// The hash of the list of tools that the model is given, by the program that last opened the job.
    pub tools_sha256: String,
    /// The step at which the job is, until it ends.
    pub progress: Progress,
    /// The current phase, or the last one while there is planning.
    pub phase: Phase,
    /// Phases that ended, oldest first.
    pub past: Vec<PastPhase>,
    /// The plan; `None` before the first one that could be read.
    pub plan: Option<Plan>,
    /// `workspace.md` as it was last saved or read.
    pub memory: Option<String>,
    /// `instructions.md` with all feedback.
    pub instructions: String,
    /// The feedback with which people sent the job back, oldest first.
    pub feedback: Vec<String>,
    /// Accomplishments in the model's own lines, oldest first.
    pub accomplishments: Vec<String>,
    /// Notes in the model's own lines, oldest first.
    pub notes: Vec<String>,
    /// Lessons that the model proposed for later jobs.
    pub lessons: Vec<Lesson>,
    /// The job's own conversation.
    pub own: Conversation,
    /// The conversations of sub-agents at work, by number.
    pub sub_agents: BTreeMap<u32, Conversation>,
    /// Facts of work so far.
    pub facts: u64,
    /// The number of sub-agents so far, which is the number of the last one.
    pub sub_agents_begun: u32,
    /// The reasons for which the next prompt may begin a new epoch.
    pub compaction: CompactionDue,
    /// Warnings since the last board, about plans or todos accepted outside their bounds.
    pub warnings: Vec<String>,
    /// Turns of sub-agents by the models that are named for them.
    pub turns_of_named: BTreeMap<String, u64>,
    /// Pages that must be read from their image.
    pub scans: Scans,
    /// The reading side by side; `None` before it begins, or if the job's own model reads.
    pub part_reading: Option<PartReading>,
    /// The results of second reader and verifier, and people's findings.
    pub proof: Proof,
    /// People's reviews of the result.
    pub reviewed: Reviewed,
    /// When the job ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// The state of each deliverable at its last check, by path.
    pub deliverables: BTreeMap<String, DeliverableState>,
    /// Records that were not written when they were added.
    pub refused: RefusedRecords,
    /// Turns, tokens, money and time of the whole job.
    pub totals: Totals,
    /// Files that the machine wants on the disk, oldest first.
    pub writes: VecDeque<FileWrite>,
    /// Early ends of phases; bounded, so that no job plans forever.
    pub early_ends: EarlyEnds,
    /// Refused completions; bounded, so that no review goes on forever.
    pub refusals: CompletionRefusals,
    /// The moment of the last decision.
    pub last_at: Timestamp,
}

/// Whether the job runs, is held or has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The job runs: something is owed.
    Running,
    /// The job waits until a person, a time or a server lets it continue.
    Held {
        /// The reason.
        reason: HoldReason,
        /// One sentence for a person.
        detail: String,
    },
    /// The job has ended.
    Ended(Box<Ending>),
}

/// The step at which the job is, in its two loops.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The todos of the phase are worked on.
    Executing,
    /// The phase has ended; its archive is to be built.
    Archiving {
        /// The folder's name under `archive/`.
        folder: String,
        /// Why the phase ended.
        why: Why,
        /// The ending that follows; `None` means that planning follows.
        ending: Option<Box<Ending>>,
    },
    /// `workspace_summary.md` is to be written.
    Summarising {
        /// Why the phase ended; `None` at the beginning of the job.
        why: Option<Why>,
    },
    /// Plan, memory, instructions and summary are to be read from the disk.
    Examining {
        /// Why the phase ended; `None` at the beginning of the job.
        why: Option<Why>,
    },
    /// The model plans, and nothing else is run until planning owes nothing.
    Planning(Planning),
    /// The todos exist; the model has been asked for the digest of the past (`context.summary: model`).
    Digesting,
    /// The end is decided and all is archived: the job ends, or is held for a person's review.
    Closing {
        /// The ending for `JobEnded`.
        ending: Box<Ending>,
        /// A person approved it.
        approved: bool,
    },
}

/// The steps that planning still owes, and the attempts so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Planning {
    /// Why there is planning.
    pub why: Why,
    /// `workspace.md` was not saved since the phase began.
    pub owes_memory: bool,
    /// The phase could not be worked as planned, and neither plan nor todos have been saved since.
    pub owes_plan: bool,
    /// Boards of planning that were answered.
    pub asked: u32,
    /// Plans and todos that were refused.
    pub refused: u32,
    /// Whether one of them was refused in the current reply.
    pub is_refused_now: bool,
    /// The next phase's todos, if the model has set them.
    pub todos: Option<Vec<Todo>>,
    /// The cost of planning since the last phase ended, which counts towards the phase that begins.
    pub spent: Spent,
}

impl Planning {
    /// Whether something is owed.
    pub fn owes(&self) -> bool {
        self.owes_memory || self.owes_plan
    }

    /// Whether the job goes on without what is owed, if this reply does not bring it.
    pub fn is_last_try(&self) -> bool {
        self.refused >= PLANNING_TRIES || (!self.is_refused_now && self.asked >= PLANNING_ASKED + self.refused)
    }
}

/// Planning boards after which the job continues without the steps that are owed.
pub const PLANNING_ASKED: u32 = 2;
/// The most refused plans and todos of one planning, and the most bootstrap replies without a plan or coverage.
pub const PLANNING_TRIES: u32 = 4;
/// Turns of the bootstrap.
pub const BOOTSTRAP_TURNS: u64 = 15;

/// The reasons to end the epoch before the next prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionDue {
    /// The cause for which it ends in any case.
    pub forced: Option<EpochCause>,
    /// Whether a phase has begun since the epoch was last looked at.
    pub phase_ended: bool,
    /// Whether a todo has ended since then.
    pub todo_ended: bool,
}

/// Refusals of `job_complete`: at most one counts for each turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletionRefusals {
    /// The number of counted refusals; three are allowed.
    pub counted: u32,
    /// The turn of the last refusal; 0 before the first.
    pub in_turn: u64,
}

/// A phase: the todos that belong together, and the work on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The number; 0 is the bootstrap.
    pub number: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The kind, which decides the meaning of its end.
    pub kind: PhaseKind,
    /// The title, from the plan or from the system.
    pub title: String,
    /// The phase's number in the plan, if it is in the plan.
    pub plan_phase: Option<u32>,
    /// The todos, as they are now.
    pub todos: TodoList,
    /// The time of the first `PhaseStarted` with its number and attempt.
    pub started: Timestamp,
    /// The cost, including the planning before it, and sub-agents.
    pub spent: Spent,
    /// The turns of sub-agents, which are part of this cost.
    pub sub_agent_turns: u64,
    /// Files that were written in this phase.
    pub files: BTreeSet<String>,
    /// Notes and accomplishments that were added in this phase.
    pub notes: Vec<String>,
    /// Whether the model has seen the plan as it is at the phase's beginning.
    pub is_oriented: bool,
    /// `workspace.md` was saved in this phase.
    pub is_memory_saved: bool,
    /// The number of bootstrap replies with neither a plan nor anything new from the documents.
    pub tries: u32,
    /// The number of plans and todos that were refused for their bounds; the next one is accepted.
    pub refused_for_bounds: u32,
    /// The contract's checks at the beginning of a review.
    pub checks: Option<Vec<Check>>,
}

/// A phase that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct PastPhase {
    /// The phase, as it was at its end.
    pub phase: Phase,
    /// Why it ended.
    pub why: Why,
    /// The folder's name under `archive/`.
    pub folder: String,
    /// When it ended.
    pub ended: Timestamp,
}

/// Ends of phases by rewind, stuck, limit or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyEnds {
    /// Ends of the same phase in a row.
    pub in_a_row: u32,
    /// All ends in the job.
    pub in_all: u32,
}

/// Early ends in a row that one phase may have.
pub(crate) const EARLY_ENDS_IN_A_ROW: u32 = 3;
/// Early ends that a job may have.
pub(crate) const EARLY_ENDS_IN_ALL: u32 = 10;

/// A file that the machine wants on the disk, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    /// Relative to the workspace.
    pub path: &'static str,
    /// The whole content.
    pub text: String,
}

/// The plan, which the model writes and the system marks.
pub const PLAN_FILE: &str = "main_plan.md";
/// The memory, which the model writes.
pub const MEMORY_FILE: &str = "workspace.md";
/// The task with all feedback.
pub const INSTRUCTIONS_FILE: &str = "instructions.md";
/// The state of the workspace, written before each planning.
pub const SUMMARY_FILE: &str = "workspace_summary.md";
/// Finished todos with their outcomes.
pub const PROGRESS_FILE: &str = "progress.md";
/// The board of the running phase.
pub const TODOS_FILE: &str = "todos.md";
/// Where each quote of the deliverables was found, a JSON object a line.
pub const QUOTES_FILE: &str = "quotes.jsonl";
/// The last todo of a review; only `job_complete` ends it.
pub const LAST_REVIEW_TODO: &str = "Call job_complete()";

impl Job {
    /// The number of values that a person should look at, by the last checks.
    pub fn doubts(&self) -> u64 {
        self.deliverables.values().map(|state| state.doubts).sum()
    }

    /// Whether the job is neither held nor ended.
    pub fn is_running(&self) -> bool {
        matches!(self.status, Status::Running)
    }

    /// Whether the job waits for a model server that is down.
    pub fn is_out(&self) -> bool {
        matches!(self.status, Status::Held { reason: HoldReason::Outage, .. })
    }

    /// The ending, once the job has ended.
    pub fn ended(&self) -> Option<&Ending> {
        if let Status::Ended(ending) = &self.status { Some(ending) } else { None }
    }

    /// The state of planning, if the job is planning.
    pub fn planning(&self) -> Option<&Planning> {
        if let Progress::Planning(planning) = &self.progress { Some(planning) } else { None }
    }

    /// How the job ended, or will end once all is archived and reviewed.
    pub fn decided_ending(&self) -> Option<&Ending> {
        if let Progress::Archiving { ending: Some(ending), .. } | Progress::Closing { ending, .. } = &self.progress {
            return Some(self.ended().unwrap_or(ending));
        }
        self.ended()
    }

    /// Whether this is the last phase, in which deliverables are verified and the job is completed.
    pub fn is_review(&self) -> bool {
        self.phase.kind == PhaseKind::Review
    }

    /// Whether this is the bootstrap, the phase that must bring the plan.
    pub fn is_bootstrap(&self) -> bool {
        self.phase.kind == PhaseKind::Bootstrap
    }

    /// Whether the job works on todos.
    pub fn is_executing(&self) -> bool {
        self.progress == Progress::Executing
    }

    /// The next planned phase: the first in the plan that isn't complete, unless it is the last and only a review,
    /// which the system's own review covers.
    pub fn next_planned(&self) -> Option<&super::plan::PlannedPhase> {
        Self::next_phase(self.plan.as_ref()?)
    }

    /// The next planned phase of the given plan.
    pub(crate) fn next_phase(plan: &Plan) -> Option<&super::plan::PlannedPhase> {
        let current = plan.current()?;
        let is_last = plan.phases().last().is_some_and(|last| last.number == current.number);
        (!(is_last && super::plan::is_final_review(&current.title))).then_some(current)
    }

    /// The open steps of the next planned phase: its todos, unless the model sets others.
    pub fn next_steps(&self) -> Vec<String> {
        let steps = self.next_planned().map_or(&[][..], |phase| &phase.steps);
        steps.iter().filter(|step| !step.done).map(|step| step.text.clone()).collect()
    }

    /// Phases in the plan, without a final review at its end.
    pub fn planned_count(&self) -> u32 {
        let phases = self.plan.as_ref().map_or(&[][..], Plan::phases);
        let reviews = phases.last().is_some_and(|last| super::plan::is_final_review(&last.title));
        u32::try_from(phases.len() - usize::from(reviews)).unwrap_or(u32::MAX)
    }

    /// Whether the current phase is still open: it is not among the past ones.
    pub fn is_phase_open(&self) -> bool {
        let number = (self.phase.number, self.phase.attempt);
        self.past.last().is_none_or(|past| (past.phase.number, past.phase.attempt) != number)
    }

    /// The number and attempt of the next phase: an early end repeats its phase, otherwise the next number follows.
    pub(crate) fn next_number(&self) -> (u32, u32) {
        match self.past.last() {
            Some(past) if past.why.is_early_end() && past.phase.kind != PhaseKind::Bootstrap => {
                (past.phase.number, past.phase.attempt + 1)
            }
            Some(past) => (past.phase.number + 1, 1),
            None => (0, 1),
        }
    }

    /// The fewest todos of the next phase: todos completed in its earlier attempts lower the minimum.
    pub(crate) fn fewest_todos(&self) -> u32 {
        let (number, attempt) = self.next_number();
        let done: usize = self
            .past
            .iter()
            .filter(|past| attempt > 1 && past.phase.number == number)
            .map(|past| past.phase.todos.counts().completed)
            .sum();
        self.spec.instructions.phase.min_todos.saturating_sub(u32::try_from(done).unwrap_or(u32::MAX)).max(1)
    }
}
