//! The prompt: the tools, the system prompt, and the epoch's messages as they stand there. The order on the wire is for the
//! provider's cache: what is the same for the whole job comes first, and nothing that was sent ever changes.

use super::tools::tool_specs;
use crate::{
    job::{digest::sha256, state::Job},
    message::{Message, Prompt},
};

/// The prompt of the next model call.
pub fn prompt(job: &Job) -> Prompt {
    let mut messages = Vec::with_capacity(job.epoch.messages().len() + 1);
    messages.push(Message::System { text: job.spec.system_prompt.clone() });
    messages.extend_from_slice(job.epoch.messages());
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
