//! Workers: each takes jobs out of the queue and works on many of them at once, until it is to stop. `overnight run` is
//! a worker with one job, which is in no queue.
//!
//! - `claim_loop`: the loop: claim while there is room, and when to stop
//! - `context`: the state that all jobs share; `claimed_job`: one job, from its claim until it rests, `claim_outcome`:
//!   how that ended; `open_workspace`: its workspace, from here or from the store, or a new one
//! - `job_setup`: everything needed to work on a job, for a worker and for a person's command alike
//! - `background`: other tasks beside the jobs: sweeps, schedules
//! - `awaited`: jobs that wait for answers to submitted calls
//! - `clock_jumps`: jumps of the database's clock
//! - `batches`: the batches that the jobs belong to, read once
//! - `ended_batches`: submits the closing job of a batch that has ended
//! - `notices`: notifies people that a batch has ended, or that they are needed
//! - `metrics`: metrics for Prometheus; `metrics_page`: serves them
//! - `config`: a worker's settings and reports
//!
//! The effect of a crash: rows with status running, with a lease that no process renews. Any worker's next sweep queues
//! them again, and the worker that claims them continues after the last decision of their journals.

mod awaited;
mod background;
mod batches;
mod claim_loop;
mod claim_outcome;
mod claimed_job;
mod clock_jumps;
mod config;
mod context;
mod ended_batches;
mod job_setup;
mod metrics;
#[cfg(feature = "network")]
mod metrics_page;
mod notices;
mod open_workspace;

pub use crate::runner::WorkerTimes;
pub use batches::{JobModels, Supply};
pub use claim_loop::{Worker, WorkerSummary};
pub use claim_outcome::ClaimOutcome;
pub use config::{WorkerConfig, WorkerEvent};
pub use job_setup::JobSetup;
