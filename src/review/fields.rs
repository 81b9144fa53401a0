//! A record's fields, as they are shown: those of objects in it under names with dots, lists as JSON.

use serde_json::Value;

/// One field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedField {
    /// `party.name`.
    pub name: String,
    /// In the deliverable: `$.requirements[3].party.name`.
    pub place: String,
    /// As the model wrote it: a text as it is, everything else as JSON.
    pub value: String,
    pub is_text: bool,
    /// What a person put there instead.
    pub corrected: Option<String>,
}

/// A text as it is, everything else as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The fields of `record`, which stands at `place`.
pub(super) fn fields(record: &Value, place: &str) -> Vec<ReviewedField> {
    let mut fields = Vec::new();
    collect(record, "", place, &mut fields);
    fields
}

fn collect(value: &Value, name: &str, place: &str, fields: &mut Vec<ReviewedField>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                collect(value, &name, &format!("{place}.{key}"), fields);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            let (name, place) = (name.to_owned(), place.to_owned());
            fields.push(ReviewedField {
                name,
                place,
                value: shown(value),
                is_text: value.is_string(),
                corrected: None,
            });
        }
    }
}
