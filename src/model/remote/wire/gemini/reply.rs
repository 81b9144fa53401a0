//! A reply of the Gemini API, streamed or whole. The format has no mark of its end but the reason why the model stopped.

use super::{error, kind};
use crate::model::{
    Failure, FailureKind,
    remote::wire::{
        Decode, RawCall, RawReply,
        call_parts::{malformed, text},
        error_response::in_reply,
        fields::{DONE, MOST_PARTS, broken, count, read, too_many},
    },
    retry,
};
use overnight_core::message::{MOST_LEVELS, Stop, Usage, is_within};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The reply as read so far.
#[derive(Debug, Default)]
pub(super) struct GeminiReply {
    text: String,
    calls: Vec<RawCall>,
    /// As they came, except that adjacent texts without a signature are joined, and thoughts are left out.
    parts: Vec<Map<String, Value>>,
    model: String,
    usage: Option<Usage>,
    stop: Option<Stop>,
    /// The stream ended in another vendor's way.
    is_over: bool,
    /// The last response had token counts, as only the last one has them.
    is_counted: bool,
}

impl Decode for GeminiReply {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<(), Failure> {
        if self.is_complete() || data.trim().is_empty() {
            return Ok(());
        }
        if data.trim() == DONE {
            self.is_over = true;
            return Ok(());
        }
        let event = read(data)?;
        self.take(&event)
    }

    /// One response, or a list of all that would have been streamed.
    fn whole(&mut self, body: &str) -> Result<(), Failure> {
        match read(body)? {
            Value::Array(responses) => responses.iter().try_for_each(|response| self.take(response))?,
            response => self.take(&response)?,
        }
        // A complete body can't have been cut off; but one without any content is no reply.
        self.is_over = true;
        Ok(())
    }

    fn is_complete(&self) -> bool {
        if self.stop.is_some() { self.usage.is_some() } else { self.is_over }
    }

    fn finish(self: Box<Self>) -> Result<RawReply, Failure> {
        // Calls are never cut here: after them, counts mark the end as well as the reason that some servers never give.
        let is_whole = self.is_over && (!self.text.is_empty() || !self.calls.is_empty());
        let is_whole = is_whole || (self.is_counted && !self.calls.is_empty());
        let stop = self.stop.or(is_whole.then_some(Stop::Done)).ok_or_else(broken)?;
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
        let (is_counted, is_first) = (response["usageMetadata"].is_object(), self.usage.is_none());
        self.count(&response["usageMetadata"]);
        let candidate = &response["candidates"][0];
        // Counts come with each response, or with the last alone.
        self.is_counted = is_counted && (is_first || is_silent(candidate));
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

    /// Counts come with each response, for the whole reply so far; a later response without them doesn't clear them.
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
            // STOP, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS, and later additions of the vendor.
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

/// Whether it has neither text nor calls.
fn is_silent(candidate: &Value) -> bool {
    let parts = candidate["content"]["parts"].as_array();
    parts.into_iter().flatten().all(|part| part.get("functionCall").is_none() && text(part, "text").is_empty())
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

/// The wait that the server requests: `"17s"`, `"17.5s"` in the details of an error.
pub(super) fn retry_after(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    retry::asked(delay.strip_suffix('s')?.parse().ok()?)
}
