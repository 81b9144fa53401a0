//! Cron schedules: batches that are submitted by themselves, such as each weekday at 22:00.
//!
//! A schedule keeps the words of an `overnight submit`, so that a run is the same as the command. What must hold:
//! - A run is submitted once, by whichever worker comes first. The batch's id is derived from the schedule and the moment for
//!   which the run was planned, so that the one who takes a run over from a dead worker finds what that one has done.
//! - However many runs were missed while nothing ran, at most one is made up for: the last.
//! - No run begins while the batch of the one before still has jobs to do, unless the schedule allows it.
//!
//! - `cron`: when; `fire`: what is done then

mod cron;
mod fire;

pub use cron::Cron;
pub use fire::{FiredRun, NotSubmitted, RunOutcome, Submit, batch_of, fire_due, fire_now, mend_runs};
