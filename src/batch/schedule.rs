//! Cron schedules: batches that are submitted automatically, for example each weekday at 22:00.
//!
//! A schedule stores the command line of an `overnight submit`, so a run equals the command. Invariants:
//! - One worker submits a run, the first one to begin it. The batch's id is derived from the schedule and the run's
//!   planned time, so a worker that takes over a run from a dead one finds the batch if it was submitted.
//! - However many runs were missed while no worker ran, at most one is made up for: the last.
//! - No run begins while the batch of the one before still has jobs to do, unless the schedule allows it.
//!
//! - `cron`: the times of runs; `fire`: the submission of a run

mod cron;
mod fire;

pub use cron::Cron;
pub use fire::{FiredRun, NotSubmitted, RunOutcome, Submit, batch_of, fire_due, fire_now, mend_runs};
