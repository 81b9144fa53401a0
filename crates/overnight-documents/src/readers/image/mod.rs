//! Pictures as documents: photographs, scans and faxes as JPEG, PNG, TIFF (a page for each image in it), GIF, WebP and BMP. They
//! have no text of their own: each page is a gap until somebody has recognised it.
//!
//! - `pages`: how many pages a picture has, and one of them as pixels, upright, within limits
//! - `paint`: a page as a PNG
//!
//! Decoding is the library's (`image`, with `tiff` for the chain of a TIFF file's images); it is done in a limited process.

mod pages;
mod paint;

pub use paint::Colours;
pub(crate) use paint::{paint_page, png};

use super::reader::{PageSink, ReadFailure, Reader, Source};
use crate::units::Unit;

/// Why a page of a picture is a gap.
pub(crate) const PICTURE: &str = "a picture, whose characters nobody has recognised";

/// Tells pages, and no text.
pub(crate) struct ImageReader;

impl Reader for ImageReader {
    fn version(&self) -> &'static str {
        "image 0.25"
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

#[cfg(test)]
mod tests;
