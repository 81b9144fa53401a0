//! What the formats share: a request read, a reply to be said, and who reads and says it.

use super::{anthropic, cache::Block, check::Checked, gemini, http::Asking, ollama, openai, responses};
use overnight_core::message::{Prompt, Stop, Usage};
use serde_json::Value;

/// A vendor's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    OpenAi,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

/// A request, read.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of a request")]
pub(super) struct Asked {
    pub(super) prompt: Prompt,
    pub(super) model: String,
    pub(super) streams: bool,
    /// The stream is to end with what was used.
    pub(super) wants_usage: bool,
    /// Whether the reply is to begin with reasoning; `None`: as the server is set up.
    pub(super) thinks: Option<bool>,
    /// Reasoning is given in a form in which it can come back.
    pub(super) seals: bool,
    /// The model's thoughts are bound to what was sent before them.
    pub(super) is_bound: bool,
    /// Reasoning came back with the request.
    pub(super) returns: bool,
    /// At the tier that is cheap and may have no room.
    pub(super) is_flex: bool,
    /// The prompt as a cache sees it.
    pub(super) blocks: Vec<Block>,
}

impl Asked {
    pub(super) fn new(prompt: Prompt, model: &str, streams: bool) -> Self {
        Self {
            prompt,
            model: model.to_owned(),
            streams,
            wants_usage: true,
            thinks: None,
            seals: true,
            is_bound: false,
            returns: false,
            is_flex: false,
            blocks: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) id: String,
    pub(super) name: String,
    /// The text that should be an object.
    pub(super) arguments: String,
}

/// A thought as it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thought {
    /// What a person may read of it.
    pub(super) text: String,
    pub(super) signature: String,
}

/// A reply, before it is written in a format.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The how-manieth reply of the server it is.
    pub(super) number: u64,
    pub(super) model: String,
    /// The first at the beginning, each other before the call of its number.
    pub(super) thoughts: Vec<Thought>,
    pub(super) text: String,
    pub(super) calls: Vec<Called>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
    /// Letters of text or arguments in one event.
    pub(super) letters: usize,
}

/// A streamed reply: its events as they go on the wire.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    pub(super) said: Vec<String>,
    /// From the event on that says that the reply is complete.
    pub(super) end: Vec<String>,
}

/// What a vendor refuses, with its own word for the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    BadRequest,
    TooLong,
    Key,
    NotFound,
    Rate,
    NoFlex,
    Server,
    Unavailable,
    Overloaded,
}

impl Refusal {
    pub(super) fn status(self) -> u16 {
        match self {
            Self::BadRequest | Self::TooLong => 400,
            Self::Key => 401,
            Self::NotFound => 404,
            Self::Rate | Self::NoFlex => 429,
            Self::Server => 500,
            Self::Unavailable => 503,
            Self::Overloaded => 529,
        }
    }
}

impl Format {
    pub(crate) const ALL: [Self; 5] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama, Self::Responses];

    /// As `--model` names it, but for OpenAI's second format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// A model for which the most rules hold.
    pub(crate) fn strictest(self) -> &'static str {
        match self {
            Self::OpenAi => "deepseek-v4-pro",
            Self::Responses => "gpt-6-sol",
            Self::Anthropic => "claude-opus-5-5",
            Self::Gemini => "gemini-4-argon",
            Self::Ollama => "able-agent",
        }
    }

    /// What stands between the server and the paths of the format; ends as base URLs do.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses => "v1/",
            Self::Gemini => "v1beta/",
            Self::Anthropic | Self::Ollama => "",
        }
    }

    /// Whose address `path` is.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/responses" => Some(Self::Responses),
            "/v1/messages" => Some(Self::Anthropic),
            "/api/chat" => Some(Self::Ollama),
            _ if path.starts_with("/v1beta/models/") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// Whose words to use where no address is right.
    pub(super) fn near(asking: &Asking) -> Self {
        match asking.path() {
            path if path.starts_with("/v1beta") => Self::Gemini,
            path if path.starts_with("/api") => Self::Ollama,
            _ if asking.header("anthropic-version").is_some() => Self::Anthropic,
            _ => Self::OpenAi,
        }
    }

    /// The key that came with a request.
    pub(super) fn key(self, asking: &Asking) -> Option<String> {
        match self {
            Self::OpenAi | Self::Responses | Self::Ollama => {
                asking.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned)
            }
            Self::Anthropic => asking.header("x-api-key").map(str::to_owned),
            Self::Gemini => asking.header("x-goog-api-key").map(str::to_owned),
        }
    }

    pub(super) fn read(self, asking: &Asking, body: &Value) -> Checked<Asked> {
        match self {
            Self::OpenAi => openai::read(body),
            Self::Responses => responses::read(body),
            Self::Anthropic => anthropic::read(asking, body),
            Self::Gemini => gemini::read(asking, body),
            Self::Ollama => ollama::read(body),
        }
    }

    pub(super) fn events(self, asked: &Asked, said: &Said) -> Events {
        match self {
            Self::OpenAi => openai::events(asked, said),
            Self::Responses => responses::events(asked, said),
            Self::Anthropic => anthropic::events(said),
            Self::Gemini => gemini::events(said),
            Self::Ollama => ollama::events(said),
        }
    }

    pub(super) fn whole(self, asked: &Asked, said: &Said) -> Value {
        match self {
            Self::OpenAi => openai::whole(said),
            Self::Responses => responses::whole(asked, said),
            Self::Anthropic => anthropic::whole(said),
            Self::Gemini => gemini::whole(said),
            Self::Ollama => ollama::whole(said),
        }
    }

    pub(super) fn status(self, refusal: Refusal) -> u16 {
        match (self, refusal) {
            (Self::Gemini, Refusal::Key) => 400,
            (_, refusal) => refusal.status(),
        }
    }

    /// The body of a refusal.
    pub(super) fn refusal(self, refusal: Refusal, words: &str) -> Value {
        match self {
            Self::OpenAi | Self::Responses => openai::refusal(refusal, words),
            Self::Anthropic => anthropic::refusal(refusal, words),
            Self::Gemini => gemini::refusal(refusal, words),
            Self::Ollama => ollama::refusal(words),
        }
    }

    /// What the vendor says of a prompt of `tokens` where it takes `most`.
    pub(super) fn too_long(self, tokens: u64, most: u64) -> String {
        match self {
            Self::OpenAi => format!(
                "This model's maximum context length is {most} tokens. However, your messages resulted in {tokens} tokens. \
                 Please reduce the length of the messages."
            ),
            Self::Responses => {
                "Your input exceeds the context window of this model. Please adjust your input and try again."
                    .to_owned()
            }
            Self::Anthropic => format!("prompt is too long: {tokens} tokens > {most} maximum"),
            Self::Gemini => {
                format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most}).")
            }
            Self::Ollama => format!(
                "the request exceeds the available context size, try increasing it: {tokens} tokens, {most} available"
            ),
        }
    }

    /// An error in the middle of a stream.
    pub(super) fn error_event(self, words: &str) -> String {
        let body = self.refusal(Refusal::Overloaded, words);
        match self {
            Self::OpenAi => format!("data: {body}\n\n"),
            Self::Responses => responses::error_event(words),
            Self::Anthropic => format!("event: error\ndata: {body}\n\n"),
            Self::Gemini => format!("data: {body}\r\n\r\n"),
            Self::Ollama => format!("{body}\n"),
        }
    }

    pub(super) fn stream_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses | Self::Anthropic => "text/event-stream; charset=utf-8",
            Self::Gemini => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }
}

/// A text in pieces of so many letters.
pub(super) fn pieces(text: &str, letters: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(letters).map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
