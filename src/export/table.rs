//! What all formats have in common: a writer that takes rows, and what may go wrong.

use super::{TableColumns, csv, jsonl, parquet, sqlite, xlsx};
use serde_json::Value;
use std::{fs::File, io, path::Path};

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    Csv,
    Jsonl,
    Xlsx,
    Parquet,
    Sqlite,
}

/// Why a table could not be written: a sentence.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the table can't be written ({0})")]
    Io(#[from] io::Error),
    #[error("the table can't be written ({0})")]
    Csv(#[from] ::csv::Error),
    #[error("the table can't be written ({0})")]
    Json(#[from] serde_json::Error),
    #[error("the table can't be written as XLSX ({0})")]
    Xlsx(#[from] rust_xlsxwriter::XlsxError),
    #[error("the table can't be written as Parquet ({0})")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    #[error("the table can't be written as SQLite ({0})")]
    Sqlite(#[from] sqlx::Error),
}

/// Takes rows, one after the other. A row has a value for each column: null, a flag, a number, a text, or for fields that are
/// lists any JSON.
pub trait TableWriter {
    fn row(&mut self, cells: &[Value]) -> Result<(), ExportError>;

    /// The last row has come.
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

/// A writer of a new file at `path`, or to `out` where the format is a text and no file is named.
pub fn writer<'w>(
    format: TableFormat,
    columns: &TableColumns,
    path: Option<&Path>,
    out: Box<dyn io::Write + 'w>,
) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
    let text = |path: Option<&Path>, out| -> Result<Box<dyn io::Write + 'w>, io::Error> {
        Ok(match path {
            Some(path) => Box::new(io::BufWriter::new(File::create_new(path)?)),
            None => out,
        })
    };
    let file = path.unwrap_or(Path::new("table"));
    Ok(match format {
        TableFormat::Csv => Box::new(csv::CsvTable::new(text(path, out)?, columns)?),
        TableFormat::Jsonl => Box::new(jsonl::JsonLines::new(text(path, out)?, columns)),
        TableFormat::Xlsx => Box::new(xlsx::ExcelTable::new(file, columns)?),
        TableFormat::Parquet => Box::new(parquet::ParquetTable::new(File::create_new(file)?, columns)?),
        TableFormat::Sqlite => Box::new(sqlite::SqliteTable::new(file, columns)?),
    })
}

/// A value as a text: a list or an object as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Spreadsheets take a cell that begins so for a formula; behind an apostrophe it is text.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A text that no spreadsheet takes for a formula.
pub(super) fn defused(text: String) -> String {
    if text.starts_with(FORMULA) { format!("'{text}") } else { text }
}
