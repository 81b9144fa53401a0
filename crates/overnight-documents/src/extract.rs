//! A document's text: recognises the kind of document and calls its reader. The content decides if it can (a PDF called
//! `notes.txt` is a PDF); the name decides between kinds of text, which look alike.

use super::error::DocumentError;
use super::extracted::{CollectedPages, Extracted};
use super::file_kind;
use super::format::{Format, MAX_BYTES, ending};
use super::readers::{
    CsvReader, EpubReader, HtmlReader, IWorkReader, ImageReader, InPieces, JsonReader, MailReader, NotebookReader,
    OldOfficeReader, OneNoteReader, OpenDocumentReader, PageSink, PdfReader, PlainReader, ReadFailure, Reader,
    RtfReader, SlidesReader, Source, Stopped, WordReader, WorkbookReader, XmlReader, mail,
};
use super::refusal::Refusal;
use super::units::Unit;

impl Format {
    fn reader(self) -> &'static dyn Reader {
        match self {
            Self::Markdown | Self::Text => &PlainReader,
            Self::Html => &HtmlReader,
            Self::Pdf => &PdfReader,
            Self::Word => &WordReader,
            Self::Workbook => &WorkbookReader,
            Self::Csv => &CsvReader,
            Self::Slides => &SlidesReader,
            Self::Epub => &EpubReader,
            Self::Mail => &MailReader,
            Self::OpenDocument => &OpenDocumentReader,
            Self::OldOffice => &OldOfficeReader,
            Self::RichText => &RtfReader,
            Self::OneNote => &OneNoteReader,
            Self::IWork => &IWorkReader,
            Self::Json => &JsonReader,
            Self::Xml => &XmlReader,
            Self::Notebook => &NotebookReader,
            Self::Image | Self::Unread => &ImageReader,
        }
    }

    /// The name and version of the program's own reader for this format.
    pub fn reader_version(self) -> &'static str {
        self.reader().version()
    }
}

/// Recognises the kind of document.
pub fn detect(name: &str, bytes: &[u8]) -> Result<Format, Refusal> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Refusal::TooLarge { bytes: bytes.len() as u64, limit: MAX_BYTES });
    }
    let known = file_kind::known(bytes).map_err(|refusal| file_kind::refused_by_name(name, refusal));
    if let Some(format) = known? {
        return Ok(format);
    }
    Ok(if file_kind::is_late_pdf(name, bytes) { Format::Pdf } else { format_of(name, bytes) })
}

/// Reports a document's content to `pages`. Returns the unit in which it is counted; none if `pages` wanted no more.
pub fn read(format: Format, name: &str, bytes: &[u8], pages: &mut dyn PageSink) -> Result<Option<Unit>, Refusal> {
    let told = tell_first(format, name, bytes, pages);
    if told.is_err() {
        return Ok(None);
    }
    match format.reader().read(Source { name, bytes }, &mut InPieces(pages)) {
        Ok(unit) => Ok(Some(unit)),
        Err(ReadFailure::Stopped(_)) => Ok(None),
        Err(ReadFailure::Refused(refusal)) => Err(file_kind::refused_by_name(name, refusal)),
    }
}

/// Reports facts that are known before the document is read.
fn tell_first(format: Format, name: &str, bytes: &[u8], pages: &mut dyn PageSink) -> Result<(), Stopped> {
    if bytes.is_empty() {
        pages.begin(1)?;
        return pages.gap("the file has 0 bytes");
    }
    let is_text = matches!(format, Format::Text | Format::Html | Format::Mail);
    if is_text && file_kind::is_called_no_text(name) {
        let ending = ending(name).to_uppercase();
        pages.note(format!("it is no {ending}, as its name has it, and was read as {}", format.as_str()))?;
    }
    Ok(())
}

/// Extracts the text of a document in this process, without a limit on time and memory: for trusted documents. `name`
/// serves to tell kinds of text apart, and to name the document in errors. A document without any text is no error: its
/// text is empty, and a note says so.
pub fn extract(name: &str, bytes: &[u8]) -> Result<Extracted, DocumentError> {
    let refused = |refusal| DocumentError::Refused { name: name.to_owned(), refusal };
    let format = detect(name, bytes).map_err(refused)?;
    let mut collected = CollectedPages::default();
    let unit = read(format, name, bytes, &mut collected).map_err(refused)?;
    let version = format.reader_version().to_owned();
    Ok(collected.finish(format, version, unit.unwrap_or(Unit::Page), None))
}

fn format_of(name: &str, bytes: &[u8]) -> Format {
    match ending(name).as_str() {
        "md" | "markdown" | "mdown" | "mkd" | "mdx" => Format::Markdown,
        "html" | "htm" | "xhtml" | "xht" | "shtml" | "mht" | "mhtml" => Format::Html,
        "csv" | "tsv" => Format::Csv,
        "json" | "jsonl" | "ndjson" | "geojson" | "jsonld" => Format::Json,
        "ipynb" => Format::Notebook,
        "eml" if !starts_like_html(bytes) => Format::Mail,
        "patch" | "diff" => Format::Text,
        _ if mail::is_saved_page(bytes) => Format::Html,
        _ if mail::begins_like_one(bytes) || mail::is_mailbox(bytes) => Format::Mail,
        "txt" | "text" => Format::Text,
        _ if starts_like_html(bytes) => Format::Html,
        "xml" | "rss" | "atom" | "svg" | "xsd" | "wsdl" | "rdf" | "fodt" | "fodp" | "fodg" => Format::Xml,
        _ if starts_like_xml(bytes) => Format::Xml,
        _ => Format::Text,
    }
}

/// Whether the bytes begin like HTML: with its own first tag, possibly after an XML declaration or a comment.
fn starts_like_html(bytes: &[u8]) -> bool {
    const LOOK: usize = 1024;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let head = bytes[..bytes.len().min(LOOK)].to_ascii_lowercase();
    let has = |what: &str| memchr::memmem::find(&head, what.as_bytes()).is_some();
    head.starts_with(b"<!doctype html")
        || head.starts_with(b"<html")
        || ((head.starts_with(b"<?xml") || head.starts_with(b"<!--")) && (has("<html>") || has("<html ")))
}

/// Whether the bytes begin with an XML declaration, which no other format does.
fn starts_like_xml(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start().starts_with(b"<?xml ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::Gap;

    fn text(name: &str, bytes: &[u8]) -> (Format, Unit, String, Vec<String>) {
        let Extracted { format, unit, text, notes, .. } = extract(name, bytes).unwrap();
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
        assert_eq!(text("page.eml", b"<html><p>a").2, "a\n");
        assert_eq!(text("a.txt", b"<html><p>a").2, "<html><p>a");
        let page = b"<?xml version='1.0'?>\n<!-- x -->\n<html xmlns='x'><p>a</p></html>";
        assert_eq!(text("page.xml", page).2, "a\n");
        assert_eq!(text("data.xml", b"<?xml version='1.0'?><a>b</a>").0, Format::Xml);
        assert_eq!(text("a.php", b"<?php echo '<html>';").0, Format::Text);
    }

    #[test]
    fn a_document_without_text_says_so() {
        assert_eq!(
            text("a.txt", b" \r\n\x0c"),
            (Format::Text, Unit::Line, String::new(), vec!["no text in it".into()])
        );
        assert_eq!(text("a.html", b"<title>x</title><script>y</script>").3, ["no text in it"]);
        assert_eq!(extract("a.md", b"").unwrap().gaps, [Gap { pages: None, why: "the file has 0 bytes".to_owned() }]);
        let notes = ["it is no DOCX, as its name has it, and was read as text".to_owned()];
        assert_eq!(text("a.docx", b"Px"), (Format::Text, Unit::Line, "Px".to_owned(), notes.to_vec()));
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
        /// Any bytes under any kind of name give a tidy text or an error.
        #[test]
        fn hostile_bytes_never_panic(bytes: Vec<u8>, name in "a\\.(txt|md|html|xhtml|zip|)") {
            if let Ok(extracted) = extract(&name, &bytes) {
                proptest::prop_assert!(extracted.text.chars().all(|c| !c.is_control() || "\n\t\x0c".contains(c)));
            }
        }
    }
}
