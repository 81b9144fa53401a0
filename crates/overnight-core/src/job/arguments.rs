//! The arguments of each tool. The doc comments here are read by the model: they stand in the tools' JSON Schemas, so every
//! word costs tokens in every prompt.

#![expect(missing_docs, reason = "a doc comment becomes a description in the prompt; the names say enough")]

use super::tool::Tool;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// JSON Schema of `T`, without what costs tokens and says nothing: `$schema`, `title`, integer formats.
pub(crate) fn schema<T: JsonSchema>() -> Value {
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

/// Reads what was said into the arguments' type; the error is one sentence that tells the model what to do instead.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(tool: Tool, said: &Value) -> Result<T, String> {
    let object = match said {
        Value::Object(_) => said.clone(),
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
pub(crate) struct NoArguments {}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    pub path: String,
    /// First line, from 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Number of lines
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
pub struct AddRecords {
    pub path: String,
    /// At most 200
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub records: Vec<Value>,
    /// JSON path of the list, where there are several
    pub list: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRecords {
    pub path: String,
    /// Places are those before the call
    pub edits: Vec<RecordEdit>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct RecordEdit {
    /// As list_records names it: $.items[3]
    pub place: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<serde_json::Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRecords {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchFiles {
    pub pattern: String,
    /// documents (default), output or all
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<SearchScope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Matches to pass over
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchScope {
    Documents,
    Output,
    All,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocuments {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Place in the list, from 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadDocument {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Line of page `from` to begin at
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewPage {
    pub name: String,
    pub page: u64,
    /// A picture within the document, as its text names it: `image1.png`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryTables {
    pub sql: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoWrite {
    pub(crate) todos: Vec<TodoItem>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Of a todo that is kept
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// What to know for it; shown while it is worked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When it is done; shown with it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_criteria: Option<String>,
    /// Of the instructions' agents, who should do it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Place in the list, from 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// Of a cancelled one: why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoListArguments {
    /// pending, in_progress, completed, cancelled or all
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoComplete {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoRewind {
    pub(crate) issue: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonArgument {
    pub(crate) reason: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextArgument {
    pub(crate) text: String,
}

// See `crate::job::lessons::Lesson`; a doc comment would be shown to the model.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LessonArguments {
    pub(crate) text: String,
    /// What it was learnt from
    pub(crate) evidence: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobComplete {
    pub(crate) summary: String,
    /// Paths under output/
    pub(crate) deliverables: Vec<String>,
    /// 0 to 1
    pub(crate) confidence: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) notes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<CompletionStatus>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delegate {
    /// Of the instructions' agents
    pub agent_type: String,
    pub task: String,
    /// What it should know; it sees nothing of this conversation
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleFinding {
    pub(crate) id: String,
    pub(crate) reason: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveVerdict {
    pub verdict: Judgement,
    /// Of a rejected result: what is wrong, one by one
    #[serde(default)]
    pub findings: Vec<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    Accept,
    Reject,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct Fault {
    /// What is wrong, and what it should be
    pub text: String,
    /// Where in the deliverable: a path in its JSON, or a heading
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Of the document, word for word
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompletionStatus {
    Complete,
    Blocked,
}
