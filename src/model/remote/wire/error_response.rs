//! Classifies error responses in any shape; the same for all wire formats, because a proxy, a gateway, or a server with
//! another vendor's format answers in a shape of its own.

use crate::model::{Failure, FailureKind};
use serde_json::{Map, Value};

/// Characters of a server's own words that are shown.
const MOST_WORDS: usize = 300;

/// The most characters of them that are read to find their meaning.
const MOST_READ: usize = 4_096;

/// The most bytes of a text or page that are searched for the words.
const MOST_PAGE: usize = 64 * 1024;

/// The meaning of a status other than 200 if nothing else is known.
pub fn by_status(status: u16) -> FailureKind {
    match status {
        // A redirect isn't followed, as the key would go with it: the address is another.
        300..=399 | 404 => FailureKind::NotFound,
        401 | 403 => FailureKind::KeyRefused,
        402 => FailureKind::QuotaUsed,
        408 => FailureKind::TimedOut,
        409 => FailureKind::Conflict,
        // Too many bytes or tokens: a shorter prompt has fewer of both.
        413 => FailureKind::ContextLength,
        429 => FailureKind::RateLimited,
        400..=499 => FailureKind::BadRequest,
        503 | 529 => FailureKind::Overloaded,
        500..=599 => FailureKind::Server,
        0..=299 | 600..=u16::MAX => FailureKind::Malformed,
    }
}

/// Phrases and codes, in small letters, with which servers state that prompt and reply don't fit in the model's window,
/// or that the request is too large for a server on the way.
const TOO_LONG: [&str; 44] = [
    // OpenAI, Azure, vLLM, SGLang, llama.cpp, LM Studio, Mistral, DeepSeek, Cerebras, Together, OpenRouter, Ollama
    "context_length",
    "context length",
    "context size",
    "context window",
    "context limit",
    "exceed_context",
    "exceeds the available context",
    "reduce the length of",
    "string_above_max_length",
    "string too long",
    "maximum model length",
    "max_model_len",
    // Anthropic, Bedrock
    "prompt is too long",
    "prompt too long",
    "prompt_too_long",
    "input is too long",
    "input too long",
    "request_too_large",
    "input tokens exceed",
    "exceeds maximum length",
    "exceeds max length",
    // Gemini
    "input token count",
    // xAI, Moonshot, Cohere, Copilot
    "maximum prompt length",
    "model token limit",
    "too many tokens",
    "too many input tokens",
    "max_tokens_exceeded",
    "max_prompt_tokens_exceeded",
    "prompt token count",
    // TGI, TensorRT-LLM, MLC, tabbyAPI, SiliconFlow, Volcengine, Groq, DashScope
    "tokens + `max_new_tokens`",
    "maximum input length",
    "input length limit",
    "max_seq_len",
    "max message tokens",
    "tokens in request more than max",
    "range of input length",
    "input length should be",
    // Gateways, about bytes
    "entity too large",
    "entity_too_large",
    "payload too large",
    "content too large",
    "body too large",
    "body is too large",
    "request too large",
];

/// Codes that are numbers or say less than these words: Mistral's, Zhipu's.
const TOO_LONG_CODES: [&str; 2] = ["3051", "1261"];

/// Words for the long thing and for its being too long, for refusals without a known phrase. Tokens per minute and
/// limits of other fields use other words for what they count.
const LONG_THINGS: [&str; 7] = ["prompt", "input", "context", "message", "conversation", "sequence", "request"];
const BEING_LONG: [&str; 9] = [
    "too long",
    "too large",
    "too big",
    "exceed",
    "longer than",
    "larger than",
    "greater than",
    "more than",
    "over the limit",
];
const LENGTHS: [&str; 3] = ["token", "length", "too long"];
/// Words that show that the limit is a different one.
const OTHER_BOUNDS: [&str; 6] = ["per minute", "a minute", "per day", "rate limit", "quota", "tool_calls"];

/// Whether a server's words say that prompt and reply don't fit in the model's window.
pub fn speaks_of_length(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    TOO_LONG.iter().any(|said| text.contains(said))
}

/// Whether unknown wording says the same. Only for a refusal that blames the request.
fn speaks_of_some_length(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&LONG_THINGS) && has(&BEING_LONG) && has(&LENGTHS) && !has(&OTHER_BOUNDS)
}

/// The server's own words for an error, in one line of at most 300 characters; empty where it has none.
pub fn words(body: &str) -> String {
    shown(&ErrorDetails::of(body).words)
}

/// The kind of failure for a status other than 200, by status, codes and words; and those words.
pub fn refusal(status: u16, body: &str) -> (FailureKind, String) {
    let said = ErrorDetails::of(body);
    (kind(status, &said), shown(&said.words))
}

/// The failure that an error within a reply of status 200 stands for. `error` is the error alone.
pub fn in_reply(error: &Value) -> Failure {
    let mut said = ErrorDetails::default();
    said.hear(error, 0);
    let kind = match (said.status, by_codes(&said)) {
        (Some(status), _) => Some(kind(status, &said)),
        // Such an error mentions tokens too: those per minute.
        (None, Some(FailureKind::RateLimited)) => {
            by_words(&said).filter(|kind| *kind == FailureKind::QuotaUsed).or(Some(FailureKind::RateLimited))
        }
        (None, named) => by_words(&said).or(named),
    };
    let words = shown(&said.words);
    let words = if words.is_empty() { shown(&said.codes.join(" ")) } else { words };
    let reason = if words.is_empty() {
        "the server answered with an error that has no words".to_owned()
    } else {
        format!("the server answered with an error: {words}")
    };
    Failure::new(kind.unwrap_or(FailureKind::Server), reason)
}

fn kind(status: u16, said: &ErrorDetails) -> FailureKind {
    let usual = by_status(status);
    let told = by_words(said);
    match usual {
        FailureKind::BadRequest | FailureKind::ContextLength => {
            let named = || by_codes(said).filter(|kind| !matches!(kind, FailureKind::Server | FailureKind::BadRequest));
            let is_long = || speaks_of_some_length(&said.words).then_some(FailureKind::ContextLength);
            told.or_else(named).or_else(is_long).unwrap_or(usual)
        }
        FailureKind::KeyRefused => told.unwrap_or(usual),
        FailureKind::Server => {
            told.or_else(|| by_codes(said).filter(|kind| *kind == FailureKind::Overloaded)).unwrap_or(usual)
        }
        FailureKind::RateLimited => told.filter(|kind| *kind == FailureKind::QuotaUsed).unwrap_or_else(|| {
            // A single request above the limit per minute never succeeds by waiting.
            if said.speaks_of(&["request too large"]) { FailureKind::ContextLength } else { usual }
        }),
        FailureKind::Overloaded
        | FailureKind::NoRoom
        | FailureKind::Unanswered
        | FailureKind::TimedOut
        | FailureKind::Conflict
        | FailureKind::Stalled
        | FailureKind::Unreachable
        | FailureKind::BrokenStream
        | FailureKind::Unfinished
        | FailureKind::Malformed
        | FailureKind::HistoryRefused
        | FailureKind::NotFound
        | FailureKind::QuotaUsed
        | FailureKind::Exhausted => usual,
    }
}

/// Phrases of vendors that state that reasoning does not belong to the history or account with which it was sent back:
/// Anthropic's two errors, OpenAI's, Google's.
const HISTORY_REFUSED: [&str; 4] = [
    "bound to a different conversation",
    "invalid `signature` in `thinking` block",
    "invalid_encrypted_content",
    "thought signature is not valid",
];

/// The kind that is certain from codes and words, whatever the status is.
fn by_words(said: &ErrorDetails) -> Option<FailureKind> {
    if said.speaks_of(&["insufficient_quota", "billing_hard_limit_reached", "credit balance is too low"])
        || said.speaks_of(&["insufficient balance", "insufficient credits", "billing_not_active"])
    {
        Some(FailureKind::QuotaUsed)
    } else if said.speaks_of(&["api_key_invalid", "invalid_api_key", "api key not valid"]) {
        Some(FailureKind::KeyRefused)
    } else if said.speaks_of(&HISTORY_REFUSED) {
        Some(FailureKind::HistoryRefused)
    } else if said.speaks_of(&["model_not_found"]) {
        Some(FailureKind::NotFound)
    } else if speaks_of_length(&said.words)
        || said.codes.iter().any(|code| speaks_of_length(code) || TOO_LONG_CODES.contains(&code.as_str()))
    {
        Some(FailureKind::ContextLength)
    } else {
        None
    }
}

/// The meaning of vendors' names of errors.
fn by_codes(said: &ErrorDetails) -> Option<FailureKind> {
    said.codes.iter().find_map(|code| match code.to_ascii_lowercase().as_str() {
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "rate_limit_reached_error"
        | "resource_exhausted"
        | "too_many_requests"
        | "tokens"
        | "requests" => Some(FailureKind::RateLimited),
        "overloaded_error"
        | "overloaded"
        | "engine_overloaded_error"
        | "unavailable"
        | "unavailable_error"
        | "service_unavailable" => Some(FailureKind::Overloaded),
        "timeout" | "timeout_error" | "deadline_exceeded" => Some(FailureKind::TimedOut),
        "authentication_error" | "permission_error" | "permission_denied" | "unauthenticated" => {
            Some(FailureKind::KeyRefused)
        }
        "billing_error" | "exceeded_current_quota_error" => Some(FailureKind::QuotaUsed),
        "not_found" | "not_found_error" => Some(FailureKind::NotFound),
        "invalid_request_error" | "invalid_argument" | "invalid_prompt" | "badrequesterror" => {
            Some(FailureKind::BadRequest)
        }
        "api_error" | "internal" | "internal_server_error" | "server_error" => Some(FailureKind::Server),
        _ => None,
    })
}

/// The words and codes found in an error response, before they are shortened.
#[derive(Debug, Default)]
struct ErrorDetails {
    words: String,
    /// Names of the error, as vendors give them in `code`, `type`, `status` and `reason`.
    codes: Vec<String>,
    /// A number among them that is a status.
    status: Option<u16>,
}

impl ErrorDetails {
    fn of(body: &str) -> Self {
        let mut said = Self::default();
        match serde_json::from_str::<Value>(body) {
            Ok(value) => said.hear(&value, 0),
            Err(_) => said.words = page(body),
        }
        said
    }

    fn speaks_of(&self, what: &[&str]) -> bool {
        let words = self.words.to_ascii_lowercase();
        what.iter().any(|what| words.contains(what) || self.codes.iter().any(|code| code.eq_ignore_ascii_case(what)))
    }

    fn hear(&mut self, value: &Value, level: usize) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(items) => {
                if let Some(first) = items.first().filter(|_| level < 4) {
                    self.hear(first, level + 1);
                }
            }
            Value::Object(fields) => self.hear_fields(fields, level),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn hear_fields(&mut self, fields: &Map<String, Value>, level: usize) {
        if level >= 4 {
            return;
        }
        for name in ["code", "type", "status", "reason"] {
            match fields.get(name) {
                Some(Value::String(code)) if code.len() <= 100 && self.codes.len() < 16 => {
                    self.codes.push(code.clone());
                    self.hear_status(code.parse().ok());
                }
                Some(Value::Number(number)) => {
                    let code = Some(number.to_string()).filter(|code| TOO_LONG_CODES.contains(&code.as_str()));
                    self.codes.extend(code.filter(|_| self.codes.len() < 16));
                    self.hear_status(number.as_u64());
                }
                Some(_) | None => {}
            }
        }
        // The first of these that has words; the later ones repeat them, or say less.
        for name in ["error", "message", "msg", "detail", "errors", "error_description"] {
            let before = self.words.len();
            if let Some(value) = fields.get(name) {
                self.hear(value, level + 1);
            }
            if self.words.len() > before {
                break;
            }
        }
        // A gateway states that "the provider returned an error" and adds the provider's own answer.
        if let Some(Value::String(raw)) = fields.get("metadata").and_then(|metadata| metadata.get("raw")) {
            match serde_json::from_str::<Value>(raw) {
                Ok(value) => self.hear(&value, level + 1),
                Err(_) => self.add(&page(raw)),
            }
        }
        if let Some(Value::Array(details)) = fields.get("details") {
            let reasons = details.iter().filter_map(|detail| detail.get("reason")?.as_str());
            self.codes.extend(reasons.take(4).filter(|reason| reason.len() <= 100).map(str::to_owned));
        }
    }

    fn hear_status(&mut self, number: Option<u64>) {
        let status = number.and_then(|number| u16::try_from(number).ok()).filter(|status| (400..600).contains(status));
        self.status = self.status.or(status);
    }

    fn add(&mut self, text: &str) {
        if !self.words.is_empty() && !text.trim().is_empty() {
            self.words.push_str(": ");
        }
        let room = MOST_READ.saturating_sub(self.words.chars().count());
        self.words.extend(text.trim().chars().take(room));
    }
}

/// The first line of a text, or the title of a page, or its first words.
fn page(body: &str) -> String {
    let body = &body[..body.floor_char_boundary(MOST_PAGE)];
    let lower = body.to_ascii_lowercase();
    if !lower.trim_start().starts_with('<') && !lower.contains("<html") {
        return body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().chars().take(MOST_READ).collect();
    }
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let end = start + lower[start..].find('<')?;
        Some(body[start..end].trim()).filter(|title| !title.is_empty())
    });
    title.map_or_else(|| without_tags(body).trim().chars().take(MOST_READ).collect(), str::to_owned)
}

fn without_tags(page: &str) -> String {
    let mut is_tag = false;
    page.chars()
        .filter_map(|char| {
            let was_tag = is_tag;
            is_tag = char == '<' || is_tag && char != '>';
            if char == '<' { Some(' ') } else { (!was_tag).then_some(char) }
        })
        .collect()
}

/// One line, bounded, without control characters, which must not reach a terminal.
fn shown(text: &str) -> String {
    let text: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST_WORDS) {
        Some(_) => {
            let mut cut: String = text.chars().take(MOST_WORDS - 1).collect();
            cut.push('…');
            cut
        }
        None => text,
    }
}

#[cfg(test)]
mod tests;
