//! The record of a job in one ZIP, for who has neither the program nor the database: the workspace as it is, pages that tell
//! what happened, and what is needed to see that nothing was changed.
//!
//! - `record`: what goes into the ZIP, and in which order; `record_zip`: the ZIP and the list of its files
//! - `pages`: the journal, read once, as HTML; `overview`, `phase_page`, `epoch_page`: the pages; `format`: their words
//! - `anchor`: what the database knew
//! - `signature`, `time_stamp`: who says that the record was so, and when
//! - `unpacked`: checks a record that was unpacked
//! - `pack`: puts a record in the place of the workspace of an ended job
//! - `verify.sh`: the same for who has only `sha256sum` and `jq`

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
