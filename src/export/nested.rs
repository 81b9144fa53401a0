//! Lists of objects within the records of a table: a format with several sheets gives each list its own sheet.

use super::columns::{TableColumns, each_property, flat, resolved};
use serde_json::Value;

/// Lists that have a sheet, at most.
pub(super) const MOST_LISTS: usize = 5;
/// Columns of such a list, at most; one with more stays as JSON in its cell.
const MOST_FIELDS: usize = 1_000;

/// A list within the records.
#[derive(Clone, Debug)]
pub(super) struct NestedList {
    /// The field that holds it: `lines`, `order.lines`.
    pub(super) name: String,
    /// The columns of its elements.
    pub(super) columns: TableColumns,
    has_rows: bool,
}

/// All lists of objects within the records, in the order of the schema, then in order of appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct NestedLists(Vec<NestedList>);

impl NestedLists {
    /// The lists in the schema of one record; `root` is the whole schema.
    pub(super) fn of_schema(root: &Value, record: &Value) -> Self {
        let mut lists = Vec::new();
        each_property(root, record, &mut |name, schema| {
            let items = resolved(root, &schema["items"]);
            if items["properties"].is_object() {
                let columns = TableColumns::of_schema(root, items);
                lists.push(NestedList { name: name.to_owned(), columns, has_rows: false });
            }
        });
        Self(lists)
    }

    /// Adds the lists of a record.
    pub(super) fn observe(&mut self, record: &Value) {
        flat(record, &mut |name, value| {
            let Some(elements) = elements(value) else { return };
            let place = self.0.iter().position(|list| list.name == name).unwrap_or_else(|| {
                self.0.push(NestedList { name: name.to_owned(), columns: TableColumns::default(), has_rows: false });
                self.0.len() - 1
            });
            let list = &mut self.0[place];
            list.has_rows = true;
            for element in elements {
                if list.columns.field_count() <= MOST_FIELDS {
                    list.columns.observe(element);
                }
            }
        });
    }

    /// The lists that have a sheet, and the names of those that have rows but no sheet.
    pub(super) fn with_sheets(&self) -> (Vec<&NestedList>, Vec<&str>) {
        let with_rows = self.0.iter().filter(|list| list.has_rows);
        let (mut sheets, others): (Vec<_>, Vec<_>) =
            with_rows.partition(|list| list.columns.field_count() <= MOST_FIELDS);
        let more = sheets.split_off(sheets.len().min(MOST_LISTS));
        (sheets, more.into_iter().chain(others).map(|list| list.name.as_str()).collect())
    }
}

/// The elements of a list of which at least one is an object.
pub(super) fn elements(value: &Value) -> Option<&[Value]> {
    value.as_array().filter(|elements| elements.iter().any(Value::is_object)).map(Vec::as_slice)
}
