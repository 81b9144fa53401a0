//! `overnight prune`: the workspaces of jobs that ended long ago give their room back.

use super::{CliError, Office, depot::bytes, exit, out, progress::counted};
use crate::{
    batch::brought,
    job::id::JobId,
    runner::now,
    store::{JobFilter, JobRow},
    workspace::{Workspace, lock::Hold, prune::Pruned},
};
use serde_json::json;
use std::{collections::HashSet, time::Duration};

const EXAMPLES: &str = "\
Examples:
  overnight prune --older-than 90d --dry-run
  overnight prune --older-than 1y --archives

What is kept of each: output/, job.yaml, journal.jsonl and archive/, so that the job can still be shown and its deliverables
are where they were; `overnight audit verify` says what can still be checked. With --archives only output/ and job.yaml are
kept. In pruned.json stands what was removed, and when. Only workspaces on this machine are looked at, and only of jobs that have ended.";

/// What is kept of a pruned workspace. The lock stays, so that nobody else can take another.
const KEPT: [&str; 5] = ["output", "job.yaml", ".lock", "archive", "journal.jsonl"];
/// How many of them are kept without the archives.
const WITHOUT_ARCHIVES: usize = 3;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PruneArgs {
    /// Only jobs that ended so long ago, such as 90d or 12w
    #[arg(long, value_name = "TIME", value_parser = super::worker::duration)]
    older_than: Duration,
    /// Remove their archives and journals as well
    #[arg(long)]
    archives: bool,
    /// Say what would be freed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was freed as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(office: &Office, args: &PruneArgs) -> Result<u8, CliError> {
    let kept = &KEPT[..if args.archives { WITHOUT_ARCHIVES } else { KEPT.len() }];
    let least = u64::try_from(args.older_than.as_millis()).unwrap_or(u64::MAX);
    let (mut pruned, mut freed, mut left) = (Vec::new(), 0, 0);
    let mut rows = office.store.jobs(&JobFilter::default()).await?;
    rows.retain(|row| has_ended(row, least));
    let ended: HashSet<JobId> = rows.iter().map(|row| row.job.id).collect();
    for known in office.known(rows).await? {
        let id = known.id();
        if known.same_as().is_some() || known.is_unbegun() {
            continue;
        }
        // Of a job elsewhere there is nothing here.
        let Ok(path) = office.workspace(&known) else { continue };
        match prune(&path, id, kept, args.dry_run) {
            Ok(0) => {}
            Ok(bytes) => {
                freed += bytes;
                pruned.push(id);
            }
            Err(why) => {
                left += 1;
                out::talk(&format!("left as it is: job {id} ({why})"));
            }
        }
    }
    // What closing jobs read, and was brought for them.
    for (folder, job) in brought(&office.settings.workspaces.value) {
        if !ended.contains(&job) {
            continue;
        }
        match remove(&folder, args.dry_run) {
            Ok(bytes) => {
                freed += bytes;
                if !pruned.contains(&job) {
                    pruned.push(job);
                }
            }
            Err(why) => {
                left += 1;
                out::talk(&format!("left as it is: what was brought for job {job} ({why})"));
            }
        }
    }
    if args.json {
        out::json(&json!({"dry_run": args.dry_run, "jobs": pruned, "bytes": freed, "left": left}))?;
    } else {
        let would = if args.dry_run { "would free" } else { "freed" };
        out::result(&format!("{would} {} of {}\n", bytes(freed), counted(pruned.len() as u64, "job")))?;
    }
    Ok(if left == 0 { exit::COMPLETED } else { exit::FAILED })
}

/// Removes a folder; its bytes.
fn remove(folder: &std::path::Path, dry: bool) -> Result<u64, String> {
    let mut bytes = 0;
    let opened = Workspace::open(folder).and_then(|root| root.walk(".", &mut |_, _, metadata| bytes += metadata.len()));
    opened.map_err(|error| error.to_string())?;
    if !dry {
        std::fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
    }
    Ok(bytes)
}

fn has_ended(row: &JobRow, least: u64) -> bool {
    let ended = row.state.completed_at.filter(|_| row.state.status.is_end() && row.worker.is_none());
    ended.is_some_and(|at| now().millis_since(at) >= least)
}

/// Says so where a workspace was pruned, before it is shown.
pub(super) fn tell(path: &std::path::Path) {
    if let Some(pruned) = Workspace::open(path).ok().and_then(|workspace| Pruned::read(&workspace)) {
        let removed: Vec<String> = pruned.removed.iter().map(|name| out::one_line(name)).collect();
        out::talk(&format!("the workspace was pruned at {}: {} are gone", pruned.at, removed.join(", ")));
    }
}

/// Prunes one workspace, while nobody works on it; what keeps it from being done, otherwise.
fn prune(path: &std::path::Path, id: JobId, kept: &[&str], dry: bool) -> Result<u64, String> {
    let workspace = Workspace::open(path).map_err(|error| error.to_string())?;
    let _hold = Hold::acquire(&workspace).map_err(|error| error.to_string())?;
    // The row may be wrong about a folder; the folder is not.
    let job = crate::runner::load(path).map(|loaded| (loaded.job.spec.id, loaded.job.ended().is_some()));
    match job {
        Ok((found, true)) if found == id => workspace.prune(kept, now(), dry).map_err(|error| error.to_string()),
        Ok((found, true)) => Err(format!("{} holds job {found}", path.display())),
        Ok((_, false)) => Err("its workspace says that it has not ended".to_owned()),
        // A job that was pruned with its archives has no journal to be read.
        Err(_) if !path.join("journal.jsonl").exists() => Ok(0),
        Err(error) => Err(error.to_string()),
    }
}
