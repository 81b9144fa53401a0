//! The control tools: what the machine itself decides when the model calls one. Each gives the facts, the call's result
//! among them.

use super::{
    event::{CallEnd, Completion, Ending, Event, PhaseKind, PlanStep, StepEnd, ToolResult, Why},
    planning,
    record::JobStatus,
    state::{Job, LAST_REVIEW_TODO, Progress},
    time::Timestamp,
    todo_list::{MOST_TODOS, clean_note},
};
use crate::prompt::{
    message::ToolCall,
    todo_board,
    tokens::{estimate, head, tail},
    tools::{
        CompletionStatus, JobComplete, ReasonArgument, TextArgument, TodoComplete, TodoListArguments, TodoRewind,
        TodoWrite, Tool, arguments,
    },
};

impl Job {
    /// What a call of a control tool means. `None`: it needs an answer from outside first (the contract's checks).
    pub(super) fn control(&self, tool: Tool, call: &ToolCall, at: Timestamp) -> Option<Vec<Event>> {
        let refused = |reason: String| Some(vec![refusal(call, reason)]);
        match tool {
            Tool::TodoList => Some(vec![match arguments::<TodoListArguments>(tool, &call.arguments) {
                Ok(wanted) => {
                    match todo_board::listing(&self.phase.todos, wanted.status.as_deref(), self.max_result_tokens()) {
                        Ok(listing) => returned(call, CallEnd::Done, listing),
                        Err(reason) => returned(call, CallEnd::Refused, reason),
                    }
                }
                Err(reason) => returned(call, CallEnd::Refused, reason),
            }]),
            Tool::AddAccomplishment | Tool::AddNote => match arguments::<TextArgument>(tool, &call.arguments) {
                Ok(TextArgument { text }) if !clean_note(&text).is_empty() => {
                    let text = clean_note(&text);
                    let event = if tool == Tool::AddNote {
                        Event::NoteAdded { text }
                    } else {
                        Event::AccomplishmentAdded { text }
                    };
                    Some(vec![returned(call, CallEnd::Done, "Added."), event])
                }
                Ok(_) => refused("text is empty; say in one line what to add".to_owned()),
                Err(reason) => refused(reason),
            },
            Tool::JobComplete => match arguments::<JobComplete>(tool, &call.arguments) {
                Ok(wanted) => self.job_complete(call, wanted),
                Err(reason) => refused(reason),
            },
            Tool::TodoWrite => Some(match arguments::<TodoWrite>(tool, &call.arguments) {
                Ok(wanted) => self.todo_write(call, &wanted, at),
                Err(reason) => vec![refusal(call, reason)],
            }),
            Tool::NoChange => Some(match arguments::<ReasonArgument>(tool, &call.arguments) {
                Ok(wanted) => self.no_change(call, &wanted.reason),
                Err(reason) => vec![refusal(call, reason)],
            }),
            Tool::TodoComplete => match (self.is_executing(), arguments::<TodoComplete>(tool, &call.arguments)) {
                (false, _) => refused(self.wrong_step(tool)),
                (true, Err(reason)) => refused(reason),
                (true, Ok(wanted)) => Some(self.todo_complete(call, wanted.outcome.as_deref())),
            },
            Tool::TodoRewind => match (self.is_executing(), arguments::<TodoRewind>(tool, &call.arguments)) {
                (false, _) => refused(self.wrong_step(tool)),
                (true, Err(reason)) => refused(reason),
                (true, Ok(wanted)) => {
                    let issue = clean_note(&wanted.issue);
                    if issue.is_empty() {
                        return refused("issue is empty; say what makes the phase impossible as planned".to_owned());
                    }
                    let text = "The phase is archived with the issue; the plan will be reconsidered.";
                    Some(self.end_phase(vec![returned(call, CallEnd::Done, text)], Why::Rewound { issue }))
                }
            },
            Tool::ArchiveAndReset => match (self.is_executing(), arguments::<ReasonArgument>(tool, &call.arguments)) {
                (false, _) => refused(self.wrong_step(tool)),
                (true, Err(reason)) => refused(reason),
                (true, Ok(wanted)) => {
                    let why = Why::Reset { reason: clean_note(&wanted.reason) };
                    Some(self.end_phase(
                        vec![returned(call, CallEnd::Done, "The phase is archived; planning begins anew.")],
                        why,
                    ))
                }
            },
            Tool::ReadFile
            | Tool::WriteFile
            | Tool::AppendFile
            | Tool::EditFile
            | Tool::ListFiles
            | Tool::SearchFiles
            | Tool::ListDocuments
            | Tool::ReadDocument
            | Tool::GenerateWorkspaceSummary => None,
        }
    }

    /// What a tool says that was called at the wrong step.
    pub(super) fn wrong_step(&self, tool: Tool) -> String {
        match &self.progress {
            Progress::Planning(planning) => format!(
                "{} does not belong to the step {} ({} of 3); {}",
                tool.name(),
                planning.step,
                planning.step.place(),
                planning::expected(planning.step)
            ),
            Progress::Executing
            | Progress::Archiving { .. }
            | Progress::Summarising { .. }
            | Progress::Examining { .. }
            | Progress::Digesting
            | Progress::Closing => {
                let current = self.phase.todos.current();
                let task = current.map_or(0, |todo| self.phase.todos.number_of(todo.id));
                format!(
                    "{} belongs to planning, and the phase is being worked; go on with task {task}, or call todo_complete()",
                    tool.name()
                )
            }
        }
    }

    fn todo_complete(&self, call: &ToolCall, outcome: Option<&str>) -> Vec<Event> {
        let Some(todo) = self.phase.todos.current() else {
            return vec![refusal(call, "no task is open".to_owned())];
        };
        let number = self.phase.todos.number_of(todo.id);
        if self.phase.kind == PhaseKind::Review && todo.content == LAST_REVIEW_TODO {
            let text =
                "only job_complete() ends the review: call it with summary, deliverables and confidence".to_owned();
            return vec![refusal(call, text)];
        }
        let effort = &self.phase.effort;
        let objection = match effort.untold_failure() {
            Some(tool) => Some(format!("{tool} failed: look at its result first, then go on with task {number}")),
            None if !effort.worked && !effort.evidence_asked => Some(format!(
                "no tool was called for task {number} '{}': do the work first, or call todo_complete() again if nothing is left to do",
                todo.content
            )),
            None => None,
        };
        if let Some(reason) = objection {
            return vec![refusal(call, reason.clone()), Event::TodoCompletionRefused { id: todo.id, reason }];
        }
        let outcome = outcome.map(clean_note).filter(|text| !text.is_empty());
        let left = self.phase.todos.counts().remaining() - 1;
        let tasks = if left == 1 { "task" } else { "tasks" };
        let text = format!("Task {number} '{}' marked complete. {left} {tasks} remaining.", todo.content);
        let events = vec![
            returned(call, CallEnd::Done, text),
            Event::TodoCompleted { id: todo.id, outcome, unevidenced: !effort.worked },
        ];
        if left == 0 { self.end_phase(events, Why::PhaseDone) } else { events }
    }

    /// The phase ends after `events`: what is left of the reply is skipped, then the archive is owed.
    pub(super) fn end_phase(&self, mut events: Vec<Event>, why: Why) -> Vec<Event> {
        let answered = answered(&events);
        events.extend(self.skipped(answered, "not run: the phase has ended"));
        let suffix = why.folder_suffix(self.phase.attempt);
        let folder = format!("phase-{:02}-{}{suffix}", self.phase.number, super::plan::slug(&self.phase.title));
        events.push(Event::PhaseEnded { why, folder });
        events
    }

    /// Every call gets exactly one result: the calls after the first `answered` get this one.
    pub(super) fn skipped(&self, answered: usize, text: &str) -> Vec<Event> {
        self.pending.iter().skip(answered).map(|call| returned(call, CallEnd::Skipped, text)).collect()
    }

    fn no_change(&self, call: &ToolCall, reason: &str) -> Vec<Event> {
        let reason = clean_note(reason);
        let Some(planning) = self.planning() else {
            return vec![refusal(call, self.wrong_step(Tool::NoChange))];
        };
        let objection = match planning.step {
            PlanStep::CreateTodos => Some(self.wrong_step(Tool::NoChange)),
            PlanStep::UpdatePlan => planning::plan_must_change(self, planning),
            PlanStep::UpdateMemory => None,
        };
        if let Some(text) = objection {
            return vec![refusal(call, text)];
        }
        let file = match planning.step {
            PlanStep::UpdateMemory => super::state::MEMORY_FILE,
            PlanStep::UpdatePlan | PlanStep::CreateTodos => super::state::PLAN_FILE,
        };
        vec![
            returned(call, CallEnd::Done, format!("{file} stays as it is.")),
            Event::StepEnded { step: planning.step, end: StepEnd::NoChange { reason } },
        ]
    }

    fn todo_write(&self, call: &ToolCall, wanted: &TodoWrite, at: Timestamp) -> Vec<Event> {
        if let Some(planning) = self.planning() {
            return match planning.step {
                PlanStep::CreateTodos => planning::create_todos(self, planning, call, &wanted.todos, at),
                PlanStep::UpdateMemory | PlanStep::UpdatePlan => vec![refusal(call, self.wrong_step(Tool::TodoWrite))],
            };
        }
        match self.phase.kind {
            PhaseKind::Planned => {}
            PhaseKind::Bootstrap | PhaseKind::Review => {
                let text = format!(
                    "the todos of the {} are set by the system; complete them, or call todo_rewind(issue) if they can't be done",
                    self.phase.kind.name()
                );
                return vec![refusal(call, text)];
            }
        }
        if wanted.todos.is_empty() {
            let text = "the list is empty; give the todos that are left, or call todo_rewind(issue) if the phase can't be worked";
            return vec![refusal(call, text)];
        }
        let todos = match self.phase.todos.rewritten(&wanted.todos, at) {
            Ok(todos) => todos,
            Err(reason) => return vec![refusal(call, reason)],
        };
        if todos.len() > MOST_TODOS {
            let text = format!(
                "the list has been rewritten so often that it would hold {} todos, most of them cancelled; complete what is open, or call todo_rewind(issue)",
                todos.len()
            );
            return vec![refusal(call, text)];
        }
        let list = super::todo_list::TodoList::new(todos.clone(), at);
        let most = self.spec.instructions.phase.max_todos + planning::TOLERANCE;
        let tasks = u32::try_from(list.counts().tasks()).unwrap_or(u32::MAX);
        if tasks > most {
            let text = format!(
                "the phase would have {tasks} tasks, at most {most} are allowed; leave the rest to the next phase"
            );
            return vec![refusal(call, text)];
        }
        let counts = list.counts();
        let text =
            format!("{}\n{}", todo_board::answer(&list, self.spec.budget_tokens), todo_board::counts_line(counts));
        let events = vec![returned(call, CallEnd::Done, text), Event::TodosWritten { todos }];
        if counts.remaining() == 0 { self.end_phase(events, Why::PhaseDone) } else { events }
    }

    fn job_complete(&self, call: &ToolCall, wanted: JobComplete) -> Option<Vec<Event>> {
        let refused = |reason: String| Some(vec![refusal(call, reason)]);
        let status = wanted.status.unwrap_or(CompletionStatus::Complete);
        match completion(wanted) {
            Err(reason) => refused(reason),
            Ok(completion) => match status {
                CompletionStatus::Blocked => {
                    let reason = completion.summary.clone();
                    let ending = Ending {
                        status: JobStatus::Blocked,
                        reason: Some(reason.clone()),
                        completion: Some(completion),
                        checks: Vec::new(),
                        deliverables: Vec::new(),
                        quotes: None,
                        open_todos: self.open_todos(),
                    };
                    let events = vec![returned(call, CallEnd::Done, "The job ends as blocked.")];
                    Some(self.end_job(events, ending, Why::Abandoned { reason }))
                }
                CompletionStatus::Complete if self.is_executing() && self.phase.kind == PhaseKind::Review => None,
                CompletionStatus::Complete if self.planning().is_some() => refused(self.wrong_step(Tool::JobComplete)),
                CompletionStatus::Complete => refused(format!(
                    "the job is not in its review yet ({}); work the phases first, or call job_complete(status: \"blocked\") if it can't be done",
                    todo_board::place(self)
                )),
            },
        }
    }

    /// The job ends after `events`: by way of the phase's archive, where a phase is open.
    pub(super) fn end_job(&self, mut events: Vec<Event>, ending: Ending, why: Why) -> Vec<Event> {
        if self.is_phase_open() {
            events.push(Event::EndingDecided { ending: Box::new(ending) });
            return self.end_phase(events, why);
        }
        let answered = answered(&events);
        events.extend(self.skipped(answered, "not run: the job has ended"));
        events.push(Event::JobEnded { ending: Box::new(ending) });
        events
    }

    /// The end comes while calls wait: each has its result. Of the first it may not be known whether it was done.
    pub(super) fn unanswered(&self) -> Vec<Event> {
        let text = "not run: the job has ended";
        match self.pending.front() {
            Some(call) if self.prepared.is_some() => {
                let cut = "interrupted: the job ended while it was being done";
                let mut events = vec![returned(call, CallEnd::Interrupted, cut)];
                events.extend(self.skipped(1, text));
                events
            }
            Some(_) | None => self.skipped(0, text),
        }
    }

    pub(super) fn open_todos(&self) -> Vec<String> {
        if self.is_phase_open() {
            self.phase.todos.open().map(|todo| todo.content.clone()).collect()
        } else {
            Vec::new()
        }
    }
}

/// Files that `job_complete` may name: each is looked at, and each that is missing is a failed check.
const MOST_DELIVERABLES: usize = 1_000;

/// Reads what `job_complete` claims.
pub(super) fn completion(wanted: JobComplete) -> Result<Completion, String> {
    if !(0.0..=1.0).contains(&wanted.confidence) {
        return Err(format!("confidence is {}; give a number from 0 to 1", wanted.confidence));
    }
    if wanted.summary.trim().is_empty() {
        return Err("summary is empty; say in a few sentences what was done and found".to_owned());
    }
    if wanted.deliverables.len() > MOST_DELIVERABLES {
        return Err(format!(
            "deliverables names {} files, and {MOST_DELIVERABLES} is the most; name only what the task asks for",
            wanted.deliverables.len()
        ));
    }
    Ok(Completion {
        summary: wanted.summary.trim().to_owned(),
        deliverables: wanted.deliverables,
        confidence: wanted.confidence,
        notes: wanted.notes.filter(|text| !text.trim().is_empty()),
    })
}

/// How many of the reply's calls `events` answer.
fn answered(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::ToolReturned { .. })).count()
}

/// The machine says no, and what to do instead.
pub(super) fn refusal(call: &ToolCall, reason: impl Into<String>) -> Event {
    returned(call, CallEnd::Refused, reason)
}

/// Bounds a result's text to `most` tokens. Working tools put what is too long into a file; this is for answers that repeat what the model
/// itself said too much of.
pub(super) fn bound_result(event: &mut Event, most: u64) {
    let Event::ToolReturned { result, .. } = event else {
        return;
    };
    // A page of a document is bounded where it is read.
    if result.spilled.is_some() || result.shown.is_some() || estimate(&result.text) <= most {
        return;
    }
    let (head, tail) = (head(&result.text, most / 2), tail(&result.text, most / 4));
    result.text = format!("{head}\n[… {} tokens in all, cut here …]\n{tail}", estimate(&result.text));
}

pub(super) fn returned(call: &ToolCall, end: CallEnd, text: impl Into<String>) -> Event {
    Event::ToolReturned { call: call.id.clone(), name: call.name.clone(), result: ToolResult::plain(end, text) }
}
