//! `overnight jobs`: what the database knows of all jobs, the newest first.

use super::{
    CliError, Office, exit, out,
    table::{self, Side, Table},
    when,
};
use crate::{
    job::{
        id::JobId,
        record::{HoldReason, JobState, JobStatus},
        rows::duration,
        time::Timestamp,
    },
    store::{JobFilter, JobRow, Wish},
};
use chrono::Local;
use serde::Serialize;

const EXAMPLES: &str = "\
Examples:
  overnight jobs --since 22:00
  overnight jobs --status held
  overnight jobs --json | jq -r '.[] | select(.cost_usd > 1) | .id'";

/// Every id has so many letters at least.
const LEAST_LETTERS: usize = 8;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct JobsArgs {
    /// Only jobs that are queued, running, held, completed, partial, blocked, failed or cancelled
    #[arg(long, value_parser = status)]
    status: Option<JobStatus>,
    /// Only jobs made since then: 22:00, 2h (ago), 2026-11-20, '2026-11-20 22:00', 2026-11-20T22:00:00Z
    #[arg(long, value_name = "TIME", value_parser = |text: &str| when::since(text, &Local::now()))]
    since: Option<Timestamp>,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

fn status(text: &str) -> Result<JobStatus, String> {
    let all = [
        JobStatus::Queued,
        JobStatus::Running,
        JobStatus::Held,
        JobStatus::Completed,
        JobStatus::Partial,
        JobStatus::Blocked,
        JobStatus::Failed,
        JobStatus::Cancelled,
    ];
    let found = all.into_iter().find(|status| status.name() == text.trim().to_lowercase());
    found.ok_or_else(|| format!("it is one of {}", all.map(JobStatus::name).join(", ")))
}

/// A job in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct Listed<'r> {
    id: JobId,
    status: JobStatus,
    /// It stands as running, and no process works on it.
    interrupted: bool,
    hold_reason: Option<HoldReason>,
    /// One sentence.
    reason: Option<&'r str>,
    /// What was asked of who works on it: `cancel`, `pause`.
    wants: Option<&'static str>,
    instructions: &'r str,
    model: &'r str,
    documents: u64,
    phase_number: u32,
    phase_title: &'r str,
    phases_planned: u32,
    phases_complete: u32,
    turns: u64,
    tokens_in: u64,
    tokens_out: u64,
    tokens_cached: u64,
    cost_usd: Option<f64>,
    worked_ms: u64,
    /// 0 to 1.
    coverage: f64,
    confidence: Option<f64>,
    created: Timestamp,
    completed_at: Option<Timestamp>,
    workspace: &'r str,
}

pub(super) async fn run(office: &Office, args: &JobsArgs) -> Result<u8, CliError> {
    let filter = JobFilter { status: args.status, since: args.since, limit: args.limit, ..JobFilter::default() };
    office.adopt().await;
    let mut rows = Vec::new();
    for row in office.store.jobs(&filter).await? {
        rows.push(office.caught_up(row).await?);
    }
    let is_interrupted = |row: &JobRow| office.is_interrupted(row);
    if args.json {
        out::json(&rows.iter().map(|row| listed(row, is_interrupted(row))).collect::<Vec<_>>())?;
        return Ok(exit::COMPLETED);
    }
    if rows.is_empty() {
        out::talk(if filter == JobFilter::default() { "there is no job yet" } else { "no job fits" });
        return Ok(exit::COMPLETED);
    }
    // A beginning is unambiguous among all jobs, not only among those that are shown.
    let mut ids: Vec<String> = if filter == JobFilter::default() {
        rows.iter().map(|row| row.job.id.to_string()).collect()
    } else {
        office.store.jobs(&JobFilter::default()).await?.iter().map(|row| row.job.id.to_string()).collect()
    };
    ids.sort();
    out::result(&table(&rows, &ids, &is_interrupted).render(table::room()))?;
    Ok(exit::COMPLETED)
}

fn table(rows: &[JobRow], ids: &[String], is_interrupted: &dyn Fn(&JobRow) -> bool) -> Table {
    let mut table = Table::new(&[
        ("JOB", Side::Left),
        ("STATUS", Side::Left),
        ("INSTRUCTIONS", Side::Cut),
        ("DOCUMENTS", Side::Right),
        ("PHASE", Side::Left),
        ("TURNS", Side::Right),
        ("USD", Side::Right),
        ("CREATED", Side::Left),
        ("WORKED", Side::Right),
    ]);
    for row in rows {
        let JobRow { job, state, .. } = row;
        let standing =
            if is_interrupted(row) { INTERRUPTED.to_owned() } else { standing(state.status, state.hold_reason) };
        table.row(vec![
            short(&job.id.to_string(), ids).to_owned(),
            standing,
            job.instructions.clone(),
            job.documents.to_string(),
            phase(state),
            state.turns.to_string(),
            cost(state.cost_usd.filter(|_| state.turns > 0)),
            when::minute(job.created),
            if state.worked_ms == 0 { "–".to_owned() } else { duration(state.worked_ms) },
        ]);
    }
    table
}

/// The shortest beginning of `id` that no other of the sorted `ids` has; it ends in a letter or digit.
pub(super) fn short<'i>(id: &'i str, ids: &[String]) -> &'i str {
    let place = ids.partition_point(|other| other.as_str() < id);
    let neighbours = [place.checked_sub(1), Some(place + 1)];
    let shared = neighbours
        .into_iter()
        .flatten()
        .filter_map(|place| ids.get(place))
        .map(|other| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count())
        .max()
        .unwrap_or(0);
    let mut end = (shared + 1).max(LEAST_LETTERS).min(id.len());
    while id.as_bytes().get(end - 1) == Some(&b'-') && end < id.len() {
        end += 1;
    }
    &id[..end]
}

/// How a job stands whose row says running, and on which no process works.
pub(super) const INTERRUPTED: &str = "interrupted";

/// `held (budget)`.
pub(super) fn standing(status: JobStatus, hold: Option<HoldReason>) -> String {
    hold.map_or_else(|| status.to_string(), |reason| format!("{status} ({reason})"))
}

/// USD, or a dash where no price is known.
pub(super) fn cost(usd: Option<f64>) -> String {
    usd.map_or_else(|| "–".to_owned(), |usd| format!("{usd:.2}"))
}

/// `2 of 4`: the planned phase that is worked, or how many of them an ended job completed.
fn phase(state: &JobState) -> String {
    let (complete, planned) = (state.phases_complete, state.phases_planned);
    match state.status {
        JobStatus::Queued if state.turns == 0 => "–".to_owned(),
        status if status.is_end() => format!("{complete} of {planned}"),
        JobStatus::Queued
        | JobStatus::Running
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

fn listed(row: &JobRow, interrupted: bool) -> Listed<'_> {
    let (job, state) = (&row.job, &row.state);
    Listed {
        id: job.id,
        status: state.status,
        interrupted,
        hold_reason: state.hold_reason,
        reason: state.reason.as_deref(),
        wants: row.wants.map(Wish::name),
        instructions: &job.instructions,
        model: &job.model,
        documents: job.documents,
        phase_number: state.phase_number,
        phase_title: &state.phase_title,
        phases_planned: state.phases_planned,
        phases_complete: state.phases_complete,
        turns: state.turns,
        tokens_in: state.tokens_in,
        tokens_out: state.tokens_out,
        tokens_cached: state.tokens_cached,
        cost_usd: state.cost_usd,
        worked_ms: state.worked_ms,
        coverage: state.coverage,
        confidence: state.confidence,
        created: job.created,
        completed_at: state.completed_at,
        workspace: &job.workspace,
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn an_id_is_as_short_as_it_can_be_told_from_others() {
        let ids = [
            "01935b7c-1234-7000-8000-000000000000",
            "01935b7c-1234-7000-8000-000000000001",
            "01935b7c-1235-7000-8000-000000000000",
            "01935b80-0000-7000-8000-000000000000",
            "01a35b80-0000-7000-8000-000000000000",
        ]
        .map(str::to_owned);
        let shorts: Vec<&str> = ids.iter().map(|id| short(id, &ids)).collect();
        assert_eq!(
            shorts,
            [
                "01935b7c-1234-7000-8000-000000000000",
                "01935b7c-1234-7000-8000-000000000001",
                "01935b7c-1235",
                "01935b80",
                "01a35b80"
            ]
        );
        assert_eq!(short("01935b7c-1234", &["01935b7c-1234".to_owned()]), "01935b7c");
    }
}
