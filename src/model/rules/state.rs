//! What the rules must remember from turn to turn: kept in `workspace.md`, written with all that is recorded. A reply may be
//! run in part, so that a result file is further than the memory says; the number of its lines tells.

use super::calls::{blocked, call, read, write};
use super::prompt_view::{DocumentPlace, PromptView};
use overnight_core::{job::state::MEMORY_FILE, message::ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where the reading is, and what was recorded so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ReadingState {
    /// The document that is being read, where to go on in it, and the heading above that place.
    pub(super) document: String,
    pub(super) next: DocumentPlace,
    pub(super) section: Option<String>,
    pub(super) entries: u64,
    /// Entries by strength or verdict: all, and those of the document.
    pub(super) totals: BTreeMap<String, u64>,
    pub(super) of_document: BTreeMap<String, u64>,
    /// Lines of the files that grow.
    pub(super) lines: BTreeMap<String, u64>,
}

impl ReadingState {
    /// The state, where it is in sight with the lengths of all files that grow; else what to call first.
    pub(super) fn recall(view: &PromptView<'_>) -> Result<Self, Vec<ToolCall>> {
        let text = view.memory().ok_or_else(|| vec![read(MEMORY_FILE, 1)])?;
        let found = text.lines().find(|line| line.starts_with('{')).map(serde_json::from_str::<Self>);
        let Some(Ok(state)) = found else {
            return Err(vec![blocked(&format!("{MEMORY_FILE} does not say any more how far the rules had come"))]);
        };
        let length = |(path, lines): &(&String, &u64)| view.length(path, **lines);
        if let Some((path, _)) = state.lines.iter().find(|one| length(one).is_some_and(|length| length < *one.1)) {
            return Err(vec![blocked(&format!("{path} has fewer lines than were recorded in it"))]);
        }
        let unknown = state.lines.iter().filter(|one| length(one).is_none());
        let counts: Vec<ToolCall> =
            unknown.map(|(path, _)| call("read_file", json!({"path": path, "limit": 1}))).collect();
        if counts.is_empty() { Ok(state) } else { Err(counts) }
    }

    /// Whether no file is further than this says.
    pub(super) fn is_level(&self, view: &PromptView<'_>) -> bool {
        self.lines.iter().all(|(path, lines)| view.length(path, *lines) <= Some(*lines))
    }

    /// Adds lines to a file, with a call unless they are there already.
    fn grow(&mut self, view: &PromptView<'_>, path: &str, lines: usize, call: ToolCall) -> Option<ToolCall> {
        let before = self.lines.get(path).copied().unwrap_or(0);
        self.lines.insert(path.to_owned(), before + lines as u64);
        (view.length(path, before) <= Some(before)).then_some(call)
    }

    pub(super) fn append(&mut self, view: &PromptView<'_>, path: &str, text: &str) -> Option<ToolCall> {
        let append = call("append_file", json!({"path": path, "content": text}));
        if text.is_empty() { None } else { self.grow(view, path, text.lines().count(), append) }
    }

    /// Adds records to a file of the form `{"name": [\n…\n]}`, one a line: it is valid JSON at every step.
    pub(super) fn record(&mut self, view: &PromptView<'_>, path: &str, records: &[Value]) -> Option<ToolCall> {
        let text = records.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n");
        let (old, new) = if self.entries == 0 { ("[\n]}", "[\n") } else { ("\n]}", ",\n") };
        let edit = call("edit_file", json!({"path": path, "old": old, "new": format!("{new}{text}\n]}}")}));
        self.entries += records.len() as u64;
        if records.is_empty() { None } else { self.grow(view, path, records.len(), edit) }
    }

    pub(super) fn count(&mut self, what: &str) {
        *self.totals.entry(what.to_owned()).or_default() += 1;
        *self.of_document.entry(what.to_owned()).or_default() += 1;
    }

    pub(super) fn save(&self) -> ToolCall {
        // A plain tree of strings and numbers; writing it can't fail.
        let state = serde_json::to_string(self).unwrap_or_default();
        write(MEMORY_FILE, &format!("# Memory\n\nRecorded so far: {}.\n\n{state}\n", in_words(&self.totals)))
    }
}

/// `MUST 12, SHOULD 3`, or `nothing`.
pub(super) fn in_words(totals: &BTreeMap<String, u64>) -> String {
    let listed: Vec<String> = totals.iter().map(|(what, count)| format!("{what} {count}")).collect();
    if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") }
}
