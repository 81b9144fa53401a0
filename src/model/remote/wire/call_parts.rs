//! Assembles tool calls that come in parts, within bounds, and reads counts of tokens in whatever form they come.

use super::RawCall;
use crate::model::{Failure, FailureKind};
use overnight_core::message::Tier;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// Tool calls of one reply, at most.
pub const MOST_CALLS: usize = 128;

/// Bytes of one call's arguments, at most.
pub const MOST_ARGUMENTS: usize = 4 * 1024 * 1024;

/// The most pieces of one call's arguments that look like the start of the whole; later ones aren't examined.
const MOST_BEGUN: usize = 128;

/// Bytes of an id or of a name, at most.
const MOST_NAME: usize = 1_024;

/// A part of a call as it came. Missing fields are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallPart<'a> {
    /// The number that the server gives the call: used only to tell calls apart, never as a count.
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    pub arguments: &'a str,
}

/// Arguments that come in pieces, and the places of pieces that look like the start of a whole object.
#[derive(Debug, Default)]
pub struct ArgumentPieces {
    text: String,
    begun: Vec<usize>,
}

impl ArgumentPieces {
    pub fn push(&mut self, piece: &str) -> Result<(), Failure> {
        if self.text.len() + piece.len() > MOST_ARGUMENTS {
            let mebibytes = MOST_ARGUMENTS / (1024 * 1024);
            return Err(malformed(format!("the arguments of a tool call are larger than {mebibytes} MiB")));
        }
        if !self.text.is_empty() && self.begun.len() < MOST_BEGUN && piece.trim_start().starts_with('{') {
            self.begun.push(self.text.len());
        }
        self.text.push_str(piece);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether more must follow.
    fn is_open(&self) -> bool {
        serde_json::from_str::<IgnoredAny>(&self.text).is_err()
    }

    /// Whether `other` begins another call: both arguments are complete objects, and they differ.
    fn is_followed_by(&self, other: &str) -> bool {
        let is_object =
            |text: &str| text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
        is_object(other) && is_object(&self.text) && !is_same_json(&self.text, other)
    }

    /// The concatenated pieces. If they are no JSON, and the last complete piece repeats all earlier ones or their
    /// beginning, as some servers send it at the end of a call or with each piece, that piece is the result.
    pub fn whole(self) -> String {
        if self.begun.is_empty() || !self.is_open() {
            return self.text;
        }
        let (before, piece) =
            (|begin: usize| self.text.split_at(begin), |text: &str| serde_json::from_str::<IgnoredAny>(text));
        let last = self.begun.iter().rposition(|begin| piece(before(*begin).1).is_ok());
        let Some(last) = last else { return self.text };
        let (earlier, whole) = before(self.begun[last]);
        // The earlier text is a prefix or a copy of it, or each earlier piece is.
        let repeats = |text: &str| whole.starts_with(text.trim_end()) || is_same_json(text, whole);
        let begins = std::iter::once(0).chain(self.begun[..last].iter().copied());
        let is_repeated = repeats(earlier)
            || begins.zip(&self.begun[..=last]).all(|(begin, end)| self.text.get(begin..*end).is_some_and(repeats));
        if is_repeated { whole.to_owned() } else { self.text }
    }
}

fn is_same_json(one: &str, other: &str) -> bool {
    match (serde_json::from_str::<Value>(one), serde_json::from_str::<Value>(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// A call that is coming.
#[derive(Debug, Default)]
struct ComingCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: ArgumentPieces,
    /// Other numbers that came with pieces of it.
    strays: Vec<u64>,
}

/// The calls of a reply so far, in the order in which they began.
#[derive(Debug, Default)]
pub struct CallParts(Vec<ComingCall>);

impl CallParts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a part to the call that it belongs to, or begins one.
    pub fn add(&mut self, piece: CallPart<'_>) -> Result<(), Failure> {
        let place = self.belongs_to(&piece);
        self.put(place, piece)
    }

    /// Adds a new call, for formats that never split one.
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
                self.0.push(ComingCall { index: piece.index, ..ComingCall::default() });
                self.0.len() - 1
            }
        };
        let Some(call) = self.0.get_mut(place) else { return Ok(()) };
        if let Some(stray) = piece.index.filter(|index| call.index.is_some_and(|own| own != *index))
            && !call.strays.contains(&stray)
            && call.strays.len() < MOST_CALLS
        {
            call.strays.push(stray);
        }
        if call.id.is_empty() {
            piece.id.clone_into(&mut call.id);
        }
        // Some servers repeat the name in each part: it counts once.
        if call.name != piece.name && call.arguments.is_empty() {
            call.name.push_str(piece.name);
        }
        if call.id.len() > MOST_NAME || call.name.len() > MOST_NAME {
            return Err(malformed(format!("a tool call's id or name is longer than {MOST_NAME} bytes")));
        }
        call.arguments.push(piece.arguments)
    }

    fn belongs_to(&self, piece: &CallPart<'_>) -> Option<usize> {
        let Some(index) = piece.index else {
            return if !piece.id.is_empty() {
                let known = self.0.iter().rposition(|call| call.id == piece.id);
                known.filter(|place| !self.is_other(*place, piece))
            } else if piece.name.is_empty() {
                self.0.len().checked_sub(1)
            } else {
                None
            };
        };
        let Some(place) = self.0.iter().rposition(|call| call.index == Some(index)) else {
            // A part with neither id nor name can only continue a call.
            return if piece.id.is_empty() && piece.name.is_empty() { self.open(index) } else { None };
        };
        // Some servers give every call of a reply the same number.
        (!self.is_other(place, piece)).then_some(place)
    }

    /// Whether a part that names a tool begins another call, although it comes under the number or the id of this one.
    fn is_other(&self, place: usize, piece: &CallPart<'_>) -> bool {
        let Some(call) = self.0.get(place).filter(|_| !piece.name.is_empty()) else { return false };
        let has_other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
        let has_other_name = piece.name != call.name && !call.arguments.is_empty();
        has_other_id || has_other_name || call.arguments.is_followed_by(piece.arguments)
    }

    /// The call that a part with an unknown number continues: as before, else the last incomplete one, else the last.
    fn open(&self, index: u64) -> Option<usize> {
        let known = self.0.iter().rposition(|call| call.strays.contains(&index));
        known
            .or_else(|| self.0.iter().rposition(|call| call.arguments.is_open()))
            .or_else(|| self.0.len().checked_sub(1))
    }

    pub fn into_calls(self) -> Vec<RawCall> {
        let whole = |call: ComingCall| RawCall { id: call.id, name: call.name, arguments: call.arguments.whole() };
        self.0.into_iter().map(whole).collect()
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

/// Arguments as a JSON object, for servers that accept nothing else. Unreadable arguments become the object's only
/// field, so that the model sees what it wrote.
pub fn as_object(arguments: &Value) -> Cow<'_, Value> {
    match arguments {
        Value::Object(_) => Cow::Borrowed(arguments),
        Value::String(text) => Cow::Owned(serde_json::json!({ "unreadable": text })),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Cow::Owned(serde_json::json!({ "unreadable": arguments.to_string() }))
        }
    }
}

/// A count of tokens. No wrong value here is a reason to lose the reply: a value that is not a number is `None`, a
/// negative one is zero, and one above a trillion is a trillion.
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

/// A text field; empty if it is missing or of another type.
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The tier that OpenAI's field `service_tier` names; none if its value is unknown.
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

/// Data that should be JSON and isn't: a page of a proxy, a truncated line.
pub fn no_json(what: &str, body: &str) -> Failure {
    let mut body = body.to_owned();
    super::split_letters::join(&mut body);
    let words = super::error_response::words(&body);
    if words.is_empty() {
        malformed(format!("{what} is empty"))
    } else {
        malformed(format!("{what} is no JSON; it begins with: {words}"))
    }
}
