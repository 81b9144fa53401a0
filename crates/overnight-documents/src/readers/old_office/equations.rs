//! Fields of a DOC that are formulas: nobody wrote what they show into the file, and the library leaves them out. Here it is
//! written behind what makes them, in the place of that, which is longer.

use std::io::{Cursor, Seek, SeekFrom, Write};

use encoding_rs::WINDOWS_1252;

use super::labels::{Places, parts};
use crate::readers::equation_field::equation;

const BEGIN: char = '\u{13}';
const SEPARATOR: char = '\u{14}';
const END: char = '\u{15}';
/// The most characters of what makes a field.
const MAX_INSTRUCTION: usize = 4_000;

/// The fields that are open.
#[derive(Debug, Default)]
struct MadeFields {
    /// What makes each, and whether it is over.
    open: Vec<(String, bool)>,
    /// The units of text of the outermost one that isn't over: where each stands in the file, and how wide it is.
    places: Vec<(u32, bool)>,
    /// There is more in it than text, or too much.
    is_mixed: bool,
}

/// The file with what its formulas show; none where there are none.
pub(super) fn shown(bytes: &[u8]) -> Option<Vec<u8>> {
    let (text, table) = parts(bytes)?;
    let mut changes = Vec::new();
    let mut fields = MadeFields::default();
    Places::of(&text, &table)?.each_char(u32::MAX, |found, place, is_wide| {
        changes.extend(fields.take(found, place, is_wide).unwrap_or_default());
    })?;
    if changes.is_empty() {
        return None;
    }
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes.to_vec())).ok()?;
    let mut stream = file.open_stream("/WordDocument").ok()?;
    for (place, bytes) in changes {
        stream.seek(SeekFrom::Start(u64::from(place))).ok()?;
        stream.write_all(&bytes).ok()?;
    }
    stream.flush().ok()?;
    drop(stream);
    Some(file.into_inner().into_inner())
}

impl MadeFields {
    /// Takes a character, and gives what has to be changed in the file, if it ends a formula.
    fn take(&mut self, found: char, place: u32, is_wide: bool) -> Option<Vec<(u32, Vec<u8>)>> {
        let is_made = self.open.iter().any(|(_, is_over)| !is_over);
        match found {
            BEGIN => {
                if !is_made {
                    self.places.clear();
                    self.is_mixed = false;
                }
                self.open.push((String::new(), false));
            }
            SEPARATOR => self.open.last_mut().into_iter().for_each(|(_, is_over)| *is_over = true),
            END => {
                let (instruction, is_over) = self.open.pop()?;
                let shown = equation(&instruction).filter(|_| !is_over);
                let Some(around) = self.innermost() else {
                    return shown.filter(|_| !self.is_mixed).and_then(|shown| self.rewritten(&shown));
                };
                // In what makes another field, it is a part of that.
                around.push_str(shown.as_deref().unwrap_or_default());
            }
            _ => {
                // What a field shows within what makes another is a part of that.
                self.innermost()
                    .filter(|made| made.len() < MAX_INSTRUCTION)
                    .into_iter()
                    .for_each(|made| made.push(found));
                self.is_mixed |= found.is_control();
            }
        }
        self.is_mixed |= self.places.len() >= MAX_INSTRUCTION;
        if is_made && !self.is_mixed {
            self.places.extend((0..found.len_utf16()).zip((place..).step_by(2)).map(|(_, place)| (place, is_wide)));
        }
        None
    }

    /// What makes the innermost field that isn't over.
    fn innermost(&mut self) -> Option<&mut String> {
        self.open.iter_mut().rev().find(|(_, is_over)| !is_over).map(|(made, _)| made)
    }

    /// What makes the field becomes blanks, its last characters what it shows; none where there is no room for that.
    fn rewritten(&self, shown: &str) -> Option<Vec<(u32, Vec<u8>)>> {
        let mut places = self.places.iter().rev();
        let mut changes = Vec::new();
        for found in std::iter::once(SEPARATOR).chain(shown.chars()).rev() {
            for unit in found.encode_utf16(&mut [0; 2]).iter().rev() {
                let (place, is_wide) = *places.next()?;
                changes.push((place, if is_wide { unit.to_le_bytes().to_vec() } else { narrow(found)? }));
            }
        }
        let blanks = places.map(|(place, is_wide)| (*place, if *is_wide { vec![b' ', 0] } else { vec![b' '] }));
        changes.extend(blanks);
        Some(changes)
    }
}

/// A character as one byte.
fn narrow(found: char) -> Option<Vec<u8>> {
    let text = found.to_string();
    let (bytes, _, is_lost) = WINDOWS_1252.encode(&text);
    (!is_lost && bytes.len() == 1).then(|| bytes.into_owned())
}

#[cfg(test)]
mod tests {
    use super::MadeFields;

    /// The text with what its formulas show: what makes fields is left out, as the library does.
    fn rewritten(text: &str, is_wide: bool) -> String {
        let mut fields = MadeFields::default();
        let mut written: Vec<char> = text.chars().collect();
        let width = if is_wide { 2 } else { 1 };
        for (at, found) in text.chars().enumerate() {
            let place = u32::try_from(width * at).unwrap();
            for (place, bytes) in fields.take(found, place, is_wide).unwrap_or_default() {
                let unit = u16::from_le_bytes([bytes[0], bytes.get(1).copied().unwrap_or(0)]);
                written[usize::try_from(place).unwrap() / width] = char::from_u32(u32::from(unit)).unwrap();
            }
        }
        written.into_iter().collect()
    }

    #[test]
    fn what_a_formula_shows_stands_behind_what_makes_it() {
        for is_wide in [false, true] {
            for (text, expected) in [
                ("a\u{13}EQ \\f(1,2)\u{15}b", "a\u{13}      \u{14}1/2\u{15}b"),
                ("\u{13}EQ \\f(\u{13}=2\u{14}7\u{15},9)\u{15}", "\u{13}           \u{14}7/9\u{15}"),
                ("\u{13}PAGE \u{15}", "\u{13}PAGE \u{15}"),
                ("\u{13}EQ \\f(1,2)\u{14}½\u{15}", "\u{13}EQ \\f(1,2)\u{14}½\u{15}"),
                ("\u{13}EQ \\f(1,\r2)\u{15}", "\u{13}EQ \\f(1,\r2)\u{15}"),
                (
                    "\u{13}X \u{14}\u{13}EQ \\l(12)\u{15}\u{15}\u{15}",
                    "\u{13}X \u{14}\u{13}      \u{14}12\u{15}\u{15}\u{15}",
                ),
            ] {
                assert_eq!(rewritten(text, is_wide), expected, "{is_wide}");
            }
        }
        let root = "\u{13}EQ \\r(,2)\u{15}";
        assert_eq!(rewritten(root, true), "\u{13}    \u{14}√(2)\u{15}");
        // Letters that are bytes have no such sign: it stays as it is, and is told as a gap.
        assert_eq!(rewritten(root, false), root);
    }
}
