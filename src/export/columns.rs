//! The columns of a table: the fields of the records, as the schema names them and as they come, and what the program knows of
//! each record besides.

use serde_json::{Number, Value};
use std::collections::{HashMap, HashSet};

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
pub(super) const KNOWN: [(&str, ColumnKind); 16] = [
    ("document", ColumnKind::Text),
    ("quote", ColumnKind::Text),
    ("page_found", ColumnKind::Integer),
    ("line_found", ColumnKind::Integer),
    ("check", ColumnKind::Text),
    ("value_in_quote", ColumnKind::Text),
    ("found_by", ColumnKind::Text),
    ("open_finding", ColumnKind::Text),
    ("reviewer", ColumnKind::Text),
    ("corrected", ColumnKind::Text),
    ("review_page", ColumnKind::Text),
    ("model", ColumnKind::Text),
    ("job_confidence", ColumnKind::Number),
    ("job_status", ColumnKind::Text),
    ("job", ColumnKind::Text),
    ("place", ColumnKind::Text),
];

/// Decimal digits that every number of [`double`] has room for (`DBL_DIG` of C): what is written with no more is not looked at.
const SURE_DIGITS: usize = 15;

/// A number as a binary one of 64 bits, where that has the same digits.
pub(super) fn double(number: &Number) -> Option<f64> {
    let written = number.as_str();
    number
        .as_f64()
        .filter(|double| written.len() <= SURE_DIGITS || significant(&double.to_string()) == significant(written))
}

/// The digits of a number without zeros before and behind, its exponent and its point.
fn significant(number: &str) -> String {
    let digits: String =
        number.chars().take_while(|letter| !letter.eq_ignore_ascii_case(&'e')).filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Objects within objects in a schema, and references that lead to references.
const DEEPEST: usize = 8;

/// All columns, in their order: the records' fields, then [`KNOWN`].
#[derive(Clone, Debug, Default)]
pub struct TableColumns {
    /// Without a kind until a value decides.
    fields: Vec<(String, Option<ColumnKind>)>,
    /// Of the fields that have whole numbers which are no [`double`], the places.
    large: HashSet<usize>,
    places: HashMap<String, usize>,
    /// Of [`KNOWN`]: what the records say themselves under that name.
    said: Vec<&'static str>,
}

impl TableColumns {
    /// The fields that the schema of one record names; `root` is the whole schema.
    pub fn of_schema(root: &Value, item: &Value) -> Self {
        let mut columns = Self::default();
        columns.take_schema("", root, item, 0);
        columns
    }

    /// The records say `name` themselves, in the field of that name.
    pub(super) fn said(mut self, name: &'static str) -> Self {
        self.said.push(name);
        self
    }

    fn take_schema(&mut self, path: &str, root: &Value, schema: &Value, depth: usize) {
        let Some(properties) = resolved(root, schema)["properties"].as_object() else { return };
        for (key, of) in properties {
            let (name, of) = (joined(path, key), resolved(root, of));
            if is_object(of) && depth < DEEPEST {
                self.take_schema(&name, root, of, depth + 1);
            } else {
                self.place(&name, kind(of));
            }
        }
    }

    /// Takes in the fields of a record. A column whose values are of several kinds is text.
    pub fn observe(&mut self, record: &Value) {
        flat(record, &mut |name, value| {
            let kind = match value {
                Value::Null => return,
                Value::Bool(_) => ColumnKind::Flag,
                Value::Number(number) if number.is_i64() => ColumnKind::Integer,
                Value::Number(number) if number.is_f64() && double(number).is_some() => ColumnKind::Number,
                // A number that no column of numbers has room for.
                Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => ColumnKind::Text,
            };
            let place = self.place(name, None);
            if kind == ColumnKind::Integer && value.as_number().is_some_and(|number| double(number).is_none()) {
                self.large.insert(place);
            }
            let is_exact = !self.large.contains(&place);
            let known = &mut self.fields[place].1;
            *known = Some(match (*known, kind) {
                (None, kind) => kind,
                (Some(known), kind) if known == kind => kind,
                (Some(ColumnKind::Number), ColumnKind::Integer) | (Some(ColumnKind::Integer), ColumnKind::Number)
                    if is_exact =>
                {
                    ColumnKind::Number
                }
                (Some(_), _) => ColumnKind::Text,
            });
        });
    }

    /// Where the field `name` stands, added if it is new.
    fn place(&mut self, name: &str, kind: Option<ColumnKind>) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.places.insert(name.to_owned(), self.fields.len());
        self.fields.push((name.to_owned(), kind));
        self.fields.len() - 1
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.fields.len() + KNOWN.len()
    }

    fn known(&self) -> impl Iterator<Item = (usize, &'static str, ColumnKind)> {
        let is_wanted = |name: &str| !(self.said.contains(&name) && self.places.contains_key(name));
        KNOWN
            .iter()
            .enumerate()
            .map(|(at, (name, kind))| (at, *name, *kind))
            .filter(move |(_, name, _)| is_wanted(name))
    }

    /// In their order; where a record has a field of the name of what the program knows, that one is called `overnight_…`. Names
    /// that differ in nothing but capitals are numbered, because databases take them for the same.
    pub fn all(&self) -> Vec<TableColumn> {
        let fields = self
            .fields
            .iter()
            .map(|(name, kind)| TableColumn { name: name.clone(), kind: kind.unwrap_or(ColumnKind::Text) });
        let known = self.known().map(|(_, name, kind)| {
            let is_taken = self.places.contains_key(name);
            TableColumn { name: if is_taken { format!("overnight_{name}") } else { name.to_owned() }, kind }
        });
        let mut columns: Vec<TableColumn> = fields.chain(known).collect();
        let mut taken = HashSet::new();
        for column in &mut columns {
            let mut name = column.name.clone();
            for number in 2.. {
                if taken.insert(name.to_lowercase()) {
                    break;
                }
                name = format!("{}_{number}", column.name);
            }
            column.name = name;
        }
        columns
    }

    /// Where that of [`KNOWN`] stands in a row.
    pub(super) fn place_of(&self, name: &str) -> Option<usize> {
        let known = self.known().position(|(_, known, _)| known == name).map(|place| self.fields.len() + place);
        known.or_else(|| self.places.get(name).copied())
    }

    /// The cells of a record: its own fields, then of `known`, which is as [`KNOWN`], what is not among them.
    pub fn row(&self, record: &Value, mut known: Vec<Value>) -> Vec<Value> {
        let mut cells = vec![Value::Null; self.fields.len()];
        flat(record, &mut |name, value| {
            if let Some(place) = self.places.get(name) {
                cells[*place] = value.clone();
            }
        });
        known.resize(KNOWN.len(), Value::Null);
        cells.extend(self.known().map(|(at, ..)| std::mem::take(&mut known[at])));
        cells
    }
}

/// What a schema says, in the end.
pub(super) fn resolved<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..DEEPEST {
        let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
        match target.and_then(|place| root.pointer(place)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// The types that it names, less null.
fn types(schema: &Value) -> Vec<&str> {
    let named = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    named.into_iter().filter(|name| *name != "null").collect()
}

fn is_object(schema: &Value) -> bool {
    types(schema) == ["object"] && schema["properties"].is_object()
}

fn kind(schema: &Value) -> Option<ColumnKind> {
    match types(schema)[..] {
        ["integer"] => Some(ColumnKind::Integer),
        ["number"] => Some(ColumnKind::Number),
        ["boolean"] => Some(ColumnKind::Flag),
        [] => None,
        _ => Some(ColumnKind::Text),
    }
}

/// The fields of a record, those of objects in it under both names with a dot between.
pub(super) fn flat(record: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    fn take(path: &str, value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
        match value {
            Value::Object(inner) if path.is_empty() || !inner.is_empty() => {
                for (key, value) in inner {
                    if path.is_empty() { take(key, value, visit) } else { take(&joined(path, key), value, visit) }
                }
            }
            other => visit(if path.is_empty() { "value" } else { path }, other),
        }
    }
    take("", record, visit);
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
        let schema = json!({
            "$defs": {"party": {"type": ["object", "null"], "properties": {"name": {"type": "string"}}}},
            "properties": {
                "id": {"type": "string"}, "page": {"type": ["integer", "null"]}, "party": {"$ref": "#/$defs/party"},
                "tags": {"type": "array"}, "level": {"enum": [1, 2]}, "quote": {"type": "string"},
            },
        });
        let mut columns = TableColumns::of_schema(&schema, &schema).said("quote");
        let record = json!({
            "id": "=1", "page": 3, "party": {"name": "A"}, "tags": ["x"], "level": 2, "share": 0.5, "job": "mine",
            "count": 18_446_744_073_709_551_615_u64,
        });
        columns.observe(&record);
        columns.observe(&json!({"share": 1}));
        let all = columns.all();
        let names: Vec<&str> = all.iter().map(|column| column.name.as_str()).collect();
        let expected = ["id", "page", "party.name", "tags", "level", "quote", "share", "job", "count", "document"];
        assert_eq!(names[..10], expected);
        assert_eq!(names[22..], ["overnight_job", "place"]);
        assert_eq!(all.iter().filter(|column| column.kind == ColumnKind::Integer).count(), 4);
        assert_eq!((columns.place_of("quote"), columns.place_of("job")), (Some(5), Some(22)));
        let cells = columns.row(&record, vec![json!("a.md"), json!("no cell of its own")]);
        let count = json!(u64::MAX);
        let expected = [json!("=1"), json!(3), json!("A"), json!(["x"]), json!(2), Value::Null, json!(0.5)];
        assert_eq!(cells[..7], expected);
        assert_eq!(cells[7..], [vec![json!("mine"), count, json!("a.md")], vec![Value::Null; 14]].concat());
        // What no column of its kind has room for.
        columns.observe(&json!({"page": "iv", "share": (1_u64 << 53) + 1, "Tags": [], "overnight_job": 1}));
        let all = columns.all();
        let kinds = [1, 6].map(|place| all[place].kind);
        assert_eq!(kinds, [ColumnKind::Text, ColumnKind::Text]);
        let names = [3, 9, 10, 24].map(|place| all[place].name.as_str());
        assert_eq!(names, ["tags", "Tags_2", "overnight_job", "overnight_job_2"]);
    }
}
