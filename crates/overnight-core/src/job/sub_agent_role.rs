//! The role of a sub-agent, and how its work ended.

use super::read_unit::ReadUnit;
use serde::{Deserialize, Serialize};

/// The role of a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SubAgentRole {
    /// The model has delegated a task to one of the instructions' agents.
    Delegate {
        /// The agent's name in the instructions.
        agent: String,
    },
    /// Lists the records of these parts a second time.
    SecondReader {
        /// The parts, in the order in which they are to be read.
        units: Vec<ReadUnit>,
    },
    /// Records what stands in one part of the documents, while others read the other parts.
    Reader {
        /// Its place among the parts, from 1.
        part: u32,
        /// The parts, in the order in which they stand in its opening.
        units: Vec<ReadUnit>,
    },
    /// Judges the deliverables.
    Verifier {
        /// The round, from 1.
        round: u32,
    },
    /// Transcribes a page that must be read from its image.
    Transcriber {
        /// The document's name.
        document: String,
        /// The page number, from 1.
        page: u64,
        /// The number of this reader among the page's readers, from 1.
        reader: u32,
    },
}

impl SubAgentRole {
    /// The role in a few words: `agent validator`, `second reader`, `verifier`.
    pub fn told(&self) -> String {
        match self {
            Self::Delegate { agent } => format!("agent {agent}"),
            Self::SecondReader { .. } => "second reader".to_owned(),
            Self::Reader { part, .. } => format!("reader of part {part}"),
            Self::Verifier { .. } => "verifier".to_owned(),
            Self::Transcriber { document, page, reader: 1 } => format!("transcriber of page {page} of {document}"),
            Self::Transcriber { document, page, .. } => format!("second transcriber of page {page} of {document}"),
        }
    }
}

/// How a sub-agent's work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubAgentEnd {
    /// It reported that it is done.
    Reported,
    /// It stopped without finishing its work, despite all reminders.
    Unfinished,
    /// Its turns are used up.
    TurnsUsed,
    /// It made no progress any more.
    Stuck,
    /// Its history has no room left.
    Full,
    /// Its provider withheld its replies.
    Withheld,
    /// It can't be asked any more.
    Failed,
}

impl SubAgentEnd {
    /// The end of a sentence that begins with `the sub-agent …`.
    pub fn told(self) -> &'static str {
        match self {
            Self::Reported => "has reported",
            Self::Unfinished => "stopped before it was done",
            Self::TurnsUsed => "used up its turns",
            Self::Stuck => "got stuck",
            Self::Full => "had no room left in its context",
            Self::Withheld => "had its replies withheld by the provider",
            Self::Failed => "could not be asked",
        }
    }
}
