//! The questions that an auditor asks about a finished or running job. Everything here only reads.
//!
//! - `verify`: is the record as it was left?
//! - `timeline`: each phase, with what it did, cost and wrote
//! - `plan_diff`: how a phase changed the plan
//! - `prompt`: the prompt of a turn
//! - `people`: who approved, corrected, settled or sent back a result
//! - `tail`: the journal's lines, as they are appended; `event_text`: the description of an event, for people
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
mod tools;
pub mod verify;

pub use error::AuditError;
