//! Batches: jobs that are submitted together, and worked when a worker has time for them.
//!
//! - `settings`: what was set at submission, kept in the batch's row for whoever makes the workspaces
//! - `schedule`: batches that are submitted by themselves
//! - `window`: when jobs may be started; `zone`: time zones by name

pub mod schedule;
mod settings;
pub mod window;
mod zone;

pub use settings::BatchSettings;
pub use zone::{on_the_wall, zone};
