//! The epoch: one history that only grows. It begins with the opening, and each entry stays as it was sent until a
//! compaction ends the epoch and opens the next one: vendors refuse a history in which anything earlier has changed,
//! and their caches serve one that has not. Every text in it comes from an event.

use super::{
    digest::RunningSha256,
    event::{ShownPart, ToolResult},
};
use crate::message::{Image, Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{io::Write, sync::Arc};

/// The number of refusals after which no reasoning is sent back.
const MOST_REFUSED: u32 = 2;

/// Why an epoch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpochCause {
    /// The job begins, or a sub-agent does.
    Begun,
    /// A phase has ended, and the next one has its todos.
    PhaseEnded,
    /// A todo has ended, in a long conversation.
    TodoEnded,
    /// The prompt has grown to its share of the budget.
    Full,
    /// The provider says that the prompt is too long for it.
    TooLong,
    /// The provider refused its own reasoning with the history.
    HistoryRefused,
    /// A person sent the job back.
    Feedback,
    /// Another model goes on.
    ModelChanged,
    /// Another version of the program goes on, with other tools.
    ToolsChanged,
    /// A person has changed plan or memory.
    FilesEdited,
}

/// The history since the last compaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Epoch {
    /// The number of the epoch, from 1; 0 before the first is opened.
    pub number: u32,
    /// The messages, shared with the prompts that are made of them.
    messages: Vec<Arc<Message>>,
    /// The hash of all messages, while the last one is the runner's.
    hash: RunningSha256,
    hashed: usize,
    tokens: u64,
    opening_tokens: u64,
    unanswered: Vec<UnansweredResult>,
    board: Option<String>,
    histories_refused: u32,
    is_complete: bool,
}

/// A result that the model has not answered yet. If the epoch ends first, the next opening shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct UnansweredResult {
    /// The call's name: `call_12_1`.
    pub call: String,
    /// The tool, as the model named it.
    pub name: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// The text, as the conversation has it.
    pub text: String,
    /// The images of the result.
    pub images: Vec<Image>,
    /// Estimated tokens of text and images.
    pub tokens: u64,
    /// The part of a document that the text shows.
    pub shown: Option<ShownPart>,
}

impl Epoch {
    /// The messages in wire order, beginning with the system prompt. A last result without a board will still change
    /// before it is sent.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The name of the prompt that these messages are, once they are complete: see `prompt::compose::prompt_sha256`.
    pub fn prompt_sha256(&self) -> String {
        self.hash.so_far()
    }

    /// Estimated tokens of all messages.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Estimated tokens of the messages since the opening.
    pub fn conversation_tokens(&self) -> u64 {
        self.tokens.saturating_sub(self.opening_tokens)
    }

    /// Whether the last message is the runner's, with the board, so that a model can answer.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The board as it was last shown in full in this epoch.
    pub fn board(&self) -> Option<&str> {
        self.board.as_deref()
    }

    /// The text of the model's last reply; `None` before the first one.
    pub fn last_reply(&self) -> Option<&str> {
        self.messages.iter().rev().find_map(|message| match &**message {
            Message::Assistant { text, .. } => Some(text.as_str()),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
        })
    }

    /// Results that the model has not answered to, oldest first.
    pub fn unanswered(&self) -> &[UnansweredResult] {
        &self.unanswered
    }

    /// Estimated tokens of those results.
    pub fn unanswered_tokens(&self) -> u64 {
        self.unanswered.iter().map(|result| result.tokens).sum()
    }

    /// Marks all unanswered results except the first `kept` as not shown.
    pub(crate) fn hide_results(&mut self, kept: usize) {
        self.unanswered.iter_mut().skip(kept).for_each(|result| result.shown = None);
    }

    /// Begins a new history. Unanswered results stay unanswered: `opening`, a user's message, contains them. Results
    /// without room there count as not shown.
    pub(crate) fn open(&mut self, number: u32, system_prompt: &str, opening: Message, board: &str, tokens: u64) {
        if let Message::User { text, .. } = &opening {
            let stand = self.unanswered.iter().take_while(|result| text.contains(&result.text)).count();
            self.hide_results(stand);
        }
        self.number = number;
        let system = Message::System { text: system_prompt.to_owned() };
        self.messages = [system, opening].map(Arc::new).into();
        (self.hash, self.hashed) = (RunningSha256::default(), 0);
        (self.tokens, self.opening_tokens) = (tokens, tokens);
        self.board = Some(board.to_owned());
        self.complete();
    }

    /// The runner's message is complete: no message changes any more.
    fn complete(&mut self) {
        self.messages[self.hashed..].iter().for_each(|message| hash_message(&mut self.hash, message));
        self.hashed = self.messages.len();
        self.is_complete = true;
    }

    /// The model has answered: returns the parts of documents that it was shown.
    pub(crate) fn on_answered(&mut self) -> Vec<ShownPart> {
        std::mem::take(&mut self.unanswered).into_iter().filter_map(|result| result.shown).collect()
    }

    /// The provider refused its own reasoning in the history. Once may be chance; after that it gets none back.
    pub(crate) fn on_history_refused(&mut self) {
        self.histories_refused += 1;
    }

    /// Adds the model's reply: its text and its calls.
    pub(crate) fn push_reply(&mut self, text: &str, calls: Vec<ToolCall>, carried: Option<&Arc<Value>>, tokens: u64) {
        let carried = carried.filter(|_| self.histories_refused < MOST_REFUSED);
        // Some providers refuse a prompt with an empty message in it.
        let text = if text.trim().is_empty() && calls.is_empty() { "(an empty reply)" } else { text };
        let reply = Message::Assistant { text: text.to_owned(), calls, carried: carried.cloned() };
        self.messages.push(Arc::new(reply));
        self.tokens += tokens;
        self.is_complete = false;
    }

    /// Whether reasoning is sent back with any reply.
    pub(crate) fn has_reasoning(&self) -> bool {
        self.messages.iter().any(|message| matches!(&**message, Message::Assistant { carried: Some(_), .. }))
    }

    /// Adds the result of a call.
    pub(crate) fn push_result(&mut self, call: &ToolCall, result: &ToolResult, tokens: u64) {
        self.messages.push(Arc::new(Message::Tool {
            call: call.id.clone(),
            name: call.name.clone(),
            text: result.text.clone(),
            images: result.images.clone(),
        }));
        self.unanswered.push(UnansweredResult {
            call: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            text: result.text.clone(),
            images: result.images.clone(),
            tokens,
            shown: result.shown.clone(),
        });
        self.tokens += tokens;
        self.is_complete = false;
    }

    /// Adds the runner's message to the newest result; it is a message of its own only after a reply without calls. It
    /// begins with `line`, whose mark identifies the runner.
    pub(crate) fn push_board(&mut self, line: &str, board: Option<&str>, tokens: u64) {
        let parts: Vec<&str> = [Some(line), board].into_iter().flatten().collect();
        let text = parts.join("\n");
        match self.messages.last_mut().map(Arc::make_mut) {
            Some(Message::Tool { text: result, .. }) => {
                result.push_str("\n\n");
                result.push_str(&text);
            }
            Some(Message::System { .. } | Message::User { .. } | Message::Assistant { .. }) | None => {
                self.messages.push(Arc::new(Message::user(text)));
            }
        }
        if let Some(board) = board {
            self.board = Some(board.to_owned());
        }
        self.tokens += tokens;
        self.complete();
    }
}

/// Adds a message to the hash that identifies a prompt: its messages as JSON lines.
pub(crate) fn hash_message(hash: &mut RunningSha256, message: &Message) {
    // A message is a plain tree of strings: neither writing it nor hashing it can fail.
    let _ = serde_json::to_writer(&mut *hash, message);
    let _ = hash.write_all(b"\n");
}
