//! The end of a sub-agent, and the facts that follow from it for the job.

use super::{
    answers::{skipped_of, with_count},
    verifier,
};
use crate::{
    job::{
        conversation::Conversation,
        event::{ConversationEvent, Event, PhaseEvent},
        state::Job,
        sub_agent_role::{SubAgentEnd, SubAgentRole},
    },
    prompt::bounds,
    tokens::bounded,
};

/// Ends a sub-agent; its calls without a result get one first.
pub(super) fn end_sub_agent(job: &Job, sub_agent: &Conversation, end: SubAgentEnd, report: &str) -> Vec<Event> {
    let mut events = skipped_of(sub_agent, 0);
    events.extend(sub_agent_ended(job, sub_agent, end, report));
    events
}

/// A sub-agent has ended: its end, and the consequences for the job's own conversation.
pub(super) fn sub_agent_ended(job: &Job, sub_agent: &Conversation, end: SubAgentEnd, report: &str) -> Vec<Event> {
    let most = bounds::answer_tokens(&job.spec);
    // The text of a page is kept whole, however long it is.
    let report =
        if sub_agent.is_transcriber() { report.trim().to_owned() } else { bounded(report.trim(), most, "the journal") };
    let mut events = vec![Event::Conversation(ConversationEvent::SubAgentEnded {
        conversation: sub_agent.number,
        end,
        report: report.clone(),
    })];
    match &sub_agent.role {
        // The call that waits is answered after those before it; second readers are counted when all have ended,
        // and so are transcribers.
        None
        | Some(SubAgentRole::Delegate { .. } | SubAgentRole::SecondReader { .. } | SubAgentRole::Transcriber { .. }) => {
        }
        Some(SubAgentRole::Reader { .. }) => events.extend(part_ended(job, sub_agent, end, &report)),
        Some(SubAgentRole::Verifier { round }) => {
            events.extend(verifier::without_verdict(job, sub_agent.number, *round, end));
        }
    }
    events
}

/// Completes the todo of a reader's part at the reader's end; a part not read is left to the job's own model.
fn part_ended(job: &Job, sub_agent: &Conversation, end: SubAgentEnd, report: &str) -> Option<Event> {
    let SubAgentRole::Reader { part, .. } = sub_agent.role.as_ref()? else { return None };
    let todo = job.phase.todos.all().get((*part as usize).checked_sub(1)?)?;
    if end != SubAgentEnd::Reported || !todo.status.is_open() {
        return None;
    }
    let said = Some(report.trim()).filter(|said| !said.is_empty()).unwrap_or("read");
    let outcome = with_count(Some(said), sub_agent.effort.records);
    Some(Event::Phase(PhaseEvent::TodoCompleted { id: todo.id, outcome, unevidenced: false }))
}
