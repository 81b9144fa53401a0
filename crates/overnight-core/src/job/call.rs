//! A call as the machine understands it. Each call is parsed once, when the model's reply arrives: into a call that the
//! machine decides by itself, a call that is done outside, or the reason why it can't be run. The journal keeps both
//! the call as the model made it and its parsed form.

use super::{
    arguments::{
        AddRecords, CompletionStatus, Delegate, EditFile, EditRecords, GiveVerdict, JobComplete, Judgement,
        LessonArguments, ListDocuments, ListFiles, ListRecords, NoArguments, QueryTables, ReadDocument, ReadFile,
        ReasonArgument, RecordEdit, SearchFiles, SettleFinding, TextArgument, TodoComplete, TodoItem,
        TodoListArguments, TodoRewind, TodoWrite, ViewPage, WriteFile, read,
    },
    contract::records::MOST_RECORDS,
    ending::Completion,
    lessons::Lesson,
    todo::TodoStatus,
    todo_list::clean_note,
    tool::{Family, Tool, ToolSet},
};
use crate::{message::ToolCall, tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Files that `job_complete` may name: each is looked at, and each that is missing is a failed check.
const MOST_DELIVERABLES: usize = 1_000;
/// Faults of one verdict: they are shown to the model together.
const MOST_FAULTS: usize = 50;

/// A call of a reply: as the model made it, and in its parsed form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingCall {
    /// The call as the model made it, with the name and the arguments that the journal has.
    pub said: ToolCall,
    /// The tool; `None` if no tool has this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// The parsed form of `said`.
    pub call: ParsedCall,
}

/// The parsed form of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ParsedCall {
    /// The machine decides it alone.
    Control(ControlCall),
    /// It is done outside the machine.
    Work(WorkCall),
    /// It can't be run: there is no such tool, or its arguments can't be read.
    Invalid {
        /// One sentence for the model: what is wrong, and what to do instead.
        reason: String,
    },
}

/// A call that only the state decides. Its texts are one line each, cleaned and bounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlCall {
    /// The open todos as one complete list, which is checked against the current list later.
    TodoWrite(Vec<TodoItem>),
    /// Shows the todos.
    TodoList(TodoFilter),
    /// The current todo is done.
    TodoComplete {
        /// The work done or the findings; never empty.
        outcome: Option<String>,
    },
    /// The phase can't go on as planned.
    TodoRewind {
        /// Why; never empty.
        issue: String,
    },
    /// The phase is given up.
    ArchiveAndReset {
        /// Why; may be empty.
        reason: String,
    },
    /// A line for the summary's accomplishments; never empty.
    AddAccomplishment(String),
    /// A line for the summary's notes; never empty.
    AddNote(String),
    /// Something that later jobs should know.
    AddLesson(Lesson),
    /// Delegates a task to a sub-agent.
    Delegate(Delegate),
    /// A finding is no fault.
    SettleFinding {
        /// The finding's id.
        id: String,
        /// Why; never empty.
        reason: String,
    },
    /// A sub-agent is done.
    Report(String),
    /// A verifier has judged; a rejection names at least one fault.
    Verdict(GiveVerdict),
    /// All is done, or can't be done.
    JobComplete {
        /// Whether it claims success.
        status: CompletionStatus,
        /// The confidence is between 0 and 1, the summary not empty, the number of deliverables bounded.
        completion: Completion,
    },
}

/// The todos that `todo_list` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoFilter {
    /// Every one, the cancelled ones too.
    All,
    /// The todos that are pending or in progress.
    Remaining,
    /// The todos of one status.
    Only(TodoStatus),
}

/// The work that a working tool is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkCall {
    /// It reads: it changes nothing, and can be aborted at any time and repeated.
    Read(ReadCall),
    /// `workspace_summary.md`, written afresh.
    GenerateWorkspaceSummary,
    /// Every check of the contract, as a completion would be checked; it changes nothing.
    CheckDeliverables,
    /// A file is changed; the hashes before and after go into the journal first.
    Change(FileChange),
}

impl WorkCall {
    /// Whether its result may be long. The model already knows what it writes, so the result of a change is short.
    pub fn fills_the_context(&self) -> bool {
        !matches!(self, Self::Change(_))
    }
}

/// The object of a reading call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReadCall {
    /// Lines of a workspace file.
    ReadFile(ReadFile),
    /// Names, sizes and times of workspace files.
    ListFiles(ListFiles),
    /// Lines of files and documents that match.
    SearchFiles(SearchFiles),
    /// Records of a deliverable, a line each.
    ListRecords(ListRecords),
    /// The documents with how much of each was shown.
    ListDocuments(ListDocuments),
    /// Pages or lines of a document's text.
    ReadDocument(ReadDocument),
    /// A page of a document as an image.
    ViewPage(ViewPage),
    /// The result of a statement on the tables of documents.
    QueryTables(QueryTables),
}

impl ReadCall {
    /// Whether its result is a part of a document: it may be larger than others, and states where to continue.
    pub fn is_of_document(&self) -> bool {
        matches!(self, Self::ReadDocument(_) | Self::ViewPage(_))
    }
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FileChange {
    /// The file is created or replaced.
    Whole(WriteFile),
    /// The text goes to the file's end.
    Append(WriteFile),
    /// One text in it is replaced by another.
    Edit(EditFile),
    /// Records are added to a list in it.
    Records(AddRecords),
    /// Records of it are changed or removed.
    EditRecords(EditRecords),
}

impl PendingCall {
    /// Parses a call of a reply. A call that can't be parsed becomes [`ParsedCall::Invalid`].
    pub fn new(said: ToolCall) -> Self {
        let tool = Tool::named(&said.name);
        let call = match tool {
            Some(tool) => parsed(tool, &said.arguments).unwrap_or_else(|reason| ParsedCall::Invalid { reason }),
            None => ParsedCall::Invalid { reason: unknown(&said.name) },
        };
        Self { said, tool, call }
    }

    /// The family of its tool; `None` if there is no such tool.
    pub fn family(&self) -> Option<Family> {
        self.tool.map(Tool::family)
    }
}

impl FileChange {
    /// The file, as the model named it.
    pub fn path(&self) -> &str {
        match self {
            Self::Whole(write) | Self::Append(write) => &write.path,
            Self::Edit(edit) => &edit.path,
            Self::Records(add) => &add.path,
            Self::EditRecords(edit) => &edit.path,
        }
    }

    /// The path in the form of [`plain_path`].
    pub(crate) fn plain_path(&self) -> String {
        plain_path(self.path())
    }
}

/// A path without insignificant parts: `./`, doubled slashes, blanks around it.
pub(crate) fn plain_path(path: &str) -> String {
    let names: Vec<&str> = path.trim().split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    names.join("/")
}

/// Parses the arguments. The error is the sentence of a [`ParsedCall::Invalid`].
fn parsed(tool: Tool, said: &Value) -> Result<ParsedCall, String> {
    let work = |work| Ok(ParsedCall::Work(work));
    let control = match tool {
        Tool::ReadFile => return work(WorkCall::Read(ReadCall::ReadFile(read(tool, said)?))),
        Tool::ListFiles => return work(WorkCall::Read(ReadCall::ListFiles(read(tool, said)?))),
        Tool::SearchFiles => return work(WorkCall::Read(ReadCall::SearchFiles(read(tool, said)?))),
        Tool::ListRecords => return work(WorkCall::Read(ReadCall::ListRecords(read(tool, said)?))),
        Tool::ListDocuments => return work(WorkCall::Read(ReadCall::ListDocuments(read(tool, said)?))),
        Tool::ReadDocument => return work(WorkCall::Read(ReadCall::ReadDocument(read(tool, said)?))),
        Tool::ViewPage => return work(WorkCall::Read(ReadCall::ViewPage(read(tool, said)?))),
        Tool::QueryTables => return work(WorkCall::Read(ReadCall::QueryTables(read(tool, said)?))),
        Tool::GenerateWorkspaceSummary => return work(WorkCall::GenerateWorkspaceSummary),
        Tool::WriteFile => return work(WorkCall::Change(FileChange::Whole(read(tool, said)?))),
        Tool::AppendFile => return work(WorkCall::Change(FileChange::Append(read(tool, said)?))),
        Tool::EditFile => return work(WorkCall::Change(FileChange::Edit(read(tool, said)?))),
        Tool::AddRecords => return work(WorkCall::Change(FileChange::Records(records(read(tool, said)?)?))),
        Tool::EditRecords => return work(WorkCall::Change(FileChange::EditRecords(edits(read(tool, said)?)?))),
        Tool::CheckDeliverables => {
            let NoArguments {} = read(tool, said)?;
            return work(WorkCall::CheckDeliverables);
        }
        Tool::TodoWrite => ControlCall::TodoWrite(read::<TodoWrite>(tool, said)?.todos),
        Tool::TodoList => ControlCall::TodoList(filter(read::<TodoListArguments>(tool, said)?.status.as_deref())?),
        Tool::TodoComplete => {
            let outcome = read::<TodoComplete>(tool, said)?.outcome;
            ControlCall::TodoComplete { outcome: outcome.map(|text| clean_note(&text)).filter(|text| !text.is_empty()) }
        }
        Tool::TodoRewind => {
            let issue = read::<TodoRewind>(tool, said)?.issue;
            ControlCall::TodoRewind {
                issue: filled(&issue, "issue is empty; say what makes the phase impossible as planned")?,
            }
        }
        Tool::ArchiveAndReset => {
            ControlCall::ArchiveAndReset { reason: clean_note(&read::<ReasonArgument>(tool, said)?.reason) }
        }
        Tool::AddAccomplishment => ControlCall::AddAccomplishment(note(tool, said)?),
        Tool::AddNote => ControlCall::AddNote(note(tool, said)?),
        Tool::AddLesson => {
            let LessonArguments { text, evidence } = read(tool, said)?;
            ControlCall::AddLesson(Lesson {
                text: filled(&text, "text is empty; say in one line what later jobs should know")?,
                evidence: filled(
                    &evidence,
                    "evidence is empty; name the phase, rewind or check that it was learnt from",
                )?,
            })
        }
        Tool::JobComplete => completion(read(tool, said)?)?,
        Tool::Delegate => {
            let said: Delegate = read(tool, said)?;
            if said.task.trim().is_empty() {
                return Err("task is empty; say what the sub-agent is to do".to_owned());
            }
            ControlCall::Delegate(said)
        }
        Tool::SettleFinding => {
            let SettleFinding { id, reason } = read(tool, said)?;
            let reason = filled(&reason, "reason is empty; say why the finding is no fault")?;
            ControlCall::SettleFinding { id: id.trim().to_owned(), reason }
        }
        Tool::Report => ControlCall::Report(read::<TextArgument>(tool, said)?.text),
        Tool::Verdict => ControlCall::Verdict(verdict(read(tool, said)?)?),
    };
    Ok(ParsedCall::Control(control))
}

fn records(said: AddRecords) -> Result<AddRecords, String> {
    match said.records.len() {
        0 => Err("records is empty; give the records to add".to_owned()),
        count if count > MOST_RECORDS => {
            Err(format!("records has {count} items, and {MOST_RECORDS} is the most; send the rest in another call"))
        }
        _ => Ok(said),
    }
}

fn edits(said: EditRecords) -> Result<EditRecords, String> {
    let is_clear =
        |edit: &RecordEdit| edit.set.as_ref().is_some_and(|set| !set.is_empty()) != (edit.remove == Some(true));
    match said.edits.len() {
        0 => Err("edits is empty; give a place for each record to be changed, with set or remove".to_owned()),
        count if count > MOST_RECORDS => {
            Err(format!("edits has {count} items, and {MOST_RECORDS} is the most; send the rest in another call"))
        }
        _ => match said.edits.iter().find(|edit| !is_clear(edit)) {
            Some(edit) => Err(format!(
                "the edit of {} needs either fields in set, or remove: true",
                tokens::head(&edit.place, 40)
            )),
            None => Ok(said),
        },
    }
}

fn verdict(said: GiveVerdict) -> Result<GiveVerdict, String> {
    match (said.verdict, said.findings.len()) {
        (Judgement::Reject, 0) => Err("findings is empty; name what is wrong, or accept the result".to_owned()),
        (_, count) if count > MOST_FAULTS => {
            Err(format!("findings has {count} items, and {MOST_FAULTS} is the most; name the gravest"))
        }
        (Judgement::Accept | Judgement::Reject, _) => Ok(said),
    }
}

fn note(tool: Tool, said: &Value) -> Result<String, String> {
    filled(&read::<TextArgument>(tool, said)?.text, "text is empty; say in one line what to add")
}

fn filled(text: &str, otherwise: &str) -> Result<String, String> {
    Some(clean_note(text)).filter(|line| !line.is_empty()).ok_or_else(|| otherwise.to_owned())
}

/// The filter for a status, by default the remaining todos; case and blanks don't matter.
fn filter(status: Option<&str>) -> Result<TodoFilter, String> {
    let wanted = status.unwrap_or("remaining").trim().to_lowercase().replace([' ', '-'], "_");
    Ok(match wanted.as_str() {
        "all" => TodoFilter::All,
        "remaining" => TodoFilter::Remaining,
        "pending" => TodoFilter::Only(TodoStatus::Pending),
        "in_progress" => TodoFilter::Only(TodoStatus::InProgress),
        "completed" => TodoFilter::Only(TodoStatus::Completed),
        "cancelled" => TodoFilter::Only(TodoStatus::Cancelled),
        _ => {
            return Err(format!(
                "status '{wanted}' is not known; use pending, in_progress, completed, cancelled or all"
            ));
        }
    })
}

fn completion(said: JobComplete) -> Result<ControlCall, String> {
    if !(0.0..=1.0).contains(&said.confidence) {
        return Err(format!("confidence is {}; give a number from 0 to 1", said.confidence));
    }
    if said.summary.trim().is_empty() {
        return Err("summary is empty; say in a few sentences what was done and found".to_owned());
    }
    if said.deliverables.len() > MOST_DELIVERABLES {
        return Err(format!(
            "deliverables names {} files, and {MOST_DELIVERABLES} is the most; name only what the task asks for",
            said.deliverables.len()
        ));
    }
    Ok(ControlCall::JobComplete {
        status: said.status.unwrap_or(CompletionStatus::Complete),
        completion: Completion {
            summary: said.summary.trim().to_owned(),
            deliverables: said.deliverables,
            confidence: said.confidence,
            notes: said.notes.filter(|text| !text.trim().is_empty()),
        },
    })
}

fn unknown(name: &str) -> String {
    // The beginning of a name identifies it, however long it is.
    let cut = tokens::head(name, 20);
    let more = if cut.len() < name.len() { "…" } else { "" };
    let nearest = Tool::all()
        .filter(|tool| tool.may_be_of_job())
        .map(|tool| (strsim::jaro_winkler(cut, tool.name()), tool.name()))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, near)) = nearest {
        return format!("there is no tool named '{cut}{more}'; did you mean {near}?");
    }
    let names: Vec<&str> = ToolSet::of_job(&[]).iter().map(Tool::name).collect();
    format!("there is no tool named '{cut}{more}'; the tools are {}", names.join(", "))
}
