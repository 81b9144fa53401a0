//! Pages as pictures: of a PDF, or of a picture itself.

use crate::format::Format;
use crate::page_picture::{MarkedBox, PagePicture, PaintedPlace, PictureOptions, QuoteOnPage};
use crate::readers::{embedded_picture, image, pdf, pdf_header};
use crate::refusal::Refusal;

/// Whether pages of documents of this format, by its name, can be painted.
pub fn is_painted(format: &str) -> bool {
    [Format::Pdf, Format::Image].iter().any(|painted| painted.as_str() == format)
}

/// Whether texts of documents of this format, by its name, name the pictures in them.
pub fn names_pictures(format: &str) -> bool {
    [Format::Word, Format::Slides, Format::Epub].iter().any(|naming| naming.as_str() == format)
}

/// Paints a place of the document in `bytes`: see [`page_picture`] and [`embedded_picture`].
pub fn picture_of(
    bytes: &[u8],
    place: &PaintedPlace,
    quotes: &[QuoteOnPage],
    options: PictureOptions,
) -> Result<(PagePicture, Vec<u8>), Refusal> {
    match place {
        PaintedPlace::Page(page) => page_picture(bytes, *page, quotes, options),
        PaintedPlace::Embedded(name) => embedded_picture(bytes, name, options),
    }
}

/// The places of quotes on pages of the PDF in `bytes`, each with its page; other documents have no such places.
pub fn quote_boxes(bytes: &[u8], quotes: &[(u64, QuoteOnPage)]) -> Result<Vec<(u64, MarkedBox)>, Refusal> {
    if pdf_header(bytes).is_some() { pdf::quote_boxes(bytes, quotes) } else { Ok(Vec::new()) }
}

/// Paints page `page` of the PDF or picture in `bytes` as a PNG, with the places of `quotes` on it. There is no limit
/// on time here, and on memory only for pictures: see the crate's description.
pub fn page_picture(
    bytes: &[u8],
    page: u64,
    quotes: &[QuoteOnPage],
    options: PictureOptions,
) -> Result<(PagePicture, Vec<u8>), Refusal> {
    if pdf_header(bytes).is_some() {
        pdf::paint_page(bytes, page, quotes, options)
    } else {
        image::paint_page(bytes, page, quotes, options)
    }
}
