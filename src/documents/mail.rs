//! Mail.

use super::reader::{Failure, Pages, Reader, Source};
use super::refusal::Refusal;
use super::units::Unit;

/// Reads mail.
pub(super) struct Mail;

impl Reader for Mail {
    fn version(&self) -> &'static str {
        "none"
    }

    fn read(&self, _source: Source<'_>, _pages: &mut dyn Pages) -> Result<Unit, Failure> {
        Err(Refusal::Unsupported { format: "mail".to_owned(), advice: "save it as text".to_owned() }.into())
    }
}
