//! The input for correcting a field: the values that the schema allows, as an input element of a page.

use overnight_core::job::{json_path::JsonPath, schema::schema_parts};
use serde_json::Value;

/// The input of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldInput {
    pub kind: InputKind,
    /// It may be empty, which is `null`.
    pub is_optional: bool,
}

/// The kind of input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputKind {
    #[default]
    Text,
    Number,
    /// `2029-08-31`.
    Date,
    /// Yes or no.
    Flag,
    /// One of these.
    Choice(Vec<String>),
    /// As JSON: a list or an object.
    Json,
}

impl InputKind {
    /// Its name in the page's script.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::Flag => "flag",
            Self::Choice(_) => "choice",
            Self::Json => "json",
        }
    }

    /// The allowed values, in the form that the page's script reads.
    pub fn choices(&self) -> Option<String> {
        match self {
            Self::Choice(of) => serde_json::to_string(of).ok(),
            Self::Text | Self::Number | Self::Date | Self::Flag | Self::Json => None,
        }
    }

    /// The expected value, in words.
    pub fn wanted(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Number => "a number, such as 1250.50".to_owned(),
            Self::Date => "a date, such as 2029-08-31".to_owned(),
            Self::Flag => "yes or no".to_owned(),
            Self::Choice(of) => format!("one of {}", of.join(", ")),
            Self::Json => "a list or an object, as JSON".to_owned(),
        }
    }
}

impl FieldInput {
    /// The input for the fields at a path, `$.terms[*].due`, whose present value is of the kind of `value`.
    pub fn of(schema: Option<&Value>, path: &str, value: &Value) -> Self {
        let parts = schema.zip(JsonPath::parse(path).ok());
        let parts = parts.map(|(schema, path)| schema_parts(schema, &path)).unwrap_or_default();
        let mut kinds: Vec<&str> = Vec::new();
        let mut choices: Vec<&Value> = Vec::new();
        for part in &parts {
            match part.get("type") {
                Some(Value::String(kind)) => kinds.push(kind),
                Some(Value::Array(several)) => kinds.extend(several.iter().filter_map(Value::as_str)),
                _ => {}
            }
            choices.extend(part.get("enum").and_then(Value::as_array).into_iter().flatten());
            choices.extend(part.get("const"));
        }
        let is_optional = kinds.contains(&"null") || choices.contains(&&Value::Null);
        kinds.retain(|kind| *kind != "null");
        kinds.dedup();
        let choices: Option<Vec<String>> = choices
            .into_iter()
            .filter(|choice| !choice.is_null())
            .map(|choice| choice.as_str().map(str::to_owned))
            .collect();
        let is_date = parts.iter().any(|part| part.get("format").and_then(Value::as_str) == Some("date"));
        let kind = match (choices, &kinds[..]) {
            (Some(choices), _) if !choices.is_empty() => InputKind::Choice(choices),
            (_, ["string"]) if is_date => InputKind::Date,
            (_, ["string"]) => InputKind::Text,
            (_, ["boolean"]) => InputKind::Flag,
            (_, kinds) if !kinds.is_empty() && kinds.iter().all(|kind| ["number", "integer"].contains(kind)) => {
                InputKind::Number
            }
            (_, []) => match value {
                Value::String(_) | Value::Null => InputKind::Text,
                Value::Bool(_) => InputKind::Flag,
                Value::Number(_) => InputKind::Number,
                Value::Array(_) | Value::Object(_) => InputKind::Json,
            },
            (_, _) => {
                if value.is_string() {
                    InputKind::Text
                } else {
                    InputKind::Json
                }
            }
        };
        Self { kind, is_optional }
    }
}

/// `$.terms[*].due` of `$.terms[3].due`.
pub(super) fn of_any_item(place: &str) -> String {
    let mut parts = place.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| match part.split_once(']') {
        Some((_, rest)) => format!("{path}[*]{rest}"),
        None => format!("{path}[{part}"),
    })
}
