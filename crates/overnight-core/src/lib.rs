//! The pure part of `overnight`: what a job is, what it owes next, what a result means ([`job`]), and what the model is
//! shown ([`prompt`]); [`yaml`] reads what people
//! write by hand. No file, clock, socket or environment is touched here; time is data in a result.

#![warn(missing_docs)]

pub mod amount;
pub mod job;
pub mod machine;
pub mod message;
pub mod prompt;
pub mod tokens;
pub mod yaml;
