//! The program's facts about the records of one list.

use super::{
    columns::{KNOWN, OPEN_FINDING},
    lists::RecordList,
    outer_documents::OuterDocuments,
    review_pages::ReviewPages,
    row_marks::{AcceptedFields, RowMarks},
};
use crate::{
    runner::{QuoteBox, QuoteLine, QuoteStatus, ValueStatus},
    workspace::{Workspace, WorkspaceError},
};
use overnight_core::job::{
    answered::{PaidRole, list_models},
    contract::records::{VALUE, record_with},
    finding::Finding,
    record::JobStatus,
    record_findings::{FoundBy, RecordFindings},
    state::Job,
};
use overnight_documents::TextPosition;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The places of a record's quotes.
#[derive(Debug)]
struct RecordQuotes {
    /// The document of the quote by the first rule.
    document: String,
    from: Option<TextPosition>,
    /// The offset of the first byte, and the offset after the last byte.
    span: Option<(u64, u64)>,
    /// Its places on the images of its pages, as JSON; `None` if unknown.
    boxes: Option<String>,
    /// The worst status of all its quotes.
    check: QuoteStatus,
    /// Fields whose values are not in their quotes, or possibly not.
    doubtful: Vec<(String, ValueStatus)>,
    /// Fields whose quotes are not at the record's place, or in only one of two readings of a scan.
    unproven: Vec<String>,
    /// The text of a quote was not read a second time.
    is_read_once: bool,
}

impl RecordQuotes {
    /// The worst status of all its quotes; for found ones, whether both readings of a scan have each.
    fn check(&self) -> &'static str {
        match self.check {
            QuoteStatus::Found if !self.unproven.is_empty() => "one_reading",
            QuoteStatus::Found if self.is_read_once => "read_once",
            other => other.name(),
        }
    }
}

/// The facts of one list's records.
#[derive(Debug)]
pub(super) struct RecordFacts<'j> {
    job: &'j Job,
    list: &'j RecordList<'j>,
    quotes: HashMap<String, RecordQuotes>,
    pub(super) findings: RecordFindings<'j>,
    review: Option<&'j ReviewPages>,
    outer: OuterDocuments,
    /// The same values for all records.
    models: String,
    paid: String,
    confidence: Option<f64>,
}

impl<'j> RecordFacts<'j> {
    /// Reads the places of their quotes.
    pub(super) fn of(
        job: &'j Job,
        workspace: &Workspace,
        list: &'j RecordList<'j>,
        review: Option<&'j ReviewPages>,
        outer: OuterDocuments,
    ) -> Result<Self, WorkspaceError> {
        let ending = job.decided_ending();
        Ok(Self {
            job,
            list,
            quotes: quotes(job, workspace, list)?,
            findings: RecordFindings::of(job, list.deliverable, &list.each),
            review,
            outer,
            models: list_models(&job.answered.models, &job.spec.model),
            paid: PaidRole::list(&job.answered.paid),
            confidence: ending.and_then(|ending| ending.completion.as_ref()).map(|completion| completion.confidence),
        })
    }

    /// The facts about a record, in the order of [`KNOWN`]. The quote and its place are those after corrections.
    pub(super) fn known(&self, place: &str, record: &Value) -> [Value; KNOWN.len()] {
        let first = self.list.quotes.first();
        let corrected = self.findings.corrected(place, record);
        let object = first.and_then(|first| Some((first.rule, first.object(&corrected)?)));
        let said = |key: Option<&String>| object.zip(key).and_then(|((_, fields), key)| fields.get(key)?.as_str());
        let quote = said(object.map(|(rule, _)| &rule.text));
        // Second readers are compared with the model's own text.
        let read = first.and_then(|first| first.object(record)?.get(&first.rule.text)?.as_str());
        let quotes = self.quotes.get(place);
        let only = match &self.job.spec.documents[..] {
            [only] => Some(only.name.as_str()),
            _ => None,
        };
        let plain = |name| str::strip_prefix(name, "documents/").unwrap_or(name);
        let document = quotes
            .map(|quotes| quotes.document.as_str())
            .or_else(|| said(object.map(|(rule, _)| &rule.document)).map(plain))
            .or_else(|| self.outer.of(place).map(plain))
            .or(only);
        let from = quotes.and_then(|quotes| quotes.from);
        let start = self.span(place).map(|(start, _)| start).filter(|_| quote == read);
        let held = document.zip(read).and_then(|(document, quote)| self.findings.held(document, quote, start));
        let open = held.filter(|finding| finding.settled.is_none()).or_else(|| self.findings.faults(place).next());
        let unit = from.map(TextPosition::unit_number);
        let found_by = document.zip(unit).and_then(|(document, unit)| self.findings.found_by(held, document, unit));
        let id = self.job.spec.id.to_string();
        [
            json!(document),
            json!(quote),
            json!(from.and_then(|from| from.page)),
            json!(from.map(|from| from.line)),
            json!(quotes.and_then(|quotes| quotes.boxes.clone())),
            json!(quotes.map(RecordQuotes::check)),
            json!(quotes.and_then(|quotes| self.values(place, quotes))),
            json!(found_by.map(FoundBy::name)),
            json!(open.map(Finding::told)),
            json!(self.reviewers(place)),
            self.corrected(place),
            json!(self.review.map(|pages| {
                format!("{}/{id}.html#{}", pages.folder, (pages.anchor)(&self.list.deliverable.path, place))
            })),
            json!(self.models),
            json!(self.paid),
            json!(self.confidence),
            json!(self.job.job_status().0.name()),
            json!(self.job.spec.instructions_sha256),
            json!(id),
            json!(place),
        ]
    }

    /// The byte range of a record's first quote in its document's text: its first byte, and the one after its last.
    pub(super) fn span(&self, place: &str) -> Option<(u64, u64)> {
        self.quotes.get(place)?.span
    }

    /// The fields of a record that people have accepted.
    pub(super) fn accepted(&self, place: &str) -> AcceptedFields {
        let reviewed = &self.job.reviewed;
        if !reviewed.approvals.is_empty() || reviewed.record(&self.list.deliverable.path, place).is_some() {
            return AcceptedFields::All;
        }
        let corrections = self.findings.corrections(place);
        AcceptedFields::Corrected(corrections.map(|correction| named(correction.within)).collect())
    }

    /// The marks of a record's row; `known` are the facts about it.
    pub(super) fn marks(&self, place: &str, known: &[Value; KNOWN.len()]) -> RowMarks {
        let quotes = self.quotes.get(place);
        let values = quotes.into_iter().flat_map(|quotes| self.doubtful(place, quotes)).map(|(field, _)| field);
        let unproven = quotes.map(|quotes| &quotes.unproven[..]).unwrap_or_default();
        let own = self.list.quotes.first().map(|first| first.name_of(&first.rule.text));
        RowMarks {
            doubtful: values.chain(unproven).cloned().collect(),
            corrected: self.findings.corrections(place).map(|correction| named(correction.within)).collect(),
            is_quote_doubtful: own.is_some_and(|own| unproven.contains(&own)),
            has_finding: !known[OPEN_FINDING].is_null(),
            is_incomplete: matches!(self.job.job_status().0, JobStatus::Partial | JobStatus::Blocked),
        }
    }

    /// The values that are not in their quotes, or possibly not. A value corrected by a person is no longer doubtful.
    fn doubtful<'q>(
        &'q self,
        place: &'q str,
        quotes: &'q RecordQuotes,
    ) -> impl Iterator<Item = &'q (String, ValueStatus)> {
        let is_of = |field: &str, within: &str| {
            within.strip_prefix('.').is_some_and(|path| {
                // The value of an object with a quote.
                path == field || path.strip_prefix(field).and_then(|rest| rest.strip_prefix('.')) == Some(VALUE)
            })
        };
        let is_corrected = move |field: &str| self.findings.corrections(place).any(|of| is_of(field, of.within));
        quotes.doubtful.iter().filter(move |(field, _)| !is_corrected(field))
    }

    /// `yes`, else the values that are not in their quotes: `not amount, unclear date`. `None` if this is unknown,
    /// because a quote is not at the record's place.
    fn values(&self, place: &str, quotes: &RecordQuotes) -> Option<String> {
        let told = |(field, status): &(String, ValueStatus)| match status {
            ValueStatus::NotInQuote => format!("not {field}"),
            ValueStatus::Unclear(_) => format!("unclear {field}"),
        };
        let doubtful: Vec<String> = self.doubtful(place, quotes).map(told).collect();
        match quotes.check {
            _ if !doubtful.is_empty() => Some(doubtful.join(", ")),
            QuoteStatus::Found => Some("yes".to_owned()),
            _ => None,
        }
    }

    /// The corrected fields of a record as an object with the columns' names; null if there are none.
    fn corrected(&self, place: &str) -> Value {
        let corrections = self.findings.corrections(place);
        let fields: Map<String, Value> =
            corrections.map(|correction| (named(correction.within), correction.after.clone())).collect();
        if fields.is_empty() { Value::Null } else { Value::String(Value::Object(fields).to_string()) }
    }

    /// Who corrected a record, approved it, or approved the whole.
    fn reviewers(&self, place: &str) -> Option<String> {
        let reviewed = &self.job.reviewed;
        let mut names: Vec<&str> = Vec::new();
        let correctors = self.findings.corrections(place).map(|correction| correction.by);
        let of_record = reviewed
            .records
            .iter()
            .filter(|approval| approval.file == self.list.deliverable.path && approval.record == place);
        let all = correctors
            .chain(of_record.map(|approval| approval.by.as_str()))
            .chain(reviewed.approvals.iter().filter_map(|approval| approval.by.as_deref()));
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }
}

fn json_of(boxes: &[QuoteBox]) -> Option<String> {
    serde_json::to_string(boxes).ok().filter(|_| !boxes.is_empty())
}

/// A place within a record, as a column's name.
fn named(within: &str) -> String {
    within.trim_start_matches('.').to_owned()
}

/// The places of a list's quotes, by record; the file's number of quotes is bounded.
fn quotes(
    job: &Job,
    workspace: &Workspace,
    list: &RecordList<'_>,
) -> Result<HashMap<String, RecordQuotes>, WorkspaceError> {
    let mut quotes: HashMap<String, RecordQuotes> = HashMap::new();
    QuoteLine::read_corrected(job, workspace, &mut |line| {
        if line.deliverable != list.deliverable.path {
            return;
        }
        let Some((quote, record)) = record_with(&list.quotes, &line.item, &line.key) else { return };
        let from = line.place.map(|place| place.from);
        let known = quotes.entry(record.to_owned()).or_insert_with(|| RecordQuotes {
            document: line.document.clone().into_owned(),
            from,
            span: line.start.zip(line.end),
            boxes: json_of(&line.boxes),
            check: line.result,
            doubtful: Vec::new(),
            unproven: Vec::new(),
            is_read_once: false,
        });
        known.doubtful.extend(line.values.into_iter().map(|(field, status)| (quote.name_of(&field), status)));
        known.check = known.check.max(line.result);
        known.is_read_once |= line.recognised;
        let is_first = list.quotes.first().is_some_and(|first| std::ptr::eq(first, quote));
        if line.result != QuoteStatus::Found || !line.one_reading.is_empty() {
            known.unproven.extend(quote.fields());
        }
        if is_first {
            (known.span, known.boxes) = (line.start.zip(line.end), json_of(&line.boxes));
            (known.document, known.from) = (line.document.into_owned(), from);
        }
    })?;
    Ok(quotes)
}
