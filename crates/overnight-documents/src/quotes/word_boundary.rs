//! Whether a match cuts a word or a number at its ends. `lawful` is not quoted from `unlawful`, `we can` not from
//! `we can't`, `at most 10` not from `at most 100`, `10.5` or `10k`, nor `5 °C` from `-5 °C`. A note's number next to a
//! word (`agree1`, `250⁴`) is no part of it, but a power (`10⁵`) is one number. Scripts without spaces lack word ends.

use super::fold::{is_mark, is_sign};

/// The characters around one end of a match: up to three on the left and three on the right, nearest first, none of
/// them behind white space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbours {
    pub(super) left: [Option<char>; 3],
    pub(super) right: [Option<char>; 3],
}

impl Neighbours {
    /// Whether a match may begin here.
    pub(super) fn may_begin(self) -> bool {
        let ([Some(left), further, _], [Some(right), ..]) = (self.left, self.right) else {
            return true;
        };
        if is_mark(right) {
            return false;
        }
        if right.is_numeric() {
            let is_behind_number = further.is_none_or(char::is_numeric);
            let is_behind_none = further.is_none_or(|further| !further.is_alphanumeric());
            let is_power = left == '^' && further.is_some_and(char::is_alphanumeric);
            return !(is_power
                || left.is_numeric()
                || (is_point(left) && is_behind_number)
                || (is_sign(left) && is_behind_none));
        }
        !is_letter(right) || !(is_letter(left) || (left == '\'' && further.is_some_and(is_letter)))
    }

    /// Whether the number to the left is 10.
    fn is_behind_ten(self) -> bool {
        matches!(self.left, [Some('0'), Some('1'), before] if before.is_none_or(|before| !before.is_numeric() && !is_point(before)))
    }

    /// Whether a match may end here.
    pub(super) fn may_end(self) -> bool {
        let ([Some(left), ..], [Some(right), further, _]) = (self.left, self.right) else {
            return true;
        };
        if is_mark(right) {
            return false;
        }
        if left.is_numeric() {
            let goes_on = is_point(right) && further.is_some_and(char::is_numeric);
            let is_power_of_ten = right == '^' && self.is_behind_ten();
            return !(right.is_numeric() || is_letter(right) || goes_on || is_power_of_ten);
        }
        !(is_letter(left) || is_mark(left)) || !(is_letter(right) || (right == '\'' && further.is_some_and(is_letter)))
    }
}

/// A sign within a number.
fn is_point(found: char) -> bool {
    matches!(found, '.' | ',' | ':' | '/' | '\'' | '⁄')
}

/// Whether a letter's script puts spaces between words.
fn is_letter(found: char) -> bool {
    found.is_alphabetic()
        && !matches!(found,
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{a4cf}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}
