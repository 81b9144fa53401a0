//! An Excel workbook, written row by row: the heading stays in sight and has filters, and no cell is a formula.

use super::{
    TableColumns,
    table::{ExportError, TableWriter, shown},
};
use rust_xlsxwriter::{Format, Workbook, XlsxError};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Rows of a sheet with its heading, and letters of a cell, at most: limits of the format.
const MOST_ROWS: u32 = 1_048_576;
const MOST_LETTERS: usize = 32_767;
/// The name of the first sheet; those behind it are numbered.
const SHEET: &str = "records";

pub(super) struct ExcelTable {
    book: Workbook,
    path: PathBuf,
    heading: Vec<String>,
    sheets: usize,
    next: u32,
}

impl ExcelTable {
    pub(super) fn new(path: &Path, columns: &TableColumns) -> Result<Self, ExportError> {
        // The file is written at the end; somebody else's is not replaced.
        drop(std::fs::File::create_new(path)?);
        let heading = columns.all().into_iter().map(|column| column.name).collect();
        let mut workbook = Self { book: Workbook::new(), path: path.to_owned(), heading, sheets: 0, next: 0 };
        workbook.add_sheet()?;
        Ok(workbook)
    }

    fn add_sheet(&mut self) -> Result<(), XlsxError> {
        self.sheets += 1;
        let sheet = self.book.add_worksheet_with_constant_memory()?;
        let name = if self.sheets == 1 { SHEET.to_owned() } else { format!("{SHEET} {}", self.sheets) };
        sheet.set_name(name)?;
        sheet.set_freeze_panes(1, 0)?;
        let bold = Format::new().set_bold();
        for (column, name) in (0_u16..).zip(&self.heading) {
            sheet.write_string_with_format(0, column, name, &bold)?;
        }
        let last = u16::try_from(self.heading.len().saturating_sub(1)).unwrap_or(u16::MAX);
        sheet.autofilter(0, 0, MOST_ROWS - 1, last)?;
        self.next = 1;
        Ok(())
    }
}

impl TableWriter for ExcelTable {
    fn row(&mut self, cells: &[Value]) -> Result<(), ExportError> {
        if self.next == MOST_ROWS {
            self.add_sheet()?;
        }
        let row = self.next;
        let sheet = self.book.worksheet_from_index(self.sheets - 1)?;
        for (column, cell) in (0_u16..).zip(cells) {
            match cell {
                Value::Null => {}
                Value::Bool(flag) => drop(sheet.write_boolean(row, column, *flag)?),
                Value::Number(number) => drop(sheet.write_number(row, column, number.as_f64().unwrap_or_default())?),
                Value::String(_) | Value::Array(_) | Value::Object(_) => {
                    let text: String = shown(cell).chars().take(MOST_LETTERS).collect();
                    sheet.write_string(row, column, text)?;
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.book.save(&self.path)?)
    }
}
