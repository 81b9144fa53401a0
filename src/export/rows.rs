//! The records of one job, with what the program knows of each.

use super::{TableColumns, columns::KNOWN};
use crate::{
    runner::{RunError, load},
    workspace::Workspace,
};
use overnight_core::job::{
    contract::json_path::JsonPath,
    finding::{Finding, FindingKind},
    instructions::{Deliverable, Quotes},
    models::list_models,
    second_reading::ReadUnit,
    state::{Job, QUOTES_FILE},
};
use serde_json::{Value, json};
use std::{collections::HashMap, path::Path};

/// Bytes of the largest deliverable that is read.
const MOST_BYTES: u64 = 256 << 20;

/// The records of one job.
#[derive(Debug)]
pub struct JobRecords {
    job: Job,
    rule: Quotes,
    deliverable: Deliverable,
    content: Value,
    /// Lines of `quotes.jsonl`, by item.
    places: HashMap<String, Value>,
}

impl JobRecords {
    /// Reads the job whose workspace lies at `path`; none where it has no list of records at `wanted` (by default the first
    /// deliverable with quotes), or has not written it.
    pub fn read(path: &Path, wanted: Option<&str>) -> Result<Option<Self>, RunError> {
        let job = load(path)?.job;
        let workspace = Workspace::open(path)?;
        let is_wanted = |deliverable: &&Deliverable| match wanted {
            Some(path) => deliverable.path == path && !deliverable.quotes.is_empty(),
            None => !deliverable.quotes.is_empty(),
        };
        let Some(deliverable) = job.spec.instructions.deliverables.iter().find(is_wanted).cloned() else {
            return Ok(None);
        };
        let content = match workspace.read_at_most(&deliverable.path, MOST_BYTES) {
            Ok(content) => serde_json::from_slice(&content).unwrap_or_default(),
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let rule = deliverable.quotes[0].clone();
        let lines = workspace.read_text(QUOTES_FILE).unwrap_or_default();
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let of_this =
            lines.filter(|line| line["deliverable"] == deliverable.path.as_str() && line["key"] == rule.text.as_str());
        let places = of_this.map(|line| (line["item"].as_str().unwrap_or_default().to_owned(), line)).collect();
        Ok(Some(Self { job, rule, deliverable, content, places }))
    }

    /// The path of the list.
    pub fn deliverable(&self) -> &str {
        &self.deliverable.path
    }

    /// The columns that the schema names.
    pub fn schema_columns(&self) -> TableColumns {
        let steps = self.rule.each.trim_start_matches('$').split("[*]").next().unwrap_or_default();
        let mut schema = self.deliverable.schema.as_ref();
        for key in steps.split('.').filter(|key| !key.is_empty()) {
            schema = schema.and_then(|schema| schema["properties"].get(key));
        }
        TableColumns::of_schema(schema.and_then(|schema| schema.get("items")))
    }

    /// Hands each record to `visit`, with its place: `$.requirements[3]`.
    fn each(&self, visit: &mut dyn FnMut(&str, &Value)) {
        if let Ok(path) = JsonPath::parse(&self.rule.each) {
            path.each(&self.content, visit);
        }
    }

    /// Takes in the fields of all records.
    pub fn observe(&self, columns: &mut TableColumns) {
        self.each(&mut |_, record| columns.observe(record));
    }

    /// Hands the cells of each record to `visit`, in the order of the list.
    pub fn rows(&self, columns: &TableColumns, visit: &mut dyn FnMut(Vec<Value>)) {
        self.each(&mut |place, record| {
            let mut cells = columns.cells(record);
            cells.extend(self.known(place, record));
            visit(cells);
        });
    }

    /// What the program knows of a record, as [`KNOWN`] names it.
    fn known(&self, place: &str, record: &Value) -> [Value; KNOWN.len()] {
        let at = self.places.get(place).unwrap_or(&Value::Null);
        let finding = self.finding(record);
        let open = finding.filter(|finding| finding.settled.is_none());
        let ending = self.job.decided_ending();
        let confidence = ending.and_then(|ending| ending.completion.as_ref()).map(|completion| completion.confidence);
        [
            at["from"]["page"].clone(),
            at["from"]["line"].clone(),
            at["result"].clone(),
            json!(self.found_by(finding, at)),
            json!(open.map(Finding::told)),
            json!(list_models(&self.job.answered.models, &self.job.spec.model)),
            json!(confidence),
            json!(self.job.job_status().0.name()),
            json!(self.job.spec.id.to_string()),
        ]
    }

    /// What the second reading held against a record.
    fn finding(&self, record: &Value) -> Option<&Finding> {
        let text = |key: &String| record.get(key).and_then(Value::as_str);
        let (quote, document) = (text(&self.rule.text)?, text(&self.rule.document)?);
        let is_of = |finding: &&Finding| {
            finding.document.as_deref() == Some(document.strip_prefix("documents/").unwrap_or(document))
                && finding.quote.as_deref().is_some_and(|known| quote.starts_with(known))
        };
        self.job.proof.findings.iter().filter(|finding| !finding.kind.is_verifiers()).find(is_of)
    }

    /// `both`, `first` or `second`; none where that part was not read twice. `at` is where the quote was found.
    fn found_by(&self, finding: Option<&Finding>, at: &Value) -> Option<&'static str> {
        let reading = self.job.proof.reading.as_ref().filter(|reading| reading.comparison.is_some())?;
        let unit = at["from"]["page"].as_u64().or(at["from"]["line"].as_u64())?;
        let is_read =
            |part: &ReadUnit| at["document"] == part.document.as_str() && (part.from..=part.to).contains(&unit);
        if finding.is_none() && !reading.read.iter().any(is_read) {
            return None;
        }
        Some(match finding.map(|finding| finding.kind) {
            Some(FindingKind::Missing) => "second",
            Some(FindingKind::Unconfirmed) => "first",
            Some(FindingKind::Unread | FindingKind::Fault | FindingKind::NoVerdict | FindingKind::Correction)
            | None => "both",
        })
    }
}
