//! Estimates what jobs will need before they begin. Each number is shown as an estimate, with a lower and an upper
//! bound, because nobody knows what a model will do.
//!
//! The estimate follows the rules by which a job is run. Each part of a document is shown once, in a tool result of
//! bounded size, and stays in the prompt until its epoch ends. Each prompt also contains the fixed parts: tools, system
//! prompt, the opening.

use crate::model::Model;
use overnight_core::{
    job::tool::ToolSet,
    message::Usage,
    prompt::{compose::system_prompt, measure::fixed_tokens},
};

/// Turns before and after the work on documents: the plan, the report and the completion.
const FRAME_TURNS: u64 = 4;
/// Turns for each part that is shown: it is read, and recorded.
const TURNS_A_PART: u64 = 2;
/// Parts that a phase works on, and the turns that planning one takes.
const PARTS_A_PHASE: u64 = 8;
const PLANNING_TURNS: u64 = 1;
/// Percent of the room that one part may take, that an opening takes, and that the conversation takes on average in a
/// job that doesn't fit in one epoch.
const PART_PERCENT: u64 = 20;
const OPENING_PERCENT: u64 = 8;
const TALK_PERCENT: u64 = 25;
/// Percent by which line numbers and marks make a text longer.
const MARKS_PERCENT: u64 = 15;
/// Tokens of a turn's reply, and percent of a text that the model writes down from it.
const REPLY_TOKENS: u64 = 150;
const WRITTEN_PERCENT: u64 = 30;

/// Percent of the room for all parts read in one reply, and for the parts that one second reader reads.
const READ_PERCENT: u64 = 25;
/// Tokens of a small opening: the task, the documents, the board.
const LEAST_OPENING: u64 = 1_500;
/// Percent of a text that a capable model writes down at least.
const LEAST_WRITTEN_PERCENT: u64 = 8;
/// Percent of the least and of the likely estimate that bound the forecast.
const LEAST_PERCENT: u64 = 70;
const MOST_PERCENT: u64 = 200;
/// Turns of one reader of a part: it adds its records, and corrects those that are refused.
pub const PART_TURNS: u64 = 2;
/// Turns of one second reader and of one round of the verifier, at least and likely; the rounds at least and likely.
const READER_TURNS: (u64, u64) = (2, 3);
const VERIFIER_TURNS: (u64, u64) = (2, 4);
const ROUNDS: (u64, u64) = (1, 2);
/// Turns in which the findings are settled.
const SETTLING_TURNS: u64 = 2;

/// Tokens of a transcriber's prompt beside its page, and tokens of one page: at least, likely, and on a crowded page.
const TRANSCRIBER_TOKENS: u64 = 500;
pub const PAGE_TOKENS: (u64, u64, u64) = (20, 700, 2_500);

/// Turns and tokens of one or more jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub turns: u64,
    /// All input tokens, including those from the cache.
    pub input: u64,
    /// Input tokens that are read from the provider's cache.
    pub cached: u64,
    pub output: u64,
}

/// The bounds of an estimate for some work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// By a model that does all foreseeable work in one reply, with the rest of each prompt from the cache.
    pub least: Estimate,
    /// Each part is read and recorded in turns of its own; nothing comes from the cache.
    pub likely: Estimate,
    pub most: Estimate,
}

impl Forecast {
    fn between(least: Estimate, likely: Estimate) -> Self {
        Self { least: least.percent(LEAST_PERCENT), likely, most: likely.percent(MOST_PERCENT) }
    }

    /// The work itself, over documents of so many `tokens` each; a prompt may have `budget` tokens.
    pub fn of_job(tokens: impl IntoIterator<Item = u64> + Clone, budget: u64) -> Self {
        let text = tokens.clone().into_iter().fold(0_u64, u64::saturating_add);
        let (fixed, room) = fixed_and_room(budget);
        let reads = text.div_ceil((room * READ_PERCENT / 100).max(1)).max(1);
        // The first prompt contains the parts that one reply may request, and one reply can do all the work.
        let turns = if reads == 1 { 1 } else { reads + 1 };
        let least = Estimate::conversation(turns, fixed + LEAST_OPENING, text.min(room), text, LEAST_WRITTEN_PERCENT);
        Self::between(least, Estimate::of_job(tokens, budget))
    }

    /// Reading `share` of the documents again: by the readers, and by the job's model, which settles the findings.
    pub fn of_second_reading(tokens: u64, share: f64, budget: u64) -> (Self, Self) {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of tokens, of far fewer than 2^52"
        )]
        let text = (tokens as f64 * share).ceil() as u64;
        let (fixed, room) = fixed_and_room(budget);
        let most = (room * READ_PERCENT / 100).max(1);
        let readers = text.div_ceil(most).max(1);
        let each = text.div_ceil(readers);
        let reader =
            |turns, written| Estimate::conversation(turns, fixed + LEAST_OPENING, each, each, written).times(readers);
        let settling = Estimate::conversation(1, fixed + LEAST_OPENING, 0, 0, 0);
        let settled = Estimate::conversation(SETTLING_TURNS, fixed + room * TALK_PERCENT / 100, 0, 0, 0);
        let readers = Self::between(
            reader(READER_TURNS.0, LEAST_WRITTEN_PERCENT),
            reader(READER_TURNS.1, WRITTEN_PERCENT).uncached(),
        );
        (readers, Self::between(settling, settled.uncached()))
    }

    /// Reading `parts` parts of `tokens` tokens in all, by readers that work side by side.
    pub fn of_readers(parts: u64, tokens: u64, budget: u64) -> Self {
        let (fixed, _) = fixed_and_room(budget);
        let each = tokens.div_ceil(parts.max(1));
        let reader =
            |turns, written| Estimate::conversation(turns, fixed + LEAST_OPENING + each, 0, each, written).times(parts);
        Self::between(reader(1, LEAST_WRITTEN_PERCENT), reader(PART_TURNS, WRITTEN_PERCENT).uncached())
    }

    /// Judging the deliverables of a job over so many tokens of text.
    pub fn of_verification(tokens: u64, budget: u64) -> Self {
        let (fixed, room) = fixed_and_room(budget);
        let round = |turns, percent: u64| {
            let read = (tokens.saturating_mul(percent) / 100).min(room * TALK_PERCENT / 100);
            Estimate::conversation(turns, fixed + LEAST_OPENING, read, read, 2)
        };
        let likely = round(VERIFIER_TURNS.1, 100).times(ROUNDS.1).uncached();
        Self::between(round(VERIFIER_TURNS.0, LEAST_WRITTEN_PERCENT).times(ROUNDS.0), likely)
    }

    /// Having `pages` scanned pages transcribed, each a picture of so many tokens.
    pub fn of_scans(pages: u64, image: u64) -> Self {
        let one = |output| Estimate { turns: 1, input: image + TRANSCRIBER_TOKENS, cached: 0, output }.times(pages);
        Self { least: one(PAGE_TOKENS.0), likely: one(PAGE_TOKENS.1), most: one(PAGE_TOKENS.2) }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            least: self.least.and(other.least),
            likely: self.likely.and(other.likely),
            most: self.most.and(other.most),
        }
    }

    /// USD of each; `None` where the price isn't known.
    pub fn cost(&self, model: &dyn Model) -> Option<[f64; 3]> {
        Some([self.least.cost(model)?, self.likely.cost(model)?, self.most.cost(model)?])
    }
}

/// Tokens of the fixed part of every prompt, and of the room that the budget leaves beside it.
fn fixed_and_room(budget: u64) -> (u64, u64) {
    let fixed = fixed_tokens(ToolSet::of_job(&[]), &system_prompt());
    (fixed, budget.saturating_sub(fixed).max(1))
}

impl Estimate {
    /// One job over documents of so many `tokens` each; a prompt may have `budget` tokens.
    pub fn of_job(tokens: impl IntoIterator<Item = u64>, budget: u64) -> Self {
        let (fixed, room) = fixed_and_room(budget);
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
            cached: 0,
            output: turns.saturating_mul(REPLY_TOKENS).saturating_add(text / 100 * WRITTEN_PERCENT),
        }
    }

    /// One history of `turns` turns, which begins with `opening` tokens and grows evenly by `grows`; all earlier tokens
    /// come from the cache. `written` percent of `text` are written down.
    fn conversation(turns: u64, opening: u64, grows: u64, text: u64, written: u64) -> Self {
        let last = opening.saturating_add(grows);
        let input = turns.saturating_mul(opening.saturating_add(last)) / 2;
        let output = turns.saturating_mul(REPLY_TOKENS).saturating_add(text / 100 * written);
        Self { turns, input, cached: input.saturating_sub(last), output }
    }

    fn uncached(self) -> Self {
        Self { cached: 0, ..self }
    }

    fn times(self, number: u64) -> Self {
        self.scaled(|count| count.saturating_mul(number))
    }

    fn percent(self, percent: u64) -> Self {
        self.scaled(|count| count.saturating_mul(percent) / 100)
    }

    fn scaled(self, scale: impl Fn(u64) -> u64) -> Self {
        let Self { turns, input, cached, output } = self;
        Self { turns: scale(turns), input: scale(input), cached: scale(cached), output: scale(output) }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            cached: self.cached.saturating_add(other.cached),
            turns: self.turns.saturating_add(other.turns),
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
        }
    }

    /// USD; `None` where the price isn't known.
    pub fn cost(&self, model: &dyn Model) -> Option<f64> {
        // Turn by turn: the price may differ for a long prompt.
        let turns = self.turns.max(1);
        let of = |input, cached, output| model.cost(&Usage { input, cached, output, ..Usage::default() });
        let turn = of(self.input / turns, self.cached / turns, self.output / turns)?;
        let rest = of(self.input % turns, 0, self.output % turns)?;
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
