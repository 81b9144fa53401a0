//! `overnight watch`: shows each second the progress of running jobs on any machine, as of their last checkpoints.
//!
//! - `snapshot`: one look at the database; `draw`: the snapshot as a table, and the changes since the last one as lines

mod draw;
mod snapshot;

use super::{
    AppContext, CliError,
    app_context::{list_nothing, no_jobs_yet},
    exit,
    job_or_batch::JobOrBatch,
    logs, out, table,
};
use crate::{config::Settings, store::BatchRow};
use console::Term;
use draw::{ChangedLines, table};
use overnight_core::job::id::JobId;
use snapshot::{Snapshot, Watcher};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  overnight watch
  overnight watch contracts               # until no job of the batch is queued or running
  overnight watch last --json | jq -r '.jobs[].todo'

On a terminal the table is drawn anew each second; elsewhere each change is a line. Ctrl-C ends it, and nothing else.";

/// The interval between snapshots of the database.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WatchArgs {
    /// Id of a job, the beginning of one, 'last', or name or id of a batch [default: all jobs that run]
    #[arg(value_name = "JOB|BATCH")]
    name: Option<String>,
    /// Print once, and end
    #[arg(long)]
    once: bool,
    /// Print a JSON object for each look, in a line
    #[arg(long)]
    json: bool,
}

/// What is watched.
#[derive(Debug)]
pub(super) enum Watched {
    All,
    Job(JobId),
    Batch(Box<BatchRow>),
}

/// How it is shown.
enum WatchOutput {
    Json,
    Once,
    Lines(ChangedLines),
    /// Drawn over the last snapshot, which had this many lines.
    Drawn(Term, usize),
}

pub(super) async fn run(settings: Settings, args: &WatchArgs) -> Result<u8, CliError> {
    let nothing = no_jobs_yet(&settings);
    let app = match AppContext::read_any(settings).await? {
        Some(app) => app,
        None if args.name.is_some() => return Err(CliError::usage(nothing)),
        None => {
            return list_nothing(&nothing, false);
        }
    };
    let app = &app;
    let target = match &args.name {
        None => Watched::All,
        Some(name) => match app.job_or_batch(name).await? {
            JobOrBatch::Job(job) => Watched::Job(job.id()),
            JobOrBatch::Batch(batch) => Watched::Batch(batch),
        },
    };
    let terminal = Term::stdout();
    let mut shown = match (args.json, args.once) {
        (true, _) => WatchOutput::Json,
        (false, true) => WatchOutput::Once,
        (false, false) if terminal.is_term() => WatchOutput::Drawn(terminal, 0),
        (false, false) => WatchOutput::Lines(ChangedLines::default()),
    };
    let mut watcher = Watcher::new(app, target);
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let snapshot = watcher.snapshot().await?;
        let is_read = shown.show(&snapshot)?;
        if args.once || snapshot.is_over || !is_read {
            break;
        }
        tokio::select! {
            _ = &mut interrupt => break,
            () = tokio::time::sleep(SNAPSHOT_EVERY) => {}
        }
    }
    Ok(exit::COMPLETED)
}

impl WatchOutput {
    /// Shows a snapshot; `false` if the output was closed by its reader.
    fn show(&mut self, snapshot: &Snapshot) -> Result<bool, CliError> {
        match self {
            Self::Json => {
                let line = serde_json::to_string(snapshot)
                    .map_err(|error| CliError::failed(format!("the look can't be written as JSON ({error})")))?;
                logs::put(&(line + "\n"))
            }
            Self::Once => {
                if snapshot.jobs.is_empty() {
                    out::note("nothing runs");
                }
                logs::put(&table(snapshot, table::room().map(|width| (width, usize::MAX))))
            }
            Self::Lines(lines) => logs::put(&lines.changed(snapshot)),
            Self::Drawn(terminal, drawn) => {
                let (height, width) = terminal.size();
                // Lines above the terminal's upper edge can't be overwritten.
                let room = usize::from(height).saturating_sub(1).max(1);
                let text = table(snapshot, Some((usize::from(width), room)));
                let lines: Vec<&str> = text.lines().collect();
                let kept = if lines.len() > room { &lines[lines.len() - room..] } else { &lines[..] };
                // A closed terminal is ignored.
                let _ = terminal.clear_last_lines(*drawn);
                *drawn = kept.len();
                let text = kept.join("\n") + if kept.is_empty() { "" } else { "\n" };
                Ok(terminal.write_str(&text).is_ok())
            }
        }
    }
}
