//! The common part of all table formats: a writer that takes rows, and its errors.

use super::row_marks::RowMarks;
use serde_json::Value;
use std::io;

/// The reason why a table could not be written: a sentence.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the table can't be written ({0})")]
    Io(#[from] io::Error),
    #[error("the table can't be written ({0})")]
    Csv(#[from] ::csv::Error),
    #[error("the table can't be written ({0})")]
    Json(#[from] serde_json::Error),
    #[cfg(feature = "tables")]
    #[error("the table can't be written as XLSX ({0})")]
    Xlsx(#[from] rust_xlsxwriter::XlsxError),
    #[cfg(feature = "tables")]
    #[error("the table can't be written as Parquet ({0})")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    #[cfg(not(feature = "tables"))]
    #[error("{}", crate::built_without::NO_TABLES)]
    LeftOut,
    #[error("the table can't be written as SQLite ({0})")]
    Sqlite(#[from] sqlx::Error),
    #[error(
        "the records have fields of more than {0} names, which no table has room for: let the schema give them a list \
         instead of an object with changing names"
    )]
    TooManyColumns(usize),
}

impl ExportError {
    /// Whether the reader has closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        let kind = match self {
            Self::Io(error) => Some(error.kind()),
            Self::Csv(error) => match error.kind() {
                ::csv::ErrorKind::Io(error) => Some(error.kind()),
                _ => None,
            },
            Self::Json(error) => error.io_error_kind(),
            #[cfg(feature = "tables")]
            Self::Xlsx(_) | Self::Parquet(_) => None,
            #[cfg(not(feature = "tables"))]
            Self::LeftOut => None,
            Self::Sqlite(_) | Self::TooManyColumns(_) => None,
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }
}

/// Sentences on parts of the rows that didn't fit into the format.
pub type TableNotes = Vec<String>;

/// A row.
pub(super) struct RecordRow<'r> {
    /// A value for each column: null, a flag, a number, a text, or any JSON for fields that are lists.
    pub(super) cells: &'r [Value],
    /// The record of the row.
    pub(super) record: &'r Value,
    /// The record's document, whichever columns there are.
    pub(super) document: &'r Value,
    pub(super) marks: &'r RowMarks,
}

/// Takes rows, one after the other.
pub(super) trait TableWriter {
    fn row(&mut self, row: &RecordRow<'_>) -> Result<(), ExportError>;

    /// Called after the last row.
    fn finish(self: Box<Self>) -> Result<TableNotes, ExportError>;
}

/// A value as a text: a list or an object as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
