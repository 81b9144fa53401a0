//! EPUB.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads EPUB.
pub(super) struct Epub;

impl Reader for Epub {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported { format: "EPUB".to_owned(), advice: "save it as text".to_owned() }.into())
    }
}
