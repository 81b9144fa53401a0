//! The sheet of the records, and the workbook around it.

use super::{
    book::{ExcelBook, cut},
    list_sheets::ListSheets,
    other_sheets::{write_legend, write_not_in_table},
    sheet::ExcelSheet,
};
use crate::export::{
    gather::GatheredRecords,
    nested::MOST_LISTS,
    row_marks::{CellMark, RowMarks},
    table_writer::{ExportError, RecordRow, TableNotes, TableWriter, shown},
};
use rust_xlsxwriter::{Note, Url, Worksheet, XlsxError};
use serde_json::Value;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// Links on a sheet, at most: a limit of the format, beyond which Excel takes the file as broken.
const MOST_LINKS: u32 = 65_530;
/// Letters of a note, and notes of a workbook: each takes 13 KB of memory until the end, and is a drawing in Excel.
const NOTE_LETTERS: usize = 2_000;
const MOST_NOTES: u32 = 5_000;
/// The name of the first sheet; the sheets that continue it are numbered.
const SHEET: &str = "records";

pub(in crate::export) struct ExcelTable {
    book: ExcelBook,
    path: PathBuf,
    sheet: ExcelSheet,
    lists: ListSheets,
    /// Lists that have no sheet, because there are too many.
    without_sheet: Vec<String>,
    /// The records' own fields, by their places in a row.
    fields: HashMap<usize, String>,
    places: KnownPlaces,
    links: u32,
    notes: u32,
    /// Links and notes that did not fit.
    without_link: u64,
    without_note: u64,
}

/// Indexes in a row of the cells from which notes and links are made.
struct KnownPlaces {
    quote: Option<usize>,
    document: Option<usize>,
    page: Option<usize>,
    line: Option<usize>,
    check: Option<usize>,
    review_page: Option<usize>,
}

impl ExcelTable {
    /// Makes the table for the file at `path`; temporary data is beside it, in `folder`.
    pub(in crate::export) fn new(path: &Path, folder: &Path, gathered: &GatheredRecords) -> Result<Self, ExportError> {
        let columns = &gathered.columns;
        let mut book = ExcelBook::new(folder)?;
        let sheet = ExcelSheet::new(&mut book, SHEET, columns.all())?;
        write_not_in_table(&mut book, gathered.not_in_table.rows())?;
        let lists = ListSheets::new(&mut book, &gathered.nested, columns)?;
        let fields = columns.field_places().into_iter().filter_map(|(name, place)| Some((place?, name.to_owned())));
        Ok(Self {
            book,
            path: path.to_owned(),
            sheet,
            lists,
            without_sheet: gathered.nested.with_sheets().1.into_iter().map(str::to_owned).collect(),
            fields: fields.collect(),
            places: KnownPlaces {
                quote: columns.place_of("quote"),
                document: columns.place_of("document"),
                page: columns.place_of("page_found"),
                line: columns.place_of("line_found"),
                check: columns.place_of("check"),
                review_page: columns.place_of("review_page"),
            },
            links: 0,
            notes: 0,
            without_link: 0,
            without_note: 0,
        })
    }

    /// The text of a record's note: its quote, and the place where it was found.
    fn note(&self, cells: &[Value]) -> Option<String> {
        let cell = |place: Option<usize>| place.and_then(|place| cells.get(place)).filter(|cell| !cell.is_null());
        let quote = shown(cell(self.places.quote)?);
        let mut parts: Vec<String> = cell(self.places.document).map(shown).into_iter().collect();
        let units = [("page", self.places.page), ("line", self.places.line)];
        parts.extend(units.into_iter().filter_map(|(unit, place)| Some(format!("{unit} {}", shown(cell(place)?)))));
        parts.extend(cell(self.places.check).map(|check| shown(check).replace('_', " ")));
        Some(format!("{}\n\n{}", cut(&quote, NOTE_LETTERS).0, cut(&parts.join(", "), NOTE_LETTERS).0))
    }

    /// The mark of the cell at `place`.
    fn mark(&self, marks: &RowMarks, place: usize) -> CellMark {
        let is_of_record = self.places.document == Some(place) && marks.is_doubtful();
        if is_of_record || marks.is_quote_doubtful && self.places.quote == Some(place) {
            return CellMark::Doubtful;
        }
        let field = self.fields.get(&place).filter(|_| !marks.is_even());
        field.map_or(CellMark::Unmarked, |field| marks.of_field(field))
    }

    /// Writes a link in place of a cell's text. Returns whether it fit.
    fn link(&mut self, row: u32, place: usize, target: &str) -> Result<bool, XlsxError> {
        let column = u16::try_from(place).unwrap_or(u16::MAX);
        if self.links == MOST_LINKS || !link(self.sheet.worksheet(&mut self.book)?, (row, column), target)? {
            self.without_link += 1;
            return Ok(false);
        }
        self.links += 1;
        self.sheet.widen(place, target.chars().count());
        Ok(true)
    }
}

impl TableWriter for ExcelTable {
    fn row(&mut self, of: &RecordRow<'_>) -> Result<(), ExportError> {
        let (row, is_new) = self.sheet.begin_row(&mut self.book)?;
        if is_new {
            self.links = 0;
        }
        for (place, cell) in of.cells.iter().enumerate() {
            if let (true, Value::String(target)) = (self.places.review_page == Some(place), cell)
                && self.link(row, place, target)?
            {
                continue;
            }
            let told = self.fields.get(&place).and_then(|field| self.lists.told(field, cell));
            let mark = self.mark(of.marks, place);
            let marks = (mark, of.marks.is_incomplete);
            self.sheet.write(&mut self.book, place, told.as_ref().unwrap_or(cell), marks)?;
        }
        let quote = self.places.quote.filter(|place| of.cells.get(*place).is_some_and(|quote| !quote.is_null()));
        let note = if self.notes < MOST_NOTES { self.note(of.cells) } else { None };
        match (note, quote) {
            (Some(note), Some(place)) => {
                let note =
                    Note::new(note).add_author_prefix(false).set_author("overnight").set_width(400).set_height(160);
                let column = u16::try_from(place).unwrap_or(u16::MAX);
                self.sheet.worksheet(&mut self.book)?.insert_note(row, column, &note)?;
                self.notes += 1;
            }
            _ => self.without_note += u64::from(quote.is_some()),
        }
        let reference = self.sheet.reference();
        Ok(self.lists.write(&mut self.book, of, &reference)?)
    }

    fn finish(mut self: Box<Self>) -> Result<TableNotes, ExportError> {
        self.sheet.end(&mut self.book)?;
        self.lists.end(&mut self.book)?;
        write_legend(&mut self.book)?;
        self.book.workbook.save(&self.path)?;
        let told = [
            (
                self.without_link,
                "records have no link, because a sheet may have 65530 of them: their review page stands there as text",
            ),
            (
                self.without_note,
                "records have no note, because 5000 are enough for a workbook: their quote stands in its column only",
            ),
            (
                self.book.cut,
                "texts are cut, because a cell may have 32767 letters: take another form for the whole of them",
            ),
        ];
        let told = told.into_iter().filter(|(count, _)| *count > 0).map(|(count, told)| format!("{count} {told}"));
        let lists = (!self.without_sheet.is_empty()).then(|| {
            let names = self.without_sheet.join(", ");
            format!("{names} stand as JSON in their cells, because {MOST_LISTS} lists have a sheet of their own")
        });
        Ok(told.chain(lists).collect())
    }
}

/// Writes a link. Returns whether it is valid as one.
fn link(sheet: &mut Worksheet, (row, column): (u32, u16), target: &str) -> Result<bool, XlsxError> {
    let is_address = ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
    // The library removes the three slashes; the rest is relative to the workbook's folder.
    let url = Url::new(if is_address { target.to_owned() } else { format!("file:///{target}") }).set_text(target);
    match sheet.write_url(row, column, url) {
        Ok(_) => Ok(true),
        Err(XlsxError::MaxUrlLengthExceeded | XlsxError::UnknownUrlType(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
