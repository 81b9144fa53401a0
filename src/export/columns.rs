//! The columns of a table: the fields of the records, as the schema names them and as they come, and what the program knows of
//! each record besides.

use serde_json::{Map, Value};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Integer,
    Number,
    Flag,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    pub name: String,
    pub kind: ColumnKind,
}

/// What the program knows of a record, behind its own fields.
pub(super) const KNOWN: [(&str, ColumnKind); 9] = [
    ("page_found", ColumnKind::Integer),
    ("line_found", ColumnKind::Integer),
    ("check", ColumnKind::Text),
    ("found_by", ColumnKind::Text),
    ("open_finding", ColumnKind::Text),
    ("model", ColumnKind::Text),
    ("job_confidence", ColumnKind::Number),
    ("job_status", ColumnKind::Text),
    ("job", ColumnKind::Text),
];

/// All columns, in their order: the records' fields, then [`KNOWN`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableColumns {
    fields: Vec<TableColumn>,
}

impl TableColumns {
    /// The fields that the schema of one record names.
    pub fn of_schema(item: Option<&Value>) -> Self {
        let mut columns = Self::default();
        if let Some(item) = item {
            columns.take_schema("", item);
        }
        columns
    }

    fn take_schema(&mut self, path: &str, schema: &Value) {
        let Some(properties) = schema["properties"].as_object() else { return };
        for (key, of) in properties {
            let name = joined(path, key);
            match kind(of) {
                Some(kind) => self.add(name, kind),
                None => self.take_schema(&name, of),
            }
        }
    }

    /// Takes in the fields of a record. What no schema has named is text, unless all its values are of one kind.
    pub fn observe(&mut self, record: &Value) {
        for (name, value) in flat(record) {
            let kind = match value {
                Value::Null => continue,
                Value::Bool(_) => ColumnKind::Flag,
                Value::Number(number) if number.is_i64() => ColumnKind::Integer,
                Value::Number(_) => ColumnKind::Number,
                Value::String(_) | Value::Array(_) | Value::Object(_) => ColumnKind::Text,
            };
            match self.fields.iter_mut().find(|column| column.name == name) {
                None => self.add(name, kind),
                Some(column) if column.kind == kind => {}
                Some(column) if column.kind == ColumnKind::Number && kind == ColumnKind::Integer => {}
                Some(column) if column.kind == ColumnKind::Integer && kind == ColumnKind::Number => column.kind = kind,
                Some(column) => column.kind = ColumnKind::Text,
            }
        }
    }

    fn add(&mut self, name: String, kind: ColumnKind) {
        if self.fields.iter().all(|column| column.name != name) {
            self.fields.push(TableColumn { name, kind });
        }
    }

    /// In their order; where a record has a field of the name of what the program knows, that one is called `overnight_…`.
    pub fn all(&self) -> Vec<TableColumn> {
        let known = KNOWN.iter().map(|(name, kind)| {
            let is_taken = self.fields.iter().any(|column| column.name == *name);
            TableColumn { name: if is_taken { format!("overnight_{name}") } else { (*name).to_owned() }, kind: *kind }
        });
        self.fields.iter().cloned().chain(known).collect()
    }

    /// The cells of a record's own fields.
    pub fn cells(&self, record: &Value) -> Vec<Value> {
        let flat: Map<String, Value> = flat(record).into_iter().map(|(name, value)| (name, value.clone())).collect();
        self.fields
            .iter()
            .map(|column| {
                let value = flat.get(&column.name).cloned().unwrap_or_default();
                let fits = match (&value, column.kind) {
                    (Value::Array(_), ColumnKind::Text) => return value,
                    (Value::Null | Value::String(_), ColumnKind::Text)
                    | (Value::Bool(_), ColumnKind::Flag)
                    | (Value::Number(_), ColumnKind::Number) => true,
                    (Value::Number(number), ColumnKind::Integer) => number.is_i64(),
                    _ => value.is_null(),
                };
                if fits { value } else { Value::String(super::table::shown(&value)) }
            })
            .collect()
    }
}

fn kind(schema: &Value) -> Option<ColumnKind> {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut named = types.into_iter().filter(|name| *name != "null");
    match (named.next(), named.next()) {
        (Some("object"), None) if schema["properties"].is_object() => None,
        (Some("integer"), None) => Some(ColumnKind::Integer),
        (Some("number"), None) => Some(ColumnKind::Number),
        (Some("boolean"), None) => Some(ColumnKind::Flag),
        _ => Some(ColumnKind::Text),
    }
}

/// The fields of a record, those of objects in it under both names with a dot between.
fn flat(record: &Value) -> Vec<(String, &Value)> {
    fn take<'v>(path: &str, value: &'v Value, fields: &mut Vec<(String, &'v Value)>) {
        match value {
            Value::Object(inner) if path.is_empty() || !inner.is_empty() => {
                inner.iter().for_each(|(key, value)| take(&joined(path, key), value, fields));
            }
            other => fields.push((if path.is_empty() { "value".to_owned() } else { path.to_owned() }, other)),
        }
    }
    let mut fields = Vec::new();
    take("", record, &mut fields);
    fields
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_those_of_the_schema_and_those_that_come() {
        let schema = json!({"properties": {
            "id": {"type": "string"}, "page": {"type": ["integer", "null"]},
            "party": {"type": "object", "properties": {"name": {"type": "string"}}},
            "tags": {"type": "array"},
        }});
        let mut columns = TableColumns::of_schema(Some(&schema));
        let record = json!({"id": "=1", "page": 3, "party": {"name": "A"}, "tags": ["x"], "share": 0.5, "job": "mine"});
        columns.observe(&record);
        columns.observe(&json!({"share": 1}));
        let names: Vec<String> = columns.all().into_iter().map(|column| column.name).collect();
        assert_eq!(names[..6], ["id", "page", "party.name", "tags", "share", "job"].map(str::to_owned));
        assert_eq!(names.last().map(String::as_str), Some("overnight_job"));
        let cells = columns.cells(&record);
        assert_eq!(cells, [json!("=1"), json!(3), json!("A"), json!(["x"]), json!(0.5), json!("mine")]);
        assert_eq!(columns.cells(&json!({"page": "iv"}))[1], json!("iv"));
    }
}
