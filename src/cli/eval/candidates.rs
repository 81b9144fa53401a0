//! The candidates: each pair of instructions and a model, at each effort. Each run of all cases is a batch.

use super::EvalArgs;
use crate::{
    batch::{BatchSettings, EvalBatch},
    cli::{
        AppContext, CliError,
        job_request::LimitArgs,
        out,
        server::models_text,
        submit::{self, EachUnit, EvalSubmission, ReadySubmission, SubmitArgs},
    },
    config::Flags,
    gold::{GoldenCase, GoldenSet, free_name},
    store::NewBatch,
};
use overnight_core::amount::counted;
use overnight_documents::FoundDocument;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write as _, path::Path};
use uuid::Uuid;

/// The number of newest batches that are searched for one with the same runs.
const MOST_KNOWN: u32 = 10_000;

/// A batch of an evaluation, wherever it stands.
#[derive(Clone)]
pub(super) struct EvaluatedBatch {
    pub(super) id: Uuid,
    pub(super) eval: EvalBatch,
    pub(super) instructions_sha256: String,
    pub(super) model: String,
}

impl EvaluatedBatch {
    /// `None`: the batch belongs to no evaluation.
    pub(super) fn of(batch: &NewBatch) -> Option<Self> {
        let eval = BatchSettings::eval(&batch.settings)?;
        let (instructions_sha256, model) = (batch.instructions_sha256.clone(), batch.model.clone());
        Some(Self { id: batch.id, eval, instructions_sha256, model })
    }
}

/// The runs of a candidate.
pub(super) struct PreparedBatch {
    pub(super) batch: EvaluatedBatch,
    /// The submission, if the batch is not in the database yet.
    pub(super) new: Option<Box<ReadySubmission>>,
    /// USD that its jobs may cost.
    pub(super) budget_usd: Option<f64>,
    estimate: Option<[f64; 3]>,
}

/// Checks all candidates, and prepares their batches.
pub(super) async fn prepare(
    flags: Flags,
    args: &EvalArgs,
    (set, cases): (&GoldenSet, &[&GoldenCase]),
    app: Option<&AppContext>,
) -> Result<Vec<PreparedBatch>, CliError> {
    let folder = std::path::absolute(set.folder())
        .map_err(|error| CliError::usage(format!("{}: {error}", set.folder().display())))?;
    let documents = cases.iter().map(|case| found(set, &folder, case)).collect::<Result<Vec<_>, _>>()?;
    let made_ms = set.made_ms();
    let known = match app {
        Some(app) => known(app).await?,
        None => Vec::new(),
    };
    let unsaid = [None];
    let models: Vec<Option<&String>> =
        if args.model.is_empty() { unsaid.to_vec() } else { args.model.iter().map(Some).collect() };
    let efforts: Vec<Option<&String>> =
        if args.effort.is_empty() { unsaid.to_vec() } else { args.effort.iter().map(Some).collect() };
    let mut names = BTreeSet::new();
    let mut batches = Vec::new();
    for instructions in &args.instructions {
        for model in &models {
            for effort in &efforts {
                let name = candidate_name(&mut names, instructions, *model, *effort);
                // The file is read while the batches are prepared, and its text is then part of their settings.
                let table = effort.map(|effort| effort_table(&flags, args, *model, effort)).transpose()?;
                for repeat in 1..=args.repeat {
                    let batch = EvalBatch {
                        gold: folder.display().to_string(),
                        candidate: name.clone(),
                        instructions: instructions.clone(),
                        effort: effort.cloned(),
                        repeat,
                        cases: cases.iter().map(|case| case.name.clone()).collect(),
                        hold_out: args.hold_out,
                        ..EvalBatch::default()
                    };
                    let mut server = args.server.clone();
                    if let Some(table) = &table {
                        server = server.with_models_file(table.path());
                    }
                    let submission = SubmitArgs {
                        instructions: instructions.clone(),
                        each: Some(EachUnit::Document),
                        dedupe: true,
                        dry_run: args.dry_run,
                        bounds: LimitArgs::of_eval(model.cloned(), args.tier.clone(), args.unpriced),
                        server,
                        budget_usd: args.budget.map(|usd| usd.to_string()),
                        eval: Some(EvalSubmission { batch, cases: documents.clone(), made_ms }),
                        ..SubmitArgs::default()
                    };
                    let store = app.map(|app| app.store.clone());
                    let ready = Box::pin(submit::ready(flags.clone(), &submission, Uuid::now_v7(), store)).await?;
                    batches.push(prepared(ready, &known)?);
                }
            }
        }
    }
    Ok(batches)
}

/// The batch, or an existing one with the same runs.
fn prepared(ready: ReadySubmission, known: &[EvaluatedBatch]) -> Result<PreparedBatch, CliError> {
    let batch =
        EvaluatedBatch::of(&ready.batch).ok_or_else(|| CliError::failed("an evaluation has lost its settings"))?;
    let same = known.iter().find(|known| known.eval.key == batch.eval.key).map(|known| known.id);
    let estimate = ready.estimated_cost();
    Ok(match same {
        None => PreparedBatch { batch, new: Some(Box::new(ready)), budget_usd: None, estimate },
        // The existing batch gets the candidate's current name.
        Some(id) => PreparedBatch { batch: EvaluatedBatch { id, ..batch }, new: None, budget_usd: None, estimate },
    })
}

/// The batches of evaluations, the newest first.
pub(super) async fn known(app: &AppContext) -> Result<Vec<EvaluatedBatch>, CliError> {
    let rows = app.store.batches(MOST_KNOWN).await?;
    Ok(rows.iter().filter_map(|row| EvaluatedBatch::of(&row.batch)).collect())
}

/// Divides the budget between the batches in proportion to their likely cost.
pub(super) fn share_budget(batches: &mut [PreparedBatch], budget_usd: Option<f64>) {
    let Some(budget_usd) = budget_usd else { return };
    let likely: Vec<f64> = batches.iter().map(|batch| batch.estimate.map_or(0.0, |[_, likely, _]| likely)).collect();
    let sum: f64 = likely.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "a few batches")]
    let equal = budget_usd / batches.len().max(1) as f64;
    for (batch, likely) in batches.iter_mut().zip(likely) {
        let share = if sum > 0.0 { budget_usd * likely / sum } else { equal };
        batch.budget_usd = Some(share);
        if let Some(new) = &mut batch.new {
            new.batch.budget_usd = Some(share);
        }
    }
}

/// The text of a dry run.
pub(super) fn estimate_text(batches: &[PreparedBatch], cases: u64) -> String {
    let mut text = String::new();
    let mut sum = Some([0.0; 3]);
    for batch in batches {
        let eval = &batch.batch.eval;
        let repeat = if eval.repeat > 1 { format!(", run {}", eval.repeat) } else { String::new() };
        let cost = batch.estimate;
        sum = sum.zip(cost).map(|(sum, cost)| [0, 1, 2].map(|at| sum[at] + cost[at]));
        let _ = writeln!(
            text,
            "{}{repeat}: {}, {}",
            out::one_line(&eval.candidate),
            counted(cases, "case"),
            usd_told(cost)
        );
    }
    let _ = writeln!(text, "all: {}, {}", counted(batches.len() as u64 * cases, "run"), usd_told(sum));
    text.push_str(
        "A dry run doesn't look into the database: runs that were made before are counted as if they were not.\n",
    );
    text
}

fn usd_told(cost: Option<[f64; 3]>) -> String {
    match cost {
        Some([least, likely, most]) => format!("about {likely:.2} USD ({least:.2} to {most:.2})"),
        None => "cost unknown".to_owned(),
    }
}

/// The documents of a case, with their names in its jobs.
fn found(set: &GoldenSet, folder: &Path, case: &GoldenCase) -> Result<Vec<FoundDocument>, CliError> {
    let one = |document: &crate::gold::GoldDocument| {
        let content = set
            .document(document)
            .map_err(|error| CliError::usage(format!("{error} (it is of the case {})", case.name)))?;
        let (path, name, inside) = (folder.join(document.path()), document.name.clone(), Vec::new());
        let bytes = content.len() as u64;
        Ok(FoundDocument { path, inside, name, bytes, is_named: false, dated: None, fault: None })
    };
    case.documents.iter().map(one).collect()
}

/// `terms+gpt-5@low`, with a number if two names are equal.
fn candidate_name(
    names: &mut BTreeSet<String>,
    instructions: &str,
    model: Option<&String>,
    effort: Option<&String>,
) -> String {
    let stem = Path::new(instructions).file_stem().map_or(instructions.into(), |stem| stem.to_string_lossy());
    let model = model.map(|model| match model.strip_prefix("scripted:") {
        Some(file) => Path::new(file).file_stem().map_or(file.into(), |stem| stem.to_string_lossy()).into_owned(),
        None => model.clone(),
    });
    let model = model.map(|model| format!("+{model}")).unwrap_or_default();
    let effort = effort.map(|effort| format!("@{effort}")).unwrap_or_default();
    let name = format!("{stem}{model}{effort}");
    free_name(&name, |name| names.insert(name.to_owned()))
}

/// The user's table of models, with an added entry for this model's effort.
fn effort_table(
    flags: &Flags,
    args: &EvalArgs,
    model: Option<&String>,
    effort: &str,
) -> Result<tempfile::NamedTempFile, CliError> {
    let Some(model) = model else {
        return Err(CliError::usage("--effort needs --model: the models that are to reason so"));
    };
    let settings = crate::cli::settings(&args.server.add_to(flags.clone()))?;
    let text = models_text(&settings)?.map_or_else(|| "version: 1\nmodels: []\n".to_owned(), |(_, text)| text);
    let unread = |error: &dyn std::fmt::Display| CliError::usage(format!("--models can't be used: {error}"));
    let mut table: Value = serde_yaml::from_str(&text).map_err(|error| unread(&error))?;
    let entry = json!({"match": model, "reasoning": {"levels": [effort], "default": effort}});
    match table.get_mut("models").and_then(Value::as_array_mut) {
        Some(models) => models.push(entry),
        None => return Err(unread(&"it has no `models`")),
    }
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().map_err(|error| unread(&error))?;
    let text = serde_yaml::to_string(&table).map_err(|error| unread(&error))?;
    std::fs::write(file.path(), text).map_err(|error| unread(&error))?;
    Ok(file)
}
