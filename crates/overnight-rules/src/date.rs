//! Dates as people write them: `2024-05-03`, `3. Mai 2024`, `May 3rd, 2024`, `le 3 mai 2024`, `03.05.2024`, `3/5/24`.
//!
//! With slashes or hyphens, day and month come in either order: such a date has two readings, unless one of them is not
//! a date. The document's other dates may show which order it has ([`day_order`]). With points, the day comes first.

use chrono::{Datelike, NaiveDate};
use regex::{Captures, Regex};
use std::{collections::HashMap, ops::Range, sync::LazyLock};
use unicode_normalization::UnicodeNormalization;

/// Names of months and their abbreviations, without accents, from January on: English, German, French, Spanish,
/// Italian, Dutch, Portuguese.
const MONTHS: [&str; 12] = [
    "january jan januar janner janvier janv enero ene gennaio gen januari janeiro",
    "february feb februar feber fevrier fevr fev febrero febbraio februari fevereiro",
    "march mar marz mrz maerz mars marzo maart mrt marco",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag mei maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug aout agosto ago augustus",
    "september sep sept septembre septiembre set settembre setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez decembre diciembre dic dicembre dezembro",
];

static MONTH_NAMES: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    (1..).zip(MONTHS).flat_map(|(number, names)| names.split(' ').map(move |name| (name, number))).collect()
});

struct Patterns {
    year_first: Regex,
    numeric: Regex,
    day_name: Regex,
    name_day: Regex,
    name_year: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        year_first: Regex::new(r"\b(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})(?:T[\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?\b").ok()?,
        numeric: Regex::new(r"\b(\d{1,2})([-/.])\s?(\d{1,2})([-/.])\s?(\d{4}|\d{2})\b").ok()?,
        day_name: Regex::new(
            r"\b(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?[\s-]*(?:de |of |day of )?(\p{L}{3,12})\.?,?[\s-]*(?:de |del |of )?(\d{4}|['’]?\d{2})\b",
        )
        .ok()?,
        name_day: Regex::new(r"\b(\p{L}{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b").ok()?,
        name_year: Regex::new(r"\b(\p{L}{3,12})\.?,?\s+(?:de |of )?(\d{4})\b").ok()?,
    })
});

/// Whether the day or the month comes first where both are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayOrder {
    /// 3/5 is in May.
    DayFirst,
    /// 3/5 is in March.
    MonthFirst,
}

/// A date in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenDate {
    /// The date if the day comes first.
    pub day_first: Option<NaiveDate>,
    /// The date if the month comes first. Both are equal where there is no doubt; at least one is present.
    pub month_first: Option<NaiveDate>,
    /// The bytes of the date in the text.
    pub range: Range<usize>,
}

impl WrittenDate {
    /// The date, if only one can be meant.
    pub fn only(&self) -> Option<NaiveDate> {
        match (self.day_first, self.month_first) {
            (Some(one), Some(other)) if one != other => None,
            (one, other) => one.or(other),
        }
    }

    /// The date if read in this order; where only one reading exists, that one.
    pub fn read(&self, order: DayOrder) -> Option<NaiveDate> {
        match order {
            DayOrder::DayFirst => self.day_first.or(self.month_first),
            DayOrder::MonthFirst => self.month_first.or(self.day_first),
        }
    }

    /// Whether one of the readings is `date`.
    pub fn may_be(&self, date: NaiveDate) -> bool {
        [self.day_first, self.month_first].contains(&Some(date))
    }
}

fn year(text: &str) -> Option<i32> {
    let digits = text.trim_start_matches(['\'', '’']);
    let number: i32 = digits.parse().ok()?;
    // Years of two digits are expanded as POSIX does it.
    Some(match (digits.len(), number) {
        (2, 0..=68) => 2000 + number,
        (2, _) => 1900 + number,
        _ => number,
    })
}

fn month(name: &str) -> Option<u32> {
    let plain: String = name.nfkd().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    MONTH_NAMES.get(plain.as_str()).copied()
}

/// All dates in a text, in the order of the text.
pub fn dates_in(text: &str) -> Vec<WrittenDate> {
    let Some(patterns) = PATTERNS.as_ref() else { return Vec::new() };
    let mut found: Vec<WrittenDate> = Vec::new();
    let mut take = |pattern: &Regex, read: &dyn Fn(&Captures<'_>) -> [Option<NaiveDate>; 2]| {
        for captures in pattern.captures_iter(text) {
            let range = captures.get(0).map_or(0..0, |all| all.range());
            let [day_first, month_first] = read(&captures);
            let is_new = found.iter().all(|other| other.range.end <= range.start || range.end <= other.range.start);
            if is_new && (day_first.is_some() || month_first.is_some()) {
                found.push(WrittenDate { day_first, month_first, range });
            }
        }
    };
    let number = |captures: &Captures<'_>, at: usize| captures[at].parse::<u32>().ok();
    take(&patterns.year_first, &|c| {
        let date = || NaiveDate::from_ymd_opt(year(&c[1])?, number(c, 3)?, number(c, 5)?);
        [Some(()).filter(|()| c[2] == c[4]).and_then(|()| date()); 2]
    });
    take(&patterns.numeric, &|c| {
        if c[2] != c[4] {
            return [None; 2];
        }
        let date = |day: usize, month: usize| NaiveDate::from_ymd_opt(year(&c[5])?, number(c, month)?, number(c, day)?);
        match &c[2] {
            "." => [date(1, 3); 2],
            _ => [date(1, 3), date(3, 1)],
        }
    });
    take(&patterns.day_name, &|c| [(|| NaiveDate::from_ymd_opt(year(&c[3])?, month(&c[2])?, number(c, 1)?))(); 2]);
    take(&patterns.name_day, &|c| [(|| NaiveDate::from_ymd_opt(year(&c[3])?, month(&c[1])?, number(c, 2)?))(); 2]);
    found.sort_by_key(|date| date.range.start);
    found
}

/// Whether a text names the month of a date, without its day: `May 2024`.
pub fn names_month_of(text: &str, date: NaiveDate) -> bool {
    PATTERNS.as_ref().is_some_and(|patterns| {
        patterns
            .name_year
            .captures_iter(text)
            .any(|c| month(&c[1]) == Some(date.month()) && year(&c[2]) == Some(date.year()))
    })
}

/// The day order that the dates of a text show; none where they show no order, or contradict each other.
pub fn day_order(text: &str) -> Option<DayOrder> {
    let (mut day_first, mut month_first) = (false, false);
    let patterns = PATTERNS.as_ref()?;
    for c in patterns.numeric.captures_iter(text).filter(|c| c[2] == c[4] && &c[2] != ".") {
        let over = |at: usize| c[at].parse::<u32>().is_ok_and(|number| (13..=31).contains(&number));
        let is_month = |at: usize| c[at].parse::<u32>().is_ok_and(|number| (1..=12).contains(&number));
        day_first |= over(1) && is_month(3);
        month_first |= over(3) && is_month(1);
    }
    match (day_first, month_first) {
        (true, false) => Some(DayOrder::DayFirst),
        (false, true) => Some(DayOrder::MonthFirst),
        (true, true) | (false, false) => None,
    }
}

/// Reads a text that has exactly one date. The error is a fragment that follows the text: what the text is instead.
pub fn date(text: &str) -> Result<NaiveDate, String> {
    match &dates_in(text)[..] {
        [] => Err("is no date".to_owned()),
        [date] => date.only().ok_or_else(|| match (date.day_first, date.month_first) {
            (Some(one), Some(other)) => format!("may be {one} or {other}; write it as {one}"),
            (_, _) => "is no date".to_owned(),
        }),
        [_, ..] => Err("has more than one date".to_owned()),
    }
}

/// The date, if the text consists of nothing else.
pub fn is_date(text: &str) -> Option<WrittenDate> {
    let text = text.trim();
    let mut dates = dates_in(text);
    let only = dates.pop().filter(|_| dates.is_empty())?;
    (only.range == (0..text.len())).then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ymd(year: i32, month: u32, day: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(year, month, day).unwrap()
    }

    #[test]
    fn usual_forms() {
        for text in [
            "2024-05-03",
            "2024-05-03T10:00:00Z",
            "3. Mai 2024",
            "03.05.2024",
            "3.5.24",
            "May 3, 2024",
            "May 3rd, 2024",
            "3rd of May 2024",
            "le 3 mai 2024",
            "3 de mayo de 2024",
            "3 maggio 2024",
            "3-May-2024",
            "the 3rd day of May, 2024",
            "3 mei 2024",
        ] {
            assert_eq!(date(text), Ok(ymd(2024, 5, 3)), "{text}");
        }
        assert_eq!(date("1er août 2023"), Ok(ymd(2023, 8, 1)));
        assert_eq!(date("31. März 2024"), Ok(ymd(2024, 3, 31)));
        assert_eq!(date("13/05/2024"), Ok(ymd(2024, 5, 13)));
        assert_eq!(date("05/13/2024"), Ok(ymd(2024, 5, 13)));
        let ambiguous = date("03/04/2024").unwrap_err();
        assert_eq!(ambiguous, "may be 2024-04-03 or 2024-03-04; write it as 2024-04-03");
        for text in ["2031-02-31", "soon", "1.2.3", "31/31/2024", "12 apples 2024"] {
            assert_eq!(date(text), Err("is no date".to_owned()), "{text}");
        }
        assert_eq!(date("from 2024-05-03 to 2024-05-04"), Err("has more than one date".to_owned()));
    }

    #[test]
    fn other_dates_tell_the_order() {
        assert_eq!(day_order("due 03/04/2024, paid 25/04/2024"), Some(DayOrder::DayFirst));
        assert_eq!(day_order("due 03/04/2024, paid 04/25/2024"), Some(DayOrder::MonthFirst));
        assert_eq!(day_order("due 03/04/2024"), None);
        assert_eq!(day_order("25/04/2024 and 04/25/2024"), None);
        assert_eq!(is_date("3. Mai 2024").and_then(|date| date.only()), Some(ymd(2024, 5, 3)));
        assert_eq!(is_date("signed 3. Mai 2024"), None);
        assert!(names_month_of("in May 2024", ymd(2024, 5, 1)) && !names_month_of("in May 2023", ymd(2024, 5, 1)));
    }

    proptest::proptest! {
        #[test]
        fn hostile_texts_have_dates_or_none(text in "\\PC{0,60}|[0-9./ -]{0,40}") {
            for found in dates_in(&text) {
                assert!(text.get(found.range).is_some());
            }
        }
    }
}
