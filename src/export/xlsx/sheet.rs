//! A sheet with a heading, filters and any number of rows; when it is full, another sheet continues it.

use super::{
    book::{ExcelBook, cut},
    cell_look::{CellContent, CellLook},
};
use crate::export::{
    column_format::{ColumnFormat, iso_date},
    columns::{TableColumn, double},
    row_marks::CellMark,
    table_writer::shown,
};
use overnight_core::spreadsheet::is_formula;
use rust_xlsxwriter::{ExcelDateTime, Worksheet, XlsxError};
use serde_json::{Value, json};

/// Limits of the format: rows of a sheet with its heading, and letters of a cell, counted as UTF-16.
const MOST_ROWS: u32 = 1_048_576;
const MOST_LETTERS: usize = 32_767;
/// Letters that a column shows at least and at most, and the number of rows whose texts are measured.
const WIDTHS: (usize, usize) = (8, 60);
const ROWS_FOR_WIDTH: u32 = 1_000;
/// Letters of a date.
const DATE_LETTERS: usize = 10;

pub(super) struct ExcelSheet {
    name: String,
    heading: Vec<String>,
    formats: Vec<ColumnFormat>,
    widths: Vec<usize>,
    /// The current sheet: its number in the workbook, its name, and the number of its next row.
    index: usize,
    now: String,
    next: u32,
}

impl ExcelSheet {
    pub(super) fn new(book: &mut ExcelBook, name: &str, columns: Vec<TableColumn>) -> Result<Self, XlsxError> {
        let mut sheet = Self {
            name: name.to_owned(),
            widths: columns.iter().map(|column| column.name.chars().count() + 4).collect(),
            formats: columns.iter().map(|column| column.format).collect(),
            heading: columns.into_iter().map(|column| column.name).collect(),
            index: 0,
            now: String::new(),
            next: 0,
        };
        sheet.begin(book)?;
        Ok(sheet)
    }

    fn begin(&mut self, book: &mut ExcelBook) -> Result<(), XlsxError> {
        (self.index, self.now) = book.add_sheet(&self.name)?;
        let sheet = book.workbook.worksheet_from_index(self.index)?;
        sheet.set_freeze_panes(1, 0)?;
        let heading = book.formats.of(CellLook { content: CellContent::Heading, ..CellLook::default() });
        for (column, name) in (0_u16..).zip(&self.heading) {
            sheet.write_string_with_format(0, column, name, heading)?;
        }
        self.next = 1;
        Ok(())
    }

    /// Begins a row. Returns its number on its sheet, from 0, and whether the sheet is a new one.
    pub(super) fn begin_row(&mut self, book: &mut ExcelBook) -> Result<(u32, bool), XlsxError> {
        let is_full = self.next == MOST_ROWS;
        if is_full {
            self.end(book)?;
            self.begin(book)?;
        }
        self.next += 1;
        Ok((self.next - 1, is_full))
    }

    /// The current row for a person: its number, with its sheet's name if that is not the first sheet.
    pub(super) fn reference(&self) -> Value {
        if self.now == self.name { json!(self.next) } else { json!(format!("{}, row {}", self.now, self.next)) }
    }

    pub(super) fn worksheet<'b>(&self, book: &'b mut ExcelBook) -> Result<&'b mut Worksheet, XlsxError> {
        book.workbook.worksheet_from_index(self.index)
    }

    /// Writes a cell of the row that was begun.
    pub(super) fn write(
        &mut self,
        book: &mut ExcelBook,
        place: usize,
        cell: &Value,
        (mark, is_grey): (CellMark, bool),
    ) -> Result<(), XlsxError> {
        let (row, column) = (self.next - 1, u16::try_from(place).unwrap_or(u16::MAX));
        let format = self.formats.get(place).copied().unwrap_or_default();
        let sheet = book.workbook.worksheet_from_index(self.index)?;
        let formats = &mut book.formats;
        let mut look = CellLook { mark, is_grey, ..CellLook::default() };
        let text = match cell {
            Value::Null => {
                if mark != CellMark::Unmarked {
                    sheet.write_blank(row, column, formats.of(look))?;
                }
                return Ok(());
            }
            Value::Bool(flag) => {
                sheet.write_boolean_with_format(row, column, *flag, formats.of(look))?;
                return Ok(());
            }
            Value::Number(number) => match double(number) {
                Some(double) => {
                    look.content = CellContent::Number(format.number);
                    sheet.write_number_with_format(row, column, double, formats.of(look))?;
                    // With separators and decimals: a number that doesn't fit is shown as a row of signs.
                    let digits = number.as_str().len();
                    self.widen(place, digits + digits / 3 + 3);
                    return Ok(());
                }
                None => number.to_string(),
            },
            Value::String(text) => {
                let date = iso_date(text).filter(|_| format.is_date);
                if let Some(date) = date.and_then(|(year, month, day)| ExcelDateTime::from_ymd(year, month, day).ok()) {
                    look.content = CellContent::Date;
                    sheet.write_datetime_with_format(row, column, date, formats.of(look))?;
                    self.widen(place, DATE_LETTERS);
                    return Ok(());
                }
                text.clone()
            }
            Value::Array(_) | Value::Object(_) => shown(cell),
        };
        let (shown, is_cut) = cut(&text, MOST_LETTERS);
        book.cut += u64::from(is_cut);
        if is_formula(shown) {
            look.content = CellContent::Defused;
        }
        if look == CellLook::default() {
            sheet.write_string(row, column, shown)?;
        } else {
            sheet.write_string_with_format(row, column, shown, formats.of(look))?;
        }
        if row < ROWS_FOR_WIDTH {
            self.widen(place, text.chars().count());
        }
        Ok(())
    }

    /// Makes a column wide enough for so many letters, up to the maximum.
    pub(super) fn widen(&mut self, place: usize, letters: usize) {
        if let Some(width) = self.widths.get_mut(place) {
            *width = (*width).max(letters.min(WIDTHS.1));
        }
    }

    /// Writes the properties of a sheet that are known when all its rows are written.
    pub(super) fn end(&self, book: &mut ExcelBook) -> Result<(), XlsxError> {
        let sheet = book.workbook.worksheet_from_index(self.index)?;
        for (column, width) in (0_u16..).zip(&self.widths) {
            let width = u16::try_from((*width).clamp(WIDTHS.0, WIDTHS.1)).unwrap_or(u16::MAX);
            sheet.set_column_width(column, f64::from(width))?;
        }
        let last = u16::try_from(self.heading.len().saturating_sub(1)).unwrap_or(u16::MAX);
        sheet.autofilter(0, 0, self.next - 1, last)?;
        Ok(())
    }
}
