//! The scores of a candidate's runs: for each case, for each field, and in all.

use super::{
    candidate::Candidate,
    cell_source::{CellSource, SourceReader},
    evaluation::{CandidateResult, CaseScore, FieldScore, ListScore, RunFault, RunPairing, ScoreView, WrongCell},
    run::{EvalRun, FoundFile, RunResult},
};
use crate::gold::{GoldError, GoldExpected, GoldenCase, GoldenSet, Judgements};
use overnight_evals::{
    agreement::agreement,
    compare::{CellJudge, compare},
    comparison::{DocumentComparison, FieldCell, ListPairing, PairingCounts, RecordPlaces},
    plan::ComparisonPlan,
    statistics::{DocumentScore, score},
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Wrong values of a candidate whose sources are read, at most.
const MOST_SOURCES: usize = 500;

/// The expected results of a case, ready for comparing.
#[derive(Debug)]
pub(super) struct ExpectedCase {
    pub(super) name: String,
    documents: Vec<String>,
    files: Vec<ExpectedFile>,
}

/// The expected content of a file.
#[derive(Debug)]
struct ExpectedFile {
    /// `None`: the first JSON file that the instructions ask for.
    deliverable: Option<String>,
    value: Value,
    places: RecordPlaces,
    plan: ComparisonPlan,
}

impl ExpectedCase {
    pub(super) fn read(set: &GoldenSet, case: &GoldenCase) -> Result<Self, GoldError> {
        let read = |expected: &GoldExpected| {
            let (value, places, schema) = (set.expected(expected)?, set.places(expected)?, set.schema(expected)?);
            let proof: Vec<String> = set.deliverable(expected).proof_fields().collect();
            let plan = ComparisonPlan::new(schema, set.file.fields.clone(), proof);
            Ok(ExpectedFile { deliverable: expected.deliverable.clone(), value, places, plan })
        };
        let files = case.expected.iter().map(read).collect::<Result<_, GoldError>>()?;
        let documents = case.documents.iter().map(|document| document.name.clone()).collect();
        Ok(Self { name: case.name.clone(), documents, files })
    }

    /// The rules of the set that fit no field, for each file.
    pub(super) fn unused_rules(&self) -> impl Iterator<Item = Vec<String>> {
        self.files.iter().map(|file| file.plan.unused_rules([&file.value]))
    }

    /// The place of a value's record: that of the expected record, else that of the found one.
    fn source(
        &self,
        (file, cell): (&ExpectedFile, &FieldCell),
        found: Option<&FoundFile>,
        sources: &mut SourceReader,
    ) -> Option<CellSource> {
        let right = cell.expected_path.as_ref().and_then(|path| sources.passage(path, &file.places.expected));
        let placed = right.or_else(|| sources.passage(cell.found_path.as_ref()?, &found?.1));
        let occurs = |sources: &mut SourceReader, value| sources.occurrence(&self.documents, value);
        placed.or_else(|| occurs(sources, &cell.expected)).or_else(|| occurs(sources, &cell.found))
    }

    /// The share of values that are the same in any two runs of the case.
    fn agreement(&self, runs: &[&EvalRun]) -> DocumentScore {
        let of_file = |(at, file): (usize, &ExpectedFile)| {
            let found: Vec<Option<&Value>> = runs
                .iter()
                .map(|run| match &run.result {
                    RunResult::Delivered(found) => found.get(at)?.as_ref().map(|(value, _)| value),
                    RunResult::Failed(_) | RunResult::Missing(_) => None,
                })
                .collect();
            agreement(&found, &file.plan)
        };
        self.files.iter().enumerate().map(of_file).sum()
    }
}

impl ExpectedFile {
    fn compared(&self, found: Option<&FoundFile>, judgements: Option<&Judgements>) -> DocumentComparison {
        let judge = judgements.map(|judgements| {
            |field: &str, expected: &Value, found: &Value| judgements.verdict(field, expected, found)
        });
        let judge = judge.as_ref().map(|judge| judge as &CellJudge<'_>);
        let places = RecordPlaces {
            expected: self.places.expected.clone(),
            found: found.map(|(_, places)| places.clone()).unwrap_or_default(),
        };
        compare(&self.value, found.map(|(value, _)| value), &self.plan, &places, judge)
    }
}

impl CandidateResult {
    /// Compares a candidate's runs. `seed` is for the resampling.
    pub(super) fn of(
        candidate: Candidate,
        (cases, judgements): (&[ExpectedCase], Option<&Judgements>),
        runs: &[EvalRun],
        seed: u64,
    ) -> Self {
        let mut result = Self::empty(candidate);
        let mut kinds = BTreeMap::new();
        let mut lists: BTreeMap<String, PairingCounts> = BTreeMap::new();
        let (mut same, mut repeats) = (Vec::new(), 0);
        for case in cases {
            let of_case: Vec<&EvalRun> = runs.iter().filter(|run| run.case == case.name).collect();
            let mut scores = Vec::new();
            let mut fields: BTreeMap<String, DocumentScore> = BTreeMap::new();
            for run in &of_case {
                let found = match &run.result {
                    RunResult::Missing(why) => {
                        result.missing.push(RunFault::of(run, why));
                        continue;
                    }
                    RunResult::Failed(why) => {
                        result.failed.push(RunFault::of(run, why));
                        None
                    }
                    RunResult::Delivered(found) => Some(found.as_slice()),
                };
                let mut sources = SourceReader::new(run.workspace.as_deref());
                let mut of_run = DocumentScore::default();
                for (at, file) in case.files.iter().enumerate() {
                    let found = found.and_then(|found| found.get(at)?.as_ref());
                    let compared = file.compared(found, judgements);
                    of_run += compared.score();
                    for (field, score) in compared.fields() {
                        *fields.entry(field.to_owned()).or_default() += score;
                    }
                    for (list, counts) in compared.lists() {
                        *lists.entry(list.to_owned()).or_default() += counts;
                    }
                    let deliverable = file.deliverable.as_ref();
                    let paired = compared.lists.into_iter().map(|list| RunPairing::of(run, deliverable, list));
                    result.pairings.extend(paired);
                    for cell in compared.cells {
                        kinds.entry(cell.field.clone()).or_insert(cell.kind);
                        if !cell.is_right {
                            let is_told = result.wrong.len() < MOST_SOURCES;
                            let source = is_told.then(|| case.source((file, &cell), found, &mut sources)).flatten();
                            result.wrong.push(WrongCell::of(run, deliverable, cell, source));
                        }
                    }
                }
                scores.push(of_run);
            }
            if scores.is_empty() {
                continue;
            }
            // A case counts once, however often it was run.
            #[expect(clippy::cast_precision_loss, reason = "a few runs")]
            let times = scores.len() as f64;
            let mean = |score: DocumentScore| DocumentScore { right: score.right / times, total: score.total / times };
            let score = mean(scores.iter().copied().sum());
            result.cases.push(CaseScore { case: case.name.clone(), right: score.right, total: score.total });
            for (field, score) in fields {
                result.by_field.entry(field).or_default().insert(case.name.clone(), mean(score));
            }
            let ended: Vec<&EvalRun> =
                of_case.into_iter().filter(|run| !matches!(run.result, RunResult::Missing(_))).collect();
            repeats = repeats.max(ended.len());
            same.push(case.agreement(&ended));
        }
        result.runs = runs.len() as u64;
        result.score = ScoreView::of(&result.cases.iter().map(CaseScore::score).collect::<Vec<_>>(), seed);
        result.same_when_repeated = (repeats > 1).then(|| ScoreView::of(&same, seed)).flatten();
        for (field, by_case) in &result.by_field {
            let scores: Vec<DocumentScore> = by_case.values().copied().collect();
            if let (Some(score), Some(kind)) = (ScoreView::of(&scores, seed), kinds.remove(field)) {
                result.fields.push(FieldScore { field: field.clone(), kind, score });
            }
        }
        result.lists = lists.into_iter().map(|(list, counts)| ListScore::of(list, counts)).collect();
        result.add_costs(runs);
        result
    }

    fn empty(candidate: Candidate) -> Self {
        Self {
            candidate,
            score: None,
            fields: Vec::new(),
            lists: Vec::new(),
            cases: Vec::new(),
            failed: Vec::new(),
            missing: Vec::new(),
            runs: 0,
            cost_usd: None,
            cost_usd_per_run: None,
            turns_per_run: None,
            seconds_per_run: None,
            quotes_found: None,
            same_when_repeated: None,
            pairings: Vec::new(),
            wrong: Vec::new(),
            by_field: BTreeMap::new(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and milliseconds of some runs")]
    fn add_costs(&mut self, runs: &[EvalRun]) {
        let ended: Vec<&EvalRun> = runs.iter().filter(|run| !matches!(run.result, RunResult::Missing(_))).collect();
        let count = ended.len() as f64;
        self.cost_usd = runs.iter().map(|run| run.cost_usd).sum();
        if !ended.is_empty() {
            self.cost_usd_per_run = ended.iter().map(|run| run.cost_usd).sum::<Option<f64>>().map(|cost| cost / count);
            self.turns_per_run = Some(ended.iter().map(|run| run.turns as f64).sum::<f64>() / count);
            self.seconds_per_run = Some(ended.iter().map(|run| run.worked_ms as f64).sum::<f64>() / count / 1_000.0);
        }
        let (wanted, found) =
            ended.iter().fold((0, 0), |(wanted, found), run| (wanted + run.quotes.0, found + run.quotes.1));
        self.quotes_found = (wanted > 0).then(|| found as f64 / wanted as f64);
    }
}

impl ScoreView {
    pub(super) fn of(documents: &[DocumentScore], seed: u64) -> Option<Self> {
        let scored = score(documents, seed)?;
        let sum: DocumentScore = documents.iter().copied().sum();
        Some(Self { value: scored.value, low: scored.low, high: scored.high, right: sum.right, total: sum.total })
    }
}

impl ListScore {
    pub(super) fn of(list: String, counts: PairingCounts) -> Self {
        Self { list, counts, precision: counts.precision(), recall: counts.recall(), f1: counts.f1() }
    }
}

impl RunFault {
    pub(super) fn of(run: &EvalRun, why: &str) -> Self {
        Self { case: run.case.clone(), repeat: run.repeat, job: run.job.clone(), why: why.to_owned() }
    }
}

impl RunPairing {
    fn of(run: &EvalRun, deliverable: Option<&String>, list: ListPairing) -> Self {
        Self { case: run.case.clone(), repeat: run.repeat, deliverable: deliverable.cloned(), list }
    }
}

impl WrongCell {
    fn of(run: &EvalRun, deliverable: Option<&String>, cell: FieldCell, source: Option<CellSource>) -> Self {
        let deliverable = deliverable.cloned();
        Self { case: run.case.clone(), repeat: run.repeat, job: run.job.clone(), deliverable, cell, source }
    }
}
