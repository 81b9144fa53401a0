//! The paths of `quotes.each`: `$`, then `.key`, `['key']`, `[*]` or `[0]`.
//!
//! A small own subset of RFC 9535: the paths only say which objects of a JSON file carry a quote. Filters, slices and
//! descendants would make a rule's reach hard to see for whoever reads the instructions, and could visit a hostile file
//! more than once; here each value is visited at most once.

use serde_json::Value;
use std::fmt;

/// A parsed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    /// Every item of an array, every value of an object.
    Each,
}

/// A value that a path leads to, and its place: `$.requirements[3]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'v> {
    pub place: String,
    pub value: &'v Value,
}

impl JsonPath {
    /// Reads a path; the error is a fragment that follows the path in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(mut rest) = text.trim().strip_prefix('$') else {
            return Err("but a path begins with '$', such as $.requirements[*]".to_owned());
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest)
                .ok_or_else(|| format!("which can't be read from '{rest}' on; steps are .key, ['key'], [*] and [0]"))?;
            steps.push(step);
            rest = after;
        }
        Ok(Self { steps })
    }

    /// The values that the path leads to, in the order of the file.
    pub fn find<'v>(&self, root: &'v Value) -> Vec<Found<'v>> {
        let mut found = vec![Found {
            place: "$".to_owned(),
            value: root,
        }];
        for step in &self.steps {
            found = found.iter().flat_map(|at| at.step(step)).collect();
        }
        found
    }
}

fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at_checked(end)?;
        if key == "*" {
            return Some((Step::Each, after));
        }
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        return (!key.is_empty() && key.chars().all(plain)).then(|| (Step::Key(key.to_owned()), after));
    }
    let rest = text.strip_prefix('[')?;
    for quote in ['\'', '"'] {
        if let Some(rest) = rest.strip_prefix(quote) {
            let (key, after) = rest.split_once(quote)?;
            return Some((Step::Key(key.to_owned()), after.strip_prefix(']')?));
        }
    }
    let (inside, after) = rest.split_once(']')?;
    let step = if inside == "*" {
        Step::Each
    } else {
        Step::Index(inside.parse().ok()?)
    };
    Some((step, after))
}

impl<'v> Found<'v> {
    fn under(&self, step: impl fmt::Display, value: &'v Value) -> Self {
        Found {
            place: format!("{}{step}", self.place),
            value,
        }
    }

    fn step(&self, step: &Step) -> Vec<Self> {
        match (step, self.value) {
            (Step::Key(key), Value::Object(map)) => map
                .get(key)
                .map(|value| self.under(format_args!(".{key}"), value))
                .into_iter()
                .collect(),
            (Step::Index(index), Value::Array(items)) => items
                .get(*index)
                .map(|value| self.under(format_args!("[{index}]"), value))
                .into_iter()
                .collect(),
            (Step::Each, Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(index, value)| self.under(format_args!("[{index}]"), value))
                .collect(),
            (Step::Each, Value::Object(map)) => map
                .iter()
                .map(|(key, value)| self.under(format_args!(".{key}"), value))
                .collect(),
            (
                Step::Key(_) | Step::Index(_) | Step::Each,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            ) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn places(path: &str, value: &Value) -> Vec<String> {
        JsonPath::parse(path)
            .unwrap()
            .find(value)
            .into_iter()
            .map(|found| found.place)
            .collect()
    }

    #[test]
    fn finds_in_order() {
        let value = json!({"a": {"b": [{"c": [1, 2]}, {"d": 0}, {"c": [3]}]}, "odd key": [7]});
        assert_eq!(
            places("$.a.b[*].c[*]", &value),
            ["$.a.b[0].c[0]", "$.a.b[0].c[1]", "$.a.b[2].c[0]"]
        );
        assert_eq!(places("$.a.b[1]", &value), ["$.a.b[1]"]);
        assert_eq!(places("$['odd key'][*]", &value), ["$.odd key[0]"]);
        assert_eq!(places("$[*]", &json!([1, 2])), ["$[0]", "$[1]"]);
        assert_eq!(places("$.a.*", &value), ["$.a.b"]);
        assert_eq!(places("$", &value), ["$"]);
        assert_eq!(places("$.missing[*]", &value), [""; 0]);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for path in [
            "requirements[*]",
            "",
            "$requirements",
            "$.",
            "$..a",
            "$.a[",
            "$[?(@.a)]",
            "$[1:2]",
            "$['a",
            "$.a b",
        ] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    proptest! {
        #[test]
        fn hostile_paths_are_values_or_errors(text in "\\PC{0,40}|\\$[.\\[\\]*'\"a0-]{0,40}") {
            if let Ok(path) = JsonPath::parse(&text) {
                let _ = path.find(&json!({"a": [[0], {"a": 1}]}));
            }
        }
    }
}
