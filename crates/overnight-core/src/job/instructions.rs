//! Instructions (SPEC: instructions): what a job is asked to do, with which bounds, and what must be there at its end.
//!
//! A file is YAML front matter and a task in Markdown. It is read once, when a job is submitted; what the job then carries
//! is [`Instructions`], with schemas and agent prompts resolved, so that a job never depends on a file outside its
//! workspace. Whatever is wrong in the file is said in one sentence with the line.

mod read;
pub mod shipped;
mod task;

impl Instructions {
    /// Keys that are understood, and that nothing acts on yet.
    pub fn not_acted_on(&self) -> Vec<&'static str> {
        let keys = [
            ("agents", !self.agents.is_empty()),
            ("tools.shell", self.tools.shell),
            ("tools.mcp", !self.tools.mcp.is_empty()),
        ];
        keys.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key).collect()
    }
}

use super::limits::Limits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes that an instructions file may have: it is copied into every job's workspace and prompt.
pub const MAX_BYTES: usize = 1024 * 1024;

/// One instructions file, checked and resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instructions {
    pub name: String,
    pub description: String,
    /// `provider:name`; a flag or the configuration overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Models to use, in this order, when the first one is down or refuses.
    pub fallback: Vec<String>,
    pub phase: PhaseBounds,
    pub context: ContextSettings,
    pub limits: Limits,
    /// Share of each document's readable text that must have been shown to the model, 0 to 1.
    pub coverage: f64,
    /// A job whose model is less sure than this ends as `partial`, 0 to 1.
    pub confidence_floor: f64,
    /// At least one.
    pub deliverables: Vec<Deliverable>,
    pub review: Review,
    /// The todos of the review phase before `Call job_complete()`.
    pub finale: Vec<String>,
    pub agents: BTreeMap<String, Agent>,
    pub tools: ToolSettings,
    /// The task, Markdown.
    pub body: String,
}

/// How many todos a planned phase has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseBounds {
    pub min_todos: u32,
    pub max_todos: u32,
}

impl Default for PhaseBounds {
    fn default() -> Self {
        Self { min_todos: 5, max_todos: 20 }
    }
}

/// How the prompt is kept small (SPEC: the context).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextSettings {
    /// Tokens that a prompt may have; at least [`MIN_BUDGET_TOKENS`].
    pub budget_tokens: u64,
    pub fold: FoldPolicy,
    pub summary: SummaryBy,
}

/// Below this the layers that are never trimmed leave no room for work.
pub const MIN_BUDGET_TOKENS: u64 = 8_000;

impl Default for ContextSettings {
    fn default() -> Self {
        Self { budget_tokens: 100_000, fold: FoldPolicy::Todo, summary: SummaryBy::Digest }
    }
}

/// When tool results are replaced by one line each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoldPolicy {
    /// When the todo that they belong to is completed.
    Todo,
    /// Only when the budget runs short.
    None,
}

/// Who writes the digest of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The system, from the journal.
    Digest,
    Model,
}

/// A file that the job must produce, and what it is checked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deliverable {
    /// Relative to the workspace, below `output/`.
    pub path: String,
    /// A JSON Schema, resolved and known to compile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    pub quotes: Vec<Quotes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_words: Option<u64>,
    /// Texts that must not occur; case is ignored, and a word is only found as a whole word.
    pub forbid: Vec<String>,
}

/// Where in a JSON deliverable the quotes stand, each of which must really stand in its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quotes {
    /// Which objects carry a quote: `$.requirements[*]`. See [`super::contract::json_path`].
    pub each: String,
    /// The object's key for the quoted text; null there means that there is nothing to check.
    pub text: String,
    /// The object's key for the document's name.
    pub document: String,
    /// The object's key for the page; null there means any page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// Whether a person has the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    None,
    Required,
}

/// A helper that the model can delegate to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The prompt's text.
    pub prompt: String,
    /// Names of the tools that it may call.
    pub tools: Vec<String>,
}

/// Tools that are off unless asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSettings {
    pub shell: bool,
    /// Names of MCP servers from the configuration.
    pub mcp: Vec<String>,
}

/// What is wrong in an instructions file: `instructions/x.md:7: unknown key 'delivrables'; did you mean 'deliverables'?`
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct InstructionsError {
    pub file: String,
    /// From 1, in the whole file.
    pub line: u64,
    pub what: String,
}

/// Reads an instructions file. `file_name` is how errors name it; `read_beside` reads a text file by its path relative to
/// the file's folder (a path that leaves the folder never reaches it), its error a fragment such as `no such file`.
pub fn parse(
    file_name: &str,
    text: &str,
    read_beside: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Instructions, InstructionsError> {
    read::parse(text, read_beside).map_err(|fault| InstructionsError {
        file: file_name.to_owned(),
        line: fault.line,
        what: fault.what,
    })
}
