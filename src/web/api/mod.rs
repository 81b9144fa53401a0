//! `/api/v1`: the pages' data and actions for programs. JSON as printed by the commands with `--json`; refusals are
//! problem details (RFC 9457, <https://www.rfc-editor.org/rfc/rfc9457>).
//!
//! - `operations`: each operation is declared once; its route, the roles that may call it, and its place in the OpenAPI
//!   document follow from that; `all_operations` assembles them
//! - `jobs`, `batches`, `submission`, `review`: the operations; `paging`: a list in pieces
//! - `problem`: the form of errors

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

/// The path prefix of all operations.
pub(super) const ROOT: &str = "/api/v1";
