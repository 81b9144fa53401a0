//! Amounts as people write them: `20M` tokens, `1h30m` of work. Front matter, `overnight.yaml`, environment variables
//! and flags all read them here, so that the same spelling works everywhere.

/// The reason why a text is not an amount: a phrase that follows the amount's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not a count; holds the text, shortened.
    #[error("must be a whole number such as 500k, 20M or 20000000, not '{0}'")]
    Count(String),
    /// Not a duration; holds the text, shortened.
    #[error("must be a duration with its unit, such as 30m, 8h or 1h30m, not '{0}'")]
    Duration(String),
}

/// Reads a count: `20000000`, `20_000_000`, `500k`, `1.5M`, `2G` (decimal multiples).
pub fn count(text: &str) -> Result<u64, AmountError> {
    let wrong = || AmountError::Count(shown(text));
    let trimmed: String = text.trim().chars().filter(|c| *c != '_').collect();
    let (digits, zeros) = match trimmed.chars().last() {
        Some('k' | 'K') => (trimmed.get(..trimmed.len() - 1).unwrap_or(""), 3),
        Some('m' | 'M') => (trimmed.get(..trimmed.len() - 1).unwrap_or(""), 6),
        Some('g' | 'G') => (trimmed.get(..trimmed.len() - 1).unwrap_or(""), 9),
        Some(_) | None => (trimmed.as_str(), 0),
    };
    // Exact decimal arithmetic on the digits: a float would turn 1.1G into something else.
    let (whole, fraction) = digits.trim_end().split_once('.').unwrap_or((digits.trim_end(), ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.is_empty() || fraction.len() > zeros || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
    {
        return Err(wrong());
    }
    format!("{whole}{fraction}{}", "0".repeat(zeros - fraction.len())).parse().map_err(|_| wrong())
}

/// Reads a duration with its unit (`30m`, `8h`, `1h30m`, `2days`), in milliseconds.
pub fn duration_ms(text: &str) -> Result<u64, AmountError> {
    let wrong = || AmountError::Duration(shown(text));
    let duration = humantime::parse_duration(text.trim()).map_err(|_| wrong())?;
    u64::try_from(duration.as_millis()).map_err(|_| wrong())
}

/// A number with a comma before each three digits: `11,900`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether a number is 0; such fields are left out of stored forms.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The words for a cost where no price is known.
pub const COST_UNKNOWN: &str = "cost unknown";

/// A cost for people: `0.12 USD`, or [`COST_UNKNOWN`].
pub fn cost(usd: Option<f64>) -> String {
    usd.map_or_else(|| COST_UNKNOWN.to_owned(), |usd| format!("{usd:.2} USD"))
}

/// The total cost of several items, of which `known_usd` is known: `0.12 USD`, `more than 0.12 USD`, [`COST_UNKNOWN`].
pub fn cost_of_all(known_usd: f64, is_all_known: bool) -> String {
    if is_all_known || known_usd == 0.0 {
        return cost(is_all_known.then_some(known_usd));
    }
    format!("more than {known_usd:.2} USD")
}

/// A number with its noun: `1 turn`, `2 turns`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// `text` as it can stand in a one-line message: control characters as blanks, at most 60 characters.
pub fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// A share from 0 to 1 as whole percent, never more than was reached: `99 %` of 0.999.
pub fn percent(share: f64) -> String {
    // 0.29 times 100 is a little less than 29 in binary fractions.
    format!("{:.0} %", (share * 100.0 + 1e-9).floor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hundred_percent_is_only_said_of_all() {
        assert_eq!([percent(0.999), percent(1.0), percent(0.29)], ["99 %", "100 %", "29 %"].map(str::to_owned));
    }

    #[test]
    fn a_cost_says_what_is_not_known_of_it() {
        let told = [(0.0, true), (1.5, true), (1.5, false), (0.0, false)].map(|(usd, known)| cost_of_all(usd, known));
        assert_eq!(told, ["0.00 USD", "1.50 USD", "more than 1.50 USD", "cost unknown"]);
    }

    #[test]
    fn digits_stand_in_groups() {
        assert_eq!([0, 999, 1_000, 11_900, 1_234_567].map(grouped), ["0", "999", "1,000", "11,900", "1,234,567"]);
    }

    #[test]
    fn counts() {
        for (text, expected) in [
            ("20M", 20_000_000),
            ("500k", 500_000),
            ("20000000", 20_000_000),
            ("20_000_000", 20_000_000),
            ("1.5M", 1_500_000),
            ("1.1G", 1_100_000_000),
            (" 7 ", 7),
            ("2.0k", 2_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "20MB", "-1", "1.5", "1.2345k", "99999999999999999999", "20000000000000G", ".5M", "1e6"] {
            let expected = format!("must be a whole number such as 500k, 20M or 20000000, not '{text}'");
            assert_eq!(count(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn durations() {
        for (text, expected) in [("30m", 1_800_000), ("8h", 28_800_000), ("1h30m", 5_400_000), ("90s", 90_000)] {
            assert_eq!(duration_ms(text), Ok(expected), "{text}");
        }
        for text in ["", "8", "8 hours and more", "-3h", "99999999999999999999h", "18446744073709551615y"] {
            let expected = format!("must be a duration with its unit, such as 30m, 8h or 1h30m, not '{text}'");
            assert_eq!(duration_ms(text).unwrap_err().to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn hostile_amounts_are_values_or_errors(text in "\\PC{0,40}|[0-9._kMG]{0,40}") {
            let _ = count(&text);
            let _ = duration_ms(&text);
        }
    }
}
