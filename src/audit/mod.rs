//! What an auditor asks of a finished or running job. Everything here only reads.
//!
//! - `verify`: is the record as it was left?
//! - `timeline`: what each phase was, did, cost and wrote
//! - `plan_diff`: what a phase made of the plan
//! - `prompt`: what the model was shown at a turn
//! - `tail`: the journal's lines, as they come

mod error;
pub mod plan_diff;
pub mod prompt;
pub mod tail;
pub mod timeline;
pub mod verify;

pub use error::AuditError;
