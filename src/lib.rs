//! `overnight`: a phase-based runner for long document jobs with a language model. It works unattended, keeps a job's
//! memory in files rather than in the conversation, and leaves a record that an auditor can check.
//!
//! # Bird's-eye view
//!
//! A job is a pure state machine. Facts come first, then effects:
//!
//! ```text
//! loop {
//!     let ask = job.next();                 // one question to the outside world
//!     let answer = perform(ask).await;      // the only place with side effects
//!     let events = job.decide(answer);      // what the answer means: facts, or a refusal that is a fact too
//!     journal.append(&events)?;             // one line, hash-chained; fsynced before anything outside follows from it
//!     job.apply(&events);                   // the state is what the events say
//! }
//! ```
//!
//! So resuming is not a second path (read the journal, apply, go on), a crash test is a `for` loop over the journal's lines,
//! and any prompt can be rebuilt later, because [`context::compose`] makes it from facts alone.
//!
//! The states of a job ([`job::state::Progress`]; a job that is held or ended asks for nothing):
//!
//! ```text
//!                    last todo done, rewind, stuck, limit, reset
//!   Executing ──────────────────────────────────────────────────▶ Archiving
//!       ▲                                                             │ archive stored
//!       │ todos created (Digesting first, where                       ├──────────▶ Closing ──▶ held for review, or ended
//!       │ the model writes the digest)                                ▼            (an ending was decided)
//!       │                                                        Summarising ─────▶ ended as blocked (re-planned too often)
//!       │                                                             │ workspace_summary.md written
//!       │                                                             ▼
//!       └──────────── Planning ◀──────────────────────────────── Examining
//!          update_memory → update_plan → create_todos             plan, memory, instructions and summary read from disk
//!          (no phases left: the review's todos are set)
//! ```
//!
//! # Map
//!
//! Imports run downward only; `tests/it/tidy.rs` holds the floors.
//!
//! | floor | rooms |
//! |---|---|
//! | 4 | [`cli`]: shows and asks |
//! | 3 | [`batch`]: what is submitted together · [`worker`]: takes jobs out of the queue and drives them · [`workspace_store`]: keeps workspaces in an object store, so that any machine can go on · [`runner`]: makes, opens and drives jobs, and puts them back into a lost database · [`audit`]: reads what was left behind · [`report`]: what became of many jobs · [`telemetry`]: spans from the runner's reports, sent to a collector |
//! | 2 | [`tool`]: the working tools · [`extraction`]: documents read in processes of their own |
//! | 1 | [`workspace`]: files, journal, archives · [`documents`]: bytes → text with pages · [`store`]: SQLite, PostgreSQL · [`model`]: offline, scripted, replay, and models behind HTTP |
//! | 0 | [`job`]: the machine · [`context`]: what the model is shown |
//!
//! [`config`] stands beside them: flags, environment, file, defaults; the only reader of the environment.
//! [`failpoint`] too: the places at which tests kill the program; in a release build there are none.
//!
//! Where the next feature goes: a new transition is an event ([`job::event`]), its meaning ([`job::apply`]) and the decision
//! that leads to it ([`job::step`], [`job::control`], [`job::planning`], [`job::ending`]). A new tool is an entry in
//! [`context::catalogue`] and a file in [`tool`]. A new document format is a reader in `documents::readers`. A new vendor is a file in
//! `model/remote/wire`, a new model a line in `model/models.yaml`. What the model reads is Markdown under `instructions/runner/`.
//!
//! # Invariants
//!
//! - Nothing on floor 0 reads a file, a clock, the environment or a socket; time is data in an answer.
//! - No effect is acted on before its decision is on the disk; no decision changes what an earlier one says.
//! - The state is never changed but by [`job::state::Job::apply`]; nothing that matters is kept beside it.
//! - Every tool call gets exactly one result, and a result is never separated from its call.
//! - The tools and the system prompt of a job never change; the board is never part of the conversation.
//! - An archive is never rewritten; a workspace alone is enough to resume and to audit its job.
//! - No job is called `completed` on a model's word: every check of the contract has passed.
//! - Nothing outside its workspace is ever opened for a model.

pub mod audit;
pub mod batch;
pub mod cli;
pub mod config;
pub mod extraction;
pub mod failpoint;
pub mod model;
pub mod report;
pub mod runner;
pub mod store;
pub mod telemetry;
pub mod tool;
pub mod worker;
pub mod workspace;
pub mod workspace_store;
