//! Planning: what each step expects, the todos that the model proposes, and what the system does when the model does not
//! finish a step. A weak model can be slow or poor, but can't wedge the job.

use super::control::returned;
use crate::{
    job::{
        call::arguments::TodoItem,
        event::{CallEnd, Event, PhaseKind, PlanStep, StepEnd, Why},
        instructions::SummaryBy,
        plan::Plan,
        spec::JobSpec,
        state::{Job, LAST_REVIEW_TODO, Planning},
        time::Timestamp,
        todo::{Todo, TodoStatus},
        todo_list::{TodoList, clean},
    },
    message::ToolCall,
    prompt::{layers, todo_board},
};

/// How far outside its bounds a todo list may be and still pass with a warning: one under, two over.
pub(super) const TOLERANCE: u32 = 2;
/// A todo list outside the bounds is refused this many times.
const REFUSALS: u32 = 2;
/// Documents of one phase in the plan that the system writes.
const DOCUMENTS_A_PHASE: usize = 10;

/// The five todos of phase 0.
pub fn bootstrap_todos(at: Timestamp) -> Vec<Todo> {
    let pairs = [
        ("Generate the workspace summary with generate_workspace_summary()", "Generating the workspace summary"),
        ("Read workspace_summary.md", "Reading the workspace summary"),
        ("Read instructions.md", "Reading the instructions"),
        ("Write the plan to main_plan.md", "Writing the plan"),
        ("Divide the plan into phases of 5-20 steps", "Dividing the plan into phases"),
    ];
    TodoList::from_pairs(&pairs.map(|(content, active)| (content.to_owned(), active.to_owned())), at)
}

/// Why the plan can't stay as it is, where it can't.
pub(super) fn plan_must_change(job: &Job, planning: &Planning) -> Option<String> {
    if job.plan.is_none() {
        return Some(
            "there is no plan yet: write main_plan.md with phases (`## Phase 1: Title` and a task list under each)"
                .to_owned(),
        );
    }
    match &planning.why {
        Why::Feedback { .. } if job.next_planned().is_none() => {
            Some("the feedback needs work: add at least one new phase to main_plan.md".to_owned())
        }
        Why::Feedback { .. }
        | Why::PhaseDone
        | Why::Rewound { .. }
        | Why::Stuck { .. }
        | Why::LimitReached { .. }
        | Why::Reset { .. }
        | Why::Abandoned { .. } => None,
    }
}

/// `todo_write` in its planning step: the next phase begins, or the list is refused.
pub(super) fn create_todos(
    job: &Job,
    planning: &Planning,
    call: &ToolCall,
    items: &[TodoItem],
    at: Timestamp,
) -> Vec<Event> {
    let refused = |reason: String| returned(call, CallEnd::Refused, reason);
    let todos = match TodoList::default().rewritten(items, at) {
        Ok(todos) => todos,
        Err(wrong) => return vec![refused(wrong.to_string())],
    };
    let count = todos.iter().filter(|todo| todo.status.is_open()).count();
    if count == 0 {
        let mut events = vec![refused("the list has no open todo; give the next phase's tasks".to_owned())];
        // Beyond that the tries of the step are what ends it.
        if planning.refusals < REFUSALS {
            events.push(Event::TodosRefused { reason: "no open todo".to_owned() });
        }
        return events;
    }
    let bounds = job.spec.instructions.phase;
    let (min, max) = (job.fewest_todos() as usize, bounds.max_todos as usize);
    let outside = count + 1 < min || count > max + TOLERANCE as usize;
    if outside && planning.refusals < REFUSALS {
        let reason = if count < min {
            format!("{count} todos are too few: a phase has {min} to {max}; divide the work into smaller tasks")
        } else {
            format!("{count} todos are too many: a phase has {min} to {max}; keep the rest for the next phase")
        };
        return vec![refused(reason.clone()), Event::TodosRefused { reason }];
    }
    let (kept, rest) = split(todos, max + if outside { 0 } else { TOLERANCE as usize });
    let mut warnings = Vec::new();
    if count < min {
        warnings.push(format!("{count} todos, fewer than {min}"));
    } else if count > max {
        warnings.push(format!("{count} todos, more than {max}"));
    }
    let list = TodoList::new(kept.clone(), at);
    let text =
        format!("{}\n{}", todo_board::answer(&list, job.spec.budget_tokens), todo_board::counts_line(list.counts()));
    let mut events = vec![returned(call, CallEnd::Done, text)];
    events.extend(warnings.into_iter().map(|warning| Event::TodosWarned { warning }));
    events.extend(job.skipped(1, "not run: planning is done, and a fresh todo list begins"));
    events.extend(start_planned(job, kept, &rest, StepEnd::Saved));
    events
}

/// The first `most` todos, and the texts of the rest.
fn split(mut todos: Vec<Todo>, most: usize) -> (Vec<Todo>, Vec<String>) {
    let rest = if todos.len() > most { todos.split_off(most) } else { Vec::new() };
    (todos, rest.into_iter().filter(|todo| todo.status.is_open()).map(|todo| todo.content).collect())
}

/// The next planned phase begins with `todos`; `rest` becomes a phase after it.
fn start_planned(job: &Job, todos: Vec<Todo>, rest: &[String], end: StepEnd) -> Vec<Event> {
    let mut events = vec![Event::StepEnded { step: PlanStep::CreateTodos, end }];
    let planned = job.next_planned();
    let (title, plan_phase) =
        planned.map_or(("Work".to_owned(), None), |phase| (phase.title.clone(), Some(phase.number)));
    let mut plan = job.plan.clone();
    if !rest.is_empty()
        && let (Some(current), Some(number)) = (&plan, plan_phase)
    {
        let longer = current.insert_after(number, &continued(&title), rest).mark_current();
        events.push(Event::PlanSet {
            text: longer.text().into(),
            because: format!("{} todos over the bound became a phase of their own", rest.len()),
        });
        plan = Some(longer);
    }
    let (number, attempt) = job.next_number();
    events.push(Event::PhaseStarted { number, attempt, kind: PhaseKind::Planned, title, plan_phase, todos });
    if job.spec.instructions.context.summary == SummaryBy::Digest {
        events.push(Event::ContextCompacted { layer4: layers::compacted(job, plan.as_ref(), None).into() });
    }
    events
}

/// The title of the phase that takes what is over the bound of the one called `title`.
pub(super) fn continued(title: &str) -> String {
    format!("{title} (continued)")
}

/// No phases are left: the review begins, with the todos that the system sets.
pub(super) fn start_review(job: &Job, at: Timestamp) -> Vec<Event> {
    let mut pairs: Vec<(String, String)> = job
        .spec
        .instructions
        .finale
        .iter()
        .map(|content| clean(content))
        .filter(|content| !content.is_empty() && content != LAST_REVIEW_TODO)
        .map(|content| (content.clone(), active_form(&content)))
        .collect();
    let mut seen = std::collections::HashSet::new();
    pairs.retain(|(content, _)| seen.insert(crate::job::todo_list::key(content)));
    pairs.push((LAST_REVIEW_TODO.to_owned(), "Completing the job".to_owned()));
    let (number, attempt) = job.next_number();
    let mut events = job.skipped(0, "not run: all phases are complete, and the review begins");
    events.push(Event::PhaseStarted {
        number,
        attempt,
        kind: PhaseKind::Review,
        title: "Review".to_owned(),
        plan_phase: None,
        todos: TodoList::from_pairs(&pairs, at),
    });
    events.push(Event::ContextCompacted { layer4: layers::compacted(job, job.plan.as_ref(), None).into() });
    events
}

/// What the system does for a step that the model did not finish.
pub(super) fn fall_back(job: &Job, planning: &Planning, at: Timestamp) -> Vec<Event> {
    match planning.step {
        PlanStep::UpdateMemory => vec![Event::StepEnded { step: planning.step, end: StepEnd::FellBack }],
        PlanStep::UpdatePlan => {
            let mut events = Vec::new();
            if plan_must_change(job, planning).is_some() {
                let plan = match &job.plan {
                    None => plan_of_the_system(&job.spec),
                    Some(plan) => {
                        plan.append_phase(&format!("Address feedback {}", job.feedback.len()), &feedback_steps(job))
                    }
                };
                events.push(Event::PlanSet {
                    text: plan.mark_current().text().into(),
                    because: "the model did not write the plan within its tries".to_owned(),
                });
            }
            events.push(Event::StepEnded { step: planning.step, end: StepEnd::FellBack });
            events
        }
        PlanStep::CreateTodos => {
            let (title, steps) = job.next_planned().map_or(("Work".to_owned(), Vec::new()), |phase| {
                (
                    phase.title.clone(),
                    phase.steps.iter().filter(|step| !step.done).map(|step| step.text.clone()).collect(),
                )
            });
            let mut pairs: Vec<(String, String)> = Vec::new();
            for content in steps.iter().map(|step| crate::tokens::head(&clean(step), 120).to_owned()) {
                let is_new = pairs
                    .iter()
                    .all(|(other, _)| crate::job::todo_list::key(other) != crate::job::todo_list::key(&content));
                if !content.is_empty() && is_new {
                    pairs.push((content.clone(), active_form(&content)));
                }
            }
            if pairs.is_empty() {
                pairs.push((title.clone(), active_form(&title)));
            }
            let max = job.spec.instructions.phase.max_todos as usize;
            let (kept, rest) = split(TodoList::from_pairs(&pairs, at), max);
            start_planned(job, kept, &rest, StepEnd::FellBack)
        }
    }
}

fn feedback_steps(job: &Job) -> Vec<String> {
    let text = job.feedback.last().map(|text| clean(text)).unwrap_or_default();
    vec![format!("Address: {}", crate::tokens::head(&text, 100))]
}

/// The plan for a job whose model writes none: a phase per group of documents, then one for the deliverables.
fn plan_of_the_system(spec: &JobSpec) -> Plan {
    let deliverables: Vec<String> =
        spec.instructions.deliverables.iter().map(|deliverable| format!("Write {}", deliverable.path)).collect();
    let mut phases: Vec<(String, Vec<String>)> = spec
        .documents
        .chunks(DOCUMENTS_A_PHASE)
        .map(|group| {
            let title = match group {
                [one] => format!("Work through {}", one.name),
                [first, .., last] => format!("Work through {} to {}", first.name, last.name),
                [] => "Work through the documents".to_owned(),
            };
            let mut steps: Vec<String> = group
                .iter()
                .map(|document| format!("Read {} and record what the task asks for", document.name))
                .collect();
            steps.extend(deliverables.iter().map(|step| format!("{step}, as far as this phase's documents go")));
            (title, steps)
        })
        .collect();
    phases.push((
        "Finish the deliverables".to_owned(),
        deliverables.into_iter().map(|step| format!("{step} in full")).collect(),
    ));
    Plan::write(
        &phases,
        "Written by the system, because the model wrote no plan: the documents in groups, then the deliverables.",
    )
}

/// What is shown while a todo is worked that came without an active form.
pub(super) fn active_form(content: &str) -> String {
    crate::tokens::head(&format!("Working on: {content}"), 120).to_owned()
}

/// The todos of a phase that were cancelled, so that their steps stay unticked.
pub(super) fn cancelled(todos: &TodoList) -> Vec<String> {
    todos.all().iter().filter(|todo| todo.status == TodoStatus::Cancelled).map(|todo| todo.content.clone()).collect()
}
