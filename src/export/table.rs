//! Writes a table in the requested format.

use super::{
    TableColumns, csv,
    gather::GatheredRecords,
    jsonl, sqlite,
    table_writer::{ExportError, TableNotes, TableWriter},
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    fs::Permissions,
    io::{self, BufWriter},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// The form of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    #[default]
    Csv,
    Jsonl,
    Xlsx,
    Parquet,
    Sqlite,
}

/// Writes a table to the new file `path`, which appears complete or not at all; or to `out`, if the format is a text
/// and no file is named.
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
        #[cfg(not(feature = "tables"))]
        TableFormat::Xlsx | TableFormat::Parquet => return Err(ExportError::LeftOut),
        #[cfg(feature = "tables")]
        TableFormat::Xlsx => Box::new(super::xlsx::ExcelTable::new(file.path(), folder, gathered)?),
        #[cfg(feature = "tables")]
        TableFormat::Parquet => Box::new(super::parquet::ParquetTable::new(file.reopen()?, columns)?),
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

/// A writer for a text format; `None` for any other.
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
