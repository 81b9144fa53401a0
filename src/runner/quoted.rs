//! Where the quotes of the deliverables stand: looked for while the contract is checked, and written to `quotes.jsonl` in
//! the workspace, one JSON object for each. The file follows from deliverables and documents alone, so that a check that is
//! made again writes the same; an ending holds its hash.

use super::RunError;
use crate::{tool::Library, workspace::Workspace};
use overnight_core::job::{
    contract::{Asked, QuoteResult},
    record::QuotePositions,
    spec::DocumentEntry,
    state::{Job, QUOTES_FILE},
};
use overnight_documents::{Place, Position, QuoteIndex};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes of the file; quotes behind them are counted.
const MOST_BYTES: usize = 32 << 20;
/// Bytes of text whose indexes are kept. A deliverable mostly quotes document after document.
const KEPT_BYTES: usize = 48 << 20;

/// One line of the file.
#[derive(Debug, Serialize)]
struct Line<'q> {
    deliverable: &'q str,
    /// The object with the quote in it, `$.requirements[3]`, and the quote's key there.
    item: &'q str,
    key: &'q str,
    /// As the deliverable names it, where there is none of that name.
    document: &'q str,
    /// Of the document, not of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'q str>,
    /// As the deliverable gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    result: Standing,
    /// Its first character and its last.
    #[serde(flatten)]
    place: Option<Place>,
    /// The characters there were recognised in an image.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recognised: bool,
    /// Why no text was got from the page that the deliverable gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<&'q str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Standing {
    /// On the page given, where one is given.
    Found,
    OnAnotherPage,
    NotFound,
    NoSuchDocument,
}

/// The quotes that were looked for so far.
#[derive(Debug)]
pub(super) struct Quoted<'j> {
    job: &'j Job,
    workspace: &'j Workspace,
    indexes: BTreeMap<String, QuoteIndex>,
    lines: Vec<u8>,
    quotes: u64,
    found: u64,
}

impl<'j> Quoted<'j> {
    pub(super) fn new(job: &'j Job, workspace: &'j Workspace) -> Self {
        Self { job, workspace, indexes: BTreeMap::new(), lines: Vec::new(), quotes: 0, found: 0 }
    }

    /// Looks for a quote, and keeps where it is.
    pub(super) fn find(&mut self, asked: Asked<'_>) -> QuoteResult {
        let name = asked.document.strip_prefix("documents/").unwrap_or(asked.document);
        let job = self.job;
        let document = job.spec.document(name);
        let (result, place) = match document {
            None => (Standing::NoSuchDocument, None),
            Some(document) => self.look(document, &asked),
        };
        self.quotes += 1;
        self.found += u64::from(result == Standing::Found);
        let page = asked.page.filter(|_| document.is_some_and(|document| document.paged));
        if self.lines.len() < MOST_BYTES {
            let line = Line {
                deliverable: asked.deliverable,
                item: asked.item,
                key: asked.key,
                document: document.map_or(asked.document, |document| &document.name),
                sha256: document.map(|document| document.sha256.as_str()),
                page: asked.page,
                result,
                place,
                recognised: document.zip(place).is_some_and(|(document, place)| is_recognised(document, place)),
                gap: document.zip(page).and_then(|(document, page)| gap(document, page)),
            };
            // Plain fields written to memory: there is nothing in it that could fail.
            if serde_json::to_writer(&mut self.lines, &line).is_ok() {
                self.lines.push(b'\n');
            }
        }
        match (result, place) {
            (Standing::Found, _) => QuoteResult::Found,
            (Standing::OnAnotherPage, Some(place)) => QuoteResult::NotOnPage { found_on: place.from.unit_number() },
            (Standing::OnAnotherPage, None) | (Standing::NotFound, _) => QuoteResult::NotFound,
            (Standing::NoSuchDocument, _) => QuoteResult::NoSuchDocument,
        }
    }

    fn look(&mut self, document: &DocumentEntry, asked: &Asked<'_>) -> (Standing, Option<Place>) {
        if !self.indexes.contains_key(&document.name) {
            let Ok(index) = Library::quotes(self.workspace, document) else {
                return (Standing::NoSuchDocument, None);
            };
            if self.indexes.values().map(QuoteIndex::bytes).sum::<usize>() + index.bytes() > KEPT_BYTES {
                self.indexes.clear();
            }
            self.indexes.insert(document.name.clone(), index);
        }
        let Some(index) = self.indexes.get(&document.name) else {
            return (Standing::NoSuchDocument, None);
        };
        // A page can only be wrong where there are pages.
        let page = asked.page.filter(|_| document.paged);
        if let Some(place) = index.find(asked.quote, page) {
            return (Standing::Found, Some(place));
        }
        match page.and_then(|_| index.find(asked.quote, None)) {
            Some(place) => (Standing::OnAnotherPage, Some(place)),
            None => (Standing::NotFound, None),
        }
    }

    /// Writes the file, where the instructions ask for quotes to be checked.
    pub(super) fn write(self) -> Result<Option<QuotePositions>, RunError> {
        if self.job.spec.instructions.deliverables.iter().all(|deliverable| deliverable.quotes.is_empty()) {
            return Ok(None);
        }
        let hash = self.workspace.write(QUOTES_FILE, &self.lines)?;
        Ok(Some(QuotePositions {
            path: QUOTES_FILE.to_owned(),
            sha256: hash.sha256,
            bytes: hash.bytes,
            quotes: self.quotes,
            found: self.found,
        }))
    }
}

fn is_recognised(document: &DocumentEntry, place: Place) -> bool {
    let is_in = |position: Position| {
        position
            .page
            .is_some_and(|page| document.recognised.iter().any(|pages| (pages.from..=pages.to).contains(&page)))
    };
    is_in(place.from) || is_in(place.to)
}

fn gap(document: &DocumentEntry, page: u64) -> Option<&str> {
    let gap =
        document.gaps.iter().find(|gap| gap.pages.is_some_and(|pages| (pages.from..=pages.to).contains(&page)))?;
    Some(&gap.why)
}
