//! The prompt, made from facts alone. The order on the wire is for the provider's cache: tools and system prompt, the same
//! for the whole job; layer 4, which changes once a phase; the conversation, append-only; the board last.

use super::{
    message::{Message, Prompt},
    todo_board,
    tools::tool_specs,
};
use crate::job::{digest::sha256, state::Job};

/// The prompt of the next model call.
pub fn prompt(job: &Job) -> Prompt {
    let mut messages = Vec::with_capacity(job.conversation.entries().len() + 3);
    messages.push(Message::System { text: job.spec.system_prompt.clone() });
    messages.push(Message::User { text: job.layer4.clone() });
    messages.extend(job.conversation.messages());
    messages.push(Message::User { text: todo_board::render(job) });
    Prompt { tools: tool_specs(), messages }
}

/// The system prompt of a new job.
pub fn system_prompt() -> String {
    include_str!("../../../../instructions/runner/system.md").trim().to_owned()
}

/// A prompt's name: the SHA-256 of its messages as JSON lines.
pub fn prompt_sha256(prompt: &Prompt) -> String {
    let mut text = Vec::new();
    for message in &prompt.messages {
        // A message is a plain tree of strings; writing it can't fail.
        let _ = serde_json::to_writer(&mut text, message);
        text.push(b'\n');
    }
    sha256(&text)
}
