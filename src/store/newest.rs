//! The word for the newest job or batch.

/// The name of the newest job.
pub(super) const LAST: &str = "last";
