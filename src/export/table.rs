//! What all formats have in common: a writer that takes rows, and what may go wrong.

use super::{TableColumns, csv, gather::GatheredRecords, jsonl, parquet, sqlite, xlsx};
use serde_json::Value;
use std::{
    fs::Permissions,
    io::{self, BufWriter},
    os::unix::fs::PermissionsExt,
    path::Path,
};

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
    #[error(
        "the records have fields of more than {0} names, which no table has room for: let the schema give them a list \
         instead of an object with changing names"
    )]
    TooManyColumns(usize),
}

impl ExportError {
    /// Nobody reads on.
    pub fn is_closed_pipe(&self) -> bool {
        let kind = match self {
            Self::Io(error) => Some(error.kind()),
            Self::Csv(error) => match error.kind() {
                ::csv::ErrorKind::Io(error) => Some(error.kind()),
                _ => None,
            },
            Self::Json(error) => error.io_error_kind(),
            Self::Xlsx(_) | Self::Parquet(_) | Self::Sqlite(_) | Self::TooManyColumns(_) => None,
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }
}

/// What of the rows the form had no room for: sentences.
pub type TableNotes = Vec<String>;

/// Takes rows, one after the other. A row has a value for each column: null, a flag, a number, a text, or for fields that are
/// lists any JSON.
pub(super) trait TableWriter {
    fn row(&mut self, cells: &[Value]) -> Result<(), ExportError>;

    /// The last row has come.
    fn finish(self: Box<Self>) -> Result<TableNotes, ExportError>;
}

/// Writes a table to the new file `path`, which is there whole or not at all; or to `out`, where the form is a text and no file
/// is named.
pub fn write_table(
    gathered: &mut GatheredRecords,
    format: TableFormat,
    path: Option<&Path>,
    out: &mut dyn io::Write,
) -> Result<TableNotes, ExportError> {
    let Some(path) = path else {
        return write(gathered, text(format, &gathered.columns, out)?);
    };
    let folder = folder_of(path);
    let file = tempfile::Builder::new()
        .prefix(".overnight-table-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    let columns = &gathered.columns;
    let mut out = BufWriter::new(file.reopen()?);
    let table: Box<dyn TableWriter> = match format {
        TableFormat::Csv | TableFormat::Jsonl => text(format, columns, &mut out)?,
        TableFormat::Xlsx => Box::new(xlsx::ExcelTable::new(file.path(), folder, columns)?),
        TableFormat::Parquet => Box::new(parquet::ParquetTable::new(file.reopen()?, columns)?),
        TableFormat::Sqlite => Box::new(sqlite::SqliteTable::new(file.path(), columns)?),
    };
    let notes = write(gathered, table)?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(notes)
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A writer of a form that is a text; any other can't be one.
fn text<'o>(
    format: TableFormat,
    columns: &TableColumns,
    out: &'o mut dyn io::Write,
) -> Result<Box<dyn TableWriter + 'o>, ExportError> {
    Ok(match format {
        TableFormat::Csv => Box::new(csv::CsvTable::new(out, columns)?),
        TableFormat::Jsonl => Box::new(jsonl::JsonLines::new(out, columns)),
        TableFormat::Xlsx | TableFormat::Parquet | TableFormat::Sqlite => {
            return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
        }
    })
}

fn write(gathered: &mut GatheredRecords, mut table: Box<dyn TableWriter + '_>) -> Result<TableNotes, ExportError> {
    gathered.write(&mut *table)?;
    table.finish()
}

/// A value as a text: a list or an object as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
