//! A page of a PDF as an image, with the places of the quotes on it. It is made in a process of its own, within limits,
//! like texts: documents are hostile.

use super::JobReview;
use crate::{
    extraction::Extractor,
    runner::QuoteBox,
    workspace::{Workspace, WorkspaceError},
};
use overnight_documents::{MarkedBox, PagePicture, PaintedPlace, PictureOptions, QuoteOnPage, Refusal};

/// Bytes of the largest file that is opened for an image.
const MOST_BYTES: u64 = overnight_documents::MAX_BYTES;

/// One page as an image.
#[derive(Clone, Debug)]
pub struct PageImage {
    /// A PNG, with the quotes marked in it if that was requested.
    pub png: Vec<u8>,
    /// Pixels.
    pub width: u32,
    pub height: u32,
    /// The places of quotes on it, in order of the marks' numbers.
    pub boxes: Vec<MarkedBox>,
    /// The parts that could not be painted or marked, a sentence's beginning each.
    pub told: Vec<String>,
}

/// The reason why there is no image of a page: a sentence.
#[derive(Debug, thiserror::Error)]
pub enum PageImageError {
    /// The request is invalid.
    #[error("there is no such page of a PDF in this review")]
    NoSuchPage,
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("there is no image of the page: the document {0}")]
    Refused(Refusal),
}

/// Page `page` of the document that is `document`th of the job (see [`super::SourceDocument::index`]), with its quotes marked
/// in the image itself.
pub fn page_image(
    review: &JobReview,
    extractor: &Extractor,
    document: usize,
    page: u64,
) -> Result<PageImage, PageImageError> {
    let is_shown = |part: &&super::SourcePart| part.first == page && part.is_text();
    let source = review.sources.iter().find(|source| source.index == document && source.is_painted);
    source.and_then(|source| source.parts.iter().find(is_shown)).ok_or(PageImageError::NoSuchPage)?;
    image(review, extractor, document, page, true)
}

/// The same for a page of any document of `review`; unless `is_marked`, the places are returned beside the image.
pub(super) fn image(
    review: &JobReview,
    extractor: &Extractor,
    document: usize,
    page: u64,
    is_marked: bool,
) -> Result<PageImage, PageImageError> {
    let source = review.sources.iter().find(|source| source.index == document);
    let source = source.ok_or(PageImageError::NoSuchPage)?;
    let part = source.parts.iter().find(|part| part.first == page).ok_or(PageImageError::NoSuchPage)?;
    let mut quotes: Vec<QuoteOnPage> = part.quotes();
    for quote in &mut quotes {
        quote.boxes = known_boxes(review, quote.mark, page);
    }
    let bytes = Workspace::open(&review.workspace)?.read_at_most(&format!("documents/{}", source.name), MOST_BYTES)?;
    let options = PictureOptions { is_marked, ..PictureOptions::FOR_PEOPLE };
    let (picture, png) =
        extractor.page_picture(&bytes, &PaintedPlace::Page(page), &quotes, options).map_err(PageImageError::Refused)?;
    let PagePicture { width, height, boxes, told, ink: _ } = picture;
    Ok(PageImage { png, width, height, boxes, told })
}

/// The boxes of a mark's quote on a scanned page, from the words that were recognised there.
fn known_boxes(review: &JobReview, mark: usize, page: u64) -> Vec<MarkedBox> {
    let quote = review.records.iter().flat_map(|record| &record.quotes).find(|quote| quote.mark == Some(mark));
    let boxes = quote.into_iter().flat_map(|quote| &quote.boxes).filter(|place| place.page == page);
    boxes.map(|&QuoteBox { x, y, width, height, .. }| MarkedBox { mark, x, y, width, height }).collect()
}
