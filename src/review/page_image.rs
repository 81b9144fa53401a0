//! A page of a PDF as an image, with the places of the quotes on it. It is made in a process of its own, within limits, as texts
//! are: documents are hostile.

use super::JobReview;
use crate::{
    extraction::Extractor,
    workspace::{Workspace, WorkspaceError},
};
use overnight_documents::{MarkedBox, PagePicture, PictureOptions, QuoteOnPage, Refusal};

/// Bytes of the largest file that is opened for an image.
const MOST_BYTES: u64 = overnight_documents::MAX_BYTES;

/// One page as an image.
#[derive(Clone, Debug)]
pub struct PageImage {
    /// A PNG, with the quotes marked in it where that was asked for.
    pub png: Vec<u8>,
    /// Pixels.
    pub width: u32,
    pub height: u32,
    /// Where quotes stand on it, in order of the marks' numbers.
    pub boxes: Vec<MarkedBox>,
    /// What could not be painted or marked, a sentence's beginning each.
    pub told: Vec<String>,
}

/// Why there is no image of a page: a sentence.
#[derive(Debug, thiserror::Error)]
pub enum PageImageError {
    /// Nobody should have asked.
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

/// The same for a page of any document of `review`, with the places beside the image unless `is_marked`.
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
    let quotes: Vec<QuoteOnPage> = part.quotes();
    let bytes = Workspace::open(&review.workspace)?.read_at_most(&format!("documents/{}", source.name), MOST_BYTES)?;
    let options = PictureOptions { is_marked, ..PictureOptions::FOR_PEOPLE };
    let (picture, png) = extractor.page_picture(&bytes, page, &quotes, options).map_err(PageImageError::Refused)?;
    let PagePicture { width, height, boxes, told, ink: _ } = picture;
    Ok(PageImage { png, width, height, boxes, told })
}
