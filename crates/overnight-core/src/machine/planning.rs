//! Planning: its obligations, the todos that the model proposes, and what the system does if the model does not plan. A
//! weak model can be slow or poor, but can't block the job.

use super::{answers::returned, part_reading, phase_end, plan_file};
use crate::{
    amount::counted,
    answer,
    job::{
        arguments::TodoItem,
        event::{CallEnd, Event, PhaseEvent, PhaseKind, PlanEvent, PlanningEnd, Why},
        instructions::PhaseBounds,
        plan::{PhaseState, Plan, PlannedPhase, is_final_review},
        spec::JobSpec,
        state::{Job, LAST_REVIEW_TODO, Planning},
        time::Timestamp,
        todo::{Todo, TodoStatus},
        todo_list::{TodoList, clean},
    },
    message::ToolCall,
    prompt::{compact, todo_board},
};

/// How far outside its bounds a list may be and still pass with a warning: one under, two over.
pub(super) const UNDER: u32 = 1;
pub(super) const OVER: u32 = 2;
/// Todos of the bootstrap that the system does itself.
pub(super) const SYSTEM_TODOS: usize = 3;
/// Documents of one phase in the plan that the system writes.
const DOCUMENTS_A_PHASE: usize = 10;

/// The five todos of phase 0. A job that fits in one piece needs no phases of a certain length.
pub fn bootstrap_todos(spec: &JobSpec, at: Timestamp) -> Vec<Todo> {
    let PhaseBounds { min_todos, max_todos } = spec.instructions.phase;
    let divide = if compact::fits(spec) {
        "Divide the plan into phases, as many as it needs".to_owned()
    } else {
        format!("Divide the plan into phases of {min_todos}-{max_todos} steps")
    };
    let pairs = [
        ("Generate the workspace summary with generate_workspace_summary()", "Generating the workspace summary"),
        ("Read workspace_summary.md", "Reading the workspace summary"),
        ("Read instructions.md", "Reading the instructions"),
        ("Write the plan to main_plan.md", "Writing the plan"),
        (divide.as_str(), "Dividing the plan into phases"),
    ];
    TodoList::from_pairs(&pairs.map(|(content, active)| (content.to_owned(), active.to_owned())), at)
}

/// Why a completion completes nothing during planning.
pub(super) fn completes_nothing(planning: &Planning) -> String {
    let owed = todo_board::owed(planning).unwrap_or_else(|| answer!("owed.look_at_plan"));
    answer!("skipped.behind_phase_end", owed)
}

/// A phase whose number of steps is outside its bounds, and what to do about it: for a plan that is refused once, and
/// then accepted with a warning.
pub(super) fn outside_bounds(job: &Job, plan: &Plan) -> Option<String> {
    let PhaseBounds { min_todos: min, max_todos: max } = job.spec.instructions.phase;
    let phases = plan.phases();
    let is_judged = |phase: &PlannedPhase| {
        let is_worked = job.is_phase_open() && job.phase.plan_phase == Some(phase.number);
        let is_merged = phase.number as usize == phases.len() && is_final_review(&phase.title);
        phase.state != PhaseState::Complete && !is_worked && !is_merged
    };
    let named = |phase: &PlannedPhase| format!("phase {} '{}'", phase.number, phase.title);
    for (at, phase) in phases.iter().enumerate().filter(|(_, phase)| is_judged(phase)) {
        let steps = u32::try_from(phase.steps.len()).unwrap_or(u32::MAX);
        if steps > max + OVER {
            let middle = phase.steps.len() / 2;
            let text = phase.steps.get(middle.saturating_sub(1)).map_or("", |step| step.text.as_str());
            return Some(answer!(
                "phase.too_long",
                phase = named(phase),
                steps = counted(steps.into(), "step"),
                min,
                max,
                middle,
                step = crate::tokens::head(text, 20)
            ));
        }
        if !compact::fits(&job.spec) && steps + UNDER < min {
            let before = at.checked_sub(1).and_then(|before| phases.get(before)).filter(|phase| is_judged(phase));
            let neighbours: Vec<String> =
                before.into_iter().chain(phases.get(at + 1).filter(|phase| is_judged(phase))).map(named).collect();
            let (phase, steps) = (named(phase), counted(steps.into(), "step"));
            return Some(if neighbours.is_empty() {
                answer!("phase.too_short", phase, steps, min, max)
            } else {
                answer!("phase.too_short_beside", phase, steps, min, max, neighbours = neighbours.join(" or "))
            });
        }
    }
    None
}

/// `todo_write` while there is planning: the next phase's todos are set, or the list is refused.
pub(super) fn set_todos(
    job: &Job,
    planning: &Planning,
    call: &ToolCall,
    items: &[TodoItem],
    at: Timestamp,
) -> Vec<Event> {
    let refused = |reason: String| {
        vec![returned(call, CallEnd::Refused, reason.clone()), Event::Plan(PlanEvent::PlanningRefused { reason })]
    };
    let todos = match TodoList::default().rewritten(items, at) {
        Ok(todos) => todos,
        Err(wrong) => return refused(wrong.to_string()),
    };
    let count = todos.iter().filter(|todo| todo.status.is_open()).count();
    if count == 0 {
        return refused(answer!("refused.no_open_todo"));
    }
    let bounds = job.spec.instructions.phase;
    let (min, max) = (job.fewest_todos() as usize, bounds.max_todos as usize);
    let is_short = !compact::fits(&job.spec) && count + (UNDER as usize) < min;
    if planning.refused == 0 && (is_short || count > max + OVER as usize) {
        return refused(if is_short {
            answer!("refused.too_few_todos", count, min, max)
        } else {
            answer!("refused.too_many_todos", count, min, max)
        });
    }
    let list = TodoList::new(todos.clone(), at);
    let text =
        format!("{}\n{}", todo_board::answer(&list, job.spec.budget_tokens), todo_board::counts_line(list.counts()));
    let mut events = vec![returned(call, CallEnd::Done, text), Event::Phase(PhaseEvent::TodosWritten { todos })];
    if !compact::fits(&job.spec) && count < min {
        events.push(Event::Plan(PlanEvent::TodosWarned { warning: answer!("reminder.few_todos", count, min) }));
    } else if count > max {
        events.push(Event::Plan(PlanEvent::TodosWarned { warning: answer!("reminder.many_todos", count, max) }));
    }
    events
}

/// Planning is over: the next phase begins, or the review.
pub(super) fn end(job: &Job, planning: &Planning, end: PlanningEnd, at: Timestamp) -> Vec<Event> {
    let memory_waived = planning.owes_memory && end == PlanningEnd::FellBack;
    let mut events = vec![Event::Plan(PlanEvent::PlanningEnded { end, memory_waived })];
    let plan = plan_for(job, planning);
    if job.plan.as_ref() != Some(&plan) {
        events.push(plan_file::plan_set(&plan, "the model did not write the plan within its tries".to_owned()));
    }
    let reading = if job.is_bootstrap() { part_reading::begin_part_reading(job, &plan, at) } else { None };
    match Job::next_phase(&plan) {
        _ if let Some(reading) = reading => events.extend(reading),
        Some(next) => events.extend(start_planned(job, planning, &plan, next, at)),
        None => events.push(start_review(job, at)),
    }
    events
}

/// The plan with which the job continues: the present one, unless there is none, or it has no phase for feedback.
fn plan_for(job: &Job, planning: &Planning) -> Plan {
    let is_feedback = match &planning.why {
        Why::Feedback { .. } => true,
        Why::PhaseDone
        | Why::Rewound { .. }
        | Why::Stuck { .. }
        | Why::LimitReached { .. }
        | Why::Reset { .. }
        | Why::Abandoned { .. } => false,
    };
    match &job.plan {
        None => plan_of_the_system(&job.spec).mark_current(),
        Some(plan) if is_feedback && Job::next_phase(plan).is_none() => {
            // After the completed phases, and before a final review.
            plan.insert_after(0, &format!("Address feedback {}", job.feedback.len()), &feedback_steps(job))
                .mark_current()
        }
        Some(plan) => plan.clone(),
    }
}

/// The planned phase `next` begins with the todos that the model has set, else with the plan's steps; todos over the
/// bound become a phase after it.
fn start_planned(job: &Job, planning: &Planning, plan: &Plan, next: &PlannedPhase, at: Timestamp) -> Vec<Event> {
    let todos = match &planning.todos {
        Some(todos) => todos.clone(),
        None => TodoList::from_pairs(&pairs_of(next), at),
    };
    let max = job.spec.instructions.phase.max_todos as usize;
    let (todos, rest) = if todos.len() > max + OVER as usize { split(todos, max) } else { (todos, Vec::new()) };
    let mut events = Vec::new();
    if !rest.is_empty() {
        let longer = plan.insert_after(next.number, &continued(&next.title), &rest).mark_current();
        let because = format!("{} todos over the bound became a phase of their own", rest.len());
        events.push(Event::Plan(PlanEvent::TodosWarned { warning: because.clone() }));
        events.push(plan_file::plan_set(&longer, because));
    }
    let (number, attempt) = job.next_number();
    events.push(Event::Phase(PhaseEvent::PhaseStarted {
        number,
        attempt,
        kind: PhaseKind::Planned,
        title: next.title.clone(),
        plan_phase: Some(next.number),
        todos,
    }));
    events
}

/// The open steps of a phase as todos, or its title if it has none.
fn pairs_of(phase: &PlannedPhase) -> Vec<(String, String)> {
    let mut seen = std::collections::HashSet::new();
    let steps = phase.steps.iter().filter(|step| !step.done);
    let mut pairs: Vec<(String, String)> = steps
        .map(|step| crate::tokens::head(&clean(&step.text), 120).to_owned())
        .filter(|content| !content.is_empty() && seen.insert(crate::job::todo_list::key(content)))
        .map(|content| (content.clone(), active_form(&content)))
        .collect();
    if pairs.is_empty() {
        pairs.push((phase.title.clone(), active_form(&phase.title)));
    }
    pairs
}

/// The model has written no plan in the bootstrap: the system does.
pub(super) fn plan_by_system(job: &Job) -> Vec<Event> {
    let plan = plan_of_the_system(&job.spec).mark_current();
    let mut events = vec![plan_file::plan_set(&plan, "the model did not write the plan within its tries".to_owned())];
    events.extend(bootstrap_done(job, "by the system", &plan));
    phase_end::end_phase(job, events, Why::PhaseDone)
}

/// A plan ends the bootstrap: its open todos are completed with it.
pub(super) fn bootstrap_done(job: &Job, outcome: &str, plan: &Plan) -> Vec<Event> {
    let outcome = match plan.phases().len() {
        1 => format!("{outcome}: 1 phase"),
        phases => format!("{outcome}: {phases} phases"),
    };
    let completed = |todo: &Todo| {
        Event::Phase(PhaseEvent::TodoCompleted { id: todo.id, outcome: Some(outcome.clone()), unevidenced: false })
    };
    job.phase.todos.open().map(completed).collect()
}

/// The first `most` todos, and the texts of the rest.
fn split(mut todos: Vec<Todo>, most: usize) -> (Vec<Todo>, Vec<String>) {
    let rest = if todos.len() > most { todos.split_off(most) } else { Vec::new() };
    (todos, rest.into_iter().filter(|todo| todo.status.is_open()).map(|todo| todo.content).collect())
}

/// The title of the phase that takes the todos over the bound of the phase called `title`.
pub(super) fn continued(title: &str) -> String {
    format!("{title} (continued)")
}

/// No phases are left: the review begins, with the todos that the system sets.
fn start_review(job: &Job, at: Timestamp) -> Event {
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
    Event::Phase(PhaseEvent::PhaseStarted {
        number,
        attempt,
        kind: PhaseKind::Review,
        title: "Review".to_owned(),
        plan_phase: None,
        todos: TodoList::from_pairs(&pairs, at),
    })
}

fn feedback_steps(job: &Job) -> Vec<String> {
    let text = job.feedback.last().map(|text| clean(text)).unwrap_or_default();
    vec![format!("Address: {}", crate::tokens::head(&text, 100))]
}

/// The plan for a job whose model writes none: a phase per group of documents, unless readers read them all, then one
/// for the deliverables.
fn plan_of_the_system(spec: &JobSpec) -> Plan {
    let deliverables: Vec<String> =
        spec.instructions.deliverables.iter().map(|deliverable| format!("Write {}", deliverable.path)).collect();
    let documents = if spec.instructions.readers.is_some() { &[][..] } else { &spec.documents[..] };
    let mut phases: Vec<(String, Vec<String>)> = documents
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
    let what = if documents.is_empty() { "the deliverables" } else { "the documents in groups, then the deliverables" };
    Plan::write(&phases, &format!("Written by the system, because the model wrote no plan: {what}."))
}

/// The active form for a todo that came without one.
pub(super) fn active_form(content: &str) -> String {
    crate::tokens::head(&format!("Working on: {content}"), 120).to_owned()
}

/// The contents of the todos with this status.
pub(super) fn contents(todos: &TodoList, status: TodoStatus) -> Vec<String> {
    todos.all().iter().filter(|todo| todo.status == status).map(|todo| todo.content.clone()).collect()
}
