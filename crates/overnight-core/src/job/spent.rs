//! The cost of a phase or a job.

use crate::message::Usage;

/// Turns, tokens and money of a phase or a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Replies of the model.
    pub turns: u64,
    /// Tokens, as the provider counted them.
    pub usage: Usage,
    /// USD, for the turns whose price is known.
    pub cost_usd: f64,
    /// Turns of which no price is known.
    pub unpriced: u64,
}

impl Spent {
    /// Adds one turn.
    pub fn add(&mut self, usage: &Usage, cost_usd: Option<f64>) {
        self.turns += 1;
        self.usage.input += usage.input;
        self.usage.output += usage.output;
        self.usage.cached += usage.cached;
        self.usage.cache_written += usage.cache_written;
        self.usage.reasoning += usage.reasoning;
        match cost_usd {
            Some(cost) => self.cost_usd += cost,
            None => self.unpriced += 1,
        }
    }

    /// USD, if the price of every turn is known.
    pub fn cost(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.cost_usd)
    }

    /// Input and output tokens together.
    pub fn tokens(&self) -> u64 {
        self.usage.input + self.usage.output
    }
}

/// Sums over the job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Turns, tokens and money.
    pub spent: Spent,
    /// Milliseconds of work, holds not counted.
    pub worked_ms: u64,
}
