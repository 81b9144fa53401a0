//! An Excel workbook, written row by row: the heading stays in sight and has filters, no cell is a formula, the quote's cell has a
//! note that says where it stands, and a record is linked to its place on the review page.

use super::{
    TableColumns,
    columns::double,
    table_writer::{ExportError, TableNotes, TableWriter, shown},
};
use overnight_core::spreadsheet::is_formula;
use rust_xlsxwriter::{Format, Note, Url, Workbook, Worksheet, XlsxError};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Rows of a sheet with its heading, links on it, and letters of a cell, as UTF-16 counts them, at most: limits of the format.
/// A file with more links is broken.
const MOST_ROWS: u32 = 1_048_576;
const MOST_LINKS: u32 = 65_530;
const MOST_LETTERS: usize = 32_767;
/// Letters of a note, and notes of a workbook, each of which takes 13 KB of memory until the end and is a drawing to Excel.
const NOTE_LETTERS: usize = 2_000;
const MOST_NOTES: u32 = 5_000;
/// The name of the first sheet; those behind it are numbered.
const SHEET: &str = "records";
/// Letters that a column shows at least and at most, and of how many rows they are counted.
const WIDTHS: (usize, usize) = (8, 60);
const ROWS_FOR_WIDTH: u32 = 1_000;

pub(super) struct ExcelTable {
    book: Workbook,
    path: PathBuf,
    heading: Vec<String>,
    widths: Vec<usize>,
    places: KnownPlaces,
    text: Format,
    sheets: usize,
    next: u32,
    links: u32,
    notes: u32,
    /// Links, notes and texts that there was no room for.
    left: [u64; 3],
}

/// Where in a row that stands which notes and links are made of.
struct KnownPlaces {
    quote: Option<usize>,
    document: Option<usize>,
    page: Option<usize>,
    line: Option<usize>,
    check: Option<usize>,
    review_page: Option<usize>,
}

impl ExcelTable {
    /// Of the file at `path`; what is written before its end is beside it, in `folder`.
    pub(super) fn new(path: &Path, folder: &Path, columns: &TableColumns) -> Result<Self, ExportError> {
        let heading: Vec<String> = columns.all().into_iter().map(|column| column.name).collect();
        let mut book = Workbook::new();
        book.set_tempdir(folder)?;
        let mut table = Self {
            book,
            path: path.to_owned(),
            widths: heading.iter().map(|name| name.chars().count() + 4).collect(),
            heading,
            places: KnownPlaces {
                quote: columns.place_of("quote"),
                document: columns.place_of("document"),
                page: columns.place_of("page_found"),
                line: columns.place_of("line_found"),
                check: columns.place_of("check"),
                review_page: columns.place_of("review_page"),
            },
            text: Format::new().set_quote_prefix(),
            sheets: 0,
            next: 0,
            links: 0,
            notes: 0,
            left: [0; 3],
        };
        table.add_sheet()?;
        Ok(table)
    }

    fn add_sheet(&mut self) -> Result<(), XlsxError> {
        self.end_sheet()?;
        self.sheets += 1;
        let sheet = self.book.add_worksheet_with_constant_memory()?;
        let name = if self.sheets == 1 { SHEET.to_owned() } else { format!("{SHEET} {}", self.sheets) };
        sheet.set_name(name)?;
        sheet.set_freeze_panes(1, 0)?;
        let bold = Format::new().set_bold();
        for (column, name) in (0_u16..).zip(&self.heading) {
            sheet.write_string_with_format(0, column, name, &bold)?;
        }
        (self.next, self.links) = (1, 0);
        Ok(())
    }

    /// What is known of a sheet when all its rows are written.
    fn end_sheet(&mut self) -> Result<(), XlsxError> {
        if self.sheets == 0 {
            return Ok(());
        }
        let sheet = self.book.worksheet_from_index(self.sheets - 1)?;
        for (column, width) in (0_u16..).zip(&self.widths) {
            let width = u16::try_from((*width).clamp(WIDTHS.0, WIDTHS.1)).unwrap_or(u16::MAX);
            sheet.set_column_width(column, f64::from(width))?;
        }
        let last = u16::try_from(self.heading.len().saturating_sub(1)).unwrap_or(u16::MAX);
        sheet.autofilter(0, 0, self.next - 1, last)?;
        Ok(())
    }

    /// What the note of a record says: its quote, and where it was found.
    fn note(&self, cells: &[Value]) -> Option<String> {
        let cell = |place: Option<usize>| place.and_then(|place| cells.get(place)).filter(|cell| !cell.is_null());
        let quote = shown(cell(self.places.quote)?);
        let mut parts: Vec<String> = cell(self.places.document).map(shown).into_iter().collect();
        let units = [("page", self.places.page), ("line", self.places.line)];
        parts.extend(units.into_iter().filter_map(|(unit, place)| Some(format!("{unit} {}", shown(cell(place)?)))));
        parts.extend(cell(self.places.check).map(|check| shown(check).replace('_', " ")));
        Some(format!("{}\n\n{}", cut(&quote, NOTE_LETTERS).0, cut(&parts.join(", "), NOTE_LETTERS).0))
    }
}

impl TableWriter for ExcelTable {
    fn row(&mut self, cells: &[Value]) -> Result<(), ExportError> {
        if self.next == MOST_ROWS {
            self.add_sheet()?;
        }
        let row = self.next;
        let note = if self.notes < MOST_NOTES { self.note(cells) } else { None };
        let sheet = self.book.worksheet_from_index(self.sheets - 1)?;
        for (place, cell) in cells.iter().enumerate() {
            let column = u16::try_from(place).unwrap_or(u16::MAX);
            let text = match cell {
                Value::Null => continue,
                Value::Bool(flag) => {
                    sheet.write_boolean(row, column, *flag)?;
                    continue;
                }
                Value::Number(number) => match double(number) {
                    Some(number) => {
                        sheet.write_number(row, column, number)?;
                        continue;
                    }
                    None => number.to_string(),
                },
                Value::String(_) | Value::Array(_) | Value::Object(_) => shown(cell),
            };
            if row < ROWS_FOR_WIDTH {
                self.widths[place] = self.widths[place].max(text.chars().count().min(WIDTHS.1));
            }
            if self.places.review_page == Some(place) && self.links < MOST_LINKS && link(sheet, (row, column), &text)? {
                self.links += 1;
                continue;
            }
            self.left[0] += u64::from(self.places.review_page == Some(place));
            let (text, is_cut) = cut(&text, MOST_LETTERS);
            self.left[2] += u64::from(is_cut);
            if is_formula(text) {
                sheet.write_string_with_format(row, column, text, &self.text)?;
            } else {
                sheet.write_string(row, column, text)?;
            }
        }
        let is_quoted = self.places.quote.and_then(|place| cells.get(place)).is_some_and(|quote| !quote.is_null());
        match (note, self.places.quote) {
            (Some(note), Some(place)) => {
                let note =
                    Note::new(note).add_author_prefix(false).set_author("overnight").set_width(400).set_height(160);
                sheet.insert_note(row, u16::try_from(place).unwrap_or(u16::MAX), &note)?;
                self.notes += 1;
            }
            _ => self.left[1] += u64::from(is_quoted),
        }
        self.next += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<TableNotes, ExportError> {
        self.end_sheet()?;
        self.book.save(&self.path)?;
        let told = [
            format!(
                "have no link, because a sheet may have {MOST_LINKS} of them: their review page stands there as text"
            ),
            format!(
                "have no note, because {MOST_NOTES} are enough for a workbook: their quote stands in its column only"
            ),
            format!("are cut, because a cell may have {MOST_LETTERS} letters: take another form for the whole of them"),
        ];
        let what = ["records", "records", "texts"];
        let told = self.left.iter().zip(what).zip(told).filter(|((count, _), _)| **count > 0);
        Ok(told.map(|((count, what), told)| format!("{count} {what} {told}")).collect())
    }
}

/// Writes a link; whether it could be one.
fn link(sheet: &mut Worksheet, (row, column): (u32, u16), target: &str) -> Result<bool, XlsxError> {
    let is_address = ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
    // Three slashes are taken off again, and what is left is seen from where the workbook lies.
    let url = Url::new(if is_address { target.to_owned() } else { format!("file:///{target}") }).set_text(target);
    match sheet.write_url(row, column, url) {
        Ok(_) => Ok(true),
        Err(XlsxError::MaxUrlLengthExceeded | XlsxError::UnknownUrlType(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// No more than `most` letters of a text, as UTF-16 counts them, and whether there are more.
fn cut(text: &str, most: usize) -> (&str, bool) {
    let mut letters = 0;
    for (at, letter) in text.char_indices() {
        letters += letter.len_utf16();
        if letters > most {
            return (&text[..at], true);
        }
    }
    (text, false)
}
