//! Who looks at documents that are not text, and asks their tables.

use crate::{model::Model, table_query::DocumentReader};
use std::sync::Arc;

/// Who looks, and what reads documents for it in processes of their own.
#[derive(Clone, Debug)]
pub struct Eyes {
    /// The model that is asked next.
    pub model: Arc<dyn Model>,
    pub reader: Arc<dyn DocumentReader>,
}
