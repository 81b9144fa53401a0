//! The reader of pictures: it tells their pages, and no text.

use super::pages;
use crate::readers::reader::{PageSink, ReadFailure, Reader, Source};
use crate::units::Unit;

/// Why a page of a picture is a gap.
pub(crate) const PICTURE: &str = "a picture, whose characters nobody has recognised";

/// Tells pages, and no text.
pub(crate) struct ImageReader;

impl Reader for ImageReader {
    fn version(&self) -> &'static str {
        "image 0.25.10"
    }

    fn read(&self, source: Source<'_>, sink: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let count = pages::count(source.bytes)?;
        sink.expect(count)?;
        for page in 1..=count {
            if sink.begin(page)? {
                sink.gap(PICTURE)?;
            }
        }
        Ok(Unit::Page)
    }
}
