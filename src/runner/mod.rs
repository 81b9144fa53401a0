//! The runner: makes jobs, opens them, and drives them. The loop is in `job_runner`, and `perform` is the only place with side
//! effects for the machine.
//!
//! - `create`: a workspace from instructions and documents
//! - `input_check`: refuses a job whose inputs were changed since it was made
//! - `open_job`: one opened workspace, with its lock, journal and state
//! - `job_runner`: the loop: ask, perform, decide, append, apply
//! - `workspace_upload`: uploads the workspace to the workspace store before the database hears of it
//! - `lease`: how the lease is renewed, and control signals are received, while a job is driven
//! - `model_call`: one model call, with its budget, its retries and a server that is down
//! - `batch_budget`: reservations from the budget that the jobs of a batch share
//! - `read_call`: a reading call, which may take long
//! - `perform`: answers every other question; `contract_check`: the contract's checks; `quote_positions`: where quotes stand; `models`: opens a model by its name
//! - `probe`: tries a model with a tiny call
//! - `clock`: the only clock
//! - `reindex`: rebuilds the database from the workspaces
//! - `other_version`: recognises a journal that another version of the program wrote

mod batch_budget;
mod clock;
mod contract_check;
mod create;
mod duplicates;
mod error;
mod input_check;
mod job_runner;
mod lease;
mod model_call;
mod models;
mod open_job;
mod other_version;
mod perform;
mod probe;
mod quote_positions;
mod read_call;
mod reindex;
mod workspace_upload;

use crate::blocking;
pub use blocking::run_blocking;
pub use clock::now;
pub use create::{CreatedJob, MODELS_ASSET, NewJobRequest, create, create_as};
pub use error::RunError;
pub use job_runner::{JobOutcome, JobRunner, RunReport};
pub use lease::{LeaseHandle, LeaseStatus, StopRequest};
pub use models::{ModelOptions, open_model};
pub use open_job::{Anchor, LoadedJob, OpenJob, fail_row, load, load_from};
pub use probe::{ProbeResult, probe};
pub use reindex::{
    IndexOutcome, Indexed, MisnamedWorkspace, Reindexed, adopt, catch_up, is_workspace, orphans, reindex,
    state_by_journal, workspaces_in,
};
