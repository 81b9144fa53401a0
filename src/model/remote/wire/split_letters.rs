//! JSON in which a server has split a letter: the two escaped halves of one beyond the first 65,536, or the UTF-8 bytes
//! of any letter, are in two pieces of a reply, or a part stands alone. A Rust string can't hold a part, and no parser
//! accepts one: while a reply arrives, private-use characters stand for the parts; when it is complete, parts that have
//! met become the letter, and those left alone become U+FFFD.

use serde_json::Value;
use std::{borrow::Cow, ops::RangeInclusive};

/// Stands for the first half, U+D800; the others follow. Unicode assigns these characters to nobody.
const FIRST_MARK: u32 = 0x10_F000;
/// Stands for the byte 0 of an incomplete letter; the others follow.
const FIRST_BYTE_MARK: u32 = 0x10_F800;
const HALVES: RangeInclusive<u32> = 0xD800..=0xDFFF;
/// The first bytes of the marks in UTF-8.
const MARK_BYTES: &[u8] = b"\xF4\x8F";
/// Bytes of `\ud83c`.
const ESCAPE: usize = 6;

/// Bytes of a reply as text: those that are no letter are marked for [`join`].
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(FIRST_BYTE_MARK + u32::from(*byte))));
    }
    Cow::Owned(text)
}

/// Reads JSON that may be a piece of a reply: halves that stand alone are marked for [`join`].
pub fn read(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| match marked(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// Reads complete JSON.
pub fn read_whole(text: &str) -> serde_json::Result<Value> {
    let mut value = read(text)?;
    join_in_value(&mut value);
    Ok(value)
}

/// The text with marks in place of escaped halves without a partner; `None` if there are none.
fn marked(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut written: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let place = at + found;
        at = match (half(&bytes[place..]), half(bytes.get(place + ESCAPE..).unwrap_or_default())) {
            // A complete letter.
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => place + 2 * ESCAPE,
            (Some(half), _) => {
                let written = written.get_or_insert_default();
                written.push_str(&text[copied..place]);
                written.extend(char::from_u32(FIRST_MARK + half - HALVES.start()));
                copied = place + ESCAPE;
                copied
            }
            // The letter after the backslash belongs to it.
            (None, _) => (place + 2).min(bytes.len()),
        };
    }
    written.map(|written| written + &text[copied..])
}

/// The escaped half with which the text begins.
fn half(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    HALVES.contains(&code).then_some(code)
}

/// Joins marked halves and bytes into letters.
pub fn join(text: &mut String) {
    if memchr::memmem::find(text.as_bytes(), MARK_BYTES).is_none() {
        return;
    }
    let half = |mark: char| u32::from(mark).checked_sub(FIRST_MARK).map(|place| HALVES.start() + place);
    let half = |mark: char| half(mark).filter(|code| HALVES.contains(code)).and_then(|code| u16::try_from(code).ok());
    let byte = |mark: char| u32::from(mark).checked_sub(FIRST_BYTE_MARK).and_then(|byte| u8::try_from(byte).ok());
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut bytes: Vec<u8> = Vec::new();
    for letter in text.chars() {
        if let Some(byte) = byte(letter) {
            bytes.push(byte);
            continue;
        }
        units.extend(String::from_utf8_lossy(&bytes).encode_utf16());
        bytes.clear();
        match half(letter) {
            Some(unit) => units.push(unit),
            None => units.extend_from_slice(letter.encode_utf16(&mut [0; 2])),
        }
    }
    units.extend(String::from_utf8_lossy(&bytes).encode_utf16());
    *text = String::from_utf16_lossy(&units);
}

/// As [`join`], for all texts of a value.
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
    use proptest::strategy::Strategy as _;
    use serde_json::json;

    #[test]
    fn halves_are_joined_and_a_half_alone_is_marked() {
        for (texts, expected) in [
            (&[r#""a\ud83c""#, r#""\udf50b""#][..], "a🍐b"),
            (&[r#""\uD83C\uDF50 \ud83c""#, r#""\uDF50""#], "🍐 🍐"),
            (&[r#""a\ud83c b""#], "a\u{fffd} b"),
            (&[r#""\udf50\ud83c""#], "\u{fffd}\u{fffd}"),
            (&[r#""\ud83c""#, r#""\ud83c\udf50""#], "\u{fffd}🍐"),
            // Not an escape: a backslash, and letters after it.
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
        fn any_cut_bytes_are_what_utf_8_makes_of_them(
            bytes in proptest::prop_oneof![proptest::prelude::any::<Vec<u8>>(), "\\PC*".prop_map(String::into_bytes)],
            cut: proptest::sample::Index,
        ) {
            let marks = FIRST_MARK..=FIRST_BYTE_MARK + 0xFF;
            proptest::prop_assume!(!String::from_utf8_lossy(&bytes).chars().any(|it| marks.contains(&u32::from(it))));
            let (one, two) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut text = format!("{}{}", super::text(one), super::text(two));
            join(&mut text);
            proptest::prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn any_units_are_what_utf_16_makes_of_them(units: Vec<u16>, cut: proptest::sample::Index) {
            let marks = FIRST_MARK..=FIRST_MARK + HALVES.end() - HALVES.start();
            // Such characters, which no real text has, can't be told from marks.
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
