//! What an auditor asks of a finished or running job. Everything here only reads.
//!
//! - `verify`: is the record as it was left?
//! - `timeline`: what each phase was, did, cost and wrote
//! - `plan_diff`: what a phase made of the plan
//! - `prompt`: what the model was shown at a turn
//! - `people`: who approved, corrected, settled, sent back
//! - `tail`: the journal's lines, as they come; `event_text`: what an event says, for people
//! - `damage`: what is missing at a journal's end
//! - `export`: all of it in one file

pub mod damage;
mod error;
pub mod event_text;
pub mod export;
pub mod people;
pub mod plan_diff;
pub mod prompt;
pub mod tail;
pub mod timeline;
pub mod verify;

pub use error::AuditError;
