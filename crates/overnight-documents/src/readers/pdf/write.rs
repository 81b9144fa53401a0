//! A page's text, from its words.

use super::glyphs::{PaintedPage, TURNS};
use super::layout::{PlacedWord, WordBlock, WordLine, blocks};
use super::pictures::Picture;
use super::reading_order::ordered;
use super::words::{Word, words};

/// More words than this stay in painting order.
const MAX_WORDS: usize = 20_000;

/// The text of a page, and the places of its words on the page, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct WrittenPage {
    pub(super) text: String,
    pub(super) words: Vec<PlacedWord>,
}

/// The text of `page`, beginning with the most common direction.
pub(super) fn text(page: &PaintedPage) -> WrittenPage {
    let mut counts = [0_usize; TURNS];
    for glyph in &page.glyphs {
        if let Some(count) = counts.get_mut(usize::from(glyph.turn)) {
            *count += 1;
        }
    }
    let mut turns: Vec<(u8, usize)> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
    turns.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut out = WrittenPage::default();
    for (turn, _) in turns {
        let before = out.words.len();
        let words = words(page, turn);
        let mut pictures = if turn == 0 && !words.is_empty() { page.pictures.clone() } else { Vec::new() };
        if words.len() > MAX_WORDS {
            as_painted(&words, &mut out);
        } else {
            let blocks = blocks(&words);
            let top = blocks.iter().map(|block| block.top).fold(f32::MAX, f32::min);
            for block in ordered(blocks) {
                pictures.retain(|picture| {
                    let is_before = picture.is_above(top) || picture.is_before(block.start, block.end, block.top);
                    if is_before {
                        tell(picture, &mut out.text);
                    }
                    !is_before
                });
                write(&block, &mut out);
            }
        }
        for picture in &pictures {
            tell(picture, &mut out.text);
        }
        for word in &mut out.words[before..] {
            word.turn = turn;
        }
    }
    out
}

/// Writes a picture as a paragraph.
fn tell(picture: &Picture, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&picture.told());
    out.push('\n');
}

fn as_painted(words: &[Word], WrittenPage { text: out, words: placed }: &mut WrittenPage) {
    let mut base: Option<f32> = None;
    for word in words {
        let is_new_line = base.replace(word.base).is_none_or(|base| (base - word.base).abs() > 0.5 * word.size);
        out.push(if is_new_line { '\n' } else { ' ' });
        let from = out.len();
        out.push_str(&word.text);
        placed.push(PlacedWord::new(word, from, out.len()));
    }
    out.push('\n');
}

/// Writes a block as one paragraph, or as several with more white between them than between their lines.
fn write(block: &WordBlock, WrittenPage { text: out, words: placed }: &mut WrittenPage) {
    if !out.is_empty() {
        out.push('\n');
    }
    let mut last: Option<&WordLine> = None;
    let mut steps: Vec<f32> = block.lines.windows(2).map(|pair| pair[1].base - pair[0].base).collect();
    steps.sort_by(f32::total_cmp);
    let usual = steps.get(steps.len() / 2).copied().unwrap_or_default();
    let mut is_joined = false;
    for line in &block.lines {
        let mut text = line.text.as_str();
        // The beginning of the line that was moved to the line before, and its new place.
        let (mut moved, mut moved_to) = (0, 0);
        if let Some(last) = last {
            if let Some((keep, part)) = joined(&last.text, text) {
                if !keep {
                    out.pop();
                }
                (moved, moved_to) = (part.len(), out.len());
                out.push_str(part);
                text = text[part.len()..].trim_start();
            }
            if line.base - last.base > 1.35 * usual.max(block.size) {
                out.push('\n');
            }
            if !(text.is_empty() && is_joined) {
                out.push('\n');
            }
        }
        is_joined = text.is_empty();
        let left_out = line.text.len() - text.len();
        for word in &line.words {
            if word.from < moved {
                placed.push(PlacedWord { to: word.to.min(moved), ..*word }.behind(moved_to));
            }
            if word.to > left_out {
                let word = PlacedWord { from: word.from.max(left_out) - left_out, to: word.to - left_out, ..*word };
                placed.push(word.behind(out.len()));
            }
        }
        out.push_str(text);
        last = Some(line);
    }
    if !is_joined {
        out.push('\n');
    }
}

/// The rest of a word that is broken at the end of `line`, at the beginning of `next`, and whether the hyphen stays.
fn joined<'a>(line: &str, next: &'a str) -> Option<(bool, &'a str)> {
    let mut back = line.chars().rev();
    // A typographic hyphen (U+2010) stays, as `pdftotext` leaves it: the quote check knows it.
    if !matches!(back.next(), Some('-' | '\u{ad}')) {
        return None;
    }
    let before = back.next()?;
    let part = next.split_whitespace().next()?;
    let after = part.chars().next()?;
    if !before.is_alphanumeric() || !after.is_alphanumeric() {
        return None;
    }
    let is_word = before.is_alphabetic() && (after.is_lowercase() || after.is_uppercase() && before.is_uppercase());
    Some((!is_word, part))
}
