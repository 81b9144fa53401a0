//! JSON as models write it: where a value ends, and two slips that leave no doubt about the meaning: a comma before a
//! closing bracket, and unescaped line breaks in a string. A truncated value is never completed.

use super::thinking;
use crate::model::remote::wire::split_letters;
use serde_json::Value;

/// The length of the object or array that `text` begins with; `None` where it begins with neither or doesn't end.
pub(super) fn extent(text: &str) -> Option<usize> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut levels = 0_usize;
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if is_quoted {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => is_quoted = true,
            b'{' | b'[' => levels += 1,
            b'}' | b']' => {
                levels -= 1;
                if levels == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Reads an entire text as JSON.
pub(super) fn read(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = split_letters::read_whole(text) {
        return Some(value);
    }
    // Complete values only: a value that is still open at the end was cut off.
    split_letters::read_whole(&corrected(text)).ok().filter(|_| extent(text) == Some(text.len()))
}

/// The text without commas before closing brackets, and with control characters in strings escaped.
fn corrected(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 16);
    let mut is_quoted = false;
    let mut is_escaped = false;
    // The place of the last comma, if only white space has followed it.
    let mut comma: Option<usize> = None;
    for character in text.chars() {
        if is_quoted {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => is_quoted = false,
                _ => {}
            }
            match character {
                '\n' => written.push_str("\\n"),
                '\r' => written.push_str("\\r"),
                '\t' => written.push_str("\\t"),
                _ => written.push(character),
            }
            continue;
        }
        match character {
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    written.replace_range(at..=at, " ");
                }
            }
            ',' => comma = Some(written.len()),
            ' ' | '\n' | '\r' | '\t' => {}
            '"' => {
                is_quoted = true;
                comma = None;
            }
            _ => comma = None,
        }
        written.push(character);
    }
    written
}

/// The object that a text holds: plain, in a fence, as the only element of a list, written twice, or surrounded by a
/// template's own marks.
pub(super) fn object(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = thinking::without(text).unwrap_or(text);
    let text =
        text.rsplit_once("<|").filter(|(_, mark)| mark.ends_with("|>")).map_or(text, |(before, _)| before.trim());
    let fenced = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.map_or(text, |inner| inner.trim_start_matches(|char: char| char.is_ascii_alphanumeric()));
    match read(inner) {
        Some(Value::Array(items)) => <[Value; 1]>::try_from(items).ok().map(|[only]| only).filter(Value::is_object),
        Some(value) => Some(value).filter(Value::is_object),
        None => twice(inner.trim()),
    }
}

/// The object that a text consists of, if it is written twice.
fn twice(text: &str) -> Option<Value> {
    let (one, other) = text.split_at_checked(extent(text)?)?;
    let (one, other) = (read(one)?, read(other)?);
    (one == other && one.is_object()).then_some(one)
}
