//! `overnight prune`: removes most of the workspaces of jobs that ended long ago.

mod pack;

use super::{AppContext, CliError, exit, out, progress::counted, queue::DatabaseJob, workspace_store::bytes};
use crate::{
    batch::fetched_folders,
    config::Settings,
    runner::now,
    store::{JOBS_AT_ONCE, JobFilter, JobRow},
    workspace::{Workspace, lock::InspectionLock, prune::PruneRecord},
};
use overnight_core::job::id::JobId;
use serde_json::json;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

const EXAMPLES: &str = "\
Examples:
  overnight prune --older-than 90d --dry-run
  overnight prune --older-than 90d --yes
  overnight prune --older-than 1y --archives --yes
  overnight prune --older-than 7d --pack
  overnight prune --unpack 0193

What is kept of each: output/, job.yaml, journal.jsonl and archive/, so that the job can still be shown and its deliverables
are where they were; `overnight audit verify` says what can still be checked. With --archives only output/ and job.yaml are
kept. In pruned.json stands what was removed, and when. Only workspaces on this machine are looked at, and only of jobs that have ended.

--pack loses nothing: the record of each job, one ZIP as `overnight audit export` writes it, takes the place of its folder when it
has been compared with it file by file, and all commands read it as they read the folder. Approval, correction and feedback
unpack it by themselves.";

/// The entries of a pruned workspace that are kept. The lock stays, so that no other process can create a new one.
const KEPT: [&str; 5] = ["output", "job.yaml", ".lock", "archive", "journal.jsonl"];
/// How many of these entries are kept if the archives are removed too.
const KEPT_WITHOUT_ARCHIVES: usize = 3;

/// The age of a job below which a person must confirm: it may still be looked at.
const MIN_AGE_UNASKED: Duration = Duration::from_hours(24);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct PruneArgs {
    /// Only jobs that ended so long ago, such as 90d or 12w
    #[arg(long, value_name = "TIME", value_parser = super::worker::duration, required_unless_present = "unpack")]
    older_than: Option<Duration>,
    /// Put their records, one file each, in the place of their folders; nothing is lost
    #[arg(long, conflicts_with = "archives")]
    pack: bool,
    /// Bring back the folders of these packed jobs: ids, beginnings of them, 'last', or names or ids of batches
    #[arg(long, value_name = "JOB|BATCH", num_args = 1.., conflicts_with_all = ["older_than", "pack", "archives", "dry_run"])]
    unpack: Vec<String>,
    /// Remove their archives and journals as well
    #[arg(long)]
    archives: bool,
    /// Say what would be freed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Don't ask: needed where what a job was given goes, or a job that ended less than a day ago
    #[arg(long)]
    yes: bool,
    /// Print what was freed as one JSON object
    #[arg(long)]
    json: bool,
}

/// The bytes that were freed, or would be.
#[derive(Default)]
struct Freed {
    jobs: BTreeMap<JobId, u64>,
    /// The jobs' inputs are among the removed files.
    has_inputs: bool,
    /// Workspaces that were left as they are, and why.
    left: Vec<String>,
}

impl Freed {
    fn add(&mut self, job: JobId, what: &str, found: Result<(u64, bool), String>) {
        match found {
            Ok((0, _)) => {}
            Ok((bytes, has_inputs)) => {
                *self.jobs.entry(job).or_default() += bytes;
                self.has_inputs |= has_inputs;
            }
            Err(why) => self.left.push(format!("left as it is: {what}job {job} ({why})")),
        }
    }
}

pub(super) async fn run(settings: Settings, args: &PruneArgs) -> Result<u8, CliError> {
    let app = if args.dry_run { AppContext::read(settings).await? } else { AppContext::of_jobs(settings).await? };
    let app = &app;
    let Some(older_than) = args.older_than else {
        return pack::unpack_jobs(app, &args.unpack, args.json).await;
    };
    if !args.dry_run {
        Workspace::sweep_at_times(&app.settings.workspaces.value, now());
    }
    let least = u64::try_from(older_than.as_millis()).unwrap_or(u64::MAX);
    if args.pack {
        return pack::pack_jobs(app, least, args.dry_run, args.json).await;
    }
    let mut freed = free(app, least, args.archives, true).await?;
    let total: u64 = freed.jobs.values().sum();
    let is_soon = older_than < MIN_AGE_UNASKED;
    if !args.dry_run {
        if !args.yes && !freed.jobs.is_empty() && (is_soon || freed.has_inputs) {
            let why = if is_soon {
                "jobs that ended less than a day ago may be among them"
            } else {
                "the documents that they were given go with it"
            };
            return Err(CliError::usage(format!(
                "{} of {} would be gone for good, and {why}: add --yes, or --dry-run to see which",
                bytes(total),
                counted(freed.jobs.len() as u64, "job")
            )));
        }
        freed = free(app, least, args.archives, false).await?;
    }
    for left in &freed.left {
        out::note(left);
    }
    let total: u64 = freed.jobs.values().sum();
    let ids: Vec<&JobId> = freed.jobs.keys().collect();
    let shown = json!({"dry_run": args.dry_run, "jobs": ids, "bytes": total, "left": freed.left.len()});
    out::answer(args.json, &shown, || {
        let would = if args.dry_run { "would free" } else { "freed" };
        let each = freed.jobs.iter().filter(|_| args.dry_run).map(|(id, size)| format!("{id}  {}\n", bytes(*size)));
        let each: String = each.collect();
        format!("{each}{would} {} of {}\n", bytes(total), counted(freed.jobs.len() as u64, "job"))
    })?;
    Ok(if freed.left.is_empty() { exit::COMPLETED } else { exit::FAILED })
}

/// The jobs of this page that ended at least `least` milliseconds ago.
async fn ended_jobs(app: &AppContext, page: &[JobId], least: u64) -> Result<Vec<DatabaseJob>, CliError> {
    let mut jobs = app.jobs_with(page).await?;
    jobs.retain(|job| has_ended(&job.row, least));
    Ok(jobs)
}

/// Prunes the workspaces of jobs that ended long enough ago, and removes the files that were fetched for closing jobs.
async fn free(app: &AppContext, least: u64, with_archives: bool, dry: bool) -> Result<Freed, CliError> {
    let kept = &KEPT[..if with_archives { KEPT_WITHOUT_ARCHIVES } else { KEPT.len() }];
    let mut freed = Freed::default();
    let mut fetched: BTreeMap<JobId, Vec<PathBuf>> = BTreeMap::new();
    for (folder, job) in fetched_folders(&app.settings.workspaces.value) {
        fetched.entry(job).or_default().push(folder);
    }
    for page in app.store.job_ids(&JobFilter::default()).await?.chunks(JOBS_AT_ONCE) {
        for known in ended_jobs(app, page, least).await? {
            for folder in fetched.get(&known.id()).into_iter().flatten() {
                freed.add(known.id(), "what was brought for ", remove(folder, dry).map(|bytes| (bytes, true)));
            }
            // A job of another workspace has nothing here.
            let is_own = known.same_as().is_none() && !known.is_unbegun();
            let Some(path) = app.workspace(&known).ok().filter(|_| is_own) else { continue };
            let has_inputs = path.join("documents").exists();
            let found = prune(&path, known.id(), kept, dry).map(|bytes| (bytes, has_inputs));
            freed.add(known.id(), "", found);
        }
    }
    Ok(freed)
}

/// Removes a folder. Returns its bytes.
fn remove(folder: &std::path::Path, dry: bool) -> Result<u64, String> {
    let mut bytes = 0;
    let opened = Workspace::open(folder).and_then(|root| root.walk(".", &mut |found| bytes += found.entry.bytes));
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

/// Writes a note if the workspace that is about to be shown was pruned, or is packed.
pub(super) fn note_if_pruned(path: &std::path::Path) {
    if let Some(workspace) = Workspace::open(path).ok().filter(Workspace::is_packed) {
        out::note(&format!(
            "the job is packed into its record: `overnight prune --unpack {}` brings its folder back",
            out::one_line(&workspace.name())
        ));
    }
    if let Some(pruned) = Workspace::open(path).ok().and_then(|workspace| PruneRecord::read(&workspace)) {
        let removed: Vec<String> = pruned.removed.iter().map(|name| out::one_line(name)).collect();
        out::note(&format!("the workspace was pruned at {}: {} are gone", pruned.at, removed.join(", ")));
    }
}

/// Prunes one workspace that no process works on. The error is the reason why it can't be pruned.
fn prune(path: &std::path::Path, id: JobId, kept: &[&str], dry: bool) -> Result<u64, String> {
    let workspace = Workspace::open(path).map_err(|error| error.to_string())?;
    if workspace.is_packed() {
        return Err("it is packed: unpack it first, with --unpack".to_owned());
    }
    let _hold = InspectionLock::acquire(&workspace).map_err(|error| error.to_string())?;
    // The row may name the wrong folder; the folder itself is reliable.
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
