//! A reply of the Messages API, streamed or whole. Blocks are known by the server's number for them and may come
//! interleaved; the number is compared, never counted to.

use super::{is_thinking, kind};
use crate::model::{
    Failure, FailureKind,
    remote::wire::{
        Decode, RawCall, RawReply,
        call_parts::{ArgumentPieces, malformed, text},
        error_response::in_reply,
        fields::{DONE, MOST_PARTS, broken, count, read, too_many},
    },
};
use overnight_core::message::{MOST_LEVELS, Stop, Usage, is_within};
use serde_json::{Map, Value, json};

/// The reply as read so far.
#[derive(Debug, Default)]
pub(super) struct MessagesReply {
    model: String,
    usage: Option<TokenCounts>,
    blocks: Vec<(u64, ReplyBlock)>,
    stop: Option<Stop>,
    /// Prompt and reply together did not fit in the model's window.
    is_over_window: bool,
    is_complete: bool,
    behind: Behind,
}

/// The data that came after all blocks, if no event says that the message is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Behind {
    #[default]
    Nothing,
    Counts,
    /// The end in another vendor's form, or the end of a body.
    Done,
}

#[derive(Debug)]
enum ReplyBlock {
    Text(String),
    Call {
        id: String,
        name: String,
        /// The input given when the block began: usually an empty object.
        given: Value,
        pieces: ArgumentPieces,
    },
    /// Sent back unchanged.
    Thinking(Map<String, Value>),
    Other,
}

/// The vendor's own counts: each input token is in one of three of them.
#[derive(Clone, Copy, Debug, Default)]
struct TokenCounts {
    fresh: u64,
    cached: u64,
    cache_written: u64,
    output: u64,
    thinking: u64,
}

impl Decode for MessagesReply {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Failure> {
        if self.is_complete() || data.trim().is_empty() {
            return Ok(());
        }
        if data.trim() == DONE {
            self.behind = Behind::Done;
            return Ok(());
        }
        let event = read(data)?;
        check(&event, name)?;
        let kind = match text(&event, "type") {
            "" => name.unwrap_or_default(),
            kind => kind,
        };
        match kind {
            "message_start" => self.begin(&event["message"]),
            "content_block_start" => self.open(event["index"].as_u64(), &event["content_block"])?,
            "content_block_delta" => self.grow(event["index"].as_u64(), &event["delta"])?,
            "message_delta" => {
                self.count(&event["usage"]);
                self.end(&event["delta"]);
                self.behind = if event["usage"].is_object() { Behind::Counts } else { Behind::Nothing };
            }
            "message_stop" => self.is_complete = true,
            // content_block_stop, ping, and later additions of the vendor.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &str) -> Result<(), Failure> {
        let message = read(body)?;
        check(&message, None)?;
        let Some(content) = message.get("content").and_then(Value::as_array) else {
            return Err(malformed("what the server sent is no message: it has no `content`"));
        };
        self.begin(&message);
        for (index, block) in (0..).zip(content) {
            self.open(Some(index), block)?;
        }
        self.end(&message);
        // A complete body can't have been cut off.
        self.behind = Behind::Done;
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete || self.behind == Behind::Done
    }

    fn finish(self: Box<Self>) -> Result<RawReply, Failure> {
        if self.is_over_window {
            return Err(Failure::new(
                FailureKind::ContextLength,
                "the prompt and its reply don't fit in the model's window",
            ));
        }
        let said = self.stop.or(self.is_complete.then_some(Stop::Done));
        let carried = self.carried(said.unwrap_or(Stop::Done));
        let usage = self.usage.map(TokenCounts::usage);
        let is_over = self.behind != Behind::Nothing && !self.blocks.is_empty();
        let mut heard = RawReply { usage, model: self.model, carried, ..RawReply::default() };
        for (_, block) in self.blocks {
            match block {
                ReplyBlock::Text(text) => heard.text.push_str(&text),
                ReplyBlock::Call { id, name, given, pieces } => {
                    heard.calls.push(RawCall { id, name, arguments: arguments(&given, pieces.whole()) });
                }
                ReplyBlock::Thinking(_) | ReplyBlock::Other => {}
            }
        }
        // Not every server states why a reply ends.
        let is_whole = is_over && heard.calls.iter().all(RawCall::is_whole);
        heard.stop = Some(said.or(is_whole.then_some(Stop::Done)).ok_or_else(broken)?);
        Ok(heard)
    }
}

impl MessagesReply {
    fn begin(&mut self, message: &Value) {
        text(message, "model").clone_into(&mut self.model);
        self.count(&message["usage"]);
    }

    /// Counts come at the beginning and again at the end, and only grow.
    fn count(&mut self, usage: &Value) {
        if usage.is_object() {
            let counts = self.usage.get_or_insert_default();
            counts.fresh = counts.fresh.max(count(usage, "input_tokens"));
            counts.cached = counts.cached.max(count(usage, "cache_read_input_tokens"));
            counts.cache_written = counts.cache_written.max(count(usage, "cache_creation_input_tokens"));
            counts.output = counts.output.max(count(usage, "output_tokens"));
            counts.thinking = counts.thinking.max(count(&usage["output_tokens_details"], "thinking_tokens"));
        }
    }

    fn end(&mut self, message: &Value) {
        self.stop = match text(message, "stop_reason") {
            "" => self.stop,
            "max_tokens" => Some(Stop::Length),
            "model_context_window_exceeded" => {
                self.is_over_window = true;
                Some(Stop::Length)
            }
            "refusal" => Some(Stop::Refused),
            // end_turn, tool_use, stop_sequence, pause_turn, and later additions of the vendor.
            _ => Some(Stop::Done),
        };
    }

    /// Begins a block, or takes a complete one. One that begins again with the same number is a new block.
    fn open(&mut self, index: Option<u64>, block: &Value) -> Result<(), Failure> {
        if self.blocks.len() >= MOST_PARTS {
            return Err(too_many());
        }
        let index = index.unwrap_or_else(|| self.blocks.last().map_or(0, |(last, _)| last.saturating_add(1)));
        let read = match (text(block, "type"), block) {
            ("text", _) => ReplyBlock::Text(text(block, "text").to_owned()),
            ("tool_use", _) => ReplyBlock::Call {
                id: text(block, "id").to_owned(),
                name: text(block, "name").to_owned(),
                given: block["input"].clone(),
                pieces: ArgumentPieces::default(),
            },
            (_, Value::Object(fields)) if is_thinking(block) => ReplyBlock::Thinking(fields.clone()),
            _ => ReplyBlock::Other,
        };
        self.behind = Behind::Nothing;
        self.blocks.push((index, read));
        Ok(())
    }

    /// A piece of a block. Without a number it belongs to the newest.
    fn grow(&mut self, index: Option<u64>, delta: &Value) -> Result<(), Failure> {
        let kind = text(delta, "type");
        let there = self.blocks.iter().rposition(|(number, _)| index.is_none_or(|index| index == *number));
        // Arguments with a number that no tool call has continue the last call.
        let block = |place: &usize| self.blocks.get(*place).map(|(_, block)| block);
        let is_call = |place: &usize| matches!(block(place), Some(ReplyBlock::Call { .. }));
        let takes = |place: &usize| is_call(place) || matches!(block(place), Some(ReplyBlock::Other));
        let there = match kind {
            "input_json_delta" => there.filter(takes).or_else(|| (0..self.blocks.len()).rev().find(is_call)),
            _ => there,
        };
        self.behind = Behind::Nothing;
        let Some((_, block)) = there.and_then(|place| self.blocks.get_mut(place)) else {
            // Some servers don't announce the beginning of a text.
            return match kind {
                "text_delta" => self.open(index, &json!({ "type": "text", "text": delta["text"] })),
                "input_json_delta" => Err(malformed("the server sent arguments of a tool call that never began")),
                _ => Ok(()),
            };
        };
        match (block, kind) {
            (ReplyBlock::Text(all), "text_delta") => all.push_str(text(delta, "text")),
            (ReplyBlock::Call { pieces, .. }, "input_json_delta") => pieces.push(text(delta, "partial_json"))?,
            (ReplyBlock::Thinking(fields), "thinking_delta") => {
                let piece = text(delta, "thinking");
                match fields.get_mut("thinking") {
                    Some(Value::String(all)) => all.push_str(piece),
                    Some(_) | None => {
                        fields.insert("thinking".to_owned(), json!(piece));
                    }
                }
            }
            (ReplyBlock::Thinking(fields), "signature_delta") => {
                fields.insert("signature".to_owned(), json!(text(delta, "signature")));
            }
            (ReplyBlock::Text(_) | ReplyBlock::Call { .. } | ReplyBlock::Thinking(_) | ReplyBlock::Other, _) => {}
        }
        Ok(())
    }

    /// The thinking that must go back. Where it stands between texts and calls, their places are kept too.
    fn carried(&self, stop: Stop) -> Option<Value> {
        let goes_back = |block: &ReplyBlock| match block {
            ReplyBlock::Thinking(fields) => stop == Stop::Done || is_sealed(fields),
            ReplyBlock::Text(_) | ReplyBlock::Call { .. } | ReplyBlock::Other => false,
        };
        let last = self.blocks.iter().rposition(|(_, block)| goes_back(block))?;
        let is_first = |(_, block): &(u64, ReplyBlock)| match block {
            ReplyBlock::Thinking(_) | ReplyBlock::Other => true,
            ReplyBlock::Text(text) => text.trim().is_empty(),
            ReplyBlock::Call { .. } => false,
        };
        let all_first = self.blocks[..last].iter().all(is_first);
        let kept = self.blocks.iter().filter_map(|(_, block)| match block {
            ReplyBlock::Thinking(fields) => goes_back(block).then(|| Value::Object(fields.clone())),
            ReplyBlock::Text(text) => (!all_first).then(|| json!({ "type": "text", "text": text })),
            ReplyBlock::Call { .. } => (!all_first).then(|| json!({ "type": "tool_use" })),
            ReplyBlock::Other => None,
        });
        let kept: Value = kept.collect();
        is_within(&kept, MOST_LEVELS).then_some(kept)
    }
}

/// Thinking that was cut off has no seal yet, and the vendor would refuse it for ever after.
fn is_sealed(fields: &Map<String, Value>) -> bool {
    let has = |field: &str| fields.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    has("signature") || has("data")
}

fn arguments(given: &Value, pieces: String) -> String {
    match given {
        _ if !pieces.trim().is_empty() => pieces,
        Value::Null => "{}".to_owned(),
        // Some servers write the object as text.
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => given.to_string(),
    }
}

impl TokenCounts {
    fn usage(self) -> Usage {
        Usage {
            input: self.fresh.saturating_add(self.cached).saturating_add(self.cache_written),
            output: self.output,
            cached: self.cached,
            cache_written: self.cache_written,
            reasoning: self.thinking.min(self.output),
        }
    }
}

/// Checks for an error in place of a reply.
fn check(event: &Value, name: Option<&str>) -> Result<(), Failure> {
    let error = match event.get("error") {
        Some(error) if !error.is_null() => error,
        Some(_) | None if text(event, "type") == "error" || name == Some("error") => event,
        Some(_) | None => return Ok(()),
    };
    let failure = in_reply(error);
    Err(Failure { kind: kind(error).unwrap_or(failure.kind), ..failure })
}
