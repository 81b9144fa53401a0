//! Reads from a JSON schema what comparing needs about a place in a value: a subset of draft 2020-12 with `properties`,
//! `items`, `$ref` into the same file, `anyOf`, `oneOf`, `allOf`, and lists of types.
//!
//! A place has alternatives: all branches that may describe its value. They are empty if the schema lacks the place.

use crate::field_rule::ComparisonKind;
use serde_json::Value;

/// The maximum depth of references and branches that lead into each other.
const DEEPEST: usize = 32;
/// The maximum length of a text that is a name or a phrase; a longer text is prose.
const LONGEST_PHRASE: u64 = 200;

/// The given parts of a schema, and all parts that they refer to.
pub(crate) fn alternatives<'s>(root: &'s Value, parts: impl IntoIterator<Item = &'s Value>) -> Vec<&'s Value> {
    let mut found: Vec<&Value> = Vec::new();
    for part in parts {
        add(root, part, 0, &mut found);
    }
    found
}

fn add<'s>(root: &'s Value, part: &'s Value, depth: usize, found: &mut Vec<&'s Value>) {
    if depth > DEEPEST || found.iter().any(|other| std::ptr::eq(*other, part)) {
        return;
    }
    found.push(part);
    let target = part.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let branches = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| part.get(key)?.as_array()).flatten();
    for next in target.and_then(|target| root.pointer(target)).into_iter().chain(branches) {
        add(root, next, depth + 1, found);
    }
}

/// The names of the place's fields, in the schema's order.
pub(crate) fn property_names<'s>(place: &[&'s Value]) -> Vec<&'s str> {
    let mut names: Vec<&str> = Vec::new();
    for name in place.iter().filter_map(|part| part.get("properties")?.as_object()).flat_map(|fields| fields.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// The parts of the schema for one of the place's fields.
pub(crate) fn property<'s>(root: &'s Value, place: &[&'s Value], name: &str) -> Vec<&'s Value> {
    alternatives(root, place.iter().filter_map(|part| part.get("properties")?.get(name)))
}

/// The parts of the schema for the items of a list.
pub(crate) fn items<'s>(root: &'s Value, place: &[&'s Value]) -> Vec<&'s Value> {
    alternatives(root, place.iter().filter_map(|part| part.get("items")))
}

/// Whether the value at the place may be a list.
pub(crate) fn is_list(place: &[&Value]) -> bool {
    place.iter().any(|part| part.get("items").is_some() || has_type(part, &["array"]))
}

/// How the values at a place are compared; none if the schema doesn't describe them.
pub(crate) fn kind(place: &[&Value]) -> Option<ComparisonKind> {
    let kinds: Vec<ComparisonKind> = place.iter().filter_map(|part| kind_of_part(part)).collect();
    kinds.iter().find(|kind| **kind != ComparisonKind::Exact).or(kinds.first()).copied()
}

fn kind_of_part(part: &Value) -> Option<ComparisonKind> {
    let format = part.get("format").and_then(Value::as_str);
    let longest = part.get("maxLength").and_then(Value::as_u64);
    let has_words = part.get("const").is_some_and(|value| !value.is_null())
        || part.get("enum").and_then(Value::as_array).is_some_and(|values| values.iter().any(|value| !value.is_null()));
    if has_type(part, &["number", "integer"]) {
        Some(ComparisonKind::NUMBER)
    } else if matches!(format, Some("date" | "date-time")) {
        Some(ComparisonKind::Date)
    } else if has_words {
        Some(ComparisonKind::OneOf)
    } else if format == Some("uuid") || part.get("pattern").is_some() {
        Some(ComparisonKind::Identifier)
    } else if longest.is_some_and(|longest| longest > LONGEST_PHRASE) {
        Some(ComparisonKind::TEXT)
    } else {
        has_type(part, &["string", "boolean"]).then_some(ComparisonKind::Exact)
    }
}

fn has_type(part: &Value, names: &[&str]) -> bool {
    let is_named = |value: &Value| value.as_str().is_some_and(|name| names.contains(&name));
    match part.get("type") {
        Some(Value::Array(types)) => types.iter().any(is_named),
        Some(one) => is_named(one),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_says_how_its_values_are_compared() {
        let root = json!({
            "$defs": {"money": {"type": "number"}, "loop": {"$ref": "#/$defs/loop"}},
            "definitions": {"day": {"type": ["string", "null"], "format": "date"}},
        });
        for (part, expected) in [
            (json!({"type": "number"}), Some(ComparisonKind::NUMBER)),
            (json!({"type": ["integer", "null"]}), Some(ComparisonKind::NUMBER)),
            (json!({"type": "integer", "enum": [1, 2]}), Some(ComparisonKind::NUMBER)),
            (json!({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/money"}]}), Some(ComparisonKind::NUMBER)),
            (json!({"$ref": "#/definitions/day"}), Some(ComparisonKind::Date)),
            (json!({"type": "string", "format": "date-time"}), Some(ComparisonKind::Date)),
            (json!({"enum": ["a", "b", null]}), Some(ComparisonKind::OneOf)),
            (json!({"oneOf": [{"const": "a"}, {"const": null}]}), Some(ComparisonKind::OneOf)),
            (json!({"type": "string", "format": "uuid"}), Some(ComparisonKind::Identifier)),
            (json!({"type": "string", "pattern": "^[A-Z]+$"}), Some(ComparisonKind::Identifier)),
            (json!({"type": "string", "maxLength": 201}), Some(ComparisonKind::TEXT)),
            (json!({"type": "string", "maxLength": 200}), Some(ComparisonKind::Exact)),
            (json!({"type": "boolean"}), Some(ComparisonKind::Exact)),
            (json!({"type": "string", "allOf": [{"pattern": "x"}]}), Some(ComparisonKind::Identifier)),
            (json!({"$ref": "#/$defs/loop"}), None),
            (json!({"$ref": "other.json"}), None),
            (json!(true), None),
        ] {
            assert_eq!(kind(&alternatives(&root, [&part])), expected, "{part}");
        }
    }
}
