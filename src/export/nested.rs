//! Lists of objects within the records of a table: a form that has several sheets gives each a sheet of its own.

use super::columns::{TableColumns, each_property, flat, resolved};
use serde_json::Value;

/// Lists that have a sheet.
pub(super) const MOST_LISTS: usize = 5;
/// Columns of one of them; one with more stays as JSON in its cell.
const MOST_FIELDS: usize = 1_000;

/// A list within the records.
#[derive(Clone, Debug)]
pub(super) struct NestedList {
    /// The field that holds it: `lines`, `order.lines`.
    pub(super) name: String,
    /// Those of its elements.
    pub(super) columns: TableColumns,
    has_rows: bool,
}

/// All lists of objects within the records, in the order of the schema, then as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct NestedLists(Vec<NestedList>);

impl NestedLists {
    /// Those that the schema of one record names; `root` is the whole schema.
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

    /// Takes in the lists of a record.
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

    /// Those that have a sheet, and the names of those that have none though they have rows.
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
