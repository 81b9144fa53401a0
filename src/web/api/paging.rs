//! Lists in pieces: each piece states where the next one begins.

use crate::web::WebError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Entries of a piece, by default and at most.
pub(super) const USUAL: u32 = 100;
pub(super) const MOST: u32 = 1_000;

/// One piece of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListPart<T> {
    pub(super) items: Vec<T>,
    /// What `cursor` is for the next piece; null: there is none.
    pub(super) next: Option<String>,
}

/// Which piece of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PageWanted {
    /// `next` of the piece before.
    pub(super) cursor: Option<Uuid>,
    /// Entries of a piece: 1 to 1,000.
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: Option<u32>,
}

/// The number of entries requested.
pub(super) fn limit(asked: Option<u32>) -> Result<u32, WebError> {
    match asked.unwrap_or(USUAL) {
        limit @ 1..=MOST => Ok(limit),
        _ => Err(WebError::usage(format!("limit is 1 to {MOST}."))),
    }
}
