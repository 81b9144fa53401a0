//! One PDF, from bytes to the text of its pages.

use unpdf::Error;
use unpdf::parser::backend::{PdfBackend, RawBackend};

use super::glyphs::Page;
use super::{paint, write};
use crate::documents::reader::{Failure, Pages, Reader, Source};
use crate::documents::refusal::Refusal;
use crate::documents::units::Unit;

/// Reads PDF.
pub(in crate::documents) struct Pdf;

impl Reader for Pdf {
    fn version(&self) -> &'static str {
        "unpdf 0.52.1+1"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn Pages) -> Result<Unit, Failure> {
        let document = RawBackend::load_bytes(source.bytes).map_err(|error| refusal(&error))?;
        let found = document.pages();
        pages.expect(found.len() as u64)?;
        for (&number, &id) in &found {
            if !pages.begin(u64::from(number))? {
                continue;
            }
            let page = paint::page(&document, id);
            let text = write::text(&page);
            if !text.is_empty() {
                pages.text(&text)?;
            }
            for gap in gaps(&page, &text) {
                pages.gap(gap)?;
            }
        }
        Ok(Unit::Page)
    }
}

fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Encrypted | Error::InvalidPassword => Refusal::Encrypted { format: "a PDF file".to_owned() },
        _ => Refusal::Damaged { format: "PDF".to_owned(), why: error.to_string() },
    }
}

/// What is missing of a page.
fn gaps(page: &Page, text: &str) -> Vec<&'static str> {
    let mut gaps = Vec::new();
    if page.damaged > 0 {
        gaps.push("a part of it is damaged");
    }
    if text.trim().is_empty() && page.images > 0 {
        gaps.push("no text on it, probably a scan");
    }
    gaps
}
