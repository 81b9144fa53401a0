//! The pure part of `overnight`: a job that reads documents and writes deliverables over many turns of a language model, as
//! a state machine. It touches no file, clock, socket or environment: time is data in a result, and everything outside is an
//! [`Effect`](machine::effect::Effect) that somebody else performs.
//!
//! From the bottom up, and each uses only what is above it in this list:
//!
//! - [`amount`], [`tokens`], [`yaml`], [`spreadsheet`]: amounts and YAML as people write them, an estimate of tokens, texts
//!   that no spreadsheet takes for formulas
//! - [`message`]: what a model and the runner exchange
//! - [`job`]: what a job is: what was asked, the facts ([`job::event`]), the state that they say ([`job::state`]), the calls as
//!   they are understood ([`job::call`]), the plan, the todos, the contract, what two readers of the documents have in common
//!   ([`job::second_reading`])
//! - [`prompt`]: what the model is shown of a job
//! - [`machine`]: what moves it: `Job::next`, `Job::decide`, `Job::apply`

#![warn(missing_docs)]

pub mod amount;
pub mod job;
pub mod machine;
pub mod message;
pub mod prompt;
pub mod spreadsheet;
pub mod tokens;
pub mod yaml;
