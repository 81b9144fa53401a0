//! Pages that must be read from their image: the pages, their transcriptions, and the agreement of two readings.
//!
//! A page without trustworthy text is transcribed by a model that takes images, in a conversation of its own that knows
//! nothing of the task: a reader that knows what is wanted tends to find it. The page is read a second time, by a model
//! or a program that knows nothing of the first reading.

use crate::message::Image;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A page that is to be read from its image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannedPage {
    /// The document's name.
    pub document: String,
    /// The page number, from 1.
    pub page: u64,
    /// The picture that the page consists of, as its text names it; `None`: the page itself is rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Whether the document has a text of the page, which is compared with the transcription.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_text: bool,
    /// The image of the page.
    pub image: Image,
    /// Pixels of it that are darker than their surroundings, of 10,000.
    pub ink: u32,
    /// Transcriptions of the same picture from earlier jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptReading>,
}

/// A transcription that an earlier job has paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptReading {
    /// The number of its reader among the job's readers, from 1.
    pub reader: u32,
    /// The transcribed text.
    pub text: String,
}

/// The result of one reader for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageReading {
    /// The transcribed text.
    pub text: String,
    /// Why the transcription failed; `None` if it succeeded.
    pub fault: Option<String>,
}

/// The second source with which a page was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageWitness {
    /// A program that recognises characters, by its name.
    Recognised(String),
    /// Another model.
    Model(String),
    /// The document's own text of the page.
    OwnText,
}

/// The outcome for a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageOutcome {
    /// The document's name.
    pub document: String,
    /// The page number, from 1.
    pub page: u64,
    /// Words of the transcription.
    pub words: u64,
    /// Those of `words` that the other reading has as well.
    pub agreed: u64,
    /// How far both readings agree, 0 to 1; `None` if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// The source of the second reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<PageWitness>,
    /// Why the transcription is not the page's text: a phrase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// The scanned pages of a job, as they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scans {
    /// The readings by the hash of the picture, and by reader: equal pictures are read once.
    pub readings: BTreeMap<(String, u32), PageReading>,
    /// The outcomes; `None` before all pages are compared.
    pub outcomes: Option<Vec<PageOutcome>>,
}

impl Scans {
    /// The result of a reader, from 1, for a page: from this job, or from an earlier one.
    pub fn reading(&self, page: &ScannedPage, reader: u32) -> Option<PageReading> {
        let kept = page.kept.iter().find(|kept| kept.reader == reader);
        let kept = kept.map(|kept| PageReading { text: kept.text.clone(), fault: None });
        kept.or_else(|| self.readings.get(&(page.image.sha256.clone(), reader)).cloned())
    }
}
