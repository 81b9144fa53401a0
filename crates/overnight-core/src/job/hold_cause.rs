//! Why the machine itself holds a job, as data. The sentence that `Held` stores is made here and nowhere else.

use super::{record::HoldReason, time::duration};
use std::fmt;

/// The cause of a hold: a bound that is reached, or a person's decision that is awaited.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are amounts with their unit in the name")]
pub enum HoldCause {
    /// All turns of the job are used.
    TurnsUsed { most: u64 },
    /// All time of work is used.
    WorkTimeUsed { most_ms: u64 },
    /// All tokens are used.
    TokensUsed { most: u64 },
    /// All money is used.
    MoneyUsed { most_usd: f64 },
    /// The next call needs more tokens than are left.
    TooFewTokens { used: u64, most: u64, needed: u64 },
    /// The next call costs more than is left.
    TooLittleMoney { used_usd: f64, most_usd: f64, needed_usd: f64 },
    /// The prompt can't be made shorter, and the model says that it is too long. `said` is its answer.
    PromptTooLong { said: String },
    /// The provider withheld this many replies in a row.
    RepliesWithheld { times: u32 },
    /// This many replies in a row can't be read. `said` is what is wrong with the last one.
    RepliesUnreadable { times: u32, said: String },
    /// The result waits for a person's review.
    ReviewDue,
}

impl HoldCause {
    /// The corresponding reason in the job's row.
    pub fn reason(&self) -> HoldReason {
        match self {
            Self::TurnsUsed { .. } | Self::WorkTimeUsed { .. } | Self::PromptTooLong { .. } => HoldReason::Limit,
            Self::TokensUsed { .. }
            | Self::MoneyUsed { .. }
            | Self::TooFewTokens { .. }
            | Self::TooLittleMoney { .. } => HoldReason::Budget,
            Self::RepliesWithheld { .. } | Self::RepliesUnreadable { .. } => HoldReason::Paused,
            Self::ReviewDue => HoldReason::Review,
        }
    }
}

/// The sentence that the journal keeps: which bound is reached, and what a person can do about it.
impl fmt::Display for HoldCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TurnsUsed { most } => write!(f, "{most} turns are used; resume with --turns N for more"),
            Self::WorkTimeUsed { most_ms } => {
                write!(f, "{} of work are used; resume with --wall-clock TIME for more", duration(*most_ms))
            }
            Self::TokensUsed { most } => write!(f, "{most} tokens are used; resume with --tokens N for more"),
            Self::MoneyUsed { most_usd } => write!(f, "{most_usd:.2} USD are used; resume with --cost USD for more"),
            Self::TooFewTokens { used, most, needed } => write!(
                f,
                "{used} of {most} tokens are used, and the next call needs about {needed}; resume with --tokens N for more"
            ),
            Self::TooLittleMoney { used_usd, most_usd, needed_usd } => write!(
                f,
                "{used_usd:.4} of {most_usd:.2} USD are used, and the next call costs about {needed_usd:.4}; resume with --cost USD for more"
            ),
            Self::PromptTooLong { said } => write!(
                f,
                "the prompt is as short as it gets and still too long for the model ({said}); make the job with fewer --budget-tokens, or resume with another --model"
            ),
            Self::RepliesWithheld { times } => write!(
                f,
                "the provider withheld {times} replies, one after the other: change the words of the instructions, name a `fallback`, or resume with another --model"
            ),
            Self::RepliesUnreadable { times, said } => write!(
                f,
                "{times} replies, one after the other, can't be read ({said}); the journal has what came. Check --base-url and the server, name a `fallback`, or resume with another --model"
            ),
            Self::ReviewDue => {
                f.write_str("a person approves it (overnight approve) or sends it back (overnight feedback)")
            }
        }
    }
}
