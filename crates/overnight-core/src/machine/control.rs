//! The control tools: the calls that the machine itself decides. Each returns facts, with the call's result among them.

use super::{
    answers::{in_conversation, refusal, result_tokens, returned, skipped},
    planning,
};
use crate::{
    amount::counted,
    job::{
        arguments::{CompletionStatus, TodoItem},
        call::ControlCall,
        ending::{Completion, Ending},
        event::{CallEnd, Event, LifeEvent, PhaseEvent, PhaseKind, ToolEvent, Why},
        lessons::MOST_PROPOSED,
        record::JobStatus,
        state::{Job, LAST_REVIEW_TODO},
        time::Timestamp,
        todo_list::MOST_TODOS,
    },
    message::ToolCall,
    prompt::{bounds, todo_board},
    tokens::{estimate, head, tail},
};

/// The result of a call if it is unknown whether it was done.
const CUT: &str = "interrupted: the job ended while it was being done";

impl Job {
    /// The facts of a control call; `None` if it needs an answer from outside first (the contract's checks).
    pub(super) fn control(&self, said: &ToolCall, call: &ControlCall, at: Timestamp) -> Option<Vec<Event>> {
        Some(match call {
            ControlCall::TodoList(filter) => {
                let listing = todo_board::listing(&self.phase.todos, *filter, bounds::answer_tokens(&self.spec));
                vec![returned(said, CallEnd::Done, listing)]
            }
            ControlCall::AddAccomplishment(text) => {
                vec![
                    returned(said, CallEnd::Done, "Added."),
                    Event::Phase(PhaseEvent::AccomplishmentAdded { text: text.clone() }),
                ]
            }
            ControlCall::AddNote(text) => {
                vec![
                    returned(said, CallEnd::Done, "Added."),
                    Event::Phase(PhaseEvent::NoteAdded { text: text.clone() }),
                ]
            }
            ControlCall::AddLesson(lesson) if self.lessons.len() < MOST_PROPOSED => {
                let text = "Proposed: a person decides whether later jobs are shown it.";
                vec![
                    returned(said, CallEnd::Done, text),
                    Event::Phase(PhaseEvent::LessonProposed { lesson: lesson.clone() }),
                ]
            }
            ControlCall::AddLesson(_) => {
                vec![refusal(said, format!("a job may propose {MOST_PROPOSED} lessons, and this one has"))]
            }
            ControlCall::Delegate(call) => self.delegate(said, call),
            ControlCall::SettleFinding { id, reason } => self.settle_finding(said, id, reason),
            ControlCall::Report(_) | ControlCall::Verdict(_) => {
                vec![refusal(said, "only a sub-agent ends with that; the job ends with job_complete()")]
            }
            ControlCall::JobComplete { status, completion } => return self.job_complete(said, *status, completion),
            ControlCall::TodoWrite(items) => self.todo_write(said, items, at),
            ControlCall::TodoComplete { outcome } => self.todo_complete(said, outcome.as_deref()),
            ControlCall::TodoRewind { issue } => {
                let text = "The phase is archived with the issue; the plan will be reconsidered.";
                self.end_phase(vec![returned(said, CallEnd::Done, text)], Why::Rewound { issue: issue.clone() })
            }
            ControlCall::ArchiveAndReset { reason } => {
                let text = "The phase is archived; planning begins anew.";
                self.end_phase(vec![returned(said, CallEnd::Done, text)], Why::Reset { reason: reason.clone() })
            }
        })
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
        let effort = &self.own.effort;
        if let Some(tool) = effort.untold_failure() {
            let reason = format!("{tool} failed: look at its result first, then go on with task {number}");
            return vec![
                refusal(call, reason.clone()),
                Event::Phase(PhaseEvent::TodoCompletionRefused { id: todo.id, reason }),
            ];
        }
        let left = self.phase.todos.counts().remaining() - 1;
        let tasks = if left == 1 { "task" } else { "tasks" };
        let text = format!("Task {number} '{}' marked complete. {left} {tasks} remaining.", todo.content);
        let events = vec![
            returned(call, CallEnd::Done, text),
            Event::Phase(PhaseEvent::TodoCompleted {
                id: todo.id,
                outcome: with_count(outcome, effort.records),
                unevidenced: !effort.worked && !self.own.calls.has_worked,
            }),
        ];
        if left == 0 { self.end_phase(events, Why::PhaseDone) } else { events }
    }

    /// The phase ends after `events`: the archive is owed, and the rest of the reply comes after it.
    pub(super) fn end_phase(&self, mut events: Vec<Event>, why: Why) -> Vec<Event> {
        let suffix = why.folder_suffix(self.phase.attempt);
        let folder = format!("phase-{:02}-{}{suffix}", self.phase.number, crate::job::plan::slug(&self.phase.title));
        events.push(Event::Phase(PhaseEvent::PhaseEnded { why, folder }));
        events
    }

    /// Every call gets exactly one result: the calls after the first `answered` get this one.
    pub(super) fn skipped(&self, answered: usize, text: &str) -> Vec<Event> {
        self.own.calls.pending.iter().skip(answered).map(|call| returned(&call.said, CallEnd::Skipped, text)).collect()
    }

    fn todo_write(&self, call: &ToolCall, items: &[TodoItem], at: Timestamp) -> Vec<Event> {
        match self.phase.kind {
            PhaseKind::Planned => {}
            PhaseKind::Bootstrap => {
                let text = "the todos of the bootstrap are set by the system, and those of a phase are the list items of the plan: save main_plan.md";
                return vec![refusal(call, text)];
            }
            PhaseKind::Review => {
                let text = "the todos of the review are set by the system; complete them, or add a phase to main_plan.md if there is more to do";
                return vec![refusal(call, text)];
            }
        }
        if items.is_empty() {
            let text = "the list is empty; give the todos that are left, or call todo_rewind(issue) if the phase can't be worked";
            return vec![refusal(call, text)];
        }
        let todos = match self.phase.todos.rewritten(items, at) {
            Ok(todos) => todos,
            Err(wrong) => return vec![refusal(call, wrong.to_string())],
        };
        if todos.len() > MOST_TODOS {
            let text = format!(
                "the list has been rewritten so often that it would hold {} todos, most of them cancelled; complete what is open, or call todo_rewind(issue)",
                todos.len()
            );
            return vec![refusal(call, text)];
        }
        let list = crate::job::todo_list::TodoList::new(todos.clone(), at);
        let most = self.spec.instructions.phase.max_todos + planning::OVER;
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
        let events = vec![returned(call, CallEnd::Done, text), Event::Phase(PhaseEvent::TodosWritten { todos })];
        if counts.remaining() == 0 { self.end_phase(events, Why::PhaseDone) } else { events }
    }

    fn job_complete(&self, call: &ToolCall, status: CompletionStatus, claim: &Completion) -> Option<Vec<Event>> {
        let refused = |reason: String| Some(vec![refusal(call, reason)]);
        match status {
            CompletionStatus::Blocked => {
                let reason = claim.summary.clone();
                let ending = Ending {
                    completion: Some(claim.clone()),
                    ..self.unchecked(JobStatus::Blocked, reason.clone(), self.open_todos())
                };
                let events = vec![returned(call, CallEnd::Done, "The job ends as blocked.")];
                Some(self.end_job(events, ending, Why::Abandoned { reason }))
            }
            CompletionStatus::Complete if self.is_executing() && self.phase.kind == PhaseKind::Review => None,
            CompletionStatus::Complete => refused(format!(
                "the job is not in its review yet ({}); send it again with the completion of the last todo, or, only if the job can't be done, with status \"blocked\"",
                self.still_open()
            )),
        }
    }

    /// The work that is open before the review, in a few words.
    fn still_open(&self) -> String {
        if self.planning().is_some() {
            return "the next phase has not begun".to_owned();
        }
        let list = &self.phase.todos;
        let numbers: Vec<String> = list.open().map(|todo| list.number_of(todo.id).to_string()).collect();
        format!("phase {}: open tasks {}", todo_board::place(self), numbers.join(", "))
    }

    /// The job ends after `events`: by way of the phase's archive, where a phase is open.
    pub(super) fn end_job(&self, mut events: Vec<Event>, ending: Ending, why: Why) -> Vec<Event> {
        let answered = answered(&events);
        events.extend(self.skipped(answered, "not run: the job has ended"));
        if self.is_phase_open() {
            events.push(Event::Life(LifeEvent::EndingDecided { ending: Box::new(ending) }));
            return self.end_phase(events, why);
        }
        events.push(Event::Life(LifeEvent::JobEnded { ending: Box::new(ending) }));
        events
    }

    /// Results for all waiting calls when the job ends. It may be unknown whether the first one was done.
    pub(super) fn unanswered(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for sub_agent in self.sub_agents.values() {
            let cut = sub_agent.calls.pending.front().filter(|_| sub_agent.calls.prepared.is_some());
            let is_cut = cut.is_some();
            events.extend(cut.map(|call| in_conversation(sub_agent, returned(&call.said, CallEnd::Interrupted, CUT))));
            events.extend(skipped(sub_agent, usize::from(is_cut)));
        }
        let cut = self.own.calls.pending.front().filter(|_| self.own.calls.prepared.is_some());
        events.extend(cut.map(|call| returned(&call.said, CallEnd::Interrupted, CUT)));
        events.extend(self.skipped(usize::from(cut.is_some()), "not run: the job has ended"));
        events
    }

    pub(super) fn open_todos(&self) -> Vec<String> {
        if self.is_phase_open() {
            self.phase.todos.open().map(|todo| todo.content.clone()).collect()
        } else {
            Vec::new()
        }
    }
}

/// How many of the reply's calls `events` answer.
fn answered(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Tool(ToolEvent::ToolReturned { .. }))).count()
}

/// Bounds a result's text to `most` tokens. Working tools put long results into a file; this is for answers that repeat
/// too long a text of the model.
pub(super) fn bound_result(event: &mut Event, most: u64) {
    let Event::Tool(ToolEvent::ToolReturned { result, tokens, .. }) = event else {
        return;
    };
    // A page of a document is bounded where it is read.
    if result.spilled.is_some() || result.shown.is_some() || estimate(&result.text) <= most {
        return;
    }
    let (head, tail) = (head(&result.text, most / 2), tail(&result.text, most / 4));
    result.text = format!("{head}\n[… {} tokens in all, cut here …]\n{tail}", estimate(&result.text));
    *tokens = result_tokens(&result.text);
}

/// An outcome in the model's words, with the program's own count of added records, which may differ from the words.
pub(super) fn with_count(outcome: Option<&str>, records: u64) -> Option<String> {
    let told = counted(records, "record");
    match (outcome, records) {
        (outcome, 0) => outcome.map(str::to_owned),
        (Some(outcome), _) => Some(format!("{outcome} [{told} added in this task]")),
        (None, _) => Some(format!("[{told} added in this task]")),
    }
}
