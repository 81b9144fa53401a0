//! `overnight reindex`: restores the database from the workspaces.

use super::{AppContext, CliError, exit, jobs::standing, out};
use crate::{
    config::Settings,
    runner::{IndexOutcome, Indexed, Reindexed, reindex},
};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
};
use serde::Serialize;

const EXAMPLES: &str = "\
Examples:
  rm workspaces/overnight.db* && overnight reindex && overnight jobs
  overnight --workspaces /backup/workspaces --database-url sqlite:///tmp/backup.db reindex

A row that agrees with its workspace stays as it is, one that lags is brought up, and one that has seen more than its journal
holds is named and not touched. A job that is being worked on is left to its process.
Exit code 0: all jobs are in the database; 1: some could not be brought in, and stderr names them.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReindexArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The object that `--json` prints. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct ReindexView<'r> {
    workspaces: String,
    restored: usize,
    updated: usize,
    unchanged: usize,
    busy: usize,
    /// The number of jobs whose outcome is `ahead` or `broken`.
    faults: usize,
    /// Unfinished workspaces of a crash that were removed.
    swept: u64,
    /// Copies and renamed workspaces, which are not indexed.
    misnamed: Vec<String>,
    jobs: Vec<IndexedJobView<'r>>,
}

#[derive(Debug, Serialize)]
struct IndexedJobView<'r> {
    id: JobId,
    workspace: String,
    /// `restored`, `updated`, `unchanged`, `busy`, `ahead`, `broken`.
    outcome: &'static str,
    /// One sentence.
    detail: Option<&'r str>,
    /// The status in the journal; null if it can't be read.
    status: Option<JobStatus>,
    hold_reason: Option<HoldReason>,
}

pub(super) async fn run(settings: Settings, args: &ReindexArgs) -> Result<u8, CliError> {
    let workspaces = settings.workspaces.value.clone();
    // Checked before the database is opened: the default one is in that folder, which would be created for it.
    if !workspaces.is_dir() {
        let shown = out::one_line(&workspaces.display().to_string());
        return Err(CliError::usage(format!("there is no workspaces folder at {shown}: name it with --workspaces")));
    }
    let app = AppContext::open(settings).await?;
    let done = reindex(app.store.as_ref(), &workspaces).await?;
    for sentence in done.jobs.iter().filter_map(detail_sentence) {
        out::note(&out::one_line(&sentence));
    }
    for misnamed in &done.misnamed {
        let what = misnamed.job.map_or_else(
            || "it is not named by a job's id".to_owned(),
            |id| format!("it holds job {id}; give it that name if it is not a copy"),
        );
        out::note(&out::one_line(&format!("left out: {}: {what}", misnamed.path.display())));
    }
    out::answer(
        args.json,
        &view(&done, &std::path::absolute(&workspaces).unwrap_or(workspaces).display().to_string()),
        || summary(&done),
    )?;
    let is_whole = done.jobs.iter().all(|job| !job.outcome.is_fault());
    Ok(if is_whole { exit::COMPLETED } else { exit::FAILED })
}

/// One sentence for a person about a job's outcome.
fn detail_sentence(job: &Indexed) -> Option<String> {
    let id = job.id;
    match &job.outcome {
        IndexOutcome::Restored | IndexOutcome::Updated => match job.standing {
            Some((JobStatus::Running, _)) => {
                Some(format!("job {id} was interrupted: `overnight resume {id}` goes on with it"))
            }
            Some(_) | None => None,
        },
        IndexOutcome::Unchanged => None,
        IndexOutcome::Busy(what) => Some(format!("left alone: {what}; reindex again when it rests")),
        IndexOutcome::Ahead(what) => Some(format!(
            "error: job {id}: {what}; its row is left as it is: put the right workspace back, or see `overnight audit verify {id}`"
        )),
        IndexOutcome::Broken(what) => Some(format!("error: job {id}: {what}")),
    }
}

fn outcome_name(outcome: &IndexOutcome) -> (&'static str, Option<&str>) {
    match outcome {
        IndexOutcome::Restored => ("restored", None),
        IndexOutcome::Updated => ("updated", None),
        IndexOutcome::Unchanged => ("unchanged", None),
        IndexOutcome::Busy(what) => ("busy", Some(what)),
        IndexOutcome::Ahead(what) => ("ahead", Some(what)),
        IndexOutcome::Broken(what) => ("broken", Some(what)),
    }
}

fn count(done: &Reindexed, name: &str) -> usize {
    done.jobs.iter().filter(|job| outcome_name(&job.outcome).0 == name).count()
}

fn view<'r>(done: &'r Reindexed, workspaces: &str) -> ReindexView<'r> {
    ReindexView {
        workspaces: workspaces.to_owned(),
        restored: count(done, "restored"),
        updated: count(done, "updated"),
        unchanged: count(done, "unchanged"),
        busy: count(done, "busy"),
        faults: done.jobs.iter().filter(|job| job.outcome.is_fault()).count(),
        swept: done.swept,
        misnamed: done.misnamed.iter().map(|misnamed| misnamed.path.display().to_string()).collect(),
        jobs: done
            .jobs
            .iter()
            .map(|job| {
                let (outcome, detail) = outcome_name(&job.outcome);
                IndexedJobView {
                    id: job.id,
                    workspace: job.path.display().to_string(),
                    outcome,
                    detail,
                    status: job.standing.map(|(status, _)| status),
                    hold_reason: job.standing.and_then(|(_, hold)| hold),
                }
            })
            .collect(),
    }
}

/// `3 jobs: 2 restored (1 completed, 1 held (limit)), 1 unchanged`
fn summary(done: &Reindexed) -> String {
    let mut parts = Vec::new();
    for name in ["restored", "updated", "unchanged", "busy", "ahead", "broken"] {
        let jobs: Vec<&Indexed> = done.jobs.iter().filter(|job| outcome_name(&job.outcome).0 == name).collect();
        if jobs.is_empty() {
            continue;
        }
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for (status, hold) in jobs.iter().filter_map(|job| job.standing) {
            let kind = match status {
                // No process works on a job that was just restored.
                JobStatus::Running if matches!(name, "restored" | "updated") => "interrupted".to_owned(),
                _ => standing(status, hold),
            };
            match kinds.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, times)) => *times += 1,
                None => kinds.push((kind, 1)),
            }
        }
        let kinds: Vec<String> = kinds.iter().map(|(kind, times)| format!("{times} {kind}")).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        parts.push(format!("{} {name}{kinds}", jobs.len()));
    }
    let jobs = done.jobs.len();
    let mut text = format!("{jobs} {}", if jobs == 1 { "job" } else { "jobs" });
    if !parts.is_empty() {
        text = format!("{text}: {}", parts.join(", "));
    }
    if done.swept > 0 {
        text = format!("{text}; {} unfinished swept", done.swept);
    }
    text + "\n"
}
