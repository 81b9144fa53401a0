//! Whether a value stands in a text: texts are compared by their letters and digits, without case, blanks and
//! punctuation; numbers and dates in any usual notation.

use crate::{
    date::{DayOrder, dates_in, is_date, names_month_of},
    number::{is_number, numbers_in},
};
use chrono::NaiveDate;
use rust_decimal::Decimal;
use serde_json::Value;
use std::{collections::BTreeMap, str::FromStr};
use unicode_normalization::UnicodeNormalization;

/// Words for a value: `{ "MM": ["month", "monthly"] }`.
pub type SameAs = BTreeMap<String, Vec<String>>;

/// A text with at most this many letters and digits must be a whole word of the other text.
const SHORT: usize = 3;

/// Words that name a number or multiply one. Numbers in words are not read: where a text has such a word, a number that
/// was not found may be there all the same.
const NUMBER_WORDS: [&str; 62] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "ninety",
    "hundred",
    "thousand",
    "million",
    "billion",
    "dozen",
    "half",
    "zwei",
    "drei",
    "vier",
    "funf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwolf",
    "zwanzig",
    "dreissig",
    "dreißig",
    "hundert",
    "tausend",
    "millionen",
    "mio",
    "mrd",
    "milliarde",
    "tsd",
    "teur",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "sept",
    "huit",
    "neuf",
    "dix",
    "douze",
    "quinze",
    "vingt",
    "trente",
    "cent",
    "mille",
    "k",
];

/// Whether a value stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueInText {
    /// The value stands in the text.
    Yes,
    /// The value doesn't stand in the text.
    No,
    /// A person has to decide. The text gives the reason as a fragment that follows the value.
    Unclear(String),
    /// The value can't stand in a text: null, a boolean or an object.
    NotTried,
}

/// Whether `value` stands in `text`. `order` is the day order of the document's dates, where it is known.
pub fn carried(value: &Value, text: &str, same_as: &SameAs, order: Option<DayOrder>) -> ValueInText {
    let key = match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let words = key.as_ref().and_then(|key| same_as.get(key));
    if words.is_some_and(|words| words.iter().any(|word| is_said(word, text))) {
        return ValueInText::Yes;
    }
    match value {
        Value::Bool(_) if words.is_some() => ValueInText::No,
        Value::Null | Value::Bool(_) | Value::Object(_) => ValueInText::NotTried,
        Value::Number(number) => match Decimal::from_str(&number.to_string()) {
            Ok(number) => number_carried(&[number], number.is_sign_negative(), text),
            Err(_) if is_said(&number.to_string(), text) => ValueInText::Yes,
            Err(_) => ValueInText::Unclear("is a number of more digits than are compared".to_owned()),
        },
        Value::String(string) => text_carried(string, text, order),
        Value::Array(items) => {
            let mut all = ValueInText::NotTried;
            for item in items {
                match carried(item, text, same_as, order) {
                    ValueInText::No => return ValueInText::No,
                    ValueInText::Unclear(why) => all = ValueInText::Unclear(why),
                    ValueInText::Yes if all == ValueInText::NotTried => all = ValueInText::Yes,
                    ValueInText::Yes | ValueInText::NotTried => {}
                }
            }
            all
        }
    }
}

/// Whether a value is copied rather than paraphrased: a number, a date, or a text of few words with a digit.
pub fn is_literal(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) => text.chars().any(|c| c.is_ascii_digit()) && text.split_whitespace().take(5).count() < 5,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn text_carried(value: &str, text: &str, order: Option<DayOrder>) -> ValueInText {
    if let Some(date) = is_date(value) {
        // A date in the record is unclear only where the text doesn't contain it as it is written.
        return match date.only().or_else(|| order.and_then(|order| date.read(order))) {
            Some(date) => date_carried(date, text, order),
            None if is_said(value, text) => ValueInText::Yes,
            None => ValueInText::Unclear("can be read as two days".to_owned()),
        };
    }
    if letters(value).is_empty() {
        return ValueInText::NotTried;
    }
    if is_said(value, text) {
        return ValueInText::Yes;
    }
    if is_number(value)
        && let [number, ..] = &numbers_in(value)[..]
    {
        return number_carried(&number.readings, number.is_negative, text);
    }
    ValueInText::No
}

fn number_carried(readings: &[Decimal], is_negative: bool, text: &str) -> ValueInText {
    let all = numbers_in(text);
    let signed = |size: &Decimal| if is_negative { -size.abs() } else { size.abs() };
    if readings.iter().any(|reading| all.iter().any(|number| number.may_be(signed(reading)))) {
        return ValueInText::Yes;
    }
    let words = plain_words(text);
    if words.iter().any(|word| NUMBER_WORDS.contains(&word.as_str())) {
        return ValueInText::Unclear("may be there in words, which are not read".to_owned());
    }
    ValueInText::No
}

fn date_carried(date: NaiveDate, text: &str, order: Option<DayOrder>) -> ValueInText {
    let dates = dates_in(text);
    let mut may_be = false;
    for found in dates.iter().filter(|found| found.may_be(date)) {
        let meant = found.only().or_else(|| order.and_then(|order| found.read(order)));
        if meant == Some(date) {
            return ValueInText::Yes;
        }
        may_be |= meant.is_none();
    }
    if may_be {
        return ValueInText::Unclear("stands there as a date that can be read as two days".to_owned());
    }
    if names_month_of(text, date) {
        return ValueInText::Unclear("has its month there, and not its day".to_owned());
    }
    ValueInText::No
}

/// Letters and digits, without case and in one form.
fn letters(text: &str) -> String {
    text.nfkc().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn plain_words(text: &str) -> Vec<String> {
    let plain: String = text.nfkd().flat_map(char::to_lowercase).collect();
    let plain: String = plain.chars().filter(|c| !is_accent(*c)).collect();
    plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn is_said(value: &str, text: &str) -> bool {
    let wanted = letters(value);
    if wanted.is_empty() {
        // The value is a sign, such as a currency sign.
        return !value.trim().is_empty() && text.contains(value.trim());
    }
    if wanted.chars().count() <= SHORT {
        return text.split(|c: char| !c.is_alphanumeric()).any(|word| letters(word) == wanted);
    }
    letters(text).contains(&wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_stand_in_their_quotes() {
        let same_as = SameAs::from([
            ("MM".to_owned(), vec!["month".to_owned(), "monthly".to_owned()]),
            ("EUR".to_owned(), vec!["€".to_owned()]),
        ]);
        let of = |value: Value, text: &str| carried(&value, text, &same_as, None);
        for (value, text) in [
            (json!(1234.56), "a fee of EUR 1.234,56 net"),
            (json!(1234.5), "1'234.50 CHF"),
            (json!(-12), "(12.00)"),
            (json!(0.19), "zzgl. 19 % USt."),
            (json!("2024-05-03"), "am 3. Mai 2024"),
            (json!("2024-05-13"), "on 13/05/2024"),
            (json!("ACME GmbH & Co. KG"), "between Acme GmbH &\nCo KG and"),
            (json!("MM"), "paid monthly in advance"),
            (json!("EUR"), "-92,00 €"),
            (json!(-92), "Total HT   -92,00 €"),
            (json!("EUR 1,000"), "1.000,00 EUR"),
            (json!(["Ada", "Ben"]), "Ada and Ben agree"),
            (json!(12_345_678_901_234_567_u64), "No. 12345678901234567"),
        ] {
            assert_eq!(of(value.clone(), text), ValueInText::Yes, "{value} in {text}");
        }
        for (value, text) in [
            (json!(1280), "total 1,180.00"),
            (json!("2024-05-03"), "am 3. Juni 2024"),
            (json!("2024-05-03"), "within 30 days"),
            (json!("EU"), "the Europa contract"),
            (json!("MM"), "paid yearly"),
            (json!(["Ada", "Cy"]), "Ada and Ben agree"),
        ] {
            assert_eq!(of(value.clone(), text), ValueInText::No, "{value} in {text}");
        }
        for (value, text) in [
            (json!(1200), "twelve hundred dollars"),
            (json!("2024-04-03"), "on 03/04/2024"),
            (json!("2024-05-01"), "from May 2024 on"),
            (json!(1_200_000), "1,2 Mio. EUR"),
        ] {
            assert!(matches!(of(value.clone(), text), ValueInText::Unclear(_)), "{value} in {text}");
        }
        assert_eq!(of(Value::Null, "x"), ValueInText::NotTried);
        let day_first = |text: &str| carried(&json!("2024-04-03"), text, &same_as, Some(DayOrder::DayFirst));
        assert_eq!(day_first("on 03/04/2024"), ValueInText::Yes);
        assert_eq!(day_first("on 04/03/2024"), ValueInText::No);
    }
}
