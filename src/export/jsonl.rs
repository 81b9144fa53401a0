//! A JSON object a line.

use super::{
    TableColumns,
    table_writer::{ExportError, RecordRow, TableNotes, TableWriter},
};
use serde_json::{Map, Value};
use std::io::Write;

pub(super) struct JsonLines<W: Write> {
    out: W,
    names: Vec<String>,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(out: W, columns: &TableColumns) -> Self {
        Self { out, names: columns.all().into_iter().map(|column| column.name).collect() }
    }
}

impl<W: Write> TableWriter for JsonLines<W> {
    fn row(&mut self, RecordRow { cells, .. }: &RecordRow<'_>) -> Result<(), ExportError> {
        let row: Map<String, Value> = self.names.iter().cloned().zip(cells.iter().cloned()).collect();
        serde_json::to_writer(&mut self.out, &row)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<TableNotes, ExportError> {
        self.out.flush()?;
        Ok(TableNotes::new())
    }
}
