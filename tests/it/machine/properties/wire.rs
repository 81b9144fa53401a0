//! What the model was shown, and what the stored facts give again: the prompts of a whole night, checked afterwards.

use super::invariants::{is_roomy, local_budget};
use crate::machine::world::*;
use overnight_core::{
    job::{
        digest::sha256,
        event::{Decision, Event, ToolResult},
        state::Job,
    },
    message::{Message, Prompt},
    prompt::{compact::local_tokens, compose, todo_board},
};
use std::collections::BTreeMap;

/// Every fact goes through its stored form, and the state that follows is the same: the same prompts, byte for byte, the
/// same questions, the same state at the end.
pub(crate) fn check(world: &World) {
    let mut job: Option<Job> = None;
    let mut wire = Wire::default();
    for decision in &world.decisions {
        let decision = Decision { at: decision.at, events: decision.events.iter().map(stored).collect() };
        let Some(job) = &mut job else {
            job = Job::begin(&decision);
            continue;
        };
        if let Some(Event::ModelReplied { prompt_sha256, turn, .. }) = decision.events.first() {
            let prompt = compose::prompt(job);
            assert_eq!(&compose::prompt_sha256(&prompt), prompt_sha256, "the prompt of turn {turn}");
            wire.asked(job, prompt);
        }
        for event in &decision.events {
            wire.happened(event);
        }
        job.apply_all(&decision);
    }
    // What was too large for the conversation is still there, whole.
    for spilled in wire.results.values().filter_map(|result| result.spilled.as_ref()) {
        let whole = world.files.get(&spilled.path).expect("the whole result is kept");
        assert_eq!(sha256(whole.as_bytes()), spilled.sha256, "{} was changed", spilled.path);
    }
    let job = job.unwrap();
    assert_eq!(format!("{job:#?}"), format!("{:#?}", world.job), "the state that the stored facts say");
    assert_eq!(compose::prompt(&job), compose::prompt(&world.job));
    assert_eq!(job.next(), world.job.next());
}

/// An event as it comes back from the journal.
fn stored(event: &Event) -> Event {
    let text = serde_json::to_string(event).unwrap();
    // A journal's line holds its events one level deeper than they are here.
    let line = format!("{{\"events\":[{text}]}}");
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "the line can't be read again: {line:.400}");
    let read: Event = serde_json::from_str(&text).unwrap();
    assert_eq!(&read, event, "{text}");
    read
}

#[derive(Default)]
struct Wire {
    last: Option<Prompt>,
    /// What happened to layers 4 and 5 since the last prompt.
    folded: bool,
    masked: Vec<String>,
    dropped: usize,
    compacted: bool,
    /// Each call's result as it was given.
    results: BTreeMap<String, ToolResult>,
}

impl Wire {
    fn happened(&mut self, event: &Event) {
        match event {
            Event::ToolReturned { call, result, .. } => drop(self.results.insert(call.clone(), result.clone())),
            Event::TodoCompleted { .. } => self.folded = true,
            Event::ContextMasked { calls } => self.masked.extend(calls.iter().cloned()),
            Event::TurnsFolded { entries, .. } => self.dropped += entries,
            Event::ContextCompacted { .. } => self.compacted = true,
            _ => {}
        }
    }

    fn asked(&mut self, job: &Job, prompt: Prompt) {
        let (tokens, budget) = (local_tokens(job), local_budget(job));
        assert!(tokens <= budget, "{tokens} of {budget} tokens in a prompt");
        if is_roomy(job) {
            assert!(tokens * 100 <= budget * 70, "compaction is owed at 70 %, {tokens} of {budget} are sent");
        }
        // layers 1, 2 and 3 are whole and where they belong.
        assert_eq!(prompt.messages[0], Message::System { text: job.spec.system_prompt.clone() });
        assert_eq!(prompt.messages[1], Message::User { text: job.layer4.clone() });
        assert_eq!(prompt.messages.last(), Some(&Message::User { text: todo_board::render(job) }));
        for message in &prompt.messages {
            if let Message::Tool { call, name, text } = message {
                self.again(job, call, name, text);
            }
        }
        if let Some(last) = &self.last {
            assert!(last.tools == prompt.tools, "the tools never change during a job");
            assert_eq!(last.messages[0], prompt.messages[0], "the system prompt never changes");
            if !self.compacted {
                self.only_appended(last, &prompt);
            }
        }
        self.last = Some(prompt);
        self.folded = false;
        self.masked.clear();
        self.dropped = 0;
        self.compacted = false;
    }

    /// Layer 4 changes once a phase, layer 5 is append-only between compactions, but for results that are replaced
    /// by a line where a todo was finished or masking was owed, and oldest turns that went into layer 4.
    fn only_appended(&self, last: &Prompt, prompt: &Prompt) {
        let conversation = |prompt: &Prompt| prompt.messages[2..prompt.messages.len() - 1].to_vec();
        let (old, new) = (conversation(last), conversation(prompt));
        if self.dropped == 0 {
            assert_eq!(last.messages[1], prompt.messages[1], "layer 4 changed without a compaction");
        }
        assert!(self.dropped > 0 || new.len() >= old.len(), "the conversation lost entries");
        for (before, after) in old.iter().skip(self.dropped).zip(&new) {
            if before == after {
                continue;
            }
            let (Message::Tool { call, name, .. }, Message::Tool { call: still, text, .. }) = (before, after) else {
                panic!("{before:?} became {after:?}");
            };
            assert_eq!(call, still);
            let verb = if self.masked.contains(call) { "masked" } else { "folded" };
            assert!(text.starts_with(&format!("[{name} result {verb}: ")), "{text}");
        }
    }

    /// What was replaced by a line can be had again, whole, as the line says.
    fn again(&self, job: &Job, call: &str, name: &str, text: &str) {
        let given = &self.results[call];
        if text == given.text {
            return;
        }
        assert!(text.len() < given.text.len(), "the line is longer than what it replaces");
        if let Some(spilled) = &given.spilled {
            assert!(text.contains(&spilled.path), "{text}");
        } else if let Some(shown) = &given.shown {
            assert!(text.contains("call it again with "), "{text}");
            assert!(job.spec.document(&shown.document).is_some());
        } else if text.ends_with("it is kept in the journal only]") {
            let reading = ["read_file", "read_document", "list_files", "list_documents", "search_files", "todo_list"];
            assert!(!reading.contains(&name), "{text}");
        }
    }
}
