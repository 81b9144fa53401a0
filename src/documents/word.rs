//! DOCX.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads DOCX.
pub(super) struct Word;

impl Reader for Word {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported { format: "DOCX".to_owned(), advice: "save it as text".to_owned() }.into())
    }
}
