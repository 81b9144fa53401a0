//! Corrections that people make in a deliverable: the value must fit the contract, a quote is searched for again, and
//! the file with all corrections is stored beside the model's.

use super::{OpenJob, RunError, quote_positions::QuoteCheck, review_job::ReviewError};
use crate::failpoint;
use overnight_core::{
    job::{
        contract::{QuoteQuery, QuoteResult, RuleMemory, check_deliverable, fault_at, quotes_changed_at},
        corrected::{DeletedRecords, put},
        digest::sha256,
        finding::{CorrectedQuote, Finding},
        instructions::Deliverable,
        json_path,
        reviewed::corrected_path,
    },
    machine::effect::{Command, FieldCorrection},
};
use serde_json::Value;
use std::fmt::Write;

/// Corrections that feedback lists for the model one by one.
const MOST_TOLD: usize = 50;

/// The new value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum CorrectedValue {
    /// As a person typed it: text, or JSON if the field is not a text.
    Typed(String),
    /// The value itself.
    Exact(Value),
}

/// A field that a person wants to change.
#[derive(Debug)]
pub(super) struct WantedValue {
    /// The deliverable.
    pub(super) file: String,
    /// `$.requirements[3].text`.
    pub(super) place: String,
    pub(super) value: CorrectedValue,
    pub(super) by: String,
    pub(super) comment: Option<String>,
}

fn refused<T>(why: impl Into<String>) -> Result<T, ReviewError> {
    Err(ReviewError::Refused(why.into()))
}

impl OpenJob {
    /// The corrections in the result that is sent back: the next result must have them.
    pub(super) fn corrections_told(&self) -> String {
        let told = |finding: &Finding| {
            let settled = finding.settled.as_ref()?;
            let (file, place) = (finding.file.as_deref()?, finding.place.as_deref()?);
            Some(format!("\n- {file} {place}: {}", settled.settlement.told()))
        };
        let all: Vec<String> = self.job.corrections().filter_map(told).collect();
        if all.is_empty() {
            return String::new();
        }
        let mut text = "\n\nA person has corrected these; take them over:".to_owned();
        text.extend(all.iter().take(MOST_TOLD).map(String::as_str));
        if all.len() > MOST_TOLD {
            let _ = write!(text, "\n- and {} more, which the files named .corrected have", all.len() - MOST_TOLD);
        }
        text
    }

    pub(super) fn deliverable(&self, file: &str) -> Result<&Deliverable, ReviewError> {
        let all = &self.job.spec.instructions.deliverables;
        all.iter().find(|deliverable| deliverable.path == file).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|deliverable| deliverable.path.as_str()).collect();
            ReviewError::Refused(format!("{file} is no deliverable of this job; it has {}", names.join(", ")))
        })
    }

    /// The deliverable as the model left it, with all corrections so far; deleted records are null.
    pub(super) fn corrected(&self, deliverable: &Deliverable) -> Result<Value, ReviewError> {
        let file = &deliverable.path;
        let bytes = self.workspace.read(file)?;
        let known = self.job.decided_ending().map(|ending| &ending.deliverables[..]).unwrap_or_default();
        if known.iter().any(|known| known.path == *file && known.sha256 != sha256(&bytes)) {
            return refused(format!("{file} was changed since the job's end: `overnight audit verify` says more"));
        }
        let Ok(mut content) = serde_json::from_slice(&bytes) else {
            return refused(format!(
                "{file} is no JSON file, and has no fields: send the job back with feedback instead"
            ));
        };
        self.job.correct(file, &mut content);
        Ok(content)
    }

    pub(super) fn correction(&self, wanted: WantedValue) -> Result<FieldCorrection, ReviewError> {
        let WantedValue { file, place, value, by, comment } = wanted;
        let deliverable = self.deliverable(&file)?;
        let present = self.corrected(deliverable)?;
        let mut content = present.clone();
        let found = json_path::at_mut(&mut content, &place).filter(|_| place != "$").map(|found| found.clone());
        let is_new = found.is_none();
        if is_new && !put(&mut content, &place, &Value::Null) {
            return refused(format!("there is no field {place} in {file}"));
        }
        let before = found.unwrap_or_default();
        let (meant, as_text) = match value {
            CorrectedValue::Exact(value) => (Some(value), None),
            // A text stays one, or becomes null; elsewhere JSON is meant, unless only a text fits.
            CorrectedValue::Typed(typed) => {
                let is_text = before.is_string() && typed.trim() != "null";
                let meant: Option<Value> = if is_text { None } else { serde_json::from_str(&typed).ok() };
                (meant, Some(Value::String(typed)))
            }
        };
        if is_new && !meant.as_ref().is_some_and(Value::is_object) {
            return refused(format!("there is no {place} in {file} yet: a new record is an object, as JSON"));
        }
        let deleted = self.job.deleted_records(&file);
        // A result that fails the check already may continue to fail.
        let was_right = check(deliverable, &whole(present.clone(), &deleted)).is_ok();
        let mut fault = None;
        for after in meant.into_iter().chain(as_text.filter(|_| !is_new)) {
            let mut content = present.clone();
            put(&mut content, &place, &after);
            if !(is_kept(&before) && is_kept(&after)) {
                return refused(format!(
                    "{place} of {file} can't be changed so: a record keeps no whole number over 18446744073709551615, nor one below -9223372036854775808"
                ));
            }
            if after == before {
                return refused(format!("{place} of {file} has this value already"));
            }
            let mut deleted = deleted.clone();
            deleted.note(&place, (&before, &after));
            match check(deliverable, &whole(content.clone(), &deleted)) {
                Err(why) if was_right => fault = fault.or(Some(why)),
                Err(_) if let Some(why) = wrong_at(deliverable, &content, &place, &after) => {
                    fault = fault.or(Some(why));
                }
                Ok(()) | Err(_) => {
                    let quotes = self.looked_up(deliverable, &place, (&present, &content));
                    let sha256 = sha256(text_of(&whole(content, &deleted)).as_bytes());
                    let path = corrected_path(&file);
                    return Ok(FieldCorrection { file, place, before, after, path, sha256, quotes, by, comment });
                }
            }
        }
        refused(format!("{place} of {file} can't have this value: {}", fault.unwrap_or_default()))
    }

    /// Searches for the quotes that a correction at `place` changes.
    fn looked_up(&self, deliverable: &Deliverable, place: &str, content: (&Value, &Value)) -> Vec<CorrectedQuote> {
        let mut quotes = QuoteCheck::new(&self.job, &self.workspace);
        quotes_changed_at(deliverable, place, content, &mut quotes, &mut QuoteCheck::take_line)
    }

    /// Writes the file with corrections that the journal announces, and records that.
    pub(super) fn write_corrections(&mut self) -> Result<(), RunError> {
        let Some(path) = self.job.reviewed.unwritten.clone() else { return Ok(()) };
        self.write_corrected(&path)?;
        failpoint::hit("review.written");
        self.command(Command::CorrectionWritten { path }).map(drop)
    }

    /// Writes the file with all corrections as the journal has them.
    pub(super) fn write_corrected(&self, path: &str) -> Result<(), RunError> {
        let all = &self.job.spec.instructions.deliverables;
        let deliverable = all.iter().find(|deliverable| corrected_path(&deliverable.path) == path);
        let content = match deliverable.map(|deliverable| self.corrected(deliverable)) {
            Some(Ok(content)) => Ok(content),
            Some(Err(ReviewError::Run(error))) => return Err(error),
            Some(Err(error)) => Err(error.to_string()),
            None => Err(format!("{path} is of no deliverable")),
        };
        let content = content.map_err(RunError::Request)?;
        let deleted = deliverable.map(|deliverable| self.job.deleted_records(&deliverable.path)).unwrap_or_default();
        self.workspace.write(path, text_of(&whole(content, &deleted)).as_bytes())?;
        Ok(())
    }
}

/// Whether the journal preserves a value: the reader of its lines supports only whole numbers of 64 bits.
fn is_kept(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_i64() || number.is_u64() || number.as_str().contains(['.', 'e', 'E']),
        Value::Array(parts) => parts.iter().all(is_kept),
        Value::Object(fields) => fields.values().all(is_kept),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// The schema's objection to a new value in its place; a deleted record gets none.
fn wrong_at(deliverable: &Deliverable, content: &Value, place: &str, after: &Value) -> Option<String> {
    let schema = deliverable.schema.as_ref().filter(|_| !after.is_null())?;
    fault_at(schema, content, place)
}

/// The corrected deliverable without the records that were deleted.
fn whole(mut content: Value, deleted: &DeletedRecords) -> Value {
    deleted.remove_from(&mut content);
    content
}

/// The corrected deliverable as a file.
fn text_of(content: &Value) -> String {
    // A tree of JSON values: writing it can't fail.
    serde_json::to_string_pretty(content).unwrap_or_default() + "\n"
}

/// The contract's objection to the corrected deliverable. A quote that isn't found, or a broken rule, is no reason to
/// refuse: a person may know better than recognised text, and may have to correct two fields for one rule.
fn check(deliverable: &Deliverable, content: &Value) -> Result<(), String> {
    let text = text_of(content);
    let schema_only = Deliverable { quotes: Vec::new(), checks: Vec::new(), ..deliverable.clone() };
    // Without rules for quotes, no quote is searched for.
    let mut sources = |_: QuoteQuery<'_>| QuoteResult::NotLookedFor;
    let checked = check_deliverable(&schema_only, Some(text.as_bytes()), &mut sources, &mut RuleMemory::default());
    match checked.checks.iter().find(|check| !check.passed) {
        Some(check) => Err(check.detail.clone()),
        None => Ok(()),
    }
}
