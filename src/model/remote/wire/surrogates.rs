//! JSON as servers write it where a letter beyond the first 65,536 was cut in two: its halves, escaped, stand in two pieces of
//! a reply, or one of them stands alone. No text of ours can hold a half, and no parser takes one: while a reply comes, a sign of
//! private use stands for it; when the reply is whole, two halves that have met are the letter, and a half alone is U+FFFD.

use serde_json::Value;
use std::ops::RangeInclusive;

/// Stands for the first half, U+D800; the others follow. Unicode gives these signs to nobody.
const FIRST_MARK: u32 = 0x10_F000;
const HALVES: RangeInclusive<u32> = 0xD800..=0xDFFF;
/// How the marks begin in UTF-8.
const MARK_BYTES: &[u8] = b"\xF4\x8F";
/// Bytes of `\ud83c`.
const ESCAPE: usize = 6;

/// Reads JSON that may be a piece of a reply: halves that stand alone are marked for [`join`].
pub fn read(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| match marked(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// Reads JSON that is whole.
pub fn read_whole(text: &str) -> serde_json::Result<Value> {
    let mut value = read(text)?;
    join_in_value(&mut value);
    Ok(value)
}

/// The text with marks in place of escaped halves that stand alone; `None` where there is none.
fn marked(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut written: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let place = at + found;
        at = match (half(&bytes[place..]), half(bytes.get(place + ESCAPE..).unwrap_or_default())) {
            // A whole letter.
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => place + 2 * ESCAPE,
            (Some(half), _) => {
                let written = written.get_or_insert_default();
                written.push_str(&text[copied..place]);
                written.extend(char::from_u32(FIRST_MARK + half - HALVES.start()));
                copied = place + ESCAPE;
                copied
            }
            // The letter behind the backslash belongs to it.
            (None, _) => (place + 2).min(bytes.len()),
        };
    }
    written.map(|written| written + &text[copied..])
}

/// The half that the text begins with, escaped.
fn half(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    HALVES.contains(&code).then_some(code)
}

/// Puts marked halves together.
pub fn join(text: &mut String) {
    if memchr::memmem::find(text.as_bytes(), MARK_BYTES).is_none() {
        return;
    }
    let half = |mark: char| u32::from(mark).checked_sub(FIRST_MARK).map(|place| HALVES.start() + place);
    let half = |mark: char| half(mark).filter(|code| HALVES.contains(code)).and_then(|code| u16::try_from(code).ok());
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match half(letter) {
            Some(unit) => units.push(unit),
            None => units.extend_from_slice(letter.encode_utf16(&mut [0; 2])),
        }
    }
    *text = String::from_utf16_lossy(&units);
}

/// As [`join`], in all texts of a value.
pub fn join_in_value(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => join(text),
        Value::Array(items) => items.iter_mut().for_each(join_in_value),
        Value::Object(fields) => fields.values_mut().for_each(join_in_value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn halves_are_joined_and_a_half_alone_is_marked() {
        for (texts, expected) in [
            (&[r#""a\ud83c""#, r#""\udf50b""#][..], "a🍐b"),
            (&[r#""\uD83C\uDF50 \ud83c""#, r#""\uDF50""#], "🍐 🍐"),
            (&[r#""a\ud83c b""#], "a\u{fffd} b"),
            (&[r#""\udf50\ud83c""#], "\u{fffd}\u{fffd}"),
            (&[r#""\ud83c""#, r#""\ud83c\udf50""#], "\u{fffd}🍐"),
            // No escape: a backslash, and letters behind it.
            (&[r#""\\ud83c \ud83c""#], "\\ud83c \u{fffd}"),
            (&[r#""\ud83c""#, r#""é""#], "\u{fffd}é"),
        ] {
            let mut text: String = texts.iter().map(|text| read(text).unwrap().as_str().unwrap().to_owned()).collect();
            join(&mut text);
            assert_eq!(text, expected, "{texts:?}");
        }
        assert_eq!(read_whole(r#"{"a":["\ud83c\udf50\ud83c"]}"#).unwrap(), json!({"a": ["🍐\u{fffd}"]}));
        assert!(["\"\\", "\"\\u", "\"\\ud8", "\\", "{\"\\ud83c\""].iter().all(|torn| read(torn).is_err()));
    }

    proptest::proptest! {
        #[test]
        fn any_units_are_what_utf_16_makes_of_them(units: Vec<u16>, cut: proptest::sample::Index) {
            let marks = FIRST_MARK..=FIRST_MARK + HALVES.end() - HALVES.start();
            // What nobody writes is not told from a mark.
            proptest::prop_assume!(!String::from_utf16_lossy(&units).chars().any(|it| marks.contains(&u32::from(it))));
            let (one, two) = units.split_at(cut.index(units.len() + 1));
            let escaped = |units: &[u16]| {
                let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("\"{}\"", escapes.concat())
            };
            let mut text: String =
                [one, two].map(|units| read(&escaped(units)).unwrap().as_str().unwrap().to_owned()).concat();
            join(&mut text);
            proptest::prop_assert_eq!(text, String::from_utf16_lossy(&units));
        }
    }
}
