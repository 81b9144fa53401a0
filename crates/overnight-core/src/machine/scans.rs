//! Scanned pages come first: all are transcribed side by side, and compared, before the job reads anything.

use super::{sub_agent_end, sub_agent_start};
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

/// Transcribers begin, one for each reading that is missing.
pub(super) fn owed_to_scans(job: &Job) -> Option<Vec<Event>> {
    let roles = unread_pages(job);
    let start = |(number, role)| sub_agent_start::start_sub_agent_as(job, number, role, "");
    (!roles.is_empty()).then(|| (job.sub_agents_begun + 1..).zip(roles).flat_map(start).collect())
}

/// The end of a transcriber, if its page has been read, or can't be.
pub(super) fn owed_by_transcriber(job: &Job, sub_agent: &Conversation) -> Option<Vec<Event>> {
    if sub_agent.turns == 0 || !sub_agent.calls.pending.is_empty() {
        return None;
    }
    if sub_agent.effort.silent {
        let said = sub_agent.epoch.last_reply().unwrap_or_default();
        let end = if sub_agent.is_cut { SubAgentEnd::Unfinished } else { SubAgentEnd::Reported };
        return Some(sub_agent_end::end_sub_agent(job, sub_agent, end, said));
    }
    (sub_agent.turns >= MOST_REPLIES).then(|| sub_agent_end::end_sub_agent(job, sub_agent, SubAgentEnd::TurnsUsed, ""))
}

impl Instructions {
    /// The models that transcribe each page, numbered from 1; `own` is the job's. There is a second one only if named.
    pub fn page_readers<'m>(&'m self, own: &'m str) -> impl Iterator<Item = (u32, &'m str)> + Clone {
        let first = self.models.vision.as_deref().unwrap_or(own);
        (1..).zip(std::iter::once(first).chain(self.models.vision_second.as_deref()))
    }
}

/// The readings that are still missing, as roles of sub-agents.
pub(crate) fn unread_pages(job: &Job) -> Vec<SubAgentRole> {
    if job.scans.outcomes.is_some() {
        return Vec::new();
    }
    let readers = job.spec.instructions.page_readers(&job.spec.model).map(|(reader, _)| reader);
    let of_page = |page: &'_ ScannedPage| {
        // A page's own text is the second reading.
        let readers = readers.clone().filter(|reader| *reader == 1 || !page.has_text);
        let unread = readers.filter(|reader| job.scans.reading(page, *reader).is_none());
        let role = |reader| SubAgentRole::Transcriber { document: page.document.clone(), page: page.page, reader };
        unread.map(role).collect::<Vec<_>>()
    };
    let mut pictures = BTreeSet::new();
    let different = job.spec.scans.iter().filter(|page| pictures.insert(&page.image.sha256));
    different.flat_map(of_page).collect()
}

/// Whether all readings are there, and are still to be compared.
pub(crate) fn owes_pages(job: &Job) -> bool {
    !job.spec.scans.is_empty()
        && job.scans.outcomes.is_none()
        && job.sub_agents.is_empty()
        && unread_pages(job).is_empty()
}

/// A transcriber has ended.
pub(crate) fn on_page_read(job: &mut Job, (document, page, reader): (&str, u64, u32), end: SubAgentEnd, text: &str) {
    let Some(scan) = job.spec.scanned_page(document, page) else { return };
    let fault = (end != SubAgentEnd::Reported).then(|| end.told().to_owned());
    let reading = PageReading { text: text.to_owned(), fault };
    job.scans.readings.insert((scan.image.sha256.clone(), reader), reading);
}

/// Updates the documents, which now have the text of their scanned pages.
pub(crate) fn on_pages_read(job: &mut Job, documents: &[DocumentEntry], pages: &[PageOutcome]) {
    let all = &mut Arc::make_mut(&mut job.spec).documents;
    for document in documents {
        if let Some(entry) = all.iter_mut().find(|entry| entry.name == document.name) {
            entry.clone_from(document);
        }
    }
    job.scans.outcomes = Some(pages.to_vec());
}
