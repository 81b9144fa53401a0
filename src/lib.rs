//! `overnight`: a phase-based runner for long document jobs with a language model. It works unattended, keeps a job's
//! memory in files rather than in the conversation, and leaves a record that an auditor can check.
//!
//! `docs/src/architecture.md` has the whole picture: the state machine, the crates and the rooms, one job followed
//! through the files, and the invariants. `CONTRIBUTING.md` describes where the next feature goes,
//! `docs/src/decisions.md` why things are as they are. `examples/embed.rs` runs a job from Rust.
//!
//! This crate interacts with the outside world. [`overnight_core`] is the pure part, the machine and the prompt;
//! [`overnight_documents`] extracts text from documents, [`overnight_evals`] compares results with the truth. The rooms
//! here, from the top down; imports run downward only, and `tests/it/tidy.rs` checks that:
//! - [`cli`]: output and input on the command line
//! - [`worker`]: claims jobs from the queue and works them · [`config`]: the only reader of the environment
//! - [`notify`]: sends notices about batches to people · [`web`]: the server's pages and its HTTP API
//! - [`view`]: the JSON that commands print and the HTTP API returns
//! - [`eval`]: the results of candidates on the cases of a golden set, and which candidate is better
//! - [`compare`]: the results of two runs on the same documents · [`gold`]: golden sets: documents and right results
//! - [`report`], [`export`], [`review`], [`audit`], [`telemetry`]: read the results and records of jobs
//! - [`runner`]: makes, opens and drives a job
//! - [`batch`]: jobs that are submitted together
//! - [`tool`]: the model's tools · [`extraction`]: documents read in processes of their own · [`table_query`]: SQL over their tables ·
//!   [`workspace_store`]: workspaces kept in an object store, so that any machine can go on
//! - [`workspace`]: files, journal, archives · [`store`]: SQLite and PostgreSQL · [`model`]: answers a prompt
//! - [`blocking`]: work that blocks its thread · `subprocess`: starts other programs, without this one's secrets · [`failpoint`]:
//!   where tests kill the program; a release build has none · `built_without`: what a program says that lacks a part

#![cfg_attr(
    not(all(feature = "network", feature = "tables")),
    allow(
        dead_code,
        unreachable_code,
        unused_mut,
        unused_variables,
        reason = "what serves only a part that was left out"
    )
)]

pub mod audit;
pub mod batch;
pub mod blocking;
mod built_without;
pub mod cascade;
pub mod cli;
pub mod compare;
pub mod config;
pub mod eval;
pub mod export;
mod exposure;
pub mod extraction;
pub mod failpoint;
pub mod gold;
pub mod model;
pub mod notify;
pub mod report;
pub mod review;
pub mod runner;
pub mod store;
mod subprocess;
pub mod table_query;
pub mod telemetry;
pub mod tool;
pub mod view;
#[cfg(feature = "network")]
pub mod web;
pub mod worker;
pub mod workspace;
pub mod workspace_store;
