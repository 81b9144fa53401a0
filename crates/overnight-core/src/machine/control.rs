//! The control tools: the calls that the machine itself decides. Each returns facts, with the call's result among them.

use super::{
    answers::{self, refusal, result_tokens, returned},
    phase_end, planning, proof, sub_agent_start,
};
use crate::{
    amount::counted,
    answer,
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
                returned(said, CallEnd::Done, answer!("done.added")),
                Event::Phase(PhaseEvent::AccomplishmentAdded { text: text.clone() }),
            ]
        }
        ControlCall::AddNote(text) => {
            vec![
                returned(said, CallEnd::Done, answer!("done.added")),
                Event::Phase(PhaseEvent::NoteAdded { text: text.clone() }),
            ]
        }
        ControlCall::AddLesson(lesson) if job.lessons.len() < MOST_PROPOSED => {
            vec![
                returned(said, CallEnd::Done, answer!("done.lesson_proposed")),
                Event::Phase(PhaseEvent::LessonProposed { lesson: lesson.clone() }),
            ]
        }
        ControlCall::AddLesson(_) => {
            vec![refusal(said, answer!("refused.lessons_proposed", most = MOST_PROPOSED))]
        }
        ControlCall::Delegate(call) => sub_agent_start::delegate(job, said, call),
        ControlCall::SettleFinding { id, reason } => proof::settle_finding(job, said, id, reason),
        ControlCall::Report(_) | ControlCall::Verdict(_) => {
            vec![refusal(said, answer!("refused.only_sub_agents_end_so"))]
        }
        ControlCall::JobComplete { status, completion } => return job_complete(job, said, *status, completion),
        ControlCall::TodoWrite(items) => todo_write(job, said, items, at),
        ControlCall::TodoComplete { outcome } => todo_complete(job, said, outcome.as_deref()),
        ControlCall::TodoRewind { issue } => {
            let text = answer!("done.phase_rewound");
            phase_end::end_phase(job, vec![returned(said, CallEnd::Done, text)], Why::Rewound { issue: issue.clone() })
        }
        ControlCall::ArchiveAndReset { reason } => {
            let text = answer!("done.phase_reset");
            phase_end::end_phase(job, vec![returned(said, CallEnd::Done, text)], Why::Reset { reason: reason.clone() })
        }
    })
}

fn todo_complete(job: &Job, call: &ToolCall, outcome: Option<&str>) -> Vec<Event> {
    let Some(todo) = job.phase.todos.current() else {
        return vec![refusal(call, answer!("refused.no_task_open"))];
    };
    let number = job.phase.todos.number_of(todo.id);
    if job.phase.kind == PhaseKind::Review && todo.content == LAST_REVIEW_TODO {
        return vec![refusal(call, answer!("refused.job_complete_ends_review"))];
    }
    let effort = &job.own.effort;
    if let Some(tool) = effort.untold_failure() {
        let reason = answer!("refused.look_at_failure", tool, number);
        return vec![
            refusal(call, reason.clone()),
            Event::Phase(PhaseEvent::TodoCompletionRefused { id: todo.id, reason }),
        ];
    }
    let left = job.phase.todos.counts().remaining() - 1;
    let tasks = counted(left as u64, "task");
    let text = answer!("done.task_completed", number, title = todo.content, tasks);
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
        PhaseKind::Bootstrap => return vec![refusal(call, answer!("refused.todos_of_bootstrap"))],
        PhaseKind::Review => return vec![refusal(call, answer!("refused.todos_of_review"))],
    }
    if items.is_empty() {
        return vec![refusal(call, answer!("refused.empty_list"))];
    }
    let todos = match job.phase.todos.rewritten(items, at) {
        Ok(todos) => todos,
        Err(wrong) => return vec![refusal(call, wrong.to_string())],
    };
    if todos.len() > MOST_TODOS {
        return vec![refusal(call, answer!("refused.list_rewritten_too_often", todos = todos.len()))];
    }
    let list = crate::job::todo_list::TodoList::new(todos.clone(), at);
    let most = job.spec.instructions.phase.max_todos + planning::OVER;
    let tasks = u32::try_from(list.counts().tasks()).unwrap_or(u32::MAX);
    if tasks > most {
        return vec![refusal(call, answer!("refused.too_many_tasks", tasks, most))];
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
            let events = vec![returned(call, CallEnd::Done, answer!("done.job_blocked"))];
            Some(phase_end::end_job(job, events, ending, Why::Abandoned { reason }))
        }
        CompletionStatus::Complete if job.is_executing() && job.phase.kind == PhaseKind::Review => None,
        CompletionStatus::Complete => refused(answer!("refused.not_in_review", open = still_open(job))),
    }
}

/// The work that is open before the review, in a few words.
fn still_open(job: &Job) -> String {
    if job.planning().is_some() {
        return answer!("open.next_phase");
    }
    let list = &job.phase.todos;
    let numbers: Vec<String> = list.open().map(|todo| list.number_of(todo.id).to_string()).collect();
    answer!("open.tasks", phase = todo_board::place(job), numbers = numbers.join(", "))
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
    let cut = answer!("note.cut", tokens = estimate(&result.text));
    result.text = format!("{head}\n{cut}\n{tail}");
    *tokens = result_tokens(&result.text);
}
