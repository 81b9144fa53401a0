//! A reply of the Gemini API, streamed or whole. The format has no mark of its end but the reason why the model stopped.

use super::{error, kind};
use crate::model::{
    Failure, FailureKind,
    remote::wire::{
        Decode, RawCall, RawReply,
        call_parts::{malformed, text},
        error_response::in_reply,
        fields::{MOST_PARTS, broken, count, read, too_many},
    },
};
use overnight_core::message::{MOST_LEVELS, Stop, Usage, is_within};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The reply as read so far.
#[derive(Debug, Default)]
pub(super) struct GeminiReply {
    text: String,
    calls: Vec<RawCall>,
    /// As they came, but for texts without a signature: neighbours are one, and thoughts are left out.
    parts: Vec<Map<String, Value>>,
    model: String,
    usage: Option<Usage>,
    stop: Option<Stop>,
}

impl Decode for GeminiReply {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<(), Failure> {
        // Some servers in between end every stream as another vendor's.
        if self.is_complete() || matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event = read(data)?;
        self.take(&event)
    }

    /// One response, or a list of all that would have been streamed.
    fn whole(&mut self, body: &str) -> Result<(), Failure> {
        match read(body)? {
            Value::Array(responses) => responses.iter().try_for_each(|response| self.take(response)),
            response => self.take(&response),
        }
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some() && self.usage.is_some()
    }

    fn finish(self: Box<Self>) -> Result<RawReply, Failure> {
        let stop = self.stop.ok_or_else(broken)?;
        let carried = self.carried();
        Ok(RawReply {
            text: self.text,
            calls: self.calls,
            usage: self.usage,
            stop: Some(stop),
            tier: None,
            model: self.model,
            carried,
        })
    }
}

impl GeminiReply {
    fn take(&mut self, response: &Value) -> Result<(), Failure> {
        if let Some(error) = error(response) {
            let failure = in_reply(error);
            let kind = kind(error).unwrap_or(failure.kind);
            return Err(Failure { kind, retry_after: retry_after(error), ..failure });
        }
        if !response.is_object() {
            return Err(malformed("what the server sent is no response: it is not an object"));
        }
        if !text(response, "modelVersion").is_empty() {
            text(response, "modelVersion").clone_into(&mut self.model);
        }
        self.count(&response["usageMetadata"]);
        let candidate = &response["candidates"][0];
        if let Some(parts) = candidate["content"]["parts"].as_array() {
            parts.iter().try_for_each(|part| self.part(part))?;
        }
        self.end(text(candidate, "finishReason"))?;
        if !text(&response["promptFeedback"], "blockReason").is_empty() {
            self.stop = Some(Stop::Refused);
        }
        Ok(())
    }

    fn part(&mut self, part: &Value) -> Result<(), Failure> {
        let Value::Object(fields) = part else {
            return Ok(());
        };
        let said = text(part, "text");
        let is_thought = part["thought"] == true;
        if let Some(call) = part.get("functionCall") {
            self.calls.push(RawCall {
                id: text(call, "id").to_owned(),
                name: text(call, "name").to_owned(),
                arguments: arguments(&call["args"]),
            });
        } else if !is_thought {
            self.text.push_str(said);
        }
        let is_plain = |fields: &Map<String, Value>| fields.len() == 1 && fields.contains_key("text");
        if is_plain(fields) {
            if said.is_empty() {
                return Ok(());
            }
            if let Some(Value::String(all)) =
                self.parts.last_mut().filter(|last| is_plain(last)).and_then(|last| last.get_mut("text"))
            {
                all.push_str(said);
                return Ok(());
            }
        } else if is_thought && !is_signed(fields) {
            return Ok(());
        }
        if self.parts.len() >= MOST_PARTS {
            return Err(too_many());
        }
        self.parts.push(fields.clone());
        Ok(())
    }

    /// Counts come with each response, for all that was said so far; a later response without them doesn't take them back.
    fn count(&mut self, usage: &Value) {
        if usage.is_object() {
            let thought = count(usage, "thoughtsTokenCount");
            let all = self.usage.get_or_insert_default();
            all.input = all.input.max(count(usage, "promptTokenCount"));
            all.cached = all.cached.max(count(usage, "cachedContentTokenCount"));
            all.output = all.output.max(count(usage, "candidatesTokenCount").saturating_add(thought));
            all.reasoning = all.reasoning.max(thought);
        }
    }

    fn end(&mut self, reason: &str) -> Result<(), Failure> {
        self.stop = match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => self.stop,
            "MAX_TOKENS" => Some(Stop::Length),
            "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "LANGUAGE" => Some(Stop::Refused),
            "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "OTHER" => {
                return Err(malformed(format!("the server could not read what its model said ({reason})")));
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                let reason = format!("the server misses a signature of its model's thoughts ({reason})");
                return Err(Failure::new(FailureKind::BadRequest, reason));
            }
            // STOP, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS, and what the vendor adds later.
            _ => Some(Stop::Done),
        };
        Ok(())
    }

    /// All parts, if one of them is signed.
    fn carried(&self) -> Option<Value> {
        let parts = self.parts.iter().any(is_signed).then(|| json!(self.parts))?;
        is_within(&parts, MOST_LEVELS).then_some(parts)
    }
}

fn is_signed(part: &Map<String, Value>) -> bool {
    part.contains_key("thoughtSignature")
}

fn arguments(args: &Value) -> String {
    match args {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => args.to_string(),
    }
}

/// How long the server asks to be left alone: `"17s"`, `"17.5s"` in the details of an error.
pub(super) fn retry_after(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}
