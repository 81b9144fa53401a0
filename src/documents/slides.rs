//! PPTX.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads PPTX.
pub(super) struct Slides;

impl Reader for Slides {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported { format: "PPTX".to_owned(), advice: "save it as text".to_owned() }.into())
    }
}
