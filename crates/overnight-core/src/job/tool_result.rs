//! The result of a tool, and the preparation of a change: the parts of a call's facts.

use super::{
    contract::{DeliverableState, records::RecordCount},
    pages::PageLines,
    refused_records::{MendedRecord, RefusedRecord},
};
use crate::message::Image;
use serde::{Deserialize, Serialize};

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// The call was done.
    Done,
    /// The tool tried and failed.
    Failed,
    /// The machine refused it: wrong step, bad arguments, a rule.
    Refused,
    /// Not run, and neither a failure nor a fault: its step is over, or has not come yet.
    Skipped,
    /// Cut off by a crash, and not safe to repeat.
    Interrupted,
}

/// A part of a document that a result showed, in pages or lines, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownPart {
    /// The document's name in the job.
    pub document: String,
    /// The first page or line, from 1.
    pub from: u64,
    /// The last page or line.
    pub to: u64,
    /// If set, only these lines of page `from`: the whole page is longer than a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<PageLines>,
}

/// A file as it is after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedFile {
    /// The path, relative to the workspace.
    pub path: String,
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// Size of the whole file.
    pub bytes: u64,
}

/// A result too large for the conversation, kept whole in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpilledResult {
    /// The path, relative to the workspace, under `tool_results/`.
    pub path: String,
    /// SHA-256 of the whole result.
    pub sha256: String,
}

/// The result of a tool. `text` goes into the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    /// How the call ended.
    pub end: CallEnd,
    /// The text, at most as long as one result may be.
    pub text: String,
    /// The part of a document that stands in `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ShownPart>,
    /// The file that the call wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedFile>,
    /// Images that go with `text`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The file with the whole result, if `text` is not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spilled: Option<SpilledResult>,
    /// The states of the deliverables that the call checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<DeliverableState>,
    /// Records that the call brought and that were not written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedRecord>,
}

impl ToolResult {
    /// A result that is a text and nothing else.
    pub fn plain(end: CallEnd, text: impl Into<String>) -> Self {
        Self {
            end,
            text: text.into(),
            shown: None,
            changed: None,
            images: Vec::new(),
            spilled: None,
            checked: Vec::new(),
            refused: Vec::new(),
        }
    }
}

/// A file of the model's own memory, as a call saves it.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedFile {
    /// `main_plan.md`.
    Plan {
        /// The whole file.
        text: String,
    },
    /// `workspace.md`.
    Memory {
        /// The whole file.
        text: String,
    },
}

impl SavedFile {
    /// The whole file.
    pub fn text(&self) -> &str {
        match self {
            Self::Plan { text } | Self::Memory { text } => text,
        }
    }
}

/// The change that a writing call is about to make: hashes of the file before and after, so that a call that a crash
/// cut off can be repeated safely. `before` is `None` if there is no file yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreparedWrite {
    /// SHA-256 of the file before; `None` if there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 of the content to be written.
    pub after: String,
    /// The counts of `add_records`, which a repeated call can't determine any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<RecordCount>,
    /// Records that were refused earlier, and are written with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedRecord>,
}
