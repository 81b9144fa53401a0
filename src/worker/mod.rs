//! A worker takes jobs out of the queue and drives them, many at once, until it is told to stop.
//!
//! - `claim_loop`: claims jobs while there is room, and knows when to stop
//! - `claimed_job`: one job, from its claim until it rests; `open_workspace`: opens its workspace, from here or from the store; `make_workspace`: makes a new one
//! - `active_jobs`: the jobs that are driven now, and the channel to each
//! - `heartbeat`: renews the leases while jobs are driven
//! - `background`: what else is done in the background: control signals, time windows, sweeps, schedules
//! - `batches`: the batches that the jobs belong to, read once
//! - `ended_batches`: submits the closing job of a batch that has ended, and runs its hook
//! - `hook`: a command or web address that is told when a batch has ended
//! - `metrics`: numbers for Prometheus
//! - `config`: the settings and all the times of a worker
//!
//! What a crash leaves behind: rows that say running, with a lease that nobody renews. Any worker's next sweep queues them
//! again, and who claims them goes on at the last decision of their journals.

mod active_jobs;
mod background;
mod batches;
mod claim_loop;
mod claimed_job;
mod config;
mod ended_batches;
mod heartbeat;
mod hook;
mod make_workspace;
mod metrics;
mod open_workspace;

pub use batches::{JobModels, Supply};
pub use claim_loop::{Worker, WorkerSummary};
pub use claimed_job::ClaimOutcome;
pub use config::{WorkerConfig, WorkerEvent, WorkerTimes};
pub use hook::Hook;
