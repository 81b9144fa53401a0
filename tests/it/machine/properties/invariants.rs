//! The invariants: what must hold after each decision, whatever led to it.

use overnight_core::{
    job::{
        event::{CallEnd, Decision, Event, PhaseKind, Why},
        instructions::Review,
        record::{HoldReason, JobStatus},
        state::{Job, PLANNING_READS, PLANNING_TRIES, Progress, Status},
        todo::{Todo, TodoStatus},
        todo_list::key,
    },
    prompt::{
        compact::{RESULT_TOKENS, local_tokens, tools_tokens},
        layers::share_of,
    },
    tokens::estimate,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// What the accountant remembers from decision to decision.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Calls without a result, in order: id and name.
    open_calls: VecDeque<(String, String)>,
    folders: BTreeSet<String>,
    /// Phase, attempt and id of each completed todo, with the todo as it was then.
    completed: BTreeMap<(u32, u32, u32), Todo>,
    /// Number, attempt and end of the last phase.
    last_phase: Option<(u32, u32, PhaseKind, Option<Why>)>,
    early: EarlyEnds,
    /// Layer 4 as it was at the job's or the phase's begin.
    layer4: String,
    reviewed: bool,
    approved: bool,
}

#[derive(Default)]
struct EarlyEnds {
    in_a_row: u32,
    in_all: u32,
    number: Option<u32>,
}

impl Ledger {
    pub(crate) fn book(&mut self, before: &Job, decision: &Decision, after: &Job) {
        if self.layer4.is_empty() {
            self.layer4.clone_from(&before.layer4);
        }
        assert!(before.ended().is_none(), "an end is an end, and this was decided after it: {:?}", decision.events);
        for event in &decision.events {
            self.calls(event);
            self.phases(event);
            Self::todos(before, event);
            self.ends(before, event);
        }
        let pending: Vec<&String> = after.calls.pending.iter().map(|call| &call.said.id).collect();
        let open: Vec<&String> = self.open_calls.iter().map(|(id, _)| id).collect();
        assert_eq!(pending, open, "every tool call gets exactly one result");
        todo_list(after);
        self.kept(before, after);
        planning(after);
        limits(before, decision);
        self.context(decision, after);
    }

    /// "Every tool call gets exactly one result, always", in the calls' order.
    fn calls(&mut self, event: &Event) {
        match event {
            Event::ModelReplied { calls, .. } => {
                assert!(self.open_calls.is_empty(), "the model is asked while calls wait: {:?}", self.open_calls);
                self.open_calls = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
                let ids: HashSet<&String> = calls.iter().map(|call| &call.id).collect();
                assert_eq!(ids.len(), calls.len(), "two calls of one name");
            }
            Event::ToolReturned { call, name, .. } => {
                let asked = self.open_calls.pop_front();
                assert_eq!(asked.as_ref(), Some(&(call.clone(), name.clone())), "a result without its call");
            }
            Event::ToolStarted { call, .. } => {
                assert_eq!(self.open_calls.front().map(|(id, _)| id), Some(call), "another call was begun");
            }
            Event::PhaseStarted { .. } | Event::PhaseEnded { .. } | Event::JobEnded { .. } => {
                assert!(self.open_calls.is_empty(), "no result for {:?} at {event:?}", self.open_calls);
            }
            _ => {}
        }
    }

    /// An archive is never overwritten; phases count up, an early end repeats its phase, and at most 3 in a
    /// row for one phase and 10 in a job are followed by another try.
    fn phases(&mut self, event: &Event) {
        match event {
            Event::PhaseStarted { number, attempt, kind, todos, .. } => {
                let expected = match &self.last_phase {
                    None => (1, 1),
                    Some((number, attempt, kind, Some(why))) if why.is_early_end() && *kind != PhaseKind::Bootstrap => {
                        (*number, attempt + 1)
                    }
                    Some((number, _, _, Some(_))) => (number + 1, 1),
                    Some((number, _, _, None)) => panic!("phase {number} has not ended yet"),
                };
                // The bootstrap stands in the job's first decision, which is not looked at.
                assert!((*number, *attempt) == expected || self.last_phase.is_none(), "phase {number}.{attempt}");
                assert!(self.early.in_a_row <= 3 && self.early.in_all <= 10, "re-planned too often");
                assert!(todos.iter().any(|todo| todo.status.is_open()), "a phase without work");
                self.last_phase = Some((*number, *attempt, *kind, None));
            }
            Event::PhaseEnded { why, folder } => {
                assert!(self.folders.insert(folder.clone()), "{folder} is archived twice");
                let (number, attempt, kind, _) = self.last_phase.take().unwrap_or((0, 1, PhaseKind::Bootstrap, None));
                assert!(folder.starts_with(&format!("phase-{number:02}-")), "{folder} for phase {number}");
                if why.is_early_end() {
                    let same = self.early.number == Some(number);
                    self.early.in_a_row = if same { self.early.in_a_row + 1 } else { 1 };
                    self.early.in_all += 1;
                    self.early.number = Some(number);
                } else {
                    self.early.in_a_row = 0;
                }
                self.last_phase = Some((number, attempt, kind, Some(why.clone())));
            }
            Event::FeedbackGiven { .. } => self.early = EarlyEnds::default(),
            _ => {}
        }
    }

    /// Only an open todo is completed, and only once; a list that replaces another keeps all that is in it.
    fn todos(before: &Job, event: &Event) {
        match event {
            Event::TodoCompleted { id, .. } => {
                let todo = before.phase.todos.all().iter().find(|todo| todo.id == *id).expect("no such todo");
                assert!(todo.status.is_open(), "todo {id} is {} and was completed", todo.status);
            }
            Event::TodosWritten { todos } => {
                for old in before.phase.todos.all() {
                    let new = todos.iter().find(|todo| todo.id == old.id);
                    let new = new.unwrap_or_else(|| panic!("todo {} '{}' was deleted", old.id, old.content));
                    assert!(old.status.is_open() || new.status == old.status, "todo {} was reopened", old.id);
                    assert!(
                        new.status != TodoStatus::Completed || old.status == TodoStatus::Completed,
                        "todo {} was completed by todo_write",
                        old.id
                    );
                }
            }
            _ => {}
        }
    }

    /// Completed todos stay as they were, in the running phase and in the ended ones; ended phases stay as they were.
    fn kept(&mut self, before: &Job, after: &Job) {
        assert_eq!(after.past[..before.past.len()], before.past[..], "a phase that ended was changed");
        let phases = after.past.last().map(|past| &past.phase).into_iter().chain([&after.phase]);
        for phase in phases {
            let mut found = 0;
            for todo in phase.todos.all().iter().filter(|todo| todo.status == TodoStatus::Completed) {
                let then = self.completed.entry((phase.number, phase.attempt, todo.id)).or_insert_with(|| todo.clone());
                assert_eq!(&Todo { order: then.order, ..todo.clone() }, then, "a completed todo was changed");
                found += 1;
            }
            let range = (phase.number, phase.attempt, 0)..=(phase.number, phase.attempt, u32::MAX);
            assert_eq!(found, self.completed.range(range).count(), "a completed todo was lost or reopened");
        }
    }

    /// Never is less than the contract called `completed`; an end owes nothing.
    fn ends(&mut self, before: &Job, event: &Event) {
        match event {
            Event::Held { reason: HoldReason::Review, .. } => {
                assert_eq!(before.spec.instructions.review, Review::Required);
                self.reviewed = true;
            }
            Event::FeedbackGiven { .. } => self.reviewed = false,
            Event::Approved => {
                assert!(self.reviewed);
                self.approved = true;
            }
            Event::JobEnded { ending } => match ending.status {
                JobStatus::Completed => {
                    assert!(!ending.checks.is_empty() && ending.checks.iter().all(|check| check.passed), "{ending:?}");
                    assert!(ending.checks.iter().any(|check| check.name == "coverage"));
                    assert_eq!(ending.deliverables.len(), before.spec.instructions.deliverables.len());
                    let sure = ending.completion.as_ref().map(|completion| completion.confidence);
                    assert!(sure >= Some(before.spec.instructions.confidence_floor), "{sure:?}");
                    assert!(self.approved || before.spec.instructions.review == Review::None, "nobody approved it");
                }
                JobStatus::Partial | JobStatus::Blocked | JobStatus::Failed | JobStatus::Cancelled => {
                    assert!(ending.reason.as_ref().is_some_and(|reason| !reason.is_empty()), "an end without a reason");
                }
                JobStatus::Queued | JobStatus::Running | JobStatus::Held => panic!("{} is no end", ending.status),
            },
            _ => {}
        }
    }

    /// The bounds of the context.
    fn context(&mut self, decision: &Decision, after: &Job) {
        let budget = after.spec.budget_tokens;
        let part = share_of(budget, 2_000);
        for event in &decision.events {
            match event {
                // "Each of the four is bounded at 2,000 tokens by construction" (in proportion to the window).
                Event::ContextCompacted { layer4 } => {
                    for (name, text) in parts(layer4.text()) {
                        assert!(estimate(text) <= part + 1, "{} tokens of {name}, {part} are allowed", estimate(text));
                    }
                    layer4.text().clone_into(&mut self.layer4);
                }
                // What is folded into layer 4 has a section of its own there, and takes nothing else away.
                Event::TurnsFolded { .. } => {
                    let earlier = after.layer4.strip_prefix(&self.layer4);
                    assert!(earlier.is_some(), "folding has cut layer 4:\n{}", after.layer4);
                    assert!(
                        earlier.is_none_or(|text| estimate(text) <= part + 16),
                        "the folded part is over its bound"
                    );
                }
                // "A tool result over 4,000 tokens goes to tool_results/ whole": none is larger, a page of a document included.
                Event::ToolReturned { name, result, .. } => {
                    let most = share_of(budget, RESULT_TOKENS) + 64;
                    let tokens = estimate(&result.text);
                    assert!(tokens <= most, "{name} gave {tokens} tokens, {most} are allowed");
                    assert!(result.end != CallEnd::Refused || result.saved.is_none(), "refused, and saved");
                }
                _ => {}
            }
        }
        let is_compaction = |event: &Event| {
            matches!(event, Event::ContextMasked { .. } | Event::TurnsFolded { .. } | Event::ContextCompacted { .. })
        };
        if decision.events.iter().any(is_compaction) {
            let (tokens, budget) = (local_tokens(after), local_budget(after));
            // "After any compaction the prompt is under 50 % of the budget": wherever the protected layers leave that room.
            assert!(tokens < budget, "{tokens} of {budget} tokens after a compaction");
            if is_roomy(after) {
                assert!(tokens * 2 < budget, "{tokens} of {budget} tokens after a compaction");
            }
        }
    }
}

/// The budget as it would be counted here, by the ratio that the last reply showed.
pub(crate) fn local_budget(job: &Job) -> u64 {
    let budget = job.spec.budget_tokens;
    job.totals.counted.map_or(budget, |(counted, local)| budget * local / counted)
}

/// Whether tools, system prompt, board and layer 4 at their largest fit into half of the budget.
pub(crate) fn is_roomy(job: &Job) -> bool {
    let (budget, local) = (job.spec.budget_tokens, local_budget(job));
    let standing = tools_tokens() + estimate(&job.spec.system_prompt) + share_of(budget, 2_000) * 5;
    (budget == 8_000 && local == budget) || standing + 2_500 < local / 2
}

/// One `in_progress` at most, and exactly one while there is work; no empty and no duplicate content.
fn todo_list(job: &Job) {
    let todos = job.phase.todos.all();
    let running = todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).count();
    let open = todos.iter().filter(|todo| todo.status.is_open()).count();
    match job.progress {
        Progress::Executing | Progress::Digesting => {
            assert_eq!(running, 1, "todos in progress while the phase is worked");
        }
        Progress::Archiving { .. }
        | Progress::Summarising { .. }
        | Progress::Examining { .. }
        | Progress::Planning(_)
        | Progress::Closing { .. } => assert_eq!(open, 0, "open todos of a phase that has ended"),
    }
    let mut contents = HashSet::new();
    let mut ids = HashSet::new();
    for todo in todos {
        assert!(ids.insert(todo.id), "two todos {}", todo.id);
        for text in [&todo.content, &todo.active_form] {
            assert!((1..=500).contains(&text.chars().count()) && !text.contains('\n'), "'{text}'");
        }
        if todo.status != TodoStatus::Cancelled {
            assert!(contents.insert(key(&todo.content)), "'{}' is twice in the list", todo.content);
        }
    }
    assert!(job.phase.kind != PhaseKind::Planned || job.phase.todos.counts().tasks() <= 22, "more than 22 tasks");
}

/// A planning step has 4 tries, and at most 10 reading turns besides.
fn planning(job: &Job) {
    if let Some(planning) = job.planning() {
        assert!(planning.tries <= PLANNING_TRIES, "{} tries", planning.tries);
        assert!(planning.reads <= PLANNING_READS, "{} reading turns", planning.reads);
        assert!(planning.refusals <= 2, "{} refusals of a todo list", planning.refusals);
    }
}

/// A job's limits hold it before the next model call, a phase's and a todo's re-plan it.
fn limits(before: &Job, decision: &Decision) {
    if !decision.events.iter().any(|event| matches!(event, Event::ModelReplied { .. })) {
        return;
    }
    let (limits, spent) = (&before.limits, &before.totals.spent);
    assert!(matches!(before.status, Status::Running));
    assert!(spent.turns < limits.turns, "{} turns", spent.turns);
    assert!(limits.tokens.is_none_or(|most| spent.tokens() < most));
    assert!(limits.cost_usd.is_none_or(|most| spent.cost_usd < most));
    assert!(limits.wall_clock_ms.is_none_or(|most| before.totals.worked_ms < most));
    if before.progress == Progress::Executing {
        assert!(before.phase.spent.turns < limits.turns_per_phase, "{} turns in the phase", before.phase.spent.turns);
        assert!(before.phase.effort.turns < limits.turns_per_todo, "{} turns on a todo", before.phase.effort.turns);
    }
}

/// The four parts of layer 4 by name.
fn parts(layer4: &str) -> Vec<(&'static str, &str)> {
    const HEADINGS: [&str; 4] = [
        "## The task (instructions.md)\n",
        "## The plan (main_plan.md)\n",
        "## The memory (workspace.md)\n",
        "## The past\n",
    ];
    let starts: Vec<usize> = HEADINGS.iter().map(|heading| layer4.find(heading).expect("a part of layer 4")).collect();
    HEADINGS
        .iter()
        .enumerate()
        .map(|(place, heading)| {
            let end = starts.get(place + 1).copied().unwrap_or(layer4.len());
            (*heading, layer4[starts[place] + heading.len()..end].trim_end())
        })
        .collect()
}
