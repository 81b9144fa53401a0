//! The paths of `quotes.each`: `$`, then `.key`, `['key']`, `[*]` or `[0]`.
//!
//! A small subset of RFC 9535: the paths only state which objects of a JSON file carry a quote. Filters, slices and
//! descendants would make the reach of a rule hard to see for readers of the instructions, and could visit a hostile
//! file more than once; here each value is visited at most once.

mod walk;

use serde_json::Value;
use std::fmt::{self, Write};

/// A parsed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    steps: Vec<PathSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathSegment {
    Key(String),
    Index(usize),
    /// Every item of an array, every value of an object.
    Each,
}

/// The reason why a text is not a path: a phrase that follows the path in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    /// It does not begin with `$`.
    #[error("but a path begins with '$', such as $.requirements[*]")]
    NoRoot,
    /// The given rest of the text is not a step.
    #[error("which can't be read from '{0}' on; steps are .key, ['key'], [*] and [0]")]
    NoStep(String),
}

impl JsonPath {
    /// Reads a path.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        let mut rest = text.trim().strip_prefix('$').ok_or(JsonPathError::NoRoot)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(|| JsonPathError::NoStep(rest.to_owned()))?;
            steps.push(step);
            rest = after;
        }
        Ok(Self { steps })
    }

    /// The keys that lead to the list whose items the path takes; `None` if it takes no list's items.
    pub(super) fn keys_of_list(&self) -> Option<Vec<String>> {
        let mut keys = Vec::new();
        for step in &self.steps {
            match step {
                PathSegment::Key(key) => keys.push(key.clone()),
                PathSegment::Index(_) => return None,
                PathSegment::Each => return Some(keys),
            }
        }
        None
    }

    /// The path of the items of the innermost list that it passes through: `$.terms[*]` of `$.terms[*].due`; `None` if
    /// it ends there, or passes through no list.
    pub(super) fn list(&self) -> Option<Self> {
        let end = self.steps.iter().rposition(|step| *step == PathSegment::Each)? + 1;
        (end < self.steps.len()).then(|| Self { steps: self.steps[..end].to_vec() })
    }

    /// The keys after the innermost list that it passes through.
    pub(super) fn keys_behind_list(&self) -> Vec<String> {
        let behind = self.steps.rsplit(|step| *step == PathSegment::Each).next().unwrap_or_default();
        let key = |step: &PathSegment| match step {
            PathSegment::Key(key) => Some(key.clone()),
            PathSegment::Index(_) | PathSegment::Each => None,
        };
        if self.list().is_none() { Vec::new() } else { behind.iter().filter_map(key).collect() }
    }

    /// A value that has `inner` at the place to which the path leads, and nothing else.
    pub(super) fn around(&self, inner: Value) -> Value {
        self.steps.iter().rev().fold(inner, |inner, step| match step {
            PathSegment::Key(key) => Value::Object(serde_json::Map::from_iter([(key.clone(), inner)])),
            PathSegment::Index(_) | PathSegment::Each => Value::Array(vec![inner]),
        })
    }

    pub(super) fn steps(&self) -> &[PathSegment] {
        &self.steps
    }

    /// How many steps the path has.
    pub(super) fn depth(&self) -> usize {
        self.steps.len()
    }

    /// Calls `visit` with each value that the path leads to and its place (`$.requirements[3]`), in the order of the
    /// file. Nothing is collected: a hostile file could have millions.
    pub fn each<'v>(&self, root: &'v Value, visit: &mut dyn FnMut(&str, &'v Value)) {
        walk(&self.steps, root, &mut "$".to_owned(), visit);
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        self.steps.iter().try_for_each(|step| match step {
            PathSegment::Key(key) if key.chars().all(is_plain) => write!(f, ".{key}"),
            PathSegment::Key(key) => write!(f, "['{key}']"),
            PathSegment::Index(index) => write!(f, "[{index}]"),
            PathSegment::Each => f.write_str("[*]"),
        })
    }
}

/// The value at a place as [`JsonPath::each`] names it (`$.requirements[3].text`). A missing field is created if its
/// object exists.
pub fn at_mut<'v>(root: &'v mut Value, place: &str) -> Option<&'v mut Value> {
    let mut steps = Vec::new();
    if !leads_on(root, place.strip_prefix('$')?, &mut steps) {
        return None;
    }
    steps.into_iter().try_fold(root, |value, step| match (step, value) {
        (PathSegment::Key(key), Value::Object(map)) => Some(map.entry(key).or_insert(Value::Null)),
        (PathSegment::Index(index), Value::Array(items)) => items.get_mut(index),
        (PathSegment::Key(_) | PathSegment::Index(_) | PathSegment::Each, _) => None,
    })
}

/// Adds the steps that lead from `value` along the rest of a place. A key may contain the separators of steps: the
/// longest key that leads to the end is taken. Returns false if none does.
fn leads_on(value: &Value, rest: &str, steps: &mut Vec<PathSegment>) -> bool {
    if rest.is_empty() {
        return true;
    }
    match value {
        Value::Object(map) => {
            let Some(text) = rest.strip_prefix('.') else { return false };
            let is_whole = |key: &&String| text.strip_prefix(key.as_str()).is_some_and(ends_step);
            let mut known: Vec<&String> = map.keys().filter(is_whole).collect();
            known.sort_by_key(|key| std::cmp::Reverse(key.len()));
            for key in known {
                steps.push(PathSegment::Key(key.clone()));
                if leads_on(&map[key], &text[key.len()..], steps) {
                    return true;
                }
                steps.pop();
            }
            let is_new = !text.is_empty() && !text.contains(['.', '[']);
            steps.extend(is_new.then(|| PathSegment::Key(text.to_owned())));
            is_new
        }
        Value::Array(items) => {
            let item = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let Some((index, after)) = item.and_then(|(index, after)| Some((index.parse::<usize>().ok()?, after)))
            else {
                return false;
            };
            let Some(value) = items.get(index) else { return false };
            steps.push(PathSegment::Index(index));
            leads_on(value, after, steps) || {
                steps.pop();
                false
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The rest of `place` within `record`: `.text` for `$.items[3].text` within `$.items[3]`, empty for the record itself;
/// `None` if it is elsewhere.
pub fn within<'p>(place: &'p str, record: &str) -> Option<&'p str> {
    place.strip_prefix(record).filter(|rest| ends_step(rest))
}

fn ends_step(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

fn walk<'v>(steps: &[PathSegment], value: &'v Value, place: &mut String, visit: &mut dyn FnMut(&str, &'v Value)) {
    let Some((step, rest)) = steps.split_first() else {
        return visit(place, value);
    };
    let here = place.len();
    let mut go = |name: fmt::Arguments<'_>, value| {
        let _ = place.write_fmt(name);
        walk(rest, value, place, visit);
        place.truncate(here);
    };
    match (step, value) {
        (PathSegment::Key(key), Value::Object(map)) => {
            if let Some(value) = map.get(key) {
                go(format_args!(".{key}"), value);
            }
        }
        (PathSegment::Index(index), Value::Array(items)) => {
            if let Some(value) = items.get(*index) {
                go(format_args!("[{index}]"), value);
            }
        }
        (PathSegment::Each, Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                go(format_args!("[{index}]"), value);
            }
        }
        (PathSegment::Each, Value::Object(map)) => {
            for (key, value) in map {
                go(format_args!(".{key}"), value);
            }
        }
        (
            PathSegment::Key(_) | PathSegment::Index(_) | PathSegment::Each,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
        ) => {}
    }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn step(text: &str) -> Option<(PathSegment, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at_checked(end)?;
        if key == "*" {
            return Some((PathSegment::Each, after));
        }
        return (!key.is_empty() && key.chars().all(is_plain)).then(|| (PathSegment::Key(key.to_owned()), after));
    }
    let rest = text.strip_prefix('[')?;
    for quote in ['\'', '"'] {
        if let Some(rest) = rest.strip_prefix(quote) {
            let (key, after) = rest.split_once(quote)?;
            return Some((PathSegment::Key(key.to_owned()), after.strip_prefix(']')?));
        }
    }
    let (inside, after) = rest.split_once(']')?;
    let step = if inside == "*" { PathSegment::Each } else { PathSegment::Index(inside.parse().ok()?) };
    Some((step, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// The places in a value, which are the same as in a file.
    fn places(path: &str, value: &Value) -> Vec<String> {
        let (mut found, mut places) = (Vec::new(), Vec::new());
        let path = JsonPath::parse(path).unwrap();
        path.each(value, &mut |place, value| found.push((place.to_owned(), value.clone())));
        let text = value.to_string();
        let mut of_file = serde_json::Deserializer::from_str(&text);
        path.each_in(&mut of_file, &mut |place, value| places.push((place.to_owned(), value))).unwrap();
        assert_eq!(found, places, "{path:?} of {text}");
        places.into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn finds_in_order() {
        let value = json!({"a": {"b": [{"c": [1, 2]}, {"d": 0}, {"c": [3]}]}, "odd key": [7]});
        assert_eq!(places("$.a.b[*].c[*]", &value), ["$.a.b[0].c[0]", "$.a.b[0].c[1]", "$.a.b[2].c[0]"]);
        assert_eq!(places("$.a.b[1]", &value), ["$.a.b[1]"]);
        assert_eq!(places("$['odd key'][*]", &value), ["$.odd key[0]"]);
        assert_eq!(places("$[*]", &json!([1, 2])), ["$[0]", "$[1]"]);
        assert_eq!(places("$.a.*", &value), ["$.a.b"]);
        assert_eq!(places("$", &value), ["$"]);
        assert_eq!(places("$.missing[*]", &value), [""; 0]);
    }

    #[test]
    fn a_place_leads_back_to_its_value() {
        let mut value = json!({"a": {"b": [{"c": [1, 2]}, {"d": 0}]}, "odd key": [7], "a.b": {"x[0]": 3}});
        for (path, after) in [("$.a.b[*].c[*]", 2), ("$['odd key'][*]", 1), ("$['a.b'].*", 1)] {
            let places = places(path, &value);
            assert_eq!(places.len(), after, "{path}");
            for place in places {
                let found = at_mut(&mut value, &place).unwrap();
                assert!(found.is_number(), "{place}");
            }
        }
        *at_mut(&mut value, "$.a.b[1].e").unwrap() = json!("new");
        assert_eq!(value["a"]["b"][1], json!({"d": 0, "e": "new"}));
        for place in ["a", "$.a.b[9]", "$.a.b[1].f.g", "$.a.b[0].c.d", "$[0]", "$.a.b[x]"] {
            assert_eq!(at_mut(&mut value, place), None, "{place}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for path in
            ["requirements[*]", "", "$requirements", "$.", "$..a", "$.a[", "$[?(@.a)]", "$[1:2]", "$['a", "$.a b"]
        {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    proptest! {
        #[test]
        fn hostile_paths_are_values_or_errors(text in "\\PC{0,40}|\\$[.\\[\\]*'\"a0-]{0,40}") {
            if let Ok(path) = JsonPath::parse(&text) {
                path.each(&json!({"a": [[0], {"a": 1}]}), &mut |_, _| {});
            }
        }
    }
}
