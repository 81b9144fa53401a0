//! `overnight fetch`: copies a job's workspace out of the workspace store, for a person to look at.

use super::{
    AppContext, CliError, exit, out,
    progress::counted,
    workspace_store::{self, WorkspaceStoreArgs, bytes},
};
use crate::{config::Flags, runner::now, workspace_store::ManifestKey};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  overnight fetch last
  overnight fetch 0193 --into /tmp/look
  overnight audit verify ./01930000-0000-7000-8000-0123456789ab   # the fetched folder

The folder is a copy as of the job's last checkpoint: workers don't know of it.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FetchArgs {
    /// Id of a job, the beginning of one, or 'last'
    job: String,
    /// A folder that is not there yet; without it, one with the job's id, here
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    #[command(flatten)]
    workspace_store: WorkspaceStoreArgs,
    /// Print what was fetched as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(flags: Flags, args: &FetchArgs) -> Result<u8, CliError> {
    let app = AppContext::read(super::settings(&args.workspace_store.add_to(flags))?).await?;
    let workspace_store = workspace_store::required(&app.settings).await?;
    let mut id = app.store.find(&args.job).await?;
    let mut row = app.store.job(id).await?;
    // The workspace of a linked job is that of the job that did the work.
    if let Some(done) = row.as_ref().and_then(|row| row.queue.as_ref()?.same_as) {
        id = done;
        row = app.store.job(id).await?;
    }
    let key = row.and_then(|row| row.queue?.manifest);
    let key = key.ok_or_else(|| {
        CliError::usage(format!("the workspace of job {id} is in no store: `overnight show {id}` says where it is"))
    })?;
    let into = args.into.clone().unwrap_or_else(|| PathBuf::from(id.to_string()));
    if into.symlink_metadata().is_ok() {
        return Err(CliError::usage(format!(
            "{} is there already, and is left alone: name another with --into",
            out::one_line(&into.display().to_string())
        )));
    }
    let manifest = workspace_store.manifest(&ManifestKey::parse(&key)?).await?;
    workspace_store.restore(&manifest, &into, now()).await?;
    let (files, size) = (manifest.files.len() as u64, manifest.bytes());
    let fetched = json!({"job": id, "folder": into, "files": files, "bytes": size, "journal_seq": manifest.seq});
    out::answer(args.json, &fetched, || {
        let folder = out::one_line(&into.display().to_string());
        format!("{folder}: {} of job {id} ({})\n", counted(files, "file"), bytes(size))
    })?;
    Ok(exit::COMPLETED)
}
