//! CSV (RFC 4180), for spreadsheets: no cell becomes a formula.

use super::{
    TableColumns,
    table_writer::{ExportError, RecordRow, TableNotes, TableWriter, shown},
};
use csv::{Terminator, Writer, WriterBuilder};
use overnight_core::spreadsheet::defused;
use serde_json::Value;
use std::io::Write;

pub(super) struct CsvTable<W: Write>(Writer<W>);

impl<W: Write> CsvTable<W> {
    pub(super) fn new(out: W, columns: &TableColumns) -> Result<Self, ExportError> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        writer.write_record(columns.all().into_iter().map(|column| defused(column.name)))?;
        Ok(Self(writer))
    }
}

impl<W: Write> TableWriter for CsvTable<W> {
    fn row(&mut self, RecordRow { cells, .. }: &RecordRow<'_>) -> Result<(), ExportError> {
        // A number is never a formula.
        let text = |cell: &Value| if cell.is_number() { cell.to_string() } else { defused(shown(cell)) };
        Ok(self.0.write_record(cells.iter().map(text))?)
    }

    fn finish(mut self: Box<Self>) -> Result<TableNotes, ExportError> {
        self.0.flush()?;
        Ok(TableNotes::new())
    }
}
