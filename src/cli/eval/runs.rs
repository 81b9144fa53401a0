//! The results of the runs: each job of each batch, with its deliverables, tokens and cost.

use super::candidates::EvaluatedBatch;
use crate::{
    cli::{AppContext, CliError, queue::DatabaseJob},
    eval::{Candidate, EvalRun, RunResult, read_run},
    gold::GoldenCase,
};
use overnight_core::job::record::{HoldReason, JobStatus};
use std::collections::BTreeMap;

/// A candidate with all its runs.
pub(super) type CandidateRuns = (Candidate, Vec<EvalRun>);

/// Reads the runs of all batches; those of one candidate together, in the order of their batches.
pub(super) async fn read(
    app: &AppContext,
    cases: &[&GoldenCase],
    batches: &[EvaluatedBatch],
) -> Result<Vec<CandidateRuns>, CliError> {
    let by_name: BTreeMap<&str, &GoldenCase> = cases.iter().map(|case| (case.name.as_str(), *case)).collect();
    let mut all: Vec<CandidateRuns> = Vec::new();
    for batch in batches {
        let EvaluatedBatch { id, eval, instructions_sha256, model } = batch;
        let mut ids: Vec<_> = app.store.batch_standing(*id).await?.into_iter().map(|job| job.id).collect();
        // Their ids are in the order of the cases.
        ids.sort_unstable();
        let mut runs = Vec::with_capacity(ids.len());
        for (job, name) in app.jobs_with(&ids).await?.into_iter().zip(&eval.cases) {
            if let Some(case) = by_name.get(name.as_str()) {
                runs.push(run(app, job, case, eval.repeat).await?);
            }
        }
        match all.iter_mut().find(|(candidate, _)| candidate.name == eval.candidate) {
            Some((_, known)) => known.extend(runs),
            None => all.push((Candidate::of(eval, instructions_sha256, model), runs)),
        }
    }
    Ok(all)
}

async fn run(app: &AppContext, job: DatabaseJob, case: &GoldenCase, repeat: u32) -> Result<EvalRun, CliError> {
    // A linked job's cost is with the job that did the work.
    let worked = match job.same_as() {
        Some(done) => app.job_with(done).await?,
        None => DatabaseJob { row: job.row.clone(), queue: job.queue.clone() },
    };
    let state = &worked.row.state;
    let (status, reason) = (job.status(), job.row.state.reason.clone());
    let told = |what: &str| reason.clone().map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"));
    let workspace = app.workspace(&job);
    let path = workspace.as_ref().ok().cloned();
    let hold = job.row.state.hold_reason;
    let (result, quotes) = match (status, workspace) {
        (JobStatus::Held, _) if hold != Some(HoldReason::Review) => {
            (RunResult::Missing(told(&hold.map_or("held".to_owned(), |hold| format!("held ({hold})")))), (0, 0))
        }
        (JobStatus::Queued | JobStatus::Running | JobStatus::Waiting, _) => {
            (RunResult::Missing(told(&format!("it is {status}"))), (0, 0))
        }
        (JobStatus::Cancelled, _) => (RunResult::Missing(told("it was cancelled")), (0, 0)),
        (_, Ok(path)) => read_run(&path, case, status),
        (JobStatus::Failed, Err(error)) => (RunResult::Failed(error.message), (0, 0)),
        // Deliverables that can't be read here are no fault of the candidate.
        (_, Err(error)) => (RunResult::Missing(error.message), (0, 0)),
    };
    let result = match result {
        RunResult::Failed(why) if status == JobStatus::Failed => RunResult::Failed(reason.unwrap_or(why)),
        other => other,
    };
    Ok(EvalRun {
        case: case.name.clone(),
        repeat,
        job: job.id().to_string(),
        workspace: path,
        result,
        cost_usd: state.cost_usd,
        turns: state.turns,
        worked_ms: state.worked_ms,
        quotes,
    })
}
