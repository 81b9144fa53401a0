//! How text is painted: whether it is visible, and whether a line runs through it.

use unpdf::parser::backend::{PageBox, PdfValue};

use super::glyphs::{Glyph, Matrix};
use super::values::number;

/// Text smaller than this, in points, is invisible.
pub(super) const LEAST_SIZE: f32 = 0.5;
/// Colours above this brightness count as white.
const WHITE: f64 = 0.98;
/// The most areas and lines of a page that are checked.
const MAX_AREAS: usize = 20_000;
/// The maximum number of comparisons of lines with characters.
const MAX_LOOKS: usize = 20_000_000;
/// A line through text is no thicker than this, in points, and runs at this height of it, in sizes of the font.
const THIN: f64 = 1.6;
const MIDDLE: std::ops::RangeInclusive<f32> = 0.12..=0.45;
/// The middle of letters, as a share of an area around them, from below.
const STRUCK_AT: f64 = 0.45;

/// The current way of painting text and areas.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ink {
    /// Text isn't painted: it is invisible, or only clips later content.
    pub(super) is_invisible: bool,
    is_white: bool,
}

impl Ink {
    /// The operator that sets how text is painted.
    pub(super) fn set_rendering(&mut self, mode: f64) {
        self.is_invisible = (3.0..4.0).contains(&mode) || mode >= 7.0;
    }

    /// An operator that sets the colour of areas.
    pub(super) fn set_colour(&mut self, operator: &str, operands: &[PdfValue]) {
        let values: Vec<f64> = operands.iter().filter_map(number).collect();
        self.is_white = values.len() == operands.len()
            && match operator {
                "g" | "rg" => !values.is_empty() && values.iter().all(|&value| value >= WHITE),
                "k" => values.iter().all(|&value| value <= 1.0 - WHITE),
                // In a space with one component, full ink is the darkest colour.
                "sc" | "scn" => values.len() == 3 && values.iter().all(|&value| value >= WHITE),
                _ => false,
            };
    }
}

/// A box on the page, in points: left, low, right, high.
pub(super) type Box4 = [f64; 4];

/// The painted content other than text.
#[derive(Debug, Default)]
pub(super) struct PaintedAreas {
    path: Option<Box4>,
    /// The path clips later content.
    is_clip: bool,
    /// The areas that aren't white.
    areas: Vec<Box4>,
    lines: Vec<Box4>,
    is_full: bool,
}

impl PaintedAreas {
    /// Adds points to the current path.
    pub(super) fn add(&mut self, to_page: Matrix, operands: &[PdfValue], is_rectangle: bool) {
        let mut values: Vec<f64> = operands.iter().filter_map(number).collect();
        if let (true, [x, y, width, height]) = (is_rectangle, values.as_slice()) {
            let (x, y, right, high) = (*x, *y, x + width, y + height);
            values = vec![x, y, right, y, x, high, right, high];
        }
        for point in values.chunks_exact(2) {
            let (x, y) = to_page.point(point[0], point[1]);
            let [left, low, right, high] = self.path.unwrap_or([x, y, x, y]);
            self.path = Some([left.min(x), low.min(y), right.max(x), high.max(y)]);
        }
    }

    /// Marks the path as clipping the content painted after it.
    pub(super) const fn clip(&mut self) {
        self.is_clip = true;
    }

    /// Paints the path, or only ends it. Returns the box around it if it clips later content.
    pub(super) fn paint(&mut self, ink: Ink, is_filled: bool, is_drawn: bool) -> Option<Box4> {
        let is_clip = std::mem::take(&mut self.is_clip);
        let path = self.path.take()?;
        if (is_filled && !ink.is_white || is_drawn) && path[3] - path[1] <= THIN && path[2] - path[0] > THIN {
            Self::keep(&mut self.lines, path, &mut self.is_full);
        }
        if is_filled && !ink.is_white {
            Self::keep(&mut self.areas, path, &mut self.is_full);
        }
        is_clip.then_some(path)
    }

    /// Adds lines through areas that were marked as struck out.
    pub(super) fn strike(&mut self, areas: &[PageBox]) {
        for area in areas {
            let [left, low, right, high] = [area.llx, area.lly, area.urx, area.ury].map(f64::from);
            let middle = low + STRUCK_AT * (high - low);
            Self::keep(&mut self.lines, [left, middle, right, middle], &mut self.is_full);
        }
    }

    /// Adds an image or a shading. Returns the box around it, if it has one.
    pub(super) fn cover(&mut self, to_page: Matrix, is_everywhere: bool) -> Option<Box4> {
        if is_everywhere {
            self.is_full = true;
            return None;
        }
        let corners = [0, 0, 1, 0, 0, 1, 1, 1].map(PdfValue::Integer);
        let path = self.path.take();
        self.add(to_page, &corners, false);
        let area = std::mem::replace(&mut self.path, path)?;
        Self::keep(&mut self.areas, area, &mut self.is_full);
        Some(area)
    }

    fn keep(areas: &mut Vec<Box4>, area: Box4, is_full: &mut bool) {
        if areas.len() < MAX_AREAS {
            areas.push(area);
        } else {
            *is_full = true;
        }
    }

    /// Whether text at this point is white on white.
    pub(super) fn is_unseen(&self, ink: Ink, (x, y): (f64, f64), size: f64) -> bool {
        let y = y + 0.3 * size;
        let is_on = |area: &Box4| area[0] <= x + 1.0 && x <= area[2] + 1.0 && area[1] <= y && y <= area[3];
        ink.is_white && !self.is_full && !self.areas.iter().any(is_on)
    }

    /// Whether each of `glyphs`, upright ones, has a line through it.
    pub(super) fn struck(&self, glyphs: &[Glyph]) -> Vec<bool> {
        #[expect(clippy::cast_possible_truncation, reason = "a place on a page")]
        let mut lines: Vec<[f32; 4]> = self.lines.iter().map(|line| line.map(|value| value as f32)).collect();
        if lines.len().saturating_mul(glyphs.len()) > MAX_LOOKS {
            lines.clear();
        }
        let is_struck = |glyph: &Glyph| {
            let middle = f32::midpoint(glyph.start, glyph.end);
            lines.iter().any(|&[left, low, right, high]| {
                let height = (f32::midpoint(low, high) + glyph.base) / glyph.size.max(LEAST_SIZE);
                left <= middle && middle <= right && MIDDLE.contains(&height)
            })
        };
        glyphs.iter().map(|glyph| glyph.turn == 0 && is_struck(glyph)).collect()
    }
}
