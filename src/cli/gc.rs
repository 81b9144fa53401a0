//! `overnight gc`: deletes data from the workspace store that no job needs any more.

use super::{
    AppContext, CliError, exit, out,
    progress::counted,
    workspace_store::{self, WorkspaceStoreArgs, bytes},
};
use crate::config::Flags;
use serde_json::json;
use std::time::Duration;

/// A shorter grace period would delete blocks that workers rely on.
const LEAST_BESIDE_WORKERS: Duration = Duration::from_hours(1);

const EXAMPLES: &str = "\
Examples:
  overnight gc --workspace-store s3://nights/jobs --dry-run
  overnight gc --grace 1h

Kept are the workspaces as the database has them, of each job the last. A job that this database doesn't know may be another
database's: all of its workspaces are kept.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GcArgs {
    /// Delete only what is older; under an hour is refused while workers are at work
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = super::worker::duration)]
    grace: Duration,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    workspace_store: WorkspaceStoreArgs,
    /// Print what was deleted as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(flags: Flags, args: &GcArgs) -> Result<u8, CliError> {
    let settings = super::settings(&args.workspace_store.add_to(flags))?;
    let app = if args.dry_run { AppContext::read(settings).await? } else { AppContext::of_jobs(settings).await? };
    let workspace_store = workspace_store::required(&app.settings).await?;
    if args.grace < LEAST_BESIDE_WORKERS && !args.dry_run {
        let workers = app.store.workers_at_work().await?;
        if workers > 0 {
            return Err(CliError::usage(format!(
                "{} seen within the last minute, and a grace of less than an hour may take from workers what they count on: stop them, or give --grace 1h or more",
                if workers == 1 { "a worker was".to_owned() } else { format!("{workers} workers were") }
            )));
        }
    }
    let cleared =
        workspace_store.collect_garbage(app.store.as_ref(), args.grace, chrono::Utc::now(), args.dry_run).await?;
    for (id, why) in &cleared.broken {
        out::note(&format!(
            "job {id}: {why}: no block was deleted, because what it needs isn't known; bring it back from a copy of the store"
        ));
    }
    let code = if cleared.broken.is_empty() { exit::COMPLETED } else { exit::FAILED };
    if args.json {
        out::json(&json!({
            "dry_run": args.dry_run,
            "manifests": cleared.manifests,
            "blocks": cleared.blocks,
            "bytes": cleared.bytes,
            "unknown_jobs": cleared.unknown_jobs,
            "broken": cleared.broken.iter().map(|(id, why)| json!({"job": id, "why": why})).collect::<Vec<_>>(),
        }))?;
        return Ok(code);
    }
    if cleared.unknown_jobs > 0 {
        out::note(&format!(
            "kept: {} that this database doesn't know, and that may be another's",
            counted(cleared.unknown_jobs, "job")
        ));
    }
    let would = if args.dry_run { "would delete" } else { "deleted" };
    out::result(&format!(
        "{would} {} and {} from {} ({})\n",
        counted(cleared.manifests, "manifest"),
        counted(cleared.blocks, "block"),
        workspace_store.shown(),
        bytes(cleared.bytes)
    ))?;
    Ok(code)
}
