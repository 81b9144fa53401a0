//! The working tools: those that read or change something outside the todo list. Each returns a result for the model.
//! Faults that the model can correct are reported to it; only those that the job can't correct are errors.
//!
//! - `document_cache`: the documents' text, kept in memory while it is read
//! - `document_list`: `list_documents`; `documents`: `read_document`
//! - `view`: `view_page`; `files`: `read_file`, `list_files`
//! - `records`: `list_records`; `search`: `search_files`
//! - `write`: `write_file`, `append_file`, `edit_file`, `add_records`, `edit_records`, made safe to repeat
//! - `spill`: results too large for the conversation

mod document_cache;
mod document_list;
mod documents;
mod error;
mod eyes;
mod files;
mod partial;
mod reading;
mod records;
mod search;
mod spill;
mod tables;
mod view;
mod write;

pub use document_cache::DocumentCache;
pub use error::ToolError;
pub use eyes::Eyes;
pub use reading::{bounded, leaves_no_trace, read, take_back};
pub use tables::has_tables;
pub use write::{PlannedChange, prepare, with_checks, write};
