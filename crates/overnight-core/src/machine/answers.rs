//! Results that the machine itself gives to calls, and events of one conversation.

use crate::{
    amount::counted,
    answer,
    job::{
        conversation::Conversation,
        event::{CallEnd, ConversationEvent, Event, ToolEvent, ToolResult},
        reply_calls::{SentBack, SentBackKind},
    },
    message::ToolCall,
    prompt::compact::FRAME,
    tokens::{estimate, head},
};
/// A refusal by the machine, and what to do instead.
pub(super) fn refusal(call: &ToolCall, reason: impl Into<String>) -> Event {
    returned(call, CallEnd::Refused, reason)
}

/// Estimated tokens of a result in the history.
pub(super) fn result_tokens(text: &str) -> u64 {
    FRAME + estimate(text)
}

pub(super) fn returned(call: &ToolCall, end: CallEnd, text: impl Into<String>) -> Event {
    let result = ToolResult::plain(end, text);
    let tokens = result_tokens(&result.text);
    Event::Tool(ToolEvent::ToolReturned {
        conversation: 0,
        call: call.id.clone(),
        name: call.name.clone(),
        result,
        tokens,
    })
}

/// Why nothing can be claimed as done after a problem: the model has not seen it yet.
pub(super) fn unseen(SentBack { name, what }: &SentBack) -> String {
    let what = match what {
        SentBackKind::Failed => "failed".to_owned(),
        SentBackKind::Refused => "was refused".to_owned(),
        SentBackKind::Records(number) => {
            format!("sent back {}", if *number == 1 { "a record".to_owned() } else { counted(*number, "record") })
        }
        SentBackKind::Checks { names, .. } => format!("found what fails ({})", names.join("; ")),
    };
    answer!("skipped.look_first", name = head(name, 20), what)
}

/// The same event, in the given conversation.
pub(super) fn in_conversation(of: &Conversation, mut event: Event) -> Event {
    match &mut event {
        Event::Tool(ToolEvent::ToolReturned { conversation, .. } | ToolEvent::ToolStarted { conversation, .. })
        | Event::Conversation(
            ConversationEvent::BoardShown { conversation, .. } | ConversationEvent::ModelReplied { conversation, .. },
        ) => *conversation = of.number,
        _ => {}
    }
    event
}

/// Every call gets exactly one result: those of a conversation after the first `answered` get this one.
pub(super) fn skipped(of: &Conversation, answered: usize, text: &str) -> Vec<Event> {
    let left = of.calls.pending.iter().skip(answered);
    left.map(|call| in_conversation(of, returned(&call.said, CallEnd::Skipped, text))).collect()
}

/// Its calls after the first `answered`, when a sub-agent has ended.
pub(super) fn skipped_of(sub_agent: &Conversation, answered: usize) -> Vec<Event> {
    skipped(sub_agent, answered, &answer!("skipped.sub_agent_ended"))
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

/// How many of the reply's calls `events` answer.
pub(super) fn answered(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Tool(ToolEvent::ToolReturned { .. }))).count()
}
