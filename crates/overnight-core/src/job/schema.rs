//! Questions on a JSON Schema: whether it is valid, the fields at a path, and which may be null or left out.

use super::json_path::{JsonPath, PathSegment};
use jsonschema::{error::ValidationErrorKind, paths::LocationSegment};
use serde_json::Value;
use std::collections::BTreeSet;

/// Levels of a schema that are followed.
const DEEPEST: usize = 32;

/// Names of the fields that `schema` has at `path`, in all its branches. `None` if it doesn't say: there is no object,
/// or none of its fields is named.
pub fn schema_fields(schema: &Value, path: &JsonPath) -> Option<BTreeSet<String>> {
    let mut fields = BTreeSet::new();
    for part in schema_parts(schema, path) {
        if let Some(Value::Object(properties)) = part.get("properties") {
            fields.extend(properties.keys().cloned());
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// The parts of a schema that apply at a path, in all its branches.
pub fn schema_parts<'s>(schema: &'s Value, path: &JsonPath) -> Vec<&'s Value> {
    let mut at = vec![schema];
    for step in path.steps() {
        at = at.into_iter().flat_map(|part| branches(schema, part)).flat_map(|part| step_into(part, step)).collect();
    }
    at.into_iter().flat_map(|part| branches(schema, part)).collect()
}

fn step_into<'s>(part: &'s Value, step: &PathSegment) -> Vec<&'s Value> {
    let of_items = || {
        let first = part.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        first.chain(part.get("items")).collect::<Vec<_>>()
    };
    match step {
        PathSegment::Key(key) => {
            part.get("properties").and_then(|properties| properties.get(key)).into_iter().collect()
        }
        PathSegment::Index(_) => of_items(),
        PathSegment::Each => {
            let of_fields = part.get("properties").and_then(Value::as_object).into_iter().flat_map(|map| map.values());
            of_items().into_iter().chain(of_fields).chain(part.get("additionalProperties")).collect()
        }
    }
}

/// A part of a schema, with all parts that it refers to and all its alternatives.
fn branches<'s>(root: &'s Value, part: &'s Value) -> Vec<&'s Value> {
    let (mut found, mut next) = (Vec::new(), vec![(part, 0)]);
    while let Some((part, depth)) = next.pop() {
        if depth > DEEPEST {
            continue;
        }
        found.push(part);
        let target = part.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        next.extend(target.and_then(|target| root.pointer(target)).map(|target| (target, depth + 1)));
        for key in ["allOf", "anyOf", "oneOf"] {
            let parts = part.get(key).and_then(Value::as_array).into_iter().flatten();
            next.extend(parts.map(|part| (part, depth + 1)));
        }
        for key in ["then", "else"] {
            next.extend(part.get(key).map(|part| (part, depth + 1)));
        }
    }
    found
}

/// An error in a JSON Schema, and its place.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SchemaError(String);

/// Compiles a schema. Nothing is ever fetched for a `$ref`.
pub(crate) fn compile(schema: &Value) -> Result<jsonschema::Validator, SchemaError> {
    jsonschema::options().should_validate_formats(true).should_ignore_unknown_formats(false).build(schema).map_err(
        |error| {
            let place = error.instance_path().to_string();
            SchemaError(if place.is_empty() { error.to_string() } else { format!("at {place}: {error}") })
        },
    )
}

/// Whether `schema` lets the value `key` of an object at the path `each` be null; true if that is unclear.
pub(crate) fn takes_null(schema: &Value, each: &str, key: &str) -> bool {
    let (Ok(path), Ok(validator)) = (JsonPath::parse(each), compile(schema)) else { return true };
    let asked = path.around(Value::Object(serde_json::Map::from_iter([(key.to_owned(), Value::Null)])));
    validator.iter_errors(&asked).all(|error| {
        let mut segments = error.instance_path().segments().skip(path.depth());
        !matches!((segments.next(), segments.next()), (Some(LocationSegment::Property(found)), None) if found == key)
    })
}

/// Whether `schema` lets an object at the path `each` be without the value `key`; true if that is unclear.
pub(crate) fn may_be_left_out(schema: &Value, each: &str, key: &str) -> bool {
    let (Ok(path), Ok(validator)) = (JsonPath::parse(each), compile(schema)) else { return true };
    let asked = path.around(Value::Object(serde_json::Map::new()));
    validator.iter_errors(&asked).all(|error| match error.kind() {
        ValidationErrorKind::Required { property } => {
            property.as_str() != Some(key) || error.instance_path().segments().count() != path.depth()
        }
        _ => true,
    })
}
