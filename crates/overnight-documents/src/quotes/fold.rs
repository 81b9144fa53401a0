//! A text as a person sees it, without the differences between extractions. These differences are removed:
//!
//! - **White space** is left out, with line ends and page breaks, and so are invisible characters (soft hyphens,
//!   zero-width spaces, marks of direction). It counts if it separates numbers: `10 20` is not `1020`, `1, 5` not
//!   `1,5`, `x - 20` not `x -20`. There all of it is equal: `1 000` is found with any space, but not by `1000`.
//! - **A bar that stands alone**, `|` between blanks, is white space: texts have it between the cells of a table.
//! - **A hyphen at a line's end** between two letters, the second small (or both capital), is left out and noted:
//!   `docu-⏎ment` is `document` and `docu-ment`, and `well-⏎known` looks the same. Every other hyphen counts.
//! - **Ligatures, wide and narrow letters, positional Arabic letters, mathematical letters, radicals** become the
//!   characters that they stand for; letters with marks are composed (NFC). Fractions and the like stay.
//! - **Raised and lowered signs** are those behind `^` and `_`: `10²` is `10^2`, and not `102`.
//! - **Quotation marks** are of two kinds, double and single, which apostrophes are too.
//! - U+2010 and U+2011 are hyphens, and so is a minus sign between letters. `…` is three dots.
//!
//! Nothing else is removed: letter case, signs, dashes and all other punctuation count.

use crate::{forbidden_names, raised};
use unicode_normalization::{
    IsNormalized, UnicodeNormalization,
    char::{canonical_combining_class, decompose_compatible},
    is_nfc_quick,
};

/// One piece of a text that was folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoldedPiece {
    /// The bytes of the piece in the text.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The start of the piece in the folded text, behind the space that separates numbers.
    pub(super) start: usize,
    /// The folded bytes equal those of the text.
    pub(super) is_plain: bool,
    /// There is white space before it.
    pub(super) has_gap: bool,
    /// A hyphen at a line's end before it was left out.
    pub(super) has_hyphen: bool,
}

/// Folds a text piece by piece. No piece runs over a line's end.
#[derive(Debug, Clone)]
pub(super) struct Fold<'t> {
    text: &'t str,
    at: usize,
    /// The last two folded characters, and whether white space stood before each.
    last: [(char, bool); 2],
    has_gap: bool,
    has_hyphen: bool,
}

const NOTHING: char = '\0';

impl<'t> Fold<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, last: [(NOTHING, true); 2], has_gap: true, has_hyphen: false }
    }

    /// Continues at the line that begins at `at`, behind the characters `last`.
    pub(super) fn resumed(text: &'t str, at: usize, last: [(char, bool); 2]) -> Self {
        Self { text, at, last, has_gap: true, has_hyphen: false }
    }

    /// Folds the next piece that begins before `end`, onto `folded`.
    pub(super) fn next(&mut self, end: usize, folded: &mut Vec<u8>) -> Option<FoldedPiece> {
        while self.at < end {
            let from = self.at;
            let first = self.text.get(from..)?.chars().next()?;
            if first.is_ascii_alphabetic()
                && let Some(piece) = self.plain(folded)
            {
                return Some(piece);
            }
            let next = from + first.len_utf8();
            if let Some((bytes, signs)) = raised::leading_signs(&self.text[from..]) {
                return Some(self.signs(from + bytes, &signs, folded));
            }
            if first.is_whitespace() || matches!(first, '|' | '\u{ff5c}') && self.stands_alone(next) {
                self.has_gap = true;
                self.at = next;
            } else if is_invisible(first) {
                self.at = next;
            } else if is_hyphen(first) && self.is_line_end(next) {
                self.has_hyphen = true;
                self.at = next;
            } else {
                let to = self.end_of_piece(next);
                let start = self.folded(first, from, to, folded);
                return Some(self.piece(from, to, start, false));
            }
        }
        None
    }

    /// Whether the character that ends at `next` has white space on both sides.
    fn stands_alone(&self, next: usize) -> bool {
        self.has_gap && self.text[next..].chars().next().is_none_or(char::is_whitespace)
    }

    /// Folds ASCII letters, as many as no combining mark can follow.
    fn plain(&mut self, folded: &mut Vec<u8>) -> Option<FoldedPiece> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut count = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if rest.get(count).is_some_and(|byte| !byte.is_ascii()) {
            count -= 1;
        }
        let (&last, before) = rest[..count].split_last()?;
        let before = before.last().map_or(self.last[1], |&byte| (char::from(byte), before.len() == 1 && self.has_gap));
        self.last = [before, (char::from(last), count == 1 && self.has_gap)];
        let start = folded.len();
        folded.extend_from_slice(&rest[..count]);
        Some(self.piece(self.at, self.at + count, start, true))
    }

    /// Folds raised or lowered signs up to `to` as they are written behind a mark.
    fn signs(&mut self, to: usize, signs: &str, folded: &mut Vec<u8>) -> FoldedPiece {
        let start = folded.len();
        folded.extend_from_slice(signs.as_bytes());
        for (number, sign) in signs.chars().enumerate() {
            self.last = [self.last[1], (sign, number == 0 && self.has_gap)];
        }
        self.piece(self.at, to, start, false)
    }

    fn piece(&mut self, from: usize, to: usize, start: usize, is_plain: bool) -> FoldedPiece {
        let piece = FoldedPiece { from, to, start, is_plain, has_gap: self.has_gap, has_hyphen: self.has_hyphen };
        self.at = to;
        self.has_gap = false;
        self.has_hyphen = false;
        piece
    }

    /// The end of the piece whose first character ends at `at`: before characters that can't combine with it.
    fn end_of_piece(&self, mut at: usize) -> usize {
        let mut end = at;
        for next in self.text[at..].chars() {
            at += next.len_utf8();
            if continues(next) {
                end = at;
            } else if !is_invisible(next) {
                break;
            }
        }
        end
    }

    /// Folds the piece from `from` to `to`, onto `folded`. Returns where it begins there.
    fn folded(&mut self, first: char, from: usize, to: usize, folded: &mut Vec<u8>) -> usize {
        let first = self.alike(first, to);
        if self.has_gap && self.keeps_apart(first, to) {
            folded.push(b' ');
        }
        let start = folded.len();
        let mut has_gap = self.has_gap;
        let mut push = |folded: &mut Vec<u8>, one: char| {
            folded.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes());
            self.last = [self.last[1], (one, has_gap)];
            has_gap = false;
        };
        let piece = &self.text[from..to];
        if piece.chars().nth(1).is_none() && !stands_for(first) && (first.is_ascii() || is_composed(first)) {
            push(folded, first);
            return start;
        }
        let mut plain = Vec::new();
        for (number, one) in piece.chars().filter(|one| !is_invisible(*one)).enumerate() {
            let one = if number == 0 { first } else { one };
            if stands_for(one) {
                decompose_compatible(one, |part| plain.push(part));
            } else {
                plain.push(one);
            }
        }
        for one in plain.into_iter().nfc() {
            push(folded, one);
        }
        start
    }

    /// The representative of all characters that look alike; the text continues at `next`.
    fn alike(&self, found: char, next: usize) -> char {
        match found {
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '＂' => '"',
            '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '`' | '´' | '＇' => '\'',
            '−' if self.last[1].0 == '^' => '-',
            '−' if self.is_behind_letter() && self.after(next).is_some_and(char::is_alphabetic) => '-',
            _ if is_hyphen(found) => '-',
            _ => found,
        }
    }

    fn is_behind_letter(&self) -> bool {
        !self.has_gap && self.last[1].0.is_alphabetic()
    }

    /// The first visible character from `at` on.
    fn after(&self, at: usize) -> Option<char> {
        self.text[at..].chars().find(|next| !is_invisible(*next))
    }

    /// Whether the white space before `first` separates two numbers, or a sign from its number.
    fn keeps_apart(&self, first: char, next: usize) -> bool {
        let [before, (last, has_gap)] = self.last;
        if first.is_numeric() {
            last.is_numeric()
                || (matches!(last, '.' | ',' | ':') && before.0.is_numeric() && !has_gap)
                || (is_sign(last) && has_gap)
        } else {
            let joins = matches!(first, '.' | ',' | ':') || is_sign(first);
            joins && last.is_numeric() && self.after(next).is_some_and(char::is_numeric)
        }
    }

    /// Whether a hyphen before `at` breaks a word at a line's end.
    fn is_line_end(&self, at: usize) -> bool {
        if !self.is_behind_letter() {
            return false;
        }
        let mut is_over = false;
        for next in self.text[at..].chars() {
            if is_invisible(next) {
                continue;
            }
            if next.is_whitespace() {
                is_over |= matches!(next, '\n' | '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}');
                continue;
            }
            return is_over && (next.is_lowercase() || (next.is_uppercase() && self.last[1].0.is_uppercase()));
        }
        false
    }
}

pub(super) fn is_sign(found: char) -> bool {
    matches!(found, '-' | '+' | '−' | '±')
}

fn is_hyphen(found: char) -> bool {
    matches!(found, '-' | '\u{2010}' | '\u{2011}' | '\u{fe63}' | '\u{ff0d}')
}

/// Invisible characters that a renderer puts into a text.
fn is_invisible(found: char) -> bool {
    forbidden_names::is_invisible(found) && !found.is_whitespace()
}

/// Whether a character may combine with those before it. The narrow voice marks do so only as what they stand for.
fn continues(found: char) -> bool {
    found >= '\u{300}' && (is_mark(found) || matches!(found, '\u{ff9e}' | '\u{ff9f}') || !is_composed(found))
}

fn is_composed(found: char) -> bool {
    is_nfc_quick(std::iter::once(found)) == IsNormalized::Yes
}

pub(super) fn is_mark(found: char) -> bool {
    !found.is_ascii() && canonical_combining_class(found) != 0
}

/// Characters that are only another shape of others, produced by fonts and extraction.
fn stands_for(found: char) -> bool {
    matches!(found,
        // The ellipsis, the micro sign, the long s, the Dutch ij.
        '…' | 'µ' | 'ſ' | 'ĳ' | 'Ĳ'
        // Radicals for the characters themselves.
        | '\u{2e9f}' | '\u{2ef3}' | '\u{2f00}'..='\u{2fd5}'
        // Ligatures of Latin and Armenian.
        | '\u{fb00}'..='\u{fb17}'
        // Positional forms of Hebrew and Arabic letters, without whole words and phrases.
        | '\u{fb20}'..='\u{fb4f}' | '\u{fb50}'..='\u{fdef}' | '\u{fe70}'..='\u{fefc}'
        // Wide and narrow.
        | '\u{ff01}'..='\u{ffee}'
        // Mathematical letters and digits.
        | '\u{1d400}'..='\u{1d7ff}')
}

pub(super) fn first_char(text: &[u8]) -> Option<char> {
    text[..text.len().min(4)].utf8_chunks().next()?.valid().chars().next()
}

pub(super) fn last_char(text: &[u8]) -> Option<char> {
    let start = text.iter().rposition(|byte| byte & 0xc0 != 0x80)?;
    std::str::from_utf8(&text[start..]).ok()?.chars().next()
}
