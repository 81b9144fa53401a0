//! The size of a prompt in tokens: as it is estimated here, and as its provider counts it.

use super::tools::ToolList;
use crate::{
    job::{conversation::Conversation, spec::JobSpec, tool::ToolSet},
    tokens::estimate,
};

/// Tokens of the budget that are left beside the system prompt and the tools.
pub fn room(spec: &JobSpec) -> u64 {
    spec.budget_tokens.saturating_sub(fixed_tokens(spec.tools_of_job(), &spec.system_prompt))
}

/// Tokens of the part before every opening: the tools' descriptions and the system prompt.
pub fn fixed_tokens(tools: ToolSet, system_prompt: &str) -> u64 {
    ToolList::of(tools).tokens + estimate(system_prompt)
}

/// Estimated tokens of the next prompt of a conversation, as counted here.
pub fn local_tokens(conversation: &Conversation) -> u64 {
    fixed(conversation) + conversation.epoch.tokens()
}

/// Estimated tokens of the part before the first message of a history.
fn fixed(conversation: &Conversation) -> u64 {
    fixed_tokens(conversation.tools, &conversation.system_prompt)
}

/// The provider's count of the last prompt, and the estimate of the same prompt, if the count is plausible.
fn counted(conversation: &Conversation) -> Option<(u64, u64)> {
    // A count far from the estimate is no count of this prompt (some servers report only what wasn't cached).
    conversation.counted.filter(|(counted, local)| *counted > local / 2 && *local > counted / 4)
}

/// Converts a number of the provider's tokens to the local count: the last count corrects the estimate.
pub(super) fn as_local(conversation: &Conversation, tokens: u64) -> u64 {
    counted(conversation).map_or(tokens, |(counted, local)| tokens * local / counted.max(1))
}

/// The next prompt's tokens as the provider would count them.
pub(crate) fn counted_tokens(conversation: &Conversation) -> u64 {
    let tokens = local_tokens(conversation);
    counted(conversation).map_or(tokens, |(counted, local)| tokens * counted / local.max(1))
}

/// The room, smaller if the provider counts more than is estimated here: an opening has to fit by its count too.
pub(crate) fn counted_room(spec: &JobSpec, conversation: &Conversation) -> u64 {
    as_local(conversation, spec.budget_tokens).saturating_sub(fixed(conversation)).min(room(spec))
}
