//! Signs for formats that plain text doesn't show: raised, lowered and struck text, and the numbers of list items.

use crate::raised::{self, BaselineShift};
use crate::readers::package::roman;

/// The format of a run of characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Emphasis {
    pub(crate) is_raised: bool,
    pub(crate) is_lowered: bool,
    pub(crate) is_struck: bool,
}

/// A run with the signs for how it is set: `10⁵`, `x^(n+1)`, `H₂O`, `~~no longer~~`. Raised letters of words, as in `1st`,
/// change no number and get no sign.
pub(crate) fn written(text: &str, emphasis: Emphasis) -> String {
    let bare = text.trim();
    if bare.is_empty() {
        return text.to_owned();
    }
    let script = match emphasis {
        Emphasis { is_raised: true, .. } => BaselineShift::Raised,
        Emphasis { is_lowered: true, .. } => BaselineShift::Lowered,
        _ => BaselineShift::Level,
    };
    let mut set = String::new();
    raised::push(&mut set, script, bare);
    let set = if emphasis.is_struck { format!("~~{set}~~") } else { set };
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    format!("{}{set}{}", &text[..start], &text[end..])
}

/// A number of a list in one of the five ways that all formats know: `1`, `a`, `A`, `i`, `I`.
pub(crate) fn counted(count: u32, format: char) -> String {
    match format {
        'a' => letters(count, 'a'),
        'A' => letters(count, 'A'),
        'i' => roman(count).to_lowercase(),
        'I' => roman(count),
        _ => count.to_string(),
    }
}

/// a to z, then aa to zz.
fn letters(count: u32, first: char) -> String {
    let Some(index) = count.checked_sub(1) else { return "0".to_owned() };
    let letter = char::from_u32(u32::from(first) + index % 26).unwrap_or(first);
    std::iter::repeat_n(letter, usize::try_from(index / 26 + 1).unwrap_or(1).min(30)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_figures_are_kept_apart() {
        let (raised, lowered) =
            (Emphasis { is_raised: true, ..Emphasis::default() }, Emphasis { is_lowered: true, ..Emphasis::default() });
        let struck = Emphasis { is_struck: true, ..Emphasis::default() };
        for (text, emphasis, expected) in [
            ("5", raised, "⁵"),
            ("-12 ", raised, "⁻¹² "),
            ("st", raised, "st"),
            ("n+1", raised, "^(n+1)"),
            ("2", lowered, "₂"),
            (" old price", struck, " ~~old price~~"),
            ("  ", struck, "  "),
        ] {
            assert_eq!(written(text, emphasis), expected);
        }
        assert_eq!([counted(28, 'a'), counted(4, 'I'), counted(7, '1')], ["bb", "IV", "7"]);
    }
}
