//! When the context grows too large: old tool results are masked, then oldest turns folded into layer 4. After any
//! compaction the prompt is under half of the budget.

use super::{bounds, layers::share_of, todo_board, tools::tool_specs};
use crate::{
    job::{
        conversation::{Conversation, ConversationEntry},
        event::Event,
        state::Job,
    },
    tokens::{bounded, estimate},
};
use std::sync::LazyLock;

/// Percent of the budget at which compaction sets in, and under which it comes to rest.
const START_PERCENT: u64 = 70;
const REST_PERCENT: u64 = 50;
/// Percent of the budget that one sweep of masking frees at least.
const SWEEP_PERCENT: u64 = 20;
/// Newest results that masking leaves.
const KEPT_RESULTS: usize = 3;
/// Tokens of the words on folded turns, at the full budget.
const FOLDED_TOKENS: u64 = 600;
/// Results of a folded turn that the words tell of.
const RESULTS_TOLD: usize = 3;
/// Tokens of the heading over them, and some to spare.
const FOLDED_FRAME: u64 = 32;
/// Tokens of the answer of a control tool, at the full budget.
pub const RESULT_TOKENS: u64 = 4_000;

/// Tokens of the tool descriptions.
pub fn tools_tokens() -> u64 {
    static TOKENS: LazyLock<u64> = LazyLock::new(|| {
        tool_specs()
            .iter()
            .map(|tool| estimate(&tool.name) + estimate(&tool.description) + estimate(&tool.parameters.to_string()) + 8)
            .sum()
    });
    *TOKENS
}

/// Estimated tokens of the protected layers and layer 4.
fn standing_tokens(job: &Job) -> u64 {
    tools_tokens() + estimate(&job.spec.system_prompt) + estimate(&job.layer4) + estimate(&todo_board::render(job)) + 16
}

/// Estimated tokens of the next prompt, as counted here.
pub fn local_tokens(job: &Job) -> u64 {
    standing_tokens(job) + job.conversation.tokens()
}

/// The provider's count of the last prompt, and the estimate of the same one, where the count can be one.
fn counted(job: &Job) -> Option<(u64, u64)> {
    // A count far from the estimate is no count of this prompt (some servers report only what wasn't cached).
    job.totals.counted.filter(|(counted, local)| *counted > local / 2 && *local > counted / 4)
}

/// A number of the provider's tokens as it would be counted here: its last count corrects the estimate.
fn as_local(job: &Job, tokens: u64) -> u64 {
    counted(job).map_or(tokens, |(counted, local)| tokens * local / counted)
}

/// The next prompt's tokens as the provider would count them.
pub(crate) fn counted_tokens(job: &Job) -> u64 {
    let tokens = local_tokens(job);
    counted(job).map_or(tokens, |(counted, local)| tokens * counted / local)
}

/// Whether the unseen results of this reply leave no room for more: either they fill their share of the budget, or one more
/// would not outlast a compaction, so that the model would never see it.
pub fn is_full(job: &Job) -> bool {
    if job.conversation.unseen_tokens() == 0 {
        return false;
    }
    let budget = as_local(job, job.spec.budget_tokens);
    let next = share_of(job.spec.budget_tokens, RESULT_TOKENS);
    bounds::is_full(job) || job.conversation.newest_turn_tokens() + next > room(job, budget)
}

/// Tokens of the conversation that a compaction can keep.
fn room(job: &Job, budget: u64) -> u64 {
    let words = share_of(job.spec.budget_tokens, FOLDED_TOKENS);
    (budget * REST_PERCENT / 100).saturating_sub(standing_tokens(job) + words + FOLDED_FRAME)
}

/// The compaction that is owed before the next prompt, if one is.
pub fn owed(job: &Job) -> Option<Vec<Event>> {
    let budget = as_local(job, job.spec.budget_tokens);
    if local_tokens(job) <= budget * START_PERCENT / 100 {
        return None;
    }
    let events = shrink(job, budget, 0);
    (!events.is_empty()).then_some(events)
}

/// What makes the next prompt half as long, as far as the conversation can give that: the provider's count says that it is
/// too long, whatever was counted here. The newest turn, whose results the model has not seen, stays where it is so small a
/// part that the prompt would be hardly shorter without it.
pub fn shorter(job: &Job) -> Vec<Event> {
    let (tokens, newest) = (local_tokens(job), job.conversation.newest_turn_tokens());
    shrink(job, tokens, if newest <= tokens / 4 { newest } else { 0 })
}

/// What brings the next prompt under its share of `budget`, where `least` tokens of the conversation stay in any case.
fn shrink(job: &Job, budget: u64, least: u64) -> Vec<Event> {
    let tokens = local_tokens(job);
    let rest = budget * REST_PERCENT / 100;
    let free = tokens.saturating_sub(rest).max(budget * SWEEP_PERCENT / 100);
    let masked = job.conversation.maskable(free, KEPT_RESULTS);
    let mut after: Conversation = job.conversation.clone();
    after.mask(&masked);
    let mut events = Vec::new();
    if !masked.is_empty() {
        events.push(Event::ContextMasked { calls: masked });
    }
    let standing = standing_tokens(job);
    if standing + after.tokens() >= rest {
        let words = share_of(job.spec.budget_tokens, FOLDED_TOKENS);
        let entries = after.foldable(room(job, budget).max(least));
        if entries > 0 {
            events.push(Event::TurnsFolded { entries, digest: words_on(&after.entries()[..entries], words) });
        }
    }
    events
}

/// What folded turns did, a line each: what was said, the calls, and how the first ones came out. A turn that was too large to
/// be shown even once is told of by nothing else.
fn words_on(entries: &[ConversationEntry], tokens: u64) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut told = 0;
    for entry in entries {
        match entry {
            ConversationEntry::Assistant { text, calls, .. } => {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        bounded(&format!("{}{}", call.name, call.arguments), 24, "the archive").replace('\n', " ")
                    })
                    .collect();
                let said = crate::tokens::head(text.trim(), 24).replace('\n', " ");
                lines.push(format!("- {said} {}", calls.join("; ")));
                told = 0;
            }
            ConversationEntry::Tool(tool) if told < RESULTS_TOLD => {
                let result = crate::tokens::head(tool.text.trim(), 24).replace('\n', " ");
                lines.push(format!("  - {}: {result}", tool.name));
                told += 1;
            }
            ConversationEntry::User { .. } | ConversationEntry::Tool(_) => {}
        }
    }
    crate::tokens::last_lines(&lines.join("\n"), tokens).to_owned()
}
