//! The model and reader for documents that are not text, and for their tables.

use crate::{model::Model, table_query::DocumentReader};
use std::sync::Arc;

/// The model that looks, and the reader that opens documents for it in separate processes.
#[derive(Clone, Debug)]
pub struct Eyes {
    /// The model that is asked next.
    pub model: Arc<dyn Model>,
    pub reader: Arc<dyn DocumentReader>,
}
