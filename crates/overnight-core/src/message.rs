//! The types that a model and the runner exchange: messages, tool calls, replies, usage.

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
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, normally an object.
    pub arguments: Value,
}

/// One message of a prompt, in the order of the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The first message.
    System {
        /// The system prompt, the same for the whole job.
        text: String,
    },
    /// A message from the runner.
    User {
        /// The text, in Markdown.
        text: String,
        /// The images that the text mentions, in its order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// A message from the model.
    Assistant {
        /// The text; it may be empty if there are calls.
        text: String,
        /// The calls, in the order in which they are executed.
        calls: Vec<ToolCall>,
        /// Data that the vendor requires back with the message, unchanged: see [`Reply::carried`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Arc<Value>>,
    },
    /// The result of a call.
    Tool {
        /// The id of the call.
        call: String,
        /// The tool's name.
        name: String,
        /// The text that the tool returned.
        text: String,
        /// The images that the tool returned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

impl Message {
    /// A text message from the runner.
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
    /// SHA-256 of the bytes.
    pub sha256: String,
    /// Their media type: `image/png`.
    pub media: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Tokens, as counted by the vendor of the model for which the image was made.
    pub tokens: u64,
}

impl Image {
    /// The path relative to the workspace; the file name is the hash.
    pub fn path(&self) -> String {
        let ending = self.media.rsplit('/').next().unwrap_or_default();
        format!("tool_results/{}.{ending}", self.sha256)
    }
}

impl fmt::Display for Image {
    /// A placeholder for people who read a prompt: `[image, 1240×1754 pixels: tool_results/….png]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[image, {}×{} pixels: {}]", self.width, self.height, self.path())
    }
}

/// A text followed by its images, one per line.
pub fn with_images(text: &str, images: &[Image]) -> String {
    let images = images.iter().map(Image::to_string);
    std::iter::once(text.to_owned()).chain(images).collect::<Vec<_>>().join("\n")
}

/// Estimated tokens of images.
pub fn image_tokens(images: &[Image]) -> u64 {
    images.iter().map(|image| image.tokens).sum()
}

/// A tool as it is described to the model. `parameters` is a JSON Schema (draft 2020-12) of type object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name by which it is called.
    pub name: String,
    /// A description for the model.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Value,
}

/// Everything that a model is given for one turn, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prompt {
    /// The tools, the same for the whole job.
    pub tools: Arc<[ToolSpec]>,
    /// The messages in wire order, shared with the history that they come from.
    pub messages: Vec<Arc<Message>>,
    /// The bytes of the images in the messages, by hash; the sender of the prompt fills them in.
    #[serde(skip)]
    pub image_bytes: BTreeMap<String, Arc<[u8]>>,
    /// How much the model should reason in this turn, in its vendor's term; `None` means the default.
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

    /// The messages in wire order.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.messages.iter().map(Arc::as_ref)
    }

    /// Every image in it.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.messages().flat_map(Message::images)
    }
}

/// The provider's counts for a turn: `input` includes `cached` and `cache_written`; `output` includes `reasoning`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the whole prompt.
    pub input: u64,
    /// Tokens of the whole reply.
    pub output: u64,
    /// Tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub cached: u64,
    /// Tokens written to the provider's cache.
    #[serde(default, skip_serializing_if = "crate::amount::is_zero")]
    pub cache_written: u64,
    /// Tokens spent on reasoning.
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

/// The service tier: how soon a provider answers, and at what price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The usual speed and price.
    #[default]
    Standard,
    /// Answered when the provider has capacity, at a lower price.
    Flex,
    /// Answered within hours, in a batch with other calls, at half the price.
    Batch,
}

impl Tier {
    /// All tiers.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Flex, Self::Batch];

    /// The tier's name, as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Flex => "flex",
            Self::Batch => "batch",
        }
    }

    /// Reads a tier from its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// Whether it is the standard tier; such fields are left out of stored forms.
    pub fn is_standard(&self) -> bool {
        *self == Self::Standard
    }
}

/// A model's answer to one prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text beside the calls.
    pub text: String,
    /// The calls, in the order in which they are executed.
    pub calls: Vec<ToolCall>,
    /// Tokens as the provider counted them.
    pub usage: Usage,
    /// Why the model stopped, which shows whether the reply is complete.
    pub stop: Stop,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Reasoning and signatures that the vendor requires back with this reply, in the vendor's own shape, under the
    /// name of the wire format: `{"anthropic": [...]}`. Other wire formats leave it out.
    pub carried: Option<Arc<Value>>,
    /// The tier at which the provider answered, if it states one.
    pub tier: Option<Tier>,
    /// The repairs that were needed to read the reply, one sentence each.
    pub mended: Vec<String>,
}

/// The nesting depth that foreign JSON may have. JSON readers stop at 128 levels, and a line of the journal has levels
/// of its own: deeper JSON could be written but never be read again.
pub const MOST_LEVELS: usize = 64;

/// Arguments in a form that the journal can hold: too deeply nested ones become text, which no tool accepts.
pub fn readable(arguments: Value) -> Value {
    if is_within(&arguments, MOST_LEVELS) { arguments } else { Value::String(arguments.to_string()) }
}

/// Whether a value has at most `levels` levels of nesting.
pub fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(_) | Value::Object(_) if levels == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(fields) => fields.values().all(|field| is_within(field, levels - 1)),
    }
}
