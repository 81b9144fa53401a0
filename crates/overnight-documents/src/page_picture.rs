//! Pages as pictures: of a PDF, or of a picture itself; with the places of quotes where they are known.

use crate::format::Format;
use crate::readers::{image, pdf, pdf_header};
use crate::refusal::Refusal;
use serde::{Deserialize, Serialize};

pub use crate::readers::image::Colours;

/// How a page is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureOptions {
    /// Quotes are marked in the picture itself.
    pub is_marked: bool,
    /// Dots per inch, at most.
    pub dpi: u16,
    /// Those that are kept.
    pub colours: Colours,
}

impl PictureOptions {
    /// For a person who reads.
    pub const FOR_PEOPLE: Self = Self { is_marked: false, dpi: 108, colours: Colours::AsTheyAre };
    /// For a model.
    pub const FOR_MODELS: Self = Self { is_marked: false, dpi: 150, colours: Colours::WhereThereAreSome };
    /// For who recognises characters.
    pub const FOR_RECOGNITION: Self = Self { is_marked: false, dpi: 300, colours: Colours::Greys };
}

/// A quote, or the part of it that stands on one page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuoteOnPage {
    /// Which mark it is, for who asks.
    pub mark: usize,
    /// Its first byte in the page's text.
    pub at: usize,
    /// As the page's text has it.
    pub text: String,
}

/// A place on the image of a page: parts of its width and height, from 0 to 1, from the left and from the top.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MarkedBox {
    /// That of the quote.
    pub mark: usize,
    /// Of its left edge.
    pub x: f32,
    /// Of its upper edge.
    pub y: f32,
    /// Of the page's width.
    pub width: f32,
    /// Of the page's height.
    pub height: f32,
}

/// What is to be known of a page's image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PagePicture {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Where the quotes stand, in their order; a line of a quote has one.
    pub boxes: Vec<MarkedBox>,
    /// Pixels that are darker than what is around them, of 10,000: letters, lines, noise.
    #[serde(default)]
    pub ink: u32,
    /// What could not be painted or marked, a clause each.
    pub told: Vec<String>,
}

/// Whether pages of documents of this format, by its name, can be painted.
pub fn is_painted(format: &str) -> bool {
    [Format::Pdf, Format::Image].iter().any(|painted| painted.as_str() == format)
}

/// Paints page `page` of the PDF or picture in `bytes`, as a PNG, and says where `quotes` stand on it. There is no limit on time
/// here, and on memory only for pictures: see the crate's description.
pub fn page_picture(
    bytes: &[u8],
    page: u64,
    quotes: &[QuoteOnPage],
    options: PictureOptions,
) -> Result<(PagePicture, Vec<u8>), Refusal> {
    if pdf_header(bytes).is_some() {
        pdf::paint_page(bytes, page, quotes, options)
    } else {
        image::paint_page(bytes, page, options)
    }
}
