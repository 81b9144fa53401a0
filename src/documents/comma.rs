//! Values with commas, semicolons or tabs between them.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads values with commas, semicolons or tabs between them.
pub(super) struct Comma;

impl Reader for Comma {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported {
            format: "values with commas, semicolons or tabs between them".to_owned(),
            advice: "save it as text".to_owned(),
        }
        .into())
    }
}
