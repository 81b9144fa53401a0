//! What the commands print with `--json` and `/api/v1` answers: one type for both, whose fields are a promise. Where a value comes from
//! is decided elsewhere.
//!
//! - `job_list_item`: a job in a list; `job_view`: one job; `batch_view`: a batch;
//!   `assignments_view`: who reads which of its results
//! - `request_outcome`: what came of a request

mod assignments_view;
mod batch_view;
mod job_list_item;
mod job_view;
mod request_outcome;

pub use assignments_view::{AssignmentsView, PairAgreement, ReviewJudgements, ReviewerQueue};
pub use batch_view::{BatchView, ClosingJobView};
pub use job_list_item::JobListItem;
pub use job_view::{DocumentView, InQueue, JobView, PhaseLine};
pub use request_outcome::RequestOutcome;
