//! Instructions: the task of a job, its bounds, and the deliverables that must exist at its end.
//!
//! A file is YAML front matter and a task in Markdown. It is read once, when a job is submitted; the job then carries
//! [`Instructions`], with schemas, agent prompts and the rubric resolved, so that it never depends on a file outside
//! its workspace. An error in the file is reported in one sentence with its line.
//!
//! ```
//! use overnight_core::job::instructions::{UnreadFile, parse};
//!
//! let beside = |_: &str| Err(UnreadFile("no such file".to_owned()));
//! let text = "---\nname: notes\ndescription: Notes\ndeliverables:\n  - path: output/notes.md\n    min_words: 50\n---\n\nWrite notes.\n";
//! let instructions = parse("notes.md", text, &beside)?;
//! assert_eq!((instructions.deliverables[0].min_words, instructions.limits.turns), (Some(50), 5_000));
//!
//! let error = parse("notes.md", &text.replace("min_words", "min_wrods"), &beside).unwrap_err();
//! assert_eq!(error.to_string(), "notes.md:6: unknown key 'min_wrods' in 'deliverables[0]'; did you mean 'min_words'?");
//! # Ok::<(), overnight_core::job::instructions::InstructionsError>(())
//! ```

mod cascade;
mod checks;
mod completeness;
mod files_beside;
mod named_models;
mod read;
mod schema_files;
pub mod shipped;
mod task;
mod values;

pub use cascade::{Acceptance, Cascade, CertifyWanted, DrawReader};
pub use completeness::{Agent, Readers, SecondReader, Verify};

impl Instructions {
    /// The models besides the first one, to be changed: those that replace it, and those for other work.
    pub fn other_models_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let ModelRoles { second_reader, readers, verify, helpers, vision, vision_second } = &mut self.models;
        let roles = [second_reader, readers, verify, helpers, vision, vision_second].into_iter().flatten();
        let agents = self.agents.values_mut().filter_map(|agent| agent.model.as_mut());
        self.fallback.iter_mut().chain(roles).chain(agents)
    }

    /// Keys that are set but have no effect.
    pub fn not_acted_on(&self) -> Vec<&'static str> {
        let keys = [
            ("models.second_reader", self.models.second_reader.is_some() && self.second_reader.is_none()),
            ("models.readers", self.models.readers.is_some() && self.readers.is_none()),
            ("models.verify", self.models.verify.is_some() && self.verify.is_none()),
            ("models.helpers", self.models.helpers.is_some() && self.agents.is_empty()),
            ("tools.shell", self.tools.shell),
            ("tools.mcp", !self.tools.mcp.is_empty()),
        ];
        keys.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key).collect()
    }
}

use super::{
    lessons::ApprovedLessons,
    limits::Limits,
    models::{ModelRoles, Tier},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// Bytes that an instructions file may have: it is copied into every job's workspace and prompt.
pub const MAX_BYTES: usize = 1024 * 1024;

/// One instructions file, checked and resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instructions {
    /// The name, a word by which jobs can be found.
    pub name: String,
    /// The description, one line for lists.
    pub description: String,
    /// The model as `provider:name`; a flag or the configuration overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Models for other work than the main one.
    #[serde(default, skip_serializing_if = "ModelRoles::is_empty")]
    pub models: ModelRoles,
    /// The tier at which models are asked, where their provider has it.
    #[serde(default, skip_serializing_if = "Tier::is_standard")]
    pub tier: Tier,
    /// The time until which answers at the tier `batch` are awaited; `None`: as long as the provider takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_until: Option<BatchUntil>,
    /// How much the model reasons; `None` means the usual amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortSteps>,
    /// The two models that read a batch; `None` means that one model reads all documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<Cascade>,
    /// Models to use, in this order, when the first one is down or refuses.
    pub fallback: Vec<String>,
    /// Lessons of earlier jobs, approved by a person.
    #[serde(default, skip_serializing_if = "ApprovedLessons::is_empty")]
    pub lessons: ApprovedLessons,
    /// Bounds on each planned phase.
    pub phase: PhaseBounds,
    /// Bounds on each prompt.
    pub context: ContextSettings,
    /// Bounds on the job.
    pub limits: Limits,
    /// Model calls of the job that may be in flight at once, and sub-agents that may be at work; at least 1.
    #[serde(default = "parallel", skip_serializing_if = "is_usual_parallel")]
    pub parallel: u32,
    /// Share of each document's readable text that must have been shown to the model, 0 to 1.
    pub coverage: f64,
    /// A job whose model is less sure than this ends as `partial`, 0 to 1.
    pub confidence_floor: f64,
    /// The deliverables, at least one.
    pub deliverables: Vec<Deliverable>,
    /// Whether a person reviews the result first.
    pub review: Review,
    /// The todos of the review phase before `Call job_complete()`.
    pub finale: Vec<String>,
    /// Sub-agents that the model can delegate to, by name.
    pub agents: BTreeMap<String, Agent>,
    /// The second reader; `None` means that the documents are read once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_reader: Option<SecondReader>,
    /// The readers; `None` means that the job's own model reads the documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Readers>,
    /// The verifier; `None` means that nobody judges the deliverables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Settings for tools; they have no effect yet.
    pub tools: ToolSettings,
    /// The task, Markdown.
    pub body: String,
}

/// The default number of a job's model calls that may be in flight at once.
pub const PARALLEL: u32 = 4;
/// The largest number that the instructions may name.
pub const MOST_PARALLEL: u32 = 64;

impl Instructions {
    /// Model calls of the job that may be in flight at once, those of readers side by side included.
    pub fn most_parallel(&self) -> u32 {
        self.parallel.max(self.readers.as_ref().map_or(0, |readers| readers.parallel))
    }
}

fn parallel() -> u32 {
    PARALLEL
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_usual_parallel(parallel: &u32) -> bool {
    *parallel == PARALLEL
}

/// How much the job's model reasons, in its vendor's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffortSteps {
    /// The effort at the beginning.
    pub first: String,
    /// The effort after the contract refused the work, or records of it. `None` means the usual effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

/// The time until which answers at the tier `batch` are awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchUntil {
    /// This many milliseconds after the beginning of the job.
    AfterMs(u64),
    /// This moment.
    At(Timestamp),
}

impl BatchUntil {
    /// The moment, for a job that began at `begun`.
    pub fn of_job(self, begun: Timestamp) -> Timestamp {
        match self {
            Self::AfterMs(ms) => begun.after(Duration::from_millis(ms)),
            Self::At(at) => at,
        }
    }
}

/// How many todos a planned phase has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseBounds {
    /// Fewer are refused, one fewer is taken with a warning.
    pub min_todos: u32,
    /// More are refused, two more are taken with a warning.
    pub max_todos: u32,
}

impl Default for PhaseBounds {
    fn default() -> Self {
        Self { min_todos: 5, max_todos: 20 }
    }
}

/// How the prompt is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextSettings {
    /// Tokens that a prompt may have; at least [`MIN_BUDGET_TOKENS`].
    pub budget_tokens: u64,
    /// When a new history begins.
    pub compact: CompactionPolicy,
    /// Who writes the digest of the past.
    pub summary: SummaryBy,
    /// Whether the text of small documents stands in the first opening.
    #[serde(default, skip_serializing_if = "InlineDocuments::is_auto")]
    pub inline: InlineDocuments,
}

/// Below this the layers that are never trimmed leave no room for work.
pub const MIN_BUDGET_TOKENS: u64 = 8_000;

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            budget_tokens: 100_000,
            compact: CompactionPolicy::Auto,
            summary: SummaryBy::Digest,
            inline: InlineDocuments::Auto,
        }
    }
}

/// Whether the text of a job's documents stands in its first opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InlineDocuments {
    /// If all of it fits into the bound for documents that are given.
    #[default]
    Auto,
    /// The model reads what it needs.
    Never,
}

impl InlineDocuments {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// When a new history begins at the end of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionPolicy {
    /// Unless the job fits in one piece.
    Auto,
    /// Always.
    Always,
}

/// Who writes the digest of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The system, from the journal.
    Digest,
    /// The model, in a turn of its own.
    Model,
}

/// A file that the job must produce, and its checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deliverable {
    /// Relative to the workspace, below `output/`.
    pub path: String,
    /// A JSON Schema, resolved and known to compile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// The rules for quotes in a JSON file.
    pub quotes: Vec<Quotes>,
    /// The rules for values in a JSON file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ValueCheck>,
    /// Words that the text must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_words: Option<u64>,
    /// Texts that must not occur; case is ignored, and a word is only found as a whole word.
    pub forbid: Vec<String>,
}

/// The rule for the quotes in a JSON deliverable, each of which must really stand in its document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quotes {
    /// The objects that carry a quote: `$.requirements[*]`. See [`super::json_path`].
    pub each: String,
    /// The object's key for the quoted text; null there means that there is nothing to check.
    pub text: String,
    /// The object's key for the document's name.
    pub document: String,
    /// The object's key for the page; null there means any page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The object's key for the line, of documents without pages; null there means any line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The object's keys for values that must stand in the quote. `None`: numbers, dates and the like that don't are
    /// doubts; an empty list: no value is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carries: Option<Vec<String>>,
    /// The key of the value that the quote proves, if it doesn't prove the whole object: see [`Quotes::field`].
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub of_field: Option<String>,
    /// Lines before and after the quote in which a value may stand as well.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub context: u64,
    /// Words of documents that are equal to a value, by that value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub same_as: BTreeMap<String, Vec<String>>,
}

impl Quotes {
    /// The fields for quotes and their places: they prove values, and are not values themselves.
    pub fn proof_fields(&self) -> Vec<String> {
        let keys = [Some(&self.text), Some(&self.document), self.page.as_ref(), self.line.as_ref()];
        let named = keys.into_iter().flatten().map(|key| format!("{}.{key}", self.each));
        // If no rule names them, the fields with these names are used.
        named.chain(["page", "line"].map(|key| format!("{}.{key}", self.each))).collect()
    }

    /// The key of the value in `record` that the quote proves: as the instructions say, else from the name (`amount`
    /// for `amount_quote`). `None` means the record as a whole.
    pub fn field(&self, record: &serde_json::Value) -> Option<&str> {
        self.named_field().filter(|field| record.get(field).is_some())
    }

    /// The key from the rule, or from the quote's name, whether or not a record has it.
    pub fn named_field(&self) -> Option<&str> {
        self.of_field.as_deref().or_else(|| self.text.strip_suffix("_quote"))
    }
}

/// A rule for the values of a JSON file, in CEL: see [`overnight_rules::rule`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueCheck {
    /// A condition that is known to be readable.
    pub rule: String,
    /// The records for which it must hold: a path such as `$.invoices[*]`. `None` means the file as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// The message if it doesn't hold, in place of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The consequence for a record for which it doesn't hold.
    #[serde(default)]
    pub level: CheckLevel,
}

/// The consequence of a rule that doesn't hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckLevel {
    /// The job can't be completed.
    #[default]
    Fail,
    /// A person should look at the record.
    Doubt,
}

/// Whether a person must approve the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// The job completes by itself.
    None,
    /// The job is held until a person approves.
    Required,
}

/// Tools that are off unless asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSettings {
    /// Whether commands may be run.
    pub shell: bool,
    /// Names of MCP servers from the configuration.
    pub mcp: Vec<String>,
}

/// An error in an instructions file: `instructions/x.md:7: unknown key 'delivrables'; did you mean 'deliverables'?`
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct InstructionsError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1, in the whole file.
    pub line: u64,
    /// What is wrong: one sentence without a full stop.
    pub what: String,
}

/// Why a file beside the instructions could not be read: a phrase such as `no such file`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnreadFile(pub String);

/// Reads a text file by its path relative to the instructions' folder; paths that leave the folder are never passed.
pub type ReadBeside<'r> = &'r dyn Fn(&str) -> Result<String, UnreadFile>;

/// Reads an instructions file. `file_name` is how errors name it.
pub fn parse(file_name: &str, text: &str, read_beside: ReadBeside<'_>) -> Result<Instructions, InstructionsError> {
    read::parse(text, read_beside).map_err(|fault| InstructionsError {
        file: file_name.to_owned(),
        line: fault.line,
        what: fault.what,
    })
}
