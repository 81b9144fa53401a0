//! The second reader's work: lists the statements of documents that are read again. It needs no memory, as all that it
//! reads is in one history. Rules list the same when they read again, which proves nothing; it is done only on request.

use super::plan::{ReadUntil, Task};
use super::prompt_view::{PromptView, call};
use super::{reading, state::ReadingState};
use overnight_core::{job::tool::Tool, message::ToolCall};
use serde_json::json;

/// The next calls; none for the task of another sub-agent.
pub(super) fn work(view: &PromptView<'_>) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let asked = view.opening.split_once("add_records(path: \"");
    let can_list = view.has_tool(Tool::ListDocuments) && view.has_tool(Tool::Report);
    let Some((parts, (file, _))) =
        asked.filter(|_| can_list).and_then(|(parts, rest)| Some((parts, rest.split_once('"')?)))
    else {
        return Ok(Vec::new());
    };
    let mut documents = view.documents()?;
    documents.retain(|document| parts.contains(&format!("\n- {} ", document.name)));
    let (mut state, mut calls) = (ReadingState::new(Task::Extract), Vec::new());
    let until = ReadUntil { document: documents.len(), part: 1, parts: 1 };
    reading::work(view, &mut state, &Task::Extract.reading(&documents), until, &mut calls)?;
    calls.retain(|call| call.name == Tool::AddRecords.name());
    for call in &mut calls {
        call.arguments["path"] = file.into();
    }
    calls.push(call(Tool::Report, json!({"text": format!("{} statements were found.", state.entries)})));
    Ok(calls)
}
