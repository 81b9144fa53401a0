//! Facts on what people did.

use crate::job::{finding::Finding, models::ModelChoice, part::Part, seen_result::SeenResult, spec::DocumentEntry};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// Actions of people on the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum PersonEvent {
    /// A person named another model or server: it is called from here on.
    ModelChosen { choice: ModelChoice },
    /// A person has changed these files while the job was held; `memory` is what `workspace.md` holds now.
    FilesEdited { files: Vec<String>, memory: Option<Part> },
    /// A person sent a result back: it is archived, and planned anew.
    FeedbackGiven {
        number: u32,
        text: String,
        instructions: Part,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A person accepted a result.
    Approved {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The parts that the person had in view; `None` in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Box<SeenResult>>,
    },
    /// A person accepted one record of a deliverable.
    RecordApproved {
        file: String,
        record: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
    },
    /// A person corrected a field. The model's file stays; `path` is the file with all corrections, and its hash.
    FieldCorrected { finding: Box<Finding>, path: String, sha256: String },
    /// A person added documents to a job that has a result; feedback that says so follows.
    DocumentsAdded {
        documents: Vec<DocumentEntry>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}
