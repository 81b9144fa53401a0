//! The texts of messages and files in the journal. A large text that stands in an earlier line is replaced by its hash
//! and that line's number, so that a journal grows only by new texts. In memory a part always is its text:
//! [`PartRegister`] folds the parts of a line before it is written, and resolves them when it is read.

use super::{
    digest::sha256,
    event::{ConversationEvent, Event, PersonEvent, PlanEvent, ToolEvent},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};

/// A text of at most this many bytes always stands in its own line.
const MOST_REPEATED_BYTES: usize = 1_024;

/// A text of a message, or of a file.
///
/// ```
/// use overnight_core::job::part::Part;
///
/// let part = Part::from("Look.".to_owned());
/// assert_eq!((part.text(), serde_json::to_string(&part)?), ("Look.", r#"{"text":"Look."}"#.to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// The text itself.
    Text(String),
    /// A reference to an earlier line; it occurs only in the journal as written.
    Stored {
        /// SHA-256 of the text.
        sha256: String,
        /// Number of the earlier line that the text stands in.
        seq: u64,
    },
}

impl Part {
    /// The text; empty for a part that was not resolved.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Stored { .. } => "",
        }
    }

    /// The SHA-256 of the text, known even if the part was not resolved.
    pub fn sha256(&self) -> String {
        match self {
            Self::Text(text) => sha256(text.as_bytes()),
            Self::Stored { sha256, .. } => sha256.clone(),
        }
    }
}

impl Default for Part {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A type in which the facts of a journal line can be read and written.
pub trait Fact: Clone + Serialize + DeserializeOwned {
    /// The event whose parts are folded and resolved; `None` leaves the fact as it stands in the file.
    fn as_event(&mut self) -> Option<&mut Event>;

    /// Reads it from a tree of values, which is not copied.
    fn from_value(value: Value) -> serde_json::Result<Self>;
}

impl Fact for Event {
    fn as_event(&mut self) -> Option<&mut Event> {
        Some(self)
    }

    fn from_value(value: Value) -> serde_json::Result<Self> {
        Self::from_value(value)
    }
}

/// A fact as plain JSON, whatever it means.
impl Fact for Value {
    fn as_event(&mut self) -> Option<&mut Event> {
        None
    }

    fn from_value(value: Value) -> serde_json::Result<Self> {
        Ok(value)
    }
}

impl Event {
    /// All parts of it, in the order of its fields.
    pub fn parts_mut(&mut self) -> Vec<&mut Part> {
        match self {
            Self::Plan(PlanEvent::FilesExamined { files }) => {
                let mut parts: Vec<&mut Part> = [&mut files.plan, &mut files.memory].into_iter().flatten().collect();
                parts.extend([&mut files.instructions, &mut files.summary]);
                parts
            }
            Self::Plan(
                PlanEvent::PlanRead { text: part, .. }
                | PlanEvent::PlanSaved { text: part, .. }
                | PlanEvent::PlanSet { text: part, .. }
                | PlanEvent::MemorySaved { text: part },
            )
            | Self::Conversation(ConversationEvent::SubAgentStarted { system_prompt: part, .. })
            | Self::Person(PersonEvent::FeedbackGiven { instructions: part, .. }) => vec![part],
            Self::Conversation(ConversationEvent::EpochOpened { opening, .. }) => opening.iter_mut().collect(),
            Self::Person(PersonEvent::FilesEdited { memory, .. }) => memory.iter_mut().collect(),
            _ => Vec::new(),
        }
    }
}

/// The error for a part that names a text which no earlier line holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it names a text of line {seq} with the SHA-256 {sha256}, and that line holds no such text")]
pub struct UnknownPart {
    /// The hash that the part names.
    pub sha256: String,
    /// The line that the part names.
    pub seq: u64,
}

/// Large texts of a journal: parts, and results since the last reply. A reader keeps the texts, a writer their hashes.
#[derive(Clone, Debug, Default)]
pub struct PartRegister {
    /// The parts, by hash.
    parts: HashMap<String, KnownText>,
    /// Results since the model's last reply, by hash.
    results: HashMap<String, KnownText>,
    is_without_texts: bool,
}

#[derive(Clone, Debug)]
struct KnownText {
    seq: u64,
    /// The text; `None` if only hashes are kept.
    text: Option<Arc<str>>,
}

impl PartRegister {
    /// The register without texts, for a process that only writes from here on.
    #[must_use]
    pub fn without_texts(mut self) -> Self {
        self.is_without_texts = true;
        self.parts.values_mut().chain(self.results.values_mut()).for_each(|known| known.text = None);
        self
    }

    /// Replaces the large texts that earlier lines hold by their hashes. Once the line is written, it must be passed to
    /// [`Self::observe`].
    pub fn fold<F: Fact>(&self, facts: &mut [F]) {
        for part in parts_mut(facts) {
            if let Part::Text(text) = part
                && text.len() > MOST_REPEATED_BYTES
            {
                let sha256 = sha256(text.as_bytes());
                if let Some(KnownText { seq, .. }) = self.known(&sha256) {
                    *part = Part::Stored { sha256, seq: *seq };
                }
            }
        }
    }

    /// Registers line `seq` as it was written.
    pub fn observe<F: Fact>(&mut self, seq: u64, facts: &mut [F]) {
        // A result that is named again is a part from here on, even after the next reply.
        for part in parts_mut(facts) {
            if let Part::Stored { sha256, .. } = part
                && let Some(result) = self.results.get(sha256)
            {
                self.parts.entry(sha256.clone()).or_insert_with(|| result.clone());
            }
        }
        let is_without_texts = self.is_without_texts;
        let put = |texts: &mut HashMap<String, KnownText>, text: &str| {
            if text.len() > MOST_REPEATED_BYTES {
                let text_kept = || (!is_without_texts).then(|| Arc::from(text));
                texts.entry(sha256(text.as_bytes())).or_insert_with(|| KnownText { seq, text: text_kept() });
            }
        };
        for event in facts.iter_mut().filter_map(Fact::as_event) {
            if let Event::Conversation(ConversationEvent::ModelReplied { .. }) = event {
                self.results.clear();
            }
            if let Event::Tool(ToolEvent::ToolReturned { result, .. }) = event {
                put(&mut self.results, &result.text);
            }
            event.parts_mut().into_iter().for_each(|part| put(&mut self.parts, part.text()));
        }
    }

    /// Restores the texts in line `seq` as it was read, and registers it. An error names the first part without a text;
    /// all other parts still get theirs.
    pub fn resolve<F: Fact>(&mut self, seq: u64, facts: &mut [F]) -> Result<(), UnknownPart> {
        let named = parts_mut(facts).filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Stored { sha256, seq } => {
                let known = self.known(sha256).filter(|known| known.seq == *seq);
                Some(known.and_then(|known| known.text.clone()))
            }
        });
        let mut texts = named.collect::<Vec<_>>().into_iter();
        self.observe(seq, facts);
        let mut unknown = None;
        for part in parts_mut(facts) {
            if let Part::Stored { sha256, seq } = part {
                match texts.next().flatten() {
                    Some(text) => *part = Part::from(&*text),
                    None => unknown = unknown.or_else(|| Some(UnknownPart { sha256: sha256.clone(), seq: *seq })),
                }
            }
        }
        unknown.map_or(Ok(()), Err)
    }

    fn known(&self, sha256: &str) -> Option<&KnownText> {
        self.parts.get(sha256).or_else(|| self.results.get(sha256))
    }
}

fn parts_mut<F: Fact>(facts: &mut [F]) -> impl Iterator<Item = &mut Part> {
    facts.iter_mut().filter_map(Fact::as_event).flat_map(Event::parts_mut)
}
