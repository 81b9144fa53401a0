//! The obligations towards a sub-agent: the results of its calls, the runner's message, its end. All of it happens in
//! its own conversation, and its end returns what the job's own waits for.

use super::{
    answers::{in_conversation, refusal, returned, skipped_of, unseen},
    part_reading,
    phase_end::held,
    scans, sub_agent_end, sub_agent_start,
};
use crate::{
    answer,
    job::{
        call::{ControlCall, FileChange, ParsedCall, PendingCall, ReadCall, WorkCall, plain_path},
        conversation::{Conversation, MOST_ASKED, MOST_TURNS},
        event::{BoardKind, CallEnd, ConversationEvent, Event},
        failure::MOST_WITHHELD,
        reply_calls::{DelegateReport, ReplyCalls},
        state::{INSTRUCTIONS_FILE, Job},
        sub_agent_role::{SubAgentEnd, SubAgentRole},
        tool::Tool,
    },
    message::ToolCall,
    prompt::{
        bounds,
        compact::{self, FRAME},
        sub_agent_opening,
    },
    tokens::{estimate, head},
};

/// The facts that follow from a sub-agent's state alone, where some do.
pub(super) fn owed_by_sub_agent(job: &Job, sub_agent: &Conversation, role: &SubAgentRole) -> Option<Vec<Event>> {
    if let Some(pending) = sub_agent.calls.pending.front() {
        return owed_to_call_of(job, sub_agent, role, pending);
    }
    if let Some(cause) = job.limit_reached() {
        return Some(vec![held(&cause)]);
    }
    if sub_agent.attempts.withheld >= MOST_WITHHELD {
        return Some(sub_agent_end::end_sub_agent(job, sub_agent, SubAgentEnd::Withheld, ""));
    }
    if sub_agent.is_transcriber()
        && let Some(events) = scans::owed_by_transcriber(job, sub_agent)
    {
        return Some(events);
    }
    if let SubAgentRole::Reader { .. } = role
        && let Some(events) = part_reading::owed_by_reader(job, sub_agent)
    {
        return Some(events);
    }
    if sub_agent.effort.silent && !sub_agent.epoch.is_complete() {
        if let SubAgentRole::Delegate { .. } = role {
            let said = sub_agent.epoch.last_reply().unwrap_or_default();
            return Some(sub_agent_end::end_sub_agent(job, sub_agent, SubAgentEnd::Reported, said));
        }
        if sub_agent.asked >= MOST_ASKED {
            return Some(sub_agent_end::end_sub_agent(job, sub_agent, SubAgentEnd::Unfinished, ""));
        }
    }
    let end = if sub_agent.turns >= MOST_TURNS {
        SubAgentEnd::TurnsUsed
    } else if sub_agent.effort.stuck().is_some() {
        SubAgentEnd::Stuck
    } else if !compact::has_room(&job.spec, sub_agent, FRAME + estimate(&line_of(job, sub_agent))) {
        SubAgentEnd::Full
    } else {
        return None;
    };
    Some(sub_agent_end::end_sub_agent(job, sub_agent, end, ""))
}

/// The part of a sub-agent's work that is missing, in a sentence for it.
fn lacks(job: &Job, sub_agent: &Conversation) -> Option<String> {
    match sub_agent.role.as_ref()? {
        SubAgentRole::Delegate { .. } | SubAgentRole::Transcriber { .. } => None,
        SubAgentRole::Reader { .. } => Some(answer!("lacks.records_of_part")),
        SubAgentRole::SecondReader { .. } => {
            let unread: Vec<String> =
                sub_agent.unread(&job.spec).into_iter().map(sub_agent_opening::unit_told).collect();
            (!unread.is_empty()).then(|| answer!("lacks.unread_parts", parts = unread.join(", ")))
        }
        SubAgentRole::Verifier { .. } => Some(answer!("lacks.verdict")),
    }
}

fn owed_to_call_of(
    job: &Job,
    sub_agent: &Conversation,
    role: &SubAgentRole,
    PendingCall { said, tool, call }: &PendingCall,
) -> Option<Vec<Event>> {
    let refused = |text: String| Some(vec![in_conversation(sub_agent, refusal(said, text))]);
    if let Some(tool) = tool
        // The reads of the system for its opening are no calls of the sub-agent.
        && sub_agent.epoch.number > 0
        && !sub_agent.tools.contains(*tool)
    {
        let names: Vec<&str> = sub_agent.tools.iter().map(Tool::name).collect();
        if names.is_empty() {
            return refused(answer!("refused.no_tools"));
        }
        return refused(answer!("refused.not_its_tool", tool = tool.name(), tools = names.join(", ")));
    }
    match call {
        ParsedCall::Invalid { reason } => refused(reason.clone()),
        // Work that is claimed to be done was not done.
        ParsedCall::Control(ControlCall::Report(_) | ControlCall::Verdict(_))
            if let Some(text) = undone(&sub_agent.calls) =>
        {
            Some(vec![in_conversation(sub_agent, returned(said, CallEnd::Skipped, text))])
        }
        ParsedCall::Control(ControlCall::Report(text)) => match lacks(job, sub_agent) {
            Some(lacks) if sub_agent.asked < MOST_ASKED => refused(lacks),
            lacks => {
                let end = if lacks.is_none() { SubAgentEnd::Reported } else { SubAgentEnd::Unfinished };
                let taken = returned(said, CallEnd::Done, answer!("done.report_taken"));
                let mut events = vec![in_conversation(sub_agent, taken)];
                events.extend(skipped_of(sub_agent, 1));
                events.extend(sub_agent_end::sub_agent_ended(job, sub_agent, end, text));
                Some(events)
            }
        },
        // Quotes are looked for first.
        ParsedCall::Control(ControlCall::Verdict(_)) => None,
        ParsedCall::Control(_) => refused(answer!("refused.not_for_sub_agents")),
        ParsedCall::Work(call) if call.fills_the_context() && bounds::is_full(&job.spec, sub_agent) => {
            let text = answer!("skipped.context_full");
            Some(vec![in_conversation(sub_agent, returned(said, CallEnd::Skipped, text))])
        }
        ParsedCall::Work(WorkCall::Change(change))
            if !is_own(sub_agent, change) && !is_of_readers(job, sub_agent, change) =>
        {
            refused(answer!("refused.outside_its_folder", folder = sub_agent.folder()))
        }
        ParsedCall::Work(WorkCall::Read(ReadCall::ReadFile(read)))
            if matches!(role, SubAgentRole::Verifier { .. }) && !is_result(&read.path) =>
        {
            refused(answer!("refused.not_to_be_judged", file = INSTRUCTIONS_FILE))
        }
        ParsedCall::Work(_) => None,
    }
}

/// The runner's message with a sub-agent's newest result.
pub(super) fn word_to(job: &Job, sub_agent: &Conversation) -> Event {
    if sub_agent.epoch.number == 0 {
        return sub_agent_start::opening_of(job, sub_agent, "");
    }
    let line = line_of(job, sub_agent);
    let tokens = FRAME + estimate(&line);
    Event::Conversation(ConversationEvent::BoardShown {
        conversation: sub_agent.number,
        kind: BoardKind::SubAgent,
        board: None,
        line,
        tokens,
    })
}

/// `[runner 3f9a1b2c · sub-agent 2 · turn 3 of 40]`, with the missing work if the sub-agent stopped without it.
fn line_of(job: &Job, sub_agent: &Conversation) -> String {
    let mark = crate::prompt::opening::runner_mark(job);
    let line = format!("[{mark} · sub-agent {} · turn {} of {MOST_TURNS}]", sub_agent.number, sub_agent.turns + 1);
    if !sub_agent.effort.silent || sub_agent.turns == 0 {
        return line;
    }
    let lacks = lacks(job, sub_agent).unwrap_or_else(|| answer!("lacks.report"));
    format!("{line}\n<reminder>{}</reminder>", answer!("reminder.sub_agent_called_no_tool", lacks))
}

/// Whether a change adds to the list of the readers.
fn is_of_readers(job: &Job, of: &Conversation, change: &FileChange) -> bool {
    let readers = job.spec.instructions.readers.as_ref();
    matches!(of.role, Some(SubAgentRole::Reader { .. }))
        && readers.is_some_and(|readers| readers.deliverable == change.plain_path())
}

/// Readers and second readers write to one list, whatever path they give for their records.
pub(super) fn as_understood(job: &Job, of: &Conversation, mut pending: PendingCall) -> PendingCall {
    if let (Some(SubAgentRole::Reader { .. }), Some(readers)) = (&of.role, &job.spec.instructions.readers)
        && let ParsedCall::Work(WorkCall::Change(FileChange::Records(add))) = &mut pending.call
    {
        add.path.clone_from(&readers.deliverable);
    }
    if let Some(SubAgentRole::SecondReader { .. }) = of.role
        && let ParsedCall::Work(WorkCall::Change(FileChange::Records(add))) = &mut pending.call
        && let Some(deliverable) = sub_agent_opening::second_list(job)
    {
        add.path = format!("{}{}", of.folder(), sub_agent_opening::name(&deliverable.path));
    }
    pending
}

/// The result of a `delegate` call.
pub(super) fn reported(said: &ToolCall, DelegateReport { agent, end, report }: &DelegateReport) -> Event {
    let (call_end, text) = match end {
        SubAgentEnd::Reported => (CallEnd::Done, answer!("report.given", agent, report)),
        SubAgentEnd::Unfinished
        | SubAgentEnd::TurnsUsed
        | SubAgentEnd::Stuck
        | SubAgentEnd::Full
        | SubAgentEnd::Withheld
        | SubAgentEnd::Failed => (CallEnd::Failed, answer!("report.missing", agent, end = end.told())),
    };
    returned(said, call_end, text)
}

/// Why nothing ends after the calls of this reply: one was not done, or returned a problem that was not seen yet.
fn undone(calls: &ReplyCalls) -> Option<String> {
    let name = calls.unreadable.as_ref().or(calls.skipped.as_ref()).map(|name| head(name, 20));
    let was_not_done = |name: &str| answer!("skipped.not_done_before", name);
    name.map(was_not_done).or_else(|| calls.sent_back.first().map(unseen))
}

/// Whether a change stays in the sub-agent's own folder.
fn is_own(sub_agent: &Conversation, change: &FileChange) -> bool {
    change.plain_path().starts_with(&sub_agent.folder())
}

fn is_result(path: &str) -> bool {
    let path = plain_path(path);
    path.starts_with("output/") || path == INSTRUCTIONS_FILE
}
