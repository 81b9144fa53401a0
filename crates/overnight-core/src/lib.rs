//! The pure part of `overnight`: a state machine for a job that reads documents and writes deliverables over many turns
//! of a language model. It touches no file, clock, socket or environment: time is data in a result, and everything
//! outside is an [`Effect`](machine::effect::Effect) that the caller performs.
//!
//! The modules from the bottom up; each uses only modules above it in this list:
//!
//! - [`amount`], [`tokens`], [`yaml`], [`spreadsheet`]: amounts and YAML as people write them, an estimate of tokens,
//!   texts that no spreadsheet interprets as formulas
//! - [`wording`]: the sentences with which the program answers a model
//! - [`message`]: the messages that a model and the runner exchange
//! - [`job`]: the job itself: its specification, the facts ([`job::event`]), the state derived from them
//!   ([`job::state`]), the parsed calls ([`job::call`]), the plan, the todos, the contract, the comparison of two
//!   readers' records ([`job::second_reading`])
//! - [`prompt`]: the parts of a job that the model is shown
//! - [`machine`]: the machine that moves a job: `Job::owed`, `Job::decide`, `Job::apply`

#![warn(missing_docs)]

pub mod amount;
pub mod job;
pub mod machine;
pub mod message;
pub mod prompt;
pub mod spreadsheet;
pub mod tokens;
pub mod wording;
pub mod yaml;
