//! The rule of each field in a document: the one that a person wrote, else the schema's, else the expected value's.
//!
//! A field is a path with `[*]` for the places of lists: `$.parties.tenant`, `$.terms[*].rent`, `$.tags[*]`. Its keys
//! are written as they are, without quotes.

use crate::{
    field_rule::{ComparisonKind, FieldRule},
    schema,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How the values of a kind of document are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonPlan {
    schema: Value,
    rules: BTreeMap<String, FieldRule>,
    ignored: BTreeSet<String>,
}

impl ComparisonPlan {
    /// Makes a plan from a JSON schema of the whole document (if there is one), rules by field, and fields that are
    /// never compared, with everything below them, such as quotes and pages. A subset of the schema is read:
    /// `properties`, `items`, `$ref` into the schema itself, `anyOf`, `oneOf`, `allOf` and lists of types.
    pub fn new(
        schema: Option<Value>,
        rules: BTreeMap<String, FieldRule>,
        ignored: impl IntoIterator<Item = String>,
    ) -> Self {
        Self { schema: schema.unwrap_or_default(), rules, ignored: ignored.into_iter().collect() }
    }

    /// The fields of rules that match neither the schema nor the expected values; most likely they are misspelt. A rule
    /// for an object or a list matches if it ignores everything below it; other rules need a single value.
    pub fn unused_rules<'v>(&'v self, expected: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
        let mut known = KnownFields::default();
        known.add("$", &expected.into_iter().collect::<Vec<_>>(), &self.root(), self, &mut Vec::new());
        let fits = |field: &String, rule: &FieldRule| {
            known.values.contains(field) || (rule.kind == ComparisonKind::Ignored && known.containers.contains(field))
        };
        self.rules.iter().filter(|(field, rule)| !fits(field, rule)).map(|(field, _)| field.clone()).collect()
    }

    /// The parts of the schema for the whole document.
    pub(crate) fn root(&self) -> Vec<&Value> {
        schema::alternatives(&self.schema, [&self.schema])
    }

    /// The parts of the schema for a field of an object.
    pub(crate) fn property<'p>(&'p self, place: &[&'p Value], name: &str) -> Vec<&'p Value> {
        schema::property(&self.schema, place, name)
    }

    /// The parts of the schema for the items of a list.
    pub(crate) fn items<'p>(&'p self, place: &[&'p Value]) -> Vec<&'p Value> {
        schema::items(&self.schema, place)
    }

    /// Whether the field is left out of the comparison.
    pub(crate) fn is_ignored(&self, field: &str) -> bool {
        self.ignored.contains(field) || self.rules.get(field).is_some_and(|rule| rule.kind == ComparisonKind::Ignored)
    }

    /// How the values of a field are compared, and whether a judge is asked; none where the expected value decides.
    pub(crate) fn rule(&self, field: &str, place: &[&Value]) -> Option<FieldRule> {
        let of_schema = || schema::kind(place).map(|kind| FieldRule { kind, judge: false });
        self.rules.get(field).copied().or_else(of_schema)
    }
}

/// All fields that a schema or a value has.
#[derive(Default)]
struct KnownFields {
    values: BTreeSet<String>,
    containers: BTreeSet<String>,
}

impl KnownFields {
    /// `open` has the schema's objects and lists on the path to this place: the schema may lead back to one of them.
    fn add<'v>(
        &mut self,
        field: &str,
        values: &[&'v Value],
        place: &[&'v Value],
        plan: &'v ComparisonPlan,
        open: &mut Vec<&'v Value>,
    ) {
        let is_again =
            values.is_empty() && place.iter().any(|part| open.iter().any(|other| std::ptr::eq(*other, *part)));
        let mut names = schema::property_names(place);
        let of_values = values.iter().filter_map(|value| value.as_object()).flat_map(|fields| fields.keys());
        names.extend(of_values.map(String::as_str));
        let names: BTreeSet<&str> = names.into_iter().collect();
        let is_list = schema::is_list(place) || values.iter().any(|value| value.is_array());
        let is_value = values.iter().any(|value| !value.is_null() && !value.is_object() && !value.is_array());
        if is_value || (names.is_empty() && !is_list) {
            self.values.insert(field.to_owned());
        }
        if is_again {
            return;
        }
        open.extend(place);
        for name in &names {
            let below: Vec<&Value> = values.iter().filter_map(|value| value.as_object()?.get(*name)).collect();
            self.add(&format!("{field}.{name}"), &below, &plan.property(place, name), plan, open);
        }
        if is_list {
            let below: Vec<&Value> = values.iter().filter_map(|value| value.as_array()).flatten().collect();
            self.add(&format!("{field}[*]"), &below, &plan.items(place), plan, open);
        }
        open.truncate(open.len() - place.len());
        if !names.is_empty() || is_list {
            self.containers.insert(field.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_that_fits_nothing_is_named() {
        let schema = json!({
            "properties": {
                "terms": {"items": {"properties": {"rent": {"type": "number"}, "quote": {"type": "string"}}}},
                "part": {"$ref": "#/$defs/part"},
            },
            "$defs": {"part": {"properties": {"name": {}, "parts": {"items": {"$ref": "#/$defs/part"}}}}},
        });
        let fields = [
            ("$.terms[*].rent", ComparisonKind::NUMBER),
            ("$.terms[*].rents", ComparisonKind::NUMBER),
            ("$.terms", ComparisonKind::Ignored),
            ("$.terms[*]", ComparisonKind::Exact),
            ("$.part.name", ComparisonKind::Exact),
            ("$.part.parts[*].name", ComparisonKind::Exact),
            ("$.part.parts[*].parts[*].name", ComparisonKind::Exact),
            ("$.tags[*]", ComparisonKind::OneOf),
            ("$.extra.note", ComparisonKind::TEXT),
            ("terms", ComparisonKind::Ignored),
        ];
        let rules = fields.map(|(field, kind)| (field.to_owned(), FieldRule { kind, judge: false }));
        let plan = ComparisonPlan::new(Some(schema), BTreeMap::from(rules), []);
        let golden = [
            json!({"tags": ["a"], "part": {"parts": [{"parts": [{"name": "deep"}]}]}}),
            json!({"extra": {"note": null}, "tags": null}),
        ];
        assert_eq!(plan.unused_rules(&golden), ["$.terms[*]", "$.terms[*].rents", "terms"]);
        let below = ["$.part.parts[*].parts[*].name", "$.tags[*]", "$.extra.note"];
        let mut without: Vec<String> = plan.unused_rules([]);
        without.retain(|field| below.contains(&field.as_str()));
        assert_eq!(without, ["$.extra.note", "$.part.parts[*].parts[*].name", "$.tags[*]"]);
    }
}
