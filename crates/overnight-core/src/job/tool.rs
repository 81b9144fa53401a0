//! The tools by name, and who does each.

use serde::{Deserialize, Serialize};

/// Every tool, in the order in which the model sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a variant is named as its tool; `describe` says what each does")]
pub enum Tool {
    ReadFile,
    WriteFile,
    AppendFile,
    EditFile,
    AddRecords,
    EditRecords,
    ListRecords,
    CheckDeliverables,
    ListFiles,
    SearchFiles,
    ListDocuments,
    ReadDocument,
    ViewPage,
    QueryTables,
    TodoWrite,
    TodoList,
    TodoComplete,
    TodoRewind,
    ArchiveAndReset,
    GenerateWorkspaceSummary,
    AddAccomplishment,
    AddNote,
    AddLesson,
    JobComplete,
    Delegate,
    SettleFinding,
    Report,
    Verdict,
}

/// Who does a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Decided by the machine alone.
    Control,
    /// Reads something outside the todo list; repeating it is harmless.
    Reading,
    /// Changes a file; the hash before and after goes into the journal first.
    Writing,
}

/// In the order in which the model sees them, which is that of [`Tool`].
const TOOLS: [(Tool, &str, Family); 28] = [
    (Tool::ReadFile, "read_file", Family::Reading),
    (Tool::WriteFile, "write_file", Family::Writing),
    (Tool::AppendFile, "append_file", Family::Writing),
    (Tool::EditFile, "edit_file", Family::Writing),
    (Tool::AddRecords, "add_records", Family::Writing),
    (Tool::EditRecords, "edit_records", Family::Writing),
    (Tool::ListRecords, "list_records", Family::Reading),
    (Tool::CheckDeliverables, "check_deliverables", Family::Reading),
    (Tool::ListFiles, "list_files", Family::Reading),
    (Tool::SearchFiles, "search_files", Family::Reading),
    (Tool::ListDocuments, "list_documents", Family::Reading),
    (Tool::ReadDocument, "read_document", Family::Reading),
    (Tool::ViewPage, "view_page", Family::Reading),
    (Tool::QueryTables, "query_tables", Family::Reading),
    (Tool::TodoWrite, "todo_write", Family::Control),
    (Tool::TodoList, "todo_list", Family::Control),
    (Tool::TodoComplete, "todo_complete", Family::Control),
    (Tool::TodoRewind, "todo_rewind", Family::Control),
    (Tool::ArchiveAndReset, "archive_and_reset", Family::Control),
    (Tool::GenerateWorkspaceSummary, "generate_workspace_summary", Family::Reading),
    (Tool::AddAccomplishment, "add_accomplishment", Family::Control),
    (Tool::AddNote, "add_note", Family::Control),
    (Tool::AddLesson, "add_lesson", Family::Control),
    (Tool::JobComplete, "job_complete", Family::Control),
    (Tool::Delegate, "delegate", Family::Reading),
    (Tool::SettleFinding, "settle_finding", Family::Control),
    (Tool::Report, "report", Family::Control),
    (Tool::Verdict, "verdict", Family::Control),
];

/// Those that are there only where something makes use of them.
const SOMETIMES: [Tool; 6] =
    [Tool::ViewPage, Tool::QueryTables, Tool::Delegate, Tool::SettleFinding, Tool::Report, Tool::Verdict];

impl Tool {
    /// Every tool, in the order in which the model sees them.
    pub fn all() -> impl Iterator<Item = Self> {
        TOOLS.into_iter().map(|(tool, ..)| tool)
    }

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        TOOLS.into_iter().find(|(_, known, _)| *known == name).map(|(tool, ..)| tool)
    }

    /// As the model calls it.
    pub fn name(self) -> &'static str {
        TOOLS[self as usize].1
    }

    /// Who does it.
    pub fn family(self) -> Family {
        TOOLS[self as usize].2
    }
}

/// Some of the tools: those of one conversation. In the journal it is a list of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Vec<Tool>", into = "Vec<Tool>")]
pub struct ToolSet(u32);

impl ToolSet {
    /// Whether a tool is among them.
    pub fn contains(self, tool: Tool) -> bool {
        self.0 & (1 << tool as u32) != 0
    }

    /// In the order in which the model sees them.
    pub fn iter(self) -> impl Iterator<Item = Tool> {
        Tool::all().filter(move |tool| self.contains(*tool))
    }

    /// Those of the job's own conversation: what every job has, and `more`.
    pub fn of_job(more: &[Tool]) -> Self {
        Tool::all().filter(|tool| !SOMETIMES.contains(tool) || more.contains(tool)).collect()
    }
}

impl FromIterator<Tool> for ToolSet {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        Self(tools.into_iter().fold(0, |set, tool| set | 1 << tool as u32))
    }
}

impl From<Vec<Tool>> for ToolSet {
    fn from(tools: Vec<Tool>) -> Self {
        tools.into_iter().collect()
    }
}

impl From<ToolSet> for Vec<Tool> {
    fn from(set: ToolSet) -> Self {
        set.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tool_stands_at_its_place() {
        assert!(super::TOOLS.into_iter().enumerate().all(|(place, (tool, ..))| tool as usize == place));
    }
}
