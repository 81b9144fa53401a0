//! The runner: makes jobs, opens them, and drives them. The loop is in `drive`, and `perform` is the only place with side
//! effects for the machine.
//!
//! - `create`: a workspace from instructions and documents
//! - `inputs`: what a job was given must be what it was
//! - `session`: one opened workspace, with its lock, journal and state
//! - `drive`: ask, perform, decide, append, apply
//! - `kept`: the workspace goes to the workspace store first
//! - `lease`: how the lease is kept, and wishes are heard, while a job is driven
//! - `attempt`: one model call, with its budget, its retries and a server that is down
//! - `share`: its part of the budget that its batch's jobs have together
//! - `read`: a reading call, which may take long; `aside`: what blocks
//! - `perform`: every other question answered; `check`: the contract's checks; `quoted`: where quotes stand; `models`: a model from its name
//! - `probe`: a model tried with a tiny call
//! - `clock`: the only clock
//! - `reindex`: the database from the workspaces
//! - `versions`: a journal that another version of the program wrote

mod aside;
mod attempt;
mod check;
mod clock;
mod create;
mod drive;
mod duplicates;
mod error;
mod inputs;
mod kept;
mod lease;
mod models;
mod perform;
mod probe;
mod quoted;
mod read;
mod reindex;
mod session;
mod share;
mod versions;

pub use aside::aside;
pub use clock::now;
pub use create::{Created, MODELS_ASSET, NewJobRequest, create, create_as};
pub use drive::{Drive, Outcome, Report};
pub use error::RunError;
pub use lease::{Kept, Order, Pulse};
pub use models::{ModelOptions, open_model};
pub use probe::{Probed, probe};
pub use reindex::{
    IndexOutcome, Indexed, Misnamed, Reindexed, adopt, catch_up, is_workspace, orphans, reindex, standing_by_journal,
    workspaces_in,
};
pub use session::{Anchor, Loaded, Session, load, load_from, save_row};
