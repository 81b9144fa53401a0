//! Text above or below its line. Merged into the text around it, it changes the meaning: the fee of EUR 250 with
//! footnote 4 becomes "EUR 2504", ten to the power of five "105". So it is kept apart, in all formats alike:
//!
//! - digits and their signs in Unicode's raised or lowered form: `10⁵`, `H₂O`, `250⁴`, `cm⁻¹`
//! - everything else behind `^` or `_`, in brackets if it is more than one word or number: `x^n`, `a_i`, `2^(n+1)`
//! - text that can't be taken for a power stays as it is: `1st`, `3ème`, `[7]`, `fee*`, `Name®`, whole sentences
//!
//! In the search for quotes, all ways of writing are equal: `10⁵` is `10^5`.

/// The position of text relative to its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BaselineShift {
    #[default]
    Level,
    Raised,
    Lowered,
}

/// From this many characters on, it is a text in a small size.
const MAX_SCRIPT: usize = 24;
/// Signs of notes and trade marks, which stand high by themselves.
const NOTE_SIGNS: &str = "*∗†‡§¶#®©™℠";
const PLAIN: &str = "0123456789+-=()";
const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾";
const LOWERED: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎";
/// Raised and lowered letters of Unicode; we never write them, but documents have them.
const RAISED_LETTERS: [(char, char); 2] = [('ⁿ', 'n'), ('ⁱ', 'i')];
const LOWERED_LETTERS: [(char, char); 17] = [
    ('ₐ', 'a'),
    ('ₑ', 'e'),
    ('ₒ', 'o'),
    ('ₓ', 'x'),
    ('ₕ', 'h'),
    ('ₖ', 'k'),
    ('ₗ', 'l'),
    ('ₘ', 'm'),
    ('ₙ', 'n'),
    ('ₚ', 'p'),
    ('ₛ', 's'),
    ('ₜ', 't'),
    ('ᵢ', 'i'),
    ('ᵣ', 'r'),
    ('ᵤ', 'u'),
    ('ᵥ', 'v'),
    ('ⱼ', 'j'),
];

/// Adds a run of text in this position to its line.
pub(crate) fn push(line: &mut String, script: BaselineShift, run: &str) {
    let text = run.trim();
    let (sign, signs) = match script {
        BaselineShift::Raised => ('^', RAISED),
        BaselineShift::Lowered => ('_', LOWERED),
        BaselineShift::Level => return line.push_str(run),
    };
    let before = line.chars().next_back().filter(|last| !last.is_whitespace() && run.starts_with(text));
    let is_bracketed = text.starts_with('[') && text.ends_with(']');
    let is_ending =
        before.is_none_or(char::is_numeric) && is_all(text, char::is_alphabetic) && text.chars().nth(1).is_some();
    if text.is_empty()
        || is_bracketed
        || is_ending
        || is_all(text, |found| NOTE_SIGNS.contains(found))
        || text.chars().any(|found| is_written(found, script))
    {
        return line.push_str(run);
    }
    let (lead, trail) = run.split_once(text).unwrap_or_default();
    line.push_str(lead);
    let unicode: Option<String> = text.chars().map(|found| in_unicode(found, signs)).collect();
    if let Some(unicode) = unicode {
        line.push_str(&unicode);
    } else if text.chars().count() > MAX_SCRIPT || text.split_whitespace().nth(2).is_some() {
        if before.is_some_and(char::is_alphanumeric) {
            line.push(' ');
        }
        line.push_str(text);
    } else {
        line.push(sign);
        line.push_str(&grouped(text));
    }
    line.push_str(trail);
}

/// Whether a character is already a raised or lowered one of Unicode.
fn is_written(found: char, script: BaselineShift) -> bool {
    plain(found).is_some_and(|(sign, _)| sign == if script == BaselineShift::Raised { '^' } else { '_' })
}

fn is_all(text: &str, kind: fn(char) -> bool) -> bool {
    text.chars().all(kind)
}

fn in_unicode(found: char, signs: &str) -> Option<char> {
    let found = if found == '−' { '-' } else { found };
    signs.chars().nth(PLAIN.chars().position(|plain| plain == found)?)
}

/// Adds brackets if the end of the text would be unclear.
fn grouped(text: &str) -> String {
    let signed = text.strip_prefix(['+', '-', '−']).filter(|rest| rest.starts_with(|first: char| first.is_numeric()));
    let inner = signed.unwrap_or(text);
    let is_one = inner.chars().count() == 1
        || inner.chars().all(|found| found.is_alphanumeric() || matches!(found, '(' | ')' | '\'' | '′'));
    if is_one { text.to_owned() } else { format!("({text})") }
}

/// The mark, and the character as it stands on its line.
fn plain(found: char) -> Option<(char, char)> {
    let of = |signs: &str, letters: &[(char, char)]| {
        let at = signs.chars().position(|sign| sign == found);
        at.and_then(|at| PLAIN.chars().nth(at)).or_else(|| Some(letters.iter().find(|(sign, _)| *sign == found)?.1))
    };
    // Most texts have no such characters.
    if !matches!(found, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{1d62}'..='\u{1d65}' | '\u{2070}'..='\u{209c}' | '\u{2c7c}')
    {
        return None;
    }
    let raised = of(RAISED, &RAISED_LETTERS).map(|plain| ('^', plain));
    raised.or_else(|| of(LOWERED, &LOWERED_LETTERS).map(|plain| ('_', plain)))
}

/// The raised or lowered signs at the beginning of a text: their length in bytes, and the same behind `^` or `_`.
pub(crate) fn leading_signs(text: &str) -> Option<(usize, String)> {
    let (sign, _) = plain(text.chars().next()?)?;
    let run = || {
        text.chars()
            .map_while(|found| plain(found).filter(|(other, _)| *other == sign).map(|(_, plain)| (found, plain)))
    };
    let plain: String = run().map(|(_, plain)| plain).collect();
    Some((run().map(|(found, _)| found.len_utf8()).sum(), format!("{sign}{}", grouped(&plain))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_raised_or_lowered_is_kept_apart() {
        for (line, script, run, expected) in [
            ("10", BaselineShift::Raised, "5", "10⁵"),
            ("EUR 250", BaselineShift::Raised, "4 ", "EUR 250⁴ "),
            ("cm", BaselineShift::Raised, "−1", "cm⁻¹"),
            ("H", BaselineShift::Lowered, "2", "H₂"),
            ("Ca", BaselineShift::Raised, "2+", "Ca²⁺"),
            ("x", BaselineShift::Raised, "n", "x^n"),
            ("a", BaselineShift::Lowered, "max", "a_max"),
            ("2", BaselineShift::Raised, "n+1", "2^(n+1)"),
            ("fee", BaselineShift::Raised, "1,2", "fee^(1,2)"),
            ("fee", BaselineShift::Raised, "a)", "fee^a)"),
            ("the 1", BaselineShift::Raised, "st", "the 1st"),
            ("said", BaselineShift::Raised, "[7]", "said[7]"),
            ("fee", BaselineShift::Raised, "*†", "fee*†"),
            ("m", BaselineShift::Raised, "²", "m²"),
            ("x", BaselineShift::Level, "2", "x2"),
            ("so", BaselineShift::Raised, "this is a sentence", "so this is a sentence"),
            ("so", BaselineShift::Raised, "  ", "so  "),
        ] {
            let mut line = line.to_owned();
            push(&mut line, script, run);
            assert_eq!(line, expected);
        }
    }

    #[test]
    fn signs_of_unicode_are_those_behind_a_mark() {
        for (text, expected) in [
            ("⁵ units", Some((3, "^5"))),
            ("²⁺ ions", Some((5, "^(2+)"))),
            ("⁻¹", Some((5, "^-1"))),
            ("₂O", Some((3, "_2"))),
            ("ⁿ⁺¹", Some((8, "^(n+1)"))),
            ("²₃", Some((2, "^2"))),
            ("2", None),
        ] {
            assert_eq!(leading_signs(text), expected.map(|(bytes, plain)| (bytes, plain.to_owned())), "{text}");
        }
    }
}
