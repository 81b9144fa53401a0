//! The tools by name: who does each, and whether its answer can be had again.

/// Every tool, in the order in which the model sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a variant is named as its tool; `describe` says what each does")]
pub enum Tool {
    ReadFile,
    WriteFile,
    AppendFile,
    EditFile,
    ListFiles,
    SearchFiles,
    ListDocuments,
    ReadDocument,
    TodoWrite,
    TodoList,
    TodoComplete,
    TodoRewind,
    ArchiveAndReset,
    GenerateWorkspaceSummary,
    AddAccomplishment,
    AddNote,
    NoChange,
    JobComplete,
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

impl Tool {
    /// In the order in which the model sees them.
    pub const ALL: [Tool; 18] = [
        Self::ReadFile,
        Self::WriteFile,
        Self::AppendFile,
        Self::EditFile,
        Self::ListFiles,
        Self::SearchFiles,
        Self::ListDocuments,
        Self::ReadDocument,
        Self::TodoWrite,
        Self::TodoList,
        Self::TodoComplete,
        Self::TodoRewind,
        Self::ArchiveAndReset,
        Self::GenerateWorkspaceSummary,
        Self::AddAccomplishment,
        Self::AddNote,
        Self::NoChange,
        Self::JobComplete,
    ];

    /// As the model calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::WriteFile => "write_file",
            Self::AppendFile => "append_file",
            Self::EditFile => "edit_file",
            Self::ListFiles => "list_files",
            Self::SearchFiles => "search_files",
            Self::ListDocuments => "list_documents",
            Self::ReadDocument => "read_document",
            Self::TodoWrite => "todo_write",
            Self::TodoList => "todo_list",
            Self::TodoComplete => "todo_complete",
            Self::TodoRewind => "todo_rewind",
            Self::ArchiveAndReset => "archive_and_reset",
            Self::GenerateWorkspaceSummary => "generate_workspace_summary",
            Self::AddAccomplishment => "add_accomplishment",
            Self::AddNote => "add_note",
            Self::NoChange => "no_change",
            Self::JobComplete => "job_complete",
        }
    }

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Who does it.
    pub fn family(self) -> Family {
        match self {
            Self::ReadFile
            | Self::ListFiles
            | Self::SearchFiles
            | Self::ListDocuments
            | Self::ReadDocument
            | Self::GenerateWorkspaceSummary => Family::Reading,
            Self::WriteFile | Self::AppendFile | Self::EditFile => Family::Writing,
            Self::TodoWrite
            | Self::TodoList
            | Self::TodoComplete
            | Self::TodoRewind
            | Self::ArchiveAndReset
            | Self::AddAccomplishment
            | Self::AddNote
            | Self::NoChange
            | Self::JobComplete => Family::Control,
        }
    }

    /// The same call gives the same answer later, so a folded result needs no copy under `tool_results/`.
    pub(crate) fn repeatable(self) -> bool {
        matches!(self, Self::ReadFile | Self::ReadDocument | Self::ListFiles | Self::ListDocuments | Self::SearchFiles)
    }
}
