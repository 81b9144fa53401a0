//! Characters → words: characters of one size side by side on one line without a gap.

use std::collections::HashMap;

use super::accents;
use super::glyphs::{Glyph, PaintedPage};
use super::letters::{is_letter_from_right, is_mark};

/// A wider gap than this, in font sizes, separates two words.
pub(super) const WORD_GAP: f32 = 0.1;
/// Two shapes of one character nearer than this, in font sizes, are one: bold by drawing twice.
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
    /// A line runs through it.
    pub(super) is_struck: bool,
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
    /// The last glyph of the open word, and whether it stands at its left end.
    last: Option<Glyph>,
    is_at_left: bool,
    /// An accent whose letter hasn't come yet.
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
        if is_only_mark(text) {
            // Drawn behind its letter, or before it, where letters come from the left.
            let is_of_last = |last: &Glyph| glyph.end < last.end - 0.05 * last.size && accents::is_of(glyph, last);
            if self.last.as_ref().is_some_and(is_of_last) {
                self.mark(text);
            } else {
                self.flush();
                self.accent = Some((text.to_owned(), *glyph));
            }
            return;
        }
        if self.accent.as_ref().is_some_and(|(mark, place)| is_only_mark(mark) && is_over(place, glyph))
            && let Some((mark, _)) = self.accent.take()
        {
            self.put(text, glyph);
            self.mark(&mark);
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

    /// Adds an accent without a letter as a character of its own.
    fn flush(&mut self) {
        if let Some((text, glyph)) = self.accent.take() {
            self.put(&text, &glyph);
        }
    }

    /// Adds a mark to the last letter.
    fn mark(&mut self, mark: &str) {
        let Some(word) = &mut self.open else { return };
        let first = word.text.char_indices().skip(1).find(|&(_, character)| !is_mark(character));
        let at = first.filter(|_| self.is_at_left).map_or(word.text.len(), |(at, _)| at);
        word.text.insert_str(at, mark);
    }

    fn put(&mut self, text: &str, glyph: &Glyph) {
        self.last = Some(*glyph);
        self.is_at_left = false;
        if let Some(word) = &mut self.open
            && is_of_word(word, glyph)
        {
            let gap = -0.3 * word.size..WORD_GAP * word.size;
            let is_behind = gap.contains(&(glyph.start - word.end));
            // Letters from the right may be drawn as they are read: the next one on the left.
            let is_before = gap.contains(&(word.start - glyph.end))
                && (is_letter_from_right_in(text) || is_letter_from_right_in(&word.text));
            if is_behind || is_before {
                if is_behind {
                    word.text.push_str(&spelled(text));
                } else {
                    word.text.insert_str(0, &spelled(text));
                }
                self.is_at_left = !is_behind;
                word.count += 1;
                word.end = word.end.max(glyph.end);
                word.start = word.start.min(glyph.start);
                return;
            }
        }
        self.words.extend(self.open.take());
        self.open = Some(Word {
            text: spelled(text),
            count: 1,
            start: glyph.start,
            end: glyph.end,
            base: glyph.base,
            size: glyph.size,
            is_struck: glyph.is_struck,
        });
    }
}

fn is_only_mark(text: &str) -> bool {
    text.chars().all(is_mark) && accents::combining(text).is_none()
}

/// Whether a mark without width stands over a letter.
fn is_over(mark: &Glyph, letter: &Glyph) -> bool {
    let near = 0.05 * letter.size;
    (letter.start - near..=letter.end + near).contains(&f32::midpoint(mark.start, mark.end))
        && mark.turn == letter.turn
        && (mark.base - letter.base).abs() < 0.5 * letter.size
}

fn is_letter_from_right_in(text: &str) -> bool {
    text.chars().any(is_letter_from_right)
}

/// Whether a glyph stands on the line of a word, in its size.
fn is_of_word(word: &Word, glyph: &Glyph) -> bool {
    word.is_struck == glyph.is_struck
        && (glyph.base - word.base).abs() <= 0.05 * word.size
        && (glyph.size - word.size).abs() <= 0.05 * word.size
}

/// Letters that are drawn as one shape are letters again.
fn spelled(text: &str) -> String {
    // Letters of Hebrew and Arabic stand in a line from the left as all others do, until the line is read.
    let is_from_right = text.chars().nth(1).is_some_and(is_letter_from_right);
    let characters: Vec<char> = if is_from_right { text.chars().rev().collect() } else { text.chars().collect() };
    let mut word = String::with_capacity(text.len());
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
    word
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
