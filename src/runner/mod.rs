//! The runner: makes jobs, opens them, and works on them. The loop is in `job_runner`, and `perform` is the only place with side
//! effects for the machine.
//!
//! - `create`: a workspace from instructions and documents
//! - `input_check`: refuses a job whose inputs were changed since it was made
//! - `open_job`: one opened workspace, with its lock, journal and state
//! - `job_runner`: ask, perform, decide, append, apply; with model calls, checkpoints and signals in files of its own
//! - `lease`: the lease of a job; `heartbeat` keeps the leases of all `active_jobs`
//! - `second_lists`: the lists of both readers; `other_version`: recognises a journal of another version of the program
//! - `scans`: pages that only eyes can read; `page_reading`: their transcriptions, compared, `own_text`: with the text
//!   that a page has; `scan_file`: the part that is kept
//! - `perform`: performs all other effects; `contract_check`: the contract's checks; `quote_positions`: the places of
//!   quotes, `quote_line` as lines of a file, `quote_boxes` on pictures of PDF pages, `check_sources`: other facts for
//!   the checks; `models`: a model from its name
//! - `error`: what can go wrong, and what each error means for the job
//! - `probe`: tries a model with a short conversation; `clock`: the only clock
//! - `review_job`: reviews of a result; `corrections`: corrected fields; `new_documents`: documents added later
//! - `reindex`: rebuilds the database from the workspaces

mod active_jobs;
mod check_sources;
mod clock;
mod contract_check;
mod corrections;
mod create;
mod duplicates;
mod earlier_check;
mod edited_files;
mod error;
mod heartbeat;
mod input_check;
mod job_runner;
mod lease;
mod models;
mod new_documents;
mod open_job;
mod other_version;
mod own_text;
mod page_reading;
mod perform;
#[cfg(feature = "network")]
mod probe;
mod quote_boxes;
mod quote_line;
mod quote_positions;
mod reindex;
#[cfg(feature = "network")]
mod remote_models;
mod review_job;
mod scan_file;
mod scanned_text;
mod scans;
mod second_lists;

pub use active_jobs::ActiveJobs;
pub use clock::{now, today};
pub use contract_check::{QuoteExplainer, each_rule_broken};
pub use corrections::CorrectedValue;
pub use create::{CreatedJob, MODELS_ASSET, NewJobRequest, TOOLS_ASSET, create, create_as};
pub use error::{Disposition, RunError};
pub use heartbeat::{Heartbeat, Leases};
pub use job_runner::{JobOutcome, JobRunner, RunReport, waits_for};
pub use lease::{LeaseHandle, LeaseStatus, StopRequest, WorkerTimes};
pub use models::{ModelOptions, open_model};
pub use new_documents::NewDocuments;
pub use open_job::{Anchor, LoadedJob, OpenJob, fail_row, load, load_from};
#[cfg(feature = "network")]
pub use probe::{ProbeResult, probe};
pub use quote_line::{OneReading, QuoteBox, QuoteLine, QuoteStatus, ValueStatus};
pub use reindex::{
    IndexOutcome, Indexed, MisnamedWorkspace, Reindexed, adopt, catch_up, is_workspace, orphans, reindex,
    state_by_journal, workspaces_in,
};
pub use review_job::{MOST_WORDS, ReviewAction, ReviewError, record_review, review_job};
