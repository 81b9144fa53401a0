//! `overnight show`: one job at a glance, and what a person can do next.
//!
//! - `job_page`: a job as a page for a person
//! - `queued`: what the queue knows of a job, and one whose workspace can't be read here; `batch`: a batch

pub(super) mod batch;
mod job_page;
mod queued;

use super::{AppContext, CliError, exit, job_location::JobLocation, job_or_batch::JobOrBatch, out, queue::DatabaseJob};
use crate::{
    audit::timeline::{PhaseRecord, Timeline, timeline},
    blocking::run_blocking,
    config::Settings,
    view::{DocumentView, InQueue, JobView, PhaseLine},
};
use overnight_core::job::{
    ending::Ending,
    record::{HoldReason, JobStatus},
    state::Job,
};

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Id of a job, the beginning of one, 'last', name or id of a batch, or the path of a workspace folder
    #[arg(value_name = "JOB|BATCH")]
    job: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: Settings, args: &ShowArgs) -> Result<u8, CliError> {
    let (location, interrupted) = if let Some(location) = JobLocation::folder(&args.job)? {
        (location, false)
    } else {
        let app = AppContext::read(settings).await?;
        let job = match app.job_or_batch(&args.job).await? {
            JobOrBatch::Batch(batch) => return batch::show(&app, &batch, &args.job, args.json).await,
            JobOrBatch::Job(job) => *job,
        };
        if queued::is_only_a_row(&app, &job) {
            return queued::show(&app, &job, args.json).await;
        }
        let interrupted = app.is_interrupted(&job);
        (JobLocation { path: app.workspace(&job)?, job: Some(job) }, interrupted)
    };
    super::prune::note_if_pruned(&location.path);
    let timeline = timeline(&location.path)?;
    let shown = job_view(&location, &timeline, interrupted);
    if args.json {
        out::json(&shown)?;
    } else {
        out::result(&shown.text(Some(&timeline.job)))?;
    }
    Ok(exit::COMPLETED)
}

/// What `--json` prints of a job, for who asks over HTTP.
pub(super) async fn job_json(app: &AppContext, job: DatabaseJob) -> Result<String, CliError> {
    if queued::is_only_a_row(app, &job) {
        return queued::json(app, &job).await;
    }
    let interrupted = app.is_interrupted(&job);
    let location = JobLocation { path: app.workspace(&job)?, job: Some(job) };
    run_blocking(|| {
        let timeline = timeline(&location.path)?;
        out::json_text(&job_view(&location, &timeline, interrupted))
    })
}

/// How the job stands: as its journal says, and where that says running, as the database knows better.
fn status(location: &JobLocation, job: &Job) -> (JobStatus, Option<HoldReason>, Option<String>) {
    let state = location.job.as_ref().map(|known| &known.row.state);
    match state {
        Some(state) if job.is_running() => (state.status, state.hold_reason, state.reason.clone()),
        Some(_) | None => job.job_status(),
    }
}

fn job_view<'t>(location: &'t JobLocation, timeline: &'t Timeline, interrupted: bool) -> JobView<'t> {
    let job = &timeline.job;
    let (status, hold_reason, reason) = status(location, job);
    let interrupted = interrupted && status == JobStatus::Running;
    let name = location.name(job.spec.id);
    let queue = location.job.as_ref().and_then(InQueue::of);
    // A job that waits for its review shows what would be accepted.
    let ending: Option<&Ending> = job.decided_ending();
    let completion = ending.and_then(|ending| ending.completion.as_ref());
    let totals = &job.totals;
    JobView {
        id: job.spec.id,
        status,
        hold_reason,
        reason,
        damage: location.damage(timeline.journal_end()),
        instructions: &job.spec.instructions.name,
        instructions_sha256: &job.spec.instructions_sha256,
        description: &job.spec.instructions.description,
        model: &job.spec.model,
        models: &job.answered.models,
        created: job.spec.created,
        last: job.last_at,
        documents: documents(job),
        left_out_files: job.spec.left_out.files,
        left_out: &job.spec.left_out.first,
        coverage: job.own.coverage.total(&job.spec.documents),
        phase: &job.phase.title,
        planning: job.planning().map(|planning| planning.why.outcome()),
        phases: timeline.phases.iter().map(line).collect(),
        turns: totals.spent.turns,
        tokens_in: totals.spent.usage.input,
        tokens_out: totals.spent.usage.output,
        tokens_cached: totals.spent.usage.cached,
        cost_usd: totals.spent.cost(),
        paid: &job.answered.paid,
        worked_ms: totals.worked_ms,
        summary: completion.map(|completion| completion.summary.as_str()),
        confidence: completion.map(|completion| completion.confidence),
        notes: completion.and_then(|completion| completion.notes.as_deref()),
        checks: ending.map_or(&[], |ending| &ending.checks),
        deliverables: ending.map_or(&[], |ending| &ending.deliverables),
        quotes: ending.and_then(|ending| ending.quotes.as_ref()),
        proof: job.proof_result(),
        refused_records: job.refused.counts(),
        doubts: job.doubts(),
        unmended_records: job.refused.open(),
        findings: &job.proof.findings,
        people: &timeline.people,
        open_todos: ending.map_or(&[], |ending| &ending.open_todos),
        workspace: std::path::absolute(&location.path).unwrap_or_else(|_| location.path.clone()).display().to_string(),
        interrupted,
        next: match &location.job {
            // Without a database a folder can only be looked at.
            None => inspect_commands(&name),
            Some(known) => queued::next(known, status, hold_reason, Some(interrupted))
                .unwrap_or_else(|| next(status, hold_reason, &name, interrupted)),
        },
        queue,
    }
}

fn documents(job: &Job) -> Vec<DocumentView<'_>> {
    let documents = job.spec.documents.iter().map(|document| DocumentView {
        name: &document.name,
        format: &document.format,
        bytes: document.bytes,
        unit: document.unit_name(),
        units: document.units,
        coverage: job.own.coverage.share(document),
        gaps: &document.gaps,
        reader: &document.reader,
        recognised: &document.recognised,
        notes: &document.notes,
    });
    documents.collect()
}

fn line(phase: &PhaseRecord) -> PhaseLine<'_> {
    PhaseLine {
        number: phase.number,
        attempt: phase.attempt,
        kind: &phase.kind,
        title: &phase.title,
        outcome: &phase.outcome,
        todos_completed: phase.todos_completed,
        todos: phase.todos.len(),
        spent: phase.spent,
    }
}

/// How a job's record is looked into.
fn inspect_commands(name: &str) -> Vec<String> {
    vec![format!("overnight audit {name}"), format!("overnight audit verify {name}")]
}

/// What a person can do now, as commands.
fn next(status: JobStatus, hold: Option<HoldReason>, name: &str, interrupted: bool) -> Vec<String> {
    let audit = format!("overnight audit {name}");
    if interrupted {
        return vec![format!("overnight resume {name}"), format!("overnight cancel {name}")];
    }
    match (status, hold) {
        (JobStatus::Held, Some(HoldReason::Review)) => {
            vec![format!("overnight approve {name}"), format!("overnight feedback {name} \"…\""), audit]
        }
        (JobStatus::Held, Some(HoldReason::Limit)) => {
            vec![format!("overnight resume {name} --turns N (or --wall-clock TIME)"), audit]
        }
        (JobStatus::Held, Some(HoldReason::Budget)) => {
            vec![format!("overnight resume {name} --cost USD (or --tokens N)"), audit]
        }
        (
            JobStatus::Held,
            Some(HoldReason::Window | HoldReason::Outage | HoldReason::Paused | HoldReason::Disk) | None,
        )
        | (JobStatus::Queued, _) => vec![format!("overnight resume {name}"), format!("overnight cancel {name}")],
        (JobStatus::Running | JobStatus::Waiting, _) => vec![
            format!("overnight logs {name} --follow"),
            format!("overnight pause {name}"),
            format!("overnight cancel {name}"),
        ],
        (JobStatus::Completed | JobStatus::Partial | JobStatus::Blocked, _) => {
            [inspect_commands(name), vec![format!("overnight feedback {name} \"…\"")]].concat()
        }
        (JobStatus::Failed | JobStatus::Cancelled, _) => inspect_commands(name),
    }
}
