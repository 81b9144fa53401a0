//! Pages that only eyes can read: which they are, what was read on them, and how far two readings agree.
//!
//! A page without text that could be trusted is transcribed by a model that takes images, in a conversation of its own which
//! knows nothing of the task: who knows what is wanted finds it. What stands there is read a second time by something that knows
//! nothing of the first reading.

use super::{
    conversation::{HelperEnd, HelperRole},
    instructions::Instructions,
    spec::DocumentEntry,
    state::Job,
};
use crate::message::Image;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A page that is to be read by eyes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannedPage {
    /// The document's name.
    pub document: String,
    /// From 1.
    pub page: u64,
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
    /// How its conversation ended.
    pub end: HelperEnd,
    /// As it was transcribed.
    pub text: String,
}

/// What a page was compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageWitness {
    /// A program that recognises characters: its name and version.
    Recognised(String),
    /// Another model.
    Model(String),
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

impl Instructions {
    /// Models that transcribe each page: the second only where one is named.
    pub fn page_readers(&self) -> u32 {
        1 + u32::from(self.models.vision_second.is_some())
    }
}

impl Job {
    /// What a reader, from 1, made of a page: in this job, or in an earlier one.
    pub fn page_reading(&self, page: &ScannedPage, reader: u32) -> Option<PageReading> {
        let kept = page.kept.iter().find(|kept| kept.reader == reader);
        let kept = kept.map(|kept| PageReading { end: HelperEnd::Reported, text: kept.text.clone() });
        kept.or_else(|| self.scans.readings.get(&(page.image.sha256.clone(), reader)).cloned())
    }

    /// The readings that are still to be had, as helpers have them.
    pub(crate) fn unread_pages(&self) -> Vec<HelperRole> {
        if self.scans.outcomes.is_some() {
            return Vec::new();
        }
        let readers = self.spec.instructions.page_readers();
        let of_page = |page| {
            (1..=readers)
                .filter(move |reader| self.page_reading(page, *reader).is_none())
                .map(move |reader| HelperRole::Transcriber { document: page.document.clone(), page: page.page, reader })
        };
        let mut pictures = BTreeSet::new();
        let different = self.spec.scans.iter().filter(|page| pictures.insert(&page.image.sha256));
        different.flat_map(of_page).collect()
    }

    /// Whether all readings are there, and are still to be compared.
    pub(crate) fn owes_pages(&self) -> bool {
        !self.spec.scans.is_empty()
            && self.scans.outcomes.is_none()
            && self.helpers.is_empty()
            && self.unread_pages().is_empty()
    }

    /// The picture that a transcriber looks at.
    pub(crate) fn scanned_page(&self, document: &str, page: u64) -> Option<&ScannedPage> {
        self.spec.scans.iter().find(|scan| scan.document == document && scan.page == page)
    }

    /// A transcriber has ended.
    pub(crate) fn on_page_read(&mut self, (document, page, reader): (&str, u64, u32), end: HelperEnd, text: &str) {
        let Some(scan) = self.scanned_page(document, page) else { return };
        let reading = PageReading { end, text: text.to_owned() };
        self.scans.readings.insert((scan.image.sha256.clone(), reader), reading);
    }

    /// Takes the documents in with the text of their scanned pages.
    pub(crate) fn on_pages_read(&mut self, documents: &[DocumentEntry], pages: &[PageOutcome]) {
        let all = &mut std::sync::Arc::make_mut(&mut self.spec).documents;
        for document in documents {
            if let Some(entry) = all.iter_mut().find(|entry| entry.name == document.name) {
                entry.clone_from(document);
            }
        }
        self.scans.outcomes = Some(pages.to_vec());
    }
}
