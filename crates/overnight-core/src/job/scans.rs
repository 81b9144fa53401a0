//! Pages that only eyes can read: which they are, what was read on them, and how far two readings agree.
//!
//! A page without text that could be trusted is transcribed by a model that takes images, in a conversation of its own which
//! knows nothing of the task: who knows what is wanted finds it. What stands there is read a second time by something that knows
//! nothing of the first reading.

use crate::message::Image;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A page that is to be read by eyes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannedPage {
    /// The document's name.
    pub document: String,
    /// From 1.
    pub page: u64,
    /// The picture that the page consists of, as its text names it; none: the page itself is painted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// It has a text of its own, which is compared with what is seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_text: bool,
    /// The page as it is looked at.
    pub image: Image,
    /// Pixels of it that are darker than what is around them, of 10,000.
    pub ink: u32,
    /// What earlier jobs have had read on the same picture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptReading>,
}

/// A transcription that an earlier job has paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptReading {
    /// Whose it is, as the job's readers are numbered, from 1.
    pub reader: u32,
    /// As it was transcribed.
    pub text: String,
}

/// What one reader made of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageReading {
    /// As it was transcribed.
    pub text: String,
    /// Why it could not be; none: it was.
    pub fault: Option<String>,
}

/// What a page was compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageWitness {
    /// A program that recognises characters, by its name.
    Recognised(String),
    /// Another model.
    Model(String),
    /// The text that the document itself has of the page.
    OwnText,
}

/// What came of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageOutcome {
    /// The document's name.
    pub document: String,
    /// From 1.
    pub page: u64,
    /// Words of the transcription, and those that the other reading has as well.
    pub words: u64,
    /// See `words`.
    pub agreed: u64,
    /// How far both readings agree, 0 to 1; none: there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Who read it the second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<PageWitness>,
    /// Why what was read is not its text: a fragment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// The scanned pages of a job, as they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scans {
    /// By the hash of the picture, and by reader: equal pictures are read once.
    pub readings: BTreeMap<(String, u32), PageReading>,
    /// None before all are compared.
    pub outcomes: Option<Vec<PageOutcome>>,
}
