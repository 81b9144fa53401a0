//! The words that a model and the runner exchange: messages, tool calls, replies, usage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, fmt, sync::Arc};

/// One call of a tool in a reply. `arguments` is a JSON object; a reply whose arguments could not be read as JSON
/// carries the raw text as a JSON string, and the tool answers with an error that the model can act on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Unique in the job: `call_12_1`.
    pub id: String,
    /// Of the tool, as the model wrote it.
    pub name: String,
    /// An object, as a rule.
    pub arguments: Value,
}

/// One message of a prompt, in the order of the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The first message.
    System {
        /// The same for the whole job.
        text: String,
    },
    /// From the runner.
    User {
        /// In Markdown.
        text: String,
        /// What the text tells of, in its order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// From the model.
    Assistant {
        /// May be empty where there are calls.
        text: String,
        /// In the order in which they are done.
        calls: Vec<ToolCall>,
        /// What the vendor wants back with it, as it came: see [`Reply::carried`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Arc<Value>>,
    },
    /// The result of a call.
    Tool {
        /// The id of the call.
        call: String,
        /// Of the tool.
        name: String,
        /// What it gave back.
        text: String,
        /// What it gave back to be looked at.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

impl Message {
    /// Words of the runner.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// The images of the message.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::Tool { images, .. } => images,
            Self::System { .. } | Self::Assistant { .. } => &[],
        }
    }
}

/// An image in a message. Its bytes lie in the workspace, in [`Image::path`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Of the bytes.
    pub sha256: String,
    /// Their media type: `image/png`.
    pub media: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// As the vendor of the model counts that it was made for.
    pub tokens: u64,
}

impl Image {
    /// Relative to the workspace: the name is the hash.
    pub fn path(&self) -> String {
        let ending = self.media.rsplit('/').next().unwrap_or_default();
        format!("tool_results/{}.{ending}", self.sha256)
    }
}

impl fmt::Display for Image {
    /// For who reads a prompt: `[image, 1240×1754 pixels: tool_results/….png]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[image, {}×{} pixels: {}]", self.width, self.height, self.path())
    }
}

/// A text and, a line each, the images that go with it.
pub fn with_images(text: &str, images: &[Image]) -> String {
    let images = images.iter().map(Image::to_string);
    std::iter::once(text.to_owned()).chain(images).collect::<Vec<_>>().join("\n")
}

/// Estimated tokens of images.
pub fn image_tokens(images: &[Image]) -> u64 {
    images.iter().map(|image| image.tokens).sum()
}

/// A tool as the model is told of it. `parameters` is a JSON Schema (draft 2020-12) of type object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// As it is called.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Of its arguments.
    pub parameters: Value,
}

/// All that a model is handed for one turn, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prompt {
    /// The same for the whole job.
    pub tools: Arc<[ToolSpec]>,
    /// In the order of the wire; shared with the history that they come from.
    pub messages: Vec<Arc<Message>>,
    /// The bytes of the images in them, by their hashes: whoever sends a prompt fills them in.
    #[serde(skip)]
    pub image_bytes: BTreeMap<String, Arc<[u8]>>,
    /// How much the model is to reason for this turn, in its vendor's word; none: as usual.
    #[serde(skip)]
    pub effort: Option<String>,
}

impl Prompt {
    /// A prompt of its own messages.
    pub fn new(tools: Arc<[ToolSpec]>, messages: impl IntoIterator<Item = Message>) -> Self {
        Self::of_history(tools, messages.into_iter().map(Arc::new).collect())
    }

    /// A prompt of a history's messages.
    pub fn of_history(tools: Arc<[ToolSpec]>, messages: Vec<Arc<Message>>) -> Self {
        Self { tools, messages, image_bytes: BTreeMap::new(), effort: None }
    }

    /// In the order of the wire.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.messages.iter().map(Arc::as_ref)
    }

    /// Every image in it.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.messages().flat_map(Message::images)
    }
}

/// Tokens of one turn as the provider counted them. `input` includes `cached` and `cache_written`; `output` includes `reasoning`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Of the whole prompt.
    pub input: u64,
    /// Of the whole reply.
    pub output: u64,
    /// Read from the provider's cache.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub cached: u64,
    /// Written to the provider's cache.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub cache_written: u64,
    /// Spent on thinking.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub reasoning: u64,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done, with or without tool calls.
    Done,
    /// The reply was cut at the token limit: its calls may be torn and are never run.
    Length,
    /// The provider withheld the reply.
    Refused,
}

/// How soon and how dearly a provider answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// As usual.
    #[default]
    Standard,
    /// When the provider has room, for less.
    Flex,
    /// Gathered with other calls, within hours, for half.
    Batch,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Flex, Self::Batch];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Flex => "flex",
            Self::Batch => "batch",
        }
    }

    /// Read from its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// For fields that are left out where nothing is special.
    pub fn is_standard(&self) -> bool {
        *self == Self::Standard
    }
}

/// A model's answer to one prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What it says beside its calls.
    pub text: String,
    /// In the order in which they are done.
    pub calls: Vec<ToolCall>,
    /// As the provider counted.
    pub usage: Usage,
    /// Whether it is whole.
    pub stop: Stop,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Reasoning and signatures that the vendor demands back with this reply, in the vendor's own shape, under the name of
    /// the wire format: `{"anthropic": [...]}`. Other wire formats leave it out.
    pub carried: Option<Arc<Value>>,
    /// The tier at which the provider says that it answered; none where it doesn't.
    pub tier: Option<Tier>,
    /// What had to be repaired to read it, one sentence each.
    pub mended: Vec<String>,
}

/// How deep JSON of somebody else may be nested. Readers of JSON stop at 128, and the journal's line has levels of its own:
/// what is deeper could be written and never be read again.
pub const MOST_LEVELS: usize = 64;

/// Arguments as the journal can hold them: what is nested too deep stays as its text, which no tool takes for arguments.
pub fn readable(arguments: Value) -> Value {
    if is_within(&arguments, MOST_LEVELS) { arguments } else { Value::String(arguments.to_string()) }
}

/// Whether a value is nested no deeper than that.
pub fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(_) | Value::Object(_) if levels == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(fields) => fields.values().all(|field| is_within(field, levels - 1)),
    }
}
