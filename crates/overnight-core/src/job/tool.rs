//! The tools by name, and how each is executed.

use super::arguments::{self, schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a tool is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Decided by the machine alone.
    Control,
    /// Reads something outside the todo list; repeating it is harmless.
    Reading,
    /// Changes a file; the hash before and after goes into the journal first.
    Writing,
}

/// The conversations that have a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Availability {
    /// The job's own conversation, always.
    Always,
    /// The job's own conversation, if something makes use of the tool.
    WhereUsed,
    /// Only the conversations of sub-agents.
    Beside,
}

/// The entry for a tool in the table below.
struct Entry {
    name: &'static str,
    family: Family,
    availability: Availability,
    parameters: fn() -> Value,
}

/// Defines [`Tool`] and its entries: one line per tool.
macro_rules! tools {
    ($($tool:ident $name:literal $family:ident $availability:ident $arguments:ident,)+) => {
        /// Every tool, in the order in which the model sees them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "a variant is named as its tool; `instructions/runner/tools.md` says what each does")]
        pub enum Tool {
            $(#[serde(rename = $name)] $tool,)+
        }

        /// The entries, in the order of [`Tool`].
        const TOOLS: &[(Tool, Entry)] = &[$((
            Tool::$tool,
            Entry {
                name: $name,
                family: Family::$family,
                availability: Availability::$availability,
                parameters: schema::<arguments::$arguments>,
            },
        ),)+];
    };
}

// In each line: the tool, its name for the model, its family, its availability, and the type of its arguments.
tools! {
    ReadFile "read_file" Reading Always ReadFile,
    WriteFile "write_file" Writing Always WriteFile,
    AppendFile "append_file" Writing Always WriteFile,
    EditFile "edit_file" Writing Always EditFile,
    AddRecords "add_records" Writing Always AddRecords,
    EditRecords "edit_records" Writing Always EditRecords,
    ListRecords "list_records" Reading Always ListRecords,
    CheckDeliverables "check_deliverables" Reading Always NoArguments,
    ListFiles "list_files" Reading Always ListFiles,
    SearchFiles "search_files" Reading Always SearchFiles,
    ListDocuments "list_documents" Reading Always ListDocuments,
    ReadDocument "read_document" Reading Always ReadDocument,
    ViewPage "view_page" Reading WhereUsed ViewPage,
    QueryTables "query_tables" Reading WhereUsed QueryTables,
    TodoWrite "todo_write" Control Always TodoWrite,
    TodoList "todo_list" Control Always TodoListArguments,
    TodoComplete "todo_complete" Control Always TodoComplete,
    TodoRewind "todo_rewind" Control Always TodoRewind,
    ArchiveAndReset "archive_and_reset" Control Always ReasonArgument,
    GenerateWorkspaceSummary "generate_workspace_summary" Reading Always NoArguments,
    AddAccomplishment "add_accomplishment" Control Always TextArgument,
    AddNote "add_note" Control Always TextArgument,
    AddLesson "add_lesson" Control Always LessonArguments,
    JobComplete "job_complete" Control Always JobComplete,
    Delegate "delegate" Reading WhereUsed Delegate,
    SettleFinding "settle_finding" Control WhereUsed SettleFinding,
    Report "report" Control Beside TextArgument,
    Verdict "verdict" Control Beside GiveVerdict,
}

impl Tool {
    /// Every tool, in the order in which the model sees them.
    pub fn all() -> impl Iterator<Item = Self> {
        TOOLS.iter().map(|(tool, _)| *tool)
    }

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|tool| tool.name() == name)
    }

    /// The name by which the model calls it.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// How it is executed.
    pub fn family(self) -> Family {
        self.entry().family
    }

    /// JSON Schema of its arguments.
    pub(crate) fn parameters(self) -> Value {
        (self.entry().parameters)()
    }

    /// Whether the job's own conversation may have it.
    pub(crate) fn may_be_of_job(self) -> bool {
        self.entry().availability != Availability::Beside
    }

    fn entry(self) -> &'static Entry {
        &TOOLS[self as usize].1
    }
}

/// Some of the tools: those of one conversation. In the journal it is a list of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Vec<Tool>", into = "Vec<Tool>")]
pub struct ToolSet(u64);

impl ToolSet {
    /// Whether a tool is among them.
    pub fn contains(self, tool: Tool) -> bool {
        self.0 & (1 << tool as u32) != 0
    }

    /// The tools, in the order in which the model sees them.
    pub fn iter(self) -> impl Iterator<Item = Tool> {
        Tool::all().filter(move |tool| self.contains(*tool))
    }

    /// The tools of the job's own conversation: those that every job has, and `more`.
    pub fn of_job(more: &[Tool]) -> Self {
        Tool::all().filter(|tool| tool.entry().availability == Availability::Always || more.contains(tool)).collect()
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
