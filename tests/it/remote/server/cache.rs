//! What a vendor would have cached: the beginnings of the prompts that came before. Only for a plausible usage.

use super::format::{Asked, Said};
use overnight_core::{
    message::{Message, Prompt, Usage},
    tokens::estimate,
};
use std::{
    collections::{BTreeSet, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

#[derive(Debug, Default)]
pub(super) struct Cache {
    known: HashSet<u64>,
}

impl Cache {
    /// What a reply to `asked` uses; the prompt's beginnings are known from now on.
    pub(super) fn usage(&mut self, asked: &Asked, said: &Said) -> Usage {
        let marks: Option<BTreeSet<usize>> = asked.marks.as_ref().map(|marks| marks.iter().copied().collect());
        let mut hasher = DefaultHasher::new();
        asked.model.hash(&mut hasher);
        let (mut input, mut cached, mut marked) = (tools_tokens(&asked.prompt), 0, 0);
        for count in 0..=asked.prompt.messages.len() {
            if let Some(message) = count.checked_sub(1).and_then(|place| asked.prompt.messages.get(place)) {
                input += hashed(message, &mut hasher);
            }
            if marks.as_ref().is_none_or(|marks| marks.contains(&count)) {
                marked = input;
                if !self.known.insert(hasher.finish()) {
                    cached = input;
                }
            }
        }
        let calls = said.calls.iter().map(|call| estimate(&call.arguments) + 8).sum::<u64>();
        Usage {
            input,
            output: (estimate(&said.text) + calls).max(1),
            cached,
            cache_written: if marks.is_some() { marked.saturating_sub(cached) } else { 0 },
            reasoning: 0,
        }
    }
}

/// Tokens of a whole prompt.
pub(super) fn tokens(prompt: &Prompt) -> u64 {
    let mut hasher = DefaultHasher::new();
    tools_tokens(prompt) + prompt.messages.iter().map(|message| hashed(message, &mut hasher)).sum::<u64>()
}

fn tools_tokens(prompt: &Prompt) -> u64 {
    prompt.tools.iter().map(|tool| estimate(&tool.description) + estimate(&tool.parameters.to_string()) + 8).sum()
}

fn hashed(message: &Message, hasher: &mut DefaultHasher) -> u64 {
    let mut tokens = 4;
    let mut take = |text: &str| {
        text.hash(hasher);
        tokens += estimate(text);
    };
    match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => take(text),
        Message::Assistant { text, calls, .. } => {
            take(text);
            for call in calls {
                take(&call.name);
                take(&call.arguments.to_string());
            }
        }
    }
    tokens
}
