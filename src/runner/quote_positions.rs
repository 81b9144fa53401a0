//! Where the quotes of the deliverables stand: looked for while the contract is checked, and written to `quotes.jsonl` in
//! the workspace, one JSON object for each. The file follows from deliverables and documents alone, so that a check that is
//! made again writes the same; an ending holds its hash.

use super::{RunError, contract_check};
use crate::{
    tool::DocumentCache,
    workspace::{Workspace, WorkspaceError},
};
use overnight_core::job::{
    contract::{NearestText, QuoteQuery, QuoteResult},
    record::QuotePositions,
    second_reading::QuoteSpan,
    spec::DocumentEntry,
    state::{Job, QUOTES_FILE},
};
use overnight_documents::{NearestPassage, QuoteIndex, QuotePlace, TextPosition};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{BufRead, BufReader},
    ops::Range,
};

/// Bytes of the file; quotes behind them are counted.
const MOST_BYTES: usize = 32 << 20;
/// Bytes of text whose indexes are kept. A deliverable mostly quotes document after document.
const KEPT_BYTES: usize = 48 << 20;

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct QuoteLine<'q> {
    pub deliverable: Cow<'q, str>,
    /// The object with the quote in it, `$.requirements[3]`, and the quote's key there.
    pub item: Cow<'q, str>,
    pub key: Cow<'q, str>,
    /// As the deliverable names it, where there is none of that name.
    pub document: Cow<'q, str>,
    /// Of the document, not of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Cow<'q, str>>,
    /// As the deliverable gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    pub result: QuoteStatus,
    /// Its first character and its last.
    #[serde(flatten)]
    pub place: Option<QuotePlace>,
    /// The characters there were recognised in an image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recognised: bool,
    /// Why no text was got from the page that the deliverable gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Cow<'q, str>>,
}

impl QuoteLine<'_> {
    /// Reads the file of a workspace, line by line; what can't be read is passed over, and there may be no file.
    pub fn read(workspace: &Workspace, visit: &mut dyn FnMut(QuoteLine<'static>)) -> Result<(), WorkspaceError> {
        let file = match workspace.stream(QUOTES_FILE) {
            Ok((file, _)) => BufReader::new(file),
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error),
        };
        file.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()).for_each(visit);
        Ok(())
    }
}

/// Whether a quote stands where the deliverable says, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteStatus {
    /// On the page given, where one is given.
    Found,
    OnAnotherPage,
    NotFound,
    NoSuchDocument,
}

impl QuoteStatus {
    /// As the file names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::OnAnotherPage => "on_another_page",
            Self::NotFound => "not_found",
            Self::NoSuchDocument => "no_such_document",
        }
    }
}

/// The quotes that were looked for so far.
#[derive(Debug)]
pub(super) struct QuoteCheck<'j> {
    job: &'j Job,
    workspace: &'j Workspace,
    indexes: BTreeMap<String, QuoteIndex>,
    lines: Vec<u8>,
    quotes: u64,
    found: u64,
}

impl<'j> QuoteCheck<'j> {
    pub(super) fn new(job: &'j Job, workspace: &'j Workspace) -> Self {
        Self { job, workspace, indexes: BTreeMap::new(), lines: Vec::new(), quotes: 0, found: 0 }
    }

    /// Looks for a quote, and keeps where it is.
    pub(super) fn find(&mut self, query: QuoteQuery<'_>) -> QuoteResult {
        let name = query.document.strip_prefix("documents/").unwrap_or(query.document);
        let job = self.job;
        let document = job.spec.document(name);
        let (result, place) = match document {
            None => (QuoteStatus::NoSuchDocument, None),
            Some(document) => self.look_in(document, &query),
        };
        self.quotes += 1;
        self.found += u64::from(result == QuoteStatus::Found);
        let page = query.page.filter(|_| document.is_some_and(|document| document.paged));
        if self.lines.len() < MOST_BYTES {
            let line = QuoteLine {
                deliverable: query.deliverable.into(),
                item: query.item.into(),
                key: query.key.into(),
                document: document.map_or(query.document, |document| &document.name).into(),
                sha256: document.map(|document| document.sha256.as_str().into()),
                page: query.page,
                result,
                place,
                recognised: document.zip(place).is_some_and(|(document, place)| is_recognised(document, place)),
                gap: document.zip(page).and_then(|(document, page)| gap(document, page)).map(Cow::Borrowed),
            };
            // Plain fields written to memory: there is nothing in it that could fail.
            if serde_json::to_writer(&mut self.lines, &line).is_ok() {
                self.lines.push(b'\n');
            }
        }
        match (result, place) {
            (QuoteStatus::Found, _) => QuoteResult::Found,
            (QuoteStatus::OnAnotherPage, Some(place)) => QuoteResult::NotOnPage { found_on: place.from.unit_number() },
            (QuoteStatus::OnAnotherPage, None) | (QuoteStatus::NotFound, _) => match document {
                Some(document) if query.is_explained => self.explain(document, query.quote),
                Some(_) | None => QuoteResult::NotFound { nearest: None },
            },
            (QuoteStatus::NoSuchDocument, _) => QuoteResult::NoSuchDocument,
        }
    }

    /// Where a quote stands, on the page that is given for it or, failing that, on any.
    pub(super) fn span(&mut self, document: &str, quote: &str, page: Option<u64>) -> Option<(QuoteSpan, QuotePlace)> {
        let job = self.job;
        let document = job.spec.document(document.strip_prefix("documents/").unwrap_or(document))?;
        let page = page.filter(|_| document.paged);
        let index = self.index(document)?;
        let place = index.find(quote, page).or_else(|| index.find(quote, None))?;
        let Range { start, end } = index.span(place);
        Some((QuoteSpan { document: document.name.clone(), start, end }, place))
    }

    /// Which other document has the quote, or what the one that was named has instead.
    fn explain(&mut self, document: &DocumentEntry, quote: &str) -> QuoteResult {
        let job = self.job;
        if contract_check::are_documents_few(job) {
            for other in job.spec.documents.iter().filter(|other| other.name != document.name) {
                if let Some(place) = self.index(other).and_then(|index| index.find(quote, None)) {
                    return QuoteResult::InOtherDocument { document: other.name.clone(), page: place.from.page };
                }
            }
        }
        let nearest = self.index(document).and_then(|index| index.nearest(quote)).map(|nearest| {
            let NearestPassage { at, passage, quoted, word } = nearest;
            let unit = if at.page.is_some() { "page" } else { "line" };
            NearestText { place: format!("{unit} {}", at.unit_number()), passage, quoted, word }
        });
        QuoteResult::NotFound { nearest }
    }

    fn index(&mut self, document: &DocumentEntry) -> Option<&QuoteIndex> {
        if !self.indexes.contains_key(&document.name) {
            let index = DocumentCache::quotes(self.workspace, document).ok()?;
            if self.indexes.values().map(QuoteIndex::bytes).sum::<usize>() + index.bytes() > KEPT_BYTES {
                self.indexes.clear();
            }
            self.indexes.insert(document.name.clone(), index);
        }
        self.indexes.get(&document.name)
    }

    fn look_in(&mut self, document: &DocumentEntry, query: &QuoteQuery<'_>) -> (QuoteStatus, Option<QuotePlace>) {
        let Some(index) = self.index(document) else {
            return (QuoteStatus::NoSuchDocument, None);
        };
        // A page can only be wrong where there are pages.
        let page = query.page.filter(|_| document.paged);
        if let Some(place) = index.find(query.quote, page) {
            return (QuoteStatus::Found, Some(place));
        }
        match page.and_then(|_| index.find(query.quote, None)) {
            Some(place) => (QuoteStatus::OnAnotherPage, Some(place)),
            None => (QuoteStatus::NotFound, None),
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

fn is_recognised(document: &DocumentEntry, place: QuotePlace) -> bool {
    let is_in = |position: TextPosition| {
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
