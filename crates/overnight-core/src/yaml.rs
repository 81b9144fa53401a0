//! YAML with line numbers, for files that people write by hand: front matter and `overnight.yaml`.
//!
//! The YAML library knows positions only of its own errors, and a typed `Deserialize` would lose the line of a value
//! with the right type and a wrong meaning. So the text becomes a plain tree here, which is read by path. Only on an
//! error is the library asked for the line: by walking the same text again and failing on purpose at that path.
//!
//! *Invariants*: tags are refused; depth and size of a tree are bounded, aliases expanded; a key occurs only once.

use crate::amount::{count, duration_ms, shown};
use std::fmt::{self, Write};

mod tree;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlNode {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number that is not negative.
    Whole(u64),
    /// Any other number.
    Number(f64),
    /// A text, quoted or bare.
    Text(String),
    /// The items, in the order of the text.
    List(Vec<YamlNode>),
    /// The entries, in the order of the text, each key once.
    Map(Vec<(String, YamlNode)>),
}

/// One step of the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlStep {
    /// Into a mapping.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

/// An error in a value, with its path in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    path: Vec<YamlStep>,
    /// Whether the key itself is at fault, not its value.
    at_key: bool,
    /// What is wrong: a sentence without a full stop.
    pub what: String,
}

/// An error in the text, with its line, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong: a sentence without a full stop.
    pub what: String,
}

/// A text that was read.
#[derive(Debug)]
pub struct YamlFile<'t> {
    text: &'t str,
    root: YamlNode,
}

impl<'t> YamlFile<'t> {
    /// Reads a text within the bounds on its size.
    pub fn parse(text: &'t str) -> Result<Self, YamlError> {
        tree::build(text).map(|root| Self { text, root })
    }

    /// The whole tree.
    pub fn root(&self) -> YamlValue<'_> {
        YamlValue { node: &self.root, path: Vec::new() }
    }

    /// The error `wrong` with its line, from 1.
    pub fn fault(&self, wrong: ValueError) -> YamlError {
        YamlError { line: tree::locate(self.text, &wrong.path, wrong.at_key), what: wrong.what }
    }

    /// The line of `at`'s key, from 1.
    pub fn line_of(&self, at: &YamlValue<'_>) -> u64 {
        tree::locate(self.text, &at.path, true)
    }
}

/// One value of the tree, with its path.
#[derive(Clone, Debug)]
pub struct YamlValue<'a> {
    node: &'a YamlNode,
    path: Vec<YamlStep>,
}

impl<'a> YamlValue<'a> {
    /// The value here.
    pub fn node(&self) -> &'a YamlNode {
        self.node
    }

    /// An error about this value, which `what` follows: `'phase.min_todos' must be …`.
    pub fn wrong(&self, what: impl fmt::Display) -> ValueError {
        let what = if self.path.is_empty() { format!("this {what}") } else { format!("'{}' {what}", self.name()) };
        ValueError { path: self.path.clone(), at_key: false, what }
    }

    /// The path as text: `deliverables[0].path`
    pub fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                YamlStep::Key(key) if name.is_empty() => name = shown(key),
                YamlStep::Key(key) => {
                    name.push('.');
                    name.push_str(&shown(key));
                }
                YamlStep::Index(index) => {
                    let _ = write!(name, "[{index}]");
                }
            }
        }
        name
    }

    fn expected(&self, what: &str) -> ValueError {
        let found = match self.node {
            YamlNode::Null => "nothing".to_owned(),
            YamlNode::Flag(flag) => flag.to_string(),
            YamlNode::Whole(number) => number.to_string(),
            YamlNode::Number(number) => number.to_string(),
            YamlNode::Text(text) => format!("'{}'", shown(text)),
            YamlNode::List(_) => "a list".to_owned(),
            YamlNode::Map(_) => "a mapping".to_owned(),
        };
        self.wrong(format!("must be {what}, not {found}"))
    }

    fn under(&self, step: YamlStep, node: &'a YamlNode) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        YamlValue { node, path }
    }

    /// The entries of a mapping, all of whose keys must be among `known`.
    pub fn table(&self, known: &[&str]) -> Result<YamlMapping<'a>, ValueError> {
        let entries = self.entries()?;
        for at in &entries {
            let Some(YamlStep::Key(key)) = at.path.last() else { continue };
            if known.contains(&key.as_str()) {
                continue;
            }
            let place = if self.path.is_empty() { String::new() } else { format!(" in '{}'", self.name()) };
            let hint = match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("known here: {}", known.join(", ")),
            };
            let what = format!("unknown key '{}'{place}; {hint}", shown(key));
            return Err(ValueError { path: at.path.clone(), at_key: true, what });
        }
        Ok(YamlMapping { at: self.clone(), entries })
    }

    /// The entries of a mapping whose keys are names of the writer's choice.
    pub fn entries(&self) -> Result<Vec<YamlValue<'a>>, ValueError> {
        match self.node {
            YamlNode::Map(entries) => {
                Ok(entries.iter().map(|(key, node)| self.under(YamlStep::Key(key.clone()), node)).collect())
            }
            YamlNode::Null
            | YamlNode::Flag(_)
            | YamlNode::Whole(_)
            | YamlNode::Number(_)
            | YamlNode::Text(_)
            | YamlNode::List(_) => Err(self.expected("a mapping (key: value)")),
        }
    }

    /// The last key of the path to this value.
    pub fn key(&self) -> &str {
        match self.path.last() {
            Some(YamlStep::Key(key)) => key,
            Some(YamlStep::Index(_)) | None => "",
        }
    }

    /// The items of a list.
    pub fn list(&self) -> Result<Vec<YamlValue<'a>>, ValueError> {
        match self.node {
            YamlNode::List(nodes) => {
                Ok(nodes.iter().enumerate().map(|(i, n)| self.under(YamlStep::Index(i), n)).collect())
            }
            YamlNode::Null
            | YamlNode::Flag(_)
            | YamlNode::Whole(_)
            | YamlNode::Number(_)
            | YamlNode::Text(_)
            | YamlNode::Map(_) => Err(self.expected("a list")),
        }
    }

    /// One line of text, not blank, at most `max` characters, without control characters.
    pub fn line(&self, max: usize) -> Result<String, ValueError> {
        let YamlNode::Text(text) = self.node else {
            let hint = matches!(self.node, YamlNode::Whole(_) | YamlNode::Number(_) | YamlNode::Flag(_));
            return Err(self.expected(if hint { "text (put it in quotes)" } else { "text" }));
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(self.wrong("must not be empty"));
        }
        if text.chars().any(char::is_control) {
            return Err(self.wrong("must be one line without control characters"));
        }
        if text.chars().count() > max {
            return Err(self.wrong(format!("must have at most {max} characters")));
        }
        Ok(text.to_owned())
    }

    /// A list of texts, each one line of at most `max` characters.
    pub fn lines(&self, max: usize) -> Result<Vec<String>, ValueError> {
        self.list()?.iter().map(|at| at.line(max)).collect()
    }

    /// `true` or `false`.
    pub fn flag(&self) -> Result<bool, ValueError> {
        match self.node {
            YamlNode::Flag(flag) => Ok(*flag),
            YamlNode::Null
            | YamlNode::Whole(_)
            | YamlNode::Number(_)
            | YamlNode::Text(_)
            | YamlNode::List(_)
            | YamlNode::Map(_) => Err(self.expected("true or false")),
        }
    }

    /// A whole number of at least `min`; `20M` is accepted too.
    pub fn count(&self, min: u64) -> Result<u64, ValueError> {
        let number = match self.node {
            YamlNode::Whole(number) => *number,
            YamlNode::Text(text) => count(text).map_err(|what| self.wrong(what))?,
            YamlNode::Null | YamlNode::Flag(_) | YamlNode::Number(_) | YamlNode::List(_) | YamlNode::Map(_) => {
                return Err(self.expected("a whole number such as 500k, 20M or 20000000"));
            }
        };
        if number < min {
            return Err(self.wrong(format!("must be at least {min}, not {number}")));
        }
        Ok(number)
    }

    /// A duration, longer than 0.
    pub fn duration_ms(&self) -> Result<u64, ValueError> {
        let YamlNode::Text(text) = self.node else {
            return Err(self.expected("a duration with its unit, such as 30m, 8h or 1h30m"));
        };
        match duration_ms(text).map_err(|what| self.wrong(what))? {
            0 => Err(self.wrong("must be longer than 0")),
            millis => Ok(millis),
        }
    }

    /// A number within `min..=max`.
    pub fn number(&self, min: f64, max: f64) -> Result<f64, ValueError> {
        let what =
            if max.is_finite() { format!("a number from {min} to {max}") } else { format!("a number from {min}") };
        let number = match self.node {
            #[expect(clippy::cast_precision_loss, reason = "a whole number this large is out of every range used here")]
            YamlNode::Whole(number) => *number as f64,
            YamlNode::Number(number) => *number,
            YamlNode::Null | YamlNode::Flag(_) | YamlNode::Text(_) | YamlNode::List(_) | YamlNode::Map(_) => {
                return Err(self.expected(&what));
            }
        };
        // Written this way round, NaN is refused too.
        if number.is_finite() && (min..=max).contains(&number) { Ok(number) } else { Err(self.expected(&what)) }
    }

    /// One of the given words, as its value.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ValueError> {
        let found = match self.node {
            YamlNode::Text(text) => words.iter().find(|(word, _)| word == text),
            // `none` is text, but a bare `null` or `~` is what some people write for it.
            YamlNode::Null => words.iter().find(|(word, _)| *word == "none"),
            YamlNode::Flag(_) | YamlNode::Whole(_) | YamlNode::Number(_) | YamlNode::List(_) | YamlNode::Map(_) => None,
        };
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        found.map(|(_, value)| *value).ok_or_else(|| self.expected(&names.join(" or ")))
    }
}

/// A mapping whose keys are all known.
#[derive(Debug)]
pub struct YamlMapping<'a> {
    at: YamlValue<'a>,
    entries: Vec<YamlValue<'a>>,
}

impl<'a> YamlMapping<'a> {
    /// The value of `key`; `None` if it is missing or null.
    pub fn get(&self, key: &str) -> Option<&YamlValue<'a>> {
        self.entries.iter().find(|at| at.key() == key).filter(|at| *at.node != YamlNode::Null)
    }

    /// The value of `key`; missing or null is an error.
    pub fn required(&self, key: &str) -> Result<&YamlValue<'a>, ValueError> {
        self.get(key).ok_or_else(|| {
            let place = if self.at.path.is_empty() { String::new() } else { format!(" in '{}'", self.at.name()) };
            ValueError { path: self.at.path.clone(), at_key: false, what: format!("the key '{key}' is missing{place}") }
        })
    }
}

/// The word of `known` that `word` was probably meant to be.
pub fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > 100 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let word = plain(word);
    known
        .map(|candidate| (strsim::damerau_levenshtein(&word, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
