//! The settings with which a model behind HTTP is opened.

use crate::store::Store;
use std::{sync::Arc, time::Duration};

/// The timeouts of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the reply begins, initially: each timed-out wait doubles it. Twice as long if the reply isn't streamed.
    pub first_byte: Duration,
    /// Between two pieces of a reply.
    pub idle: Duration,
    /// For the whole reply.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { first_byte: Duration::from_mins(1), idle: Duration::from_mins(1), whole: Duration::from_hours(1) }
    }
}

/// The place where submitted calls are stored, and how soon they are sent.
#[derive(Clone, Debug)]
pub struct CallPosting {
    pub store: Arc<dyn Store>,
    pub pace: GatherPace,
}

/// The pace at which calls are gathered and a provider is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherPace {
    /// A batch is sent when no call has come for this long,
    pub quiet: Duration,
    /// or when its first call has waited this long.
    pub most: Duration,
    /// The pause between two polls: a tenth of a batch's age, within these bounds.
    pub least_poll: Duration,
    pub most_poll: Duration,
}

impl Default for GatherPace {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(5),
            most: Duration::from_mins(1),
            least_poll: Duration::from_secs(5),
            most_poll: Duration::from_mins(2),
        }
    }
}
