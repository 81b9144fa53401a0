//! Documents within a presentation: objects of other programs on a slide. Texts, workbooks and presentations are read,
//! once each.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::read::ZlibDecoder;

use super::OldOfficeReader;
use super::records::{Record, kind};
use crate::extracted::{CollectedPages, Extracted};
use crate::format::Format;
use crate::readers::flow::Flow;
use crate::readers::{ReadFailure, Reader, Source, WorkbookReader};
use crate::units::Unit;

/// The most objects whose places are kept, and the most that are read.
const MAX_OBJECTS: usize = 20_000;
const MAX_READ: usize = 500;
/// The most bytes of an object.
const MAX_BYTES: u64 = 32 << 20;
/// The flag of an object's record for compressed bytes.
const PACKED: u16 = 1;

/// A presentation's objects, by their numbers.
#[derive(Debug, Default)]
pub(super) struct SlideObjects<'a> {
    places: HashMap<u32, Record<'a>>,
    known: HashMap<u32, Option<Extracted>>,
    /// References to objects that weren't read.
    pub(super) omitted: u64,
}

impl<'a> SlideObjects<'a> {
    /// The objects that the document lists, each in a part of its own.
    pub(super) fn of(document: Record<'a>, part: impl Fn(u32) -> Option<Record<'a>>) -> Self {
        let lists = document.children().filter(|found| found.kind == kind::OBJECT_LIST);
        let atoms = lists.flat_map(|list| list.all(kind::OBJECT_ATOM));
        let places = atoms.filter_map(|atom| Some((atom.number(8)?, part(atom.number(16)?)?)));
        Self { places: places.take(MAX_OBJECTS).collect(), ..Self::default() }
    }

    /// Writes the content of an object, and returns notes about it.
    pub(super) fn tell(&mut self, object: u32, flow: &mut Flow) -> Vec<String> {
        let is_full = self.known.len() >= MAX_READ;
        let place = self.places.get(&object).filter(|_| !is_full || self.known.contains_key(&object));
        let read = place.map(|place| self.known.entry(object).or_insert_with(|| read(*place)));
        let Some(Some(read)) = read else {
            self.omitted += 1;
            return Vec::new();
        };
        for page in read.text.split('\x0c') {
            flow.paragraph(page.trim_end());
        }
        for gap in &read.gaps {
            flow.gap(format!("within an object on it, {gap}"));
        }
        read.notes.clone()
    }
}

/// The text of an object. None: it has none, or it is of another kind.
fn read(place: Record<'_>) -> Option<Extracted> {
    let bytes = unpacked(place)?;
    let mut file = cfb::CompoundFile::open(Cursor::new(&*bytes)).ok()?;
    let mut pages = CollectedPages::default();
    let source = Source { name: "", bytes: &bytes };
    // If a library panics, the object is left out, but not the slide.
    let unit = catch_unwind(AssertUnwindSafe(|| -> Option<Result<Unit, ReadFailure>> {
        if file.exists("/WordDocument") {
            Some(OldOfficeReader.read(source, &mut pages))
        } else if file.exists("/Workbook") || file.exists("/Book") {
            Some(WorkbookReader.read(source, &mut pages))
        } else if file.exists("/PowerPoint Document") {
            Some(super::slides::read(&mut file, true, &mut pages))
        } else {
            None
        }
    }));
    let unit = unit.ok()??.ok()?;
    let mut read = pages.finish(Format::OldOffice, String::new(), unit, None);
    if file.exists("/Workbook") || file.exists("/Book") {
        read.text = without_blank_sheets(&read.text);
    }
    (!read.text.trim().is_empty()).then_some(read)
}

/// Leaves out sheets with nothing but their names, and the name of a single remaining sheet.
fn without_blank_sheets(text: &str) -> String {
    let named = text.split('\x0c').map(|sheet| sheet.split_once('\n').unwrap_or((sheet, "")));
    let sheets: Vec<(&str, &str)> = named.filter(|(_, rows)| !rows.trim().is_empty()).collect();
    match sheets[..] {
        [(_, rows)] => rows.trim().to_owned(),
        _ => sheets.iter().map(|(name, rows)| format!("{name}\n{rows}")).collect::<Vec<_>>().join("\x0c"),
    }
}

fn unpacked(place: Record<'_>) -> Option<Vec<u8>> {
    if place.instance != PACKED {
        return Some(place.bytes.to_vec());
    }
    let mut bytes = Vec::new();
    // The readable part of the bytes may be enough.
    let _ = ZlibDecoder::new(place.bytes.get(4..)?).take(MAX_BYTES).read_to_end(&mut bytes);
    Some(bytes)
}
