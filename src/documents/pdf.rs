//! PDF.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads PDF.
pub(super) struct Pdf;

impl Reader for Pdf {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported { format: "PDF".to_owned(), advice: "save it as text".to_owned() }.into())
    }
}
