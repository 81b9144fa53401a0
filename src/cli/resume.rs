//! `overnight resume`: goes on with a job that is held or was interrupted, from the end of its journal. A batch, and a job that no worker has
//! begun or that only another machine can open, goes back into the queue.

use super::{
    AppContext, CliError,
    cancel::{is_or_are, standing},
    exit,
    job_or_batch::{JobOrBatch, batch_title},
    job_request::LimitArgs,
    out,
    progress::counted,
    queue::DatabaseJob,
    result, run_job,
    server::{self, ServerArgs, Target, typed_value},
};
use crate::{
    batch::BatchSettings,
    config::{Flags, Settings},
    runner::JobOutcome,
    store::{BatchRow, JobTarget},
    view::RequestOutcome,
};
use overnight_core::{
    job::{
        limits::Limits,
        record::{HoldReason, JobStatus},
        state::{Job, Status},
    },
    machine::effect::Command,
};
use serde::Deserialize;
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  overnight resume last
  overnight resume 0193 --turns 8000      # a limit counts the whole job, what is used already included
  overnight resume contracts              # the rest of a batch after its trial: queues what is held
  overnight resume contracts --budget-usd 40

Ctrl-C (or SIGTERM, or a closed terminal) holds the job again and exits with 130.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ResumeArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    job: String,
    /// USD that the jobs of the batch may spend together, what is spent already included
    #[arg(long, value_name = "USD", value_parser = usd, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    #[command(flatten)]
    bounds: LimitArgs,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    show: run_job::OutputArgs,
}

/// An amount of money.
fn usd(text: &str) -> Result<f64, String> {
    let amount = text.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "it is an amount of USD over 0, such as 12.50".to_owned())
}

pub(super) async fn run(flags: Flags, args: &ResumeArgs) -> Result<u8, CliError> {
    let typed = Flags { unpriced: None, ..args.server.add_to(args.bounds.add_to(Flags::default())) };
    let settings = super::settings(&args.server.add_to(args.bounds.add_to(flags)))?;
    let app = AppContext::open(settings).await?;
    let known = match app.job_or_batch(&args.job).await? {
        JobOrBatch::Job(job) => job,
        JobOrBatch::Batch(_) if typed != Flags::default() => {
            return Err(CliError::usage(
                "for a batch only --budget-usd can be given: model, server and limits were set when it was submitted",
            ));
        }
        JobOrBatch::Batch(batch) => return requeue_batch(&app, &batch, args.budget_usd).await,
    };
    if args.budget_usd.is_some() {
        return Err(CliError::usage("--budget-usd is for a batch; what one job may cost is set with --cost"));
    }
    if belongs_to_queue(&app, &known) {
        if typed.model.is_some() || typed.base_url.is_some() || typed.api_key_env.is_some() {
            return Err(CliError::usage(format!(
                "job {} is a worker's, with the model and server that its batch was submitted with: they can't be changed here",
                known.id()
            )));
        }
        return requeue_job(&app, &known).await;
    }
    let path = app.workspace(&known)?;
    let row = &known.row;
    let id = row.job.id;
    let mut opened = run_job::open(&app, row, &path).await?;
    if let Some(status) = opened.job.ended().map(|ending| ending.status) {
        let outcome = JobOutcome::Ended(status);
        run_job::settle_row(&app, &mut opened, row).await?;
        out::note(&format!("job {id} has ended already; nothing is left to do"));
        result::show(&opened.job, &path, outcome, args.show.json)?;
        return Ok(run_job::ended_exit_code(status, !opened.job.reviewed.approvals.is_empty()));
    }
    if is_in_review(&opened.job) {
        run_job::settle_row(&app, &mut opened, row).await?;
        return Err(in_review_error(id));
    }
    let (limits, are_new) = limits(opened.job.limits, &app.settings);
    let target = Target::of(&opened, &app.settings)?;
    let models = server::open_all(&app, &target, &opened.job.spec.instructions).await?;
    // The limit that the job began with was checked then.
    let is_asked = typed_value(&app.settings.cost_usd).is_some() || target.choice != opened.job.choice;
    server::refuse_unpriced(&models, limits.cost_usd.filter(|_| is_asked), &app.settings)?;
    let mut words = target.commands(&models, &opened);
    if are_new || !opened.job.is_running() {
        words.push(Command::Resume { limits });
    }
    run_job::run_job(&app, &mut opened, &path, models, words, args.show).await
}

/// Whether only the queue can go on with the job, because no workspace of it can be opened here.
fn belongs_to_queue(app: &AppContext, job: &DatabaseJob) -> bool {
    let is_given_up = job.queue.is_some() && job.status() == JobStatus::Failed;
    !app.has_workspace(job) || job.same_as().is_some() || is_given_up
}

/// Queues the job again, or reports why there is nothing to queue.
async fn requeue_job(app: &AppContext, job: &DatabaseJob) -> Result<u8, CliError> {
    let id = job.id();
    let where_to = match job.elsewhere() {
        Some(host) => {
            format!("a worker on {}, which has its workspace, takes it (`overnight work` there)", out::one_line(host))
        }
        None => "a worker takes it (`overnight work`)".to_owned(),
    };
    let text = match job.status() {
        JobStatus::Failed => {
            let reason = job.row.state.reason.as_deref().map(out::one_line).unwrap_or_default();
            return Err(CliError::failed(format!(
                "job {id} has failed ({reason}): `overnight retry {id}` queues it again"
            )));
        }
        status @ (JobStatus::Completed | JobStatus::Partial | JobStatus::Blocked | JobStatus::Cancelled) => {
            let reason = job.row.state.reason.as_deref().map(|reason| format!(" ({})", out::one_line(reason)));
            out::result(&format!("job {id} has ended already: it is {status}{}\n", reason.unwrap_or_default()))?;
            return Ok(run_job::ended_exit_code(status, job.row.state.approved_by.is_some()));
        }
        JobStatus::Held if job.row.state.hold_reason == Some(HoldReason::Review) => return Err(in_review_error(id)),
        JobStatus::Held => {
            app.store.resume(JobTarget::Job(id)).await?;
            format!("job {id} is queued again; {where_to}")
        }
        JobStatus::Queued => {
            let run_after = job.queue.as_ref().and_then(|queue| queue.run_after);
            match run_after {
                Some(at) => format!("job {id} is queued until {}; then {where_to}", super::local_time::minute(at)),
                None => format!("job {id} is queued; {where_to}"),
            }
        }
        JobStatus::Waiting => {
            let what = job.row.state.reason.as_deref().map(out::one_line).unwrap_or_default();
            format!("job {id} waits for {what}, and goes on by itself")
        }
        JobStatus::Running => {
            // A pending pause is withdrawn.
            app.store.resume(JobTarget::Job(id)).await?;
            format!("job {id} is being worked on")
        }
    };
    out::result(&format!("{text}\n"))?;
    Ok(exit::COMPLETED)
}

/// Queues the held jobs of a batch, usually those after its trial.
async fn requeue_batch(app: &AppContext, batch: &BatchRow, budget_usd: Option<f64>) -> Result<u8, CliError> {
    let words = batch_title(batch);
    if let Some(usd) = budget_usd {
        if usd <= batch.spent_usd {
            return Err(CliError::usage(format!(
                "--budget-usd {usd}: the jobs of {words} have cost {:.2} USD already; give more than that",
                batch.spent_usd
            )));
        }
        refuse_unpriced(&app.settings, batch, usd)?;
        app.set_budget(batch, usd).await?;
    }
    let queued = app.store.resume(JobTarget::Batch(batch.batch.id)).await?;
    let after = app.store.totals(batch.batch.id).await?;
    let mut text =
        budget_usd.map(|usd| format!("the jobs of {words} may spend {usd:.2} USD together\n")).unwrap_or_default();
    match queued {
        0 if budget_usd.is_none() => {
            return Err(CliError::usage(format!("no job of {words} can be resumed: {}", standing(&after))));
        }
        0 => text.extend(["no job of ", &words, " was held\n"]),
        _ => {
            let _ = writeln!(
                text,
                "{} of {words} {} resumed; a worker takes what is queued (`overnight work`)",
                counted(queued, "job"),
                is_or_are(queued)
            );
        }
    }
    if after.held > 0 {
        let _ = writeln!(
            text,
            "{} still held: for a review, which takes `overnight approve JOB` or `overnight feedback JOB`",
            counted(after.held, "job")
        );
    }
    out::result(&text)?;
    Ok(exit::COMPLETED)
}

/// Queues the held jobs of a batch, or one held job, for requests over HTTP.
pub(super) async fn resume(app: &AppContext, named: &JobOrBatch) -> Result<RequestOutcome, CliError> {
    let (job, batch) = named.ids();
    let (target, words, standing) = match named {
        JobOrBatch::Job(known) if known.row.state.hold_reason == Some(HoldReason::Review) => {
            return Err(CliError::usage(in_review_error(known.id()).message));
        }
        JobOrBatch::Job(known) => {
            (JobTarget::Job(known.id()), format!("job {}", known.id()), known.status().to_string())
        }
        JobOrBatch::Batch(row) => (JobTarget::Batch(row.batch.id), batch_title(row), standing(&row.totals)),
    };
    let done = app.store.resume(target).await?;
    if done == 0 {
        return Err(CliError::usage(format!("nothing of {words} can be resumed: {standing}")));
    }
    let message = format!("{} of {words} {} resumed", counted(done, "job"), is_or_are(done));
    Ok(RequestOutcome { request: "resume", job, batch, done, asked: 0, message })
}

/// Refuses a budget that can't be enforced. The worker reports a model that can't be opened here.
fn refuse_unpriced(settings: &Settings, batch: &BatchRow, usd: f64) -> Result<(), CliError> {
    let Ok(of_batch) = BatchSettings::deserialize(&batch.batch.settings) else { return Ok(()) };
    let target = Target { is_never_called: true, ..Target::of_batch(&batch.batch.model, &of_batch) };
    match server::all_without_jobs(settings, &target, &of_batch.instructions) {
        Ok(models) => server::refuse_unpriced(&models, Some(usd), settings),
        Err(_) => Ok(()),
    }
}

fn in_review_error(id: overnight_core::job::id::JobId) -> CliError {
    CliError {
        message: format!(
            "job {id} waits for a review: `overnight approve {id}` accepts it, `overnight feedback {id} \"…\"` sends it back"
        ),
        code: exit::HELD,
    }
}

/// Whether the job waits for a person's review of its result.
pub(super) fn is_in_review(job: &Job) -> bool {
    match &job.status {
        Status::Held { reason, .. } => *reason == HoldReason::Review,
        Status::Running | Status::Ended(_) => false,
    }
}

/// The job's limits, with the typed ones in their place, and whether they differ.
fn limits(mut limits: Limits, settings: &Settings) -> (Limits, bool) {
    let before = limits;
    limits.turns = typed_value(&settings.turns).copied().unwrap_or(limits.turns);
    limits.tokens = typed_value(&settings.tokens).copied().or(limits.tokens);
    limits.cost_usd = typed_value(&settings.cost_usd).copied().or(limits.cost_usd);
    limits.wall_clock_ms = typed_value(&settings.wall_clock_ms).copied().or(limits.wall_clock_ms);
    (limits, limits != before)
}
