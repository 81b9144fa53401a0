//! `overnight show`: one job at a glance, and the possible next commands.
//!
//! - `job_page`: a job as a page for a person
//! - `queued`: the queue's facts about a job, and jobs whose workspace can't be read here; `batch`: a batch

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
    record::{HoldReason, JobStatus, JobSummary},
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
    out::answer(args.json, &shown, || shown.text(Some(&timeline.job)))?;
    Ok(exit::COMPLETED)
}

/// A job as `--json` prints it, for requests over HTTP.
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

/// The job's status: as in its journal, or for a running job as in the database, which is more recent.
fn summary(location: &JobLocation, timeline: &Timeline) -> JobSummary {
    let summary = timeline.job.summary(timeline.seq, &timeline.head);
    match location.job.as_ref().map(|known| &known.row.state) {
        Some(JobSummary { status, hold_reason, reason, .. }) if timeline.job.is_running() => {
            JobSummary { status: *status, hold_reason: *hold_reason, reason: reason.clone(), ..summary }
        }
        Some(_) | None => summary,
    }
}

fn job_view<'t>(location: &'t JobLocation, timeline: &'t Timeline, interrupted: bool) -> JobView<'t> {
    let job = &timeline.job;
    let summary = summary(location, timeline);
    let (status, hold_reason) = (summary.status, summary.hold_reason);
    let interrupted = interrupted && status == JobStatus::Running;
    let name = location.name(job.spec.id);
    let queue = location.job.as_ref().and_then(InQueue::of);
    // A job that waits for its review shows the result that would be accepted.
    let ending: Option<&Ending> = job.decided_ending();
    JobView {
        id: job.spec.id,
        summary,
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
        planning: job.planning().map(|planning| planning.why.outcome()),
        phases: timeline.phases.iter().map(line).collect(),
        paid: &job.answered.paid,
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
            // Without a database, a folder can only be inspected.
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

/// The commands that inspect a job's record.
fn inspect_commands(name: &str) -> Vec<String> {
    vec![format!("overnight audit {name}"), format!("overnight audit verify {name}")]
}

/// The possible next commands.
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
