//! The options for the picture of a page, and the result: with the places of quotes if they are known.

use serde::{Deserialize, Serialize};

/// The part of a document that is painted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaintedPlace {
    /// A page of a PDF or a picture, from 1.
    Page(u64),
    /// A picture within the document, by its name in the text.
    Embedded(String),
}

/// The colours in which a page is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colours {
    /// All colours.
    AsTheyAre,
    /// Only greys if the page has hardly anything else: a third of the bytes.
    WhereThereAreSome,
    /// Greys.
    Greys,
}

/// How a page is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureOptions {
    /// Whether quotes are marked in the picture itself.
    pub is_marked: bool,
    /// The maximum dots per inch.
    pub dpi: u16,
    /// The colours that are kept.
    pub colours: Colours,
    /// The part of the height, in percent from the top: from, and to.
    pub rows: (u8, u8),
    /// Quarter turns clockwise, 0 to 3; `rows` and the marked places refer to the page before turning.
    pub turns: u8,
}

impl PictureOptions {
    /// For people.
    pub const FOR_PEOPLE: Self =
        Self { is_marked: false, dpi: 108, colours: Colours::AsTheyAre, rows: (0, 100), turns: 0 };
    /// For a model.
    pub const FOR_MODELS: Self = Self { dpi: 150, colours: Colours::WhereThereAreSome, ..Self::FOR_PEOPLE };
    /// For a model, where letters are small.
    pub const FOR_SMALL_LETTERS: Self = Self { dpi: 200, ..Self::FOR_MODELS };
    /// For character recognition.
    pub const FOR_RECOGNITION: Self = Self { dpi: 300, colours: Colours::Greys, ..Self::FOR_PEOPLE };
    /// For the recognition of a few lines, below the head of a page.
    pub const FOR_SAMPLE: Self = Self { dpi: 150, rows: (12, 40), ..Self::FOR_RECOGNITION };
}

/// A quote, or the part of it that stands on one page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuoteOnPage {
    /// The number of the mark, chosen by the caller.
    pub mark: usize,
    /// The first byte in the page's text.
    pub at: usize,
    /// The text as it stands in the page's text.
    pub text: String,
    /// The known places; if empty, the quote is searched among the words of the page.
    #[serde(default)]
    pub boxes: Vec<MarkedBox>,
}

/// A place on the image of a page: parts of its width and height, from 0 to 1, from the left and from the top.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MarkedBox {
    /// The mark of the quote.
    pub mark: usize,
    /// The left edge.
    pub x: f32,
    /// The upper edge.
    pub y: f32,
    /// The width.
    pub width: f32,
    /// The height.
    pub height: f32,
}

/// The result of painting a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PagePicture {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The places of the quotes, in their order; each line of a quote has one.
    pub boxes: Vec<MarkedBox>,
    /// Pixels that are darker than their surroundings, of 10,000: letters, lines, noise.
    #[serde(default)]
    pub ink: u32,
    /// Parts that couldn't be painted or marked, a clause each.
    pub told: Vec<String>,
}
