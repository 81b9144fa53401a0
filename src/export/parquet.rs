//! A Parquet file: columns with the types of the schema, flat, each of which may be null.

use super::{
    ColumnKind, TableColumn, TableColumns,
    table_writer::{ExportError, RecordRow, TableNotes, TableWriter, shown},
};
use parquet::{
    basic::{Compression, ConvertedType, Repetition, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::Type,
};
use serde_json::Value;
use std::{fs::File, sync::Arc};

/// Rows of one group, and bytes of their texts, at most: they are kept in memory until the group is written.
const GROUP_ROWS: usize = 20_000;
const GROUP_BYTES: usize = 16 << 20;

pub(super) struct ParquetTable {
    file: SerializedFileWriter<File>,
    columns: Vec<TableColumn>,
    rows: Vec<Vec<Value>>,
    bytes: usize,
}

impl ParquetTable {
    pub(super) fn new(file: File, columns: &TableColumns) -> Result<Self, ExportError> {
        let columns = columns.all();
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("records").with_fields(fields).build()?;
        let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
        let file = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { file, columns, rows: Vec::new(), bytes: 0 })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut group = self.file.next_row_group()?;
        for (place, column) in self.columns.iter().enumerate() {
            let cells = || rows.iter().map(|row| row.get(place).unwrap_or(&Value::Null));
            let levels: Vec<i16> = cells().map(|cell| i16::from(!cell.is_null())).collect();
            let there = cells().filter(|cell| !cell.is_null());
            let Some(mut writer) = group.next_column()? else { break };
            match column.kind {
                ColumnKind::Text => {
                    let texts: Vec<ByteArray> = there.map(|cell| ByteArray::from(shown(cell).into_bytes())).collect();
                    writer.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                }
                ColumnKind::Integer => {
                    let numbers: Vec<i64> = there.map(|cell| cell.as_i64().unwrap_or_default()).collect();
                    writer.typed::<Int64Type>().write_batch(&numbers, Some(&levels), None)?;
                }
                ColumnKind::Number => {
                    let numbers: Vec<f64> = there.map(|cell| cell.as_f64().unwrap_or_default()).collect();
                    writer.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
                }
                ColumnKind::Flag => {
                    let flags: Vec<bool> = there.map(|cell| cell.as_bool().unwrap_or_default()).collect();
                    writer.typed::<BoolType>().write_batch(&flags, Some(&levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close().map(drop)
    }
}

impl TableWriter for ParquetTable {
    fn row(&mut self, RecordRow { cells, .. }: &RecordRow<'_>) -> Result<(), ExportError> {
        self.bytes += cells.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
        self.rows.push(cells.to_vec());
        if self.rows.len() == GROUP_ROWS || self.bytes > GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<TableNotes, ExportError> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.file.close()?;
        Ok(TableNotes::new())
    }
}

fn field(column: &TableColumn) -> Result<Arc<Type>, ParquetError> {
    let (physical, converted) = match column.kind {
        ColumnKind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        ColumnKind::Integer => (Physical::INT64, ConvertedType::NONE),
        ColumnKind::Number => (Physical::DOUBLE, ConvertedType::NONE),
        ColumnKind::Flag => (Physical::BOOLEAN, ConvertedType::NONE),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_converted_type(converted)
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    Ok(Arc::new(field))
}
