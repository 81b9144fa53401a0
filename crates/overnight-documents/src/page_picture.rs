//! What is wanted of the picture of a page, and what it is: with the places of quotes where they are known.

use serde::{Deserialize, Serialize};

/// What of a document is painted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaintedPlace {
    /// A page of a PDF or a picture, from 1.
    Page(u64),
    /// A picture within the document, as its text names it.
    Embedded(String),
}

/// Which colours a page is painted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colours {
    /// All.
    AsTheyAre,
    /// Greys alone are enough where it has hardly anything else: a third of the bytes.
    WhereThereAreSome,
    /// Greys.
    Greys,
}

/// How a page is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureOptions {
    /// Quotes are marked in the picture itself.
    pub is_marked: bool,
    /// Dots per inch, at most.
    pub dpi: u16,
    /// Those that are kept.
    pub colours: Colours,
    /// What of its height, in percent from the top: from, and to.
    pub rows: (u8, u8),
    /// Quarter turns clockwise, 0 to 3; `rows` and what is marked are as before them.
    pub turns: u8,
}

impl PictureOptions {
    /// For a person who reads.
    pub const FOR_PEOPLE: Self =
        Self { is_marked: false, dpi: 108, colours: Colours::AsTheyAre, rows: (0, 100), turns: 0 };
    /// For a model.
    pub const FOR_MODELS: Self = Self { dpi: 150, colours: Colours::WhereThereAreSome, ..Self::FOR_PEOPLE };
    /// For a model, where letters are small.
    pub const FOR_SMALL_LETTERS: Self = Self { dpi: 200, ..Self::FOR_MODELS };
    /// For who recognises characters.
    pub const FOR_RECOGNITION: Self = Self { dpi: 300, colours: Colours::Greys, ..Self::FOR_PEOPLE };
    /// For who recognises a few lines, below the head of a page.
    pub const FOR_SAMPLE: Self = Self { dpi: 150, rows: (12, 40), ..Self::FOR_RECOGNITION };
}

/// A quote, or the part of it that stands on one page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuoteOnPage {
    /// Which mark it is, for who asks.
    pub mark: usize,
    /// Its first byte in the page's text.
    pub at: usize,
    /// As the page's text has it.
    pub text: String,
    /// Where it is known to stand; empty: it is looked for among the words of the page.
    #[serde(default)]
    pub boxes: Vec<MarkedBox>,
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
