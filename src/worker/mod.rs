//! Workers: each takes jobs out of the queue and works on them, many at once, until it is told to stop. `overnight run` is a worker
//! with one job, which is no queue's.
//!
//! - `claim_loop`: the loop: claim while there is room, and when to stop
//! - `context`: what all jobs share; `claimed_job`: one job, from its claim until it rests, `claim_outcome`: how that ended;
//!   `open_workspace`: its workspace, from here or from the store, or a new one
//! - `job_setup`: what a job is worked with, for a worker and for a person's command alike
//! - `background`: what else is done beside the jobs: sweeps, schedules
//! - `awaited`: jobs that wait for answers to what they have handed in
//! - `clock_jumps`: the database's clock, where somebody sets it
//! - `batches`: the batches that the jobs belong to, read once
//! - `ended_batches`: submits the closing job of a batch that has ended
//! - `notices`: tells people that a batch has ended, or that they are needed
//! - `metrics`: numbers for Prometheus; `metrics_page`: where they are asked for
//! - `config`: how a worker works, and what it tells of that
//!
//! What a crash leaves behind: rows that say running, with a lease that nobody renews. Any worker's next sweep queues them
//! again, and who claims them goes on at the last decision of their journals.

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
