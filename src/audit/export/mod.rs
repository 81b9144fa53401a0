//! The record of a job in one ZIP, for readers without the program and the database: the unchanged workspace, pages
//! that describe what happened, and all that is needed to check that nothing was changed.
//!
//! - `record`: what goes into the ZIP, and in which order; `record_zip`: the ZIP and the list of its files
//! - `pages`: the journal, read once, as HTML; `overview`, `phase_page`, `epoch_page`: the pages; `format`: their texts
//! - `anchor`: what the database knew
//! - `signature`, `time_stamp`: who confirms that the record had this content, and when
//! - `unpacked`: checks a record that was unpacked
//! - `pack`: replaces the workspace of an ended job with its record
//! - `verify.sh`: the same check for readers with only `sha256sum` and `jq`

mod anchor;
mod epoch_page;
mod error;
mod format;
mod layout;
mod overview;
pub mod pack;
mod pages;
mod phase_page;
mod record;
mod record_zip;
pub mod signature;
#[cfg(feature = "network")]
pub mod time_stamp;
pub mod unpacked;

pub use anchor::RecordAnchor;
pub use error::RecordError;
pub use record::{SealedRecord, UnsealedRecord};
