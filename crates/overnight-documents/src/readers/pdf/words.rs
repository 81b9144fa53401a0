//! Characters → words: what stands side by side on one line without a gap, of one size.

use std::collections::HashMap;

use unicode_bidi::{BidiClass, bidi_class};

use super::accents;
use super::glyphs::{Glyph, PaintedPage};

/// A wider gap than this, in sizes of the font, is between two words.
const WORD_GAP: f32 = 0.1;
/// Two shapes of one character nearer to each other than this, in sizes of the font, are one: bold by drawing twice.
const TWICE: f32 = 0.1;

/// Characters that stand together.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    /// How many characters were drawn.
    pub(super) count: usize,
    pub(super) start: f32,
    pub(super) end: f32,
    pub(super) base: f32,
    pub(super) size: f32,
}

impl Word {
    pub(super) fn top(&self) -> f32 {
        self.base - 0.75 * self.size
    }

    pub(super) fn bottom(&self) -> f32 {
        self.base + 0.25 * self.size
    }
}

/// The words of the text on `page` that runs the way `turn`.
pub(super) fn words(page: &PaintedPage, turn: u8) -> Vec<Word> {
    let mut making = WordBuilder::default();
    for glyph in page.glyphs.iter().filter(|glyph| glyph.turn == turn) {
        making.add(page.characters(glyph), glyph);
    }
    making.flush();
    making.words.extend(making.open);
    making.words.retain(|word| !word.text.is_empty());
    making.words
}

/// Builds words from glyphs.
#[derive(Debug, Default)]
struct WordBuilder {
    words: Vec<Word>,
    open: Option<Word>,
    /// The last glyph of the open word.
    last: Option<Glyph>,
    /// An accent that waits for its letter.
    accent: Option<(String, Glyph)>,
    drawn: DrawnCharacters,
}

impl WordBuilder {
    fn add(&mut self, text: &str, glyph: &Glyph) {
        if text.chars().all(char::is_whitespace) {
            self.flush();
            self.words.extend(self.open.take());
            return;
        }
        if self.drawn.is_again(text, glyph) {
            return;
        }
        if let Some(mark) = accents::combining(text) {
            if let (Some(word), Some(last)) = (&mut self.open, &self.last)
                && accents::is_of(glyph, last)
                && let Some(both) = word.text.chars().next_back().and_then(|letter| accents::composed(letter, mark))
            {
                word.text.pop();
                word.text.push_str(&both);
                return;
            }
            self.flush();
            self.accent = Some((text.to_owned(), *glyph));
            return;
        }
        let mut characters = text.chars();
        if let Some((accent, place)) = &self.accent
            && accents::is_of(place, glyph)
            && let (Some(letter), None) = (characters.next(), characters.next())
            && let Some(both) = accents::combining(accent).and_then(|mark| accents::composed(letter, mark))
        {
            self.accent = None;
            self.put(&both, glyph);
            return;
        }
        self.flush();
        self.put(text, glyph);
    }

    /// An accent that found no letter is a character of its own.
    fn flush(&mut self) {
        if let Some((text, glyph)) = self.accent.take() {
            self.put(&text, &glyph);
        }
    }

    fn put(&mut self, text: &str, glyph: &Glyph) {
        self.last = Some(*glyph);
        if let Some(word) = &mut self.open
            && continues(word, glyph)
        {
            push(&mut word.text, text);
            word.count += 1;
            word.end = word.end.max(glyph.end);
            word.start = word.start.min(glyph.start);
            return;
        }
        self.words.extend(self.open.take());
        let mut word = Word {
            text: String::new(),
            count: 1,
            start: glyph.start,
            end: glyph.end,
            base: glyph.base,
            size: glyph.size,
        };
        push(&mut word.text, text);
        self.open = Some(word);
    }
}

fn continues(word: &Word, glyph: &Glyph) -> bool {
    let size = word.size;
    let gap = glyph.start - word.end;
    (-0.3 * size..WORD_GAP * size).contains(&gap)
        && (glyph.base - word.base).abs() <= 0.05 * size
        && (glyph.size - size).abs() <= 0.05 * size
}

/// Letters that are drawn as one shape are letters again.
fn push(word: &mut String, text: &str) {
    // Letters of Hebrew and Arabic stand in a line from the left as all others do, until the line is read.
    let is_from_right =
        text.chars().nth(1).is_some_and(|letter| matches!(bidi_class(letter), BidiClass::R | BidiClass::AL));
    let characters: Vec<char> = if is_from_right { text.chars().rev().collect() } else { text.chars().collect() };
    for character in characters {
        match character {
            '\u{fb00}' => word.push_str("ff"),
            '\u{fb01}' => word.push_str("fi"),
            '\u{fb02}' => word.push_str("fl"),
            '\u{fb03}' => word.push_str("ffi"),
            '\u{fb04}' => word.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => word.push_str("st"),
            '\n' | '\r' | '\t' | '\u{c}' => word.push(' '),
            _ => word.push(character),
        }
    }
}

/// A character, where it starts, and its line.
type DrawnCharacter = (char, f32, f32);

/// The characters drawn so far, to find those that are drawn twice.
#[derive(Debug, Default)]
struct DrawnCharacters {
    places: HashMap<(i32, i32), Vec<DrawnCharacter>>,
}

impl DrawnCharacters {
    fn is_again(&mut self, text: &str, glyph: &Glyph) -> bool {
        let Some(character) = text.chars().next() else { return true };
        let near = TWICE * glyph.size;
        #[expect(clippy::cast_possible_truncation, reason = "places on a page are checked to be small")]
        let cell = |number: f32| (number / 8.0).floor() as i32;
        let mut columns = [cell(glyph.start - near), cell(glyph.start + near)].to_vec();
        let mut rows = [cell(glyph.base - near), cell(glyph.base + near)].to_vec();
        columns.dedup();
        rows.dedup();
        let is_near = |&(other, start, base): &(char, f32, f32)| {
            other == character && (start - glyph.start).abs() < near && (base - glyph.base).abs() < near
        };
        let found = columns.iter().any(|&column| {
            rows.iter().any(|&row| self.places.get(&(column, row)).is_some_and(|there| there.iter().any(is_near)))
        });
        if !found {
            let cell = (cell(glyph.start), cell(glyph.base));
            let there = self.places.entry(cell).or_default();
            if there.len() < 64 {
                there.push((character, glyph.start, glyph.base));
            }
        }
        found
    }
}
