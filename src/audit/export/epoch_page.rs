//! A page for each epoch: all that the model was shown in it, message after message, and the turns at which it was asked. The
//! prompt of a turn is all that stands above it, and the tools.

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
    /// `second reader`; the job's own has none.
    role: Option<String>,
    opened: String,
    cause: &'static str,
    tools: Arc<[ToolSpec]>,
    /// The list of tools is the one that the journal names.
    are_tools_same: bool,
    entries: Vec<EpochEntry>,
    /// Messages of the epoch that are among the entries.
    seen: usize,
}

/// What stands on the page, in the order in which it came.
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

/// What an epoch is known by when it begins.
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

    /// Its name in the record's folder of pages.
    pub(super) fn name(&self) -> String {
        format!("epoch-{}-{:03}.html", self.conversation, self.number)
    }

    /// Takes the messages that have come since the last time; how many.
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

    /// The model was asked at `turn`, by the prompt that `history` is, of which the journal says `recorded`.
    pub(super) fn ask(&mut self, turn: u64, at: String, who: String, history: &Epoch, recorded: &str) {
        let is_same = history.prompt_sha256() == recorded;
        let (messages, sha256) = (self.seen, recorded.to_owned());
        self.entries.push(EpochEntry::Asked { turn, at, who, messages, sha256, is_same });
    }
}

/// Who speaks, and what is said.
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
