//! What a vendor's prefix cache would serve. How long it keeps something, and what it does under load, isn't looked at.

use super::{
    check::version,
    format::{Asked, Format},
};
use overnight_core::{message::Usage, tokens::estimate};
use serde_json::Value;
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Fields that a model isn't shown as text.
const UNSHOWN: [&str; 8] =
    ["type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "cache_control", "prompt_cache_breakpoint"];

/// A piece of a prompt, on the wire the smallest thing that can be marked for the cache.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Of the model and the prompt up to the block's end.
    hash: u64,
    /// Tokens up to there.
    upto: u64,
    is_marked: bool,
}

/// What of a vendor's cache matters here.
struct Rules {
    /// Prefixes are kept at marks only; else at each block.
    wants_marks: bool,
    /// Blocks up to a mark at which something kept before is looked for.
    lookback: usize,
    /// The shortest prefix that is kept.
    least: u64,
    /// Cached tokens come in steps of so many.
    step: u64,
}

#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Ends of all prompts' beginnings, and of those that are kept, by the client's key.
    seen: HashSet<u64>,
    kept: HashSet<(String, u64)>,
}

impl Cache {
    /// What the prompt of `asked` uses, and how much of it was the beginning of an earlier one; it is kept from now on.
    pub(super) fn usage(&mut self, format: Format, asked: &Asked, body: &Value) -> (Usage, u64) {
        let Rules { wants_marks, lookback, least, step } = rules(format, &asked.model);
        let blocks = &asked.blocks;
        let shared = blocks.iter().rev().find(|block| self.seen.contains(&block.hash)).map_or(0, |block| block.upto);
        // OpenAI sends what has the same key to the same machine: what another key left is not counted on.
        let key = body["prompt_cache_key"].as_str().unwrap_or_default();
        let is_end = |place: usize| if wants_marks { blocks[place].is_marked } else { place + 1 == blocks.len() };
        let ends: Vec<usize> = (0..blocks.len()).filter(|place| is_end(*place)).collect();
        let is_kept = |block: &&Block| block.upto >= least && self.kept.contains(&(key.to_owned(), block.hash));
        let found = ends.iter().filter_map(|end| blocks[..=*end].iter().rev().take(lookback).find(is_kept));
        let cached = found.map(|block| block.upto / step * step).max().unwrap_or_default();
        let written = ends.last().map_or(0, |end| blocks[*end].upto).max(cached) - cached;
        let kept = (0..blocks.len()).filter(|place| !wants_marks || blocks[*place].is_marked);
        self.kept.extend(kept.map(|place| (key.to_owned(), blocks[place].hash)));
        self.seen.extend(blocks.iter().map(|block| block.hash));
        let cache_written = if wants_marks && cached + written >= least { written } else { 0 };
        (Usage { input: tokens(blocks), cached, cache_written, ..Usage::default() }, shared)
    }
}

/// Tokens of a whole prompt.
pub(super) fn tokens(blocks: &[Block]) -> u64 {
    blocks.last().map_or(0, |block| block.upto)
}

/// developers.openai.com/api/docs/guides/prompt-caching, platform.claude.com/docs/en/build-with-claude/prompt-caching; Gemini's
/// shortest prefix is a guess.
fn rules(format: Format, model: &str) -> Rules {
    let implicit = Rules { wants_marks: false, lookback: usize::MAX, least: 1024, step: 1 };
    match format {
        Format::OpenAi | Format::Responses if is_marking(model) => {
            Rules { wants_marks: true, lookback: 80, ..implicit }
        }
        Format::OpenAi | Format::Responses => Rules { step: 128, ..implicit },
        Format::Anthropic => {
            let of = |make: &str| version(model, make);
            let least = match (of("opus-"), of("haiku-"), of("sonnet-")) {
                (Some((5, _)), ..) | (_, Some((5, 5)), _) | (.., Some((5, 5))) => 512,
                (Some((4, 7)), ..) => 2048,
                (Some((4, 6)), ..) | (_, Some((4, 5)), _) => 4096,
                _ if of("fable-") == Some((5, 0)) => 512,
                _ => 1024,
            };
            Rules { wants_marks: true, lookback: 20, least, step: 1 }
        }
        Format::Gemini => implicit,
        // Its own memory of the last prompt, of which it doesn't tell.
        Format::Ollama => Rules { least: 0, ..implicit },
    }
}

/// Whether OpenAI keeps the model's prompts at breakpoints only, and takes breakpoints.
pub(super) fn is_marking(model: &str) -> bool {
    version(model, "gpt-").is_some_and(|version| version >= (5, 6))
}

/// The blocks of a request. Tools stand first, then the system prompt, then the messages.
pub(super) fn blocks(format: Format, model: &str, body: &Value) -> Vec<Block> {
    let mut pieces: Vec<(&Value, &Value)> = Vec::new();
    for field in ["tools", "system", "systemInstruction", "instructions", "messages", "input", "contents"] {
        let items = match &body[field] {
            Value::Null => continue,
            Value::Array(items) => items.iter().collect(),
            one => vec![one],
        };
        for item in items {
            let inner = item.get("content").or(item.get("parts")).and_then(Value::as_array);
            match inner.filter(|_| item.get("tool_calls").is_none()) {
                Some(blocks) => pieces.extend(blocks.iter().map(|block| (&item["role"], block))),
                None => pieces.push((&item["role"], item)),
            }
        }
    }
    let mut hasher = DefaultHasher::new();
    model.hash(&mut hasher);
    let mut upto = 0;
    let mut blocks: Vec<Block> = Vec::new();
    for (role, piece) in pieces {
        let is_marked = piece.get("cache_control").or(piece.get("prompt_cache_breakpoint")).is_some();
        let mut piece = piece.clone();
        if let Some(fields) = piece.as_object_mut() {
            fields.retain(|name, _| name != "cache_control" && name != "prompt_cache_breakpoint");
        }
        (role.to_string(), piece.to_string()).hash(&mut hasher);
        upto += weight(&piece) + 4;
        blocks.push(Block { hash: hasher.finish(), upto, is_marked });
    }
    // Anthropic's mark at the top stands for the last block's; so does OpenAI's usual way.
    let is_implicit = is_marking(model) && body["prompt_cache_options"]["mode"] != "explicit";
    if let Some(last) = blocks.last_mut() {
        last.is_marked |= match format {
            Format::Anthropic => body.get("cache_control").is_some(),
            Format::OpenAi | Format::Responses => is_implicit,
            Format::Gemini | Format::Ollama => false,
        };
    }
    blocks
}

fn weight(value: &Value) -> u64 {
    match value {
        Value::String(text) => estimate(text),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => {
            let shown = fields.iter().filter(|(name, _)| !UNSHOWN.contains(&name.as_str()));
            shown.map(|(name, value)| estimate(name) + weight(value)).sum()
        }
        Value::Null => 0,
        Value::Bool(_) | Value::Number(_) => 1,
    }
}
