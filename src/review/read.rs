//! Reads the content of a job's review page, from its workspace alone. Nothing is written, and no lock is taken.

use super::{
    JobReview, ReviewedRecord, SourceDocument,
    doubt::by_doubt,
    job_review::JobFinding,
    records::{DeliverableRecords, LocatedQuotes, add_inputs, explain, has_records},
    source::SourceMark,
};
use crate::{
    runner::{QuoteLine, RunError, load},
    workspace::Workspace,
};
use overnight_core::amount::grouped;
use overnight_core::job::{
    answered::list_models,
    finding::Finding,
    instructions::Deliverable,
    record::HoldReason,
    state::{Job, Status},
};
use overnight_documents::{Offsets, QuotePlace, Unit, is_painted};
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    path::Path,
};

/// Maximum bytes of a deliverable, and of a document's text, that are read.
const MOST_BYTES: u64 = 64 << 20;
/// Records on one page of a job: further ones are on the next pages.
const MOST_RECORDS: usize = 2_000;
/// The number of a job's documents up to which unquoted ones are shown.
const MOST_UNQUOTED: usize = 20;

impl JobReview {
    /// Reads the first page of the job whose workspace lies at `path`. Long documents are shown around the quotes only.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        Self::read_page(path, false, 1)
    }

    /// Reads a page for a reviewer, without the verdicts of others until this reviewer has given one.
    pub fn read_alone(path: &Path, page: usize, reader: &str) -> Result<Self, RunError> {
        let mut job = load(path)?.job;
        if !job.judgements().contains_key(reader) {
            job.hide_others(reader);
        }
        Self::of_page(path, &job, false, page)
    }

    /// The same for page `page`, from 1, with the whole text of long documents if `is_whole`.
    pub fn read_page(path: &Path, is_whole: bool, page: usize) -> Result<Self, RunError> {
        Self::of_page(path, &load(path)?.job, is_whole, page)
    }

    fn of_page(path: &Path, job: &Job, is_whole: bool, page: usize) -> Result<Self, RunError> {
        let workspace = Workspace::open(path)?;
        let mut review = Self::of_records(path, (job, &workspace), page)?;
        explain(job, &workspace, &mut review.records);
        add_inputs(job, &mut review.records);
        review.lists.iter_mut().for_each(|list| list.add_fields(job));
        review.add_sources(job, &workspace, is_whole);
        review.add_targets();
        Ok(review)
    }

    /// The records of the first page with their doubts, without their sources.
    pub fn read_records(path: &Path) -> Result<Self, RunError> {
        Self::of_records(path, (&load(path)?.job, &Workspace::open(path)?), 1)
    }

    fn of_records(path: &Path, (job, workspace): (&Job, &Workspace), page: usize) -> Result<Self, RunError> {
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
            judgements: job.judgements().into_iter().map(|(name, right)| (name.to_owned(), right)).collect(),
            documents: job.spec.documents.iter().map(|document| document.name.clone()).collect(),
            models: list_models(&job.answered.models, &job.spec.model),
            confidence: completion.map(|completion| completion.confidence),
            records: Vec::new(),
            page: page.max(1),
            record_count: 0,
            deleted: 0,
            doubtful: 0,
            findings: Vec::new(),
            refused: job.refused.open().to_vec(),
            unquoted: Vec::new(),
            lists: Vec::new(),
            notes: Vec::new(),
            sources: Vec::new(),
        };
        let located = located(job, workspace)?;
        let mut of_records = BTreeSet::new();
        let mut quoted: BTreeSet<String> = BTreeSet::new();
        for deliverable in job.spec.instructions.deliverables.iter().filter(|deliverable| has_records(deliverable)) {
            let mut content = match written(workspace, deliverable) {
                Ok(content) => content,
                Err(why) => {
                    review.notes.push(why);
                    continue;
                }
            };
            job.add_records(&deliverable.path, &mut content);
            let records = DeliverableRecords { job, workspace, deliverable, content: &content, located: &located };
            records.read(&mut |record| {
                of_records.extend(record.findings.iter().map(|finding| finding.id.clone()));
                quoted.extend(record.quotes.iter().map(|quote| quote.document.clone()));
                review.add(record);
            });
            review.lists.extend(records.growing());
        }
        if !job.spec.instructions.deliverables.iter().any(has_records) {
            review.notes.push("No deliverable of this job is a list of records: read its files.".to_owned());
        }
        if !quoted.is_empty() {
            let of_text = job.spec.documents.iter().filter(|document| document.tokens > 0);
            let names = of_text.map(|document| &document.name).filter(|name| !quoted.contains(*name));
            review.unquoted = names.cloned().collect();
        }
        review.shorten();
        review.page = review.page.min(review.pages());
        review.records.drain(..((review.page - 1) * MOST_RECORDS).min(review.records.len()));
        let is_left = |finding: &&Finding| finding.settled.is_none() && !of_records.contains(&finding.id);
        let open = job.proof.findings.iter().filter(is_left);
        review.findings =
            open.map(|finding| JobFinding { finding: finding.clone(), mark: None, target: None }).collect();
        Ok(review)
    }

    fn add(&mut self, record: ReviewedRecord) {
        self.record_count += 1;
        self.deleted += u64::from(record.is_deleted);
        self.doubtful += u64::from(record.is_doubtful());
        self.records.push(record);
        if self.records.len() > (self.page + 1) * MOST_RECORDS {
            self.shorten();
        }
    }

    /// Keeps the most doubtful records, up to those of this page. The sort is stable: equally doubtful records stay in
    /// order.
    fn shorten(&mut self) {
        self.records.sort_by_key(by_doubt);
        self.records.truncate(self.page * MOST_RECORDS);
    }

    /// How many pages it has, at least 1.
    pub fn pages(&self) -> usize {
        usize::try_from(self.record_count).unwrap_or(usize::MAX).div_ceil(MOST_RECORDS).max(1)
    }

    /// The numbers of the records on its page, from 1, if there are several pages: `2,001 to 4,000`.
    pub(super) fn numbers(&self) -> String {
        let before = (self.page - 1) * MOST_RECORDS;
        format!("{} to {}", grouped((before + 1) as u64), grouped((before + self.records.len()) as u64))
    }

    /// Gives each quote and finding its mark, and reads the documents in which they are.
    fn add_sources(&mut self, job: &Job, workspace: &Workspace, is_whole: bool) {
        let mut next = 0;
        for (index, document) in job.spec.documents.iter().enumerate() {
            let Some(units) = self.named_units(&document.name) else { continue };
            let mut source = SourceDocument {
                index,
                name: document.name.clone(),
                is_painted: is_painted(&document.format),
                is_paged: document.paged,
                unit: document.unit_name(),
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

    /// The pages or lines of a document that are named; `None` if nothing refers to it.
    fn named_units(&self, document: &str) -> Option<BTreeSet<u64>> {
        let quotes = self.records.iter().flat_map(|record| &record.quotes);
        let of_quotes = quotes.filter(|quote| quote.document == document).map(|quote| quote.unit);
        let findings = self.findings.iter().map(|found| &found.finding);
        let of_findings = findings
            .filter(|finding| finding.document.as_deref() == Some(document))
            .map(|finding| finding.page.or(finding.line));
        let named: Vec<Option<u64>> = of_quotes.chain(of_findings).collect();
        // If there is no record, or none for a document, the reviewer looks for one in it.
        let is_looked_through = self.record_count == 0
            || self.documents.len() <= MOST_UNQUOTED && self.unquoted_here().iter().any(|name| name == document);
        (!named.is_empty() || is_looked_through).then(|| named.into_iter().flatten().collect())
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

/// The content of a deliverable. The error is a sentence.
fn written(workspace: &Workspace, deliverable: &Deliverable) -> Result<Value, String> {
    let file = &deliverable.path;
    let content = workspace.read_at_most(file, MOST_BYTES).map_err(|error| {
        if error.is_not_found() {
            format!("{file} is not written yet.")
        } else {
            format!("{file} can't be read ({error}).")
        }
    })?;
    serde_json::from_slice(&content).map_err(|error| format!("{file} is no JSON ({error})."))
}

/// The lines of `quotes.jsonl`, and the results for corrected quotes, by deliverable, item and key.
fn located(job: &Job, workspace: &Workspace) -> Result<LocatedQuotes, RunError> {
    let mut located = HashMap::new();
    QuoteLine::read_corrected(job, workspace, &mut |line| {
        let key = [&line.deliverable, &line.item, &line.key].map(|part| part.clone().into_owned());
        located.insert(key, line);
    })?;
    Ok(located)
}

/// The bytes of the text that a quote covers.
fn range(offsets: &Offsets, text: &str, place: QuotePlace) -> Option<Range<usize>> {
    let (from, to) = (offsets.byte_of(text, place.from)?, offsets.byte_of(text, place.to)?);
    let end = to + text.get(to..)?.chars().next()?.len_utf8();
    (from < end).then_some(from..end)
}
