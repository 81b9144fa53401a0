//! Numbers, in JSON or as people write them, with both exact digits and the nearest binary number.

use overnight_rules::number::{WrittenNumber, numbers_in};
use rust_decimal::Decimal;
use serde_json::{Number, Value};
use std::str::FromStr;

/// A number. It has no decimal digits if there are too many of them, or if the number is too large.
#[derive(Debug)]
pub(super) struct NumberForm {
    decimal: Option<Decimal>,
    binary: f64,
}

impl NumberForm {
    /// The number in a value; none for other values, and for a text that may be read in two ways.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self { decimal: decimal(number), binary: number.as_f64()? }),
            Value::String(text) => {
                let decimal = written(text)?;
                Some(Self { decimal: Some(decimal), binary: decimal.to_string().parse().ok()? })
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Whether both differ by at most the larger of the absolute and the relative tolerance, the latter of the larger
    /// absolute value (as in Python's `math.isclose`, PEP 485). In decimal, so that 1.01 is within 0.01 of 1.
    pub(super) fn is_within(&self, other: &Self, tolerance: f64, relative: f64) -> bool {
        let size = self.binary.abs().max(other.binary.abs());
        let bound = tolerance.max(relative * size);
        let difference = (self.binary - other.binary).abs();
        // More than rounding can explain: this is decided without the digits, which would take longer.
        if difference > bound * 1.000_001 + size * 1e-15 {
            return false;
        }
        self.is_within_exactly(other, tolerance, relative).unwrap_or(difference <= bound)
    }

    fn is_within_exactly(&self, other: &Self, tolerance: f64, relative: f64) -> Option<bool> {
        let (one, other) = (self.decimal?, other.decimal?);
        let [tolerance, relative] = [Decimal::try_from(tolerance).ok()?, Decimal::try_from(relative).ok()?];
        let bound = tolerance.max(relative.checked_mul(one.abs().max(other.abs()))?);
        Some(one.checked_sub(other)?.abs() <= bound)
    }
}

fn decimal(number: &Number) -> Option<Decimal> {
    let text = number.to_string();
    Decimal::from_str(&text).or_else(|_| Decimal::from_scientific(&text)).ok()
}

/// A number in a form that is the same for equal numbers: 1.50 is 1.5.
pub(super) fn plain(number: &Number) -> String {
    decimal(number).map_or_else(|| number.to_string(), |decimal| decimal.normalize().to_string())
}

/// Reads a text that consists of one number, with a currency at most.
fn written(text: &str) -> Option<Decimal> {
    let all = numbers_in(text);
    let [WrittenNumber { range, is_negative, .. }] = &all[..] else { return None };
    // Blanks between groups of digits may separate two numbers in a sentence; in a field they don't.
    let digits: String = text[range.clone()].chars().filter(|c| !c.is_whitespace()).collect();
    let [size] = numbers_in(&digits).pop()?.readings[..] else { return None };
    let around = [&text[..range.start], &text[range.end..]].join(" ");
    let has_sign = around.contains(['-', '−', '–', '(', ')']);
    if !is_currency(&around) || has_sign != *is_negative {
        return None;
    }
    Some(if *is_negative { -size } else { size })
}

/// Whether a text consists of signs and at most one currency: its sign, or its code of ISO 4217.
fn is_currency(text: &str) -> bool {
    let is_sign = |c: char| matches!(c, '$' | '¢' | '£' | '¤' | '¥' | '\u{20a0}'..='\u{20cf}');
    let mut codes = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let is_code = |word: &str| word.len() == 3 && word.bytes().all(|letter| letter.is_ascii_uppercase());
    let signs = text.chars().filter(|c| is_sign(*c)).count();
    let others = |c: char| c.is_alphabetic() || c.is_whitespace() || is_sign(c) || "+-−–()".contains(c);
    let code = codes.next();
    code.is_none_or(is_code) && codes.next().is_none() && signs <= 1 && text.chars().all(others)
}
