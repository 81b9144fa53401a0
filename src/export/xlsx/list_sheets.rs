//! Sheets for the lists within the records: a row for each element, which names its record.

use super::{book::ExcelBook, sheet::ExcelSheet};
use crate::export::{
    column_format::ColumnFormat,
    columns::{ColumnKind, TableColumn, TableColumns, flat},
    nested::{NestedList, NestedLists, elements},
    row_marks::CellMark,
    table_writer::RecordRow,
};
use overnight_core::amount::counted;
use rust_xlsxwriter::XlsxError;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The first columns of the sheets: the record's row, and its document.
const BEFORE: [&str; 2] = ["row", "document"];

/// The sheets of all lists.
pub(super) struct ListSheets {
    lists: BTreeMap<String, ListSheet>,
    /// The columns of the records.
    columns: TableColumns,
    /// Indexes of their first fields that identify a record.
    telling: Vec<usize>,
}

/// The sheet of one list.
struct ListSheet {
    sheet: ExcelSheet,
    columns: TableColumns,
}

impl ListSheets {
    /// Makes sheets for the lists whose columns are in the table.
    pub(super) fn new(book: &mut ExcelBook, nested: &NestedLists, columns: &TableColumns) -> Result<Self, XlsxError> {
        let places = columns.field_places();
        let is_shown = |name: &str| places.iter().any(|(field, place)| *field == name && place.is_some());
        let with_sheets: Vec<&NestedList> =
            nested.with_sheets().0.into_iter().filter(|list| is_shown(&list.name)).collect();
        let telling = columns.telling(|name| nested.with_sheets().0.iter().all(|list| list.name != name));
        let fields = columns.fields();
        let before =
            |name: &str| TableColumn { name: name.to_owned(), kind: ColumnKind::Text, format: ColumnFormat::default() };
        let mut lists = BTreeMap::new();
        for list in with_sheets {
            let of_record = telling.iter().filter_map(|place| fields.get(*place).cloned());
            let mut heading: Vec<TableColumn> = BEFORE.into_iter().map(before).chain(of_record).collect();
            for mut column in list.columns.fields() {
                if heading.iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
                    column.name = format!("{}.{}", list.name, column.name);
                }
                heading.push(column);
            }
            let sheet = ExcelSheet::new(book, &list.name, heading)?;
            lists.insert(list.name.clone(), ListSheet { sheet, columns: list.columns.clone() });
        }
        Ok(Self { lists, columns: columns.clone(), telling })
    }

    /// Writes the lists of a record; `reference` names its row.
    pub(super) fn write(
        &mut self,
        book: &mut ExcelBook,
        row: &RecordRow<'_>,
        reference: &Value,
    ) -> Result<(), XlsxError> {
        if self.lists.is_empty() {
            return Ok(());
        }
        let mut of_record: Option<Vec<Value>> = None;
        let (lists, columns, telling) = (&mut self.lists, &self.columns, &self.telling);
        let mut written = Ok(());
        flat(row.record, &mut |name, value| {
            let (Some(list), Some(elements)) = (lists.get_mut(name), elements(value)) else { return };
            let before = of_record.get_or_insert_with(|| {
                let mut cells = columns.field_cells(row.record);
                let told = telling.iter().map(|place| std::mem::take(&mut cells[*place]));
                [reference.clone(), row.document.clone()].into_iter().chain(told).collect()
            });
            for (index, element) in elements.iter().enumerate() {
                if written.is_ok() {
                    written = list.write(book, (name, index), element, before, row);
                }
            }
        });
        written
    }

    /// The text in a record's cell in place of a list that has a sheet.
    pub(super) fn told(&self, name: &str, value: &Value) -> Option<Value> {
        let elements = elements(value).filter(|_| self.lists.contains_key(name))?;
        Some(json!(format!("{}: see the sheet {name}", counted(elements.len() as u64, "row"))))
    }

    pub(super) fn end(&self, book: &mut ExcelBook) -> Result<(), XlsxError> {
        self.lists.values().try_for_each(|list| list.sheet.end(book))
    }
}

impl ListSheet {
    fn write(
        &mut self,
        book: &mut ExcelBook,
        (name, index): (&str, usize),
        element: &Value,
        before: &[Value],
        row: &RecordRow<'_>,
    ) -> Result<(), XlsxError> {
        self.sheet.begin_row(book)?;
        let marks = row.marks.of_element(name, index);
        for (place, cell) in before.iter().enumerate() {
            self.sheet.write(book, place, cell, (CellMark::Unmarked, marks.is_incomplete))?;
        }
        let cells = self.columns.field_cells(element);
        for ((place, cell), (field, _)) in (before.len()..).zip(&cells).zip(self.columns.field_places()) {
            self.sheet.write(book, place, cell, (marks.of_field(field), marks.is_incomplete))?;
        }
        Ok(())
    }
}
