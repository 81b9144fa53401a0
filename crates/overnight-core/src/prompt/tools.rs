//! The tools as the model is told of them: names, arguments, descriptions. The list is the same for the whole job, because
//! a changed list throws away the provider's prompt cache. What a tool does is elsewhere: control tools are decided by
//! the machine in `job`, working tools are done in `tool`.

use super::message::ToolSpec;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// Every tool, in the order in which the model sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Which kind of tool it is, and so who runs it.
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

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

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
    pub fn repeatable(self) -> bool {
        match self {
            Self::ReadFile | Self::ReadDocument | Self::ListFiles | Self::ListDocuments | Self::SearchFiles => true,
            Self::WriteFile
            | Self::AppendFile
            | Self::EditFile
            | Self::TodoWrite
            | Self::TodoList
            | Self::TodoComplete
            | Self::TodoRewind
            | Self::ArchiveAndReset
            | Self::GenerateWorkspaceSummary
            | Self::AddAccomplishment
            | Self::AddNote
            | Self::NoChange
            | Self::JobComplete => false,
        }
    }

    fn describe(self) -> ToolSpec {
        let (description, parameters) = match self {
            Self::ReadFile => ("Read a workspace file as numbered lines.", schema::<ReadFile>()),
            Self::WriteFile => ("Create or replace a file.", schema::<WriteFile>()),
            Self::AppendFile => ("Append to a file, creating it if needed.", schema::<WriteFile>()),
            Self::EditFile => ("Replace text in a file; `old` must occur exactly once.", schema::<EditFile>()),
            Self::ListFiles => ("List workspace files with size and time.", schema::<ListFiles>()),
            Self::SearchFiles => {
                ("Search files and the documents' text: a regular expression, or plain words.", schema::<SearchFiles>())
            }
            Self::ListDocuments => {
                ("List the documents: type, length, tokens, share already read.", schema::<ListDocuments>())
            }
            Self::ReadDocument => (
                "Read a document from a page (or line, where there are no pages). Returns what fits and says how to go on.",
                schema::<ReadDocument>(),
            ),
            Self::TodoWrite => (
                "Set the open todos as one whole list. Completed ones stay; cancel one with status cancelled and an outcome.",
                schema::<TodoWrite>(),
            ),
            Self::TodoList => ("Show the todos; by default what remains.", schema::<TodoListArguments>()),
            Self::TodoComplete => {
                ("Complete the current todo; outcome: what was done or found, in a sentence.", schema::<TodoComplete>())
            }
            Self::TodoRewind => {
                ("The phase can't go on as planned: archive it with the issue and re-plan.", schema::<TodoRewind>())
            }
            Self::ArchiveAndReset => ("Last resort: end this phase now and re-plan.", schema::<ReasonArgument>()),
            Self::GenerateWorkspaceSummary => ("Write workspace_summary.md afresh.", schema::<NoArguments>()),
            Self::AddAccomplishment => ("Add a line to the summary's accomplishments.", schema::<TextArgument>()),
            Self::AddNote => ("Add a line to the summary's notes.", schema::<TextArgument>()),
            Self::NoChange => ("In a planning step: this file stays as it is.", schema::<ReasonArgument>()),
            Self::JobComplete => (
                "End the job. `complete` only in the review, checked against the deliverables; `blocked` at any time: it can't be done, with the reason in the summary.",
                schema::<JobComplete>(),
            ),
        };
        ToolSpec { name: self.name().to_owned(), description: description.to_owned(), parameters }
    }
}

/// The whole list, made once a process.
pub fn tool_specs() -> Arc<[ToolSpec]> {
    static CATALOGUE: LazyLock<Arc<[ToolSpec]>> = LazyLock::new(|| Tool::ALL.into_iter().map(Tool::describe).collect());
    CATALOGUE.clone()
}

/// JSON Schema of `T`, without what costs tokens and says nothing: `$schema`, `title`, integer formats.
fn schema<T: JsonSchema>() -> Value {
    let schema = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>();
    let mut value = schema.to_value();
    strip(&mut value, true);
    if let Some(object) = value.as_object_mut() {
        object.entry("properties").or_insert_with(|| json!({}));
    }
    value
}

fn strip(value: &mut Value, is_schema: bool) {
    match value {
        Value::Object(object) => {
            if is_schema {
                for key in ["$schema", "title", "format", "default", "minimum", "additionalProperties"] {
                    object.remove(key);
                }
                simplify_type(object);
            }
            // The keys of `properties` are the arguments' own names.
            object.iter_mut().for_each(|(key, inner)| strip(inner, key != "properties"));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| strip(inner, true)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// An optional argument may be left out; saying `null` for it is understood, but not advertised.
fn simplify_type(object: &mut serde_json::Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get("type") {
        let named: Vec<&Value> = types.iter().filter(|kind| **kind != json!("null")).collect();
        if let [one] = named[..] {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| option != &json!({"type": "null"}));
        if let [one] = &options[..] {
            let one = one.clone();
            object.remove("anyOf");
            if let Value::Object(inner) = one {
                object.extend(inner);
            }
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
}

/// Reads a call's arguments into their type; the error is one sentence that tells the model what to do instead.
pub fn arguments<T: DeserializeOwned + JsonSchema>(tool: Tool, arguments: &Value) -> Result<T, String> {
    let object = match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => {
            return Err(format!(
                "the arguments of {} are not a JSON object; call it again with {}",
                tool.name(),
                usage::<T>()
            ));
        }
    };
    serde_json::from_value(object).map_err(|error| format!("{error}; call {} again with {}", tool.name(), usage::<T>()))
}

/// The arguments of `T` in one line: `path (string), offset? (integer)`.
fn usage<T: JsonSchema>() -> String {
    let schema = schema::<T>();
    let required: Vec<&str> =
        schema["required"].as_array().map(|names| names.iter().filter_map(Value::as_str).collect()).unwrap_or_default();
    let listed: Vec<String> = schema["properties"]
        .as_object()
        .map(|properties| {
            properties
                .iter()
                .map(|(name, kind)| {
                    let mark = if required.contains(&name.as_str()) { "" } else { "?" };
                    format!("{name}{mark} ({})", kind["type"].as_str().unwrap_or("value"))
                })
                .collect()
        })
        .unwrap_or_default();
    if listed.is_empty() { "no arguments".to_owned() } else { listed.join(", ") }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    pub path: String,
    /// First line, from 1
    pub offset: Option<u64>,
    /// Number of lines
    pub limit: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    pub path: String,
    pub content: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    pub path: String,
    pub old: String,
    pub new: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    pub path: Option<String>,
    pub glob: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchFiles {
    pub pattern: String,
    pub path: Option<String>,
    pub glob: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocuments {
    pub glob: Option<String>,
    /// Place in the list, from 1
    pub from: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadDocument {
    pub name: String,
    pub from: Option<u64>,
    pub to: Option<u64>,
    /// Line of page `from` to begin at
    pub line: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWrite {
    pub todos: Vec<TodoItem>,
}

/// One item of `todo_write`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct TodoItem {
    /// Imperative, one line
    pub content: String,
    /// What is shown while it is worked: "Reading section 3"
    #[serde(alias = "activeForm")]
    pub active_form: String,
    /// pending, in_progress or cancelled
    pub status: Option<String>,
    pub id: Option<u32>,
    pub context: Option<String>,
    pub completion_criteria: Option<String>,
    pub agent_type: Option<String>,
    pub order: Option<u32>,
    pub outcome: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoListArguments {
    /// pending, in_progress, completed, cancelled or all
    pub status: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoComplete {
    pub outcome: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoRewind {
    pub issue: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonArgument {
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextArgument {
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobComplete {
    pub summary: String,
    /// Paths under output/
    pub deliverables: Vec<String>,
    /// 0 to 1
    pub confidence: f64,
    pub notes: Option<String>,
    pub status: Option<CompletionStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompletionStatus {
    Complete,
    Blocked,
}
