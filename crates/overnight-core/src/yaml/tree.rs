//! Builds the tree, and finds a place of it again in the text: the two walks through the YAML library.

use super::{YamlError, YamlNode, YamlStep};
use crate::amount::shown;
use serde::{
    Serialize, Serializer,
    de::{DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    fmt,
};

/// Bytes that a hand-written YAML text may have. Bounds the parser's work.
const MAX_BYTES: usize = 64 * 1024;
/// Values in one text, aliases expanded.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 40;
/// `[` and `{` that may be open at one place.
const MAX_OPEN: usize = 1_000;

/// Reads a text into a tree.
pub(super) fn build(text: &str) -> Result<YamlNode, YamlError> {
    if text.len() > MAX_BYTES {
        let what = format!("{} bytes of YAML; at most {MAX_BYTES} are read", text.len());
        return Err(YamlError { line: 1, what });
    }
    if let Some(at) = text.find(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(YamlError { line: line_at(text, at), what: "a control character; remove it".to_owned() });
    }
    if let Some(at) = too_open(text) {
        let what = format!("more than {MAX_OPEN} '[' and '{{' are open here; close them");
        return Err(YamlError { line: line_at(text, at), what });
    }
    let (left, reason) = (Cell::new(MAX_NODES), RefCell::new(None));
    let grow = NodeSeed { left: &left, depth: 0, reason: &reason };
    grow.deserialize(serde_yaml::Deserializer::from_str(text)).map_err(|error| {
        let what = reason.take().unwrap_or_else(|| {
            // The library appends a position within the text it was given; only the line computed here is used.
            let said = error.to_string();
            format!("not valid YAML: {}", shown(said.split(" at line ").next().unwrap_or("")))
        });
        YamlError { line: line_of_error(text, &error).unwrap_or(1), what }
    })
}

/// The line, from 1, of the value at `path` in a text that `grow` could read, or of its key.
pub(super) fn locate(text: &str, path: &[YamlStep], at_key: bool) -> u64 {
    let probe = LocateSeed { steps: path, at_key };
    match probe.deserialize(serde_yaml::Deserializer::from_str(text)) {
        Ok(()) => 1,
        Err(error) => line_of_error(text, &error).unwrap_or(1),
    }
}

/// The library's own line numbers count U+2028 and the like, which editors don't; its byte index is plain.
fn line_of_error(text: &str, error: &serde_yaml::Error) -> Option<u64> {
    Some(line_at(text, error.location()?.index()))
}

/// The byte at which too many `[` and `{` are open, wherever they stand: the library's scanner takes quadratic time on
/// those, before any limit of its own applies.
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

/// Builds the tree.
#[derive(Clone, Copy)]
struct NodeSeed<'c> {
    left: &'c Cell<usize>,
    depth: usize,
    /// The reason for an error in this program's words; the library's words carry positions.
    reason: &'c RefCell<Option<String>>,
}

impl NodeSeed<'_> {
    fn refuse<E: Error>(self, what: String) -> E {
        *self.reason.borrow_mut() = Some(what);
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = YamlNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<YamlNode, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = YamlNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true, false, a list or a mapping")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<YamlNode, E> {
        Ok(YamlNode::Flag(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<YamlNode, E> {
        Ok(YamlNode::Whole(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "negative numbers are out of every range used here")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<YamlNode, E> {
        Ok(u64::try_from(value).map_or(YamlNode::Number(value as f64), YamlNode::Whole))
    }

    #[expect(clippy::cast_precision_loss, reason = "only limits in a schema are so large")]
    fn visit_u128<E: Error>(self, value: u128) -> Result<YamlNode, E> {
        Ok(u64::try_from(value).map_or(YamlNode::Number(value as f64), YamlNode::Whole))
    }

    #[expect(clippy::cast_precision_loss, reason = "only limits in a schema are so large")]
    fn visit_i128<E: Error>(self, value: i128) -> Result<YamlNode, E> {
        Ok(u64::try_from(value).map_or(YamlNode::Number(value as f64), YamlNode::Whole))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<YamlNode, E> {
        Ok(YamlNode::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<YamlNode, E> {
        Ok(YamlNode::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Null)
    }

    fn visit_none<E: Error>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Null)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _tagged: A) -> Result<YamlNode, A::Error> {
        Err(self.refuse("a tag (a word that begins with '!'); remove it, or put the text in quotes".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<YamlNode, A::Error> {
        let inner = self.inner()?;
        let mut nodes = Vec::new();
        while let Some(node) = seq.next_element_seed(inner)? {
            self.spend()?;
            nodes.push(node);
        }
        Ok(YamlNode::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlNode, A::Error> {
        let inner = self.inner()?;
        let mut entries: Vec<(String, YamlNode)> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key_seed(KeySeed { grow: self, seen: &seen })? {
            self.spend()?;
            seen.insert(key.clone());
            entries.push((key, map.next_value_seed(inner)?));
        }
        Ok(YamlNode::Map(entries))
    }
}

impl NodeSeed<'_> {
    fn inner<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.refuse(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
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

/// Reads a key and refuses a duplicate: an error raised here has the position of the second key.
struct KeySeed<'c, 's> {
    grow: NodeSeed<'c>,
    seen: &'s HashSet<String>,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_, '_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is text")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        if self.seen.contains(key) {
            return Err(self.grow.refuse(format!("the key '{}' stands here twice; keep one", shown(key))));
        }
        Ok(key.to_owned())
    }
}

/// Fails at the place to which `steps` lead, so that the library reports its position.
struct LocateSeed<'p> {
    steps: &'p [YamlStep],
    at_key: bool,
}

impl<'de> DeserializeSeed<'de> for LocateSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            return deserializer.deserialize_any(FailHere);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LocateSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what was read before")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some((YamlStep::Index(wanted), rest)) = self.steps.split_first() else {
            return Ok(());
        };
        for _ in 0..*wanted {
            seq.next_element::<IgnoredAny>()?;
        }
        seq.next_element_seed(LocateSeed { steps: rest, at_key: self.at_key })?;
        Err(A::Error::custom("here"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((YamlStep::Key(wanted), rest)) = self.steps.split_first() else {
            return Ok(());
        };
        let refused = (self.at_key && rest.is_empty()).then_some(wanted.as_str());
        while let Some(key) = map.next_key_seed(LocateKeySeed { refused })? {
            if key == *wanted {
                map.next_value_seed(LocateSeed { steps: rest, at_key: self.at_key })?;
                break;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Err(A::Error::custom("here"))
    }
}

struct LocateKeySeed<'p> {
    refused: Option<&'p str>,
}

impl<'de> DeserializeSeed<'de> for LocateKeySeed<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for LocateKeySeed<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        if self.refused == Some(key) { Err(E::custom("here")) } else { Ok(key.to_owned()) }
    }
}

/// Accepts nothing: the default methods fail with the position of whatever is there.
struct FailHere;

impl Visitor<'_> for FailHere {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing at all")
    }
}

/// Writes a tree as JSON, for an inline schema.
impl Serialize for YamlNode {
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
