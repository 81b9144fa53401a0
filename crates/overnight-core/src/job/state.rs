//! What a job is: the state that the events say, with progress as data inside the variants.

mod conversations;
mod people;
mod proof_result;

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
    /// What was asked; it never changes.
    pub spec: Arc<JobSpec>,
    /// As instructed, raised by `resume`.
    pub limits: Limits,
    /// As it began, or as a person chose since.
    pub choice: ModelChoice,
    /// The model that the process in charge opened the job with.
    pub opened_with: Option<String>,
    /// Who answered how many turns.
    pub answered: Answered,
    /// Whether it goes on.
    pub status: Status,
    /// Of the list of tools that the model is told of, by the program that took the job up last.
    pub tools_sha256: String,
    /// Where it is, while it goes on.
    pub progress: Progress,
    /// The current phase, or the last one while there is planning.
    pub phase: Phase,
    /// Phases that ended, oldest first.
    pub past: Vec<PastPhase>,
    /// None before the first that could be read.
    pub plan: Option<Plan>,
    /// `workspace.md` as it was last saved or read.
    pub memory: Option<String>,
    /// `instructions.md` with all feedback.
    pub instructions: String,
    /// What people sent it back with, oldest first.
    pub feedback: Vec<String>,
    /// Lines of the model's own, oldest first.
    pub accomplishments: Vec<String>,
    /// The same.
    pub notes: Vec<String>,
    /// What the model proposed for later jobs.
    pub lessons: Vec<Lesson>,
    /// The job's own conversation.
    pub own: Conversation,
    /// Those of sub-agents at work, by number.
    pub sub_agents: BTreeMap<u32, Conversation>,
    /// Facts of work so far.
    pub facts: u64,
    /// Sub-agents so far: the number of the last.
    pub sub_agents_begun: u32,
    /// Why the next prompt may begin a new epoch.
    pub compaction: CompactionDue,
    /// What was taken although it is outside its bounds, since the last board.
    pub warnings: Vec<String>,
    /// Turns of sub-agents by the models that are named for them.
    pub turns_of_named: BTreeMap<String, u64>,
    /// Pages that only eyes can read.
    pub scans: Scans,
    /// The reading side by side; none before it begins, and where the job's own model reads.
    pub part_reading: Option<PartReading>,
    /// What second reader and verifier have found, and people.
    pub proof: Proof,
    /// What people said of the result.
    pub reviewed: Reviewed,
    /// When it ended, where it has.
    pub ended_at: Option<Timestamp>,
    /// By path, as they stood when they were checked last.
    pub deliverables: BTreeMap<String, DeliverableState>,
    /// Records that were not written when they were added.
    pub refused: RefusedRecords,
    /// Turns, tokens, money and time of the whole job.
    pub totals: Totals,
    /// Files that the machine wants on the disk, oldest first.
    pub writes: VecDeque<FileWrite>,
    /// Bounded, so that no job plans forever.
    pub early_ends: EarlyEnds,
    /// Bounded, so that no review goes on forever.
    pub refusals: CompletionRefusals,
    /// The moment of the last decision.
    pub last_at: Timestamp,
}

/// Whether anything is owed.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Something is owed.
    Running,
    /// Until a person, an hour or a server lets it go on.
    Held {
        /// The word for it.
        reason: HoldReason,
        /// One sentence for a person.
        detail: String,
    },
    /// For good.
    Ended(Box<Ending>),
}

/// Where in the two loops the job is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The todos of the phase are worked.
    Executing,
    /// The phase has ended; its archive is to be built.
    Archiving {
        /// Its name under `archive/`.
        folder: String,
        /// Why the phase ended.
        why: Why,
        /// How the job ends after it; none: it is planned on.
        ending: Option<Box<Ending>>,
    },
    /// `workspace_summary.md` is to be written.
    Summarising {
        /// Why the phase ended; none: the job begins.
        why: Option<Why>,
    },
    /// Plan, memory, instructions and summary are to be read from the disk.
    Examining {
        /// Why the phase ended; none: the job begins.
        why: Option<Why>,
    },
    /// The model plans, and nothing else is run until nothing is owed.
    Planning(Planning),
    /// The todos exist; the model has been asked for the digest of the past (`context.summary: model`).
    Digesting,
    /// The end is decided and all is archived: the job ends, or is held for a person's review.
    Closing {
        /// What `JobEnded` will say.
        ending: Box<Ending>,
        /// A person approved it.
        approved: bool,
    },
}

/// What planning still owes, and what has been tried.
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
    /// One of them in the present reply.
    pub is_refused_now: bool,
    /// The next phase's todos, where the model has set them.
    pub todos: Option<Vec<Todo>>,
    /// Spent on planning since the last phase ended: it counts to the phase that begins.
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

/// Boards of planning after which the job goes on without what is owed.
pub const PLANNING_ASKED: u32 = 2;
/// Plans and todos of one planning that are refused at most; replies of the bootstrap that bring neither a plan nor coverage.
pub const PLANNING_TRIES: u32 = 4;
/// Turns of the bootstrap.
pub const BOOTSTRAP_TURNS: u64 = 15;

/// What may end the epoch before the next prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionDue {
    /// It ends in any case.
    pub forced: Option<EpochCause>,
    /// A phase has begun since the epoch was last looked at.
    pub phase_ended: bool,
    /// So has a todo.
    pub todo_ended: bool,
}

/// Refusals of `job_complete`: one counts for each turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletionRefusals {
    /// Three are allowed.
    pub counted: u32,
    /// The turn of the last; 0 before the first.
    pub in_turn: u64,
}

/// The todos that are worked together, and what has been done about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// 0 is the bootstrap.
    pub number: u32,
    /// From 1.
    pub attempt: u32,
    /// What its end means.
    pub kind: PhaseKind,
    /// Of the plan, or the system's own.
    pub title: String,
    /// The phase's number in the plan, where it stands there.
    pub plan_phase: Option<u32>,
    /// As they are now.
    pub todos: TodoList,
    /// By the first `PhaseStarted` with its number and attempt.
    pub started: Timestamp,
    /// With the planning before it, and with sub-agents.
    pub spent: Spent,
    /// Of these turns, those of sub-agents.
    pub sub_agent_turns: u64,
    /// Files that were written in this phase.
    pub files: BTreeSet<String>,
    /// Notes and accomplishments that were added in this phase.
    pub notes: Vec<String>,
    /// The model has seen the plan as it is at the phase's beginning.
    pub is_oriented: bool,
    /// `workspace.md` was saved in this phase.
    pub is_memory_saved: bool,
    /// Replies that brought neither a plan nor anything new of the documents, of the bootstrap.
    pub tries: u32,
    /// Plans and todos that were refused for their bounds: the next is taken.
    pub refused_for_bounds: u32,
    /// The contract's checks at the beginning of a review.
    pub checks: Option<Vec<Check>>,
}

/// A phase that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct PastPhase {
    /// As it was at its end.
    pub phase: Phase,
    /// Why it ended.
    pub why: Why,
    /// Its name under `archive/`.
    pub folder: String,
    /// When it ended.
    pub ended: Timestamp,
}

/// Ends of phases by rewind, stuck, limit or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyEnds {
    /// Of the same phase.
    pub in_a_row: u32,
    /// Of the job.
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
    /// Values of deliverables that a person should look at, as they stood when they were checked last.
    pub fn doubts(&self) -> u64 {
        self.deliverables.values().map(|state| state.doubts).sum()
    }

    /// Neither held nor ended.
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

    /// What planning owes, where it is at it.
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

    /// The last phase: deliverables are verified and the job is completed.
    pub fn is_review(&self) -> bool {
        self.phase.kind == PhaseKind::Review
    }

    /// Whether the phase is one that the plan has to come from.
    pub fn is_bootstrap(&self) -> bool {
        self.phase.kind == PhaseKind::Bootstrap
    }

    /// Whether todos are worked.
    pub fn is_executing(&self) -> bool {
        self.progress == Progress::Executing
    }

    /// The next planned phase: the first in the plan that isn't complete, unless it is the last and only reviews, which
    /// is what the system's own review is for.
    pub fn next_planned(&self) -> Option<&super::plan::PlannedPhase> {
        Self::next_phase(self.plan.as_ref()?)
    }

    /// The same of another plan.
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

    /// Whether the current phase is still worked: its end is not among the past ones.
    pub fn is_phase_open(&self) -> bool {
        let number = (self.phase.number, self.phase.attempt);
        self.past.last().is_none_or(|past| (past.phase.number, past.phase.attempt) != number)
    }

    /// The number and attempt of the phase that begins next: an early end repeats its phase, all else goes on.
    pub(crate) fn next_number(&self) -> (u32, u32) {
        match self.past.last() {
            Some(past) if past.why.is_early_end() && past.phase.kind != PhaseKind::Bootstrap => {
                (past.phase.number, past.phase.attempt + 1)
            }
            Some(past) => (past.phase.number + 1, 1),
            None => (0, 1),
        }
    }

    /// The fewest todos of the next phase: what earlier attempts of it completed lowers the minimum.
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
