//! The prompt: the tools, the system prompt, and the epoch's messages, unchanged. Their order on the wire serves the
//! provider's cache: parts that are the same for the whole job come first, and nothing that was sent ever changes.

use super::tools::ToolList;
use crate::{
    job::{conversation::Conversation, digest::RunningSha256, epoch::hash_message, sub_agent_role::SubAgentRole},
    message::Prompt,
};

/// The prompt of the next model call of a conversation.
pub fn prompt(conversation: &Conversation) -> Prompt {
    Prompt::of_history(ToolList::of(conversation.tools).specs.clone(), conversation.epoch.messages().to_vec())
}

/// The system prompt of a sub-agent's conversation.
pub fn sub_agent_system_prompt(role: &SubAgentRole) -> String {
    let text = match role {
        SubAgentRole::Delegate { .. }
        | SubAgentRole::SecondReader { .. }
        | SubAgentRole::Reader { .. }
        | SubAgentRole::Verifier { .. } => {
            include_str!("../../../../instructions/runner/sub_agent.md")
        }
        SubAgentRole::Transcriber { .. } => TRANSCRIBE,
    };
    text.trim().to_owned()
}

/// The instructions to a transcriber; stored transcriptions are keyed by their hash.
pub const TRANSCRIBE: &str = include_str!("../../../../instructions/runner/transcribe.md");

/// The system prompt of a new job.
pub fn system_prompt() -> String {
    include_str!("../../../../instructions/runner/system.md").trim().to_owned()
}

/// A prompt's name: the SHA-256 of its messages as JSON lines.
pub fn prompt_sha256(prompt: &Prompt) -> String {
    let mut hash = RunningSha256::default();
    prompt.messages.iter().for_each(|message| hash_message(&mut hash, message));
    hash.so_far()
}
