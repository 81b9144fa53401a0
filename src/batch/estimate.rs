//! Estimates what jobs will need before they begin. It is shown as an estimate, because nobody knows what a model will do.
//!
//! The reasons are the rules by which a job is worked. Each part of a document is shown once, in a tool result of bounded
//! size, and stays in the prompt until its epoch ends. Each prompt besides carries what stands in every prompt: tools, system
//! prompt, the opening.

use crate::model::Model;
use overnight_core::{
    job::call::ToolSet,
    message::Usage,
    prompt::{bounds::fixed_tokens, compose::system_prompt},
};

/// Turns before and after the work on documents: the plan, the report and the completion.
const FRAME_TURNS: u64 = 4;
/// Turns for each part that is shown: it is read, and recorded.
const TURNS_A_PART: u64 = 2;
/// Parts that a phase works on, and the turns that planning one takes.
const PARTS_A_PHASE: u64 = 8;
const PLANNING_TURNS: u64 = 1;
/// Percent of the room that one part may have, that an opening has, and that the conversation has on the average in a job
/// that doesn't fit in one epoch.
const PART_PERCENT: u64 = 20;
const OPENING_PERCENT: u64 = 8;
const TALK_PERCENT: u64 = 25;
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
        let system = system_prompt();
        let fixed = fixed_tokens(ToolSet::of_job(false, false), &system);
        let room = budget.saturating_sub(fixed).max(1);
        let most = (room * PART_PERCENT / 100).max(1);
        let (mut text, mut parts) = (0_u64, 0_u64);
        for tokens in tokens {
            let marked = tokens.saturating_add(tokens / 100 * MARKS_PERCENT);
            text = text.saturating_add(marked);
            parts = parts.saturating_add(marked.div_ceil(most).max(1));
        }
        let planning = parts.div_ceil(PARTS_A_PHASE).saturating_mul(PLANNING_TURNS);
        let turns = parts.saturating_mul(TURNS_A_PART).saturating_add(planning).saturating_add(FRAME_TURNS);
        let talk = (text / 2).min(room * TALK_PERCENT / 100);
        let prompt = fixed + room * OPENING_PERCENT / 100 + talk;
        Self {
            turns,
            input: turns.saturating_mul(prompt).saturating_add(text),
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
        // Turn by turn: a price may be another one for a long prompt.
        let turns = self.turns.max(1);
        let of = |input, output| model.cost(&Usage { input, output, ..Usage::default() });
        let (turn, rest) = (of(self.input / turns, self.output / turns)?, of(self.input % turns, self.output % turns)?);
        #[expect(clippy::cast_precision_loss, reason = "no job has so many turns that it matters")]
        Some(turn * turns as f64 + rest)
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
        assert!(large.turns > 10 * small.turns / 2 && large.input > 460_000 && large.output > small.output);
        let many = Estimate::of_job([100; 40], 100_000);
        assert_eq!(many.turns, FRAME_TURNS + 40 * TURNS_A_PART + 5 * PLANNING_TURNS);
        // Smaller prompts: more turns, each with less in it.
        assert!(Estimate::of_job([400_000], 8_000).turns > 10 * large.turns);
        let most = Estimate::of_job([u64::MAX, u64::MAX], 100_000).and(large);
        assert_eq!(most.input, u64::MAX);
    }
}
