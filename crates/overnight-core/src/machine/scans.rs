//! Scanned pages come first: all are transcribed side by side, and compared, before the job reads anything.

use crate::job::{
    conversation::Conversation,
    event::Event,
    instructions::Instructions,
    scans::{PageOutcome, PageReading, ScannedPage},
    spec::DocumentEntry,
    state::Job,
    sub_agent_role::{SubAgentEnd, SubAgentRole},
};
use std::{collections::BTreeSet, sync::Arc};

/// The most replies of a transcriber: one is enough; a model that calls tools that it doesn't have is corrected.
const MOST_REPLIES: u64 = 3;

impl Job {
    /// Transcribers begin, one for each reading that is missing.
    pub(super) fn owed_to_scans(&self) -> Option<Vec<Event>> {
        let roles = self.unread_pages();
        let start = |(number, role)| self.start_sub_agent_as(number, role, "");
        (!roles.is_empty()).then(|| (self.sub_agents_begun + 1..).zip(roles).flat_map(start).collect())
    }

    /// The end of a transcriber, if its page has been read, or can't be.
    pub(super) fn owed_by_transcriber(&self, sub_agent: &Conversation) -> Option<Vec<Event>> {
        if sub_agent.turns == 0 || !sub_agent.calls.pending.is_empty() {
            return None;
        }
        if sub_agent.effort.silent {
            let said = sub_agent.epoch.last_reply().unwrap_or_default();
            let end = if sub_agent.is_cut { SubAgentEnd::Unfinished } else { SubAgentEnd::Reported };
            return Some(self.end_sub_agent(sub_agent, end, said));
        }
        (sub_agent.turns >= MOST_REPLIES).then(|| self.end_sub_agent(sub_agent, SubAgentEnd::TurnsUsed, ""))
    }

    /// Whether a sub-agent only transcribes.
    pub(super) fn is_transcriber(sub_agent: &Conversation) -> bool {
        matches!(sub_agent.role, Some(SubAgentRole::Transcriber { .. }))
    }
}

impl Instructions {
    /// The models that transcribe each page, numbered from 1; `own` is the job's. There is a second one only if named.
    pub fn page_readers<'m>(&'m self, own: &'m str) -> impl Iterator<Item = (u32, &'m str)> + Clone {
        let first = self.models.vision.as_deref().unwrap_or(own);
        (1..).zip(std::iter::once(first).chain(self.models.vision_second.as_deref()))
    }
}

impl Job {
    /// The result of a reader, from 1, for a page: from this job, or from an earlier one.
    pub fn page_reading(&self, page: &ScannedPage, reader: u32) -> Option<PageReading> {
        let kept = page.kept.iter().find(|kept| kept.reader == reader);
        let kept = kept.map(|kept| PageReading { text: kept.text.clone(), fault: None });
        kept.or_else(|| self.scans.readings.get(&(page.image.sha256.clone(), reader)).cloned())
    }

    /// The readings that are still missing, as roles of sub-agents.
    pub(crate) fn unread_pages(&self) -> Vec<SubAgentRole> {
        if self.scans.outcomes.is_some() {
            return Vec::new();
        }
        let readers = self.spec.instructions.page_readers(&self.spec.model).map(|(reader, _)| reader);
        let of_page = |page: &'_ ScannedPage| {
            // A page's own text is the second reading.
            let readers = readers.clone().filter(|reader| *reader == 1 || !page.has_text);
            let unread = readers.filter(|reader| self.page_reading(page, *reader).is_none());
            let role = |reader| SubAgentRole::Transcriber { document: page.document.clone(), page: page.page, reader };
            unread.map(role).collect::<Vec<_>>()
        };
        let mut pictures = BTreeSet::new();
        let different = self.spec.scans.iter().filter(|page| pictures.insert(&page.image.sha256));
        different.flat_map(of_page).collect()
    }

    /// Whether all readings are there, and are still to be compared.
    pub(crate) fn owes_pages(&self) -> bool {
        !self.spec.scans.is_empty()
            && self.scans.outcomes.is_none()
            && self.sub_agents.is_empty()
            && self.unread_pages().is_empty()
    }

    /// The picture that a transcriber looks at.
    pub(crate) fn scanned_page(&self, document: &str, page: u64) -> Option<&ScannedPage> {
        self.spec.scans.iter().find(|scan| scan.document == document && scan.page == page)
    }

    /// A transcriber has ended.
    pub(crate) fn on_page_read(&mut self, (document, page, reader): (&str, u64, u32), end: SubAgentEnd, text: &str) {
        let Some(scan) = self.scanned_page(document, page) else { return };
        let fault = (end != SubAgentEnd::Reported).then(|| end.told().to_owned());
        let reading = PageReading { text: text.to_owned(), fault };
        self.scans.readings.insert((scan.image.sha256.clone(), reader), reading);
    }

    /// Updates the documents, which now have the text of their scanned pages.
    pub(crate) fn on_pages_read(&mut self, documents: &[DocumentEntry], pages: &[PageOutcome]) {
        let all = &mut Arc::make_mut(&mut self.spec).documents;
        for document in documents {
            if let Some(entry) = all.iter_mut().find(|entry| entry.name == document.name) {
                entry.clone_from(document);
            }
        }
        self.scans.outcomes = Some(pages.to_vec());
    }
}
