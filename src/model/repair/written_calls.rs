//! Calls that were written as text: JSON alone, in a fence, or in tags such as `<tool_call>`.
//!
//! A text may quote calls: from a document, as an example, in code. So a call is taken only at the end of the text, if
//! it begins a line outside of quotes and code, and names a known tool. The first place that looks like a call decides:
//! a truncated call there may hold the text of a file, and calls within that text are not the model's.

use super::{fit_schema, json, tool_name};
use overnight_core::message::{ToolCall, ToolSpec, readable};
use serde_json::{Map, Value};

/// The calls found in a text, and the rest of the text.
#[derive(Debug, PartialEq)]
pub(super) struct WrittenCalls {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) notes: Vec<String>,
}

const TAGS: [(&str, &str); 3] =
    [("<tool_call>", "</tool_call>"), ("<tool_calls>", "</tool_calls>"), ("<function_call>", "</function_call>")];
/// The words after a fence that may contain a call.
const FENCES: [&str; 4] = ["", "json", "tool_call", "tool_code"];
const NAMES: [&str; 3] = ["name", "tool", "function"];
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];
const OTHERS: [&str; 3] = ["id", "type", "index"];

/// The wrapping around the JSON of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapping {
    Alone,
    Fence,
    Tag(usize),
}

/// Reads the calls. `is_whole`: the model ended its reply by itself; otherwise a call counts only with its end mark.
pub(super) fn read(text: &str, is_whole: bool, tools: &[ToolSpec]) -> Option<WrittenCalls> {
    let (at, form) = place(text)?;
    let (before, mut rest) = text.split_at_checked(at)?;
    let is_example = before.trim_end().lines().next_back().is_some_and(|line| line.to_lowercase().contains("example"));
    // A call in a form that isn't read may have begun before: the rest may be the text of a file that it writes.
    let is_torn = before.contains("\"arguments\"") || before.lines().any(|line| line.starts_with('<'));
    if is_example || is_torn {
        return None;
    }
    let mut found = Vec::new();
    let mut is_closed = false;
    while !rest.trim().is_empty() {
        (rest, is_closed) = block(rest.trim_start(), form, &mut found)?;
    }
    if !is_whole && !is_closed {
        return None;
    }
    let wrapping = match form {
        Wrapping::Alone => "as JSON alone".to_owned(),
        Wrapping::Fence => "in a fence".to_owned(),
        Wrapping::Tag(place) => format!("in {} tags", TAGS[place].0),
    };
    let (mut calls, mut notes) = (Vec::new(), Vec::new());
    for (name, arguments) in found {
        // If a single name is unknown, this is no list of calls.
        let tool = tool_name::known(&name, tools)?;
        let arguments = Some(readable(arguments)).filter(Value::is_object)?;
        let mut changes = Vec::new();
        let arguments = fit_schema::fit(arguments, &tool.parameters, "they", &mut changes);
        notes.push(format!("a call of {} was written as text ({wrapping})", tool.name));
        notes.extend(super::changes_note(&tool.name, &changes));
        calls.push(ToolCall { id: String::new(), name: tool.name.clone(), arguments });
    }
    (!calls.is_empty()).then(|| WrittenCalls { text: before.trim_end().to_owned(), calls, notes })
}

/// The place where the calls begin: the beginning of the text, the first tag that begins a line outside of code, or the
/// fences that end the text.
fn place(text: &str) -> Option<(usize, Wrapping)> {
    if text.trim_start().starts_with(['{', '[']) {
        return Some((0, Wrapping::Alone));
    }
    let mut fence: Option<&str> = None;
    let mut fences_at_end = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let shown = line.trim_end();
        if let Some(mark) = fence {
            if shown == mark {
                fence = None;
            }
        } else if shown.starts_with("```") {
            let (mark, word) = shown.split_at(shown.len() - shown.trim_start_matches('`').len());
            fence = Some(mark);
            fences_at_end = fences_at_end.or(Some(at)).filter(|_| mark.len() == 3 && FENCES.contains(&word.trim()));
        } else if !shown.is_empty() {
            fences_at_end = None;
            if let Some(place) = TAGS.iter().position(|(open, _)| line.starts_with(open)) {
                return Some((at, Wrapping::Tag(place)));
            }
        }
    }
    fences_at_end.map(|at| (at, Wrapping::Fence))
}

/// Reads the calls of one block; returns the text after it, and whether the block's own end mark was found.
fn block<'a>(text: &'a str, form: Wrapping, found: &mut Vec<(String, Value)>) -> Option<(&'a str, bool)> {
    let (inner, end) = match form {
        Wrapping::Alone => (text, ""),
        Wrapping::Fence => (text.strip_prefix("```")?.split_once('\n')?.1, "```"),
        Wrapping::Tag(place) => (text.strip_prefix(TAGS[place].0)?, TAGS[place].1),
    };
    let mut rest = inner.trim_start();
    loop {
        let (value, behind) = rest.split_at_checked(json::extent(rest)?)?;
        called(json::read(value)?, matches!(form, Wrapping::Tag(_)), found)?;
        rest = behind.trim_start();
        if !rest.starts_with(['{', '[']) {
            break;
        }
    }
    Some(match rest.strip_prefix(end) {
        Some(behind) => (behind, !end.is_empty()),
        None => (rest, false),
    })
}

/// Reads an object as a call, or an array as several. An object with any key that calls don't have is not a call.
fn called(value: Value, may_lack_arguments: bool, found: &mut Vec<(String, Value)>) -> Option<()> {
    let mut fields = match value {
        Value::Array(items) => {
            return items.into_iter().try_for_each(|item| called(item, may_lack_arguments, found));
        }
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    let mut take = |keys: &[&str]| keys.iter().find_map(|key| fields.remove(*key));
    let (name, arguments) = (take(&NAMES)?, take(&ARGUMENTS));
    take(&OTHERS);
    take(&OTHERS);
    if !fields.is_empty() {
        return None;
    }
    let name = match (name, &arguments) {
        (Value::String(name), _) => name,
        // `{"type": "function", "function": {"name": …, "arguments": …}}`
        (Value::Object(inner), None) => return called(Value::Object(inner), may_lack_arguments, found),
        _ => return None,
    };
    let arguments = match arguments {
        Some(Value::String(text)) => json::object(&text)?,
        Some(arguments) => arguments,
        None if may_lack_arguments => Value::Object(Map::new()),
        None => return None,
    };
    found.push((name, arguments));
    Some(())
}
