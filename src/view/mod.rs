//! The types that the commands print with `--json` and that `/api/v1` answers with: one type for both, whose fields are
//! a promise. Other modules decide where a value comes from.
//!
//! - `job_list_item`: a job in a list; `job_view`: one job; `batch_view`: a batch;
//!   `assignments_view`: the readers of its results
//! - `request_outcome`: the outcome of a request

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
