//! Batches: jobs that are submitted together, and worked when a worker has time for them.
//!
//! - `settings`: what was set at submission, kept in the batch's row for whoever makes the workspaces

mod settings;

pub use settings::BatchSettings;
