//! What the program knows of the records of one list.

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

/// Where the quotes of a record stand.
#[derive(Debug)]
struct RecordQuotes {
    /// By the first rule.
    document: String,
    from: Option<TextPosition>,
    /// The first byte, and that behind the last.
    span: Option<(u64, u64)>,
    /// Where it stands on the pictures of its pages, as JSON; none where that is not known.
    boxes: Option<String>,
    /// Of all its quotes the worst.
    check: QuoteStatus,
    /// Fields whose values don't stand in their quotes, or may not.
    doubtful: Vec<(String, ValueStatus)>,
    /// Fields whose quotes don't stand where the record says, or in only one of two readings of a scan.
    unproven: Vec<String>,
    /// Nothing has read what it stands in a second time.
    is_read_once: bool,
}

impl RecordQuotes {
    /// Of all its quotes the worst; of those that are found, whether two readings of a scan have each.
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
    /// The same for all.
    models: String,
    paid: String,
    confidence: Option<f64>,
}

impl<'j> RecordFacts<'j> {
    /// Reads where their quotes stand.
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

    /// What is known of a record, as [`KNOWN`] names it. Its quote and where that stands are those that hold: as corrected.
    pub(super) fn known(&self, place: &str, record: &Value) -> [Value; KNOWN.len()] {
        let first = self.list.quotes.first();
        let corrected = self.findings.corrected(place, record);
        let object = first.and_then(|first| Some((first.rule, first.object(&corrected)?)));
        let said = |key: Option<&String>| object.zip(key).and_then(|((_, fields), key)| fields.get(key)?.as_str());
        let quote = said(object.map(|(rule, _)| &rule.text));
        // Readers have found what the model wrote.
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

    /// Where the first quote of a record stands in its document's text: the first byte, and that behind the last.
    pub(super) fn span(&self, place: &str) -> Option<(u64, u64)> {
        self.quotes.get(place)?.span
    }

    /// What people have accepted of a record.
    pub(super) fn accepted(&self, place: &str) -> AcceptedFields {
        let reviewed = &self.job.reviewed;
        if !reviewed.approvals.is_empty() || reviewed.record(&self.list.deliverable.path, place).is_some() {
            return AcceptedFields::All;
        }
        let corrections = self.findings.corrections(place);
        AcceptedFields::Corrected(corrections.map(|correction| named(correction.within)).collect())
    }

    /// What is to be seen of a record at a glance; `known` is what is known of it.
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

    /// The values that don't stand in their quotes, or may not. What a person has corrected is decided.
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

    /// `yes`, else which values don't stand in their quotes: `not amount, unclear date`. None where it can't be told, because a
    /// quote does not stand where the record says.
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

    /// The corrected fields of a record as an object, named as columns are; null where there are none.
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

/// A place within a record as columns are named.
fn named(within: &str) -> String {
    within.trim_start_matches('.').to_owned()
}

/// Where the quotes of a list stand, by place; as many as the file has, which is bounded.
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
