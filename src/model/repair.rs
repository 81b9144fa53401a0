//! Repairs replies: tool calls that small models write as text, and arguments that do not quite fit the tool's schema.
//! Pure. A vendor's own models call tools as they should: of their replies only the arguments are read.

mod fit_schema;
mod json;
mod repeated_calls;
#[cfg(test)]
mod tests;
mod thinking;
mod tool_name;
mod written_calls;

use super::remote::wire::{RawReply, split_letters};
use overnight_core::message::{Stop, ToolCall, ToolSpec, readable};
use serde_json::{Map, Value};

/// A reply after its repair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairedReply {
    pub text: String,
    pub calls: Vec<ToolCall>,
    /// The repairs made, one sentence each; empty if nothing was odd.
    pub notes: Vec<String>,
}

/// Calls that are kept of one reply.
const MOST_CALLS: usize = 128;
/// Bytes of text that are kept of one reply.
const MOST_TEXT: usize = 1024 * 1024;
/// The most notes on one reply; further ones say nothing new.
const MOST_NOTES: usize = 32;

/// Turns a decoded reply into text and calls; `repairs`: also repairs oddities. Nothing is guessed: arguments that
/// can't be read for certain stay as they came, and the tool answers with an error that the model can act on.
pub fn repair_reply(heard: RawReply, tools: &[ToolSpec], repairs: bool) -> RepairedReply {
    let RawReply { mut text, calls: raw, usage: _, stop, model: _, tier: _, carried: _ } = heard;
    let mut notes = Vec::new();
    let is_cut = text.len() > MOST_TEXT;
    if is_cut {
        text.truncate(text.floor_char_boundary(MOST_TEXT));
        notes.push("the text was longer than 1 MiB and is cut".to_owned());
    }
    let mut calls = Vec::with_capacity(raw.len());
    if repairs {
        if let Some(answer) = thinking::without(&text) {
            text = answer.to_owned();
            notes.push("reasoning before the answer was taken out of the text".to_owned());
        }
        // Only a model that ended its reply by itself has written everything that it wanted to.
        if raw.is_empty()
            && !is_cut
            && !text.trim_start().starts_with(thinking::OPEN)
            && let Some(read) = written_calls::read(&text, stop == Some(Stop::Done), tools)
        {
            text = read.text;
            calls = read.calls;
            notes.extend(read.notes);
        }
    }
    for call in raw {
        let tool = tool_name::known(&call.name, tools).filter(|_| repairs);
        let name = tool.map_or(call.name.as_str(), |tool| tool.name.as_str()).to_owned();
        if name != call.name {
            notes.push(format!("{} is read as {name}", shown(&call.name)));
        }
        let mut changes = Vec::new();
        let arguments = arguments(&call.arguments, tool, &mut changes);
        notes.extend(changes_note(&name, &changes));
        calls.push(ToolCall { id: call.id, name, arguments });
    }
    if repairs {
        let (kept, left_out) = repeated_calls::without(calls);
        calls = kept;
        notes.extend(left_out.iter().map(|name| format!("a call of {} came twice and is made once", shown(name))));
    }
    if calls.len() > MOST_CALLS {
        notes.insert(0, format!("{} calls behind the first {MOST_CALLS} are left out", calls.len() - MOST_CALLS));
        calls.truncate(MOST_CALLS);
    }
    if notes.len() > MOST_NOTES {
        let more = notes.len() - MOST_NOTES;
        notes.truncate(MOST_NOTES);
        notes.push(format!("{more} more of the like"));
    }
    RepairedReply { text, calls, notes }
}

/// A call's arguments: an object, or a string that holds one. Anything else stays as it came, and the tool answers with
/// what it expects. `tool`: the arguments are fitted to its schema.
fn arguments(raw: &str, tool: Option<&ToolSpec>, changes: &mut Vec<String>) -> Value {
    let read = match split_letters::read_whole(raw) {
        Ok(Value::String(inner)) => split_letters::read_whole(&inner).unwrap_or(Value::String(inner)),
        Ok(value) => value,
        Err(_) => Value::String(raw.to_owned()),
    };
    let read = match (read, tool) {
        // Models express "no arguments" in several ways, and none of them is odd.
        (Value::Null, _) => Value::Object(Map::new()),
        (Value::String(text), _) if text.trim().is_empty() => Value::Object(Map::new()),
        (Value::String(text), Some(_)) => match json::object(&text) {
            Some(object) => {
                changes.push("they were not plain JSON".to_owned());
                object
            }
            None => Value::String(text),
        },
        (Value::Array(items), Some(_)) => match <[Value; 1]>::try_from(items) {
            Ok([Value::Object(fields)]) => {
                changes.push("they were a list of one".to_owned());
                Value::Object(fields)
            }
            Ok([other]) => Value::Array(vec![other]),
            Err(items) => Value::Array(items),
        },
        (read, _) => read,
    };
    // Arguments that the journal can't hold aren't examined any further.
    let read = readable(if read.is_object() { read } else { Value::String(raw.to_owned()) });
    match tool {
        Some(tool) if read.is_object() => {
            let read = fit_schema::unwrapped(read, &tool.parameters, changes);
            fit_schema::fit(read, &tool.parameters, "they", changes)
        }
        Some(_) | None => read,
    }
}

/// The note about a call's arguments.
fn changes_note(name: &str, changes: &[String]) -> Option<String> {
    (!changes.is_empty()).then(|| format!("the arguments of {}: {}", shown(name), changes.join("; ")))
}

/// A name, shortened for a note.
fn shown(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(60).collect()
}
