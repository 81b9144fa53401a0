//! Calls as the rules make them.

use crate::context::message::ToolCall;
use serde_json::{Value, json};

pub(super) type Call = ToolCall;

pub(super) fn call(name: &str, arguments: Value) -> Call {
    ToolCall { id: String::new(), name: name.to_owned(), arguments }
}

pub(super) fn complete(outcome: &str) -> Call {
    call("todo_complete", json!({"outcome": outcome}))
}

/// Ends the job for a reason that the rules can't mend.
pub(super) fn blocked(reason: &str) -> Call {
    call("job_complete", json!({"summary": reason, "deliverables": [], "confidence": 0.0, "status": "blocked"}))
}

pub(super) fn write(path: &str, content: &str) -> Call {
    call("write_file", json!({"path": path, "content": content}))
}

pub(super) fn append(path: &str, content: &str) -> Call {
    call("append_file", json!({"path": path, "content": content}))
}

pub(super) fn read(path: &str) -> Call {
    call("read_file", json!({"path": path}))
}

/// Adds records to a JSON file of the form `{"name": [\n…\n]}`, one record a line: the file is valid JSON at every step.
pub(super) fn add_records(path: &str, is_first: bool, records: &[Value]) -> Option<Call> {
    if records.is_empty() {
        return None;
    }
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let (old, new) = if is_first {
        ("[\n]}", format!("[\n{}\n]}}", lines.join(",\n")))
    } else {
        ("}\n]}", format!("}},\n{}\n]}}", lines.join(",\n")))
    };
    Some(call("edit_file", json!({"path": path, "old": old, "new": new})))
}
