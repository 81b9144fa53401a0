//! Recognises the format of a ZIP archive or an OLE file. The file itself has to state it, in the part that its format
//! has for that: an archive that merely contains a document is an archive.

use memchr::memmem;

use super::file_kind::{
    ARCHIVE, ENCRYPTED, ENCRYPTED_BOOK, EPUB, EXCEL, FileKind, INDESIGN, OLD_OTHER, OLD_POWERPOINT, OLD_WORD,
    OLDER_POWERPOINT, OPEN_DRAWING, OPEN_OTHER, OPEN_SLIDES, OPEN_TEXT, OUTLOOK, POWERPOINT, WORD,
};
use super::ole;
use super::readers::{IWORK, package::Package};

/// How much is read of the part that states the format.
const HEAD: u64 = 1 << 20;

/// The part of a book that names the others.
const BOOK: &str = "META-INF/container.xml";
/// The parts without which there is no document.
const MAIN: [&str; 5] =
    ["word/document.xml", "xl/workbook.xml", "xl/workbook.bin", "ppt/presentation.xml", "content.xml"];

/// By the part that states the format; by exact names if that part is damaged.
pub(super) fn by_zip(bytes: &[u8]) -> FileKind {
    let Some(package) = Package::open(bytes) else { return ARCHIVE };
    let is_office = ["[Content_Types].xml", "mimetype"].iter().any(|name| package.has(name));
    if is_office && MAIN.iter().any(|name| package.is_locked(name)) {
        return ENCRYPTED;
    }
    if package.is_locked(BOOK) {
        return ENCRYPTED_BOOK;
    }
    if let Some(mimetype) = package.head("mimetype", 200) {
        let mimetype = String::from_utf8_lossy(&mimetype);
        let mimetype = mimetype.trim();
        if mimetype == "application/epub+zip" {
            return EPUB;
        }
        if mimetype.starts_with("application/vnd.adobe.indesign") {
            return INDESIGN;
        }
        if let Some(kind) = mimetype.strip_prefix("application/vnd.oasis.opendocument.") {
            return match kind.strip_suffix("-template").unwrap_or(kind) {
                "text" => OPEN_TEXT,
                "spreadsheet" => EXCEL,
                "presentation" => OPEN_SLIDES,
                "graphics" => OPEN_DRAWING,
                _ => OPEN_OTHER,
            };
        }
    }
    if package.has("designmap.xml") {
        return INDESIGN;
    }
    if package.has(BOOK) {
        // Some programs omit the statement.
        return EPUB;
    }
    if ["Index/Document.iwa", "Index.zip", "index.apxl", "index.apxl.gz", "buildVersionHistory.plist"]
        .iter()
        .any(|name| package.has(name))
    {
        return IWORK;
    }
    let types = package.head("[Content_Types].xml", HEAD).unwrap_or_default();
    // Some programs write it in UTF-16.
    let types: Vec<u8> = types.into_iter().filter(|byte| *byte != 0).collect();
    let says = |what: &str| memmem::find(&types, what.as_bytes()).is_some();
    let by_type = [
        ("wordprocessingml.document.main+xml", WORD),
        ("wordprocessingml.template.main+xml", WORD),
        ("ms-word.document.macroEnabled.main+xml", WORD),
        ("ms-word.template.macroEnabledTemplate.main+xml", WORD),
        ("spreadsheetml.sheet.main+xml", EXCEL),
        ("spreadsheetml.template.main+xml", EXCEL),
        ("ms-excel.sheet.macroEnabled.main+xml", EXCEL),
        ("ms-excel.template.macroEnabled.main+xml", EXCEL),
        ("ms-excel.sheet.binary.macroEnabled.main", EXCEL),
        ("presentationml.presentation.main+xml", POWERPOINT),
        ("presentationml.slideshow.main+xml", POWERPOINT),
        ("presentationml.template.main+xml", POWERPOINT),
        ("ms-powerpoint.presentation.macroEnabled.main+xml", POWERPOINT),
        ("ms-powerpoint.slideshow.macroEnabled.main+xml", POWERPOINT),
    ];
    if let Some((_, found)) = by_type.iter().find(|(what, _)| says(what)) {
        return *found;
    }
    if !package.has("_rels/.rels") && !package.has("[Content_Types].xml") {
        return ARCHIVE;
    }
    let by_name = [
        ("word/document.xml", WORD),
        ("xl/workbook.xml", EXCEL),
        ("xl/workbook.bin", EXCEL),
        ("ppt/presentation.xml", POWERPOINT),
    ];
    by_name.iter().find(|(name, _)| package.has(name)).map_or(ARCHIVE, |(_, found)| *found)
}

/// By the names of its streams.
pub(super) fn by_ole(bytes: &[u8]) -> FileKind {
    let kinds = [
        ("/EncryptedPackage", ENCRYPTED),
        ("/__properties_version1.0", OUTLOOK),
        ("/WordDocument", OLD_WORD),
        ("/PowerPoint Document", OLD_POWERPOINT),
        ("/PP40", OLDER_POWERPOINT),
        ("/Workbook", EXCEL),
        ("/Book", EXCEL),
    ];
    ole::first_held(bytes, &kinds.map(|(name, _)| name)).map_or(OLD_OTHER, |place| kinds[place].1)
}
