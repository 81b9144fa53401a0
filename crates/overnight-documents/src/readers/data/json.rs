//! JSON, also several values one after another (JSON Lines): each key with its value on a line, indented by its level.
//! Texts have no quotation marks and escapes, numbers have the digits of the file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::plain_text::{self, indented};
use crate::encoding;
use crate::readers::{PageSink, ReadFailure, Reader, Source};
use crate::units::Unit;

/// Values nested more deeply than this stand as the file has them.
const MAX_DEPTH: usize = 60;

/// The encoding of every JSON text (RFC 8259, section 8.1).
const UTF_8: &str = "utf-8";

/// Reads JSON and JSON Lines.
pub(crate) struct JsonReader;

impl Reader for JsonReader {
    fn version(&self) -> &'static str {
        "serde_json 1.0.154+1"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let decoded = encoding::decode(source.bytes, Some(UTF_8))?;
        for note in decoded.notes {
            pages.note(note)?;
        }
        let text = decoded.text.as_ref();
        let mut told = String::new();
        for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
            match value {
                Ok(value) => write(value.get(), 0, &mut told),
                Err(error) => return plain_text::tell(text, "JSON", &error, pages),
            }
        }
        if pages.begin(1)? {
            pages.text(&told)?;
        }
        Ok(Unit::Line)
    }
}

/// A value that stands on lines of its own.
fn write(value: &str, depth: usize, told: &mut String) {
    let indent = "  ".repeat(depth);
    match parts(value, depth) {
        Parts::Map(entries) => {
            for (key, value) in entries {
                told.push_str(&indent);
                told.push_str(&key);
                told.push(':');
                behind(value, depth, told);
            }
        }
        Parts::List(items) => {
            for item in items {
                told.push_str(&indent);
                told.push('-');
                behind(item, depth, told);
            }
        }
        Parts::One(text) => {
            told.push_str(&indent);
            told.push_str(&indented(&text, &indent));
            told.push('\n');
        }
    }
}

/// A value behind its key or its dash.
fn behind(value: &str, depth: usize, told: &mut String) {
    match parts(value, depth + 1) {
        Parts::One(text) => {
            told.push(' ');
            told.push_str(&indented(&text, &"  ".repeat(depth + 1)));
            told.push('\n');
        }
        Parts::Map(_) | Parts::List(_) => {
            told.push('\n');
            write(value, depth + 1, told);
        }
    }
}

enum Parts<'v> {
    Map(Vec<(String, &'v str)>),
    List(Vec<&'v str>),
    One(String),
}

fn parts(value: &str, depth: usize) -> Parts<'_> {
    let as_it_is = || Parts::One(value.to_owned());
    match value.as_bytes().first() {
        Some(b'{') if depth < MAX_DEPTH => match serde_json::from_str::<Entries<'_>>(value) {
            Ok(Entries(entries)) if !entries.is_empty() => Parts::Map(entries),
            Ok(_) | Err(_) => as_it_is(),
        },
        Some(b'[') if depth < MAX_DEPTH => match serde_json::from_str::<Items<'_>>(value) {
            Ok(Items(items)) if !items.is_empty() => Parts::List(items),
            Ok(_) | Err(_) => as_it_is(),
        },
        Some(b'"') => serde_json::from_str::<String>(value).map_or_else(|_| as_it_is(), Parts::One),
        Some(_) | None => as_it_is(),
    }
}

/// An object's keys and values in their order, also a key that stands twice.
struct Entries<'v>(Vec<(String, &'v str)>);

struct Items<'v>(Vec<&'v str>);

impl<'de: 'v, 'v> Deserialize<'de> for Entries<'v> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'v> Visitor<'v> for EntriesVisitor {
            type Value = Entries<'v>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'v>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'v RawValue>()? {
                    entries.push((key, value.get()));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

impl<'de: 'v, 'v> Deserialize<'de> for Items<'v> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'v> Visitor<'v> for ItemsVisitor {
            type Value = Items<'v>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'v>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(value) = list.next_element::<&'v RawValue>()? {
                    items.push(value.get());
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}
