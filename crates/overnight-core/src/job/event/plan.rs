//! Facts on planning.

use crate::job::{part::Part, plan::PlannedPhase};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// How planning ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanningEnd {
    /// Nothing was owed any more.
    Done,
    /// The owed steps were not done within the tries: memory, plan and its next todos stay as they are.
    FellBack,
}

/// The files that planning reads, as they stood on the disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExaminedFiles {
    /// `main_plan.md`; `None` if there is no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Part>,
    /// `workspace.md`; `None` if there is no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Part>,
    /// `instructions.md`.
    pub instructions: Part,
    /// `workspace_summary.md`.
    pub summary: Part,
}

/// Planning: the files that it reads, and their changes by the model and the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum PlanEvent {
    /// Planning begins from what stands on the disk.
    FilesExamined { files: ExaminedFiles },
    /// The plan as it stands in `main_plan.md`, after a person has changed it.
    PlanRead { text: Part, phases: Vec<PlannedPhase> },
    /// The plan as the model saved it, in the one form and with the marks that are the system's.
    PlanSaved { text: Part, phases: Vec<PlannedPhase> },
    /// The system changed the plan: ticks and marks, a cut phase, the plan that the model didn't write.
    PlanSet { text: Part, phases: Vec<PlannedPhase>, because: String },
    /// `workspace.md` was saved by the model.
    MemorySaved { text: Part },
    /// A file that the machine asked to be written is on the disk.
    FileWritten { path: String },
    /// A plan, or the todos of the next phase, could not be taken.
    PlanningRefused { reason: String },
    /// Planning is over.
    PlanningEnded { end: PlanningEnd, memory_waived: bool },
    /// A plan or a list was accepted although it is outside its bounds; the board says so.
    TodosWarned { warning: String },
}
