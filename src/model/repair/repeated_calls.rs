//! Removes calls that a reply repeats.

use overnight_core::{
    job::tool::{Family, Tool},
    message::ToolCall,
};
use std::collections::HashMap;

/// The calls without those that came twice, and the names of those left out.
pub(super) fn without(calls: Vec<ToolCall>) -> (Vec<ToolCall>, Vec<String>) {
    let mut kept: Vec<ToolCall> = Vec::with_capacity(calls.len());
    let mut left_out = Vec::new();
    // The place where each provider's id was first seen.
    let mut seen: HashMap<String, usize> = HashMap::new();
    for call in calls {
        let is_equal = |other: &ToolCall| other.name == call.name && other.arguments == call.arguments;
        let is_known = seen.get(&call.id).and_then(|at| kept.get(*at)).is_some_and(is_equal);
        let is_repeated = changes_something(&call) && kept.last().is_some_and(is_equal);
        if is_known || is_repeated {
            left_out.push(call.name);
            continue;
        }
        if !call.id.is_empty() {
            seen.entry(call.id.clone()).or_insert(kept.len());
        }
        kept.push(call);
    }
    (kept, left_out)
}

/// Whether a second identical call in a row would repeat the effect of the first.
fn changes_something(call: &ToolCall) -> bool {
    match Tool::named(&call.name) {
        Some(Tool::TodoList) | None => false,
        // The outcome of one step may equal that of the next.
        Some(Tool::TodoComplete) => call.arguments.as_object().is_none_or(serde_json::Map::is_empty),
        Some(tool) => match tool.family() {
            Family::Reading => false,
            Family::Writing | Family::Control => true,
        },
    }
}
