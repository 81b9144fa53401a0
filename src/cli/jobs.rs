//! `overnight jobs`: lists the database's facts about all jobs, the newest first.
//!
//! - `known_ids`: the shortest form of an id

mod known_ids;

use super::{
    AppContext, CliError,
    app_context::{list_nothing, no_jobs_yet},
    exit,
    job_or_batch::short_label,
    local_time,
    out::{self, JsonList},
    queue::{DatabaseJob, STATUSES},
    table::{self, Align, TextTable},
};
use crate::{
    config::Settings,
    report::{cell::Tone, words::short},
    store::{JOBS_AT_ONCE, JobFilter, JobRow},
    view::JobListItem,
};
use chrono::Local;
pub(super) use known_ids::KnownIds;
use overnight_core::amount::COST_UNKNOWN;
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus, JobSummary},
    time::Timestamp,
    time::duration,
};
use std::collections::BTreeSet;
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  overnight jobs --since 22:00
  overnight jobs --status held --status partial
  overnight jobs --batch contracts --needs-review
  overnight jobs --json | jq -r '.[] | select(.cost_usd > 1) | .id'";

/// Jobs that are shown on a terminal by default.
const MOST_ON_TERMINAL: usize = 50;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct JobsArgs {
    /// Only jobs of this batch: its name, its id or a beginning of that, or 'last'
    #[arg(long, value_name = "BATCH")]
    batch: Option<String>,
    /// Only jobs that are queued, running, held, completed, partial, blocked, failed or cancelled
    #[arg(long, value_parser = status, value_delimiter = ',')]
    status: Vec<JobStatus>,
    /// Only jobs that are held for a person's review
    #[arg(long)]
    needs_review: bool,
    /// Only jobs made since then: 22:00, 2h (ago), 2026-11-20, '2026-11-20 22:00', 2026-11-20T22:00:00Z
    #[arg(long, value_name = "TIME", value_parser = |text: &str| local_time::since(text, &Local::now()))]
    since: Option<Timestamp>,
    /// At most so many [default: on a terminal 50, else all]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

fn status(text: &str) -> Result<JobStatus, String> {
    let found = STATUSES.into_iter().find(|status| status.name() == text.trim().to_lowercase());
    found.ok_or_else(|| format!("it is one of {}", STATUSES.map(JobStatus::name).join(", ")))
}

pub(super) async fn run(settings: Settings, args: &JobsArgs) -> Result<u8, CliError> {
    let nothing = no_jobs_yet(&settings);
    let Some(app) = AppContext::read_any(settings).await? else {
        return list_nothing(&nothing, args.json);
    };
    let app = &app;
    app.adopt().await;
    let mut ids = matching_ids(app, args).await?;
    let most = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let most = most.or_else(|| table::room().filter(|_| !args.json).map(|_| MOST_ON_TERMINAL)).unwrap_or(usize::MAX);
    let more = ids.len().saturating_sub(most);
    ids.truncate(most);
    let is_interrupted = |job: &DatabaseJob| app.is_interrupted(job);
    let (mut list, mut jobs) = (JsonList::default(), Vec::new());
    for page in ids.chunks(JOBS_AT_ONCE) {
        for job in app.jobs_with(page).await? {
            let job = app.caught_up(job).await?;
            if args.json {
                let batch_name = job.queue.as_ref().and_then(|queue| queue.batch_name.as_deref());
                list.add(&JobListItem::of(&job.row, batch_name, is_interrupted(&job)))?;
            } else {
                jobs.push(job);
            }
        }
    }
    if args.json {
        list.end()?;
        return Ok(exit::COMPLETED);
    }
    if jobs.is_empty() {
        let is_any = args.batch.is_some() || args.needs_review || args.since.is_some() || args.limit.is_some();
        out::note(if is_any || !args.status.is_empty() { "no job fits" } else { "there is no job yet" });
        return Ok(exit::COMPLETED);
    }
    let ids = app.ids().await?;
    out::result(&table(&jobs, &ids, &is_interrupted).render(table::room()))?;
    if more > 0 {
        out::note(&format!("{more} more: --limit {} shows them", jobs.len() + more));
    }
    Ok(exit::COMPLETED)
}

/// The requested jobs, the newest first.
async fn matching_ids(app: &AppContext, args: &JobsArgs) -> Result<Vec<JobId>, CliError> {
    let batch = match &args.batch {
        Some(name) => Some(app.batch(name).await?.batch.id),
        None => None,
    };
    let filter = JobFilter { since: args.since, batch, needs_review: args.needs_review, ..JobFilter::default() };
    if let [] | [_] = args.status[..] {
        let filter = JobFilter { status: args.status.first().copied(), limit: args.limit, ..filter };
        return Ok(app.store.job_ids(&filter).await?);
    }
    let mut fitting = BTreeSet::new();
    for status in &args.status {
        fitting.extend(app.store.job_ids(&JobFilter { status: Some(*status), ..filter }).await?);
    }
    let mut ids = app.store.job_ids(&filter).await?;
    ids.retain(|id| fitting.contains(id));
    Ok(ids)
}

impl AppContext {
    /// The ids of all jobs and batches: a short form is unambiguous among all, not only among those that are shown.
    pub(super) async fn ids(&self) -> Result<KnownIds, CliError> {
        Ok(KnownIds::new(self.store.all_ids().await?.iter().map(Uuid::to_string).collect()))
    }
}

fn table(jobs: &[DatabaseJob], ids: &KnownIds, is_interrupted: &dyn Fn(&DatabaseJob) -> bool) -> TextTable {
    let with_labels = jobs.iter().any(|job| job.queue.is_some());
    let with_reasons = jobs.iter().any(|job| job.row.state.reason.is_some());
    let columns = [
        ("LABEL", Align::Middle),
        ("JOB", Align::Left),
        ("STATUS", Align::Left),
        ("INSTRUCTIONS", Align::Cut),
        ("DOCUMENTS", Align::Right),
        ("PHASE", Align::Left),
        ("TURNS", Align::Right),
        ("USD", Align::Right),
        ("CREATED", Align::Left),
        ("WORKED", Align::Right),
        ("REASON", Align::Cut),
    ];
    let is_shown = |name: &str| (with_labels || name != "LABEL") && (with_reasons || name != "REASON");
    let shown: Vec<_> = columns.into_iter().filter(|(name, _)| is_shown(name)).collect();
    let minor: &[&str] = if with_labels {
        &["DOCUMENTS", "CREATED", "PHASE", "INSTRUCTIONS", "TURNS", "WORKED", "USD"]
    } else {
        &["DOCUMENTS", "PHASE", "TURNS", "WORKED", "USD", "CREATED"]
    };
    let mut table = TextTable::new(&shown).with_minor(minor);
    for known in jobs {
        let JobRow { job, state, .. } = &known.row;
        let (standing, tone) = if is_interrupted(known) {
            (INTERRUPTED.to_owned(), Tone::Doubt)
        } else {
            (standing(state.status, state.hold_reason), Tone::of_status(state.status))
        };
        let cells = [
            known.queue.as_ref().map(|queue| short_label(&queue.label)).unwrap_or_default(),
            ids.short(&job.id.to_string()).to_owned(),
            standing,
            job.instructions.clone(),
            job.documents.to_string(),
            phase(state),
            state.turns.to_string(),
            cost(state.turns, state.cost_usd),
            local_time::minute(job.created),
            if state.worked_ms == 0 { "–".to_owned() } else { duration(state.worked_ms) },
            short(state.reason.as_deref().unwrap_or_default()),
        ];
        let cells = columns.iter().zip(cells).filter(|((name, _), _)| is_shown(name)).map(|(_, cell)| cell);
        table.row(cells.collect());
        if let Some(column) = shown.iter().position(|(name, _)| *name == "STATUS") {
            table.tone(column, tone);
        }
    }
    table
}

/// The status of a job whose row says running, though no process works on it.
pub(super) const INTERRUPTED: &str = "interrupted";

/// The status with its hold reason: `held (budget)`.
pub(super) fn standing(status: JobStatus, hold: Option<HoldReason>) -> String {
    hold.map_or_else(|| status.to_string(), |reason| format!("{status} ({reason})"))
}

/// The cost in USD: a dash if there was no turn.
pub(super) fn cost(turns: u64, usd: Option<f64>) -> String {
    match usd {
        _ if turns == 0 => "–".to_owned(),
        Some(usd) => format!("{usd:.2}"),
        None => COST_UNKNOWN.to_owned(),
    }
}

/// `2 of 4`: the planned phase in progress, or the number of phases that an ended job completed.
pub(super) fn phase(state: &JobSummary) -> String {
    let (complete, planned) = (state.phases_complete, state.phases_planned);
    match state.status {
        JobStatus::Queued if state.turns == 0 => "–".to_owned(),
        // A batch's job that never began.
        status if status != JobStatus::Running && state.journal_seq == 0 => "–".to_owned(),
        status if status.is_end() => format!("{complete} of {planned}"),
        JobStatus::Queued
        | JobStatus::Running
        | JobStatus::Waiting
        | JobStatus::Held
        | JobStatus::Completed
        | JobStatus::Partial
        | JobStatus::Blocked
        | JobStatus::Failed
        | JobStatus::Cancelled => match state.phase_number {
            0 => "bootstrap".to_owned(),
            _ if complete < planned => format!("{} of {planned}", complete + 1),
            _ => "review".to_owned(),
        },
    }
}
