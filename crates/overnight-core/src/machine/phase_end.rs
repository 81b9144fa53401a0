//! The facts that end a phase, and with it the job, and the fact that holds a job.

use super::answers::{answered, in_conversation, returned, skipped, skipped_of};
use crate::{
    answer,
    job::{
        ending::Ending,
        event::{CallEnd, Event, LifeEvent, PhaseEvent, Why},
        hold_cause::HoldCause,
        state::Job,
    },
};

/// The fact that holds the job, with the cause for the journal.
pub(super) fn held(cause: &HoldCause) -> Event {
    Event::Life(LifeEvent::Held { reason: cause.reason(), detail: cause.to_string() })
}

/// The phase ends after `events`: the archive is owed, and the rest of the reply comes after it.
pub(super) fn end_phase(job: &Job, mut events: Vec<Event>, why: Why) -> Vec<Event> {
    let suffix = why.folder_suffix(job.phase.attempt);
    let folder = format!("phase-{:02}-{}{suffix}", job.phase.number, crate::job::plan::slug(&job.phase.title));
    events.push(Event::Phase(PhaseEvent::PhaseEnded { why, folder }));
    events
}

/// The job ends after `events`: by way of the phase's archive, where a phase is open.
pub(super) fn end_job(job: &Job, mut events: Vec<Event>, ending: Ending, why: Why) -> Vec<Event> {
    let answered = answered(&events);
    events.extend(skipped(&job.own, answered, &answer!("skipped.job_ended")));
    if job.is_phase_open() {
        events.push(Event::Life(LifeEvent::EndingDecided { ending: Box::new(ending) }));
        return end_phase(job, events, why);
    }
    events.push(Event::Life(LifeEvent::JobEnded { ending: Box::new(ending) }));
    events
}

/// Results for all waiting calls when the job ends. It may be unknown whether the first one was done.
pub(super) fn unanswered(job: &Job) -> Vec<Event> {
    let mut events = Vec::new();
    for one in job.sub_agents.values().chain([&job.own]) {
        let cut = one.calls.pending.front().filter(|_| one.calls.prepared.is_some());
        events.extend(cut.map(|call| {
            in_conversation(one, returned(&call.said, CallEnd::Interrupted, answer!("skipped.interrupted")))
        }));
        let answered = usize::from(cut.is_some());
        events.extend(if one.is_own() {
            skipped(one, answered, &answer!("skipped.job_ended"))
        } else {
            skipped_of(one, answered)
        });
    }
    events
}

pub(super) fn open_todos(job: &Job) -> Vec<String> {
    if job.is_phase_open() { job.phase.todos.open().map(|todo| todo.content.clone()).collect() } else { Vec::new() }
}
