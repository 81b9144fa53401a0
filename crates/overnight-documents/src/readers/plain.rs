//! Markdown, reStructuredText, source code, plain text: the document is its own text. Nothing is interpreted, so a
//! quote copied from an editor is found, and line numbers are the file's own (but for lines too long to show).

use super::{PageSink, ReadFailure, Reader, Source};
use crate::units::Unit;
use crate::{encoding, text};

/// Reads any text. It has pages if form feeds separate them.
pub(crate) struct PlainReader;

impl Reader for PlainReader {
    fn version(&self) -> &'static str {
        "plain"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let decoded = encoding::decode(source.bytes, None)?;
        for note in decoded.notes {
            pages.note(note)?;
        }
        let all = text::pages(&decoded.text).count() as u64;
        if all > 1 {
            pages.expect(all)?;
        }
        for (count, page) in (1..).zip(text::pages(&decoded.text)) {
            if pages.begin(count)? {
                pages.text(page)?;
            }
        }
        Ok(if all > 1 { Unit::Page } else { Unit::Line })
    }
}
