//! Bytes → characters. A document's encoding isn't stated reliably, so the order is: its byte order mark; UTF-8 if it
//! is valid; UTF-16 if every other byte is zero; what an HTML page declares; a guess from letter frequencies, as
//! browsers make it. A note states any encoding but plain UTF-8, because a wrong guess changes words.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};

use super::refusal::Refusal;

/// A document's characters.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) notes: Vec<String>,
}

/// How many bytes are checked for UTF-16 and for an HTML page's own declaration.
const HEAD_BYTES: usize = 4096;
/// The bytes from which an encoding is guessed, and how many of them lie before the first byte that isn't ASCII.
const GUESS_BYTES: usize = 1 << 20;
const GUESS_BEFORE: usize = 64;
/// Bytes with more than one control character in this many are not text.
const CONTROLS_ONE_IN: usize = 20;
/// A text has no zero byte unless it is damaged: then fewer than one odd byte in this many.
const ZEROS_ONE_IN: usize = 100;

/// Decodes `bytes`. `declared` is the label that the document itself gives, if any; it is used only if the bytes don't
/// show a better one.
pub(super) fn decode<'a>(bytes: &'a [u8], declared: Option<&str>) -> Result<Decoded<'a>, Refusal> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let why = if encoding == UTF_8 { None } else { Some("by its byte order mark") };
        return read_as(encoding, &bytes[mark..], why);
    }
    if let Some(encoding) = utf_16_without_mark(bytes) {
        return read_as(encoding, bytes, Some("by its zero bytes"));
    }
    refuse_binary(bytes)?;
    if looks_like_ebcdic(bytes) {
        return Err(Refusal::Unsupported {
            format: "text in EBCDIC, as mainframes write it".to_owned(),
            advice: "convert it to UTF-8".to_owned(),
        });
    }
    let known = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
    let utf_8 = mostly_utf_8(bytes, known);
    if utf_8 && !looks_like_iso_2022_jp(bytes) {
        return read_as(UTF_8, bytes, None);
    }
    if let Some(encoding) = known.filter(|known| *known != UTF_8) {
        return read_as(encoding, bytes, Some("as it declares"));
    }
    if looks_like_shift_jis(bytes) {
        return read_as(SHIFT_JIS, bytes, Some("a guess"));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // ASCII gives no hint, and frequencies don't change after a megabyte; the detector is slow.
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
    // The text may still be rubbish despite a byte order mark or a guess.
    let odd = refuse_binary(text.as_bytes())?;
    if odd > 0 {
        notes.push(format!("{odd} zero {} passed over", if odd == 1 { "byte was" } else { "bytes were" }));
    }
    Ok(Decoded { text, notes })
}

fn binary(why: impl Into<String>) -> Refusal {
    Refusal::Binary { why: why.into() }
}

/// Counts the zero bytes in a text that is otherwise fine: tidying drops them.
fn refuse_binary(bytes: &[u8]) -> Result<usize, Refusal> {
    let controls = bytes.iter().filter(|&&b| matches!(b, 1..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    let Some(at) = memchr::memchr(0, bytes) else {
        if controls > bytes.len() / CONTROLS_ONE_IN {
            return Err(binary(format!("{controls} of its {} bytes are control characters", bytes.len())));
        }
        return Ok(0);
    };
    let zeros = memchr::memchr_iter(0, bytes).count();
    if (zeros + controls) * ZEROS_ONE_IN > bytes.len() {
        return Err(binary(format!("byte {} is zero", at + 1)));
    }
    Ok(zeros)
}

/// Converts a mail or a page that was saved as UTF-16 to UTF-8; none if it wasn't.
pub(super) fn of_wide(bytes: &[u8]) -> Option<Vec<u8>> {
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) if encoding != UTF_8 => (encoding, mark),
        Some(_) => return None,
        None => (utf_16_without_mark(bytes)?, 0),
    };
    Some(encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned().into_bytes())
}

/// UTF-8, or so nearly that a few broken bytes are likelier: ten good sequences for each bad one. A short text that
/// declares nothing else may have a few, since letters of another encoding hardly ever form good ones by chance; if
/// UTF-8 is declared, one good sequence is enough.
fn mostly_utf_8(bytes: &[u8], declared: Option<&Encoding>) -> bool {
    const FEW: usize = 3;
    let least = match declared {
        None => Some(2),
        Some(encoding) => (encoding == UTF_8).then_some(1),
    };
    if std::str::from_utf8(bytes).is_ok() {
        return true;
    }
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        bad += usize::from(!chunk.invalid().is_empty());
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
    }
    bad * 10 <= good || (bad <= FEW && bad <= good && least.is_some_and(|least| good >= least))
}

/// Whether bytes that are otherwise ASCII have escape sequences that switch to Japanese characters.
fn looks_like_iso_2022_jp(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\x1b$").is_some() && bytes.is_ascii()
}

/// Most letters of EBCDIC lie where ASCII has none, and its blank is ASCII's `@`.
fn looks_like_ebcdic(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let count = |wanted: &dyn Fn(u8) -> bool| head.iter().filter(|&&byte| wanted(byte)).count();
    let (blanks, letters) = (count(&|byte| byte == 0x40), count(&|byte| matches!(byte, 0x81..=0xa9 | 0xc1..=0xe9)));
    let ascii = count(&|byte| byte == b' ' || byte.is_ascii_lowercase());
    blanks * 20 > head.len() && letters * 2 > head.len() && ascii * 20 < head.len()
}

/// One in eight characters is hiragana, as in any Japanese prose; no other encoding has these two bytes side by side so
/// often. The detector mistakes short texts of few distinct characters for Cyrillic.
fn looks_like_shift_jis(bytes: &[u8]) -> bool {
    let (text, errors) = SHIFT_JIS.decode_without_bom_handling(&bytes[..bytes.len().min(HEAD_BYTES)]);
    let is_foreign = |c: &char| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER;
    let foreign = text.chars().filter(is_foreign).count();
    let hiragana = text.chars().filter(|c| ('\u{3041}'..='\u{3096}').contains(c)).count();
    // The head may end in the middle of a character.
    let is_valid = !errors || text.matches(char::REPLACEMENT_CHARACTER).count() == 1 && bytes.len() > HEAD_BYTES;
    is_valid && hiragana * 8 > foreign
}

/// UTF-16 has a zero beside each blank and Latin letter, always on the same side; and on that side nearly all bytes are
/// one of a few, since a text is in one or two scripts.
fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    const SCRIPTS: usize = 3;
    let head = &bytes[..bytes.len().min(HEAD_BYTES) & !1];
    let side = |side: usize| head.iter().skip(side).step_by(2);
    let zeros = |at: usize| side(at).filter(|&&byte| byte == 0).count();
    let (at, encoding) = match (zeros(0), zeros(1)) {
        (1.., 0) => (0, UTF_16BE),
        (0, 1..) => (1, UTF_16LE),
        _ => return None,
    };
    let mut counts = [0_usize; 256];
    side(at).for_each(|&byte| counts[usize::from(byte)] += 1);
    let zeros = counts[0];
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let half = head.len() / 2;
    let few = counts.iter().take(SCRIPTS).sum::<usize>() * 20 >= half * 19;
    (zeros * 2 > half || (few && zeros * 16 > half && half >= 16)).then_some(encoding)
}

/// The encoding that an HTML page or an XML prologue declares near its beginning.
pub(super) fn declared_in_html(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]).to_ascii_lowercase();
    let after = ["charset", "encoding"].iter().find_map(|key| {
        head.match_indices(key).find_map(|(at, _)| head[at + key.len()..].trim_start().strip_prefix('='))
    })?;
    let label = after.trim_start().trim_start_matches(['"', '\'']).trim_start();
    let end = label.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c)).unwrap_or(label.len());
    let label = &label[..end];
    // A declaration that is readable as ASCII can't be in UTF-16 (HTML, "prescan a byte stream").
    Some(if label.starts_with("utf-16") { "utf-8" } else { label }.to_owned())
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
    fn what_mainframes_write_is_told() {
        // "THE CLERK must lock the gates of the."
        let text = b"\xe3\xc8\xc5\x40\xc3\xd3\xc5\xd9\xd2\x40\x94\xa4\xa2\xa3\x40\x93\x96\x83\x92\x40\xa3\x88\x85\x40\x87\x81\xa3\x85\xa2\x40\x96\x86\x40\xa3\x88\x85\x4b";
        let said = decode(text, None).unwrap_err().to_string();
        assert_eq!(said, "is text in EBCDIC, as mainframes write it, which can't be read: convert it to UTF-8");
    }

    #[test]
    fn a_page_that_declares_utf_16_in_ascii_is_utf_8() {
        let page = "<meta charset=\"utf-16\"><p>Größe";
        assert_eq!(declared_in_html(page.as_bytes()).as_deref(), Some("utf-8"));
        check(b"<p>caf\xe9", Some("utf-8"), "<p>caf\u{e9}", &["read as windows-1252, a guess"]);
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
    fn rarer_encodings_are_read() {
        let units = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let text = "Договор о поставке товаров, страница 5.";
        check(&units(text, u16::to_le_bytes), None, text, &["read as UTF-16LE, by its zero bytes"]);
        check(&units(text, u16::to_be_bytes), None, text, &["read as UTF-16BE, by its zero bytes"]);
        for (label, text) in [
            ("koi8-r", "Договор о поставке товаров между сторонами"),
            ("shift_jis", "この契約は、商品の納入に関するものである。"),
            ("shift_jis", &"借主は賃料を支払わなければならない。契約は東京で結ばれる。\n".repeat(99)),
            ("gb18030", "本合同涉及货物的交付。双方同意下列条款。"),
            ("windows-1250", "Žluťoučký kůň úpěl ďábelské ódy příšerně."),
            ("big5", "本合約涉及貨物的交付。雙方同意下列條款。"),
            ("euc-kr", "이 계약은 물품의 납품에 관한 것이다."),
        ] {
            let bytes = Encoding::for_label(label.as_bytes()).unwrap().encode(text).0;
            assert_eq!(decode(&bytes, None).unwrap().text, text, "{label}");
        }
    }

    #[test]
    fn a_few_zero_bytes_cost_no_text() {
        let text = "A line of text as it should be.\n".repeat(10);
        check(format!("{text}\0{text}").as_bytes(), None, &format!("{text}\0{text}"), &["1 zero byte was passed over"]);
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
    fn a_short_text_of_utf_8_bears_a_cut_or_stray_byte() {
        let note = "some bytes are not valid UTF-8 and stand as \u{fffd} in the text";
        let cut = |text: &str| text.as_bytes()[..text.len() - 1].to_vec();
        check(&cut("Die Prüfung muß täglich fü"), None, "Die Prüfung muß täglich f\u{fffd}", &[note]);
        check(&cut("契約書の第一条を確認"), None, "契約書の第一条を確\u{fffd}", &[note]);
        let stray = [&b"Die Pr\xc3\xbcfung mu\xc3\x9f t\xc3\xa4glich erfolgen.\nalt: Gr"[..], b"\xfc\xdfe\n"].concat();
        // One good sequence is enough where nothing else may stand, as in JSON.
        let short = b"{\"a\":\"Pr\xc3\xbcfung f\xc3\"}";
        check(short, Some("utf-8"), "{\"a\":\"Prüfung f\u{fffd}\"}", &[note]);
        check(&stray, None, "Die Prüfung muß täglich erfolgen.\nalt: Gr\u{fffd}\u{fffd}e\n", &[note]);
        let wide: Vec<u8> = "\u{feff}From: a".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!((of_wide(&wide), of_wide(b"From: a")), (Some(b"From: a".to_vec()), None));
    }

    #[test]
    fn binary_is_refused_with_what_gave_it_away() {
        let why = |bytes: &[u8]| decode(bytes, None).unwrap_err().to_string();
        assert_eq!(
            why(b"ab\0cd"),
            "looks like binary data, not text (byte 3 is zero): save it again as text in UTF-8, or leave it out"
        );
        assert!(why(b"\x01\x02\x03abcdef").contains("3 of its 9 bytes are control characters"));
        let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
        assert!(decode(&noise, None).is_err());
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
