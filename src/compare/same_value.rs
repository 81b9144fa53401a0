//! Which values are the same: numbers by their value, texts without regard to white space.

use rust_decimal::Decimal;
use serde_json::{Number, Value};
use std::borrow::Cow;

/// Whether two values are the same.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || is_same_number(one, other),
        (Value::String(one), Value::String(other)) => one == other || folded(one) == folded(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same = |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => one == other,
    }
}

/// A text with each run of white space as one blank.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.trim() == text && !text.contains(|c: char| c.is_whitespace() && c != ' ') && !text.contains("  ") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A text that is the same for equal values, as far as that can be determined without comparing both.
pub(super) fn key(value: &Value) -> String {
    fn folded_all(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(folded(text).into_owned()),
            Value::Number(number) => match decimal(number) {
                Some(decimal) => Value::String(format!("number {}", decimal.normalize())),
                None => value.clone(),
            },
            Value::Array(items) => Value::Array(items.iter().map(folded_all).collect()),
            Value::Object(fields) => {
                let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
                sorted.sort_unstable_by_key(|(key, _)| *key);
                Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), folded_all(value))).collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }
    folded_all(value).to_string()
}

fn is_same_number(one: &Number, other: &Number) -> bool {
    decimal(one).zip(decimal(other)).is_some_and(|(one, other)| one == other)
}

/// `None` if it has more digits than are compared.
fn decimal(number: &Number) -> Option<Decimal> {
    let written = number.as_str();
    Decimal::from_str_exact(written).or_else(|_| Decimal::from_scientific(written)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_by_value_and_texts_by_their_words() {
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(is_same(&one, &other), is_same(&other, &one), "{one} and {other}");
            assert_eq!(is_same(&one, &other), key(&one) == key(&other), "{one} and {other}");
            is_same(&one, &other)
        };
        for (one, other) in [
            ("1", "1.0"),
            ("1.50e3", "1500"),
            (r#""a  b\n""#, r#""a b""#),
            (r#"[{"a": 1, "b": " x"}]"#, r#"[{"b": "x", "a": 1.0}]"#),
            ("123456789012345678901234567890123", "123456789012345678901234567890123"),
        ] {
            assert!(same(one, other), "{one} and {other}");
        }
        for (one, other) in [
            ("1", r#""1""#),
            ("0.1", "0.10000000000000001"),
            ("null", "false"),
            ("[1, 2]", "[2, 1]"),
            (r#"{"a": 1}"#, r#"{"a": 1, "b": null}"#),
            ("123456789012345678901234567890123", "123456789012345678901234567890124"),
        ] {
            assert!(!same(one, other), "{one} and {other}");
        }
    }
}
