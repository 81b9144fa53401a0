//! The tools as the model is told of them: names, arguments, descriptions. The list is the same for the whole job, because
//! a changed list throws away the provider's prompt cache.

use crate::{
    job::{
        call::{
            Tool,
            arguments::{
                AddRecords, EditFile, JobComplete, LessonArguments, ListDocuments, ListFiles, NoArguments,
                ReadDocument, ReadFile, ReasonArgument, SearchFiles, TextArgument, TodoComplete, TodoListArguments,
                TodoRewind, TodoWrite, WriteFile, schema,
            },
        },
        digest::sha256,
    },
    message::ToolSpec,
    tokens::estimate,
};
use std::sync::{Arc, LazyLock};

/// The whole list, made once a process.
pub fn tool_specs() -> Arc<[ToolSpec]> {
    static CATALOGUE: LazyLock<Arc<[ToolSpec]>> = LazyLock::new(|| Tool::all().map(describe).collect());
    CATALOGUE.clone()
}

/// The list's name: the SHA-256 of its specs as JSON.
pub fn tools_sha256() -> &'static str {
    static SHA256: LazyLock<String> = LazyLock::new(|| {
        // A spec is a plain tree of strings; writing it can't fail.
        sha256(&serde_json::to_vec(&*tool_specs()).unwrap_or_default())
    });
    &SHA256
}

/// Tokens of the whole list.
pub fn tools_tokens() -> u64 {
    static TOKENS: LazyLock<u64> = LazyLock::new(|| {
        tool_specs()
            .iter()
            .map(|tool| estimate(&tool.name) + estimate(&tool.description) + estimate(&tool.parameters.to_string()) + 8)
            .sum()
    });
    *TOKENS
}

/// A line for each tool: its name, a colon, what it does.
const DESCRIPTIONS: &str = include_str!("../../../../instructions/runner/tools.md");

fn describe(tool: Tool) -> ToolSpec {
    let of = |line: &'static str| line.split_once(": ").filter(|(name, _)| *name == tool.name());
    let description = DESCRIPTIONS.lines().find_map(of).map_or("", |(_, text)| text);
    let parameters = match tool {
        Tool::ReadFile => schema::<ReadFile>(),
        Tool::WriteFile | Tool::AppendFile => schema::<WriteFile>(),
        Tool::EditFile => schema::<EditFile>(),
        Tool::AddRecords => schema::<AddRecords>(),
        Tool::CheckDeliverables | Tool::GenerateWorkspaceSummary => schema::<NoArguments>(),
        Tool::ListFiles => schema::<ListFiles>(),
        Tool::SearchFiles => schema::<SearchFiles>(),
        Tool::ListDocuments => schema::<ListDocuments>(),
        Tool::ReadDocument => schema::<ReadDocument>(),
        Tool::TodoWrite => schema::<TodoWrite>(),
        Tool::TodoList => schema::<TodoListArguments>(),
        Tool::TodoComplete => schema::<TodoComplete>(),
        Tool::TodoRewind => schema::<TodoRewind>(),
        Tool::ArchiveAndReset => schema::<ReasonArgument>(),
        Tool::AddAccomplishment | Tool::AddNote => schema::<TextArgument>(),
        Tool::AddLesson => schema::<LessonArguments>(),
        Tool::JobComplete => schema::<JobComplete>(),
    };
    ToolSpec { name: tool.name().to_owned(), description: description.to_owned(), parameters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_its_line() {
        let named: Vec<&str> =
            DESCRIPTIONS.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
        assert_eq!(named, Tool::all().map(Tool::name).collect::<Vec<_>>());
        assert!(tools_tokens() < 2_000, "{}", tools_tokens());
    }
}
