//! YAML with line numbers, for what people write by hand: front matter and `overnight.yaml`.
//!
//! The YAML library knows positions only of its own errors, and a typed `Deserialize` would lose the line of a value that
//! has the right type and a wrong meaning. So the text becomes a plain tree here, the tree is read by path, and only when
//! something is wrong is the library asked for the line: by walking the same text again and failing on purpose at that path.
//!
//! *Invariants*: tags are refused; a tree has bounded depth and size, aliases expanded, whatever the text; a key occurs once.

use super::amount::{count, duration_ms, shown};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use std::{
    cell::{Cell, RefCell},
    fmt,
};

/// Bytes that a hand-written YAML text may have. Bounds the parser's work.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Values in one text, aliases expanded.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 40;
const MAX_OPEN: usize = 1_000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// What is wrong, and at which place of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    path: Vec<Step>,
    /// The key itself is meant, not its value.
    at_key: bool,
    pub(crate) what: String,
}

/// What is wrong with the text, and its line within it, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: u64,
    pub(crate) what: String,
}

#[derive(Debug)]
pub(crate) struct Yaml<'t> {
    text: &'t str,
    root: Node,
}

impl<'t> Yaml<'t> {
    pub(crate) fn parse(text: &'t str) -> Result<Self, Fault> {
        if text.len() > MAX_BYTES {
            let what = format!("{} bytes of YAML; at most {MAX_BYTES} are read", text.len());
            return Err(Fault { line: 1, what });
        }
        if let Some(at) = text.find(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            return Err(Fault {
                line: line_at(text, at),
                what: "a control character; remove it".to_owned(),
            });
        }
        if let Some(at) = too_open(text) {
            let what = format!("more than {MAX_OPEN} '[' and '{{' are open here; close them");
            return Err(Fault {
                line: line_at(text, at),
                what,
            });
        }
        let (left, reason) = (Cell::new(MAX_NODES), RefCell::new(None));
        let grow = Grow {
            left: &left,
            depth: 0,
            reason: &reason,
        };
        match grow.deserialize(serde_yaml::Deserializer::from_str(text)) {
            Ok(root) => Ok(Self { text, root }),
            Err(error) => {
                let what = reason.take().unwrap_or_else(|| {
                    // The library appends positions within the text it was given; ours is the one that counts.
                    let said = error.to_string();
                    format!(
                        "not valid YAML: {}",
                        shown(said.split(" at line ").next().unwrap_or(""))
                    )
                });
                Err(Fault {
                    line: line_of_error(text, &error).unwrap_or(1),
                    what,
                })
            }
        }
    }

    pub(crate) fn root(&self) -> At<'_> {
        At {
            node: &self.root,
            path: Vec::new(),
        }
    }

    /// The line of the place that `wrong` names, from 1.
    pub(crate) fn fault(&self, wrong: Wrong) -> Fault {
        Fault {
            line: self.line(&wrong.path, wrong.at_key),
            what: wrong.what,
        }
    }

    fn line(&self, path: &[Step], at_key: bool) -> u64 {
        let probe = Probe { steps: path, at_key };
        match probe.deserialize(serde_yaml::Deserializer::from_str(self.text)) {
            Ok(()) => 1,
            Err(error) => line_of_error(self.text, &error).unwrap_or(1),
        }
    }

    /// The line of the value that `at` stands at, from 1.
    pub(crate) fn line_of(&self, at: &At<'_>) -> u64 {
        self.line(&at.path, true)
    }
}

/// The library's own line numbers count U+2028 and the like, which editors don't; its byte index is plain.
fn line_of_error(text: &str, error: &serde_yaml::Error) -> Option<u64> {
    Some(line_at(text, error.location()?.index()))
}

/// The byte at which `[` and `{` are open too often, wherever they stand: the library's scanner takes quadratic time on
/// those, before any limit of its own.
fn too_open(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MAX_OPEN
    })
}

fn line_at(text: &str, byte: usize) -> u64 {
    text.bytes().take(byte).filter(|b| *b == b'\n').count() as u64 + 1
}

/// One place of the tree, with the way to it.
#[derive(Clone, Debug)]
pub(crate) struct At<'a> {
    node: &'a Node,
    path: Vec<Step>,
}

impl<'a> At<'a> {
    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    /// An error about this value, which `what` follows: `'phase.min_todos' must be …`.
    pub(crate) fn wrong(&self, what: impl fmt::Display) -> Wrong {
        let what = if self.path.is_empty() {
            format!("this {what}")
        } else {
            format!("'{}' {what}", self.name())
        };
        Wrong {
            path: self.path.clone(),
            at_key: false,
            what,
        }
    }

    /// `deliverables[0].path`
    pub(crate) fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) if name.is_empty() => name = shown(key),
                Step::Key(key) => {
                    name.push('.');
                    name.push_str(&shown(key));
                }
                Step::Index(index) => name.push_str(&format!("[{index}]")),
            }
        }
        name
    }

    fn expected(&self, what: &str) -> Wrong {
        let found = match self.node {
            Node::Null => "nothing".to_owned(),
            Node::Flag(flag) => flag.to_string(),
            Node::Whole(number) => number.to_string(),
            Node::Number(number) => number.to_string(),
            Node::Text(text) => format!("'{}'", shown(text)),
            Node::List(_) => "a list".to_owned(),
            Node::Map(_) => "a mapping".to_owned(),
        };
        self.wrong(format!("must be {what}, not {found}"))
    }

    fn under(&self, step: Step, node: &'a Node) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        At { node, path }
    }

    /// The entries of a mapping, all of whose keys must be among `known`.
    pub(crate) fn table(&self, known: &[&str]) -> Result<Table<'a>, Wrong> {
        let entries = self.entries()?;
        for at in &entries {
            let Some(Step::Key(key)) = at.path.last() else { continue };
            if known.contains(&key.as_str()) {
                continue;
            }
            let place = if self.path.is_empty() {
                String::new()
            } else {
                format!(" in '{}'", self.name())
            };
            let hint = match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("known here: {}", known.join(", ")),
            };
            let what = format!("unknown key '{}'{place}; {hint}", shown(key));
            return Err(Wrong {
                path: at.path.clone(),
                at_key: true,
                what,
            });
        }
        Ok(Table {
            at: self.clone(),
            entries,
        })
    }

    /// The entries of a mapping whose keys are names of the writer's choice.
    pub(crate) fn entries(&self) -> Result<Vec<At<'a>>, Wrong> {
        match self.node {
            Node::Map(entries) => Ok(entries
                .iter()
                .map(|(key, node)| self.under(Step::Key(key.clone()), node))
                .collect()),
            Node::Null | Node::Flag(_) | Node::Whole(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
                Err(self.expected("a mapping (key: value)"))
            }
        }
    }

    /// The last key of the way here.
    pub(crate) fn key(&self) -> &str {
        match self.path.last() {
            Some(Step::Key(key)) => key,
            Some(Step::Index(_)) | None => "",
        }
    }

    pub(crate) fn list(&self) -> Result<Vec<At<'a>>, Wrong> {
        match self.node {
            Node::List(nodes) => Ok(nodes
                .iter()
                .enumerate()
                .map(|(i, n)| self.under(Step::Index(i), n))
                .collect()),
            Node::Null | Node::Flag(_) | Node::Whole(_) | Node::Number(_) | Node::Text(_) | Node::Map(_) => {
                Err(self.expected("a list"))
            }
        }
    }

    /// One line of text, not blank, at most `max` characters, without control characters.
    pub(crate) fn line(&self, max: usize) -> Result<String, Wrong> {
        let Node::Text(text) = self.node else {
            let hint = matches!(self.node, Node::Whole(_) | Node::Number(_) | Node::Flag(_));
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

    pub(crate) fn lines(&self, max: usize) -> Result<Vec<String>, Wrong> {
        self.list()?.iter().map(|at| at.line(max)).collect()
    }

    pub(crate) fn flag(&self) -> Result<bool, Wrong> {
        match self.node {
            Node::Flag(flag) => Ok(*flag),
            Node::Null | Node::Whole(_) | Node::Number(_) | Node::Text(_) | Node::List(_) | Node::Map(_) => {
                Err(self.expected("true or false"))
            }
        }
    }

    /// A whole number from `min`; also written `20M`.
    pub(crate) fn count(&self, min: u64) -> Result<u64, Wrong> {
        let number = match self.node {
            Node::Whole(number) => *number,
            Node::Text(text) => count(text).map_err(|what| self.wrong(what))?,
            Node::Null | Node::Flag(_) | Node::Number(_) | Node::List(_) | Node::Map(_) => {
                return Err(self.expected("a whole number such as 500k, 20M or 20000000"));
            }
        };
        if number < min {
            return Err(self.wrong(format!("must be at least {min}, not {number}")));
        }
        Ok(number)
    }

    pub(crate) fn duration_ms(&self) -> Result<u64, Wrong> {
        let Node::Text(text) = self.node else {
            return Err(self.expected("a duration with its unit, such as 30m, 8h or 1h30m"));
        };
        match duration_ms(text).map_err(|what| self.wrong(what))? {
            0 => Err(self.wrong("must be longer than 0")),
            millis => Ok(millis),
        }
    }

    /// A number within `min..=max`.
    pub(crate) fn number(&self, min: f64, max: f64) -> Result<f64, Wrong> {
        let what = if max.is_finite() {
            format!("a number from {min} to {max}")
        } else {
            format!("a number from {min}")
        };
        let number = match self.node {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a whole number this large is out of every range used here"
            )]
            Node::Whole(number) => *number as f64,
            Node::Number(number) => *number,
            Node::Null | Node::Flag(_) | Node::Text(_) | Node::List(_) | Node::Map(_) => {
                return Err(self.expected(&what));
            }
        };
        // Written this way round, NaN is refused too.
        if number.is_finite() && (min..=max).contains(&number) {
            Ok(number)
        } else {
            Err(self.expected(&what))
        }
    }

    /// One of the words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Wrong> {
        let found = match self.node {
            Node::Text(text) => words.iter().find(|(word, _)| word == text),
            // `none` is text, but a bare `null` or `~` is what some people write for it.
            Node::Null => words.iter().find(|(word, _)| *word == "none"),
            Node::Flag(_) | Node::Whole(_) | Node::Number(_) | Node::List(_) | Node::Map(_) => None,
        };
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| self.expected(&names.join(" or ")))
    }
}

#[derive(Debug)]
pub(crate) struct Table<'a> {
    at: At<'a>,
    entries: Vec<At<'a>>,
}

impl<'a> Table<'a> {
    /// The value of `key`; none where it is missing or null.
    pub(crate) fn get(&self, key: &str) -> Option<&At<'a>> {
        self.entries
            .iter()
            .find(|at| at.key() == key)
            .filter(|at| *at.node != Node::Null)
    }

    pub(crate) fn required(&self, key: &str) -> Result<&At<'a>, Wrong> {
        self.get(key).ok_or_else(|| {
            let place = if self.at.path.is_empty() {
                String::new()
            } else {
                format!(" in '{}'", self.at.name())
            };
            Wrong {
                path: self.at.path.clone(),
                at_key: false,
                what: format!("the key '{key}' is missing{place}"),
            }
        })
    }
}

/// The word of `known` that `word` was probably meant to be.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
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

/// Builds the tree.
#[derive(Clone, Copy)]
struct Grow<'c> {
    left: &'c Cell<usize>,
    depth: usize,
    /// Our own words for an error; the library's carry its positions.
    reason: &'c RefCell<Option<String>>,
}

impl Grow<'_> {
    fn refuse<E: Error>(self, what: String) -> E {
        *self.reason.borrow_mut() = Some(what);
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Grow<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Grow<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true, false, a list or a mapping")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Flag(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Whole(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "negative numbers are out of every range used here"
    )]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(u64::try_from(value).map_or(Node::Number(value as f64), Node::Whole))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _tagged: A) -> Result<Node, A::Error> {
        Err(self.refuse("a tag (a word that begins with '!'); remove it, or put the text in quotes".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let inner = self.inner()?;
        let mut nodes = Vec::new();
        while let Some(node) = seq.next_element_seed(inner)? {
            self.spend()?;
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let inner = self.inner()?;
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(key) = map.next_key_seed(Key {
            grow: self,
            seen: &seen,
        })? {
            self.spend()?;
            seen.insert(key.clone());
            entries.push((key, map.next_value_seed(inner)?));
        }
        Ok(Node::Map(entries))
    }
}

impl Grow<'_> {
    fn inner<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.refuse(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    fn spend<E: Error>(self) -> Result<(), E> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(self.refuse(format!("more than {MAX_NODES} values"))),
        }
    }
}

/// Reads a key, and refuses one that was there before: raised here, the error has the second key's position.
struct Key<'c, 's> {
    grow: Grow<'c>,
    seen: &'s std::collections::HashSet<String>,
}

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_, '_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is text")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        if self.seen.contains(key) {
            return Err(self
                .grow
                .refuse(format!("the key '{}' stands here twice; keep one", shown(key))));
        }
        Ok(key.to_owned())
    }
}

/// Fails at the place that `steps` lead to, so that the library says where that is.
struct Probe<'p> {
    steps: &'p [Step],
    at_key: bool,
}

impl<'de> DeserializeSeed<'de> for Probe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            return deserializer.deserialize_any(Here);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Probe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what was read before")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some((Step::Index(wanted), rest)) = self.steps.split_first() else {
            return Ok(());
        };
        for _ in 0..*wanted {
            seq.next_element::<IgnoredAny>()?;
        }
        seq.next_element_seed(Probe {
            steps: rest,
            at_key: self.at_key,
        })?;
        Err(A::Error::custom("here"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((Step::Key(wanted), rest)) = self.steps.split_first() else {
            return Ok(());
        };
        let refused = (self.at_key && rest.is_empty()).then_some(wanted.as_str());
        while let Some(key) = map.next_key_seed(KeyProbe { refused })? {
            if key == *wanted {
                map.next_value_seed(Probe {
                    steps: rest,
                    at_key: self.at_key,
                })?;
                break;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Err(A::Error::custom("here"))
    }
}

struct KeyProbe<'p> {
    refused: Option<&'p str>,
}

impl<'de> DeserializeSeed<'de> for KeyProbe<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeyProbe<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        if self.refused == Some(key) {
            Err(E::custom("here"))
        } else {
            Ok(key.to_owned())
        }
    }
}

/// Accepts nothing: the default methods fail with the position of whatever is there.
struct Here;

impl<'de> Visitor<'de> for Here {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing at all")
    }
}

/// A tree as JSON: an inline schema.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Whole(number) => serializer.serialize_u64(*number),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(nodes) => serializer.collect_seq(nodes),
            Self::Map(entries) => serializer.collect_map(entries.iter().map(|(key, node)| (key, node))),
        }
    }
}
