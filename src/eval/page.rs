//! An evaluation as a page: fields × candidates, and each wrong value beside what is right and where it stands. A server's page has a
//! button for each that says that the set is wrong.

use super::{
    cell_source::CellSource,
    evaluation::{CandidateResult, Evaluation, WrongCell},
    evaluation_text,
};
use askama::Template;
use serde_json::Value;
use std::collections::BTreeMap;

/// Wrong values that are shown.
const MOST_ROWS: usize = 1_000;

/// What a server's page sends to say that the set is wrong.
#[derive(Clone, Debug)]
pub struct CorrectForm {
    pub action: String,
    pub token: String,
}

#[derive(Template)]
#[template(path = "eval/page.html")]
struct EvaluationPage<'e> {
    gold: &'e str,
    body: &'e str,
}

#[derive(Template)]
#[template(path = "eval/body.html")]
struct EvaluationBody<'e> {
    evaluation: &'e Evaluation,
    sentences: Vec<String>,
    fields: Vec<FieldRow<'e>>,
    rows: Vec<WrongRow<'e>>,
    more: usize,
    form: Option<&'e CorrectForm>,
}

/// A field, with the score of each candidate.
struct FieldRow<'e> {
    field: &'e str,
    scores: Vec<Option<String>>,
}

/// A value that some candidate has not right.
struct WrongRow<'e> {
    case: &'e str,
    place: &'e str,
    expected: String,
    source: Option<&'e CellSource>,
    /// By candidate: the wrong value, with its job; none where it is right.
    found: Vec<Option<FoundValue<'e>>>,
}

struct FoundValue<'e> {
    shown: String,
    /// As JSON, for the form; none where it has no place in what is right.
    json: Option<String>,
    job: &'e str,
}

/// A page that stands alone.
pub fn evaluation_page(evaluation: &Evaluation) -> Result<String, askama::Error> {
    let body = evaluation_body(evaluation, None)?;
    EvaluationPage { gold: &evaluation.facts.gold, body: &body }.render()
}

/// What stands on the page, for one that has its own frame.
pub fn evaluation_body(evaluation: &Evaluation, form: Option<&CorrectForm>) -> Result<String, askama::Error> {
    let mut rows: BTreeMap<(&str, &str), WrongRow<'_>> = BTreeMap::new();
    for (at, CandidateResult { wrong, .. }) in evaluation.candidates.iter().enumerate() {
        for one in wrong {
            let WrongCell { case, job, cell, source, .. } = one;
            let place = cell.expected_path.as_ref().or(cell.found_path.as_ref()).unwrap_or(&cell.field);
            let row = rows.entry((case.as_str(), place.as_str())).or_insert_with(|| WrongRow {
                case,
                place,
                expected: shown(&cell.expected),
                source: None,
                found: evaluation.candidates.iter().map(|_| None).collect(),
            });
            row.source = row.source.or(source.as_ref());
            let json = cell.expected_path.as_ref().map(|_| cell.found.to_string());
            row.found[at].get_or_insert(FoundValue { shown: shown(&cell.found), json, job });
        }
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    let mut names: Vec<&str> = Vec::new();
    for field in evaluation.candidates.iter().flat_map(|result| &result.fields) {
        if !names.contains(&field.field.as_str()) {
            names.push(&field.field);
        }
    }
    let score = |result: &CandidateResult, name: &str| {
        result.fields.iter().find(|field| field.field == name).map(|field| field.score.told())
    };
    let fields = names.into_iter().map(|field| FieldRow {
        field,
        scores: evaluation.candidates.iter().map(|result| score(result, field)).collect(),
    });
    EvaluationBody {
        evaluation,
        sentences: evaluation_text(evaluation).lines().map(str::to_owned).collect(),
        fields: fields.collect(),
        rows: rows.into_values().take(MOST_ROWS).collect(),
        more,
        form,
    }
    .render()
}

/// A value in words.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
