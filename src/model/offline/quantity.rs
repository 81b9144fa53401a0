//! Quantities in a statement: numbers with their units, brought to one unit per kind, so that "90 days" meets "3 months".

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Measure {
    /// In seconds.
    Time,
    Percent,
    /// In bytes.
    Size,
    Bits,
    Money,
    /// In degrees Celsius.
    Temperature,
    /// In metres.
    Length,
    /// In kilograms.
    Weight,
    /// Anything else is counted: characters, copies, attempts. The stem of what is counted.
    Count(String),
}

/// Whether the number is a floor, a ceiling or simply the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    AtLeast,
    AtMost,
    Exactly,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub(super) value: f64,
    pub(super) measure: Measure,
    pub(super) bound: Bound,
    /// As a person would say it: "30 days".
    pub(super) said: String,
}

impl Quantity {
    /// Months and years aren't of one length: 90 days are 3 months.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.measure == other.measure
            && (self.value - other.value).abs() <= 0.026 * self.value.abs().max(other.value.abs())
    }
}

/// The quantities of a text, in order. Numbers that name (section 3.2, version 2, TLS 1.3) aren't quantities.
pub(super) fn quantities(text: &str) -> Vec<Quantity> {
    let signs = [("%", " percent "), ("€", " eur "), ("$", " usd "), ("°C", " celsius "), ("℃", " celsius ")];
    let spelled = signs.iter().fold(text.to_owned(), |text, (sign, word)| text.replace(sign, word));
    let words: Vec<String> = super::words::words(&spelled).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if let Some((value, said)) = frequency(word) {
            found.push(Quantity { value, measure: Measure::Time, bound: Bound::Exactly, said: said.to_owned() });
            continue;
        }
        let every = at > 0 && matches!(words[at - 1].as_str(), "every" | "each" | "per" | "once");
        if every && let Some(seconds) = seconds(word) {
            found.push(Quantity {
                value: seconds,
                measure: Measure::Time,
                bound: Bound::Exactly,
                said: format!("every {word}"),
            });
            continue;
        }
        let (glued, unit_in_word) = split_glued(word);
        let Some(value) = number(glued) else { continue };
        if at > 0
            && matches!(
                words[at - 1].as_str(),
                "section"
                    | "sec"
                    | "version"
                    | "chapter"
                    | "table"
                    | "figure"
                    | "tls"
                    | "level"
                    | "part"
                    | "rfc"
                    | "clause"
                    | "annex"
                    | "article"
                    | "no"
                    | "iso"
                    | "type"
                    | "class"
                    | "phase"
                    | "step"
                    | "port"
            )
        {
            continue;
        }
        let mut unit =
            if unit_in_word.is_empty() { words.get(at + 1).map_or("", String::as_str) } else { unit_in_word };
        // "between 4 and 10 days": the range has one unit
        let joins = matches!(unit, "and" | "to" | "or") && words.get(at + 2).is_some_and(|word| number(word).is_some());
        if joins {
            unit = words.get(at + 3).map_or("", String::as_str);
        }
        let mut skipped = 0;
        while matches!(
            unit,
            "calendar"
                | "working"
                | "business"
                | "full"
                | "consecutive"
                | "more"
                | "or"
                | "different"
                | "separate"
                | "failed"
                | "independent"
        ) && skipped < 2
        {
            skipped += 1;
            unit = words.get(at + 1 + skipped).map_or("", String::as_str);
        }
        let money = at > 0 && matches!(words[at - 1].as_str(), "eur" | "usd");
        let (measure, factor) = measure(unit, money);
        let Some(measure) = measure else { continue };
        let said = match unit {
            "percent" => format!("{glued} %"),
            "celsius" => format!("{glued} °C"),
            _ => format!("{glued} {unit}"),
        };
        found.push(Quantity { value: value * factor, measure, bound: bound(&words, at), said: said.trim().to_owned() });
    }
    found
}

fn measure(unit: &str, money: bool) -> (Option<Measure>, f64) {
    if let Some(seconds) = seconds(unit) {
        return (Some(Measure::Time), seconds);
    }
    let size = |factor| (Some(Measure::Size), factor);
    match unit {
        "percent" | "per-cent" => (Some(Measure::Percent), 1.0),
        "bit" | "bits" => (Some(Measure::Bits), 1.0),
        "byte" | "bytes" | "octets" | "octet" => size(1.0),
        "kb" | "kib" | "kilobytes" => size(1e3),
        "mb" | "mib" | "megabytes" => size(1e6),
        "gb" | "gib" | "gigabytes" => size(1e9),
        "tb" | "tib" | "terabytes" => size(1e12),
        "celsius" => (Some(Measure::Temperature), 1.0),
        "m" | "metre" | "metres" | "meter" | "meters" => (Some(Measure::Length), 1.0),
        "km" | "kilometres" | "kilometers" => (Some(Measure::Length), 1e3),
        "cm" | "centimetres" | "centimeters" => (Some(Measure::Length), 0.01),
        "mm" | "millimetres" | "millimeters" => (Some(Measure::Length), 0.001),
        "kg" | "kilograms" | "kilogrammes" => (Some(Measure::Weight), 1.0),
        "g" | "grams" | "grammes" => (Some(Measure::Weight), 0.001),
        "eur" | "euro" | "euros" | "usd" | "dollars" => (Some(Measure::Money), 1.0),
        _ if money => (Some(Measure::Money), 1.0),
        "" => (None, 1.0),
        _ if super::words::is_small(unit) => (None, 1.0),
        _ => (Some(Measure::Count(super::words::meaning(unit).0)), 1.0),
    }
}

fn seconds(unit: &str) -> Option<f64> {
    const DAY: f64 = 86_400.0;
    Some(match unit {
        "second" | "seconds" | "s" | "sec" => 1.0,
        "millisecond" | "milliseconds" | "ms" => 0.001,
        "minute" | "minutes" | "min" | "mins" => 60.0,
        "hour" | "hours" | "h" => 3_600.0,
        "day" | "days" => DAY,
        "week" | "weeks" => 7.0 * DAY,
        "month" | "months" => 365.25 / 12.0 * DAY,
        "quarter" | "quarters" => 365.25 / 4.0 * DAY,
        "year" | "years" => 365.25 * DAY,
        _ => return None,
    })
}

/// "annually": once a year.
fn frequency(word: &str) -> Option<(f64, &'static str)> {
    let (unit, said) = match word {
        "hourly" => ("hour", "hourly"),
        "daily" | "nightly" => ("day", "daily"),
        "weekly" => ("week", "weekly"),
        "monthly" => ("month", "monthly"),
        "quarterly" => ("quarter", "quarterly"),
        "annually" | "yearly" | "annual" => ("year", "annually"),
        _ => return None,
    };
    seconds(unit).map(|seconds| (seconds, said))
}

/// "30s", "16mb", "90-day"
fn split_glued(word: &str) -> (&str, &str) {
    let end = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(word.len());
    if end > 0 {
        return (&word[..end], word[end..].trim_start_matches('-'));
    }
    match word.split_once('-') {
        Some((left, right)) if number(left).is_some() && seconds(right).is_some() => (left, right),
        Some(_) | None => (word, ""),
    }
}

fn number(word: &str) -> Option<f64> {
    const SPELLED: &[&str] = &[
        "zero",
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
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    if let Some(at) = SPELLED.iter().position(|spelled| *spelled == word) {
        return u8::try_from(at).ok().map(f64::from);
    }
    Some(match word {
        "thirty" => 30.0,
        "forty" => 40.0,
        "fifty" => 50.0,
        "sixty" => 60.0,
        "ninety" => 90.0,
        "hundred" => 100.0,
        _ => {
            return word
                .parse()
                .ok()
                .filter(|value: &f64| value.is_finite() && word.starts_with(|c: char| c.is_ascii_digit()));
        }
    })
}

fn bound(words: &[String], at: usize) -> Bound {
    let before = |back: usize| at.checked_sub(back).map_or("", |i| words[i].as_str());
    let after = |ahead: usize| words.get(at + ahead).map_or("", String::as_str);
    let pair = (before(2), before(1));
    // "between 4 °C and 10 °C": a floor and a ceiling
    if before(1) == "between" {
        return Bound::AtLeast;
    }
    if before(1) == "and" && (before(3) == "between" || before(4) == "between") {
        return Bound::AtMost;
    }
    if matches!(pair, ("at", "least") | ("less", "than") if before(3) == "not" || before(3) == "no" || pair.1 == "least")
        || matches!(pair, ("fewer", "than") if before(3) == "no")
        || matches!(pair, ("minimum", "of"))
        || before(1) == "minimum"
        || (after(1) == "or" && after(2) == "more")
        || (after(2) == "or" && matches!(after(3), "more" | "longer"))
    {
        return Bound::AtLeast;
    }
    if matches!(before(1), "within" | "maximum")
        || matches!(pair, ("at", "most") | ("up", "to") | ("maximum", "of"))
        || (matches!(pair, ("more" | "later" | "longer", "than")) && matches!(before(3), "no" | "not"))
        || (after(2) == "or" && matches!(after(3), "less" | "fewer"))
    {
        return Bound::AtMost;
    }
    Bound::Exactly
}
