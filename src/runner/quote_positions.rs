//! Where the quotes of the deliverables stand: looked for while the contract is checked, and written to `quotes.jsonl` in
//! the workspace, one JSON object for each. The file follows from deliverables and documents alone, so that a check that is
//! made again writes the same; an ending holds its hash.

use super::{RunError, contract_check};
use crate::{
    tool::DocumentCache,
    workspace::{Workspace, WorkspaceError},
};
use overnight_core::job::{
    contract::{NamedPlace, NamedUnit, NearestText, QuoteQuery, QuoteResult},
    finding::CorrectedQuote,
    record::QuotePositions,
    second_reading::{QuoteSpan, ReadUnit},
    spec::DocumentEntry,
    state::{Job, QUOTES_FILE},
};
use overnight_documents::{NearestPassage, QuoteIndex, QuotePlace, TextPosition, proves_nothing};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
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
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub result: QuoteStatus,
    /// Its first character and its last.
    #[serde(flatten)]
    pub place: Option<QuotePlace>,
    /// The bytes of the document's text, from its first to behind its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// The characters there were recognised in an image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recognised: bool,
    /// Why no text was got from the page that the deliverable gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Cow<'q, str>>,
}

impl QuoteLine<'_> {
    /// Reads where the quotes of a job stand now: as the file says, but for those that people have corrected since.
    pub fn read_corrected(
        job: &Job,
        workspace: &Workspace,
        visit: &mut dyn FnMut(QuoteLine<'static>),
    ) -> Result<(), WorkspaceError> {
        // Of a quote that was corrected twice the last word counts.
        let corrected: HashMap<[&str; 3], &CorrectedQuote> = job
            .corrections()
            .filter_map(|finding| Some((finding.file.as_deref()?, &finding.quotes)))
            .flat_map(|(file, quotes)| {
                quotes.iter().map(move |quote| ([file, quote.item.as_str(), quote.key.as_str()], quote))
            })
            .collect();
        Self::read(workspace, &mut |line| {
            if !corrected.contains_key(&[&*line.deliverable, &*line.item, &*line.key]) {
                visit(line);
            }
        })?;
        let lines = corrected.into_values().filter_map(|quote| quote.line.as_ref());
        lines.filter_map(|line| serde_json::from_str(line).ok()).for_each(visit);
        Ok(())
    }

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
    OnAnotherLine,
    /// It would stand anywhere.
    TooShort,
    NotFound,
    NoSuchDocument,
}

impl QuoteStatus {
    /// As the file names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::OnAnotherPage => "on_another_page",
            Self::OnAnotherLine => "on_another_line",
            Self::TooShort => "too_short",
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
    /// By list and document.
    taken: HashMap<(String, String), TakenPlaces>,
}

/// Which places of one document the quotes of one list have so far.
#[derive(Debug, Default)]
struct TakenPlaces {
    /// First bytes.
    starts: HashSet<u64>,
    /// Places that are behind us, by quote and by the page or line that was named for it.
    times: HashMap<(String, Option<u64>), usize>,
}

impl<'j> QuoteCheck<'j> {
    pub(super) fn new(job: &'j Job, workspace: &'j Workspace) -> Self {
        Self { job, workspace, indexes: BTreeMap::new(), lines: Vec::new(), quotes: 0, found: 0, taken: HashMap::new() }
    }

    /// Looks for a quote, and keeps where it is.
    pub(super) fn find(&mut self, query: QuoteQuery<'_>) -> QuoteResult {
        let job = self.job;
        let document = job.spec.named(query.document);
        let list = format!("{} {}", query.deliverable, query.key);
        let (result, place) = match document {
            None => (QuoteStatus::NoSuchDocument, None),
            Some(document) => self.locate(&list, document, query.quote, query.at, None),
        };
        self.quotes += 1;
        self.found += u64::from(result == QuoteStatus::Found);
        let required = |unit: Option<NamedUnit>| unit.filter(|unit| unit.is_required).map(|unit| unit.number);
        let (page, line) = (required(query.at.page), required(query.at.line));
        let page_there = page.filter(|_| document.is_some_and(|document| document.paged));
        let span = document.zip(place).and_then(|(document, place)| Some(self.index(document)?.span(place)));
        if self.lines.len() < MOST_BYTES {
            let line = QuoteLine {
                deliverable: query.deliverable.into(),
                item: query.item.into(),
                key: query.key.into(),
                document: document.map_or(query.document, |document| &document.name).into(),
                sha256: document.map(|document| document.sha256.as_str().into()),
                page,
                line,
                result,
                place,
                start: span.as_ref().map(|span| span.start),
                end: span.map(|span| span.end),
                recognised: document.zip(place).is_some_and(|(document, place)| is_recognised(document, place)),
                gap: document.zip(page_there).and_then(|(document, page)| gap(document, page)).map(Cow::Borrowed),
            };
            // Plain fields written to memory: there is nothing in it that could fail.
            if serde_json::to_writer(&mut self.lines, &line).is_ok() {
                self.lines.push(b'\n');
            }
        }
        match (result, place) {
            (QuoteStatus::Found, _) => QuoteResult::Found,
            (QuoteStatus::OnAnotherPage, Some(place)) => {
                QuoteResult::Elsewhere { unit: "page", found_on: place.from.unit_number() }
            }
            (QuoteStatus::OnAnotherLine, Some(place)) => {
                QuoteResult::Elsewhere { unit: "line", found_on: place.from.unit_number() }
            }
            (QuoteStatus::TooShort, _) => QuoteResult::TooShort,
            (QuoteStatus::OnAnotherPage | QuoteStatus::OnAnotherLine, None) | (QuoteStatus::NotFound, _) => {
                match document {
                    Some(document) if query.is_explained => self.explain(document, query.quote),
                    Some(_) | None => QuoteResult::NotFound { nearest: None },
                }
            }
            (QuoteStatus::NoSuchDocument, _) => QuoteResult::NoSuchDocument,
        }
    }

    /// The line of the quote that was looked for last.
    pub(super) fn take_line(&mut self) -> Option<String> {
        let line = String::from_utf8(std::mem::take(&mut self.lines)).ok()?;
        Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
    }

    /// The bytes of a quote of `list`, where the record says or, failing that, anywhere; of several places one within `units`,
    /// where those are given.
    pub(super) fn span(
        &mut self,
        list: &str,
        document: &str,
        quote: &str,
        at: NamedPlace,
        units: Option<&[ReadUnit]>,
    ) -> Option<(QuoteSpan, QuotePlace)> {
        let document = self.job.spec.named(document)?;
        let place = self.locate(list, document, quote, at, units).1?;
        let Range { start, end } = self.index(document)?.span(place);
        Some((QuoteSpan { document: document.name.clone(), start, end }, place))
    }

    /// The place of a quote: the one that the record names; else, of equal quotes of one `list` that name none, the first has the
    /// first place that none before it has, the second the next one, and so on.
    fn locate(
        &mut self,
        list: &str,
        document: &DocumentEntry,
        quote: &str,
        at: NamedPlace,
        units: Option<&[ReadUnit]>,
    ) -> (QuoteStatus, Option<QuotePlace>) {
        if proves_nothing(quote) {
            return (QuoteStatus::TooShort, None);
        }
        let key = (list.to_owned(), document.name.clone());
        let mut taken = self.taken.remove(&key).unwrap_or_default();
        let Some(index) = self.index(document) else { return (QuoteStatus::NoSuchDocument, None) };
        let named = at.in_document(document.paged);
        let there = named.and_then(|named| {
            let times = taken.times.entry((quote.to_owned(), Some(named.number))).or_default();
            *times += 1;
            index.find_nth(quote, Some(named.number), *times - 1)
        });
        let located = match (there, named) {
            (Some((_, place)), _) => (QuoteStatus::Found, Some(place)),
            (None, Some(NamedUnit { is_required: true, .. })) => {
                let place = index.find(quote, None);
                let elsewhere = if document.paged { QuoteStatus::OnAnotherPage } else { QuoteStatus::OnAnotherLine };
                (if place.is_some() { elsewhere } else { QuoteStatus::NotFound }, place)
            }
            (None, Some(NamedUnit { is_required: false, .. }) | None) => {
                let place = taken.next_place(index, document, quote, units);
                (if place.is_some() { QuoteStatus::Found } else { QuoteStatus::NotFound }, place)
            }
        };
        if let (QuoteStatus::Found, Some(place)) = located {
            taken.starts.insert(index.span(place).start);
        }
        self.taken.insert(key, taken);
        located
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

impl TakenPlaces {
    /// The first place that no quote before has, one within `units` where there is such a one; the last one where all are taken.
    fn next_place(
        &mut self,
        index: &QuoteIndex,
        document: &DocumentEntry,
        quote: &str,
        units: Option<&[ReadUnit]>,
    ) -> Option<QuotePlace> {
        let is_within = |place: QuotePlace| {
            let is_in = |unit: &ReadUnit| {
                unit.document == document.name && (unit.from..=unit.to).contains(&place.from.unit_number())
            };
            units.is_none_or(|units| units.iter().any(is_in))
        };
        // All places before this one are taken.
        let first_free = self.times.entry((quote.to_owned(), None)).or_default();
        let (mut nth, mut last) = (*first_free, None);
        loop {
            let (number, place) = index.find_nth(quote, None, nth)?;
            if number < nth {
                return last.or(Some(place));
            }
            let (is_taken, is_within) = (self.starts.contains(&index.span(place).start), is_within(place));
            nth += 1;
            if (is_taken || is_within) && *first_free + 1 == nth {
                *first_free = nth;
            }
            if is_within && !is_taken {
                return Some(place);
            }
            last = Some(place).filter(|_| is_within).or(last);
        }
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
