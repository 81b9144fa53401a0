//! What the server thought and signed: it comes back as it was given, where it stood, or not at all. The runner's carried
//! reasoning is held to that in each vendor's words.

use super::{
    check::Checked,
    format::{Asked, Format, Said, Thought},
    history::bare,
};
use serde_json::Value;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

const THOUGHT: &str = "What the board asks for comes first.";
/// Tokens of one thought, seen or not.
const TOKENS: u64 = 40;
/// What Google takes in a signature's place for calls that its models never made:
/// ai.google.dev/gemini-api/docs/thought-signatures and erain/glue v1.8.0.
const UNSIGNED: [&str; 2] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// A thought as it was made.
#[derive(Debug)]
struct Made {
    text: String,
    model: String,
    /// Of what was sent before the reply, thoughts apart.
    prefix: u64,
    /// The signatures that stood before it.
    before: Vec<String>,
    /// What it stands before: the id of a call, or nothing for a text.
    next: String,
}

/// A thought as it came back.
struct Returned<'a> {
    place: String,
    text: String,
    signature: &'a str,
    prefix: u64,
    /// What it stands before; `None`: nothing.
    next: Option<&'a Value>,
}

#[derive(Debug, Default)]
pub(super) struct Thoughts {
    made: HashMap<String, Made>,
}

impl Thoughts {
    /// Whether thoughts came back; the words of the refusal, where one isn't as it was given.
    pub(super) fn check(&self, format: Format, body: &Value, asked: &Asked) -> Checked<bool> {
        let (returned, _) = returned(format, body);
        let mut before: Vec<&str> = Vec::new();
        for thought in &returned {
            let place = &thought.place;
            let known = self.made.get(thought.signature);
            match format {
                // platform.claude.com/docs/en/build-with-claude/preserved-thinking: text and signature as they came; what
                // stood before too, for the models that are bound to it. The oldest may be left out, without a gap.
                Format::Anthropic => {
                    let words = format!("{place}: Invalid `signature` in `thinking` block");
                    let Some(made) = known.filter(|made| made.text == thought.text) else { return Err(words) };
                    let is_same = made.prefix == thought.prefix && is_end(&made.before, &before);
                    if asked.is_bound && !is_same {
                        return Err(format!(
                            "{words}. The block is bound to a different conversation. Remove the block, or set \
                             `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
                        ));
                    }
                }
                // openai-python's types/responses: in order, each before the item that it was made with (vercel/ai#7099).
                Format::Responses => {
                    let Some(made) = known.filter(|made| made.text == thought.text) else {
                        return Err(format!(
                            "The encrypted content for item {place} could not be verified. Reason: Encrypted content could not \
                             be decrypted or parsed."
                        ));
                    };
                    // Of a call the id is not looked at: nothing is known of one that matters where nothing is stored.
                    let follows = thought.next.is_some_and(|next| match next["type"].as_str() {
                        Some("function_call") => !made.next.is_empty(),
                        Some("message") | None => next["role"] == "assistant" && made.next.is_empty(),
                        Some(_) => false,
                    });
                    if !follows {
                        return Err(format!(
                            "Item '{place}' of type 'reasoning' was provided without its required following item."
                        ));
                    }
                }
                // ai.google.dev/gemini-api/docs/thought-signatures: on its part, to the model that made it.
                Format::Gemini if !UNSIGNED.contains(&thought.signature) => {
                    let called = thought.next.map_or("", |call| call["name"].as_str().unwrap_or_default());
                    if !known.is_some_and(|made| made.model == asked.model && made.next == called) {
                        return Err(format!("{place}: Thought signature is not valid."));
                    }
                }
                Format::OpenAi | Format::Gemini | Format::Ollama => {}
            }
            before.push(thought.signature);
        }
        Ok(!returned.is_empty())
    }

    /// Gives a reply its thoughts, and keeps them.
    pub(super) fn think(&mut self, format: Format, body: &Value, asked: &Asked, said: &mut Said) {
        let (returned, prefix) = returned(format, body);
        let mut before: Vec<String> = returned.iter().map(|thought| thought.signature.to_owned()).collect();
        // Anthropic's stand between calls as well, where they are empty (models/opus-5-5).
        let count = if format == Format::Anthropic { said.calls.len().max(1) } else { 1 };
        let is_hidden = format == Format::Responses && body["reasoning"]["summary"].is_null();
        for place in 0..count {
            let is_empty = place > 0 || (format == Format::Anthropic && said.number.is_multiple_of(3));
            let text = if is_hidden || is_empty { "" } else { THOUGHT };
            let mut hasher = DefaultHasher::new();
            (body.to_string(), said.number, place).hash(&mut hasher);
            let signature = format!("{:016x}", hasher.finish());
            let next = said.calls.get(place).filter(|_| place > 0 || said.text.is_empty() || format == Format::Gemini);
            let made = Made {
                text: text.to_owned(),
                model: asked.model.clone(),
                prefix,
                before: before.clone(),
                next: next.map_or("", |call| if format == Format::Gemini { &call.name } else { &call.id }).to_owned(),
            };
            self.made.insert(signature.clone(), made);
            before.push(signature.clone());
            said.thoughts.push(Thought { text: text.to_owned(), signature });
        }
        said.usage.reasoning = TOKENS * count as u64;
        said.usage.output += said.usage.reasoning;
    }
}

/// Whether the oldest of `before` may have been left out, and nothing else.
fn is_end(before: &[String], present: &[&str]) -> bool {
    before.len().checked_sub(present.len()).is_some_and(|skipped| before[skipped..] == *present)
}

/// The signed thoughts of a request, and what the next reply's would be bound to.
fn returned(format: Format, body: &Value) -> (Vec<Returned<'_>>, u64) {
    let mut found = Vec::new();
    let mut hasher = DefaultHasher::new();
    for field in ["system", "tools"] {
        bare(body[field].clone()).to_string().hash(&mut hasher);
    }
    let (field, inner) = match format {
        Format::Anthropic => ("messages", "content"),
        Format::Gemini => ("contents", "parts"),
        Format::Responses => ("input", ""),
        Format::OpenAi | Format::Ollama => return (found, 0),
    };
    let messages = body[field].as_array().map_or(&[][..], Vec::as_slice);
    for (number, message) in messages.iter().enumerate() {
        let prefix = hasher.finish();
        let blocks = message[inner].as_array().map_or(&[][..], Vec::as_slice);
        for (at, block) in blocks.iter().enumerate() {
            let place = format!("{field}.{number}.{inner}.{at}");
            let signature = block.get("signature").or(block.get("thoughtSignature")).and_then(Value::as_str);
            let text = block["thinking"].as_str().unwrap_or_default().to_owned();
            match signature {
                Some(signature) => {
                    found.push(Returned { place, text, signature, prefix, next: block.get("functionCall") });
                }
                None if block["type"] == "thinking" => {
                    found.push(Returned { place, text, signature: "", prefix, next: None });
                }
                None => {}
            }
        }
        if format == Format::Responses && message["type"] == "reasoning" {
            let parts = message["summary"].as_array().into_iter().flatten();
            let signature = message["encrypted_content"].as_str().unwrap_or_default();
            // The item's id is part of what was given.
            let is_same = message["id"] == format!("rs_{signature}");
            found.push(Returned {
                place: message["id"].as_str().unwrap_or_default().to_owned(),
                text: parts.filter_map(|part| part["text"].as_str()).collect(),
                signature: if is_same { signature } else { "" },
                prefix,
                next: messages.get(number + 1),
            });
        }
        bare(message.clone()).to_string().hash(&mut hasher);
    }
    (found, hasher.finish())
}
