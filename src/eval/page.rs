//! An evaluation as a page: fields × candidates, and each wrong value beside the expected one and its source. On a
//! server's page, each has a button for correcting the set.

use super::{
    cell_source::CellSource,
    evaluation::{CandidateResult, Evaluation, ScoreView, WrongCell},
    evaluation_text,
};
use askama::Template;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Wrong values that are shown.
const MOST_ROWS: usize = 1_000;

/// The form of a server's page for correcting the set.
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
    /// All runs have ended.
    is_whole: bool,
    sentences: Vec<String>,
    fields: Vec<(&'e str, Vec<Option<&'e ScoreView>>)>,
    rows: Vec<WrongRow<'e>>,
    more: usize,
    /// The wrong values are of several files, so their files are named.
    several_files: bool,
    form: Option<&'e CorrectForm>,
}

/// A value that is wrong for some candidate.
struct WrongRow<'e> {
    case: &'e str,
    /// `None`: the first JSON file that the instructions ask for.
    file: Option<&'e str>,
    place: &'e str,
    expected: String,
    source: Option<&'e CellSource>,
    /// By candidate.
    found: Vec<FoundCell<'e>>,
}

/// A candidate's result for a value.
enum FoundCell<'e> {
    Right,
    /// No run of the case has ended.
    NoRun,
    Wrong(FoundValue<'e>),
}

struct FoundValue<'e> {
    shown: String,
    /// As JSON, for the form; `None` if the expected result has no such place.
    json: Option<String>,
    job: &'e str,
}

/// A page that stands alone.
pub fn evaluation_page(evaluation: &Evaluation) -> Result<String, askama::Error> {
    let body = evaluation_body(evaluation, None)?;
    EvaluationPage { gold: &evaluation.facts.gold, body: &body }.render()
}

/// The content of the page, for a page with a frame of its own.
pub fn evaluation_body(evaluation: &Evaluation, form: Option<&CorrectForm>) -> Result<String, askama::Error> {
    let mut rows: BTreeMap<(&str, Option<&str>, &str), WrongRow<'_>> = BTreeMap::new();
    for (at, CandidateResult { wrong, .. }) in evaluation.candidates.iter().enumerate() {
        for one in wrong {
            let WrongCell { case, job, deliverable, cell, source, .. } = one;
            let file = deliverable.as_deref();
            let place = cell.expected_path.as_ref().or(cell.found_path.as_ref()).unwrap_or(&cell.field);
            let row = rows.entry((case.as_str(), file, place.as_str())).or_insert_with(|| WrongRow {
                case,
                file,
                place,
                expected: shown(&cell.expected),
                source: None,
                found: evaluation.candidates.iter().map(|result| FoundCell::before(result, case)).collect(),
            });
            row.source = row.source.or(source.as_ref());
            let json = cell.expected_path.as_ref().map(|_| cell.found.to_string());
            if !matches!(row.found[at], FoundCell::Wrong(_)) {
                row.found[at] = FoundCell::Wrong(FoundValue { shown: shown(&cell.found), json, job });
            }
        }
    }
    let several_files = rows.keys().map(|(_, file, _)| file).collect::<BTreeSet<_>>().len() > 1;
    let more = rows.len().saturating_sub(MOST_ROWS);
    EvaluationBody {
        evaluation,
        is_whole: evaluation.candidates.iter().all(|result| result.missing.is_empty() && !result.cases.is_empty()),
        sentences: evaluation_text(evaluation).lines().map(str::to_owned).collect(),
        fields: evaluation.scores_by_field(),
        rows: rows.into_values().take(MOST_ROWS).collect(),
        more,
        several_files,
        form,
    }
    .render()
}

impl FoundCell<'_> {
    /// The initial state, while no wrong value of a case is known.
    fn before(result: &CandidateResult, case: &str) -> Self {
        if result.cases.iter().any(|known| known.case == case) { Self::Right } else { Self::NoRun }
    }
}

/// A value in words.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
