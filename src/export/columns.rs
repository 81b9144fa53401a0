//! The columns of a table: the records' fields, from the schema and from the records, and the program's own facts about
//! each record.

use super::column_format::{ColumnFormat, DecimalFormat, SeenValues};
use serde_json::{Number, Value};
use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

/// The type of a column's values.
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
    pub format: ColumnFormat,
}

/// The program's facts about a record, which follow the record's own fields.
pub(super) const KNOWN: [(&str, ColumnKind); 19] = [
    ("document", ColumnKind::Text),
    ("quote", ColumnKind::Text),
    ("page_found", ColumnKind::Integer),
    ("line_found", ColumnKind::Integer),
    ("box", ColumnKind::Text),
    ("check", ColumnKind::Text),
    ("value_in_quote", ColumnKind::Text),
    ("found_by", ColumnKind::Text),
    ("open_finding", ColumnKind::Text),
    ("reviewer", ColumnKind::Text),
    ("corrected", ColumnKind::Text),
    ("review_page", ColumnKind::Text),
    ("model", ColumnKind::Text),
    ("paid", ColumnKind::Text),
    ("job_confidence", ColumnKind::Number),
    ("job_status", ColumnKind::Text),
    ("instructions_sha256", ColumnKind::Text),
    ("job", ColumnKind::Text),
    ("place", ColumnKind::Text),
];

/// Decimal digits that every [`double`] represents exactly (`DBL_DIG` of C): numbers with no more need no check.
const SURE_DIGITS: usize = 15;

/// A number as a 64-bit binary one, if that has the same digits.
pub(super) fn double(number: &Number) -> Option<f64> {
    let written = number.as_str();
    number
        .as_f64()
        .filter(|double| written.len() <= SURE_DIGITS || significant(&double.to_string()) == significant(written))
}

/// The digits of a number without leading and trailing zeros, exponent and decimal point.
fn significant(number: &str) -> String {
    let digits: String =
        number.chars().take_while(|letter| !letter.eq_ignore_ascii_case(&'e')).filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Index of the document in [`KNOWN`].
pub(super) const DOCUMENT: usize = 0;
/// Index of the quote there.
pub(super) const QUOTE: usize = 1;
/// Index of the open finding there.
pub(super) const OPEN_FINDING: usize = 8;

/// Fields that identify a record for a person, at most.
const TELLING: usize = 2;

/// The maximum depth of nested objects in a schema, and of chains of references.
const DEEPEST: usize = 8;

/// The fact with which a table begins.
const FIRST: &str = "document";

/// All columns: the document, the records' fields, then the other facts of [`KNOWN`]; or the chosen ones.
#[derive(Clone, Debug, Default)]
pub struct TableColumns {
    fields: Vec<FieldColumn>,
    places: HashMap<String, usize>,
    /// The facts of [`KNOWN`] that the records have themselves, under the same name.
    said: Vec<&'static str>,
    /// Indexes of the chosen columns among all columns.
    chosen: Option<Vec<usize>>,
}

/// A field of the records.
#[derive(Clone, Debug)]
struct FieldColumn {
    name: String,
    /// `None` until a value determines it.
    kind: Option<ColumnKind>,
    /// It has integers that no [`double`] represents exactly.
    is_large: bool,
    seen: SeenValues,
}

impl TableColumns {
    /// The fields that the schema of one record names; `root` is the whole schema.
    pub fn of_schema(root: &Value, item: &Value) -> Self {
        let mut columns = Self::default();
        each_property(root, item, &mut |name, schema| {
            columns.place(name, kind(schema), SeenValues::of_schema(schema));
        });
        columns
    }

    /// States that the records have the fact `name` themselves, in a field of the same name.
    pub(super) fn said(mut self, name: &'static str) -> Self {
        self.said.push(name);
        self
    }

    /// Adds the fields of a record. A column whose values are of several kinds is text.
    pub fn observe(&mut self, record: &Value) {
        flat(record, &mut |name, value| {
            let kind = match value {
                Value::Null => return,
                Value::Bool(_) => ColumnKind::Flag,
                Value::Number(number) if number.is_i64() => ColumnKind::Integer,
                Value::Number(number) if number.is_f64() && double(number).is_some() => ColumnKind::Number,
                // A number that doesn't fit into any column of numbers.
                Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => ColumnKind::Text,
            };
            let place = self.place(name, None, SeenValues::default());
            let field = &mut self.fields[place];
            field.seen.observe(value);
            field.is_large |=
                kind == ColumnKind::Integer && value.as_number().is_some_and(|number| double(number).is_none());
            let is_exact = !field.is_large;
            field.kind = Some(match (field.kind, kind) {
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

    /// The index of the field `name`, which is added if it is new.
    fn place(&mut self, name: &str, kind: Option<ColumnKind>, seen: SeenValues) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.places.insert(name.to_owned(), self.fields.len());
        self.fields.push(FieldColumn { name: name.to_owned(), kind, is_large: false, seen });
        self.fields.len() - 1
    }

    /// The number of the records' own fields.
    pub(super) fn field_count(&self) -> usize {
        self.fields.len()
    }

    /// The number of all columns.
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

    /// The records' own fields alone.
    pub(super) fn fields(&self) -> Vec<TableColumn> {
        let column = |field: &FieldColumn| TableColumn {
            name: field.name.clone(),
            kind: field.kind.unwrap_or(ColumnKind::Text),
            format: field.seen.format(),
        };
        self.fields.iter().map(column).collect()
    }

    /// The columns in order. If a record has a field with the name of a fact, the fact is called `overnight_…`. Names
    /// that differ only in case are numbered, because databases treat them as equal.
    pub fn all(&self) -> Vec<TableColumn> {
        let known = self.known().map(|(_, name, kind)| {
            let is_taken = self.places.contains_key(name);
            let number = if kind == ColumnKind::Number { DecimalFormat::Fraction } else { DecimalFormat::Plain };
            TableColumn {
                name: if is_taken { format!("overnight_{name}") } else { name.to_owned() },
                kind,
                format: ColumnFormat { is_date: false, number },
            }
        });
        let mut columns: Vec<TableColumn> = self.fields().into_iter().chain(known).collect();
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
        self.in_order(columns)
    }

    /// Keeps only the columns of these names, in their order. The error is the first unknown name.
    pub fn choose<'n>(&mut self, names: &'n [String]) -> Result<(), &'n str> {
        self.chosen = None;
        let all = self.all();
        let mut chosen = Vec::with_capacity(names.len());
        for name in names {
            let place = all.iter().position(|column| column.name == *name).ok_or(name.as_str())?;
            if !chosen.contains(&place) {
                chosen.push(place);
            }
        }
        self.chosen = Some(chosen);
        Ok(())
    }

    /// Orders the items of all columns: the document's item first, and only those of chosen columns.
    fn in_order<T: Clone>(&self, mut items: Vec<T>) -> Vec<T> {
        if let Some(begin) = self.unordered(FIRST).and_then(|place| items.get_mut(..=place)) {
            begin.rotate_right(1);
        }
        match &self.chosen {
            Some(chosen) => chosen.iter().filter_map(|place| items.get(*place).cloned()).collect(),
            None => items,
        }
    }

    /// The index in a row of the column at `place` among fields and facts.
    fn ordered(&self, place: usize) -> Option<usize> {
        let first = self.unordered(FIRST)?;
        let place = match place.cmp(&first) {
            Ordering::Less => place + 1,
            Ordering::Equal => 0,
            Ordering::Greater => place,
        };
        match &self.chosen {
            Some(chosen) => chosen.iter().position(|chosen| *chosen == place),
            None => Some(place),
        }
    }

    /// The index of a fact of [`KNOWN`] among the fields and the facts after them.
    fn unordered(&self, name: &str) -> Option<usize> {
        let known = self.known().position(|(_, known, _)| known == name).map(|place| self.fields.len() + place);
        known.or_else(|| self.places.get(name).copied())
    }

    /// The index of a fact of [`KNOWN`] in a row.
    pub(super) fn place_of(&self, name: &str) -> Option<usize> {
        self.ordered(self.unordered(name)?)
    }

    /// The names of the records' own fields, each with its index in a row, if it has one.
    pub(super) fn field_places(&self) -> Vec<(&str, Option<usize>)> {
        self.fields.iter().enumerate().map(|(place, field)| (field.name.as_str(), self.ordered(place))).collect()
    }

    /// The indexes, among the fields alone, of the first text fields that identify a record, except document and quote.
    pub(super) fn telling(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
        let is_telling = |field: &FieldColumn| {
            let is_known = KNOWN.iter().any(|(known, _)| *known == field.name);
            field.kind == Some(ColumnKind::Text) && !is_known && is_wanted(&field.name)
        };
        let fields = self.fields.iter().enumerate().filter(|(_, field)| is_telling(field));
        fields.map(|(place, _)| place).take(TELLING).collect()
    }

    /// The record's own fields alone, a cell each.
    pub(super) fn field_cells(&self, record: &Value) -> Vec<Value> {
        let mut cells = vec![Value::Null; self.fields.len()];
        flat(record, &mut |name, value| {
            if let Some(place) = self.places.get(name) {
                cells[*place] = value.clone();
            }
        });
        cells
    }

    /// The cells of a record: its own fields, and those facts of `known`, ordered as in [`KNOWN`], that it does not
    /// have itself. A record without its document's name gets the known one.
    pub fn row(&self, record: &Value, mut known: Vec<Value>) -> Vec<Value> {
        let mut cells = self.field_cells(record);
        known.resize(KNOWN.len(), Value::Null);
        let first = self.unordered(FIRST);
        if let Some(document) = first.and_then(|place| cells.get_mut(place)).filter(|cell| cell.is_null()) {
            document.clone_from(&known[DOCUMENT]);
        }
        cells.extend(self.known().map(|(at, ..)| std::mem::take(&mut known[at])));
        self.in_order(cells)
    }
}

/// Visits the fields in the schema of a record, including those of objects in it, each with its own schema.
pub(super) fn each_property(root: &Value, record: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    fn take(path: &str, root: &Value, schema: &Value, depth: usize, visit: &mut dyn FnMut(&str, &Value)) {
        let Some(properties) = resolved(root, schema)["properties"].as_object() else { return };
        for (key, of) in properties {
            let (name, of) = (joined(path, key), resolved(root, of));
            if is_object(of) && depth < DEEPEST { take(&name, root, of, depth + 1, visit) } else { visit(&name, of) }
        }
    }
    take("", root, record, 0, visit);
}

/// A schema with its references resolved.
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

/// The types in the schema, without null.
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

/// The fields of a record; those of objects in it have both names with a dot between.
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
        let expected = ["document", "id", "page", "party.name", "tags", "level", "quote", "share", "job", "count"];
        assert_eq!(names[..10], expected);
        assert_eq!(names[25..], ["overnight_job", "place"]);
        assert_eq!(all.iter().filter(|column| column.kind == ColumnKind::Integer).count(), 4);
        assert_eq!((columns.place_of("quote"), columns.place_of("job")), (Some(6), Some(25)));
        let cells = columns.row(&record, vec![json!("a.md"), json!("no cell of its own")]);
        let count = json!(u64::MAX);
        let expected =
            [json!("a.md"), json!("=1"), json!(3), json!("A"), json!(["x"]), json!(2), Value::Null, json!(0.5)];
        assert_eq!(cells[..8], expected);
        assert_eq!(cells[8..], [vec![json!("mine"), count], vec![Value::Null; 17]].concat());
        // Values that don't fit into any column of their kind.
        columns.observe(&json!({"page": "iv", "share": (1_u64 << 53) + 1, "Tags": [], "overnight_job": 1}));
        let all = columns.all();
        let kinds = [2, 7].map(|place| all[place].kind);
        assert_eq!(kinds, [ColumnKind::Text, ColumnKind::Text]);
        let names = [4, 10, 11, 27].map(|place| all[place].name.as_str());
        assert_eq!(names, ["tags", "Tags_2", "overnight_job", "overnight_job_2"]);
        // Chosen ones, and a field that is the document's column.
        let mut columns = columns.said("document");
        columns.observe(&json!({"document": "b.md"}));
        let chosen = ["job", "document", "share", "job"].map(str::to_owned);
        assert_eq!(columns.choose(&chosen), Ok(()));
        let cells = |record: Value| columns.row(&record, vec![json!("a.md")]);
        assert_eq!(cells(json!({"document": "b.md", "share": 2})), [Value::Null, json!("b.md"), json!(2)]);
        assert_eq!(cells(json!({"job": "mine"})), [json!("mine"), json!("a.md"), Value::Null]);
        assert_eq!((columns.place_of("document"), columns.place_of("quote")), (Some(1), None));
        assert_eq!(columns.choose(&["none".to_owned()]), Err("none"));
    }
}
