//! A call of a working tool with its arguments read: what `tool` is asked to do.

use crate::prompt::{
    catalogue::{
        EditFile, Family, ListDocuments, ListFiles, ReadDocument, ReadFile, SearchFiles, Tool, WriteFile, arguments,
    },
    message::ToolCall,
};

/// What a working tool is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Working {
    ReadFile(ReadFile),
    ListFiles(ListFiles),
    SearchFiles(SearchFiles),
    ListDocuments(ListDocuments),
    ReadDocument(ReadDocument),
    GenerateWorkspaceSummary,
    Write(Writing),
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq)]
pub enum Writing {
    Whole(WriteFile),
    Append(WriteFile),
    Edit(EditFile),
}

impl Writing {
    pub fn path(&self) -> &str {
        match self {
            Self::Whole(write) | Self::Append(write) => &write.path,
            Self::Edit(edit) => &edit.path,
        }
    }
}

/// What a call is: the machine's own affair, or work outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Control(Tool),
    Working(Working),
    /// It can't be run, for the reason given to the model.
    Wrong(String),
}

/// Reads a call. Wrong names and arguments are answered with what to do instead.
pub fn kind(call: &ToolCall) -> Kind {
    let Some(tool) = Tool::named(&call.name) else {
        return Kind::Wrong(unknown(&call.name));
    };
    match tool.family() {
        Family::Control => Kind::Control(tool),
        Family::Reading | Family::Writing => working(tool, call).map_or_else(Kind::Wrong, Kind::Working),
    }
}

fn working(tool: Tool, call: &ToolCall) -> Result<Working, String> {
    Ok(match tool {
        Tool::ReadFile => Working::ReadFile(arguments(tool, &call.arguments)?),
        Tool::WriteFile => Working::Write(Writing::Whole(arguments(tool, &call.arguments)?)),
        Tool::AppendFile => Working::Write(Writing::Append(arguments(tool, &call.arguments)?)),
        Tool::EditFile => Working::Write(Writing::Edit(arguments(tool, &call.arguments)?)),
        Tool::ListFiles => Working::ListFiles(arguments(tool, &call.arguments)?),
        Tool::SearchFiles => Working::SearchFiles(arguments(tool, &call.arguments)?),
        Tool::ListDocuments => Working::ListDocuments(arguments(tool, &call.arguments)?),
        Tool::ReadDocument => Working::ReadDocument(arguments(tool, &call.arguments)?),
        Tool::GenerateWorkspaceSummary => Working::GenerateWorkspaceSummary,
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
