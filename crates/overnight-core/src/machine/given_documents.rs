//! Documents that are small come with the first opening: the system reads them before the model is asked, so that one reply can do
//! the whole job. Their texts are results like any other, which the model has not answered to.

use crate::{
    job::{
        call::{PendingCall, Tool},
        conversation::OWN,
        event::Event,
        instructions::InlineDocuments,
        spec::JobSpec,
        state::Job,
    },
    message::ToolCall,
    prompt::{bounds, compact},
};
use serde_json::json;

/// Tokens of what stands around the text of a document.
const AROUND_TOKENS: u64 = 40;

impl Job {
    /// The reads that come before the first opening, where they are due.
    pub(super) fn owed_to_opening(&self) -> Option<Vec<Event>> {
        let own = &self.own;
        let is_read = own.epoch.number > 0 || !own.calls.pending.is_empty() || !own.epoch.unanswered().is_empty();
        (!is_read && !self.owes_pages() && are_given(&self.spec)).then(|| {
            let readable = self.spec.documents.iter().filter(|document| document.tokens > 0);
            let said = readable.enumerate().map(|(place, document)| ToolCall {
                id: format!("call_0_{}", place + 1),
                name: Tool::ReadDocument.name().to_owned(),
                arguments: json!({"name": document.name}),
            });
            let calls = said.map(PendingCall::new).collect();
            vec![Event::DocumentsGiven { conversation: OWN, calls }]
        })
    }
}

/// Whether the text of all documents stands in the first opening: it has room in what one reply may bring.
pub fn are_given(spec: &JobSpec) -> bool {
    let readable = spec.documents.iter().filter(|document| document.tokens > 0);
    let tokens: u64 = readable.map(|document| document.read_tokens() + AROUND_TOKENS).sum();
    let is_wanted = spec.instructions.context.inline == InlineDocuments::Auto
        && spec.instructions.readers.is_none()
        && compact::fits(spec);
    is_wanted && tokens > 0 && tokens <= bounds::reply_tokens(spec)
}
