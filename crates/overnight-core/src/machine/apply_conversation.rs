//! The effects of a conversation's facts on the state. The job's own conversation and those of sub-agents are treated
//! alike, except for their roles.

use super::scans;
use crate::{
    job::{
        conversation::{Conversation, OWN},
        event::{BoardKind, ConversationEvent},
        failure::{Attempts, FailureKind, Remedy},
        part::Part,
        read_unit::ReadUnit,
        reply_calls::{DelegateReport, ReplyCalls},
        state::{CompactionDue, Job, Progress},
        sub_agent_role::SubAgentRole,
    },
    message::{Message, Stop, ToolCall},
    prompt::sub_agent_opening,
};

/// Applies an event of a conversation.
pub(super) fn apply_to_conversation(job: &mut Job, event: &ConversationEvent) {
    match event {
        ConversationEvent::CompactionNotDue { .. } => job.compaction.phase_ended = false,
        ConversationEvent::SubAgentStarted { conversation, role, tools, system_prompt, .. } => {
            job.sub_agents_begun = *conversation;
            let mut sub_agent = Conversation::new(*conversation, Some(role.clone()), *tools, system_prompt.text());
            if let SubAgentRole::Delegate { .. } = role {
                sub_agent.answers = first_unanswered(job);
            }
            if let (SubAgentRole::SecondReader { units }, Some(reading)) = (role, &mut job.proof.reading) {
                reading.on_sub_agent_started(units);
            }
            if let (SubAgentRole::Reader { part, .. }, Some(reading)) = (role, &mut job.part_reading) {
                reading.on_started(*part);
            }
            job.sub_agents.insert(*conversation, sub_agent);
        }
        ConversationEvent::EpochOpened { conversation, number, opening, images, tokens, .. } => {
            let Some(one) = job.conversation_mut(*conversation) else { return };
            let text = opening.iter().map(Part::text).collect();
            let board = opening.last().filter(|_| one.is_own()).map_or("", Part::text);
            let opening = Message::User { text, images: images.clone() };
            one.epoch.open(*number, &one.system_prompt, opening, board, *tokens);
            if *conversation == OWN {
                job.compaction = CompactionDue::default();
                job.on_shown(BoardKind::Todos);
            }
        }
        ConversationEvent::BoardShown { conversation, kind, board, line, tokens } => {
            let Some(one) = job.conversation_mut(*conversation) else { return };
            if !one.is_own() && one.effort.silent {
                one.asked += 1;
            }
            one.epoch.push_board(line, board.as_deref(), *tokens);
            if *conversation == OWN {
                job.compaction.todo_ended = false;
                job.on_shown(*kind);
            }
        }
        ConversationEvent::ModelReplied { .. } => on_replied(job, event),
        ConversationEvent::AttemptFailed { conversation, kind, .. } => {
            let number = failed_conversation(job, *conversation);
            let remedy = kind.remedy();
            let Some(one) = job.conversation_mut(number) else { return };
            one.submitted = None;
            one.attempts.failed += 1;
            one.attempts.unanswered += u32::from(*kind == FailureKind::Unanswered);
            one.attempts.unreadable = if remedy == Remedy::AskAgain { one.attempts.unreadable + 1 } else { 0 };
            match remedy {
                Remedy::Compact => one.attempts.too_long += 1,
                Remedy::Reopen => one.epoch.on_history_refused(),
                Remedy::Retry { .. } | Remedy::AskAgain | Remedy::Configure | Remedy::GiveUp => {}
            }
        }
        ConversationEvent::CallSubmitted { conversation, call, .. } => {
            if let Some(one) = job.conversation_mut(*conversation) {
                one.submitted = Some(call.clone());
            }
        }
        ConversationEvent::SubAgentEnded { conversation, end, report } => {
            let Some(sub_agent) = job.sub_agents.remove(conversation) else { return };
            match (&sub_agent.role, &sub_agent.answers) {
                (Some(SubAgentRole::Delegate { agent }), Some(call)) => {
                    let report = DelegateReport { agent: agent.clone(), end: *end, report: report.clone() };
                    job.own.calls.reports.insert(call.clone(), report);
                }
                (Some(SubAgentRole::SecondReader { units }), _) => on_reader_ended(job, &sub_agent, units),
                (Some(SubAgentRole::Transcriber { document, page, reader }), _) => {
                    scans::on_page_read(job, (document, *page, *reader), *end, report);
                }
                (Some(SubAgentRole::Reader { part, .. }), _) => {
                    if let Some(reading) = &mut job.part_reading {
                        reading.on_ended(*part);
                    }
                }
                (None | Some(SubAgentRole::Delegate { .. } | SubAgentRole::Verifier { .. }), _) => {}
            }
        }
        ConversationEvent::DocumentsGiven { conversation, calls } => {
            let calls = ReplyCalls::of(calls, &job.deliverables);
            if let Some(one) = job.conversation_mut(*conversation) {
                one.calls = calls;
            }
        }
    }
}

/// The call of `delegate` for which a sub-agent begins: the first that has no sub-agent.
fn first_unanswered(job: &Job) -> Option<String> {
    let due = job.due_call(&job.own)?;
    Some(due.said.id.clone())
}

/// The conversation of the attempt. Earlier journals don't name it: while a sub-agent works, the job's own waits.
fn failed_conversation(job: &Job, named: u32) -> u32 {
    if named == OWN { job.sub_agents.keys().next().copied().unwrap_or(OWN) } else { named }
}

fn on_replied(job: &mut Job, event: &ConversationEvent) {
    let ConversationEvent::ModelReplied {
        conversation,
        text,
        calls,
        usage,
        cost_usd,
        prompt_tokens,
        reply_tokens,
        carried,
        stop,
        ..
    } = event
    else {
        return;
    };
    job.totals.spent.add(usage, *cost_usd);
    if let (true, Progress::Planning(planning)) = (*conversation == OWN, &mut job.progress) {
        planning.asked += 1;
        planning.is_refused_now = false;
        planning.spent.add(usage, *cost_usd);
    } else {
        job.phase.spent.add(usage, *cost_usd);
    }
    // The digest covers the past; the results after it are still to be worked on.
    let is_digest = *conversation == OWN && job.progress == Progress::Digesting;
    let known = ReplyCalls::of(calls, &job.deliverables);
    let Some(one) = job.conversation_mut(*conversation) else { return };
    let withheld = if *stop == Stop::Refused { one.attempts.withheld + 1 } else { 0 };
    one.attempts = Attempts { withheld, ..Attempts::default() };
    one.submitted = None;
    one.turns += 1;
    one.is_cut = *stop == Stop::Length;
    one.counted = Some((usage.input, *prompt_tokens));
    one.calls = known;
    let shown = if is_digest {
        one.epoch.unanswered().iter().filter_map(|result| result.shown.clone()).collect()
    } else {
        one.epoch.on_answered()
    };
    for part in &shown {
        if one.coverage.add(part) {
            one.effort.on_change();
        }
    }
    let said: Vec<ToolCall> = calls.iter().map(|call| call.said.clone()).collect();
    one.epoch.push_reply(text, said, carried.as_ref(), *reply_tokens);
    one.effort.on_turn(calls.len());
    let role = one.role.clone();
    let Some(role) = role else {
        job.phase.tries += 1;
        return;
    };
    job.phase.sub_agent_turns += 1;
    if let Some(model) = job.spec.instructions.model_of(&role) {
        *job.turns_of_named.entry(model.to_owned()).or_default() += 1;
    }
    // Parts that a delegate or a reader reads count for the job; a second reader reads for itself.
    if let SubAgentRole::Delegate { .. } | SubAgentRole::Reader { .. } = role {
        for part in &shown {
            job.own.coverage.add(part);
        }
    }
}

fn on_reader_ended(job: &mut Job, sub_agent: &Conversation, units: &[ReadUnit]) {
    let file = sub_agent_opening::second_list(job).map(|found| sub_agent_opening::name(&found.path).to_owned());
    if let (Some(reading), Some(file)) = (&mut job.proof.reading, file) {
        let (read, rest) = units.iter().cloned().partition(|unit| sub_agent.has_read(&job.spec, unit));
        let list = (sub_agent.number, format!("{}{file}", sub_agent.folder()), units.to_vec());
        reading.on_sub_agent_ended(list, read, rest, &job.spec);
    }
}
