//! The expected size of the next call, and whether the job's budget has room for it: checked before each call, so that
//! a budget is exceeded by one call at most.

use crate::{
    job::{conversation::Conversation, hold_cause::HoldCause, state::Job},
    message::Usage,
    prompt::measure::counted_tokens,
};

/// Tokens that are assumed for a reply before the first one.
const FIRST_OUTPUT: u64 = 500;

impl Job {
    /// Whether tokens or money are limited.
    pub fn has_budget(&self) -> bool {
        self.limits.tokens.is_some() || self.limits.cost_usd.is_some()
    }

    /// The next call's size: the prompt as counted here, corrected by the provider's last count, and a reply of average
    /// length so far. No tokens are assumed to come from a cache.
    pub fn expected_call(&self, conversation: &Conversation) -> Usage {
        let spent = &self.totals.spent;
        let output = spent.usage.output.checked_div(spent.turns).unwrap_or(FIRST_OUTPUT);
        Usage { input: counted_tokens(conversation), output, ..Usage::default() }
    }

    /// The reasoning effort of a conversation at its next turn; `None` means the usual one. The job's own model begins
    /// with less, and gets more for work that was refused.
    pub fn effort_of(&self, conversation: &Conversation) -> Option<&str> {
        let steps = self.spec.instructions.effort.as_ref().filter(|_| conversation.is_own())?;
        let has_come_back =
            self.refusals.counted > 0 || self.refused.counts().is_some_and(|counts| counts.unmended > 0);
        if has_come_back { steps.again.as_deref() } else { Some(&steps.first) }
    }

    /// Why the next call doesn't fit in the budget any more. `cost_usd` is the cost of `expected`, if known.
    pub fn over_budget(&self, expected: &Usage, cost_usd: Option<f64>) -> Option<HoldCause> {
        let spent = &self.totals.spent;
        let (used, needed) = (spent.tokens(), expected.input + expected.output);
        if let Some(most) = self.limits.tokens.filter(|most| used + needed > *most) {
            return Some(HoldCause::TooFewTokens { used, most, needed });
        }
        let (used_usd, needed_usd) = (spent.cost_usd, cost_usd?);
        let most_usd = self.limits.cost_usd.filter(|most| used_usd + needed_usd > *most)?;
        Some(HoldCause::TooLittleMoney { used_usd, most_usd, needed_usd })
    }
}
