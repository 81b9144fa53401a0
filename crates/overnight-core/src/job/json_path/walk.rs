//! [`JsonPath::each_in`]: the values to which a path leads, in a file that is read as a stream.

use super::{JsonPath, PathSegment};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;
use std::fmt::{self, Write};

impl JsonPath {
    /// Like [`Self::each`], for a `file` that is read as a stream: one of the values is in memory at a time, and all
    /// others are skipped. If a key occurs twice in an object, both count.
    pub fn each_in<'de, D: Deserializer<'de>>(
        &self,
        file: D,
        visit: &mut dyn FnMut(&str, Value),
    ) -> Result<(), D::Error> {
        PathWalk { steps: &self.steps, place: &mut "$".to_owned(), visit }.deserialize(file)
    }
}

struct PathWalk<'w> {
    steps: &'w [PathSegment],
    place: &'w mut String,
    visit: &'w mut dyn FnMut(&str, Value),
}

impl PathWalk<'_> {
    /// Continues after a step called `name`.
    fn step<T>(&mut self, name: fmt::Arguments<'_>, go: impl FnOnce(PathWalk<'_>) -> T) -> T {
        let here = self.place.len();
        let _ = self.place.write_fmt(name);
        let steps = self.steps.get(1..).unwrap_or_default();
        let gone = go(PathWalk { steps, place: &mut *self.place, visit: &mut *self.visit });
        self.place.truncate(here);
        gone
    }
}

impl<'de> DeserializeSeed<'de> for PathWalk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            let value = Value::deserialize(from)?;
            (self.visit)(self.place, value);
            return Ok(());
        }
        from.deserialize_any(self)
    }
}

/// Enters lists and objects as the path says; it leads to no other kind of value.
impl<'de> Visitor<'de> for PathWalk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let is_wanted = match self.steps.first() {
                Some(PathSegment::Each) => true,
                Some(PathSegment::Index(wanted)) => *wanted == index,
                Some(PathSegment::Key(_)) | None => false,
            };
            let item = if is_wanted {
                self.step(format_args!("[{index}]"), |walk| items.next_element_seed(walk))?
            } else {
                items.next_element::<IgnoredAny>()?.map(drop)
            };
            if item.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut values: A) -> Result<(), A::Error> {
        while let Some(key) = values.next_key::<String>()? {
            let is_wanted = match self.steps.first() {
                Some(PathSegment::Each) => true,
                Some(PathSegment::Key(wanted)) => *wanted == key,
                Some(PathSegment::Index(_)) | None => false,
            };
            if is_wanted {
                self.step(format_args!(".{key}"), |walk| values.next_value_seed(walk))?;
            } else {
                values.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
