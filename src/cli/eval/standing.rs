//! The current result of all evaluations of a set, for the pages of `serve`: the newest runs of each candidate.

use super::{
    candidates::{EvaluatedBatch, known},
    compared_with, runs,
};
use crate::{
    batch::EvalBatch,
    cli::{AppContext, CliError, gold::correction},
    eval::{EvalFacts, Evaluation},
    gold::GoldenSet,
    web::EvaluatedSet,
};
use overnight_core::job::digest::sha256;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Seed of the resampling.
const SEED: u64 = 1;

/// The id of a set in URLs.
fn address(eval: &EvalBatch) -> String {
    sha256(format!("{} {}", eval.gold, eval.hold_out).as_bytes())[..12].to_owned()
}

/// The sets that were evaluated, the newest first.
pub(in crate::cli) async fn evaluated_sets(app: &AppContext) -> Result<Vec<EvaluatedSet>, CliError> {
    let mut sets: Vec<(EvaluatedSet, BTreeSet<String>)> = Vec::new();
    for batch in known(app).await? {
        let id = address(&batch.eval);
        let at = sets.iter().position(|(set, _)| set.id == id).unwrap_or_else(|| {
            let EvaluatedBatch { eval, .. } = &batch;
            sets.push((
                EvaluatedSet { id, gold: eval.gold.clone(), hold_out: eval.hold_out, candidates: 0 },
                BTreeSet::new(),
            ));
            sets.len() - 1
        });
        let (set, names) = &mut sets[at];
        names.insert(batch.eval.candidate);
        set.candidates = names.len() as u64;
    }
    Ok(sets.into_iter().map(|(set, _)| set).collect())
}

/// The newest batches of a set, one for each candidate and repetition, the first candidate first. Runs with an older
/// version of the instructions are not among them.
async fn newest(app: &AppContext, id: &str) -> Result<Vec<EvaluatedBatch>, CliError> {
    let mut seen = BTreeSet::new();
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    let mut candidates: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut batches: Vec<EvaluatedBatch> = known(app).await?;
    batches.retain(|EvaluatedBatch { eval, instructions_sha256, model, .. }| {
        address(eval) == id
            && words.entry(eval.instructions.clone()).or_insert(instructions_sha256.clone()) == instructions_sha256
            && *candidates.entry(eval.candidate.clone()).or_insert((model.clone(), eval.cases.clone()))
                == (model.clone(), eval.cases.clone())
            && seen.insert((eval.candidate.clone(), eval.repeat))
    });
    batches.reverse();
    Ok(batches)
}

/// The current result of the set; `None` if no set with this id was evaluated.
pub(in crate::cli) async fn standing_evaluation(app: &AppContext, id: &str) -> Result<Option<Evaluation>, CliError> {
    let batches = newest(app, id).await?;
    let Some(EvaluatedBatch { eval, .. }) = batches.last() else { return Ok(None) };
    let set = GoldenSet::open(Path::new(&eval.gold))?;
    let cases = set.cases(eval.hold_out);
    let candidates = runs::read(app, &cases, &batches).await?;
    let facts = EvalFacts {
        gold: eval.gold.clone(),
        evaluation: id.to_owned(),
        documents: cases.len() as u64,
        hold_out: eval.hold_out,
        hold_out_uses: set.hold_out_uses()?.len() as u64,
        seed: SEED,
    };
    let (evaluation, _) = compared_with(&set, &cases, &facts, &candidates).await?;
    Ok(Some(evaluation))
}

/// Corrects the set: `value`, as JSON, is right at a place of a case's file.
pub(in crate::cli) async fn correct_evaluated(
    app: &AppContext,
    id: &str,
    file: (&str, Option<&str>),
    (place, value): (&str, &str),
    by: &str,
) -> Result<(), CliError> {
    let batches = newest(app, id).await?;
    let gold = batches.first().map(|batch| batch.eval.gold.clone());
    let gold = gold.ok_or_else(|| CliError::usage("there is no such evaluation"))?;
    let set = GoldenSet::open(Path::new(&gold))?;
    let mut change = correction(&set, file, place, value, by.to_owned())?;
    change.after =
        serde_json::from_str(value).map_err(|error| CliError::usage(format!("the value is no JSON: {error}")))?;
    Ok(set.correct(&change)?)
}
