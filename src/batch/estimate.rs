//! Estimates what jobs will need before they begin. It is shown as an estimate, because nobody knows what a model will do.
//!
//! The reasons are the rules by which a job is worked. Each part of a document is shown once, in a tool result of bounded
//! size, and stays in the prompt until its todo is completed, when it is folded to a line. Each prompt besides carries what
//! stands in every prompt: tools, system prompt, where things stand, the board.

use crate::model::Model;
use overnight_core::{
    prompt::message::Usage,
    prompt::{
        compact::{RESULT_TOKENS, tools_tokens},
        compose::system_prompt,
        layers::share_of,
        tokens::estimate,
    },
};

/// Turns before and after the work on documents: bootstrap, and review.
const FRAME_TURNS: u64 = 8;
/// Turns for each part that is shown: it is read, something is written, the todo is completed.
const TURNS_A_PART: u64 = 3;
/// Parts that a phase works on, and the turns that planning one takes.
const PARTS_A_PHASE: u64 = 8;
const PLANNING_TURNS: u64 = 2;
/// Prompts in which a part stands: after it was read, and after something was written.
const PROMPTS_A_PART: u64 = 2;
/// Tokens of where things stand, as plan and memory fill it half, and of the board, at the full budget.
const STANDING_TOKENS: u64 = 4_300;
/// Tokens of what was called and answered in the phase so far, beside the parts.
const TALK_TOKENS: u64 = 800;
/// Percent by which line numbers and marks make a text longer.
const MARKS_PERCENT: u64 = 15;
/// Tokens that a turn's reply has, and percent of a text that is written down of it.
const REPLY_TOKENS: u64 = 150;
const WRITTEN_PERCENT: u64 = 30;

/// Turns and tokens of one or more jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub turns: u64,
    pub input: u64,
    pub output: u64,
}

impl Estimate {
    /// One job over documents of so many `tokens` each; a prompt may have `budget` tokens.
    pub fn of_job(tokens: impl IntoIterator<Item = u64>, budget: u64) -> Self {
        let most = share_of(budget, RESULT_TOKENS).max(1);
        let (mut text, mut parts) = (0_u64, 0_u64);
        for tokens in tokens {
            let marked = tokens.saturating_add(tokens / 100 * MARKS_PERCENT);
            text = text.saturating_add(marked);
            parts = parts.saturating_add(marked.div_ceil(most).max(1));
        }
        let planning = parts.div_ceil(PARTS_A_PHASE).saturating_mul(PLANNING_TURNS);
        let turns = parts.saturating_mul(TURNS_A_PART).saturating_add(planning).saturating_add(FRAME_TURNS);
        let fixed = tools_tokens()
            + estimate(&system_prompt())
            + share_of(budget, STANDING_TOKENS)
            + share_of(budget, TALK_TOKENS);
        Self {
            turns,
            input: turns.saturating_mul(fixed).saturating_add(text.saturating_mul(PROMPTS_A_PART)),
            output: turns.saturating_mul(REPLY_TOKENS).saturating_add(text / 100 * WRITTEN_PERCENT),
        }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
        }
    }

    /// USD, without what a provider's prompt cache would save; `None` where the price isn't known.
    pub fn cost(&self, model: &dyn Model) -> Option<f64> {
        model.cost(&Usage { input: self.input, output: self.output, ..Usage::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_text_is_more_work() {
        let small = Estimate::of_job([100], 100_000);
        assert_eq!(small.turns, FRAME_TURNS + PLANNING_TURNS + TURNS_A_PART);
        let large = Estimate::of_job([400_000], 100_000);
        assert_eq!(large.turns, FRAME_TURNS + 115 * TURNS_A_PART + 15 * PLANNING_TURNS);
        assert!(large.input > 2 * 460_000 && large.output > small.output);
        let many = Estimate::of_job([100; 40], 100_000);
        assert_eq!(many.turns, FRAME_TURNS + 40 * TURNS_A_PART + 5 * PLANNING_TURNS);
        // Smaller prompts: more turns, each with less in it.
        assert!(Estimate::of_job([400_000], 8_000).turns > 10 * large.turns);
        let most = Estimate::of_job([u64::MAX, u64::MAX], 100_000).and(large);
        assert_eq!(most.input, u64::MAX);
    }
}
