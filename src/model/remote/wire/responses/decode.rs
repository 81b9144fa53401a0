//! A reply of the Responses API, streamed or whole. A stream is read from its finished items and from its last event:
//! earlier data may be partial, above all the encrypted reasoning.

use super::is_reasoning;
use crate::model::{
    Failure,
    remote::wire::{
        Decode, RawCall, RawReply,
        call_parts::{self, CallPart, CallParts, malformed, text},
        error_response::in_reply,
        fields::{DONE, MOST_PARTS, broken, read, too_many},
    },
};
use overnight_core::message::{MOST_LEVELS, Stop, Tier, Usage, is_within};
use serde_json::{Value, json};

/// The reply as read so far.
#[derive(Debug, Default)]
pub(super) struct ResponsesReply {
    /// By their place in the reply, if the server states it.
    items: Vec<(u64, Value)>,
    /// Items that have begun; used if a server never says that one is done.
    begun: Vec<(u64, Value)>,
    usage: Option<Usage>,
    stop: Option<Stop>,
    model: String,
    tier: Option<Tier>,
    /// The stream ended in another vendor's way.
    is_over: bool,
}

impl Decode for ResponsesReply {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Failure> {
        if self.is_complete() || data.trim().is_empty() {
            return Ok(());
        }
        if data.trim() == DONE {
            self.is_over = true;
            return Ok(());
        }
        let event = read(data)?;
        let kind = match text(&event, "type") {
            "" => name.unwrap_or_default(),
            kind => kind,
        };
        match kind {
            "response.output_item.done" => {
                let place = event["output_index"].as_u64().unwrap_or(self.items.len() as u64);
                self.item(place, event["item"].clone())
            }
            "response.output_item.added" => self.begin(&event),
            "response.output_text.delta" => {
                self.grow(&event, "text");
                Ok(())
            }
            "response.function_call_arguments.delta" => {
                self.grow(&event, "arguments");
                Ok(())
            }
            "response.completed" | "response.done" | "response.incomplete" | "response.failed" => {
                self.end(&event["response"])
            }
            "error" => Err(in_reply(event.get("error").filter(|error| error.is_object()).unwrap_or(&event))),
            // Pieces of items that also come complete, and later additions of the vendor.
            _ => match event.get("error").filter(|error| !error.is_null()) {
                Some(error) => Err(in_reply(error)),
                None => Ok(()),
            },
        }
    }

    fn whole(&mut self, body: &str) -> Result<(), Failure> {
        let response = read(body)?;
        if response.get("output").and_then(Value::as_array).is_none() && response["error"].is_null() {
            return Err(malformed("what the server sent is no response: it has no `output`"));
        }
        self.end(&response)
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some() || self.is_over
    }

    fn finish(mut self: Box<Self>) -> Result<RawReply, Failure> {
        if self.items.is_empty() {
            self.items = std::mem::take(&mut self.begun);
        }
        self.items.sort_by_key(|(place, _)| *place);
        let (mut said, mut refusal, mut calls, mut carried) =
            (String::new(), String::new(), CallParts::default(), Vec::new());
        for (_, item) in &self.items {
            match text(item, "type") {
                "message" => {
                    let begin = said.len();
                    for part in item["content"].as_array().into_iter().flatten() {
                        said.push_str(text(part, "text"));
                        refusal.push_str(text(part, "refusal"));
                    }
                    let mut place = json!({ "type": "message", "text": said[begin..] });
                    if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
                        place["phase"] = phase.clone();
                    }
                    carried.push(place);
                }
                "function_call" => {
                    let arguments = call_parts::arguments(item.get("arguments"));
                    let (id, name) = (text(item, "call_id"), text(item, "name"));
                    calls.begin(CallPart { index: None, id, name, arguments: &arguments })?;
                    carried.push(json!({ "type": "function_call" }));
                }
                // Without the encrypted text a server that stores nothing can't read it.
                "reasoning" if !text(item, "encrypted_content").is_empty() => carried.push(sent_back(item)),
                _ => {}
            }
        }
        let calls = calls.into_calls();
        let is_said = !said.is_empty() || !refusal.is_empty() || !calls.is_empty();
        let is_whole = self.is_over && is_said && calls.iter().all(RawCall::is_whole);
        let stop = self.stop.or(is_whole.then_some(Stop::Done)).ok_or_else(broken)?;
        let is_refused = !refusal.is_empty() && calls.is_empty();
        let carried = carried.iter().any(is_reasoning).then_some(Value::Array(carried));
        Ok(RawReply {
            text: if said.is_empty() { refusal } else { said },
            calls,
            usage: self.usage,
            stop: Some(if is_refused { Stop::Refused } else { stop }),
            model: self.model,
            tier: self.tier,
            carried: carried.filter(|carried| is_within(carried, MOST_LEVELS)),
        })
    }
}

impl ResponsesReply {
    fn item(&mut self, place: u64, item: Value) -> Result<(), Failure> {
        if self.items.len() >= MOST_PARTS {
            return Err(too_many());
        }
        self.items.push((place, item));
        Ok(())
    }

    /// Begins an item, which may be empty yet.
    fn begin(&mut self, event: &Value) -> Result<(), Failure> {
        if self.begun.len() >= MOST_PARTS {
            return Err(too_many());
        }
        let place = event["output_index"].as_u64().unwrap_or(self.begun.len() as u64);
        let (mut item, kind) = (event["item"].clone(), text(&event["item"], "type").to_owned());
        match kind.as_str() {
            "message" => item["content"] = json!([{ "type": "output_text", "text": "" }]),
            "function_call" => item["arguments"] = json!(""),
            _ => return Ok(()),
        }
        self.begun.push((place, item));
        Ok(())
    }

    /// Adds a piece to an item; without a place it belongs to the newest one.
    fn grow(&mut self, event: &Value, field: &str) {
        let place = event["output_index"].as_u64();
        let item = self.begun.iter_mut().rev().find(|(at, _)| place.is_none_or(|place| place == *at));
        let Some((_, item)) = item else { return };
        let pieces = if field == "text" { item.pointer_mut("/content/0/text") } else { item.get_mut(field) };
        if let Some(Value::String(pieces)) = pieces {
            pieces.push_str(text(event, "delta"));
        }
    }

    /// Takes the final state of the response.
    fn end(&mut self, response: &Value) -> Result<(), Failure> {
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            return Err(in_reply(error));
        }
        self.stop = Some(match (text(response, "status"), text(&response["incomplete_details"], "reason")) {
            ("failed" | "cancelled", _) => {
                return Err(malformed("the server ended its response as failed, without a word"));
            }
            ("incomplete", "content_filter") => Stop::Refused,
            ("incomplete", _) => Stop::Length,
            _ => Stop::Done,
        });
        self.tier = call_parts::tier(response);
        self.model = call_parts::model(response);
        self.usage = usage(&response["usage"]);
        if self.items.is_empty() {
            for (place, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
                self.item(place, item.clone())?;
            }
        }
        Ok(())
    }
}

/// Reasoning as it is sent back: the fields that the vendor's input type has.
fn sent_back(item: &Value) -> Value {
    let mut kept = json!({ "type": "reasoning" });
    for field in ["id", "summary", "content", "encrypted_content"] {
        if let Some(value) = item.get(field).filter(|value| !value.is_null()) {
            kept[field] = value.clone();
        }
    }
    kept
}

fn usage(usage: &Value) -> Option<Usage> {
    let of = |field: &str| call_parts::count(usage.get(field));
    let within = |details: &str, field: &str| call_parts::count(usage[details].get(field)).unwrap_or(0);
    let (input, output) = match (of("input_tokens"), of("output_tokens")) {
        (None, None) => return None,
        (input, output) => (input.unwrap_or(0), output.unwrap_or(0)),
    };
    let cached = within("input_tokens_details", "cached_tokens").min(input);
    Some(Usage {
        input,
        output,
        cached,
        cache_written: within("input_tokens_details", "cache_write_tokens").min(input - cached),
        reasoning: within("output_tokens_details", "reasoning_tokens").min(output),
    })
}
