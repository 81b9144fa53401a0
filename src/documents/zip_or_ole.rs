//! What a ZIP archive or an OLE file says that it is. The file itself has to say it, in the part that its format has for
//! that: an archive that merely holds a document is an archive.

use std::io::Cursor;

use memchr::memmem;

use super::readers::package::Package;

/// What such a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    Word,
    Workbook,
    Slides,
    /// A workbook in its own binary form, which only its extension tells from XLSX.
    BinaryWorkbook,
    Epub,
    OpenText,
    OpenSpreadsheet,
    OpenSlides,
    OpenOther,
    OldWord,
    OldWorkbook,
    OldSlides,
    Outlook,
    /// Of Office, with a password.
    Encrypted,
    /// An EPUB with a password.
    EncryptedBook,
    /// Any other OLE file.
    OldOther,
    Archive,
}

/// How much of a part is looked at that says what the file is.
const HEAD: u64 = 1 << 20;

/// The part of a book that names the others.
const BOOK: &str = "META-INF/container.xml";
/// The parts without which there is no document.
const MAIN: [&str; 4] = ["word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "content.xml"];

/// By the part that says so; by exact names where that part is damaged.
pub(super) fn by_zip(bytes: &[u8]) -> Declared {
    let Some(package) = Package::open(bytes) else { return Declared::Archive };
    let is_office = ["[Content_Types].xml", "mimetype"].iter().any(|name| package.has(name));
    if is_office && MAIN.iter().any(|name| package.is_locked(name)) {
        return Declared::Encrypted;
    }
    if package.is_locked(BOOK) {
        return Declared::EncryptedBook;
    }
    if let Some(mimetype) = package.head("mimetype", 200) {
        let mimetype = String::from_utf8_lossy(&mimetype);
        let mimetype = mimetype.trim();
        if mimetype == "application/epub+zip" {
            return Declared::Epub;
        }
        if let Some(kind) = mimetype.strip_prefix("application/vnd.oasis.opendocument.") {
            return match kind.strip_suffix("-template").unwrap_or(kind) {
                "text" => Declared::OpenText,
                "spreadsheet" => Declared::OpenSpreadsheet,
                "presentation" => Declared::OpenSlides,
                _ => Declared::OpenOther,
            };
        }
    }
    if package.has(BOOK) {
        // Some programs forget to say so.
        return Declared::Epub;
    }
    let types = package.head("[Content_Types].xml", HEAD).unwrap_or_default();
    // Some programs write it in UTF-16.
    let types: Vec<u8> = types.into_iter().filter(|byte| *byte != 0).collect();
    let says = |what: &str| memmem::find(&types, what.as_bytes()).is_some();
    let by_type = [
        ("wordprocessingml.document.main+xml", Declared::Word),
        ("wordprocessingml.template.main+xml", Declared::Word),
        ("ms-word.document.macroEnabled.main+xml", Declared::Word),
        ("ms-word.template.macroEnabledTemplate.main+xml", Declared::Word),
        ("spreadsheetml.sheet.main+xml", Declared::Workbook),
        ("spreadsheetml.template.main+xml", Declared::Workbook),
        ("ms-excel.sheet.macroEnabled.main+xml", Declared::Workbook),
        ("ms-excel.template.macroEnabled.main+xml", Declared::Workbook),
        ("ms-excel.sheet.binary.macroEnabled.main", Declared::BinaryWorkbook),
        ("presentationml.presentation.main+xml", Declared::Slides),
        ("presentationml.slideshow.main+xml", Declared::Slides),
        ("presentationml.template.main+xml", Declared::Slides),
        ("ms-powerpoint.presentation.macroEnabled.main+xml", Declared::Slides),
        ("ms-powerpoint.slideshow.macroEnabled.main+xml", Declared::Slides),
    ];
    if let Some((_, found)) = by_type.iter().find(|(what, _)| says(what)) {
        return *found;
    }
    if !package.has("_rels/.rels") && !package.has("[Content_Types].xml") {
        return Declared::Archive;
    }
    let by_name = [
        ("word/document.xml", Declared::Word),
        ("xl/workbook.xml", Declared::Workbook),
        ("ppt/presentation.xml", Declared::Slides),
    ];
    by_name.iter().find(|(name, _)| package.has(name)).map_or(Declared::Archive, |(_, found)| *found)
}

/// By the names of its streams.
pub(super) fn by_ole(bytes: &[u8]) -> Declared {
    let opened = cfb::CompoundFile::open(Cursor::new(bytes)).ok();
    let has = |name: &str| {
        if let Some(opened) = &opened {
            opened.exists(name)
        } else {
            // What can't be opened may still show the names.
            let wide: Vec<u8> = name.trim_start_matches('/').encode_utf16().flat_map(u16::to_le_bytes).collect();
            memmem::find(bytes, &wide).is_some()
        }
    };
    [
        ("/EncryptedPackage", Declared::Encrypted),
        ("/__properties_version1.0", Declared::Outlook),
        ("/WordDocument", Declared::OldWord),
        ("/PowerPoint Document", Declared::OldSlides),
        ("/Workbook", Declared::OldWorkbook),
        ("/Book", Declared::OldWorkbook),
    ]
    .into_iter()
    .find(|(name, _)| has(name))
    .map_or(Declared::OldOther, |(_, found)| found)
}
