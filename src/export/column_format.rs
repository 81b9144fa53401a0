//! How a spreadsheet shows the values of a column: ISO dates as dates, numbers with as many decimals as they need.

use chrono::{Datelike, NaiveDate};
use serde_json::Value;

/// Whole numbers that look like years, when a column has no others.
const YEARS: std::ops::Range<i64> = 1900..2100;

/// How the values of a column are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnFormat {
    /// ISO dates in texts are shown as dates.
    pub is_date: bool,
    pub number: DecimalFormat,
}

/// How the numbers of a column are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecimalFormat {
    /// As they are: `2024`.
    #[default]
    Plain,
    /// `1,250`.
    Whole,
    /// `1,250.50`.
    Fraction,
}

/// The common properties of a column's values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenValues {
    is_date_by_schema: bool,
    /// Whether all texts are dates; `None` until there is a text.
    is_date: Option<bool>,
    number: DecimalFormat,
}

impl SeenValues {
    /// For a field with this schema.
    pub(super) fn of_schema(schema: &Value) -> Self {
        Self { is_date_by_schema: schema["format"] == "date", ..Self::default() }
    }

    pub(super) fn observe(&mut self, value: &Value) {
        match value {
            Value::String(text) if self.is_date != Some(false) => self.is_date = Some(iso_date(text).is_some()),
            Value::Number(number) => {
                let format = match (number.as_i64(), number.as_f64()) {
                    (Some(number), _) if YEARS.contains(&number) => DecimalFormat::Plain,
                    (None, Some(number)) if number.fract() != 0.0 => DecimalFormat::Fraction,
                    (Some(_) | None, _) => DecimalFormat::Whole,
                };
                self.number = self.number.max(format);
            }
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }

    pub(super) fn format(self) -> ColumnFormat {
        ColumnFormat { is_date: self.is_date_by_schema || self.is_date == Some(true), number: self.number }
    }
}

/// Year, month and day of a text such as `2024-05-03`, if it is a valid date.
pub(super) fn iso_date(text: &str) -> Option<(u16, u8, u8)> {
    let is_written_out = text.len() == 10 && text.starts_with(|letter: char| letter.is_ascii_digit());
    let date = is_written_out.then(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok())??;
    let [month, day] = [date.month(), date.day()].map(u8::try_from);
    Some((u16::try_from(date.year()).ok()?, month.ok()?, day.ok()?))
}
