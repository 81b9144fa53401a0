//! What a model behind HTTP is opened with.

use crate::store::Store;
use std::{sync::Arc, time::Duration};

/// The timeouts of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the reply begins, to start with: a wait in vain doubles the next. Twice that where the reply doesn't stream.
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

/// Where calls lie that are handed in, and how soon they are sent.
#[derive(Clone, Debug)]
pub struct CallPosting {
    pub store: Arc<dyn Store>,
    pub pace: GatherPace,
}

/// How calls are gathered, and how often a provider is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherPace {
    /// A batch is sent when no call has come for so long,
    pub quiet: Duration,
    /// or its first call has waited so long.
    pub most: Duration,
    /// Between two questions: a tenth of a batch's age within these bounds.
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
