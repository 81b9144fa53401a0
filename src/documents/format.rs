//! What kind of document some bytes are, and who reads it. The content decides where it can (a PDF called `notes.txt` is
//! a PDF); the name decides between kinds of text, which look alike.

use serde::{Deserialize, Serialize};

use super::error::DocumentError;
use super::units::Unit;
use super::{html, plain, unreadable};

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Kept as it is.
    Markdown,
    /// Plain text of any sort: prose, tables, source code.
    Text,
    /// Read into text with Markdown's blocks and none of its inline marks.
    Html,
}

impl Format {
    /// As a person would say it in a list.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Text => "text",
            Self::Html => "HTML",
        }
    }
}

/// A document's text, the same for the model, the coverage ledger and the quote check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// What it was.
    pub format: Format,
    /// What it is counted in. Pages only where the text has form feeds between them.
    pub unit: Unit,
    /// UTF-8, lines ended by `\n`, each at most [`super::MAX_LINE_CHARS`] long, pages separated by `\x0c`.
    pub text: String,
    /// What a reader should know about how the text came about, each a fragment: "read as windows-1252, a guess".
    pub notes: Vec<String>,
}

/// The largest document in bytes: offsets into texts are kept in 32 bits, and a text can be longer than its document.
pub const MAX_BYTES: u64 = 1 << 30;

/// Text out of one document's bytes. `name` serves to tell kinds of text apart, and to say what is wrong with which
/// document. A document without any text is no error: its text is empty, and a note says so.
pub fn extract(name: &str, bytes: &[u8]) -> Result<Extracted, DocumentError> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(DocumentError::TooLarge { name: name.to_owned(), bytes: bytes.len() as u64, limit: MAX_BYTES });
    }
    unreadable::refuse(name, bytes)?;
    let format = format_of(name, bytes);
    let mut extracted = match format {
        Format::Markdown | Format::Text => plain::read(name, format, bytes),
        Format::Html => html::read(name, bytes),
    }?;
    if extracted.text.trim().is_empty() {
        extracted.text.clear();
        extracted.notes.push("no text in it".to_owned());
    }
    Ok(extracted)
}

/// A name's last ending in lower case: `.html` for `A.B.HTML`.
pub(super) fn ending(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}

fn format_of(name: &str, bytes: &[u8]) -> Format {
    match ending(name).as_str() {
        "md" | "markdown" | "mdown" | "mkd" | "mdx" => Format::Markdown,
        "html" | "htm" | "xhtml" | "xht" | "shtml" => Format::Html,
        "txt" | "text" => Format::Text,
        _ if starts_like_html(bytes) => Format::Html,
        _ => Format::Text,
    }
}

fn starts_like_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|tag| bytes.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, bytes: &[u8]) -> (Format, Unit, String, Vec<String>) {
        let Extracted { format, unit, text, notes } = extract(name, bytes).unwrap();
        (format, unit, text, notes)
    }

    #[test]
    fn text_is_kept_and_its_pages_are_counted() {
        let none: Vec<String> = Vec::new();
        let raw = b"# A_b *c*\r\n\r\n<p>\r\n";
        assert_eq!(text("a/b.MD", raw), (Format::Markdown, Unit::Line, "# A_b *c*\n\n<p>\n".into(), none.clone()));
        assert_eq!(text("b.txt", b"one\x0ctwo\x0c"), (Format::Text, Unit::Page, "one\x0ctwo".into(), none.clone()));
        assert_eq!(text("LICENSE", b"MIT"), (Format::Text, Unit::Line, "MIT".into(), none));
    }

    #[test]
    fn html_is_known_by_name_or_by_its_beginning() {
        for name in ["a.html", "A.HTM", "page", "page.php"] {
            assert_eq!(text(name, b"\n<!DOCTYPE HTML><p>a &amp; b").2, "a & b\n", "{name}");
        }
        assert_eq!(text("a.txt", b"<html><p>a").2, "<html><p>a");
    }

    #[test]
    fn a_document_without_text_says_so() {
        assert_eq!(
            text("a.txt", b" \r\n\x0c"),
            (Format::Text, Unit::Line, String::new(), vec!["no text in it".into()])
        );
        assert_eq!(text("a.html", b"<title>x</title><script>y</script>").3, ["no text in it"]);
    }

    #[test]
    fn notes_come_from_every_step() {
        let mut bytes = b"Die Gr\xf6\xdfe der Fl\xe4che betr\xe4gt f\xfcnf Meter.\n".to_vec();
        bytes.extend([b'x'; 2_001]);
        assert_eq!(
            text("a.txt", &bytes).3,
            ["read as windows-1252, a guess", "1 line over 2,000 characters was wrapped"]
        );
    }

    proptest::proptest! {
        /// Any bytes under any kind of name: a tidy text or an error.
        #[test]
        fn hostile_bytes_never_panic(bytes: Vec<u8>, name in "a\\.(txt|md|html|xhtml|zip|)") {
            if let Ok(extracted) = extract(&name, &bytes) {
                proptest::prop_assert!(extracted.text.chars().all(|c| !c.is_control() || "\n\t\x0c".contains(c)));
            }
        }
    }
}
