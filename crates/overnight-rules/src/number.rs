//! Numbers as people write them: `1,234.56`, `1.234,56 EUR`, `1 234,56`, `1'234.50`, `(1,234.56)`, `12 %`, `1.234,-`.
//!
//! A notation may be read in two ways (`1,234` is a thousand in one country and one and a bit in another): a number has all its
//! readings, the likelier one first.

use rust_decimal::Decimal;
use std::{ops::Range, str::FromStr};

/// A number in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenNumber {
    /// The readings without a sign, the likelier one first; at least one.
    pub readings: Vec<Decimal>,
    /// Whether a minus stands before or behind the number, or brackets around it.
    pub is_negative: bool,
    /// 100 or 1,000 if a sign for percent or per mille follows: the value may be meant as a share as well.
    pub share_of: Option<Decimal>,
    /// The bytes of the digits in the text.
    pub range: Range<usize>,
}

impl WrittenNumber {
    /// Whether a reading is `value`, which may be positive though a minus stands there: it may be a dash.
    pub fn may_be(&self, value: Decimal) -> bool {
        if value.is_sign_negative() && !value.is_zero() && !self.is_negative {
            return false;
        }
        let size = value.abs();
        let is_share = |reading: &Decimal| {
            self.share_of.is_some_and(|whole| reading.checked_div(whole).is_some_and(|share| share == size))
        };
        self.readings.iter().any(|reading| *reading == size || is_share(reading))
    }
}

/// All numbers of a text, in its order. Digits within a word (`A17`, `2x4`) count as well.
pub fn numbers_in(text: &str) -> Vec<WrittenNumber> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()).map(|place| from + place) {
        let range = start..start + run_length(&text[start..]);
        from = range.end;
        let digits = &text[range.clone()];
        let mut readings = readings(digits);
        if digits.contains(is_blank) {
            // "12 345" may be two numbers as well.
            readings.extend(digits.split(is_blank).flat_map(self::readings));
        }
        if !readings.is_empty() {
            let (before, behind) = (text[..range.start].trim_end(), &text[range.end..]);
            let (is_negative, share_of) = (is_negative(before, behind), share_of(behind));
            found.push(WrittenNumber { readings, is_negative, share_of, range });
        }
    }
    found
}

/// The number of bytes of the leading digits and separators. A blank separates groups of three digits only.
fn run_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    loop {
        let rest = &text[length..];
        let Some(separator) = rest.chars().next() else { return length };
        let behind = &rest[separator.len_utf8()..];
        let is_group = match separator {
            '.' | ',' | '\'' | '’' | '٫' | '٬' => digits(behind) > 0,
            separator if is_blank(separator) => digits(behind) == 3,
            'e' | 'E' => {
                let power = behind.strip_prefix(['+', '-']).unwrap_or(behind);
                let count = digits(power);
                let is_power = (1..=2).contains(&count) && !power[count..].starts_with(char::is_alphanumeric);
                return if is_power { text.len() - power.len() + count } else { length };
            }
            _ => false,
        };
        if !is_group {
            return length;
        }
        length += separator.len_utf8() + digits(behind);
    }
}

/// Reads a text that has exactly one number: a sign, a currency, a unit and brackets may stand around it. The error is
/// a fragment that follows the text: what the text is instead.
pub fn number(text: &str) -> Result<Decimal, &'static str> {
    let all = numbers_in(text);
    let [number] = &all[..] else {
        return Err(if all.is_empty() { "has no number" } else { "has more than one number" });
    };
    let size = number.readings.first().copied().unwrap_or_default();
    Ok(if number.is_negative { -size } else { size })
}

/// Whether a text consists of one number, with a currency or a unit at most.
pub fn is_number(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    number(text).is_ok() && letters <= 8 && !text.contains('/')
}

fn is_negative(before: &str, behind: &str) -> bool {
    const MINUS: [char; 3] = ['-', '−', '–'];
    let unit = |c: char| c.is_alphabetic() || c.is_whitespace() || "€$£¥.".contains(c);
    let bare = before.trim_end_matches(unit);
    let minus_before = bare.strip_suffix(MINUS).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()));
    let end = behind.trim_start();
    // "1.234,-" has no cents; "1.234,56-" is less than nothing.
    let minus_behind = behind
        .strip_prefix(MINUS)
        .is_some_and(|rest| !rest.trim_start_matches(unit).starts_with(|c: char| c.is_ascii_digit()));
    let in_brackets = bare.ends_with('(') && end.trim_start_matches(unit).starts_with(')');
    minus_before || minus_behind || in_brackets
}

fn share_of(behind: &str) -> Option<Decimal> {
    match behind.trim_start().chars().next()? {
        '%' | '٪' => Some(Decimal::ONE_HUNDRED),
        '‰' => Some(Decimal::ONE_THOUSAND),
        _ => None,
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// The readings of digits with separators; none where they are not a number (`03.05.2024`, `1.2.3`).
fn readings(digits: &str) -> Vec<Decimal> {
    let (digits, power) = match digits.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, power.parse::<i32>().unwrap_or(0)),
        None => (digits, 0),
    };
    let plain: String = digits.chars().map(|c| if is_blank(c) { ' ' } else { western(c) }).collect();
    let separators: Vec<char> = plain.chars().filter(|c| !c.is_ascii_digit()).collect();
    let parts: Vec<&str> = plain.split(|c: char| !c.is_ascii_digit()).collect();
    let whole = |parts: &[&str]| Decimal::from_str(&parts.concat()).ok();
    let split = |parts: &[&str]| {
        let (cents, units) = parts.split_last()?;
        Decimal::from_str(&format!("{}.{cents}", units.concat())).ok()
    };
    let is_grouped = |parts: &[&str]| {
        let [first, middle @ .., last] = parts else { return true };
        // Groups of three, or of two before the last one, as in India.
        let same = middle.iter().all(|part| part.len() == 3) || middle.iter().all(|part| part.len() == 2);
        (1..=3).contains(&first.len()) && last.len() == 3 && same
    };
    let readings: Vec<Option<Decimal>> = match separators[..] {
        [] => vec![whole(&parts)],
        ['.' | ','] if parts[1].len() == 3 && parts[0].len() <= 3 && !parts[0].starts_with('0') => {
            vec![whole(&parts), split(&parts)]
        }
        ['.' | ','] => vec![split(&parts)],
        [.., last] if separators.iter().all(|other| *other == last) => {
            vec![is_grouped(&parts).then(|| whole(&parts)).flatten()]
        }
        [ref groups @ .., '.' | ','] if groups.iter().all(|group| *group == groups[0]) => {
            vec![is_grouped(&parts[..parts.len() - 1]).then(|| split(&parts)).flatten()]
        }
        _ => Vec::new(),
    };
    let scaled = |reading: Decimal| match power {
        0 => Some(reading),
        power => Decimal::from_scientific(&format!("{reading}e{power}")).ok(),
    };
    readings.into_iter().flatten().filter_map(scaled).map(|reading| reading.normalize()).collect()
}

fn western(c: char) -> char {
    match c {
        '’' => '\'',
        '٫' => ',',
        '٬' => '.',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_notations() {
        for (text, expected) in [
            ("1,234.56", "1234.56"),
            ("1.234,56 EUR", "1234.56"),
            ("EUR 1.234,56", "1234.56"),
            ("1 234,56", "1234.56"),
            ("1\u{202f}234,56 €", "1234.56"),
            ("1'234.50", "1234.5"),
            ("1.234.567", "1234567"),
            ("12,34,567.89", "1234567.89"),
            ("1,234", "1234"),
            ("0,234", "0.234"),
            ("12.5", "12.5"),
            ("(1,234.56)", "-1234.56"),
            ("-5", "-5"),
            ("− 5,20 €", "-5.2"),
            ("1.234,56-", "-1234.56"),
            ("1.234,- EUR", "1234"),
            ("$ -3.00", "-3"),
            ("19 %", "19"),
            ("12 months", "12"),
            ("1.5e3", "1500"),
            ("1180.00", "1180"),
        ] {
            assert_eq!(number(text), Ok(Decimal::from_str(expected).unwrap()), "{text}");
        }
        for (text, why) in [
            ("twelve hundred", "has no number"),
            ("12 of 15", "has more than one number"),
            ("03.05.2024", "has no number"),
            ("", "has no number"),
        ] {
            assert_eq!(number(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_number_is_found_in_its_text() {
        let is_in = |text: &str, value: &str| {
            let value = Decimal::from_str(value).unwrap();
            numbers_in(text).iter().any(|number| number.may_be(value))
        };
        for (text, value) in [
            ("The fee is EUR 1.234,56 a year.", "1234.56"),
            ("total due: (1,234.56)", "-1234.56"),
            ("VAT of 19% applies", "0.19"),
            ("VAT of 19% applies", "19"),
            ("Article 12 345 days", "12"),
            ("Article 12 345 days", "345"),
            ("Article 12 345 days", "12345"),
            ("between 10-20 units", "20"),
            ("– 50 EUR", "50"),
            ("rate 1.234", "1.234"),
        ] {
            assert!(is_in(text, value), "{value} in {text}");
        }
        for (text, value) in [("The fee is 1,180.00", "1280"), ("12.5", "125"), ("no number", "0"), ("5", "-5")] {
            assert!(!is_in(text, value), "{value} in {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_texts_have_numbers_or_none(text in "\\PC{0,60}|[0-9.,' \u{a0}eE+-]{0,60}") {
            for found in numbers_in(&text) {
                assert!(!found.readings.is_empty() && text.get(found.range).is_some());
            }
        }
    }
}
