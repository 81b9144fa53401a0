//! A call of a working tool with its arguments parsed.

use crate::prompt::{
    message::ToolCall,
    tools::{
        EditFile, Family, ListDocuments, ListFiles, ReadDocument, ReadFile, SearchFiles, Tool, WriteFile, arguments,
    },
};

/// A parsed call of a working tool.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkCall {
    ReadFile(ReadFile),
    ListFiles(ListFiles),
    SearchFiles(SearchFiles),
    ListDocuments(ListDocuments),
    ReadDocument(ReadDocument),
    GenerateWorkspaceSummary,
    Write(FileChange),
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileChange {
    Whole(WriteFile),
    Append(WriteFile),
    Edit(EditFile),
}

impl FileChange {
    pub fn path(&self) -> &str {
        match self {
            Self::Whole(write) | Self::Append(write) => &write.path,
            Self::Edit(edit) => &edit.path,
        }
    }
}

/// What a call is: decided by the machine itself, or work outside.
#[derive(Clone, Debug, PartialEq)]
pub enum CallKind {
    Control(Tool),
    Work(WorkCall),
    /// It can't be run, for the reason given to the model.
    Wrong(String),
}

/// Reads a call. Wrong names and arguments are answered with what to do instead.
pub fn call_kind(call: &ToolCall) -> CallKind {
    let Some(tool) = Tool::named(&call.name) else {
        return CallKind::Wrong(unknown(&call.name));
    };
    match tool.family() {
        Family::Control => CallKind::Control(tool),
        Family::Reading | Family::Writing => work_call(tool, call).map_or_else(CallKind::Wrong, CallKind::Work),
    }
}

fn work_call(tool: Tool, call: &ToolCall) -> Result<WorkCall, String> {
    Ok(match tool {
        Tool::ReadFile => WorkCall::ReadFile(arguments(tool, &call.arguments)?),
        Tool::WriteFile => WorkCall::Write(FileChange::Whole(arguments(tool, &call.arguments)?)),
        Tool::AppendFile => WorkCall::Write(FileChange::Append(arguments(tool, &call.arguments)?)),
        Tool::EditFile => WorkCall::Write(FileChange::Edit(arguments(tool, &call.arguments)?)),
        Tool::ListFiles => WorkCall::ListFiles(arguments(tool, &call.arguments)?),
        Tool::SearchFiles => WorkCall::SearchFiles(arguments(tool, &call.arguments)?),
        Tool::ListDocuments => WorkCall::ListDocuments(arguments(tool, &call.arguments)?),
        Tool::ReadDocument => WorkCall::ReadDocument(arguments(tool, &call.arguments)?),
        Tool::GenerateWorkspaceSummary => WorkCall::GenerateWorkspaceSummary,
        Tool::TodoWrite
        | Tool::TodoList
        | Tool::TodoComplete
        | Tool::TodoRewind
        | Tool::ArchiveAndReset
        | Tool::AddAccomplishment
        | Tool::AddNote
        | Tool::NoChange
        | Tool::JobComplete => return Err(unknown(&call.name)),
    })
}

fn unknown(name: &str) -> String {
    // However long a name is, its beginning tells.
    let cut = crate::prompt::tokens::head(name, 20);
    let more = if cut.len() < name.len() { "…" } else { "" };
    let name = cut;
    let nearest = Tool::ALL
        .into_iter()
        .map(|tool| (strsim::jaro_winkler(name, tool.name()), tool.name()))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, near)) = nearest {
        return format!("there is no tool named '{name}{more}'; did you mean {near}?");
    }
    let names: Vec<&str> = Tool::ALL.into_iter().map(Tool::name).collect();
    format!("there is no tool named '{name}{more}'; the tools are {}", names.join(", "))
}
