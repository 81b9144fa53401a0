//! Bytes → characters. Nobody tells us a document's encoding reliably, so: its byte order mark; else UTF-8 if it is valid;
//! else UTF-16 if every other byte is zero; else what an HTML page declares; else a guess from letter frequencies, as
//! browsers make it. Whatever isn't plain UTF-8 is said in a note, because a wrong guess changes words.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::refusal::Refusal;

/// A document's characters.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) notes: Vec<String>,
}

/// How many bytes the tests for UTF-16 and for an HTML page's own declaration look at.
const HEAD_BYTES: usize = 4096;
/// How much a guess is made from, and how much of it lies before the first byte that isn't ASCII.
const GUESS_BYTES: usize = 1 << 20;
const GUESS_BEFORE: usize = 64;
/// More control characters than one in this many bytes is not text.
const CONTROLS_ONE_IN: usize = 20;

/// Decodes `bytes`. `declared` is the label that the document itself gives, if any; it is believed only where the bytes
/// don't show better.
pub(super) fn decode<'a>(bytes: &'a [u8], declared: Option<&str>) -> Result<Decoded<'a>, Refusal> {
    if bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Err(binary("it may be UTF-32, which is not read"));
    }
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let why = if encoding == UTF_8 { None } else { Some("by its byte order mark") };
        return read_as(encoding, &bytes[mark..], why);
    }
    if let Some(encoding) = utf_16_without_mark(bytes) {
        return read_as(encoding, bytes, Some("by its zero bytes"));
    }
    refuse_binary(bytes)?;
    let utf_8 = mostly_utf_8(bytes);
    if utf_8 && !looks_like_iso_2022_jp(bytes) {
        return read_as(UTF_8, bytes, None);
    }
    if let Some(encoding) = declared.and_then(|label| Encoding::for_label(label.as_bytes())).filter(|e| *e != UTF_8) {
        return read_as(encoding, bytes, Some("as it declares"));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // ASCII tells nothing, and frequencies don't change after a megabyte; the detector is slow.
    let telling = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(GUESS_BEFORE);
    detector.feed(&bytes[telling..bytes.len().min(telling + GUESS_BYTES)], true);
    read_as(detector.guess(None, Utf8Detection::Allow), bytes, Some("a guess"))
}

fn read_as<'a>(encoding: &'static Encoding, bytes: &'a [u8], why: Option<&str>) -> Result<Decoded<'a>, Refusal> {
    let (text, errors) = encoding.decode_without_bom_handling(bytes);
    let mut notes = Vec::new();
    if let Some(why) = why.filter(|_| encoding != UTF_8) {
        notes.push(format!("read as {}, {why}", encoding.name()));
    }
    if errors {
        notes.push(format!("some bytes are not valid {} and stand as \u{fffd} in the text", encoding.name()));
    }
    // What a byte order mark or a guess promised may still be rubbish.
    refuse_binary(text.as_bytes())?;
    Ok(Decoded { text, notes })
}

fn binary(why: impl Into<String>) -> Refusal {
    Refusal::Binary { why: why.into() }
}

fn refuse_binary(bytes: &[u8]) -> Result<(), Refusal> {
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err(binary(format!("byte {} is zero", at + 1)));
    }
    let controls = bytes.iter().filter(|&&b| matches!(b, 1..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    if controls > bytes.len() / CONTROLS_ONE_IN {
        return Err(binary(format!("{controls} of its {} bytes are control characters", bytes.len())));
    }
    Ok(())
}

/// UTF-8, or so nearly that a few broken bytes are the likelier story: ten good sequences for each bad one.
fn mostly_utf_8(bytes: &[u8]) -> bool {
    if std::str::from_utf8(bytes).is_ok() {
        return true;
    }
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        bad += usize::from(!chunk.invalid().is_empty());
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
    }
    bad * 10 <= good
}

/// Escape sequences that switch to Japanese characters, in bytes that are otherwise ASCII.
fn looks_like_iso_2022_jp(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\x1b$").is_some() && bytes.is_ascii()
}

/// Text of mostly Latin letters in UTF-16 has a zero in every other byte, always on the same side.
fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES) & !1];
    let zeros = |side: usize| head.iter().skip(side).step_by(2).filter(|&&b| b == 0).count();
    let (high, low, half) = (zeros(0), zeros(1), head.len() / 2);
    match (high * 2 > half, low * 2 > half) {
        (true, false) if low == 0 => Some(UTF_16BE),
        (false, true) if high == 0 => Some(UTF_16LE),
        _ => None,
    }
}

/// The encoding that an HTML page or an XML prologue declares near its beginning.
pub(super) fn declared_in_html(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]).to_ascii_lowercase();
    let after = ["charset", "encoding"].iter().find_map(|key| {
        head.match_indices(key).find_map(|(at, _)| head[at + key.len()..].trim_start().strip_prefix('='))
    })?;
    let label = after.trim_start().trim_start_matches(['"', '\'']).trim_start();
    let end = label.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c)).unwrap_or(label.len());
    Some(label[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], declared: Option<&str>, text: &str, notes: &[&str]) {
        let decoded = decode(bytes, declared).unwrap();
        assert_eq!((decoded.text.as_ref(), decoded.notes), (text, notes.iter().map(|&n| n.to_owned()).collect()));
    }

    #[test]
    fn utf_8_needs_no_note() {
        check("Größe".as_bytes(), None, "Größe", &[]);
        check("Größe".as_bytes(), Some("windows-1252"), "Größe", &[]);
        check(b"\xef\xbb\xbfabc", None, "abc", &[]);
        check(b"", None, "", &[]);
    }

    #[test]
    fn other_encodings_are_read_and_said() {
        check(b"\xff\xfeA\0\xe4\0", None, "Aä", &["read as UTF-16LE, by its byte order mark"]);
        check(b"\xfe\xff\0A\0\xe4", None, "Aä", &["read as UTF-16BE, by its byte order mark"]);
        check(b"A\0b\0\xe4\0.\0", None, "Abä.", &["read as UTF-16LE, by its zero bytes"]);
        check(
            b"Die Gr\xf6\xdfe der Fl\xe4che betr\xe4gt f\xfcnf Meter.",
            None,
            "Die Größe der Fläche beträgt fünf Meter.",
            &["read as windows-1252, a guess"],
        );
        check(b"\xcf\xf0\xe8\xe2\xe5\xf2", Some("windows-1251"), "Привет", &["read as windows-1251, as it declares"]);
        check(b"\x1b$BF|K\\\x1b(B", None, "日本", &["read as ISO-2022-JP, a guess"]);
    }

    #[test]
    fn a_broken_byte_in_utf_8_is_not_another_encoding() {
        let mut bytes = "äöüßäöüßäöüß".as_bytes().to_vec();
        bytes.push(0xc3);
        check(
            &bytes,
            None,
            "äöüßäöüßäöüß\u{fffd}",
            &["some bytes are not valid UTF-8 and stand as \u{fffd} in the text"],
        );
    }

    #[test]
    fn binary_is_refused_with_what_gave_it_away() {
        let why = |bytes: &[u8]| decode(bytes, None).unwrap_err().to_string();
        assert_eq!(
            why(b"ab\0cd"),
            "looks like binary data, not text (byte 3 is zero): convert it to text, Markdown or HTML, or leave it out"
        );
        assert!(why(b"\x01\x02\x03abcdef").contains("3 of its 9 bytes are control characters"));
        assert!(why(b"\xff\xfe\0\0a\0\0\0").contains("UTF-32"));
    }

    #[test]
    fn a_page_says_its_encoding_in_several_ways() {
        for html in [
            "<meta charset=windows-1251>",
            "<META http-equiv=\"Content-Type\" content=\"text/html; charset = Windows-1251\">",
            "<?xml version='1.0' encoding='windows-1251'?>",
            "<p class=charset></p><meta charset=\"windows-1251\"/>",
        ] {
            assert_eq!(declared_in_html(html.as_bytes()).as_deref(), Some("windows-1251"), "{html}");
        }
        assert_eq!(declared_in_html(b"<p>text</p>"), None);
    }
}
