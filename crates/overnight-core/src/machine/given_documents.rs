//! Small documents come with the first opening: the system reads them before the model is asked, so that one reply can
//! do the whole job. Their texts are results like any other that the model has not answered yet.

use crate::{
    job::{
        call::PendingCall,
        conversation::OWN,
        event::{ConversationEvent, Event},
        state::Job,
        tool::Tool,
    },
    message::ToolCall,
    prompt::compact,
};
use serde_json::{Value, json};

impl Job {
    /// The reads that come before the first opening, if they are due.
    pub(super) fn owed_to_opening(&self) -> Option<Vec<Event>> {
        let own = &self.own;
        let is_read = own.epoch.number > 0 || !own.calls.pending.is_empty() || !own.epoch.unanswered().is_empty();
        (!is_read && !self.owes_pages() && compact::are_given(&self.spec)).then(|| {
            let readable = self.spec.documents.iter().filter(|document| document.tokens > 0);
            let calls = read_calls(readable.map(|document| json!({"name": document.name})));
            vec![Event::Conversation(ConversationEvent::DocumentsGiven { conversation: OWN, calls })]
        })
    }
}

/// The calls by which the system reads for an opening, each with these arguments.
pub(super) fn read_calls(arguments: impl Iterator<Item = Value>) -> Vec<PendingCall> {
    let call = |(place, arguments): (usize, Value)| ToolCall {
        id: format!("call_0_{}", place + 1),
        name: Tool::ReadDocument.name().to_owned(),
        arguments,
    };
    arguments.enumerate().map(call).map(PendingCall::new).collect()
}
