//! `overnight eval`: measures instructions and models with a golden set.
//!
//! - `candidates`: the candidates, each with its own batches; `runs`: the results of their runs; `judge`: the set's
//!   judge of texts, if the set names one
//! - `outcome`: the output, the written files, and the exit code
//! - `standing`: the current result of all evaluations of a set, for the server's pages

mod candidates;
mod judge;
mod outcome;
mod runs;
#[cfg(feature = "network")]
mod standing;

#[cfg(feature = "network")]
pub(super) use standing::{correct_evaluated, evaluated_sets, standing_evaluation};

use super::{AppContext, CliError, exit, out, server, stop, submit::usd, worker};
use crate::{
    config::{Flags, user_name},
    eval::{self, Baseline, EvalFacts, Evaluation},
    gold::{GoldError, GoldenCase, GoldenSet, HoldOutUse, Judgements},
    runner::now,
    store::JobTarget,
};
use candidates::{EvaluatedBatch, PreparedBatch, prepare};
use overnight_core::{
    amount::counted,
    job::{digest::sha256, record::HoldReason},
};
use std::{path::PathBuf, sync::Arc};

const EXAMPLES: &str = "\
Examples:
  overnight eval gold --instructions terms.md --model openai:gpt-6-sol,openai:gpt-6-luna --dry-run
  overnight eval gold --instructions terms.md,terms-short.md --model openai:gpt-6-luna --budget 20 --out results
  overnight eval gold --instructions terms.md --model openai:gpt-6-luna --repeat 3
  overnight eval gold --instructions terms.md --model openai:gpt-6-luna --against baseline.json --fail-under 0.9

Each candidate is a pair of instructions and a model; the first one is what the others are compared with. Runs that were made before
with the same documents, instructions, model and settings are taken from the record. The same command goes on where it was stopped.

Exit codes: 0 all was run, and nothing that was asked for is missed; 3 a score is under --fail-under, or one is worse than --against;
4 runs are missing, because the budget is spent or jobs wait for a person, or something could not be judged or compared; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct EvalArgs {
    /// Folder of the golden set
    #[arg(value_name = "GOLD")]
    gold: PathBuf,
    /// Instructions, by name or path, with commas between
    #[arg(long, required = true, value_delimiter = ',', value_name = "INSTRUCTIONS")]
    pub(super) instructions: Vec<String>,
    /// Models, with commas between [default: as the instructions say]
    #[arg(long, short, value_delimiter = ',', value_name = "MODELS")]
    pub(super) model: Vec<String>,
    /// How much the models are to reason, with commas between: low,high
    #[arg(long, value_delimiter = ',', value_name = "EFFORTS")]
    pub(super) effort: Vec<String>,
    /// Runs of each case: how much is the same when it is run again
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) repeat: u32,
    /// USD that all runs may cost together
    #[arg(long, value_name = "USD", value_parser = usd)]
    budget: Option<f64>,
    /// Jobs at once
    #[arg(long, short = 'n', value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    concurrency: u32,
    /// The cases that are kept back, in the place of the others; each use is counted
    #[arg(long)]
    hold_out: bool,
    /// When the models answer: standard, flex (when their provider has room, for less), or batch (within hours, for half)
    #[arg(long, value_name = "TIER")]
    pub(super) tier: Option<String>,
    /// Go on where no price is known for a model, and the budget can't hold it
    #[arg(long)]
    pub(super) unpriced: bool,
    /// Write the evaluation into this folder: report.json, page.html, and what was found
    #[arg(long, short, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write JUnit XML into this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// An earlier evaluation (its report.json, or what --json printed) that no candidate may be worse than
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// The least score of each candidate, from 0 to 1
    #[arg(long, value_name = "SCORE", value_parser = score)]
    fail_under: Option<f64>,
    /// Of the resampling by which intervals are told
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Say what would be run and what it may cost; run nothing
    #[arg(long)]
    dry_run: bool,
    /// Put the runs into the queue for workers, and tell what is there so far
    #[arg(long)]
    no_work: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) server: server::ServerArgs,
}

fn score(text: &str) -> Result<f64, String> {
    let score: Option<f64> = text.trim().parse().ok();
    score.filter(|score| (0.0..=1.0).contains(score)).ok_or_else(|| "must be from 0 to 1, such as 0.9".to_owned())
}

pub(super) async fn run(flags: Flags, args: &EvalArgs) -> Result<u8, CliError> {
    let set = GoldenSet::open(&args.gold)?;
    let cases = set.cases(args.hold_out);
    if cases.is_empty() {
        return Err(CliError::usage(match (args.hold_out, set.file.cases.len()) {
            (true, _) => "no case of the set is kept back: `overnight gold add --hold-out 0.3` keeps some".to_owned(),
            (false, 0) => "the set has no case: `overnight gold add` adds some".to_owned(),
            (false, _) => "all cases of the set are kept back: --hold-out uses them".to_owned(),
        }));
    }
    let baseline = args.against.as_deref().map(outcome::baseline).transpose()?;
    eval::check_expected(&set, &cases)?;
    set.check_logs()?;
    if !args.dry_run {
        outcome::try_out(args.out.as_deref(), args.junit.as_deref())?;
    }
    let settings = super::settings(&args.server.add_to(flags.clone()))?;
    let app = if args.dry_run { None } else { Some(Arc::new(AppContext::open(settings).await?)) };
    let mut batches = Box::pin(prepare(flags, args, (&set, &cases), app.as_deref())).await?;
    candidates::share_budget(&mut batches, args.budget);
    let Some(app) = app else {
        out::result(&candidates::estimate_text(&batches, cases.len() as u64))?;
        return Ok(exit::COMPLETED);
    };
    for batch in &batches {
        enqueue(&app, batch).await?;
    }
    let mut is_stopped = false;
    if !args.no_work {
        let stop = stop::listen()?;
        let ids = batches.iter().map(|batch| batch.batch.id).collect();
        worker::work_batches(app.clone(), ids, args.concurrency as usize, stop.clone()).await?;
        is_stopped = *stop.borrow();
    }
    let batches: Vec<EvaluatedBatch> = batches.into_iter().map(|batch| batch.batch).collect();
    let evaluation = evaluate(&app, args, (&set, &cases), &batches, !is_stopped).await?;
    let CompletedEvaluation { evaluation, candidates, unjudged } = evaluation;
    outcome::write(args.out.as_deref(), args.junit.as_deref(), &evaluation, &candidates)?;
    let against = baseline.as_ref().map(|baseline: &Baseline| baseline.compare(&evaluation)).unwrap_or_default();
    outcome::print(&evaluation, &against, args.json)?;
    let uncompared = if baseline.is_some() { evaluation.candidates.len() - against.len() } else { 0 };
    if uncompared > 0 {
        out::note(&format!(
            "--against: {} can't be compared, because no case that was run is in the baseline",
            counted(uncompared as u64, "candidate")
        ));
    }
    if is_stopped {
        out::note("interrupted, and kept: the same command goes on");
        return Ok(exit::INTERRUPTED);
    }
    Ok(outcome::exit_code(&evaluation, &against, args.fail_under, unjudged == 0 && uncompared == 0))
}

/// Puts a batch into the queue, or goes on with the one that is there.
async fn enqueue(
    app: &AppContext,
    PreparedBatch { batch, new, budget_usd, .. }: &PreparedBatch,
) -> Result<(), CliError> {
    if let Some(new) = new {
        return new.enqueue(&*app.store).await;
    }
    app.store.set_budget(batch.id, *budget_usd).await?;
    let waits = |reason: Option<HoldReason>| reason.is_some_and(|reason| reason != HoldReason::Review);
    for job in app.store.batch_standing(batch.id).await?.iter().filter(|job| waits(job.hold_reason)) {
        app.store.resume(JobTarget::Job(job.id)).await?;
    }
    Ok(())
}

/// The result of an evaluation.
struct CompletedEvaluation {
    evaluation: Evaluation,
    candidates: Vec<runs::CandidateRuns>,
    /// Values that the judge of the set could not be asked about.
    unjudged: usize,
}

/// Compares the results of the batches. The use of held-out cases is recorded if it `counts`.
async fn evaluate(
    app: &AppContext,
    args: &EvalArgs,
    (set, cases): (&GoldenSet, &[&GoldenCase]),
    batches: &[EvaluatedBatch],
    counts: bool,
) -> Result<CompletedEvaluation, CliError> {
    let keys: Vec<&str> = batches.iter().map(|batch| batch.eval.key.as_str()).collect();
    let evaluation = sha256(keys.join("\n").as_bytes())[..12].to_owned();
    let candidates = runs::read(app, cases, batches).await?;
    let mut uses = if args.hold_out { set.hold_out_uses()?.len() as u64 } else { 0 };
    if args.hold_out && counts {
        let names = candidates.iter().map(|(candidate, _)| candidate.name.clone()).collect();
        set.note_use(&HoldOutUse { at: now(), by: user_name(), candidates: names })?;
        uses += 1;
    }
    let facts = EvalFacts {
        gold: out::one_line(&args.gold.display().to_string()),
        evaluation,
        documents: cases.len() as u64,
        hold_out: args.hold_out,
        hold_out_uses: uses,
        seed: args.seed,
    };
    let (compared, judgements) = compared_with(set, cases, &facts, &candidates).await?;
    let open = judgements.map(|judgements| judgements.open()).unwrap_or_default();
    if open.is_empty() {
        return Ok(CompletedEvaluation { evaluation: compared, candidates, unjudged: 0 });
    }
    let unjudged = judge::ask(app, set, &open).await?;
    let (evaluation, _) = compared_with(set, cases, &facts, &candidates).await?;
    Ok(CompletedEvaluation { evaluation, candidates, unjudged })
}

/// The evaluation with the judge's verdicts so far, and the questions that are still open.
async fn compared_with(
    set: &GoldenSet,
    cases: &[&GoldenCase],
    facts: &EvalFacts,
    candidates: &[runs::CandidateRuns],
) -> Result<(Evaluation, Option<Judgements>), CliError> {
    let (set, facts, candidates) = (set.clone(), facts.clone(), candidates.to_vec());
    let owned: Vec<GoldenCase> = cases.iter().map(|case| (*case).clone()).collect();
    let compared = tokio::task::spawn_blocking(move || {
        let cases: Vec<&GoldenCase> = owned.iter().collect();
        let judgements = Judgements::of(&set)?;
        let evaluation = eval::evaluate(facts, &set, &cases, candidates, judgements.as_ref())?;
        Ok::<_, GoldError>((evaluation, judgements))
    });
    Ok(compared.await.map_err(|error| CliError::failed(error.to_string()))??)
}
