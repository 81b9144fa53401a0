//! Recognises a document's format by its first bytes. Formats without a reader are refused with advice, because reading
//! them as text would give rubbish.

use super::format::{Format, ending};
use super::readers::{IWORK, pdf_header};
use super::refusal::Refusal;
use super::zip_or_ole::{by_ole, by_zip};

/// A format: its name, and what a user can do.
pub(super) type FileKind = (&'static str, &'static str);

const PDF: FileKind = ("a PDF file", "open it in its own program and save it again");
const OFFICE: &str = "save it as DOCX or PDF";
pub(super) const WORD: FileKind = ("a Word document", OFFICE);
pub(super) const OLD_WORD: FileKind = ("an old Word document (DOC)", OFFICE);
pub(super) const OLD_POWERPOINT: FileKind = ("an old PowerPoint presentation (PPT)", "save it as PPTX or PDF");
pub(super) const OLDER_POWERPOINT: FileKind = ("a presentation of PowerPoint 4 or before", "save it as PPTX or PDF");
const OLDER_WORD: FileKind = ("a document of Word 2 or before", OFFICE);
const WORD_PERFECT: FileKind = ("a WordPerfect document", OFFICE);
pub(super) const OLD_OTHER: FileKind =
    ("a file of an old Office program", "save it as PDF in the program that made it, or leave it out");
pub(super) const OUTLOOK: FileKind = ("an Outlook message", "save it as EML or text");
pub(super) const ENCRYPTED: FileKind = ("an Office document", "remove the password");
pub(super) const ENCRYPTED_BOOK: FileKind = ("an EPUB book", "remove the password");
pub(super) const EXCEL: FileKind = ("an Excel workbook", "open it in its own program and save it again");
pub(super) const POWERPOINT: FileKind = ("a PowerPoint presentation", "save it as PDF");
pub(super) const OPEN_TEXT: FileKind = ("an OpenDocument text (ODT)", OFFICE);
pub(super) const OPEN_SLIDES: FileKind = ("an OpenDocument presentation (ODP)", "save it as PPTX or PDF");
pub(super) const OPEN_DRAWING: FileKind = ("an OpenDocument drawing (ODG)", "save it as PDF");
pub(super) const OPEN_OTHER: FileKind = ("an OpenDocument file", "save it as PDF");
pub(super) const INDESIGN: FileKind = ("an InDesign document (IDML)", "export it as PDF");
const RTF: FileKind = ("an RTF document", OFFICE);
const ONE_NOTE: FileKind = ("a OneNote section", "export it as PDF or DOCX");
const ONE_NOTE_CONTENTS: FileKind = ("the table of contents of a OneNote notebook", "give its sections (ONE)");
const KINDLE: FileKind = ("a Kindle book (MOBI or AZW)", "convert it to EPUB");
pub(super) const EPUB: FileKind = ("an EPUB book", "open it in its own program and save it again");
const MAIL: FileKind = ("an e-mail", "save it as EML");
pub(super) const ARCHIVE: FileKind = ("an archive", "unpack it and give the documents in it, or pack them as ZIP");
const PACKED: FileKind = ("a compressed file", "unpack it first");
const IMAGE: FileKind = ("an image", "give its text, for example from a text recognition program");
const MEDIA: FileKind = ("an audio or video file", "give a transcript");
const PROGRAM: FileKind = ("a program", "leave it out");
const DATABASE: FileKind = ("a database file", "export what matters as CSV or text");
const POSTSCRIPT: FileKind = ("a PostScript file", "convert it to text, for example with `ps2ascii`");

/// Formats with a reader that are ZIP archives.
const ZIPPED: [FileKind; 7] = [WORD, EXCEL, POWERPOINT, EPUB, OPEN_TEXT, OPEN_SLIDES, OPEN_DRAWING];

/// First bytes, and the formats that they indicate.
const MAGIC: &[(&[u8], FileKind)] = &[
    (b"{\\rtf", RTF),
    (b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3", ONE_NOTE),
    (b"\xa1\x2f\xff\x43\xd9\xef\x76\x4c\x9e\xe2\x10\xea\x57\x22\x76\x5f", ONE_NOTE_CONTENTS),
    (b"\xdb\xa5\x2d\0", OLDER_WORD),
    (b"\x9b\xa5\x21\0", OLDER_WORD),
    (b"\x31\xbe\0\0", OLDER_WORD),
    (b"\xffWPC", WORD_PERFECT),
    (b"%!PS", POSTSCRIPT),
    (b"\x89PNG\r\n\x1a\n", IMAGE),
    (b"\xff\xd8\xff", IMAGE),
    (b"GIF87a", IMAGE),
    (b"GIF89a", IMAGE),
    (b"II*\0", IMAGE),
    (b"MM\0*", IMAGE),
    (b"II+\0", IMAGE),
    (b"MM\0+", IMAGE),
    (b"AT&TFORM", IMAGE),
    (b"\x1f\x8b\x08", PACKED),
    (b"BZh", PACKED),
    (b"\xfd7zXZ\0", PACKED),
    (b"\x28\xb5\x2f\xfd", PACKED),
    (b"7z\xbc\xaf\x27\x1c", ARCHIVE),
    (b"Rar!\x1a\x07", ARCHIVE),
    (b"!<arch>\n", ARCHIVE),
    (b"PK\x05\x06", ARCHIVE),
    (b"\x7fELF", PROGRAM),
    (b"\xca\xfe\xba\xbe", PROGRAM),
    (b"\xcf\xfa\xed\xfe", PROGRAM),
    (b"\0asm", PROGRAM),
    (b"SQLite format 3\0", DATABASE),
    (b"PAR1", DATABASE),
    (b"OggS", MEDIA),
    (b"ID3", MEDIA),
    (b"fLaC", MEDIA),
];

/// Endings of names for files whose content shows nothing, or differs from the name.
const ENDINGS: &[(&[&str], FileKind)] = &[
    (&["pdf"], PDF),
    (&["docx", "docm", "dotx"], WORD),
    (&["doc", "dot"], OLD_WORD),
    (&["ppt", "pps", "pot"], OLD_POWERPOINT),
    (&["xlsx", "xlsm", "xltx", "xls", "xlsb", "ods"], EXCEL),
    (&["pptx", "pptm", "ppsx"], POWERPOINT),
    (&["odt", "ott"], OPEN_TEXT),
    (&["odp", "otp"], OPEN_SLIDES),
    (&["odg", "otg"], OPEN_DRAWING),
    (&["odf"], OPEN_OTHER),
    (&["rtf"], RTF),
    (&["one"], ONE_NOTE),
    (&["onetoc2"], ONE_NOTE_CONTENTS),
    (&["pages", "numbers", "key"], IWORK),
    (&["epub"], EPUB),
    (&["mobi", "azw", "azw3", "kfx"], KINDLE),
    (&["eml", "mbox", "msg", "mht", "mhtml"], MAIL),
    (&["zip", "jar", "7z", "rar", "tar"], ARCHIVE),
    (&["gz", "tgz", "bz2", "xz", "zst"], PACKED),
    (&["png", "jpg", "jpeg", "gif", "tif", "tiff", "bmp", "webp", "heic", "heif", "avif", "djvu"], IMAGE),
    (&["mp3", "mp4", "m4a", "wav", "ogg", "avi", "mov", "mkv", "webm"], MEDIA),
    (&["exe", "dll", "so", "class", "wasm"], PROGRAM),
    (&["db", "sqlite", "sqlite3", "parquet", "mdb"], DATABASE),
    (&["ps"], POSTSCRIPT),
    (&["idml", "indd"], INDESIGN),
];

/// The format that `bytes` begin like; an error if it has no reader, and none if the bytes may be text.
pub(super) fn known(bytes: &[u8]) -> Result<Option<Format>, Refusal> {
    Ok(Some(match by_content(bytes) {
        None => return Ok(None),
        Some(PDF) => Format::Pdf,
        Some(WORD) => Format::Word,
        Some(EXCEL) => Format::Workbook,
        Some(POWERPOINT) => Format::Slides,
        Some(EPUB) => Format::Epub,
        Some(OUTLOOK) => Format::Mail,
        Some(OPEN_TEXT | OPEN_SLIDES | OPEN_DRAWING) => Format::OpenDocument,
        Some(OLD_WORD | OLD_POWERPOINT) => Format::OldOffice,
        Some(RTF) => Format::RichText,
        Some(ONE_NOTE) => Format::OneNote,
        Some(IWORK) => Format::IWork,
        Some(IMAGE) => Format::Image,
        Some(kind @ (ENCRYPTED | ENCRYPTED_BOOK)) => {
            return Err(Refusal::Encrypted { format: kind.0.to_owned() });
        }
        Some(kind) => return Err(unsupported(kind)),
    }))
}

/// Improves a refusal with the name of a document if its bytes show nothing.
pub(super) fn refused_by_name(name: &str, refusal: Refusal) -> Refusal {
    match refusal {
        // A truncated file may have lost the parts that show its format.
        Refusal::Unsupported { format, .. }
            if format == ARCHIVE.0 && is_called(name, &ZIPPED)
                || format == OLD_OTHER.0 && is_called(name, &[EXCEL, MAIL, OLD_WORD, OLD_POWERPOINT]) =>
        {
            Refusal::Damaged {
                format: ending(name).to_uppercase(),
                why: "it is cut off, or the parts that make it such a file are missing".to_owned(),
            }
        }
        Refusal::Binary { .. } => match by_name(name) {
            Some(kind)
                if ZIPPED.contains(&kind) || [PDF, MAIL, OLD_WORD, OLD_POWERPOINT, RTF, ONE_NOTE].contains(&kind) =>
            {
                Refusal::Damaged {
                    format: ending(name).to_uppercase(),
                    why: "its bytes are not those of such a file: it is broken, locked or something else".to_owned(),
                }
            }
            Some(kind) => unsupported(kind),
            None => refusal,
        },
        _ => refusal,
    }
}

/// Whether a document's name has one of these kinds' endings.
fn is_called(name: &str, kinds: &[FileKind]) -> bool {
    by_name(name).is_some_and(|kind| kinds.contains(&kind))
}

/// Whether a document's name ends like that of a format other than text.
pub(super) fn is_called_no_text(name: &str) -> bool {
    is_called(name, &ZIPPED) || is_called(name, &[PDF, OLD_WORD, OLD_POWERPOINT, RTF, ONE_NOTE])
}

/// Whether bytes are a PDF with something else before it: a text may mention PDF. Unless its name is that of a PDF, the
/// header must be where other readers of PDF look for it.
pub(super) fn is_late_pdf(name: &str, bytes: &[u8]) -> bool {
    const LOOK: usize = 1024;
    let is_one = |at: usize| is_called(name, &[PDF]) || at < LOOK && std::str::from_utf8(bytes).is_err();
    pdf_header(bytes).is_some_and(|at| memchr::memmem::find(bytes, b"endobj").is_some() && is_one(at))
}

fn unsupported((format, advice): FileKind) -> Refusal {
    Refusal::Unsupported { format: format.to_owned(), advice: advice.to_owned() }
}

fn by_name(name: &str) -> Option<FileKind> {
    let ending = ending(name);
    ENDINGS.iter().find(|(endings, _)| endings.contains(&ending.as_str())).map(|&(_, kind)| kind)
}

fn by_content(bytes: &[u8]) -> Option<FileKind> {
    let at = |from: usize, what: &[u8]| bytes.get(from..).is_some_and(|rest| rest.starts_with(what));
    if bytes.starts_with(b"PK\x03\x04") {
        return Some(by_zip(bytes));
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return Some(by_ole(bytes));
    }
    if let Some(&(magic, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        // Letters alone may begin a text too; but such a text has no zero byte.
        let letters = magic.iter().all(u8::is_ascii_graphic) && kind != RTF && kind != POSTSCRIPT;
        let text = letters && memchr::memchr(0, bytes).is_none();
        return (!text).then_some(kind);
    }
    // Films and photos share one container; its brands show which one it is.
    let brands = bytes.get(8..40.min(bytes.len())).unwrap_or_default();
    let is_photo = |brand: &&[u8]| memchr::memmem::find(brands, brand).is_some();
    if at(4, b"ftyp")
        && [&b"heic"[..], b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"]
            .iter()
            .any(is_photo)
    {
        return Some(IMAGE);
    }
    if at(4, b"ftyp") || (at(0, b"RIFF") && (at(8, b"WAVE") || at(8, b"AVI "))) {
        return Some(MEDIA);
    }
    // A bitmap's header has four zeros.
    if (at(0, b"RIFF") && at(8, b"WEBP")) || (at(0, b"BM") && at(6, &[0; 4])) {
        return Some(IMAGE);
    }
    if at(257, b"ustar") {
        return Some(ARCHIVE);
    }
    if at(60, b"BOOKMOBI") || at(60, b"TEXtREAd") {
        return Some(KINDLE);
    }
    if at(0, b"MZ") && memchr::memchr(0, bytes).is_some() {
        return Some(PROGRAM);
    }
    // Blanks before the header are common, and no text begins like that.
    let start = bytes.trim_ascii_start();
    let bare = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    bare.starts_with(b"%PDF-").then_some(PDF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{detect, extract};
    use crate::readers::package::sample::{types, zip};

    fn check(name: &str, bytes: &[u8], expected: Option<&str>) {
        let found = extract(name, bytes).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{name} {bytes:?}");
    }

    #[test]
    fn content_is_believed_before_the_name() {
        assert_eq!(detect("notes.txt", b"%PDF-1.7\n..."), Ok(Format::Pdf));
        assert_eq!(
            detect("a.pdf", &zip(&[("[Content_Types].xml", &types("wordprocessingml.document"))])),
            Ok(Format::Word)
        );
        assert_eq!(detect("a.docx", b"\x89PNG\r\n\x1a\n"), Ok(Format::Image));
        assert_eq!(detect("a.pdf", b"Only a text"), Ok(Format::Text));
        for (bytes, what) in
            [(&b"\xffWPC\x10\0"[..], "a WordPerfect document"), (b"\xdb\xa5\x2d\0", "a document of Word 2 or before")]
        {
            check("a.doc", bytes, Some(&format!("a.doc is {what}, which can't be read: save it as DOCX or PDF")));
        }
        check("a.docx", b"\x7fELF\0\0", Some("a.docx is a program, which can't be read: leave it out"));
    }

    #[test]
    fn a_name_is_believed_where_the_content_shows_nothing() {
        check(
            "a/Song.MP3",
            b"\0\x01\x02",
            Some("a/Song.MP3 is an audio or video file, which can't be read: give a transcript"),
        );
        assert_eq!(detect("post/Mail.EML", b"From: a@example.org\n\nHello"), Ok(Format::Mail));
    }

    #[test]
    fn what_has_a_password_or_is_cut_off_is_told_so() {
        let locked = |parts: &[(&str, &str)]| {
            let mut bytes = zip(parts);
            for (sign, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
                let places: Vec<usize> = memchr::memmem::find_iter(&bytes, sign).collect();
                for place in places {
                    bytes[place + flags] |= 1;
                }
            }
            bytes
        };
        let types = types("wordprocessingml.document");
        let word = [("[Content_Types].xml", types.as_str()), ("word/document.xml", "<document/>")];
        let book = [("mimetype", "application/epub+zip"), ("META-INF/container.xml", "<container/>")];
        let remove = "with a password: remove the password, or leave it out";
        check("a.docx", &locked(&word), Some(&format!("a.docx is an Office document {remove}")));
        check("a.epub", &locked(&book), Some(&format!("a.epub is an EPUB book {remove}")));
        let cut = "a.docx can't be read as DOCX, because it is cut off, or the parts that make it such a file are missing: \
                   open it in its own program and save it again, or leave it out";
        check("a.docx", &zip(&word)[..40], Some(cut));
        for (name, bytes) in [("a.ODS", &zip(&word)[..40]), ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 cut")] {
            let ending = name[2..].to_uppercase();
            check(name, bytes, Some(&cut.replace("a.docx", name).replace("DOCX", &ending)));
        }
    }

    #[test]
    fn photos_and_layouts_are_told_as_what_they_are() {
        assert_eq!(detect("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), Ok(Format::Image));
        assert_eq!(detect("a.avif", b"\0\0\0\x18ftypavif\0\0\0\0avifmif1"), Ok(Format::Image));
        check(
            "a.mp4",
            b"\0\0\0\x18ftypisom\0\0\0\0isommp42",
            Some("a.mp4 is an audio or video file, which can't be read: give a transcript"),
        );
        let layout =
            [("mimetype", "application/vnd.adobe.indesign-idml-package"), ("META-INF/container.xml", "<container/>")];
        check(
            "a.idml",
            &zip(&layout),
            Some("a.idml is an InDesign document (IDML), which can't be read: export it as PDF"),
        );
    }

    #[test]
    fn texts_that_begin_like_something_else_stay_texts() {
        for text in [
            "ID3 tags are described here",
            "MZ",
            "BZh is how it begins",
            "PAR1 and PAR2",
            "RIFF",
            "GIF89a was a format",
        ] {
            check("a.txt", text.as_bytes(), None);
        }
        check("about.md", b"A file begins with %PDF-1.4 if it is one", None);
        let late = b"HTTP/1.1 200 OK\n\n%PDF-1.4\n1 0 obj\n<<>>\nendobj\n";
        assert_eq!(
            [detect("a.md", late), detect("a.pdf", late), detect("a.md", &[&late[..], b"\xe4"].concat())],
            [Ok(Format::Markdown), Ok(Format::Pdf), Ok(Format::Pdf)]
        );
        check("empty", b"", None);
    }
}
