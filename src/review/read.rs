//! Reads what the review page of a job shows, from its workspace alone. Nothing is written, and no lock is taken.

use super::{
    JobReview, ReviewedQuote, ReviewedRecord, SourceDocument,
    doubt::{by_doubt, doubts},
    fields::{fields, shown},
    job_review::JobFinding,
    record_anchor,
    source::SourceMark,
};
use crate::{
    runner::{QuoteLine, RunError, each_rule_broken, load},
    workspace::Workspace,
};
use overnight_core::amount::grouped;
use overnight_core::job::{
    contract::{
        NamedPlace,
        json_path::{JsonPath, at_mut},
    },
    finding::Finding,
    instructions::{CheckLevel, Deliverable, Quotes},
    models::list_models,
    record::HoldReason,
    record_findings::RecordFindings,
    state::{Job, Status},
};
use overnight_documents::{Offsets, QuotePlace, Unit};
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    path::Path,
};

/// Bytes of the largest deliverable that is read, and of the largest text of a document.
const MOST_BYTES: u64 = 64 << 20;
/// Records on one page of a job: more are on the pages behind it.
const MOST_RECORDS: usize = 2_000;

type LocatedQuotes = HashMap<[String; 3], QuoteLine<'static>>;

impl JobReview {
    /// Reads the first page of the job whose workspace lies at `path`. Long documents are shown around the quotes only.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        Self::read_page(path, false, 1)
    }

    /// The same of page `page`, from 1, with the whole text of long documents where `is_whole`.
    pub fn read_page(path: &Path, is_whole: bool, page: usize) -> Result<Self, RunError> {
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
            corrections: job.reviewed.corrections,
            documents: job.spec.documents.iter().map(|document| document.name.clone()).collect(),
            models: list_models(&job.answered.models, &job.spec.model),
            confidence: completion.map(|completion| completion.confidence),
            records: Vec::new(),
            page: page.max(1),
            record_count: 0,
            doubtful: 0,
            findings: Vec::new(),
            refused: job.refused.open().to_vec(),
            notes: Vec::new(),
            sources: Vec::new(),
        };
        let located = located(&job, &workspace)?;
        let mut of_records = BTreeSet::new();
        for deliverable in &job.spec.instructions.deliverables {
            review.add_records((&job, &workspace), deliverable, &located, &mut of_records);
        }
        if job.spec.instructions.deliverables.iter().all(|deliverable| deliverable.quotes.is_empty()) {
            review.notes.push("No deliverable of this job has quotes: there are no records to look at.".to_owned());
        }
        review.shorten();
        review.page = review.page.min(review.pages());
        review.records.drain(..((review.page - 1) * MOST_RECORDS).min(review.records.len()));
        let is_left = |finding: &&Finding| finding.settled.is_none() && !of_records.contains(&finding.id);
        let open = job.proof.findings.iter().filter(is_left);
        review.findings =
            open.map(|finding| JobFinding { finding: finding.clone(), mark: None, target: None }).collect();
        review.add_sources(&job, &workspace, is_whole);
        review.add_targets();
        Ok(review)
    }

    /// Adds the records of a deliverable, and to `of_records` the findings that are held against them.
    fn add_records(
        &mut self,
        (job, workspace): (&Job, &Workspace),
        deliverable: &Deliverable,
        located: &LocatedQuotes,
        of_records: &mut BTreeSet<String>,
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
        for rules in deliverable.quotes.chunk_by(|one, next| one.each == next.each) {
            let each = &rules[0].each;
            let Ok(path) = JsonPath::parse(each) else { continue };
            let findings = RecordFindings::of(job, deliverable, each);
            let mut broken = broken_rules(job, workspace, deliverable, (&path, &content));
            path.each(&content, &mut |place, value| {
                let mut record = record(file, place, value);
                record.broken_rules = broken.remove(place).unwrap_or_default();
                let corrected = corrected(&findings, place, value);
                record.quotes.extend(rules.iter().filter_map(|rule| {
                    let found = located.get(&[file.clone(), place.to_owned(), rule.text.clone()]);
                    let wrong = findings.wrong_quote(place, &rule.text);
                    let quote = quote(job, rule, corrected.as_ref().unwrap_or(value), found)?;
                    let values = found.map(|found| doubtful_values(found, &findings, place)).unwrap_or_default();
                    Some(ReviewedQuote { wrong, values, ..quote })
                }));
                // Readers have found what the model wrote.
                let read = value.get(&rules[0].text).and_then(Value::as_str);
                judge(job, &findings, read, &mut record);
                of_records.extend(record.findings.iter().map(|finding| finding.id.clone()));
                self.add(record);
            });
        }
    }

    fn add(&mut self, record: ReviewedRecord) {
        self.record_count += 1;
        self.doubtful += u64::from(record.is_doubtful());
        self.records.push(record);
        if self.records.len() > (self.page + 1) * MOST_RECORDS {
            self.shorten();
        }
    }

    /// Keeps the most doubtful records, up to this page's. Of those that are equally doubtful the first ones stay: the order is
    /// stable.
    fn shorten(&mut self) {
        self.records.sort_by_key(by_doubt);
        self.records.truncate(self.page * MOST_RECORDS);
    }

    /// How many pages it has, at least 1.
    pub fn pages(&self) -> usize {
        usize::try_from(self.record_count).unwrap_or(usize::MAX).div_ceil(MOST_RECORDS).max(1)
    }

    /// The numbers of the records on its page, from 1, where there are several pages: `2,001 to 4,000`.
    pub(super) fn numbers(&self) -> String {
        let before = (self.page - 1) * MOST_RECORDS;
        format!("{} to {}", grouped((before + 1) as u64), grouped((before + self.records.len()) as u64))
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

/// What `quotes.jsonl` says, and what came of corrected quotes, by deliverable, item and key.
fn located(job: &Job, workspace: &Workspace) -> Result<LocatedQuotes, RunError> {
    let mut located = HashMap::new();
    QuoteLine::read_corrected(job, workspace, &mut |line| {
        let key = [&line.deliverable, &line.item, &line.key].map(|part| part.clone().into_owned());
        located.insert(key, line);
    })?;
    Ok(located)
}

fn record(file: &str, place: &str, value: &Value) -> ReviewedRecord {
    ReviewedRecord {
        anchor: record_anchor(file, place),
        file: file.to_owned(),
        place: place.to_owned(),
        fields: fields(value, place),
        quotes: Vec::new(),
        found_by: None,
        broken_rules: Vec::new(),
        findings: Vec::new(),
        confidence: value.get("confidence").and_then(Value::as_f64),
        doubts: Vec::new(),
        approval: None,
        corrections: Vec::new(),
    }
}

/// The rules that don't hold for the corrected deliverable, by the record that each is about; those of the file as a whole stand at
/// its first record.
fn broken_rules(
    job: &Job,
    workspace: &Workspace,
    deliverable: &Deliverable,
    (path, content): (&JsonPath, &Value),
) -> HashMap<String, Vec<(CheckLevel, String)>> {
    let mut broken: HashMap<String, Vec<(CheckLevel, String)>> = HashMap::new();
    if deliverable.checks.is_empty() {
        return broken;
    }
    let mut corrected = content.clone();
    job.correct(&deliverable.path, &mut corrected);
    let mut records = BTreeSet::new();
    let mut first = None;
    path.each(&corrected, &mut |place, _| {
        first.get_or_insert_with(|| place.to_owned());
        records.insert(place.to_owned());
    });
    each_rule_broken(job, workspace, deliverable, &corrected, &mut |place, level, why| {
        let of_record = (0..=place.len()).rev().filter_map(|end| place.get(..end)).find(|part| records.contains(*part));
        let Some(record) = of_record.map(str::to_owned).or_else(|| first.clone()) else { return };
        let why = if record == place || of_record.is_none() { why } else { format!("{place}: {why}") };
        broken.entry(record).or_default().push((level, why));
    });
    broken
}

/// What the program holds against the values of a record, but for those that people have corrected.
fn doubtful_values(found: &QuoteLine<'_>, findings: &RecordFindings<'_>, place: &str) -> Vec<String> {
    let is_corrected =
        |field: &str| findings.corrections(place).any(|correction| correction.within.strip_prefix('.') == Some(field));
    let doubtful = found.values.iter().filter(|(field, _)| !is_corrected(field));
    doubtful.map(|(field, status)| status.told(field)).collect()
}

/// The record with what people have corrected in it; none where that is nothing.
fn corrected(findings: &RecordFindings<'_>, place: &str, value: &Value) -> Option<Value> {
    let mut corrected = None;
    for correction in findings.corrections(place) {
        let record = corrected.get_or_insert_with(|| value.clone());
        if let Some(field) = at_mut(record, &format!("${}", correction.within)) {
            field.clone_from(correction.after);
        }
    }
    corrected
}

/// The quote that `value` has by `rule`, where it has one.
fn quote(job: &Job, rule: &Quotes, value: &Value, found: Option<&QuoteLine<'_>>) -> Option<ReviewedQuote> {
    let text = value.get(&rule.text)?.as_str()?;
    let named = value.get(&rule.document).and_then(Value::as_str).unwrap_or_default();
    let document = job.spec.named(found.map_or(named, |found| &found.document));
    let name = document.map_or(named, |document| &document.name);
    let named_unit = || {
        let unit = NamedPlace::of(rule, value).ok()?.in_document(document.is_some_and(|document| document.paged));
        unit.map(|unit| unit.number)
    };
    let place = found.and_then(|found| found.place);
    Some(ReviewedQuote {
        key: rule.text.clone(),
        text: text.to_owned(),
        document: name.to_owned(),
        is_known: document.is_some(),
        unit: place.map(|place| place.from.unit_number()).or_else(named_unit),
        check: found.map(|found| found.result),
        place,
        start: found.and_then(|found| found.start),
        range: None,
        is_over_break: place.is_some_and(|place| place.from.page != place.to.page),
        is_recognised: found.is_some_and(|found| found.recognised),
        gap: found.and_then(|found| found.gap.as_deref()).map(str::to_owned),
        wrong: None,
        values: Vec::new(),
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

/// What the readers and the program hold against a record, and what people said of it.
fn judge(job: &Job, findings: &RecordFindings<'_>, read: Option<&str>, record: &mut ReviewedRecord) {
    let quote = record.quotes.first();
    let start = quote.filter(|quote| Some(quote.text.as_str()) == read).and_then(|quote| quote.start);
    let held = quote.zip(read).and_then(|(quote, read)| findings.held(&quote.document, read, start));
    record.found_by = quote.and_then(|quote| findings.found_by(held, &quote.document, quote.unit?));
    let open = held.filter(|finding| finding.settled.is_none());
    record.findings = open.into_iter().chain(findings.faults(&record.place)).cloned().collect();
    record.doubts = doubts(record, job.spec.instructions.confidence_floor);
    record.approval = job.reviewed.record(&record.file, &record.place).cloned();
    for correction in findings.corrections(&record.place) {
        let finding = correction.finding;
        let field = record.fields.iter_mut().find(|field| finding.place.as_ref() == Some(&field.place));
        if let Some(field) = field {
            field.corrected = Some(shown(correction.after));
        }
        record.corrections.push(finding.clone());
    }
}
