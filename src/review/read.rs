//! Reads what the review page of a job shows, from its workspace alone. Nothing is written, and no lock is taken.

use super::{
    FoundBy, JobReview, ReviewedQuote, ReviewedRecord, SourceDocument,
    doubt::{by_doubt, doubts},
    fields::{fields, shown},
    job_review::JobFinding,
    record_anchor,
    source::SourceMark,
};
use crate::{
    runner::{QuoteStatus, RunError, load},
    workspace::Workspace,
};
use overnight_core::job::{
    contract::json_path::JsonPath,
    finding::{Finding, FindingKind, Settlement},
    instructions::{Deliverable, Quotes},
    models::list_models,
    record::HoldReason,
    state::{Job, QUOTES_FILE, Status},
};
use overnight_documents::{Offsets, QuotePlace, TextPosition, Unit};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    path::Path,
};

/// Bytes of the largest deliverable that is read, and of the largest text of a document.
const MOST_BYTES: u64 = 64 << 20;
/// Records on the page of one job: more are in the table that `overnight export` writes.
const MOST_RECORDS: usize = 5_000;

/// A line of `quotes.jsonl`.
#[derive(Debug, Deserialize)]
struct LocatedQuote {
    deliverable: String,
    item: String,
    key: String,
    document: String,
    result: QuoteStatus,
    from: Option<TextPosition>,
    to: Option<TextPosition>,
    #[serde(default)]
    recognised: bool,
    gap: Option<String>,
}

impl JobReview {
    /// Reads the job whose workspace lies at `path`. Long documents are shown around the quotes only.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        Self::read_with(path, false)
    }

    /// The same, with the whole text of long documents where `is_whole`.
    pub fn read_with(path: &Path, is_whole: bool) -> Result<Self, RunError> {
        let job = load(path)?.job;
        let workspace = Workspace::open(path)?;
        let (status, _, reason) = job.job_status();
        let completion = job.decided_ending().and_then(|ending| ending.completion.as_ref());
        let mut review = Self {
            workspace: path.to_owned(),
            id: job.spec.id,
            instructions: job.spec.instructions.name.clone(),
            status,
            reason,
            waits_for_review: matches!(&job.status, Status::Held { reason: HoldReason::Review, .. }),
            has_result: job.has_result(),
            approvals: job.reviewed.approvals.clone(),
            feedback: job.feedback.clone(),
            documents: job.spec.documents.iter().map(|document| document.name.clone()).collect(),
            models: list_models(&job.answered.models, &job.spec.model),
            confidence: completion.map(|completion| completion.confidence),
            records: Vec::new(),
            record_count: 0,
            doubtful: 0,
            findings: Vec::new(),
            notes: Vec::new(),
            sources: Vec::new(),
        };
        let located = located(&workspace);
        for deliverable in &job.spec.instructions.deliverables {
            review.add_records(&job, &workspace, deliverable, &located);
        }
        if job.spec.instructions.deliverables.iter().all(|deliverable| deliverable.quotes.is_empty()) {
            review.notes.push("No deliverable of this job has quotes: there are no records to look at.".to_owned());
        }
        review.record_count = review.records.len() as u64;
        review.doubtful = review.records.iter().filter(|record| record.is_doubtful()).count() as u64;
        review.records.sort_by_key(by_doubt);
        review.records.truncate(MOST_RECORDS);
        let of_records: BTreeSet<&str> =
            review.records.iter().flat_map(|record| &record.findings).map(|finding| finding.id.as_str()).collect();
        let is_left = |finding: &&Finding| finding.settled.is_none() && !of_records.contains(finding.id.as_str());
        let open = job.proof.findings.iter().filter(is_left);
        review.findings =
            open.map(|finding| JobFinding { finding: finding.clone(), mark: None, target: None }).collect();
        review.add_sources(&job, &workspace, is_whole);
        review.add_targets();
        Ok(review)
    }

    fn add_records(
        &mut self,
        job: &Job,
        workspace: &Workspace,
        deliverable: &Deliverable,
        located: &HashMap<[String; 3], LocatedQuote>,
    ) {
        if deliverable.quotes.is_empty() {
            return;
        }
        let file = &deliverable.path;
        let content = match workspace.read_at_most(file, MOST_BYTES) {
            Ok(content) => content,
            Err(error) if error.is_not_found() => return self.notes.push(format!("{file} is not written yet.")),
            Err(error) => return self.notes.push(format!("{file} can't be read ({error}).")),
        };
        let content: Value = match serde_json::from_slice(&content) {
            Ok(content) => content,
            Err(error) => return self.notes.push(format!("{file} is no JSON ({error}).")),
        };
        let mut known: HashMap<String, usize> = HashMap::new();
        for rule in &deliverable.quotes {
            let Ok(path) = JsonPath::parse(&rule.each) else { continue };
            path.each(&content, &mut |place, value| {
                let at = *known.entry(place.to_owned()).or_insert_with(|| {
                    self.records.push(record(file, place, value));
                    self.records.len() - 1
                });
                let found = located.get(&[file.clone(), place.to_owned(), rule.text.clone()]);
                if let Some(quote) = quote(job, rule, value, found) {
                    self.records[at].quotes.push(quote);
                }
            });
        }
        for &at in known.values() {
            judge(job, &mut self.records[at]);
        }
    }

    /// Gives each quote and finding its mark, and reads the documents that they stand in.
    fn add_sources(&mut self, job: &Job, workspace: &Workspace, is_whole: bool) {
        let mut next = 0;
        for (index, document) in job.spec.documents.iter().enumerate() {
            let Some(units) = self.named_units(&document.name) else { continue };
            let mut source = SourceDocument {
                index,
                name: document.name.clone(),
                is_pdf: document.format == overnight_documents::Format::Pdf.as_str(),
                is_paged: document.paged,
                units: document.units,
                parts: Vec::new(),
                missing: None,
            };
            match workspace.read_text_at_most(&document.text_path(), MOST_BYTES) {
                Ok(text) => {
                    let marks = self.add_marks(&source, &text, &mut next);
                    source.cut(&text, &marks, &units, is_whole);
                }
                Err(error) => source.missing = Some(format!("its text can't be read ({error})")),
            }
            self.sources.push(source);
        }
    }

    /// The pages or lines of a document that are named; none where nothing speaks of it.
    fn named_units(&self, document: &str) -> Option<BTreeSet<u64>> {
        let quotes = self.records.iter().flat_map(|record| &record.quotes);
        let of_quotes = quotes.filter(|quote| quote.document == document).map(|quote| quote.unit);
        let findings = self.findings.iter().map(|found| &found.finding);
        let of_findings = findings
            .filter(|finding| finding.document.as_deref() == Some(document))
            .map(|finding| finding.page.or(finding.line));
        let named: Vec<Option<u64>> = of_quotes.chain(of_findings).collect();
        (!named.is_empty()).then(|| named.into_iter().flatten().collect())
    }

    fn add_marks(&mut self, source: &SourceDocument, text: &str, next: &mut usize) -> Vec<SourceMark> {
        let offsets = Offsets::new(if source.is_paged { Unit::Page } else { Unit::Line }, text);
        let mut marks = Vec::new();
        let mut mark = |range: Range<usize>| {
            *next += 1;
            marks.push(SourceMark { number: *next, range });
            *next
        };
        let quotes = self.records.iter_mut().flat_map(|record| &mut record.quotes);
        for quote in quotes.filter(|quote| quote.document == source.name) {
            quote.range = quote.place.and_then(|place| range(&offsets, text, place));
            quote.mark = quote.range.clone().map(&mut mark);
        }
        for found in &mut self.findings {
            let span = found.finding.span.as_ref().filter(|span| span.document == source.name);
            let range = span.and_then(|span| Some(span.start.try_into().ok()?..span.end.try_into().ok()?));
            let is_in = |range: &Range<usize>| text.get(range.clone()).is_some_and(|quote| !quote.is_empty());
            if let Some(range) = range.filter(is_in) {
                found.mark = Some(mark(range));
            }
        }
        marks
    }

    fn add_targets(&mut self) {
        let sources = std::mem::take(&mut self.sources);
        let by_name: HashMap<&str, &SourceDocument> =
            sources.iter().map(|source| (source.name.as_str(), source)).collect();
        let target = |document: &str, unit: Option<u64>, mark: Option<usize>| {
            let source = by_name.get(document)?;
            let part = || unit.and_then(|unit| source.part_anchor(unit)).unwrap_or_else(|| source.anchor());
            Some(mark.map_or_else(part, |mark| format!("mark-{mark}")))
        };
        for quote in self.records.iter_mut().flat_map(|record| &mut record.quotes) {
            quote.target = target(&quote.document, quote.unit, quote.mark);
        }
        for found in &mut self.findings {
            let finding = &found.finding;
            let document = finding.document.as_deref().unwrap_or_default();
            found.target = target(document, finding.page.or(finding.line), found.mark);
        }
        self.sources = sources;
    }
}

/// What `quotes.jsonl` says, by deliverable, item and key.
fn located(workspace: &Workspace) -> HashMap<[String; 3], LocatedQuote> {
    let lines = workspace.read_text_at_most(QUOTES_FILE, MOST_BYTES).unwrap_or_default();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<LocatedQuote>(line).ok());
    lines.map(|line| ([line.deliverable.clone(), line.item.clone(), line.key.clone()], line)).collect()
}

fn record(file: &str, place: &str, value: &Value) -> ReviewedRecord {
    ReviewedRecord {
        anchor: record_anchor(file, place),
        file: file.to_owned(),
        place: place.to_owned(),
        fields: fields(value, place),
        quotes: Vec::new(),
        found_by: None,
        findings: Vec::new(),
        confidence: value.get("confidence").and_then(Value::as_f64),
        doubts: Vec::new(),
        approval: None,
        corrections: Vec::new(),
    }
}

/// The quote that `value` has by `rule`, where it has one.
fn quote(job: &Job, rule: &Quotes, value: &Value, found: Option<&LocatedQuote>) -> Option<ReviewedQuote> {
    let text = value.get(&rule.text)?.as_str()?;
    let named = value.get(&rule.document).and_then(Value::as_str).unwrap_or_default();
    let name = found.map_or(named.strip_prefix("documents/").unwrap_or(named), |found| &found.document);
    let document = job.spec.document(name);
    let named_page = || rule.page.as_ref().and_then(|key| value.get(key)).and_then(Value::as_u64);
    let place = found.and_then(|found| Some(QuotePlace { from: found.from?, to: found.to? }));
    Some(ReviewedQuote {
        key: rule.text.clone(),
        text: text.to_owned(),
        document: name.to_owned(),
        is_known: document.is_some(),
        unit: place.map(|place| place.from.unit_number()).or_else(named_page),
        check: found.map(|found| found.result),
        place,
        range: None,
        is_over_break: place.is_some_and(|place| place.from.page != place.to.page),
        is_recognised: found.is_some_and(|found| found.recognised),
        gap: found.and_then(|found| found.gap.clone()),
        mark: None,
        target: None,
    })
}

/// The bytes of the text that a quote covers.
fn range(offsets: &Offsets, text: &str, place: QuotePlace) -> Option<Range<usize>> {
    let (from, to) = (offsets.byte_of(text, place.from)?, offsets.byte_of(text, place.to)?);
    let end = to + text.get(to..)?.chars().next()?.len_utf8();
    (from < end).then_some(from..end)
}

/// What the readers and the program hold against a record.
fn judge(job: &Job, record: &mut ReviewedRecord) {
    let quote = record.quotes.first();
    let of_quote = quote.and_then(|quote| finding_of(job, &quote.document, &quote.text));
    record.found_by = quote.and_then(|quote| found_by(job, of_quote, quote));
    let is_of_place =
        |finding: &&Finding| finding.place.as_deref().is_some_and(|place| is_within(place, &record.place));
    let of_place = job.proof.findings.iter().filter(|finding| finding.kind.is_verifiers()).filter(is_of_place);
    let findings = of_quote.into_iter().chain(of_place);
    record.findings = findings.filter(|finding| finding.settled.is_none()).cloned().collect();
    record.doubts = doubts(record, job.spec.instructions.confidence_floor);
    record.approval = job.reviewed.record(&record.file, &record.place).cloned();
    for finding in job.corrections().filter(|finding| finding.file.as_deref() == Some(&record.file)) {
        let Some(place) = finding.place.as_deref().filter(|place| is_within(place, &record.place)) else { continue };
        let Some(Settlement::Corrected { after, .. }) = finding.settled.as_ref().map(|settled| &settled.settlement)
        else {
            continue;
        };
        if let Some(field) = record.fields.iter_mut().find(|field| field.place == place) {
            field.corrected = Some(shown(after));
        }
        record.corrections.push(finding.clone());
    }
}

/// Whether `place` is `record`, or in it.
fn is_within(place: &str, record: &str) -> bool {
    place.strip_prefix(record).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What the second reading held against the record with this quote.
fn finding_of<'j>(job: &'j Job, document: &str, quote: &str) -> Option<&'j Finding> {
    let is_of = |finding: &&Finding| {
        matches!(finding.kind, FindingKind::Missing | FindingKind::Unconfirmed)
            && finding.document.as_deref() == Some(document)
            && finding.quote.as_deref().is_some_and(|known| quote.starts_with(known))
    };
    job.proof.findings.iter().find(is_of)
}

/// None where that part was not read twice.
fn found_by(job: &Job, finding: Option<&Finding>, quote: &ReviewedQuote) -> Option<FoundBy> {
    let reading = job.proof.reading.as_ref().filter(|reading| reading.comparison.is_some())?;
    let unit = quote.unit?;
    let is_read =
        reading.read.iter().any(|part| part.document == quote.document && (part.from..=part.to).contains(&unit));
    match finding.map(|finding| finding.kind) {
        Some(FindingKind::Missing) => Some(FoundBy::Second),
        Some(FindingKind::Unconfirmed) => Some(FoundBy::First),
        Some(FindingKind::Unread | FindingKind::Fault | FindingKind::NoVerdict | FindingKind::Correction) | None => {
            is_read.then_some(FoundBy::Both)
        }
    }
}
