//! The tools as the model is told of them: names, arguments, descriptions. The list is the same for the whole job, because
//! a changed list throws away the provider's prompt cache.

use crate::{
    job::{
        call::{
            Tool,
            arguments::{
                AddRecords, EditFile, JobComplete, ListDocuments, ListFiles, NoArguments, ReadDocument, ReadFile,
                ReasonArgument, SearchFiles, TextArgument, TodoComplete, TodoListArguments, TodoRewind, TodoWrite,
                WriteFile, schema,
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

fn describe(tool: Tool) -> ToolSpec {
    let (description, parameters) = match tool {
        Tool::ReadFile => (
            "Read a workspace file as numbered lines: what fits a tenth of the context, and the call that continues.",
            schema::<ReadFile>(),
        ),
        Tool::WriteFile => ("Create or replace a file.", schema::<WriteFile>()),
        Tool::AppendFile => ("Append to a file, creating it if needed.", schema::<WriteFile>()),
        Tool::EditFile => ("Replace text in a file; `old` must occur exactly once.", schema::<EditFile>()),
        Tool::AddRecords => (
            "Add records to a list of a JSON deliverable. Each is checked (schema, quote); bad ones come back, the others are written.",
            schema::<AddRecords>(),
        ),
        Tool::CheckDeliverables => ("Make every check of job_complete now.", schema::<NoArguments>()),
        Tool::ListFiles => ("List workspace files with size and time.", schema::<ListFiles>()),
        Tool::SearchFiles => (
            "Search files and the documents' text. Plain words are found over line ends too; a regular expression within a line, unless it has \\n or (?s).",
            schema::<SearchFiles>(),
        ),
        Tool::ListDocuments => {
            ("List the documents: type, length, tokens, share already read.", schema::<ListDocuments>())
        }
        Tool::ReadDocument => (
            "Read a document, or pages of it (lines, where there are no pages). One that fits a fifth of the context comes whole; else what fits, and the call that continues. All results of a reply share a quarter.",
            schema::<ReadDocument>(),
        ),
        Tool::TodoWrite => (
            "Set the open todos as one whole list. Completed ones stay; cancel one with status cancelled and an outcome.",
            schema::<TodoWrite>(),
        ),
        Tool::TodoList => ("Show the todos; by default what remains.", schema::<TodoListArguments>()),
        Tool::TodoComplete => {
            ("Complete the current todo; outcome: what was done or found, in a sentence.", schema::<TodoComplete>())
        }
        Tool::TodoRewind => {
            ("The phase can't go on as planned: archive it with the issue and re-plan.", schema::<TodoRewind>())
        }
        Tool::ArchiveAndReset => ("Last resort: end this phase now and re-plan.", schema::<ReasonArgument>()),
        Tool::GenerateWorkspaceSummary => ("Write workspace_summary.md afresh.", schema::<NoArguments>()),
        Tool::AddAccomplishment => ("Add a line to the summary's accomplishments.", schema::<TextArgument>()),
        Tool::AddNote => ("Add a line to the summary's notes.", schema::<TextArgument>()),
        Tool::JobComplete => (
            "End the job. `complete` only in the review, checked against the deliverables; `blocked` at any time: it can't be done, with the reason in the summary.",
            schema::<JobComplete>(),
        ),
    };
    ToolSpec { name: tool.name().to_owned(), description: description.to_owned(), parameters }
}
