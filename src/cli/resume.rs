//! `overnight resume`: goes on with a job that is held, or that a crash left behind. What its journal says is where it goes on.
//! A batch, and a job that no worker has begun or that only another machine can open, goes back into the queue.

use super::{
    CliError, Office,
    cancel::{is_or_are, standing},
    exit,
    named::{Named, batch_words},
    out,
    progress::counted,
    queue::Known,
    result,
    run::Bounds,
    server::{self, Server, Target, typed},
    work,
};
use crate::{
    config::{Partial, Settings},
    runner::Outcome,
    store::{BatchRow, Which},
};
use overnight_core::job::{
    limits::Limits,
    record::{HoldReason, JobStatus},
    state::{Job, Status},
    step::Command,
};
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
    bounds: Bounds,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    show: work::Show,
}

/// An amount of money.
fn usd(text: &str) -> Result<f64, String> {
    let amount = text.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "it is an amount of USD over 0, such as 12.50".to_owned())
}

pub(super) async fn run(flags: Partial, args: &ResumeArgs) -> Result<u8, CliError> {
    let typed = args.server.put_into(args.bounds.put_into(Partial::default()));
    let settings = super::settings(&args.server.put_into(args.bounds.put_into(flags)))?;
    let office = Office::open(settings).await?;
    let known = match office.named(&args.job).await? {
        Named::Job(job) => job,
        Named::Batch(_) if typed != Partial::default() => {
            return Err(CliError::usage(
                "for a batch only --budget-usd can be given: model, server and limits were set when it was submitted",
            ));
        }
        Named::Batch(batch) => return batch_again(&office, &batch, args.budget_usd).await,
    };
    if args.budget_usd.is_some() {
        return Err(CliError::usage("--budget-usd is for a batch; what one job may cost is set with --cost"));
    }
    if is_the_queues(&office, &known) {
        if typed.model.is_some() || typed.base_url.is_some() || typed.api_key_env.is_some() {
            return Err(CliError::usage(format!(
                "job {} is a worker's, with the model and server that its batch was submitted with: they can't be changed here",
                known.id()
            )));
        }
        return job_again(&office, &known).await;
    }
    let path = office.workspace(&known)?;
    let row = &known.row;
    let id = row.job.id;
    let mut session = work::open(&office, row, &path).await?;
    if let Some(status) = session.job.ended().map(|ending| ending.status) {
        let outcome = Outcome::Ended(status);
        work::settle(&office, &mut session, row).await?;
        out::talk(&format!("job {id} has ended already; nothing is left to do"));
        result::show(&session.job, &path, outcome, args.show.json)?;
        return Ok(work::code(outcome));
    }
    if is_in_review(&session.job) {
        work::settle(&office, &mut session, row).await?;
        return Err(in_review(id));
    }
    let (limits, are_new) = limits(session.job.limits, &office.settings);
    let target = Target::of(&session, &office.settings)?;
    let models = server::open_all(&office, &target, &session.job.spec.instructions.fallback).await?;
    let mut words = target.words(&models, &session);
    if are_new || !session.job.is_running() {
        words.push(Command::Resume { limits });
    }
    work::drive(&office, &mut session, &path, models, words, args.show).await
}

/// Whether the queue alone can go on with the job, or has ended it: there is no workspace that could be worked here.
fn is_the_queues(office: &Office, job: &Known) -> bool {
    let is_given_up = job.queue.is_some() && job.status() == JobStatus::Failed;
    !office.has_workspace(job) || job.same_as().is_some() || is_given_up
}

/// Queues the job again, or says why there is nothing to queue.
async fn job_again(office: &Office, job: &Known) -> Result<u8, CliError> {
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
            return Ok(work::code(Outcome::Ended(status)));
        }
        JobStatus::Held if job.row.state.hold_reason == Some(HoldReason::Review) => return Err(in_review(id)),
        JobStatus::Held => {
            office.store.resume(Which::Job(id)).await?;
            format!("job {id} is queued again; {where_to}")
        }
        JobStatus::Queued => {
            let run_after = job.queue.as_ref().and_then(|queue| queue.run_after);
            match run_after {
                Some(at) => format!("job {id} is queued until {}; then {where_to}", super::when::minute(at)),
                None => format!("job {id} is queued; {where_to}"),
            }
        }
        JobStatus::Running => {
            // A wish to pause is taken back.
            office.store.resume(Which::Job(id)).await?;
            format!("job {id} is being worked on")
        }
    };
    out::result(&format!("{text}\n"))?;
    Ok(exit::COMPLETED)
}

/// Queues what is held of a batch, as a rule the rest after its trial.
async fn batch_again(office: &Office, batch: &BatchRow, budget_usd: Option<f64>) -> Result<u8, CliError> {
    let words = batch_words(batch);
    if let Some(usd) = budget_usd {
        if usd <= batch.spent_usd {
            return Err(CliError::usage(format!(
                "--budget-usd {usd}: the jobs of {words} have cost {:.2} USD already; give more than that",
                batch.spent_usd
            )));
        }
        office.set_budget(batch, usd).await?;
    }
    let queued = office.store.resume(Which::Batch(batch.batch.id)).await?;
    let after = office.store.totals(batch.batch.id).await?;
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

fn in_review(id: overnight_core::job::id::JobId) -> CliError {
    CliError {
        message: format!(
            "job {id} waits for a review: `overnight approve {id}` accepts it, `overnight feedback {id} \"…\"` sends it back"
        ),
        code: exit::HELD,
    }
}

/// Whether the job waits for a person's word on its result.
pub(super) fn is_in_review(job: &Job) -> bool {
    match &job.status {
        Status::Held { reason, .. } => *reason == HoldReason::Review,
        Status::Running | Status::Ended(_) => false,
    }
}

/// The job's limits with the typed ones in their place, and whether there are any.
fn limits(mut limits: Limits, settings: &Settings) -> (Limits, bool) {
    let before = limits;
    limits.turns = typed(&settings.turns).copied().unwrap_or(limits.turns);
    limits.tokens = typed(&settings.tokens).copied().or(limits.tokens);
    limits.cost_usd = typed(&settings.cost_usd).copied().or(limits.cost_usd);
    limits.wall_clock_ms = typed(&settings.wall_clock_ms).copied().or(limits.wall_clock_ms);
    (limits, limits != before)
}
