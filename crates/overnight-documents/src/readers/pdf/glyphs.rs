//! The text of a page: characters with their positions.

use super::pictures::Picture;

/// The number of text directions: quarter turns counterclockwise from left to right, and slanted ones for each.
pub(super) const TURNS: usize = 8;
pub(super) const QUARTERS: u8 = 4;

/// One drawn character (or several, where one shape stands for them: a ligature).
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    /// The offset of its characters in [`PaintedPage::text`].
    pub(super) from: u32,
    pub(super) to: u32,
    /// Its quarter turn from text that runs to the right, 0 to 3; for text slanted from that, 4 more.
    pub(super) turn: u8,
    /// Its start and end on its line, and the position of the line, which grows downwards: all relative to the page
    /// turned so that this text runs to the right.
    pub(super) start: f32,
    pub(super) end: f32,
    pub(super) base: f32,
    /// The font's size on the page.
    pub(super) size: f32,
    /// The glyph is invisible.
    pub(super) is_hidden: bool,
    /// A line runs through it.
    pub(super) is_struck: bool,
}

/// The content of a page, in painting order.
#[derive(Debug, Default)]
pub(super) struct PaintedPage {
    /// The characters of all glyphs.
    pub(super) text: String,
    pub(super) glyphs: Vec<Glyph>,
    /// Images painted.
    pub(super) images: u64,
    /// The visibly large images, from the top.
    pub(super) pictures: Vec<Picture>,
    /// The share of the paper covered by the largest of them, from 0 to 1.
    pub(super) covered: f64,
    /// The number of painted areas and lines, and of curves in them.
    pub(super) shapes: u64,
    pub(super) curves: u64,
    /// All its text stands at its upper or lower edge.
    pub(super) is_text_at_edge: bool,
    /// Most of its text lies unseen before or behind an image of the page, as recognition leaves it.
    pub(super) is_recognised: bool,
    /// The number of invisible glyphs, which are left out.
    pub(super) hidden: usize,
    /// The number of codes without a character.
    pub(super) unmapped: u64,
    /// The number of parts of its content that could not be read.
    pub(super) damaged: u64,
    /// Its content exceeded the limits of a page.
    pub(super) is_cut: bool,
}

impl PaintedPage {
    /// The characters of `glyph`.
    pub(super) fn characters(&self, glyph: &Glyph) -> &str {
        self.text.get(glyph.from as usize..glyph.to as usize).unwrap_or_default()
    }
}

/// An affine map, as in PDF: x' = a x + c y + e, y' = b x + d y + f.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

#[expect(clippy::many_single_char_names, reason = "a matrix's numbers have these names in PDF's own text")]
impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// The map that applies this one first, then `next`.
    pub(super) fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, next.0);
        Self([a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l])
    }

    pub(super) fn point(self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }
}
