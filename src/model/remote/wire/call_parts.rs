//! Assembles tool calls that come in parts, within bounds, and reads counts of tokens in whatever form they come.

use super::RawCall;
use crate::model::{Failure, FailureKind};
use overnight_core::message::Tier;
use serde_json::Value;
use std::borrow::Cow;

/// Tool calls of one reply, at most.
pub const MOST_CALLS: usize = 128;

/// Bytes of one call's arguments, at most.
pub const MOST_ARGUMENTS: usize = 4 * 1024 * 1024;

/// Bytes of an id or of a name, at most.
const MOST_NAME: usize = 1_024;

/// A part of a call as it came. Missing fields are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallPart<'a> {
    /// The number that the server gives the call: told apart by it, never counted by it.
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    pub arguments: &'a str,
}

/// The calls of a reply so far, in the order in which they began.
#[derive(Debug, Default)]
pub struct CallParts(Vec<(Option<u64>, RawCall)>);

impl CallParts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a part to the call that it belongs to, or begins one.
    pub fn add(&mut self, piece: CallPart<'_>) -> Result<(), Failure> {
        let place = self.belongs_to(&piece);
        self.put(place, piece)
    }

    /// Adds a call of its own, in formats that never cut one.
    pub fn begin(&mut self, piece: CallPart<'_>) -> Result<(), Failure> {
        self.put(None, piece)
    }

    fn put(&mut self, place: Option<usize>, piece: CallPart<'_>) -> Result<(), Failure> {
        let place = match place {
            Some(place) => place,
            None if self.0.len() == MOST_CALLS => {
                return Err(malformed(format!("the reply has more than {MOST_CALLS} tool calls")));
            }
            None => {
                self.0.push((piece.index, RawCall::default()));
                self.0.len() - 1
            }
        };
        let Some((_, call)) = self.0.get_mut(place) else { return Ok(()) };
        if call.id.is_empty() {
            piece.id.clone_into(&mut call.id);
        }
        // A server that repeats the name in each part means it once.
        if call.name != piece.name && call.arguments.is_empty() {
            call.name.push_str(piece.name);
        }
        call.arguments.push_str(piece.arguments);
        if call.id.len() > MOST_NAME || call.name.len() > MOST_NAME {
            return Err(malformed(format!("a tool call's id or name is longer than {MOST_NAME} bytes")));
        }
        if call.arguments.len() > MOST_ARGUMENTS {
            let mebibytes = MOST_ARGUMENTS / (1024 * 1024);
            return Err(malformed(format!("the arguments of a tool call are larger than {mebibytes} MiB")));
        }
        Ok(())
    }

    fn belongs_to(&self, piece: &CallPart<'_>) -> Option<usize> {
        let Some(index) = piece.index else {
            return if !piece.id.is_empty() {
                self.0.iter().rposition(|(_, call)| call.id == piece.id)
            } else if piece.name.is_empty() {
                self.0.len().checked_sub(1)
            } else {
                None
            };
        };
        let place = self.0.iter().rposition(|(other, _)| *other == Some(index))?;
        // Some servers give every call of a reply the same number.
        let is_other = self.0.get(place).is_some_and(|(_, call)| {
            let has_other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
            let has_other_name = piece.name != call.name && !call.arguments.is_empty();
            !piece.name.is_empty() && (has_other_id || has_other_name)
        });
        (!is_other).then_some(place)
    }

    pub fn into_calls(self) -> Vec<RawCall> {
        self.0.into_iter().map(|(_, call)| call).collect()
    }
}

/// Arguments as they came: most formats give a text that holds JSON, others JSON.
pub fn arguments(value: Option<&Value>) -> std::borrow::Cow<'_, str> {
    match value {
        None | Some(Value::Null) => "".into(),
        Some(Value::String(text)) => text.into(),
        Some(other) => other.to_string().into(),
    }
}

/// Arguments as a JSON object, for servers that take nothing else. What could not be read is the object's only field, so
/// that the model sees what it said.
pub fn as_object(arguments: &Value) -> Cow<'_, Value> {
    match arguments {
        Value::Object(_) => Cow::Borrowed(arguments),
        Value::String(text) => Cow::Owned(serde_json::json!({ "unreadable": text })),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Cow::Owned(serde_json::json!({ "unreadable": arguments.to_string() }))
        }
    }
}

/// A count of tokens. Nothing that a server writes here is a reason to lose its reply: what is no count is `None`, less
/// than nothing is nothing, and more than a trillion is a trillion.
pub fn count(value: Option<&Value>) -> Option<u64> {
    const MOST: u64 = 1_000_000_000_000;
    let number = value?.as_number()?;
    if let Some(count) = number.as_u64() {
        return Some(count.min(MOST));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float keeps to the bounds"
    )]
    number.as_f64().map(|count| (count as u64).min(MOST))
}

/// A text field; empty where it is missing or something else.
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The tier that OpenAI's field `service_tier` names; none where it says nothing that is known.
pub fn tier(value: &Value) -> Option<Tier> {
    match text(value, "service_tier") {
        "flex" => Some(Tier::Flex),
        "default" => Some(Tier::Standard),
        _ => None,
    }
}

/// A model's name as a server gives it, bounded.
pub fn model(value: &Value) -> String {
    text(value, "model").chars().take(200).collect()
}

pub fn malformed(reason: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Malformed, reason)
}

/// What was to be JSON and isn't: a page of a proxy, a torn line.
pub fn no_json(what: &str, body: &str) -> Failure {
    let words = super::error_response::words(body);
    if words.is_empty() {
        malformed(format!("{what} is empty"))
    } else {
        malformed(format!("{what} is no JSON; it begins with: {words}"))
    }
}
