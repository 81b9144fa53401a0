//! Calls as the rules make them, and what they need in sight first.

use super::prompt_view::{ListedDocument, PromptView};
use overnight_core::message::ToolCall;
use serde_json::{Value, json};

pub(super) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: String::new(), name: name.to_owned(), arguments }
}

pub(super) fn complete(outcome: &str) -> ToolCall {
    call("todo_complete", json!({"outcome": outcome}))
}

/// Ends the job for a reason that the rules can't mend.
pub(super) fn blocked(reason: &str) -> ToolCall {
    call("job_complete", json!({"summary": reason, "deliverables": [], "confidence": 0.0, "status": "blocked"}))
}

pub(super) fn write(path: &str, content: &str) -> ToolCall {
    call("write_file", json!({"path": path, "content": content}))
}

pub(super) fn read(path: &str, line: u64) -> ToolCall {
    call("read_file", json!({"path": path, "offset": line}))
}

/// The documents, or the call that lists more of them.
pub(super) fn documents(view: &PromptView<'_>) -> Result<Vec<ListedDocument>, Vec<ToolCall>> {
    view.listing().map_err(|places| match places.as_slice() {
        [] => vec![too_long("the list of documents")],
        places => places.iter().map(|from| call("list_documents", json!({"from": from}))).collect(),
    })
}

/// The text of a file that was read in this todo, or the call that reads on.
pub(super) fn file(view: &PromptView<'_>, path: &str) -> Result<String, Vec<ToolCall>> {
    view.file(path).map_err(|next| vec![next.map_or_else(|| too_long(path), |line| read(path, line))])
}

fn too_long(what: &str) -> ToolCall {
    blocked(&format!(
        "{what} is too long for these rules to keep it in sight: divide the documents among several jobs \
         (submit --each makes a job of each)"
    ))
}
