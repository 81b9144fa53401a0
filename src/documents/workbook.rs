//! XLSX, XLS and ODS.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads XLSX, XLS and ODS.
pub(super) struct Workbook;

impl Reader for Workbook {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported { format: "XLSX, XLS and ODS".to_owned(), advice: "save it as text".to_owned() }
            .into())
    }
}
