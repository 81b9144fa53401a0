//! From the text of a window to the window.

use super::{DAY_MINUTES, Window, WindowSpan};
use crate::batch::zone::zone;

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A day's name in canonical text.
const SHORT: usize = 3;

/// The maximum length of a text, and the maximum number of a window's parts.
const LONGEST: usize = 1000;
const MOST_SPANS: usize = 20;

/// Letters at most that are quoted of a word that can't be read.
const SHOWN: usize = 40;

const ALLOWED: &str = "write 22:00-06:00 Europe/Berlin, or Mon-Fri 22:00-06:00 Europe/Berlin";

pub(super) fn window(text: &str) -> Result<Window, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("the window is empty: {ALLOWED}"));
    }
    if text.len() > LONGEST {
        return Err(format!("the window is longer than {LONGEST} letters: {ALLOWED}"));
    }
    // A `;` at the end is no mistake.
    let parts: Vec<&str> = text.strip_suffix(';').unwrap_or(text).split(';').collect();
    if parts.len() > MOST_SPANS {
        return Err(format!("the window has {} spans, and may have {MOST_SPANS}", parts.len()));
    }
    let spans = parts.into_iter().map(span).collect::<Result<Vec<WindowSpan>, String>>()?;
    Ok(Window { spans })
}

fn span(text: &str) -> Result<WindowSpan, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    // Days may be apart (Sat, Sun); the times are the first word that begins with a digit.
    let is_times = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let Some(place) = words.iter().position(is_times) else {
        return Err(format!("the window '{}' has no times: {ALLOWED}", shown(text)));
    };
    let (days, rest) = words.split_at(place);
    let days = read_days(&days.concat())?;
    let [times, zones @ ..] = rest else {
        return Err(format!("the window '{}' has no times: {ALLOWED}", shown(text)));
    };
    let (from, to) = read_times(times)?;
    let zone = match zones {
        [] => {
            return Err(format!(
                "the window '{}' has no time zone: add one, such as {} Europe/Berlin or {} UTC",
                shown(text),
                shown(text),
                shown(text)
            ));
        }
        names => zone(&names.join(" ")).map_err(|error| error.to_string())?,
    };
    Ok(WindowSpan { days, from, to, zone })
}

fn read_times(text: &str) -> Result<(u16, u16), String> {
    let wrong = || format!("'{}' is not from one time to another: write 22:00-06:00", shown(text));
    let (from, to) = text.split_once(['-', '–']).ok_or_else(wrong)?;
    let (from, to) = (read_time(from).ok_or_else(wrong)?, read_time(to).ok_or_else(wrong)?);
    if from == to {
        return Err(format!("'{}' ends when it begins: the whole day is 00:00-24:00", shown(text)));
    }
    if from == DAY_MINUTES {
        return Err(format!("'{}' begins when the day is over: write 00:00 for midnight", shown(text)));
    }
    // 22:00-00:00 ends with the day.
    Ok((from, if to < from { to + DAY_MINUTES } else { to }))
}

/// Minutes since midnight; 24:00 too.
fn read_time(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let is_number = |digits: &str, lengths: &[usize]| {
        lengths.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(hour, &[1, 2]) || !is_number(minute, &[2]) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let minutes = hour * 60 + minute;
    (minute < 60 && minutes <= DAY_MINUTES).then_some(minutes)
}

/// Each day, where none is named.
fn read_days(text: &str) -> Result<[bool; 7], String> {
    if text.is_empty() {
        return Ok([true; 7]);
    }
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = match part.split_once(['-', '–']) {
            Some((first, last)) => (day(first)?, day(last)?),
            None => (day(part)?, day(part)?),
        };
        // From Friday to Monday goes over the week's end.
        let count = (last + 7 - first) % 7;
        for passed in 0..=count {
            if let Some(day) = days.get_mut((first + passed) % 7) {
                *day = true;
            }
        }
    }
    Ok(days)
}

/// A day's number, Monday's first: by its name, or the beginning of it, three letters at least.
fn day(word: &str) -> Result<usize, String> {
    let plain = word.to_lowercase();
    let is_meant = |day: &&str| plain.len() >= SHORT && day.to_lowercase().starts_with(&plain);
    DAYS.iter()
        .position(is_meant)
        .ok_or_else(|| format!("'{}' is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun", shown(word)))
}

/// `Mon,Wed-Fri`.
pub(super) fn days(days: [bool; 7]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for day in (0..7).filter(|day| days.get(*day) == Some(&true)) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == day => *last = day,
            _ => runs.push((day, day)),
        }
    }
    let name = |day: usize| DAYS.get(day).and_then(|day| day.get(..SHORT)).unwrap_or_default();
    let run = |(first, last): (usize, usize)| match last - first {
        0 => name(first).to_owned(),
        1 => format!("{},{}", name(first), name(last)),
        _ => format!("{}-{}", name(first), name(last)),
    };
    runs.into_iter().map(run).collect::<Vec<String>>().join(",")
}

fn shown(text: &str) -> String {
    let text = text.trim();
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() { format!("{shown}…") } else { shown }
}
