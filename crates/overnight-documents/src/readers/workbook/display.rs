//! A number as its cell shows it, by `ssfmt`: percent, decimals, thousands, leading zeros, fractions, sections,
//! prefixes and suffixes. Dates are written as ISO dates, whatever the cell's order of day and month, so that nobody
//! has to guess it.

use ssfmt::Section;
use ssfmt::ast::{DatePart, ElapsedPart, FormatPart};

use super::dates;

/// The longest code that Excel takes.
const MAX_CODE: usize = 255;
/// The most places behind the point that `ssfmt` takes from the number; behind them it writes zeros.
const MAX_PLACES: usize = 10;
/// From this size on a number has more digits than Excel stores, and than `ssfmt` shows.
const MAX_NUMBER: f64 = 1e15;

/// A cell's number format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NumberFormat {
    /// The number as it is.
    General,
    Number(ssfmt::NumberFormat),
    /// Whole numbers, and whether thousands are separated.
    Whole {
        format: ssfmt::NumberFormat,
        is_grouped: bool,
    },
    /// Whether it shows a date and a time.
    Date {
        date: bool,
        time: bool,
    },
    /// Hours beyond a day, and whether seconds are shown.
    Elapsed {
        seconds: bool,
    },
}

impl NumberFormat {
    /// Parses a format code.
    pub(crate) fn parse(code: &str) -> Self {
        let places = |part: &str| part.chars().take_while(|found| matches!(found, '0' | '#' | '?')).count();
        let is_finer = code.split('.').skip(1).any(|part| places(part) > MAX_PLACES);
        let is_general = is_finer || code.eq_ignore_ascii_case("general") || code == "@" || code.len() > MAX_CODE;
        match ssfmt::NumberFormat::parse(code) {
            Ok(format) if !is_general => match format.sections().first().and_then(date) {
                Some(date) => date,
                None if code.contains(['%', 'E', 'e', '/']) => Self::Number(format),
                None => Self::Whole { format, is_grouped: code.contains(",0") || code.contains(",#") },
            },
            Ok(_) | Err(_) => Self::General,
        }
    }

    /// A number as a cell with this format shows it.
    pub(crate) fn show(&self, number: f64, since_1904: bool) -> String {
        let shown = match self {
            Self::Date { date, time } => dates::show(number, *date, *time, since_1904),
            Self::Elapsed { seconds } => dates::elapsed(number, *seconds),
            Self::Number(format) | Self::Whole { format, .. } if number.abs() < MAX_NUMBER => {
                // Excel rounds the decimal digits of 1.005, though the binary number is a little less.
                let decimal = if number.fract() == 0.0 { number } else { number * (1.0 + 4.0 * f64::EPSILON) };
                Some(format.format(decimal, &ssfmt::FormatOptions::default()).trim().to_owned())
            }
            Self::Whole { is_grouped, .. } => digits(number, *is_grouped),
            Self::General | Self::Number(_) => None,
        };
        // A format that shows nothing hides a value, and it is there all the same.
        shown.filter(|shown| !shown.is_empty()).unwrap_or_else(|| general(number))
    }
}

/// The format of a date in a section, if it shows one.
fn date(section: &Section) -> Option<NumberFormat> {
    if section.metadata.has_elapsed_time {
        let is_hours =
            |part: &FormatPart| matches!(part, FormatPart::Elapsed(ElapsedPart::Hours | ElapsedPart::Hours2));
        let is_seconds = |part: &FormatPart| {
            matches!(part, FormatPart::DatePart(DatePart::Second | DatePart::Second2 | DatePart::SubSecond(_)))
        };
        let seconds = !section.parts.iter().any(is_hours) || section.parts.iter().any(is_seconds);
        return Some(NumberFormat::Elapsed { seconds });
    }
    let (mut date, mut time) = (false, false);
    for part in &section.parts {
        match part {
            FormatPart::AmPm(_)
            | FormatPart::DatePart(
                DatePart::Hour
                | DatePart::Hour2
                | DatePart::Minute
                | DatePart::Minute2
                | DatePart::Second
                | DatePart::Second2
                | DatePart::SubSecond(_),
            ) => time = true,
            FormatPart::DatePart(_) => date = true,
            _ => {}
        }
    }
    (date || time).then_some(NumberFormat::Date { date, time })
}

/// All digits of a whole number that is too large for its format; none if they are no longer exact.
pub(super) fn digits(number: f64, is_grouped: bool) -> Option<String> {
    const MOST: f64 = 1e21;
    if number.fract() != 0.0 || number.abs() >= MOST {
        return None;
    }
    let figures = number.abs().to_string();
    let mut shown = if number < 0.0 { "-".to_owned() } else { String::new() };
    for (at, figure) in figures.chars().enumerate() {
        if is_grouped && at > 0 && (figures.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(figure);
    }
    Some(shown)
}

/// A number with at most 15 digits that count, as Excel keeps them.
pub(super) fn general(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-9..1e15).contains(&size) {
        let short = format!("{number:.14e}");
        let exponent = short.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?)));
        let Some((digits, power)) = exponent else { return short };
        return format!("{}E{power:+03}", trimmed(digits));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 24")]
    let places = if size == 0.0 { 0 } else { (14.0 - size.log10().floor()).max(0.0) as usize };
    trimmed(&format!("{number:.places$}")).to_owned()
}

fn trimmed(digits: &str) -> &str {
    let trimmed = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    if trimmed == "-0" { "0" } else { trimmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_their_cells_show_them() {
        for (code, number, expected) in [
            ("General", 0.1 + 0.2, "0.3"),
            ("General", 12.0, "12"),
            ("General", -0.0, "0"),
            ("General", 1.5e20, "1.5E+20"),
            ("General", 123_456_789_012.25, "123456789012.25"),
            ("0%", 0.125, "13%"),
            ("0.00%", 0.1234, "12.34%"),
            ("0.00", 1.005, "1.01"),
            ("#,##0.00", 1_234_567.5, "1,234,567.50"),
            ("#,##0", -1_234.0, "-1,234"),
            ("#,##0;(#,##0)", -1_234.0, "(1,234)"),
            ("\"$\"#,##0.00", 5.0, "$5.00"),
            ("#,##0.00\\ [$€-407]", 5.0, "5.00 €"),
            ("0.0##", 1.25, "1.25"),
            ("0\" kg\"", 3.0, "3 kg"),
            ("#,##0,", 12_345.0, "12"),
            ("# ?/?", 0.5, "1/2"),
            ("# ??/??", 3.25, "3  1/4"),
            ("0.00E+00", 1_234.0, "1.23E+03"),
            ("00000", 42.0, "00042"),
            ("000-00-0000", 78_051_120.0, "078-05-1120"),
            ("[>=1000]#,##0,\" K\";0", 12_345.0, "12 K"),
            ("[>=1000]#,##0,\" K\";0", 123.0, "123"),
            ("_(\"€\"* #,##0.00_);_(\"€\"* \\(#,##0.00\\)", -12.5, "€(12.50)"),
            (";;;", 5.5, "5.5"),
            ("0", 1e22, "1E+22"),
            ("0", 4_400_123_412_341_234.0, "4400123412341234"),
            ("0;-0", -123_456_789_012_345_680.0, "-123456789012345680"),
            ("#,##0", 4_400_123_412_341_234.0, "4,400,123,412,341,234"),
            ("General", 4_400_123_412_341_234.0, "4.40012341234123E+15"),
            ("0;-0;\"none\"", 0.0, "none"),
            ("yyyy-mm-dd", 45_352.0, "2024-03-01"),
            ("m/d/yy h:mm", 45_352.5, "2024-03-01 12:00"),
            ("d. mmmm yyyy;@", 45_352.0, "2024-03-01"),
            ("h:mm:ss", 0.75, "18:00"),
            ("[h]:mm", 1.5, "36:00"),
            ("[h]:mm:ss", 1.5, "36:00:00"),
            ("[mm]:ss", 0.5, "12:00:00"),
            ("0.0000000000000000", std::f64::consts::PI, "3.14159265358979"),
            ("General", -std::f64::consts::PI / 400.0, "-0.00785398163397448"),
            ("General", 3e-300, "3E-300"),
            ("[Red]0.0", 2.0, "2.0"),
            ("[$-409]mmm-yy;@", 45_352.0, "2024-03-01"),
        ] {
            assert_eq!(NumberFormat::parse(code).show(number, false), expected, "{code} {number}");
        }
    }
}
