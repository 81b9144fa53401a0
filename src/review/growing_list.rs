//! Adding a record, or a line to a list within one: the list to which it is added, and an input for each of its fields,
//! as defined in the schema.

use super::{FieldInput, ReviewedRecord, fields::in_list, input::of_any_item};
use overnight_core::job::{json_path::JsonPath, schema::schema_parts, state::Job};
use serde_json::{Map, Value};

/// The depth down to which objects in a record have an input for each field; deeper ones are edited as JSON.
const DEEPEST: usize = 3;

/// A list to which records, or lines, can be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowingList {
    /// The deliverable.
    pub file: String,
    /// `terms`.
    pub name: String,
    /// The place of the next record: `$.terms[12]`.
    pub place: String,
    pub fields: Vec<NewField>,
}

/// A field of a record that is still to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewField {
    /// `party.name`.
    pub name: String,
    pub input: FieldInput,
    /// The initial value.
    pub value: String,
    /// If it names the page or line of a quote: `page` or `line`, and the field with the quote.
    pub unit_of: Option<(&'static str, String)>,
}

impl GrowingList {
    /// The list of the records at `each`, `$.terms[*]`, in a file with this content, still without its fields; `None`
    /// if there is no such list.
    pub(super) fn of(file: &str, each: &str, content: &Value) -> Option<Self> {
        let list = each.strip_suffix("[*]").filter(|list| !list.contains('*'))?;
        let mut length = None;
        JsonPath::parse(list).ok()?.each(content, &mut |_, value| length = value.as_array().map(Vec::len));
        Some(Self {
            file: file.to_owned(),
            name: list.trim_start_matches(['$', '.']).to_owned(),
            place: format!("{list}[{}]", length?),
            fields: Vec::new(),
        })
    }

    /// The lists of lines within a record, still without their fields.
    pub(super) fn within(record: &ReviewedRecord) -> Vec<Self> {
        let mut lengths: Vec<(&str, usize)> = Vec::new();
        for field in &record.fields {
            let (name, length) = match in_list(&field.name) {
                Some((name, (line, _))) => (name, line + 1),
                None if field.value == "[]" && !field.is_text => (field.name.as_str(), 0),
                None => continue,
            };
            match lengths.last_mut() {
                Some((last, known)) if *last == name => *known = length,
                _ => lengths.push((name, length)),
            }
        }
        let lists = lengths.into_iter().map(|(name, length)| Self {
            file: record.file.clone(),
            name: name.to_owned(),
            place: record.line_place(name, &length),
            fields: Vec::new(),
        });
        lists.collect()
    }

    /// Adds the fields of a record from the schema of its deliverable.
    pub(super) fn add_fields(&mut self, job: &Job) {
        let all = &job.spec.instructions.deliverables;
        let Some(deliverable) = all.iter().find(|deliverable| deliverable.path == self.file) else { return };
        let each = of_any_item(&self.place);
        if let Some(schema) = &deliverable.schema {
            new_fields(schema, &each, "", 0, &mut self.fields);
        }
        let only = match &job.spec.documents[..] {
            [only] => Some(&only.name),
            _ => None,
        };
        for rule in deliverable.quotes.iter().filter(|rule| rule.each.starts_with(&each)) {
            let object = rule.each[each.len()..].trim_start_matches('.');
            let named = |key: &str| if object.is_empty() { key.to_owned() } else { format!("{object}.{key}") };
            for field in &mut self.fields {
                if let Some(only) = only.filter(|_| field.name == named(&rule.document)) {
                    field.value.clone_from(only);
                }
                for (unit, key) in [("page", &rule.page), ("line", &rule.line)] {
                    if key.as_ref().is_some_and(|key| field.name == named(key)) {
                        field.unit_of = Some((unit, named(&rule.text)));
                    }
                }
            }
        }
    }

    /// An empty record, as JSON.
    pub(super) fn empty(&self) -> String {
        let mut empty = Value::Object(Map::new());
        for field in &self.fields {
            let value = match () {
                () if !field.value.is_empty() => Value::String(field.value.clone()),
                () if field.input.is_optional => Value::Null,
                () => Value::String(String::new()),
            };
            put(&mut empty, &field.name, value);
        }
        serde_json::to_string_pretty(&empty).unwrap_or_default()
    }
}

/// The fields in a schema at a path, in its order; those of objects have names with dots.
fn new_fields(schema: &Value, path: &str, name: &str, depth: usize, fields: &mut Vec<NewField>) {
    let Ok(parsed) = JsonPath::parse(path) else { return };
    let mut keys: Vec<&String> = Vec::new();
    for part in schema_parts(schema, &parsed) {
        let own = part.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        for key in own {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    if keys.is_empty() || depth > DEEPEST {
        let input = FieldInput::of(Some(schema), path, &Value::Null);
        fields.extend((!name.is_empty()).then(|| NewField {
            name: name.to_owned(),
            input,
            value: String::new(),
            unit_of: None,
        }));
        return;
    }
    for key in keys {
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        new_fields(schema, &format!("{path}['{key}']"), &name, depth + 1, fields);
    }
}

/// Puts a value into an object, at a name with dots.
fn put(object: &mut Value, name: &str, value: Value) {
    let target = name.split('.').fold(object, |object, key| {
        if !object.is_object() {
            *object = Value::Object(Map::new());
        }
        &mut object[key]
    });
    *target = value;
}
