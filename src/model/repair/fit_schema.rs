//! Converts values to fit a tool's schema, where there is only one way to read them: `"5"` where an integer is wanted is 5, and a sentence
//! there stays a sentence.

use super::json;
use serde_json::{Number, Value};

/// The most changes that are reported for one call.
const MOST_CHANGES: usize = 8;

/// `value` converted to fit `schema`; `at` names it in the changes.
pub(super) fn fit(value: Value, schema: &Value, at: &str, changes: &mut Vec<String>) -> Value {
    let read = retyped(&value, schema);
    if let Some(read) = &read
        && changes.len() < MOST_CHANGES
    {
        changes.push(format!("{at} was {} and is read as {}", article(&value), article(read)));
    }
    match read.unwrap_or(value) {
        Value::Object(mut fields) => {
            for (key, field) in &mut fields {
                if let Some(inner) = schema.pointer("/properties").and_then(|known| known.get(key)) {
                    *field = fit(field.take(), inner, key, changes);
                }
            }
            Value::Object(fields)
        }
        Value::Array(items) => match schema.get("items") {
            Some(inner) => Value::Array(items.into_iter().map(|item| fit(item, inner, at, changes)).collect()),
            None => Value::Array(items),
        },
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
    }
}

/// Names of a wrapping that some models put around a tool's arguments.
const WRAPPINGS: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// The arguments without a wrapper, and without unknown fields that are null.
pub(super) fn unwrapped(value: Value, schema: &Value, changes: &mut Vec<String>) -> Value {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return value };
    let Value::Object(mut fields) = value else { return value };
    let only = fields.keys().next().filter(|_| fields.len() == 1).cloned();
    let wrapping = only.filter(|name| WRAPPINGS.contains(&name.as_str()) && !known.contains_key(name));
    if let Some(name) = wrapping
        && let Some(Value::Object(inner)) = fields.get_mut(&name)
    {
        changes.push(format!("they stood in '{name}'"));
        return Value::Object(std::mem::take(inner));
    }
    let before = fields.len();
    fields.retain(|name, field| !field.is_null() || known.contains_key(name));
    if fields.len() < before {
        changes.push("fields that the tool doesn't have were null".to_owned());
    }
    Value::Object(fields)
}

/// A text as the other type that the schema names.
fn retyped(value: &Value, schema: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    match schema.get("type").and_then(Value::as_str)? {
        "integer" => {
            let number: Number = serde_json::from_str(text).ok()?;
            (!number.is_f64()).then_some(Value::Number(number))
        }
        "number" => serde_json::from_str(text).ok().map(Value::Number),
        "boolean" => text.to_lowercase().parse().ok().map(Value::Bool),
        "object" => json::object(text),
        "array" => json::read(text).filter(Value::is_array),
        _ => None,
    }
}

/// A short description of a value.
fn article(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= 20 => value.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
