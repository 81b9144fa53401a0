//! A page for each epoch: all messages that the model was shown in it, in order, and the turns at which the model was
//! asked. The prompt of a turn is everything above it on the page, and the tools.

use askama::Template;
use overnight_core::{
    job::{epoch::Epoch, event::EpochCause},
    message::{Message, ToolSpec, with_images},
};
use std::sync::Arc;

#[derive(Debug, Template)]
#[template(path = "audit/export/epoch.html")]
pub(super) struct EpochPage {
    conversation: u32,
    number: u32,
    /// `second reader`; `None` for the job's own conversation.
    role: Option<String>,
    opened: String,
    cause: &'static str,
    tools: Arc<[ToolSpec]>,
    /// The list of tools has the hash that the journal names.
    are_tools_same: bool,
    entries: Vec<EpochEntry>,
    /// Number of the epoch's messages that are already among the entries.
    seen: usize,
}

/// An entry of the page, in chronological order.
#[derive(Debug)]
enum EpochEntry {
    Message {
        number: usize,
        head: String,
        text: String,
    },
    /// The model was asked, with all messages so far.
    Asked {
        turn: u64,
        at: String,
        who: String,
        messages: usize,
        sha256: String,
        is_same: bool,
    },
}

/// The facts about an epoch that are known when it begins.
#[derive(Debug)]
pub(super) struct EpochBegin {
    pub conversation: u32,
    pub number: u32,
    pub role: Option<String>,
    pub opened: String,
    pub cause: EpochCause,
    pub tools: Arc<[ToolSpec]>,
    pub are_tools_same: bool,
}

impl EpochPage {
    pub(super) fn new(begin: EpochBegin) -> Self {
        let EpochBegin { conversation, number, role, opened, cause, tools, are_tools_same } = begin;
        let cause = crate::audit::event_text::cause_text(cause);
        Self { conversation, number, role, opened, cause, tools, are_tools_same, entries: Vec::new(), seen: 0 }
    }

    /// File name of the page in the record's folder of pages.
    pub(super) fn name(&self) -> String {
        format!("epoch-{}-{:03}.html", self.conversation, self.number)
    }

    /// Adds the messages that are new since the last call, and returns their number.
    pub(super) fn take(&mut self, history: &Epoch) -> usize {
        let messages = history.messages();
        let new = messages.get(self.seen..).unwrap_or_default();
        for (number, message) in (self.seen + 1..).zip(new) {
            let (head, text) = told(message);
            self.entries.push(EpochEntry::Message { number, head, text });
        }
        let count = new.len();
        self.seen += count;
        count
    }

    /// Adds the model call at `turn`. `history` is its prompt, and `recorded` the prompt's hash in the journal.
    pub(super) fn ask(&mut self, turn: u64, at: String, who: String, history: &Epoch, recorded: &str) {
        let is_same = history.prompt_sha256() == recorded;
        let (messages, sha256) = (self.seen, recorded.to_owned());
        self.entries.push(EpochEntry::Asked { turn, at, who, messages, sha256, is_same });
    }
}

/// The speaker and the text of a message.
fn told(message: &Message) -> (String, String) {
    match message {
        Message::System { text } => ("system prompt".to_owned(), text.clone()),
        Message::User { text, images } => ("from the runner".to_owned(), with_images(text, images)),
        Message::Tool { call, name, text, images } => (format!("result of {name} ({call})"), with_images(text, images)),
        Message::Assistant { text, calls, carried } => {
            let calls = calls.iter().map(|call| format!("[{}] {} {}", call.id, call.name, call.arguments));
            let carried = carried.iter().map(|carried| format!("[carried for the vendor] {carried}"));
            let said = Some(text.clone()).filter(|text| !text.is_empty());
            let lines: Vec<String> = said.into_iter().chain(calls).chain(carried).collect();
            ("from the model".to_owned(), lines.join("\n"))
        }
    }
}
