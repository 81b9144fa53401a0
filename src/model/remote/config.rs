//! What a model behind HTTP is opened with.

use super::{GatherPace, Key, RemoteModel, wire::Wire};
use crate::{
    model::{endpoint::Endpoint, table::Quirks},
    store::Store,
};
use overnight_core::job::models::Tier;
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

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

/// The settings of a model behind HTTP.
pub struct RemoteConfig {
    pub wire: Arc<dyn Wire>,
    /// As in `provider:name`.
    pub provider: String,
    /// The model's name as the server knows it.
    pub model: String,
    pub base_url: String,
    pub key: Option<Key>,
    /// The variable that holds the key, or would.
    pub key_variable: String,
    /// The user's own; they may hold secrets.
    pub headers: Vec<(String, String)>,
    pub quirks: Quirks,
    pub endpoint: Arc<Endpoint>,
    pub timeouts: Timeouts,
    /// The same model at the standard tier, where this one is at another.
    pub standard: Option<Arc<RemoteModel>>,
    /// The tier at which it is asked.
    pub tier: Tier,
    /// How calls are handed in for the tier `batch`; none: they are answered at once.
    pub posting: Option<CallPosting>,
    /// Where attempts are recorded.
    pub record: Option<PathBuf>,
}

/// Not derived: headers may hold secrets.
impl fmt::Debug for RemoteConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RemoteConfig");
        shown.field("wire", &self.wire).field("provider", &self.provider).field("model", &self.model);
        shown.finish_non_exhaustive()
    }
}
