//! What the program knows of the records of one list.

use super::{columns::KNOWN, gather::ReviewPages, lists::RecordList};
use crate::workspace::{Workspace, WorkspaceError};
use overnight_core::job::{
    contract::json_path::at_mut,
    finding::{Finding, FindingKind, Settlement},
    models::list_models,
    second_reading::ReadUnit,
    state::{Job, QUOTES_FILE},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    io::{BufRead, BufReader},
    ops::Bound,
};

/// What a quote's check came to, the worst last.
const CHECKS: [&str; 4] = ["found", "on_another_page", "not_found", "no_such_document"];

/// Of a line of `quotes.jsonl`.
#[derive(Deserialize)]
struct CheckedQuote {
    deliverable: String,
    item: String,
    key: String,
    document: String,
    result: String,
    from: Option<QuoteStart>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct QuoteStart {
    page: Option<u64>,
    line: u64,
}

/// Where the quotes of a record stand.
#[derive(Debug)]
struct RecordQuotes {
    /// By the first rule.
    document: String,
    from: Option<QuoteStart>,
    /// Of all its quotes the worst, in [`CHECKS`].
    check: usize,
}

/// The facts of one list's records.
#[derive(Debug)]
pub(super) struct RecordFacts<'j> {
    job: &'j Job,
    list: &'j RecordList<'j>,
    quotes: HashMap<String, RecordQuotes>,
    /// What the second reading held against records, by document.
    held: HashMap<&'j str, Vec<&'j Finding>>,
    /// What a verifier holds against them, and nobody has settled.
    faults: Vec<&'j Finding>,
    /// What people corrected in this list, by place, the last correction of each.
    corrections: BTreeMap<&'j str, &'j Finding>,
    review: Option<&'j ReviewPages>,
    /// The same for all.
    models: String,
    confidence: Option<f64>,
}

impl<'j> RecordFacts<'j> {
    /// Reads where their quotes stand.
    pub(super) fn of(
        job: &'j Job,
        workspace: &Workspace,
        list: &'j RecordList<'j>,
        review: Option<&'j ReviewPages>,
    ) -> Result<Self, WorkspaceError> {
        let mut held: HashMap<&str, Vec<&Finding>> = HashMap::new();
        let (mut faults, mut corrections) = (Vec::new(), BTreeMap::new());
        for finding in &job.proof.findings {
            let is_open = finding.settled.is_none();
            match finding.kind {
                FindingKind::Missing | FindingKind::Unconfirmed => {
                    if let Some(document) = finding.document.as_deref().filter(|_| list.is_read_twice) {
                        held.entry(document).or_default().push(finding);
                    }
                }
                FindingKind::Fault | FindingKind::NoVerdict => faults.extend(is_open.then_some(finding)),
                FindingKind::Correction => {
                    let is_of_list = finding.file.as_ref() == Some(&list.deliverable.path);
                    corrections.extend(finding.place.as_deref().filter(|_| is_of_list).map(|place| (place, finding)));
                }
                FindingKind::Unread => {}
            }
        }
        let ending = job.decided_ending();
        Ok(Self {
            job,
            list,
            quotes: quotes(workspace, list)?,
            held,
            faults,
            corrections,
            review,
            models: list_models(&job.answered.models, &job.spec.model),
            confidence: ending.and_then(|ending| ending.completion.as_ref()).map(|completion| completion.confidence),
        })
    }

    /// What is known of a record, as [`KNOWN`] names it.
    pub(super) fn known(&self, place: &str, record: &Value) -> [Value; KNOWN.len()] {
        let rule = self.list.rules.first();
        let said = |key: Option<&String>| key.and_then(|key| record.get(key)).and_then(Value::as_str);
        let quote = said(rule.map(|rule| &rule.text));
        let quotes = self.quotes.get(place);
        let only = match &self.job.spec.documents[..] {
            [only] => Some(only.name.as_str()),
            _ => None,
        };
        let document = quotes
            .map(|quotes| quotes.document.as_str())
            .or_else(|| {
                said(rule.map(|rule| &rule.document)).map(|name| name.strip_prefix("documents/").unwrap_or(name))
            })
            .or(only);
        let from = quotes.and_then(|quotes| quotes.from);
        let held = self.held(document, quote);
        let open = held.filter(|finding| finding.settled.is_none()).or_else(|| self.fault(place));
        let id = self.job.spec.id.to_string();
        [
            json!(document),
            json!(quote),
            json!(from.and_then(|from| from.page)),
            json!(from.map(|from| from.line)),
            json!(quotes.map(|quotes| CHECKS[quotes.check])),
            json!(self.found_by(held, document, from)),
            json!(open.map(Finding::told)),
            json!(self.reviewers(place)),
            self.corrected(place),
            json!(self.review.map(|pages| {
                format!("{}/{id}.html#{}", pages.folder, (pages.anchor)(&self.list.deliverable.path, place))
            })),
            json!(self.models),
            json!(self.confidence),
            json!(self.job.job_status().0.name()),
            json!(id),
            json!(place),
        ]
    }

    /// What the second reading held against a record.
    fn held(&self, document: Option<&str>, quote: Option<&str>) -> Option<&'j Finding> {
        let (held, quote) = (self.held.get(document?)?, quote?);
        let is_of = |finding: &&&Finding| finding.quote.as_deref().is_some_and(|known| quote.starts_with(known));
        held.iter().find(is_of).copied()
    }

    /// What people corrected in a record: where in it, what stands there now, and the finding.
    fn corrections(&self, record: &str) -> impl Iterator<Item = (&'j str, &'j Value, &'j Finding)> {
        let from = self.corrections.range::<str, _>((Bound::Included(record), Bound::Unbounded));
        let of_record = from.map_while(move |(place, finding)| Some((place.strip_prefix(record)?, *finding)));
        of_record.filter(|(within, _)| ends_step(within)).filter_map(|(within, finding)| {
            let settled = finding.settled.as_ref()?;
            let Settlement::Corrected { after, .. } = &settled.settlement else { return None };
            Some((within, after, finding))
        })
    }

    /// Puts the corrections of a record into it.
    pub(super) fn correct(&self, place: &str, record: &mut Value) {
        for (within, after, _) in self.corrections(place) {
            if let Some(value) = at_mut(record, &format!("${within}")) {
                value.clone_from(after);
            }
        }
    }

    /// The corrected fields of a record as an object, named as columns are; null where there are none.
    fn corrected(&self, place: &str) -> Value {
        let named = |within: &str| within.trim_start_matches('.').to_owned();
        let fields: Map<String, Value> =
            self.corrections(place).map(|(within, after, _)| (named(within), after.clone())).collect();
        if fields.is_empty() { Value::Null } else { Value::String(Value::Object(fields).to_string()) }
    }

    /// Who corrected a record, approved it, or approved the whole.
    fn reviewers(&self, place: &str) -> Option<String> {
        let reviewed = &self.job.reviewed;
        let mut names: Vec<&str> = Vec::new();
        let correctors = self.corrections(place).filter_map(|(.., finding)| finding.settled.as_ref());
        let of_record = reviewed
            .records
            .iter()
            .filter(|approval| approval.file == self.list.deliverable.path && approval.record == place);
        let all = correctors
            .map(|settled| settled.by.as_str())
            .chain(of_record.map(|approval| approval.by.as_str()))
            .chain(reviewed.approvals.iter().filter_map(|approval| approval.by.as_deref()));
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn fault(&self, place: &str) -> Option<&'j Finding> {
        let is_at = |finding: &&&Finding| {
            let rest = finding.place.as_deref().and_then(|at| at.strip_prefix(place));
            rest.is_some_and(ends_step)
        };
        self.faults.iter().find(is_at).copied()
    }

    /// `both`, `first` or `second`; none where that part was not read twice.
    fn found_by(
        &self,
        held: Option<&Finding>,
        document: Option<&str>,
        from: Option<QuoteStart>,
    ) -> Option<&'static str> {
        let reading = self.job.proof.reading.as_ref().filter(|reading| reading.comparison.is_some());
        let reading = reading.filter(|_| self.list.is_read_twice)?;
        let unit = from.map(|from| from.page.unwrap_or(from.line))?;
        let is_read = |part: &ReadUnit| document == Some(&part.document) && (part.from..=part.to).contains(&unit);
        if held.is_none() && !reading.read.iter().any(is_read) {
            return None;
        }
        Some(match held.map(|finding| finding.kind) {
            Some(FindingKind::Missing) => "second",
            Some(FindingKind::Unconfirmed) => "first",
            Some(FindingKind::Unread | FindingKind::Fault | FindingKind::NoVerdict | FindingKind::Correction)
            | None => "both",
        })
    }
}

/// Whether a place ends where `rest` begins.
fn ends_step(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

/// Where the quotes of a list stand, by place; as many as the file has, which is bounded.
fn quotes(workspace: &Workspace, list: &RecordList<'_>) -> Result<HashMap<String, RecordQuotes>, WorkspaceError> {
    let mut quotes: HashMap<String, RecordQuotes> = HashMap::new();
    let Some(first) = list.rules.first() else { return Ok(quotes) };
    let file = match workspace.stream(QUOTES_FILE) {
        Ok((file, _)) => BufReader::new(file),
        Err(error) if error.is_not_found() => return Ok(quotes),
        Err(error) => return Err(error),
    };
    for line in file.lines().map_while(Result::ok) {
        let Ok(quote) = serde_json::from_str::<CheckedQuote>(&line) else { continue };
        let is_of_list =
            quote.deliverable == list.deliverable.path && list.rules.iter().any(|rule| rule.text == quote.key);
        if !is_of_list {
            continue;
        }
        let check = CHECKS.iter().position(|check| *check == quote.result).unwrap_or_default();
        let CheckedQuote { item, key, document, from, .. } = quote;
        let known = quotes.entry(item).or_insert_with(|| RecordQuotes { document: document.clone(), from, check });
        known.check = known.check.max(check);
        if key == first.text {
            (known.document, known.from) = (document, from);
        }
    }
    Ok(quotes)
}
