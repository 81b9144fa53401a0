//! One PDF, from bytes to the text of its pages.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use unpdf::Error;
use unpdf::parser::backend::{PdfBackend, RawBackend};
use unpdf::parser::raw::RawDocument;
use unpdf::parser::raw::document::PageTreeScan;

use super::annotations::{Overlay, overlays};
use super::attached::attached;
use super::damaged_streams::damaged_streams;
use super::fonts::Fonts;
use super::glyphs::PaintedPage;
use super::paint::{MANY_CURVES, SCANNED};
use super::pictures::Picture;
use super::plausible::is_gibberish;
use super::repair::repaired;
use super::write::WrittenPage;
use super::{paint, write};
use crate::gaps::{GIBBERISH, PageSpan, SCAN_BEHIND_TEXT};
use crate::readers::{PageSink, ReadFailure, Reader, Source, Stopped};
use crate::refusal::Refusal;
use crate::units::Unit;

/// The number of bytes within which the header must begin.
const MAX_PREFIX: usize = 64 << 10;
/// The maximum nesting depth of brackets: the library is recursive, and real files have a dozen.
const MAX_NESTING: usize = 1_000;
/// The number of shapes from which on a page without text has missing content.
const MANY_SHAPES: u64 = 200;

/// Reads PDF.
pub(crate) struct PdfReader;

impl Reader for PdfReader {
    fn version(&self) -> &'static str {
        "unpdf 0.52.1+18"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let bytes = without_prefix(source.bytes);
        let loaded = load(bytes)?;
        let found = loaded.document.pages();
        if found.is_empty() {
            return Err(damaged("no page of it can be found").into());
        }
        pages.expect(found.len() as u64)?;
        for name in &loaded.attached {
            pages.note(format!("the attached file {name:?} was not read: save it, and add it as a document"))?;
        }
        let last = found.keys().next_back().copied();
        let (mut hidden, mut recognised) = (Vec::new(), Vec::new());
        // A picture at the same place on many pages, such as a letterhead, is named once.
        let mut told = Vec::new();
        for (&number, &id) in &found {
            if !pages.begin(u64::from(number))? {
                continue;
            }
            let overlay = loaded.overlays.get(&id);
            match guarded(|| page(&loaded, id, overlay, &mut told)) {
                Some(read) => {
                    tell(&read.text, &read.gaps, pages)?;
                    if read.is_recognised {
                        pages.recognised()?;
                        PageSpan::push(&mut recognised, u64::from(number));
                    }
                    if read.hidden > 0 {
                        PageSpan::push(&mut hidden, u64::from(number));
                    }
                }
                None => pages.gap("its content makes no sense")?,
            }
            for name in overlay.iter().flat_map(|overlay| &overlay.files) {
                pages.note(format!("the file {name:?} that is pinned to page {number} was not read"))?;
            }
            if Some(number) == last && loaded.repaired.is_some() {
                pages.gap("its tables are damaged, and pages were looked for without them: some may be missing or out of order")?;
            } else if Some(number) == last && loaded.has_lost_pages {
                pages.gap(
                    "pages are missing: not all that its table of pages names were found, so numbers may be lower",
                )?;
            }
        }
        for range in &recognised {
            pages.note(format!("the text of {range} was recognised in its picture, by whoever made the file"))?;
        }
        for range in &hidden {
            pages.note(format!(
                "text that nobody sees was left out on {range}: invisible, white on white, cut off, or without size"
            ))?;
        }
        Ok(Unit::Page)
    }
}

pub(super) struct LoadedPdf {
    pub(super) document: RawBackend,
    pub(super) overlays: HashMap<(u32, u16), Overlay>,
    /// The names of embedded files.
    attached: Vec<String>,
    fonts: Fonts,
    torn: HashSet<(u32, u16)>,
    has_lost_pages: bool,
    /// The repaired file that was read instead of the document.
    pub(super) repaired: Option<Vec<u8>>,
}

/// The document in `bytes`, from its header on.
pub(super) fn load(bytes: &[u8]) -> Result<LoadedPdf, Refusal> {
    if is_nested_deeply(bytes) {
        return Err(damaged("its objects are nested thousands of times"));
    }
    guarded(|| load_any(bytes)).unwrap_or_else(|| Err(damaged("its structure makes no sense")))
}

fn load_any(bytes: &[u8]) -> Result<LoadedPdf, Refusal> {
    let pages = match RawDocument::load(bytes) {
        Ok(document) => document.scan_page_tree(),
        Err(Error::PdfParse(_)) => PageTreeScan::default(),
        Err(error) => return Err(refusal(&error, bytes)),
    };
    let is_whole = pages.unresolved_nodes == 0 && !pages.pages.is_empty();
    match (!is_whole).then(|| repaired(bytes, pages.pages.len())).flatten() {
        Some(repaired) => {
            let read = loaded(&repaired)?;
            Ok(LoadedPdf { repaired: Some(repaired), ..read })
        }
        None => loaded(bytes),
    }
}

fn loaded(bytes: &[u8]) -> Result<LoadedPdf, Refusal> {
    let raw = RawDocument::load(bytes).map_err(|error| refusal(&error, bytes))?;
    let (overlays, fonts, torn) = (overlays(&raw), Fonts::of(&raw), damaged_streams(&raw));
    let attached = attached(&raw);
    drop(raw);
    let document = RawBackend::load_bytes(bytes).map_err(|error| refusal(&error, bytes))?;
    let has_lost_pages = document.integrity().pages_incomplete();
    Ok(LoadedPdf { document, overlays, attached, fonts, torn, has_lost_pages, repaired: None })
}

/// The result of `work`; none if the library panicked in it. Only data at hand may be used again: the library holds
/// only caches.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

struct ReadPage {
    text: String,
    gaps: Vec<&'static str>,
    is_recognised: bool,
    /// The number of invisible characters.
    hidden: usize,
}

fn page(loaded: &LoadedPdf, id: (u32, u16), overlay: Option<&Overlay>, told: &mut Vec<Picture>) -> ReadPage {
    let mut page = paint::page(&loaded.document, &loaded.fonts, id, overlay);
    page.damaged += u64::from(loaded.torn.contains(&id));
    page.pictures.retain(|picture| !told.iter().any(|other| picture.is_as(other)));
    told.extend(&page.pictures);
    let mut text = write::text(&page).text;
    let mut gaps = gaps(&page, &text);
    if is_gibberish(&text) {
        text.clear();
        gaps.retain(|&gap| gap != SCAN_BEHIND_TEXT);
        gaps.push(GIBBERISH);
    }
    for comment in overlay.iter().flat_map(|overlay| &overlay.comments) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(comment.trim());
        text.push('\n');
    }
    let is_recognised = page.is_recognised && !text.trim().is_empty();
    ReadPage { text, gaps, is_recognised, hidden: page.hidden }
}

/// The text of page `id`, with its places.
pub(super) fn written(loaded: &LoadedPdf, id: (u32, u16)) -> Option<WrittenPage> {
    guarded(|| write::text(&paint::page(&loaded.document, &loaded.fonts, id, loaded.overlays.get(&id))))
}

fn tell(text: &str, gaps: &[&str], pages: &mut dyn PageSink) -> Result<(), Stopped> {
    if !text.is_empty() {
        pages.text(text)?;
    }
    gaps.iter().try_for_each(|gap| pages.gap(gap))
}

pub(super) fn damaged(why: &str) -> Refusal {
    Refusal::Damaged { format: "PDF".to_owned(), why: why.to_owned() }
}

pub(super) fn refusal(error: &Error, bytes: &[u8]) -> Refusal {
    match error {
        Error::Encrypted | Error::InvalidPassword | Error::UnsupportedVersion(_) => {
            Refusal::Encrypted { format: "a PDF file".to_owned() }
        }
        Error::PdfParse(why) if why.contains("Encrypt") => Refusal::Encrypted { format: "a PDF file".to_owned() },
        _ if bytes.len() < 64 || memchr::memmem::rfind(bytes, b"%%EOF").is_none() => {
            damaged("it is cut off before its table of objects")
        }
        _ => damaged("its table of objects is broken, and the objects can't be found without it"),
    }
}

/// The file from its header on, which mail programs and scripts put lines before.
pub(super) fn without_prefix(bytes: &[u8]) -> &[u8] {
    header(bytes).map_or(bytes, |at| &bytes[at..])
}

/// The offset of a PDF's header, if it is near the beginning.
pub fn header(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(&bytes[..bytes.len().min(MAX_PREFIX)], b"%PDF-")
}

/// Whether brackets are nested more deeply than in any real file. Streams don't count; the depth restarts at every
/// object's end.
fn is_nested_deeply(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        let stream = memchr::memmem::find_iter(rest, b"stream").find(|&at| {
            rest.get(at + 6).is_some_and(|&byte| matches!(byte, b'\r' | b'\n')) && !rest[..at].ends_with(b"end")
        });
        let objects = &rest[..stream.unwrap_or(rest.len())];
        if are_nested_deeply(objects, b"[", b"]") || are_nested_deeply(objects, b"<<", b">>") {
            return true;
        }
        let behind = &rest[objects.len()..];
        rest = memchr::memmem::find(behind, b"endstream").map_or(&[][..], |end| &behind[end..]);
    }
    false
}

fn are_nested_deeply(objects: &[u8], opening: &[u8], closing: &[u8]) -> bool {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(found) = memchr::memchr3(opening[0], closing[0], b'e', objects.get(at..).unwrap_or_default()) {
        at += found;
        let rest = &objects[at..];
        if rest.starts_with(opening) {
            depth += 1;
            at += opening.len() - 1;
        } else if rest.starts_with(closing) {
            depth = depth.saturating_sub(1);
            at += closing.len() - 1;
        } else if rest.starts_with(b"endobj") {
            depth = 0;
        }
        if depth > MAX_NESTING {
            return true;
        }
        at += 1;
    }
    false
}

/// The gaps of a page.
fn gaps(page: &PaintedPage, text: &str) -> Vec<&'static str> {
    let mut gaps = Vec::new();
    if page.damaged > 0 {
        gaps.push("a part of it is damaged");
    }
    if page.is_cut {
        gaps.push("there is more on it than is read of one page");
    }
    let strange = text.chars().filter(|&character| is_without_meaning(character)).count() as u64 + page.unmapped;
    let all = text.chars().filter(|character| !character.is_whitespace()).count() as u64 + page.unmapped;
    if strange > 0 && strange * 2 >= all {
        gaps.push("its characters have no meaning outside their font");
    } else if strange >= 10 && strange * 20 >= all {
        gaps.push("some of its characters have no meaning outside their font");
    }
    // Courts and fax machines print a line at the edge of a scan.
    if page.covered >= SCANNED && page.is_text_at_edge && !text.trim().is_empty() {
        gaps.push(SCAN_BEHIND_TEXT);
    }
    if text.trim().is_empty() && strange == 0 {
        if page.images > 0 {
            gaps.push("no text on it, probably a scan");
        } else if page.shapes >= MANY_SHAPES || page.curves >= MANY_CURVES {
            gaps.push("no text on it, only drawings");
        }
    }
    gaps
}

/// Whether a character is private to its font, or none at all.
fn is_without_meaning(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' | '\u{fffd}')
}
