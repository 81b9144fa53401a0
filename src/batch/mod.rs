//! Batches: jobs that are submitted together, and run when a worker is free.
//!
//! - `inspect`: the documents looked at before they are submitted: hashes, tokens, what can't be read
//! - `estimate`: what jobs will need, before anything has begun
//! - `families`: which documents are one job; `natural_order`: the order in which it reads them; `duplicates`: the same content twice
//! - `name`: what a batch may be called
//! - `submission`: from documents to a batch and its jobs
//! - `settings`: the settings at submission, kept in the batch's row for the workers that make the workspaces
//! - `closing`: the job over all deliverables, once a batch has ended; `closing_names`: what they are called in it
//! - `cascade_batch`: the settings that make a batch a stage of a cascade
//! - `eval_batch`: the settings that make a batch part of an evaluation
//! - `derived_id`: ids that are computed from what they identify
//! - `schedule`: batches that are submitted automatically
//! - `workspace_of`: where a job's workspace is
//! - `window`: when jobs may be started; `zone`: time zones by name

mod cascade_batch;
mod closing;
mod closing_names;
mod derived_id;
mod duplicates;
mod error;
mod estimate;
mod eval_batch;
mod families;
mod inspect;
mod name;
mod natural_order;
mod only_fields;
pub mod schedule;
mod settings;
mod submission;
pub mod window;
mod workspace_of;
mod zone;

pub use cascade_batch::{CascadeBatch, stage_ids};
pub use closing::{ClosingOutcome, DeliverableSources, close, closing_ids, fetched_folders, result_manifest};
pub use duplicates::{Duplicate, duplicates, take_repeated};
pub use error::BatchError;
pub use estimate::{Estimate, Forecast, PAGE_TOKENS, PART_TURNS};
pub use eval_batch::EvalBatch;
pub use families::JobUnit;
pub use inspect::{Document, Inspected, hash_of, inspect};
pub use name::{MOST_LETTERS, checked_name};
pub use only_fields::{EarlierJob, OnlyFields};
pub use settings::{BatchSettings, ClosingSettings};
pub use submission::{Submission, job_label};
pub use workspace_of::workspace_of;
pub use zone::{on_the_wall, zone};
