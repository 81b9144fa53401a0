//! A number as a person sees it in its cell: percent, decimals, thousands, what stands before and behind, dates. Dates are
//! written as ISO dates whatever the cell's order of day and month, so that nobody has to guess it. No library in reach
//! does this: `calamine` tells dates from numbers and no more.

use super::dates;

/// A cell's number format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NumberFormat {
    /// As it is.
    General,
    Number(Box<[Pattern]>),
    /// Whether it shows a date and a time.
    Date {
        date: bool,
        time: bool,
    },
    /// Hours beyond a day.
    Elapsed,
}

/// One way to write a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    before: String,
    behind: String,
    decimals: usize,
    /// Decimals that are left out where they are zero.
    optional: usize,
    has_thousands: bool,
    percent: usize,
    /// Divided by thousand, so often.
    scale: i32,
    has_digits: bool,
}

/// The most decimals that Excel shows.
const MAX_DECIMALS: usize = 30;

impl NumberFormat {
    pub(super) fn parse(code: &str) -> Self {
        if code.is_empty() || code.eq_ignore_ascii_case("general") || code == "@" {
            return Self::General;
        }
        let first = sections(code).into_iter().next().unwrap_or_default();
        if let Some(date) = date(&first) {
            return date;
        }
        let patterns: Option<Vec<Pattern>> =
            sections(code).iter().take(3).map(|section| Pattern::parse(section)).collect();
        patterns.map_or(Self::General, |patterns| Self::Number(patterns.into()))
    }

    pub(super) fn show(&self, number: f64, since_1904: bool) -> String {
        match self {
            Self::General => general(number),
            Self::Date { date, time } => {
                dates::show(number, *date, *time, since_1904).unwrap_or_else(|| general(number))
            }
            Self::Elapsed => dates::elapsed(number).unwrap_or_else(|| general(number)),
            Self::Number(patterns) => show(patterns, number),
        }
    }
}

/// A number with at most 15 digits that count, as Excel keeps them.
pub(super) fn general(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-9..1e15).contains(&size) {
        let short = format!("{number:.14e}");
        let Some((digits, exponent)) = short.split_once('e') else { return short };
        return format!("{}E{exponent}", trimmed(digits));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0 and at most 15")]
    let whole = if size < 1.0 { 0 } else { size.log10().floor() as usize + 1 };
    trimmed(&format!("{number:.*}", 15_usize.saturating_sub(whole.max(1)))).to_owned()
}

fn trimmed(digits: &str) -> &str {
    let trimmed = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    if trimmed == "-0" { "0" } else { trimmed }
}

fn show(patterns: &[Pattern], number: f64) -> String {
    let (pattern, number) = match patterns {
        [_, negative, ..] if number < 0.0 => (negative, -number),
        [_, _, zero] if number == 0.0 => (zero, number),
        [first, ..] => (first, number),
        [] => return general(number),
    };
    if !pattern.has_digits {
        return format!("{}{}", pattern.before, pattern.behind).trim().to_owned();
    }
    #[expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "a handful of signs")]
    let scaled = number * 100_f64.powi(pattern.percent as i32) / 1000_f64.powi(pattern.scale);
    // Rounded as Excel rounds, half away from zero, of the digits that it keeps.
    let places = 10_f64.powi(i32::try_from(pattern.decimals).unwrap_or(0));
    let rounded = match general(scaled * places).parse::<f64>() {
        Ok(kept) if kept.abs() < 1e15 => kept.round() / places,
        Ok(_) | Err(_) => scaled,
    };
    let mut digits = format!("{:.*}", pattern.decimals, rounded.abs());
    for _ in 0..pattern.optional {
        if digits.ends_with('0') && digits.contains('.') {
            digits.pop();
        }
    }
    let digits = digits.trim_end_matches('.');
    let digits = if pattern.has_thousands { thousands(digits) } else { digits.to_owned() };
    let sign = if rounded < 0.0 { "-" } else { "" };
    format!("{sign}{}{digits}{}", pattern.before, pattern.behind).trim().to_owned()
}

fn thousands(digits: &str) -> String {
    let (whole, decimals) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(decimals) = decimals {
        out.push('.');
        out.push_str(decimals);
    }
    out
}

/// A format's sections: for positive numbers, negative ones, zero.
fn sections(code: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for found in code.chars().take(1_000) {
        match found {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => {
                sections.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = sections.last_mut() {
            last.push(found);
        }
    }
    sections
}

/// What a format shows of a date, if it shows one.
fn date(section: &str) -> Option<NumberFormat> {
    let (mut date, mut time, mut month) = (false, false, false);
    let mut chars = section.chars().peekable();
    while let Some(found) = chars.next() {
        match found.to_ascii_lowercase() {
            '\\' | '_' | '*' => {
                chars.next();
            }
            '"' => while chars.next().is_some_and(|next| next != '"') {},
            '[' => {
                let inside: String = chars.by_ref().take_while(|next| *next != ']').collect();
                let lower = inside.to_ascii_lowercase();
                if !lower.is_empty() && ["h", "m", "s"].iter().any(|unit| lower.replace(unit, "").is_empty()) {
                    return Some(NumberFormat::Elapsed);
                }
            }
            'y' | 'd' => date = true,
            'h' | 's' => time = true,
            'm' => month = true,
            '0' | '#' | '?' if !(date || time || month) => return None,
            // `g` and `e` too: the era of a Japanese year, but in `General` and `E+00` as well.
            _ => {}
        }
    }
    // An m alone is a month, beside hours or seconds a minute.
    date |= month && !time;
    (date || time).then_some(NumberFormat::Date { date, time })
}

impl Pattern {
    /// None where a section isn't a plain number: a fraction, an exponent.
    fn parse(section: &str) -> Option<Self> {
        let mut pattern = Self::default();
        let (mut in_decimals, mut digits_over) = (false, false);
        let mut chars = section.chars().peekable();
        while let Some(found) = chars.next() {
            match found {
                '0' | '#' | '?' => {
                    if digits_over {
                        return None;
                    }
                    pattern.has_digits = true;
                    if in_decimals {
                        pattern.decimals += 1;
                        pattern.optional = if found == '#' { pattern.optional + 1 } else { 0 };
                    }
                    // Commas behind the last digit divide, between digits they group.
                    if std::mem::take(&mut pattern.scale) > 0 {
                        pattern.has_thousands = true;
                    }
                }
                '.' if pattern.has_digits || chars.peek().is_some_and(|next| matches!(next, '0' | '#' | '?')) => {
                    in_decimals = true;
                }
                ',' if pattern.has_digits => pattern.scale += 1,
                '/' | 'E' | 'e' if pattern.has_digits => return None,
                '_' => {
                    chars.next();
                    digits_over |= pattern.has_digits;
                }
                '*' => {
                    chars.next();
                }
                '[' => {
                    let inside: String = chars.by_ref().take_while(|next| *next != ']').collect();
                    // `[$€-407]` is a currency, `[Red]` a colour, `[>100]` a condition.
                    let sign = inside.strip_prefix('$').and_then(|rest| rest.split('-').next());
                    pattern.literal(sign.unwrap_or_default(), &mut digits_over);
                    if inside.starts_with(['<', '>', '=']) {
                        return None;
                    }
                }
                '"' => {
                    let inside: String = chars.by_ref().take_while(|next| *next != '"').collect();
                    pattern.literal(&inside, &mut digits_over);
                }
                '\\' => {
                    let next = chars.next().map(String::from).unwrap_or_default();
                    pattern.literal(&next, &mut digits_over);
                }
                '%' => {
                    pattern.percent += 1;
                    pattern.literal("%", &mut digits_over);
                }
                '@' | 'G' | 'g' => return None,
                other => pattern.literal(other.encode_utf8(&mut [0; 4]), &mut digits_over),
            }
        }
        (pattern.decimals <= MAX_DECIMALS && pattern.scale < 6 && pattern.percent < 3).then_some(pattern)
    }

    fn literal(&mut self, text: &str, digits_over: &mut bool) {
        if self.has_digits {
            *digits_over |= !text.is_empty();
            self.behind.push_str(text);
        } else {
            self.before.push_str(text);
        }
    }
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
            ("General", 1.5e20, "1.5E20"),
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
            ("# ?/?", 0.5, "0.5"),
            ("0.00E+00", 1_234.0, "1234"),
            ("0;-0;\"none\"", 0.0, "none"),
            ("yyyy-mm-dd", 45_352.0, "2024-03-01"),
            ("m/d/yy h:mm", 45_352.5, "2024-03-01 12:00"),
            ("d. mmmm yyyy;@", 45_352.0, "2024-03-01"),
            ("h:mm:ss", 0.75, "18:00"),
            ("[h]:mm", 1.5, "36:00:00"),
            ("[Red]0.0", 2.0, "2.0"),
            ("[$-409]mmm-yy;@", 45_352.0, "2024-03-01"),
        ] {
            assert_eq!(NumberFormat::parse(code).show(number, false), expected, "{code} {number}");
        }
    }
}
