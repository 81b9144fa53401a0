//! `main_plan.md` as the machine keeps it: a plan that the model saves is checked and put into form; ticks and marks
//! are set by the system.

use super::{phase_end, planning};
use crate::{
    amount::counted,
    answer,
    job::{
        event::{Event, ExaminedFiles, PersonEvent, PhaseEvent, PlanEvent, Why},
        part::Part,
        plan::{self, Plan, PlannedPhase},
        state::{Job, MEMORY_FILE, PLAN_FILE, Planning, Progress},
        todo::TodoStatus,
    },
};

/// Why a plan that the model has written is not saved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlanFault {
    #[error(transparent)]
    Refused(#[from] plan::PlanError),
    #[error("{0}")]
    OutsideBounds(String),
    #[error("the feedback needs work; add at least one new phase")]
    NothingForFeedback,
    #[error(
        "phase {number} '{title}' is being worked; keep its number and title, or call todo_rewind(issue) if it can't be worked as planned"
    )]
    WorkedPhaseGone { number: u32, title: String },
}

impl PlanFault {
    /// Whether the same plan would be taken the next time.
    pub(super) fn is_of_bounds(&self) -> bool {
        match self {
            Self::OutsideBounds(_) => true,
            Self::Refused(_) | Self::NothingForFeedback | Self::WorkedPhaseGone { .. } => false,
        }
    }
}

/// A plan as the model saved it, with the marks that are the system's.
pub(super) fn read_plan(job: &Job, text: &str) -> Result<Plan, plan::PlanError> {
    let saved = Plan::parse(text)?;
    let Some(before) = &job.plan else {
        return Ok(saved.without_marks().mark_current());
    };
    let after = saved.with_marks_of(before);
    Plan::check_update(before, &after)?;
    Ok(after.mark_current())
}

pub(super) fn check_plan(job: &Job, text: &str) -> Result<(), PlanFault> {
    let after = read_plan(job, text)?;
    let refusals = job.planning().map_or(job.phase.refused_for_bounds, |planning| planning.refused);
    if refusals == 0
        && let Some(reason) = planning::outside_bounds(job, &after)
    {
        return Err(PlanFault::OutsideBounds(reason));
    }
    match job.planning() {
        Some(Planning { why: Why::Feedback { .. }, .. })
            if after.current().is_none_or(|phase| plan::is_final_review(&phase.title)) =>
        {
            Err(PlanFault::NothingForFeedback)
        }
        Some(_) => Ok(()),
        None => check_worked(job, &after),
    }
}

/// The phase that is being worked keeps its number and title: at its end, the plan's phase of that number is marked
/// complete, and it must be the one that was worked.
fn check_worked(job: &Job, after: &Plan) -> Result<(), PlanFault> {
    let Some(number) = job.phase.plan_phase.filter(|_| job.is_phase_open()) else {
        return Ok(());
    };
    let stays = after.phases().iter().any(|phase| phase.number == number && phase.title == job.phase.title);
    if stays {
        return Ok(());
    }
    Err(PlanFault::WorkedPhaseGone { number, title: job.phase.title.clone() })
}

/// The model has saved a plan: `result` states how it is understood. In the bootstrap, nothing else is required.
pub(super) fn on_plan_saved(job: &Job, text: &str, result: &mut String) -> Vec<Event> {
    let Ok(plan) = read_plan(job, text) else { return Vec::new() };
    result.push(' ');
    result.push_str(&answer!("done.plan_understood", phases = counted(plan.phases().len() as u64, "phase")));
    let mut events =
        vec![Event::Plan(PlanEvent::PlanSaved { text: plan.text().into(), phases: plan.phases().to_vec() })];
    if plan.text() != text {
        events.push(plan_set(&plan, "put into the plan's form".to_owned()));
    }
    events.extend(planning::outside_bounds(job, &plan).map(|warning| Event::Plan(PlanEvent::TodosWarned { warning })));
    if job.is_bootstrap() && job.is_executing() {
        events.extend(planning::bootstrap_done(job, "saved", &plan));
        return phase_end::end_phase(job, events, Why::PhaseDone);
    }
    events
}

/// A person has edited files while the job was held.
pub(super) fn on_files_edited(job: &Job, plan: Option<Plan>, memory: Option<String>) -> Vec<Event> {
    let changed = [(plan.is_some(), PLAN_FILE), (memory != job.memory, MEMORY_FILE)];
    let files: Vec<String> =
        changed.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, file)| file.to_owned()).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let mut events = vec![Event::Person(PersonEvent::FilesEdited { files, memory: memory.map(Part::from) })];
    if let Some(plan) = plan {
        events.push(plan_read(&plan));
        events.push(plan_set(&plan.mark_current(), "edited by a person".to_owned()));
    }
    events
}

pub(super) fn on_files_examined(job: &Job, files: ExaminedFiles) -> Vec<Event> {
    let marked = marked(job, &files);
    // The plan that a person has left on the disk is valid from here on, even if the system marks nothing in it.
    let known = job.plan.as_ref().map(Plan::text);
    let other = files.plan.as_ref().map(Part::text).filter(|text| known != Some(*text));
    let edited = other.and_then(|text| Plan::parse(text).ok()).filter(|plan| known != Some(plan.text()));
    let begins = matches!(job.progress, Progress::Examining { why: None });
    let mut events = vec![Event::Plan(PlanEvent::FilesExamined { files })];
    events.extend(edited.as_ref().map(plan_read));
    events.extend(marked.map(|(plan, because)| plan_set(&plan, because)));
    if begins {
        // The summary is written, and the task and the documents stand in the opening.
        let done = job.phase.todos.open().take(planning::SYSTEM_TODOS);
        events.extend(done.map(|todo| {
            Event::Phase(PhaseEvent::TodoCompleted {
                id: todo.id,
                outcome: Some("done by the system".to_owned()),
                unevidenced: false,
            })
        }));
    }
    events
}

/// The plan with the system's own part (ticks and marks of the phase that ended), and why it was changed; `None` if
/// it stands like this on the disk.
pub(super) fn marked(job: &Job, files: &ExaminedFiles) -> Option<(Plan, String)> {
    let read = files.plan.as_ref().map(Part::text).map(|text| match &job.plan {
        // Parsing a plan's own text changes nothing.
        Some(plan) if plan.text() == text => Ok(plan.clone()),
        Some(_) | None => Plan::parse(text),
    });
    let because = match &read {
        Some(Err(error)) => {
            format!("main_plan.md could not be read as a plan ({error}); the last good one stays")
        }
        Some(Ok(_)) | None => "ticks and marks of the phase that has ended".to_owned(),
    };
    let plan = read.and_then(Result::ok).or_else(|| job.plan.clone())?;
    let Progress::Examining { why } = &job.progress else {
        return None;
    };
    let worked = why.as_ref().zip(job.past.last()).and_then(|(why, past)| {
        // A person may have moved the phase meanwhile; a phase that isn't there any more is not marked.
        let number = past.phase.plan_phase?;
        let worked = |phase: &&PlannedPhase| phase.title == past.phase.title;
        let same = plan.phases().iter().filter(worked).min_by_key(|phase| phase.number.abs_diff(number))?;
        Some((why, &past.phase.todos, same))
    });
    let marked = match worked {
        Some((Why::PhaseDone, todos, same)) => {
            let mut unfinished = planning::contents(todos, TodoStatus::Cancelled);
            // Todos over the bound were put off to the phase after it, and are not done yet.
            let rest = plan.phases().iter().filter(|phase| phase.title == planning::continued(&same.title));
            unfinished.extend(rest.flat_map(|phase| &phase.steps).map(|step| step.text.clone()));
            plan.complete_phase(same.number, &unfinished).mark_current()
        }
        Some((why, todos, same)) if why.is_early_end() => {
            plan.tick(same.number, &planning::contents(todos, TodoStatus::Completed)).mark_current()
        }
        Some(_) | None => plan.mark_current(),
    };
    (files.plan.as_ref().map(Part::text) != Some(marked.text())).then_some((marked, because))
}

/// A plan as a fact.
pub(super) fn plan_set(plan: &Plan, because: String) -> Event {
    Event::Plan(PlanEvent::PlanSet { text: plan.text().into(), phases: plan.phases().to_vec(), because })
}

/// The plan that a person has left on the disk, as a fact.
pub(super) fn plan_read(plan: &Plan) -> Event {
    Event::Plan(PlanEvent::PlanRead { text: plan.text().into(), phases: plan.phases().to_vec() })
}
