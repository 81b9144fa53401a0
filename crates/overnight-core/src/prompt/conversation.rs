//! Layer 5: what was said since the last compaction. Append-only, but for tool results that are replaced by a line
//! (folded or masked) and oldest turns that are folded into layer 4. A call and its result are never separated.

use super::{
    message::{Message, ToolCall},
    tokens::estimate,
    tools::Tool,
};
use crate::job::event::{ShownPart, ToolResult};
use serde_json::Value;
use std::sync::Arc;

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversationEntry {
    /// The system's own word: what was examined.
    User {
        text: String,
    },
    Assistant {
        text: String,
        calls: Vec<ToolCall>,
        carried: Option<Arc<Value>>,
    },
    Tool(ToolEntry),
}

/// A tool's result and what is needed to replace it by a line.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEntry {
    pub call: String,
    pub name: String,
    pub text: String,
    pub tokens: u64,
    /// The model has answered to a prompt in which the result stood.
    pub seen: bool,
    /// The todo for which it was called is completed: fold it as soon as it was seen.
    pub finished: bool,
    /// Replaced by a line.
    pub replaced: bool,
    pub shown: Option<ShownPart>,
    /// How to have the text again.
    again: String,
}

/// Everything said since the last compaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    entries: Vec<ConversationEntry>,
    tokens: u64,
}

/// Results up to this many tokens are kept when a todo is finished.
pub const FOLD_OVER: u64 = 300;
/// What a message costs beside its text.
const FRAME: u64 = 4;

impl ConversationEntry {
    pub fn tokens(&self) -> u64 {
        FRAME
            + match self {
                Self::User { text } => estimate(text),
                Self::Assistant { text, calls, carried } => {
                    let carried = carried.as_deref().map_or(0, estimate_json);
                    estimate(text) + calls.iter().map(call_tokens).sum::<u64>() + carried
                }
                Self::Tool(tool) => tool.tokens,
            }
    }

    fn message(&self) -> Message {
        match self {
            Self::User { text } => Message::User { text: text.clone() },
            Self::Assistant { text, calls, carried } => {
                Message::Assistant { text: text.clone(), calls: calls.clone(), carried: carried.clone() }
            }
            Self::Tool(tool) => {
                Message::Tool { call: tool.call.clone(), name: tool.name.clone(), text: tool.text.clone() }
            }
        }
    }
}

fn call_tokens(call: &ToolCall) -> u64 {
    FRAME + estimate(&call.name) + estimate_json(&call.arguments)
}

/// Tokens of a JSON value without writing it out.
fn estimate_json(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + estimate(text),
        Value::Array(items) => 1 + items.iter().map(estimate_json).sum::<u64>(),
        Value::Object(fields) => {
            1 + fields.iter().map(|(key, inner)| 1 + estimate(key) + estimate_json(inner)).sum::<u64>()
        }
    }
}

impl ToolEntry {
    fn line(&self, verb: &str) -> String {
        format!("[{} result {verb}: {} tokens; {}]", self.name, self.tokens, self.again)
    }
}

impl Conversation {
    pub fn entries(&self) -> &[ConversationEntry] {
        &self.entries
    }

    /// Estimated tokens of all entries.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    pub fn messages(&self) -> impl Iterator<Item = Message> {
        self.entries.iter().map(ConversationEntry::message)
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.tokens = 0;
    }

    fn push(&mut self, entry: ConversationEntry) {
        self.tokens += entry.tokens();
        self.entries.push(entry);
    }

    pub fn push_user(&mut self, text: String) {
        self.push(ConversationEntry::User { text });
    }

    pub fn push_reply(&mut self, text: &str, calls: &[ToolCall], carried: Option<&Arc<Value>>) {
        // Some providers refuse a prompt with an empty message in it.
        let text = if text.trim().is_empty() && calls.is_empty() { "(an empty reply)" } else { text };
        self.push(ConversationEntry::Assistant {
            text: text.to_owned(),
            calls: calls.to_vec(),
            carried: carried.cloned(),
        });
    }

    pub fn push_result(&mut self, call: &ToolCall, result: &ToolResult) {
        let again = match (&result.spilled, Tool::named(&call.name)) {
            (Some(spilled), _) => format!("the whole is in {}", spilled.path),
            (None, Some(tool)) if tool.repeatable() => {
                format!(
                    "call it again with {} to see it",
                    super::tokens::bounded(&call.arguments.to_string(), 60, "the call above")
                )
            }
            (None, Some(Tool::TodoWrite | Tool::TodoList)) => "todo_list() shows the todos".to_owned(),
            (None, Some(_) | None) => "it is kept in the journal only".to_owned(),
        };
        self.push(ConversationEntry::Tool(ToolEntry {
            call: call.id.clone(),
            name: call.name.clone(),
            tokens: estimate(&result.text),
            text: result.text.clone(),
            seen: false,
            finished: false,
            replaced: false,
            shown: result.shown.clone(),
            again,
        }));
    }

    fn results_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut ToolEntry> {
        self.entries.iter_mut().filter_map(|entry| match entry {
            ConversationEntry::Tool(tool) => Some(tool),
            ConversationEntry::User { .. } | ConversationEntry::Assistant { .. } => None,
        })
    }

    fn results(&self) -> impl DoubleEndedIterator<Item = &ToolEntry> {
        self.entries.iter().filter_map(|entry| match entry {
            ConversationEntry::Tool(tool) => Some(tool),
            ConversationEntry::User { .. } | ConversationEntry::Assistant { .. } => None,
        })
    }

    /// The model has answered: all results were seen. Gives the parts of documents that it was shown by them.
    pub fn on_answered(&mut self) -> Vec<ShownPart> {
        let mut shown = Vec::new();
        for tool in self.results_mut().rev().take_while(|tool| !tool.seen) {
            tool.seen = true;
            if !tool.replaced {
                shown.extend(tool.shown.clone());
            }
        }
        shown.reverse();
        self.fold_finished();
        shown
    }

    /// A todo is finished: its large results are replaced by a line once they have been seen.
    pub fn on_todo_finished(&mut self) {
        self.results_mut().for_each(|tool| tool.finished = true);
        self.fold_finished();
    }

    fn fold_finished(&mut self) {
        let mut freed = 0;
        for tool in self.results_mut() {
            if tool.finished && tool.seen && !tool.replaced && tool.tokens > FOLD_OVER {
                freed += replace(tool, "folded");
            }
        }
        self.tokens -= freed;
    }

    /// Tokens of the last reply and its results.
    pub fn newest_turn_tokens(&self) -> u64 {
        let is_result = |entry: &&ConversationEntry| match entry {
            ConversationEntry::Tool(_) => true,
            ConversationEntry::User { .. } | ConversationEntry::Assistant { .. } => false,
        };
        let results = self.entries.iter().rev().take_while(is_result).count();
        self.entries.iter().rev().take(results + 1).map(ConversationEntry::tokens).sum()
    }

    /// Tokens of results that the model has not seen yet.
    pub fn unseen_tokens(&self) -> u64 {
        self.results().rev().take_while(|tool| !tool.seen).map(|tool| tool.tokens).sum()
    }

    /// The oldest results worth masking, until `free` tokens are freed. The newest `keep` results are left, and so is what
    /// the model has not seen yet: it would only ask again.
    pub fn maskable(&self, free: u64, keep: usize) -> Vec<String> {
        let count = self.results().count();
        let mut freed = 0;
        self.results()
            .take(count.saturating_sub(keep))
            .filter(|tool| tool.seen && !tool.replaced && tool.tokens > estimate(&tool.line("masked")))
            .take_while(|tool| {
                let wanted = freed < free;
                freed += tool.tokens;
                wanted
            })
            .map(|tool| tool.call.clone())
            .collect()
    }

    /// Replaces the results of `calls` by a line each.
    pub fn mask(&mut self, calls: &[String]) {
        let mut freed = 0;
        for tool in self.results_mut() {
            if !tool.replaced && calls.contains(&tool.call) {
                freed += replace(tool, "masked");
            }
        }
        self.tokens -= freed;
    }

    /// The number of oldest entries, whole turns only, that must go so that at most `keep` tokens remain.
    pub fn foldable(&self, keep: u64) -> usize {
        let mut remaining = self.tokens;
        let mut end = 0;
        while remaining > keep && end < self.entries.len() {
            let next = self.turn_end(end);
            remaining -= self.entries[end..next].iter().map(ConversationEntry::tokens).sum::<u64>();
            end = next;
        }
        end
    }

    /// The end of the turn that begins at `start`: a reply goes with its results.
    fn turn_end(&self, start: usize) -> usize {
        let is_result = |entry: &ConversationEntry| match entry {
            ConversationEntry::Tool(_) => true,
            ConversationEntry::User { .. } | ConversationEntry::Assistant { .. } => false,
        };
        self.entries[start + 1..]
            .iter()
            .position(|entry| !is_result(entry))
            .map_or(self.entries.len(), |next| start + 1 + next)
    }

    /// Takes the oldest `count` entries out.
    pub fn drop_oldest(&mut self, count: usize) {
        let freed: u64 = self.entries.drain(..count.min(self.entries.len())).map(|entry| entry.tokens()).sum();
        self.tokens -= freed;
    }
}

/// Puts the line in the result's place; gives the tokens freed.
fn replace(tool: &mut ToolEntry, verb: &str) -> u64 {
    let line = tool.line(verb);
    let after = estimate(&line);
    if after >= tool.tokens {
        return 0;
    }
    let freed = tool.tokens - after;
    tool.text = line;
    tool.tokens = after;
    tool.replaced = true;
    freed
}
