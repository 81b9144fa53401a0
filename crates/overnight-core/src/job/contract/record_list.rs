//! The place of the list of records in a deliverable.

use crate::job::instructions::{Deliverable, Quotes};
use crate::job::json_path::JsonPath;
use serde_json::{Map, Value};
use std::fmt;

/// The key of the value in an object that is a field with its quote: `{"value": …, "quote": …}`.
pub const VALUE: &str = "value";
/// Levels of nested objects in which lists are looked for.
const DEEPEST: usize = 8;

/// The place of a list in a JSON file: the keys that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListPath(pub(super) Vec<String>);

impl fmt::Display for ListPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|key| write!(f, ".{key}"))
    }
}

/// The number of items of the deliverable's list in `value`, if it has one list.
pub(super) fn count(d: &Deliverable, value: &Value) -> Option<u64> {
    if let Value::Array(items) = value {
        return Some(items.len() as u64);
    }
    let list = list_of(d, None).ok()?;
    let found = list.0.iter().try_fold(value, |value, key| value.get(key))?;
    Some(found.as_array()?.len() as u64)
}

/// The lists of a deliverable's records, one path each (`$.obligations[*]`): those that carry quotes, else those of the
/// schema. An object with a quote that is a field of a record (`$.obligations[*].due`) is no record itself.
pub fn record_lists(d: &Deliverable) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for rule in &d.quotes {
        let each = records_of(rule);
        if !paths.contains(&each) {
            paths.push(each);
        }
    }
    if let (true, Some(schema)) = (paths.is_empty(), &d.schema) {
        let mut found = Vec::new();
        lists(schema, schema, &mut Vec::new(), &mut found);
        paths.extend(found.iter().map(|list| format!("{list}[*]")).filter(|path| JsonPath::parse(path).is_ok()));
    }
    paths
}

/// The path of the records whose quotes a rule is about: `$.terms[*]`, for `$.terms[*].due` too.
pub fn records_of(rule: &Quotes) -> String {
    let list = JsonPath::parse(&rule.each).ok().and_then(|path| path.list());
    list.map_or_else(|| rule.each.clone(), |list| list.to_string())
}

/// The one of `quotes` that stands at the place `object` under the key `key`, and the place of its record.
pub fn record_with<'q, 'd, 'p>(
    quotes: &'q [RecordQuote<'d>],
    object: &'p str,
    key: &str,
) -> Option<(&'q RecordQuote<'d>, &'p str)> {
    let of_key = quotes.iter().filter(|quote| quote.rule.text == key);
    of_key.filter_map(|quote| Some((quote, quote.record_of(object)?))).max_by_key(|(quote, _)| quote.keys.len())
}

/// The name that the field `name` of an object at `within` has in its record: `due.day`, and `due` for the value of the
/// object `due`. If `within` is empty, the object is the record.
pub fn field_name(within: &str, name: &str) -> String {
    match (within, name) {
        ("", name) => name.to_owned(),
        (within, VALUE) => within.to_owned(),
        (within, name) => format!("{within}.{name}"),
    }
}

/// A quote that each record of a list may have.
#[derive(Clone, Debug)]
pub struct RecordQuote<'d> {
    /// Its rule.
    pub rule: &'d Quotes,
    /// The keys that lead from the record to the object with the quote; empty if that is the record.
    keys: Vec<String>,
}

/// The quotes of the records at `list`, one of [`record_lists`], in the order of their rules.
pub fn record_quotes<'d>(d: &'d Deliverable, list: &str) -> Vec<RecordQuote<'d>> {
    let of_list = d.quotes.iter().filter(|rule| records_of(rule) == list);
    let quote = |rule: &'d Quotes| RecordQuote {
        rule,
        keys: JsonPath::parse(&rule.each).map(|path| path.keys_behind_list()).unwrap_or_default(),
    };
    of_list.map(quote).collect()
}

impl RecordQuote<'_> {
    /// The object with the quote.
    pub fn object<'v>(&self, record: &'v Value) -> Option<&'v Value> {
        self.keys.iter().try_fold(record, |value, key| value.get(key))
    }

    /// The place of the record whose object with the quote stands at `object`.
    fn record_of<'p>(&self, object: &'p str) -> Option<&'p str> {
        self.keys.iter().rev().try_fold(object, |place, key| place.strip_suffix(key.as_str())?.strip_suffix('.'))
    }

    /// The name that the field `name` of the object with the quote has in its record: see [`field_name`].
    pub fn name_of(&self, name: &str) -> String {
        field_name(&self.keys.join("."), name)
    }

    /// The fields of the record that stand for the quote: the quote itself, and the value that it proves, if any.
    pub fn fields(&self) -> impl Iterator<Item = String> + '_ {
        let of_object = (!self.keys.is_empty()).then_some(VALUE);
        let value = self.rule.named_field().or(of_object);
        std::iter::once(self.rule.text.as_str()).chain(value).map(|name| self.name_of(name))
    }
}

/// The list that is meant: the named one, else that of the quotes, else the only one of the schema.
pub(super) fn list_of(d: &Deliverable, named: Option<&str>) -> Result<ListPath, String> {
    let mut quoted = Vec::new();
    for rule in &d.quotes {
        let list = JsonPath::parse(&rule.each).ok().and_then(|path| path.keys_of_list()).map(ListPath);
        quoted.extend(list.filter(|list| !quoted.contains(list)));
    }
    let mut known = quoted.clone();
    if let Some(schema) = &d.schema {
        lists(schema, schema, &mut Vec::new(), &mut known);
    }
    let all = || known.iter().map(ListPath::to_string).collect::<Vec<_>>().join(", ");
    if let Some(named) = named {
        let text = named.trim().trim_end_matches("[*]");
        let text = if text.starts_with('$') { format!("{text}[*]") } else { format!("$.{text}[*]") };
        let list = JsonPath::parse(&text).ok().and_then(|path| path.keys_of_list()).map(ListPath);
        return match list {
            Some(list) if known.is_empty() || known.contains(&list) => Ok(list),
            Some(_) | None if known.is_empty() => Err("list is not the path of a list; write it as $.key".to_owned()),
            Some(_) | None => {
                Err(format!("{} has no list '{}'; its lists are {}", d.path, crate::amount::shown(named), all()))
            }
        };
    }
    match (&quoted[..], &known[..]) {
        ([list], _) | ([], [list]) => Ok(list.clone()),
        ([], []) => Err(format!("nothing says where {} has its list; give list, such as $.records", d.path)),
        (_, _) => Err(format!("{} has several lists; give list, one of {}", d.path, all())),
    }
}

/// The lists that a schema has outside of lists.
fn lists(root: &Value, schema: &Value, keys: &mut Vec<String>, found: &mut Vec<ListPath>) {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        match target.and_then(|place| root.pointer(place)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    let is_array = match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            schema.get("items").is_some()
        }
    };
    if is_array {
        let list = ListPath(keys.clone());
        if !found.contains(&list) {
            found.push(list);
        }
    } else if let Some(Value::Object(properties)) = schema.get("properties")
        && keys.len() < DEEPEST
    {
        for (key, schema) in properties {
            keys.push(key.clone());
            lists(root, schema, keys, found);
            keys.pop();
        }
    }
}

impl ListPath {
    /// A file that has this list and nothing else.
    pub(super) fn around(&self, items: Vec<Value>) -> Value {
        self.0
            .iter()
            .rev()
            .fold(Value::Array(items), |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])))
    }

    /// The list in `file`, created if it is missing; `None` if something else stands there.
    pub(super) fn items<'v>(&self, file: &'v mut Value) -> Option<&'v mut Vec<Value>> {
        let mut at = file;
        for (place, key) in self.0.iter().enumerate() {
            let missing = if place + 1 == self.0.len() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            at = at.as_object_mut()?.entry(key.clone()).or_insert(missing);
        }
        at.as_array_mut()
    }
}
