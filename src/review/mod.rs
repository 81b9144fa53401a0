//! The review page: the records of a job beside the documents that they quote, the most doubtful first.
//!
//! - `job_review`: what the page shows, with `reviewed_record` and `reviewed_quote`; `read`: reads it from a workspace; `records`:
//!   the records of a deliverable; `fields`: a record's fields, a line each; `input`: how a field is corrected; `growing_list`: how
//!   a record or a line is added; `doubt`: why a record is to be looked at, and which comes first
//! - `source`: the documents' text by page, with the quotes marked in it; `page_image`: a page of a PDF as an image
//! - `queued`: a job's review in the queue of a batch; `dealing`: the assignment of a batch's results to readers
//! - `page`: makes HTML of it, for a file or for the server; `index`: the page over all jobs; `site`: writes both into a folder
//!
//! Documents, their names and what a model wrote are hostile: every text is escaped, and each page forbids all but its own style
//! and script.

mod dealing;
mod doubt;
mod fields;
mod growing_list;
mod index;
mod input;
mod job_review;
mod page;
mod page_image;
mod queued;
mod read;
mod records;
mod reviewed_quote;
mod reviewed_record;
mod site;
mod source;

pub use dealing::{AssignmentWanted, Dealing};
pub use doubt::{BrokenRule, Doubt, DoubtKind};
pub use fields::{ReviewedField, TableLine};
pub use growing_list::{GrowingList, NewField};
pub use input::{FieldInput, InputKind};
pub use job_review::{JobFinding, JobReview};
pub use page::{Mode, content_policy, page_query, render_job};
pub use page_image::{PageImage, PageImageError, page_image};
pub use queued::QueuedReview;
pub use reviewed_quote::{QuotedValue, ReviewedQuote};
pub use reviewed_record::{ReviewedRecord, record_anchor};
pub use site::{ReviewSite, SiteCounts, SiteError, SiteOptions};
pub use source::{PartPicture, SourceDocument, SourcePart, TextSegment};
