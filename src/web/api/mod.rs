//! `/api/v1`: what the pages show and do, for programs. JSON as the commands print it with `--json`; what is refused is told as problem
//! details (RFC 9457, <https://www.rfc-editor.org/rfc/rfc9457>).
//!
//! - `operations`: each operation is said once; from it come its route, who may call it, and its place in the OpenAPI document;
//!   `all_operations` puts them together
//! - `jobs`, `batches`, `submission`, `review`: the operations; `paging`: a list in pieces
//! - `problem`: how errors are told

mod all_operations;
mod batches;
mod jobs;
mod object_body;
mod operations;
mod paging;
mod problem;
mod review;
mod submission;

pub(super) use all_operations::operations;
pub(super) use problem::as_problem;

/// Under which all of it stands.
pub(super) const ROOT: &str = "/api/v1";
