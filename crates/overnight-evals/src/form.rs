//! Values in a form that is fast to compare: in a list of thousands of records, each one is compared with each.

mod number;

use crate::field_rule::ComparisonKind;
use number::NumberForm;
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// The number of a text that several values may share.
type TextId = u32;

/// A value that isn't null.
#[derive(Debug)]
pub(crate) struct Form {
    /// Equal for values that are the same by their kind of comparison, tolerances aside.
    same: TextId,
    graded: Graded,
}

/// The data for a comparison with a tolerance.
#[derive(Debug)]
enum Graded {
    Nothing,
    Number(NumberForm),
    Words { in_order: Vec<TextId>, sorted: Vec<TextId> },
}

/// The texts of all compared values, each once.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    known: HashMap<String, TextId>,
}

impl Forms {
    /// The number of a text; numbers are given in the order of first use.
    pub(crate) fn id(&mut self, text: String) -> TextId {
        let next = TextId::try_from(self.known.len()).unwrap_or(TextId::MAX);
        *self.known.entry(text).or_insert(next)
    }

    /// The form of a value, none for null.
    pub(crate) fn form(&mut self, kind: ComparisonKind, value: &Value) -> Option<Form> {
        let text = value.as_str();
        let mut graded = Graded::Nothing;
        let same = match (kind, value) {
            (_, Value::Null) => return None,
            (ComparisonKind::Number { .. }, _) => {
                graded = NumberForm::of(value).map_or(Graded::Nothing, Graded::Number);
                exact(value)
            }
            (ComparisonKind::Date, _) => text.and_then(day).unwrap_or_else(|| exact(value)),
            (ComparisonKind::Identifier, Value::String(_) | Value::Number(_)) => {
                let all = text.map_or_else(|| fold(&value.to_string()), fold);
                let kept: String = all.chars().filter(|c| c.is_alphanumeric()).collect();
                if kept.is_empty() { exact(value) } else { format!("id {kept}") }
            }
            (ComparisonKind::Text { .. }, Value::String(text)) => {
                let in_order: Vec<TextId> =
                    fold(text).unicode_words().map(|word| self.id(format!("word {word}"))).collect();
                let mut sorted = in_order.clone();
                sorted.sort_unstable();
                graded = Graded::Words { in_order, sorted };
                exact(value)
            }
            (_, _) => exact(value),
        };
        Some(Form { same: self.id(same), graded })
    }
}

/// The text that equal values share: for numbers their value, for texts the folded text.
fn exact(value: &Value) -> String {
    match value {
        Value::String(text) => format!("text {}", fold(text)),
        Value::Number(number) => format!("number {}", number::plain(number)),
        other => other.to_string(),
    }
}

/// NFKC, case-insensitive, with single blanks. Upper case before lower case makes `ß` `ss`, and both sigmas one.
fn fold(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The day of a date, without the time of day.
fn day(text: &str) -> Option<String> {
    let text = text.trim();
    let has_time = text.get(10..).is_some_and(|rest| {
        rest.starts_with(['T', 't', ' ']) && rest[1..].trim_start().starts_with(|c: char| c.is_ascii_digit())
    });
    let is_iso = text.starts_with(|c: char| c.is_ascii_digit()) && text.get(4..5) == Some("-");
    let day = if is_iso && has_time { text.get(..10)? } else { text };
    Some(format!("day {}", overnight_rules::date::is_date(day)?.only()?))
}

/// Whether a found value is right.
pub(crate) fn is_right(kind: ComparisonKind, expected: &Form, found: &Form) -> bool {
    if expected.same == found.same {
        return true;
    }
    match (kind, &expected.graded, &found.graded) {
        (ComparisonKind::Number { tolerance, relative }, Graded::Number(expected), Graded::Number(found)) => {
            expected.is_within(found, tolerance, relative)
        }
        (
            ComparisonKind::Text { least },
            Graded::Words { in_order: expected, sorted },
            Graded::Words { in_order: found, sorted: found_sorted },
        ) => {
            // The words in common are at least as many as those in common in their order, and are counted much faster.
            ratio(common(sorted, found_sorted), expected, found) >= least
                && ratio(common_in_order(expected, found), expected, found) >= least
        }
        (_, _, _) => false,
    }
}

/// How alike two values are, in 0..=1: for texts the share of words in common in any order, for other values 0 or 1.
pub(crate) fn similarity(kind: ComparisonKind, expected: &Form, found: &Form) -> f64 {
    match (kind, &expected.graded, &found.graded) {
        (ComparisonKind::Text { .. }, Graded::Words { sorted: expected, .. }, Graded::Words { sorted: found, .. })
            if !expected.is_empty() || !found.is_empty() =>
        {
            ratio(common(expected, found), expected, found)
        }
        (_, _, _) => f64::from(u8::from(is_right(kind, expected, found))),
    }
}

#[expect(clippy::cast_precision_loss, reason = "words of a text, far fewer than 2^52")]
fn ratio(common: usize, expected: &[TextId], found: &[TextId]) -> f64 {
    let all = expected.len() + found.len();
    if all == 0 { 0.0 } else { 2.0 * common as f64 / all as f64 }
}

/// The number of words that two sorted lists have in common, each counted as often as both lists have it.
fn common(one: &[TextId], other: &[TextId]) -> usize {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut common = 0;
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => drop(one.next()),
            std::cmp::Ordering::Greater => drop(other.next()),
            std::cmp::Ordering::Equal => {
                common += 1;
                one.next();
                other.next();
            }
        }
    }
    common
}

/// The length of the longest common subsequence.
fn common_in_order(one: &[TextId], other: &[TextId]) -> usize {
    let equal = |op: DiffOp| if let DiffOp::Equal { len, .. } = op { len } else { 0 };
    capture_diff_slices(Algorithm::Myers, one, other).into_iter().map(equal).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn right(kind: ComparisonKind, expected: &Value, found: &Value) -> bool {
        let mut forms = Forms::default();
        let (expected, found) = (forms.form(kind, expected).unwrap(), forms.form(kind, found).unwrap());
        is_right(kind, &expected, &found)
    }

    #[test]
    fn each_kind_has_its_equals() {
        let cents = ComparisonKind::Number { tolerance: 0.01, relative: 0.0 };
        let percent = ComparisonKind::Number { tolerance: 0.0, relative: 0.01 };
        let (exact, number, date) = (ComparisonKind::Exact, ComparisonKind::NUMBER, ComparisonKind::Date);
        for (kind, expected, found) in [
            (exact, json!("Straße  1 "), json!("STRASSE 1")),
            (exact, json!("ﬁne\u{a0}print"), json!("fine\nprint")),
            (exact, json!(1.0), json!(1)),
            (exact, json!(true), json!(true)),
            (number, json!(1250), json!("1,250.00")),
            (number, json!("EUR 1.250,00"), json!("1 250,00 €")),
            (number, json!(-5), json!("(5.00)")),
            (number, json!("none"), json!("None")),
            (number, json!(1e40), json!(1e40)),
            (cents, json!(1.01), json!(1.00)),
            (cents, json!("$1.01"), json!(1.02)),
            (percent, json!(100), json!(99)),
            (date, json!("2027-05-03"), json!("3 May 2027")),
            (date, json!("2027-05-03"), json!("03.05.2027")),
            (date, json!("2027-05-03"), json!("2027-05-03T23:00:00+02:00")),
            (date, json!("2027-05-03 10:00"), json!("May 3, 2027")),
            (date, json!("13/05/2027"), json!("2027-05-13")),
            (date, json!("on demand"), json!("On demand")),
            (ComparisonKind::OneOf, json!("net_rent"), json!("NET_RENT")),
            (ComparisonKind::Identifier, json!("DE-12 34"), json!("de1234")),
            (ComparisonKind::Identifier, json!("12-34"), json!(1234)),
            (ComparisonKind::Identifier, json!("–"), json!("–")),
            (ComparisonKind::TEXT, json!("The tenant pays the rent."), json!("the TENANT pays the rent")),
            (ComparisonKind::Text { least: 0.8 }, json!("a b c d e"), json!("a b c d x")),
        ] {
            assert!(right(kind, &expected, &found), "{kind:?} {expected} {found}");
        }
        for (kind, expected, found) in [
            (exact, json!("a b"), json!("ab")),
            (exact, json!("1"), json!(1)),
            (exact, json!("true"), json!(true)),
            (number, json!(1234), json!("1,234")),
            (number, json!(1), json!(1.000_001)),
            (number, json!(19), json!("19 %")),
            (number, json!(12), json!("12 months")),
            (number, json!(1e40), json!(1.1e40)),
            (cents, json!(1.01), json!(1.03)),
            (percent, json!(100), json!(98.9)),
            (date, json!("2027-05-03"), json!("2027-05-04")),
            (date, json!("2027-04-03"), json!("03/04/2027")),
            (ComparisonKind::Identifier, json!("–"), json!("+")),
            (ComparisonKind::Text { least: 0.81 }, json!("a b c d e"), json!("a b c d x")),
            (ComparisonKind::TEXT, json!("the tenant pays the landlord"), json!("the landlord pays the tenant")),
            (ComparisonKind::TEXT, json!("–"), json!("+")),
        ] {
            assert!(!right(kind, &expected, &found), "{kind:?} {expected} {found}");
        }
    }
}
