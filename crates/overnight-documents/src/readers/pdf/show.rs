//! Text is shown: each glyph of a string gets its place, and the next one stands behind it.

use unpdf::parser::backend::{GlyphAdvance, PageBox, PdfBackend, PdfValue};

use super::glyphs::{Glyph, Matrix, QUARTERS};
use super::ink::LEAST_SIZE;
use super::paint::Painter;
use super::values::number;

/// Text whose angle differs by more than this (a sine, of two degrees and a half) from a quarter turn is slanted.
const SLANTED: f64 = 0.0436;
/// Text nearer to the upper or lower edge than this share of the page's height is a line that a machine printed there.
const EDGE: f64 = 0.1;

impl Painter<'_> {
    /// Shows strings, and moves by the numbers between them.
    pub(super) fn show_all(&mut self, parts: &[PdfValue]) {
        for part in parts {
            match part {
                PdfValue::Str(codes) => self.show(codes),
                PdfValue::Integer(_) | PdfValue::Real(_) => {
                    let back = number(part).unwrap_or(0.0) / 1000.0 * self.state.size;
                    if self.document.is_vertical_font(self.state.scope, &self.state.font) {
                        self.advance(0.0, -back);
                    } else {
                        self.advance(-back * self.state.horizontal_scaling, 0.0);
                    }
                }
                PdfValue::Name(_) | PdfValue::Array(_) | PdfValue::Other => {}
            }
        }
    }

    fn advance(&mut self, x: f64, y: f64) {
        self.text = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(self.text);
    }

    /// Shows one string in the font that is set.
    fn show(&mut self, codes: &[u8]) {
        if self.state.known.as_ref().is_some_and(|font| font.is_bomb) {
            self.page.unmapped += codes.len() as u64;
            return;
        }
        let run = self.document.decode_run(self.state.scope, &self.state.font, codes);
        let text = run.decoded.text.as_str();
        let Some(advances) = run.glyphs else {
            self.page.unmapped += u64::from(run.decoded.undecoded_codes);
            // The widths are unknown: half the size each is close for most.
            for (at, character) in text.char_indices() {
                self.place(&text[at..at + character.len_utf8()], 500.0, character == ' ');
            }
            return;
        };
        let known = self.state.known.clone();
        let is_lost = run.clusters.iter().flatten().any(|cluster| cluster.text.is_empty());
        let is_apart = known.as_ref().is_some_and(|font| {
            is_lost && font.has_own_encoding || run.clusters.is_none() && font.knows_single_codes()
        });
        if is_apart && codes.len() > 1 {
            // If the table has some of a string's codes, the library doesn't ask the font's own encoding for the
            // others, and doesn't say which glyphs have no character.
            for code in codes.chunks(1) {
                self.show(code);
            }
            return;
        }
        let said = |at: usize| known.as_ref().and_then(|font| font.character(codes, at, advances.len()));
        if let Some(clusters) = run.clusters {
            for cluster in clusters {
                let first = cluster.glyphs.start;
                let text = text.get(cluster.text).unwrap_or_default();
                for (nth, glyph) in advances.get(cluster.glyphs).unwrap_or_default().iter().enumerate() {
                    self.glyph(if nth == 0 { text } else { "" }, said(first + nth), glyph, nth == 0);
                }
            }
        } else if text.is_empty() {
            for (nth, glyph) in advances.iter().enumerate() {
                self.glyph("", said(nth), glyph, true);
            }
        } else if let [glyph] = advances.as_slice() {
            self.glyph(text, said(0), glyph, true);
        } else {
            self.spread(text, &advances);
        }
    }

    /// Shows one glyph for `text`, or otherwise for the character `known`.
    fn glyph(&mut self, text: &str, known: Option<char>, glyph: &GlyphAdvance, is_first: bool) {
        let mut buffer = [0; 4];
        let text = match known {
            Some(character) => character.encode_utf8(&mut buffer),
            None => text,
        };
        let advance = glyph.vertical.map_or(glyph.width, |vertical| vertical.advance);
        if text.is_empty() && is_first && advance.abs() > 0.0 {
            self.page.unmapped += 1;
        }
        match glyph.vertical {
            Some(vertical) => self.place_vertical(text, f64::from(vertical.advance)),
            None => self.place(text, f64::from(glyph.width), glyph.is_word_space),
        }
    }

    /// Shows characters whose glyphs aren't known: spread over the whole width.
    fn spread(&mut self, text: &str, advances: &[GlyphAdvance]) {
        #[expect(clippy::cast_precision_loss, reason = "as many as a string has characters")]
        let as_number = |count: usize| count as f64;
        let width: f64 = advances.iter().map(|glyph| f64::from(glyph.width)).sum();
        let spaces = advances.iter().filter(|glyph| glyph.is_word_space).count();
        let count = text.chars().count();
        self.page.unmapped += advances.len().saturating_sub(count) as u64;
        let spacing =
            self.state.character_space * as_number(advances.len()) + self.state.word_space * as_number(spaces);
        for character in text.chars() {
            let mut buffer = [0; 4];
            self.place(character.encode_utf8(&mut buffer), width / as_number(count), false);
        }
        let placed = self.state.character_space * as_number(count);
        self.advance((spacing - placed) * self.state.horizontal_scaling, 0.0);
    }

    #[expect(clippy::many_single_char_names, reason = "a matrix's numbers have these names in PDF's own text")]
    /// Places one glyph of `width` thousandths of the font's size, and moves to the next.
    fn place(&mut self, text: &str, width: f64, is_word_space: bool) {
        let width = width / 1000.0 * self.state.size * self.state.horizontal_scaling;
        let to_page = self.text.then(self.state.to_page);
        let (x, y) = to_page.point(0.0, self.state.rise);
        let (end_x, end_y) = to_page.point(width, self.state.rise);
        let [a, b, c, d, _, _] = to_page.0;
        let size = self.state.size.abs() * self.scale() * c.hypot(d).max(1e-6);
        // Two reversals cancel out: programs that count from the top flip the size, the scaling and the matrix.
        let backwards = if self.state.size * self.state.horizontal_scaling < 0.0 { -1.0 } else { 1.0 };
        let direction = (a * backwards, b * backwards);
        self.push(text, direction, (x, y), (end_x, end_y), size);
        let space = self.state.character_space + if is_word_space { self.state.word_space } else { 0.0 };
        self.advance(width + space * self.state.horizontal_scaling, 0.0);
    }

    /// The factor by which the font is drawn larger than its size.
    fn scale(&self) -> f64 {
        self.state.known.as_ref().map_or(1.0, |font| font.scale)
    }

    /// Places one glyph of text that runs downwards.
    fn place_vertical(&mut self, text: &str, advance: f64) {
        let advance = advance / 1000.0 * self.state.size;
        let to_page = self.text.then(self.state.to_page);
        let (x, y) = to_page.point(0.0, 0.0);
        let (end_x, end_y) = to_page.point(0.0, advance);
        let [_, _, c, d, _, _] = to_page.0;
        let size = self.state.size.abs() * self.scale() * c.hypot(d).max(1e-6);
        self.push(text, (end_x - x, end_y - y), (x, y), (end_x, end_y), size);
        self.advance(0.0, advance - self.state.character_space);
    }

    fn push(&mut self, text: &str, direction: (f64, f64), from: (f64, f64), to: (f64, f64), size: f64) {
        if text.is_empty() || self.is_beside_the_paper(from, to) {
            return;
        }
        if !text.trim().is_empty() {
            let edge = EDGE * f64::from(self.paper.height());
            let (low, high) = (f64::from(self.paper.lly) + edge, f64::from(self.paper.ury) - edge);
            self.page.is_text_at_edge &= from.1 < low || from.1 > high;
        }
        let is_unseen = self.areas.is_unseen(self.state.ink, from, size) || self.is_clipped(from, to, size);
        let (quarter, slant) = (turn(direction), slant(direction));
        let (from, to) = (upright(from, slant), upright(to, slant));
        let turn = if slant.is_some() { quarter + QUARTERS } else { quarter };
        let turned = |(x, y): (f64, f64)| match quarter {
            0 => (x, -y),
            1 => (y, x),
            2 => (-x, y),
            _ => (-y, -x),
        };
        let ((start, base), (end, _)) = (turned(from), turned(to));
        let numbers = [start, end.max(start), base, size];
        if numbers.iter().any(|number| !number.is_finite() || number.abs() > 1e7) {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small just before")]
        let [start, end, base, size] = numbers.map(|number| number as f32);
        let first = self.page.text.len();
        self.page.text.push_str(text);
        let (Ok(from), Ok(to)) = (u32::try_from(first), u32::try_from(self.page.text.len())) else { return };
        let is_hidden = self.state.ink.is_invisible || size < LEAST_SIZE || is_unseen;
        self.page.glyphs.push(Glyph { from, to, turn, start, end, base, size, is_hidden, is_struck: false });
    }

    /// Whether the glyph's middle lies outside of the clip area, with a tolerance of half a character's size.
    fn is_clipped(&self, from: (f64, f64), to: (f64, f64), size: f64) -> bool {
        let [left, low, right, high] = self.state.clip;
        let (x, y, near) = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1), 0.5 * size);
        !(left - near..=right + near).contains(&x) || !(low - near..=high + near).contains(&y)
    }

    /// Whether text lies beside the paper, where it is invisible, as the ends of lines that are too long do.
    fn is_beside_the_paper(&self, from: (f64, f64), to: (f64, f64)) -> bool {
        let PageBox { llx, lly, urx, ury } = self.paper;
        let is_within = |low: f32, high: f32, one: f64, other: f64| {
            one.max(other) >= f64::from(low) && one.min(other) <= f64::from(high)
        };
        !is_within(llx, urx, from.0, to.0) || !is_within(lly, ury, from.1, to.1)
    }
}

/// The angle of a direction to the nearest quarter turn, as cosine and sine; none if it is small.
fn slant(direction: (f64, f64)) -> Option<(f64, f64)> {
    let (x, y) = direction;
    let (along, across) = match turn(direction) {
        0 => (x, y),
        1 => (y, -x),
        2 => (-x, -y),
        _ => (-y, x),
    };
    let length = along.hypot(across);
    (across.abs() > SLANTED * length).then_some((along / length, across / length))
}

/// A point of text at a `slant`, relative to the page turned so that this text is upright.
fn upright((x, y): (f64, f64), slant: Option<(f64, f64)>) -> (f64, f64) {
    slant.map_or((x, y), |(cos, sin)| (x * cos + y * sin, y * cos - x * sin))
}

/// The quarter turn nearest to a direction.
fn turn((x, y): (f64, f64)) -> u8 {
    if x.abs() >= y.abs() {
        if x >= 0.0 { 0 } else { 2 }
    } else if y > 0.0 {
        1
    } else {
        3
    }
}
