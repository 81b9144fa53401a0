//! The control tools: the calls that the machine itself decides. Each returns facts, with the call's result among them.

use super::{
    answers::{self, refusal, result_tokens, returned},
    phase_end, planning, proof, sub_agent_start,
};
use crate::{
    job::{
        arguments::{CompletionStatus, TodoItem},
        call::ControlCall,
        ending::{Completion, Ending},
        event::{CallEnd, Event, PhaseEvent, PhaseKind, ToolEvent, Why},
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

/// The facts of a control call; `None` if it needs an answer from outside first (the contract's checks).
pub(super) fn control(job: &Job, said: &ToolCall, call: &ControlCall, at: Timestamp) -> Option<Vec<Event>> {
    Some(match call {
        ControlCall::TodoList(filter) => {
            let listing = todo_board::listing(&job.phase.todos, *filter, bounds::answer_tokens(&job.spec));
            vec![returned(said, CallEnd::Done, listing)]
        }
        ControlCall::AddAccomplishment(text) => {
            vec![
                returned(said, CallEnd::Done, "Added."),
                Event::Phase(PhaseEvent::AccomplishmentAdded { text: text.clone() }),
            ]
        }
        ControlCall::AddNote(text) => {
            vec![returned(said, CallEnd::Done, "Added."), Event::Phase(PhaseEvent::NoteAdded { text: text.clone() })]
        }
        ControlCall::AddLesson(lesson) if job.lessons.len() < MOST_PROPOSED => {
            let text = "Proposed: a person decides whether later jobs are shown it.";
            vec![
                returned(said, CallEnd::Done, text),
                Event::Phase(PhaseEvent::LessonProposed { lesson: lesson.clone() }),
            ]
        }
        ControlCall::AddLesson(_) => {
            vec![refusal(said, format!("a job may propose {MOST_PROPOSED} lessons, and this one has"))]
        }
        ControlCall::Delegate(call) => sub_agent_start::delegate(job, said, call),
        ControlCall::SettleFinding { id, reason } => proof::settle_finding(job, said, id, reason),
        ControlCall::Report(_) | ControlCall::Verdict(_) => {
            vec![refusal(said, "only a sub-agent ends with that; the job ends with job_complete()")]
        }
        ControlCall::JobComplete { status, completion } => return job_complete(job, said, *status, completion),
        ControlCall::TodoWrite(items) => todo_write(job, said, items, at),
        ControlCall::TodoComplete { outcome } => todo_complete(job, said, outcome.as_deref()),
        ControlCall::TodoRewind { issue } => {
            let text = "The phase is archived with the issue; the plan will be reconsidered.";
            phase_end::end_phase(job, vec![returned(said, CallEnd::Done, text)], Why::Rewound { issue: issue.clone() })
        }
        ControlCall::ArchiveAndReset { reason } => {
            let text = "The phase is archived; planning begins anew.";
            phase_end::end_phase(job, vec![returned(said, CallEnd::Done, text)], Why::Reset { reason: reason.clone() })
        }
    })
}

fn todo_complete(job: &Job, call: &ToolCall, outcome: Option<&str>) -> Vec<Event> {
    let Some(todo) = job.phase.todos.current() else {
        return vec![refusal(call, "no task is open".to_owned())];
    };
    let number = job.phase.todos.number_of(todo.id);
    if job.phase.kind == PhaseKind::Review && todo.content == LAST_REVIEW_TODO {
        let text = "only job_complete() ends the review: call it with summary, deliverables and confidence".to_owned();
        return vec![refusal(call, text)];
    }
    let effort = &job.own.effort;
    if let Some(tool) = effort.untold_failure() {
        let reason = format!("{tool} failed: look at its result first, then go on with task {number}");
        return vec![
            refusal(call, reason.clone()),
            Event::Phase(PhaseEvent::TodoCompletionRefused { id: todo.id, reason }),
        ];
    }
    let left = job.phase.todos.counts().remaining() - 1;
    let tasks = if left == 1 { "task" } else { "tasks" };
    let text = format!("Task {number} '{}' marked complete. {left} {tasks} remaining.", todo.content);
    let events = vec![
        returned(call, CallEnd::Done, text),
        Event::Phase(PhaseEvent::TodoCompleted {
            id: todo.id,
            outcome: answers::with_count(outcome, effort.records),
            unevidenced: !effort.worked && !job.own.calls.has_worked,
        }),
    ];
    if left == 0 { phase_end::end_phase(job, events, Why::PhaseDone) } else { events }
}

fn todo_write(job: &Job, call: &ToolCall, items: &[TodoItem], at: Timestamp) -> Vec<Event> {
    match job.phase.kind {
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
        let text =
            "the list is empty; give the todos that are left, or call todo_rewind(issue) if the phase can't be worked";
        return vec![refusal(call, text)];
    }
    let todos = match job.phase.todos.rewritten(items, at) {
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
    let most = job.spec.instructions.phase.max_todos + planning::OVER;
    let tasks = u32::try_from(list.counts().tasks()).unwrap_or(u32::MAX);
    if tasks > most {
        let text =
            format!("the phase would have {tasks} tasks, at most {most} are allowed; leave the rest to the next phase");
        return vec![refusal(call, text)];
    }
    let counts = list.counts();
    let text = format!("{}\n{}", todo_board::answer(&list, job.spec.budget_tokens), todo_board::counts_line(counts));
    let events = vec![returned(call, CallEnd::Done, text), Event::Phase(PhaseEvent::TodosWritten { todos })];
    if counts.remaining() == 0 { phase_end::end_phase(job, events, Why::PhaseDone) } else { events }
}

fn job_complete(job: &Job, call: &ToolCall, status: CompletionStatus, claim: &Completion) -> Option<Vec<Event>> {
    let refused = |reason: String| Some(vec![refusal(call, reason)]);
    match status {
        CompletionStatus::Blocked => {
            let reason = claim.summary.clone();
            let ending = Ending {
                completion: Some(claim.clone()),
                ..job.unchecked(JobStatus::Blocked, reason.clone(), phase_end::open_todos(job))
            };
            let events = vec![returned(call, CallEnd::Done, "The job ends as blocked.")];
            Some(phase_end::end_job(job, events, ending, Why::Abandoned { reason }))
        }
        CompletionStatus::Complete if job.is_executing() && job.phase.kind == PhaseKind::Review => None,
        CompletionStatus::Complete => refused(format!(
            "the job is not in its review yet ({}); send it again with the completion of the last todo, or, only if the job can't be done, with status \"blocked\"",
            still_open(job)
        )),
    }
}

/// The work that is open before the review, in a few words.
fn still_open(job: &Job) -> String {
    if job.planning().is_some() {
        return "the next phase has not begun".to_owned();
    }
    let list = &job.phase.todos;
    let numbers: Vec<String> = list.open().map(|todo| list.number_of(todo.id).to_string()).collect();
    format!("phase {}: open tasks {}", todo_board::place(job), numbers.join(", "))
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
