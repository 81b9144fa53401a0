//! The places of the deliverables' quotes: searched for while the contract is checked, and written to `quotes.jsonl` in
//! the workspace, one JSON object for each. The file follows from deliverables and documents alone, so that a repeated
//! check writes the same file; an ending holds its hash.

use super::{
    RunError, contract_check, quote_boxes,
    quote_line::{QuoteLine, QuoteStatus},
    scan_file::ComparedPassage,
    scanned_text::ScannedText,
};
use crate::{table_query::DocumentReader, tool::DocumentCache, workspace::Workspace};
use overnight_core::job::{
    contract::{NamedPlace, NamedUnit, NearestText, QuoteQuery, QuoteResult},
    read_unit::ReadUnit,
    record::QuotePositions,
    second_reading::QuoteSpan,
    spec::DocumentEntry,
    state::{Job, QUOTES_FILE},
};
use overnight_documents::{NearestPassage, QuoteIndex, QuotePlace, TextPosition, proves_nothing};
use overnight_rules::date::DayOrder;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range,
    time::Instant,
};

/// The most bytes of the file; further quotes are only counted.
pub(super) const MOST_BYTES: usize = 32 << 20;
/// Bytes of text whose indexes are kept. A deliverable usually quotes one document after the other.
const KEPT_BYTES: usize = 48 << 20;

/// The quotes that were looked for so far.
#[derive(Debug)]
pub(super) struct QuoteCheck<'j> {
    pub(super) job: &'j Job,
    pub(super) workspace: &'j Workspace,
    indexes: BTreeMap<String, QuoteIndex>,
    /// Recognised and transcribed pages, by document.
    scans: BTreeMap<String, ScannedText>,
    /// The quote found last: its values are still to come.
    pub(super) last: Option<QuoteLine<'static>>,
    lines: Vec<u8>,
    /// By document.
    pub(super) day_orders: BTreeMap<String, Option<DayOrder>>,
    /// The time after which no quote is searched for.
    pub(super) until: Option<Instant>,
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
    /// The number of places passed, by quote and by the page or line that was given for it.
    times: HashMap<(String, Option<u64>), usize>,
}

impl<'j> QuoteCheck<'j> {
    pub(super) fn new(job: &'j Job, workspace: &'j Workspace) -> Self {
        Self {
            job,
            workspace,
            indexes: BTreeMap::new(),
            scans: BTreeMap::new(),
            last: None,
            lines: Vec::new(),
            day_orders: BTreeMap::new(),
            until: None,
            quotes: 0,
            found: 0,
            taken: HashMap::new(),
        }
    }

    /// Stops searching at this time.
    pub(super) fn until(self, until: Instant) -> Self {
        Self { until: Some(until), ..self }
    }

    /// Searches for a quote, and keeps its place.
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
        let scanned = document.zip(span.as_ref()).map(|(document, span)| self.scanned(document, span));
        let ComparedPassage { of_one, boxes } = scanned.unwrap_or_default();
        self.keep_last();
        self.last = Some(QuoteLine {
            deliverable: query.deliverable.to_owned().into(),
            item: query.item.to_owned().into(),
            key: query.key.to_owned().into(),
            document: document.map_or(query.document, |document| &document.name).to_owned().into(),
            sha256: document.map(|document| document.sha256.clone().into()),
            page,
            line,
            result,
            place,
            start: span.as_ref().map(|span| span.start),
            end: span.map(|span| span.end),
            recognised: document.zip(place).is_some_and(|(document, place)| is_recognised(document, place)),
            one_reading: of_one,
            boxes,
            gap: document.zip(page_there).and_then(|(document, page)| Some(gap(document, page)?.to_owned().into())),
            values: BTreeMap::new(),
        });
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

    /// Writes the line of the quote found last, which is complete now.
    fn keep_last(&mut self) {
        let Some(line) = self.last.take().filter(|_| self.lines.len() < MOST_BYTES) else { return };
        // Plain fields written to memory: this can't fail.
        if serde_json::to_writer(&mut self.lines, &line).is_ok() {
            self.lines.push(b'\n');
        }
    }

    /// The line of the quote that was looked for last.
    pub(super) fn take_line(&mut self) -> Option<String> {
        self.keep_last();
        let line = String::from_utf8(std::mem::take(&mut self.lines)).ok()?;
        Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
    }

    /// The bytes of a quote of `list`, at the place that the record names or, failing that, anywhere; of several places
    /// one within `units`, if those are given.
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

    /// The place of a quote: the one that the record names. Otherwise equal quotes of one `list` without a named place
    /// get the places in order: the first quote the first free place, the second the next one, and so on.
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

    /// The other document that has the quote, or the nearest passage in the named one.
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

    pub(super) fn index(&mut self, document: &DocumentEntry) -> Option<&QuoteIndex> {
        if !self.indexes.contains_key(&document.name) {
            let index = DocumentCache::quotes(self.workspace, document).ok()?;
            if self.indexes.values().map(QuoteIndex::bytes).sum::<usize>() + index.bytes() > KEPT_BYTES {
                self.indexes.clear();
            }
            self.indexes.insert(document.name.clone(), index);
        }
        self.indexes.get(&document.name)
    }

    /// The data about a passage on scanned pages: the words that only one reading has, and its place on pictures.
    fn scanned(&mut self, document: &DocumentEntry, span: &Range<u64>) -> ComparedPassage {
        if document.scan_sha256.is_none() {
            return ComparedPassage::default();
        }
        let workspace = self.workspace;
        let scanned = self.scans.entry(document.name.clone()).or_insert_with(|| ScannedText::read(workspace, document));
        scanned.passage(span)
    }

    /// Writes the file if the instructions require checks of quotes; `reader` finds those of PDFs on their pages.
    pub(super) fn write(mut self, reader: Option<&dyn DocumentReader>) -> Result<Option<QuotePositions>, RunError> {
        self.keep_last();
        if self.job.spec.instructions.deliverables.iter().all(|deliverable| deliverable.quotes.is_empty()) {
            return Ok(None);
        }
        if let Some(reader) = reader {
            self.lines = quote_boxes::add(self.lines, self.job, self.workspace, reader);
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
