//! `overnight watch`: what running jobs are doing, looked at each second. Everything is read from the database, so that it is
//! the same on whatever machine the workers are: as fresh as their last checkpoints.
//!
//! - `look`: one look at the database; `draw`: the look as a table, and what changed since the last one as lines

mod draw;
mod look;

use super::{
    CliError, Office, exit, logs,
    named::Named,
    office::{list_nothing, no_jobs_yet},
    out, table,
};
use crate::{config::Settings, store::BatchRow};
use console::Term;
use draw::{Lines, table};
use look::{Look, Looker};
use overnight_core::job::id::JobId;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  overnight watch
  overnight watch contracts               # until no job of the batch is queued or running
  overnight watch last --json | jq -r '.jobs[].todo'

On a terminal the table is drawn anew each second; elsewhere each change is a line. Ctrl-C ends it, and nothing else.";

/// How often the database is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

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
enum Shown {
    Json,
    Once,
    Lines(Lines),
    /// Drawn over what was drawn before: so many lines.
    Drawn(Term, usize),
}

pub(super) async fn run(settings: Settings, args: &WatchArgs) -> Result<u8, CliError> {
    let nothing = no_jobs_yet(&settings);
    let office = match Office::read_any(settings).await? {
        Some(office) => office,
        None if args.name.is_some() => return Err(CliError::usage(nothing)),
        None => {
            return list_nothing(&nothing, false);
        }
    };
    let office = &office;
    let watched = match &args.name {
        None => Watched::All,
        Some(name) => match office.named(name).await? {
            Named::Job(job) => Watched::Job(job.id()),
            Named::Batch(batch) => Watched::Batch(batch),
        },
    };
    let terminal = Term::stdout();
    let mut shown = match (args.json, args.once) {
        (true, _) => Shown::Json,
        (false, true) => Shown::Once,
        (false, false) if terminal.is_term() => Shown::Drawn(terminal, 0),
        (false, false) => Shown::Lines(Lines::default()),
    };
    let mut looker = Looker::new(office, watched);
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let look = looker.look().await?;
        let is_read = shown.show(&look)?;
        if args.once || look.is_over || !is_read {
            break;
        }
        tokio::select! {
            _ = &mut interrupt => break,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
    Ok(exit::COMPLETED)
}

impl Shown {
    /// Shows a look; `false` when nobody reads any more.
    fn show(&mut self, look: &Look) -> Result<bool, CliError> {
        match self {
            Self::Json => {
                let line = serde_json::to_string(look)
                    .map_err(|error| CliError::failed(format!("the look can't be written as JSON ({error})")))?;
                logs::put(&(line + "\n"))
            }
            Self::Once => {
                if look.jobs.is_empty() {
                    out::talk("nothing runs");
                }
                logs::put(&table(look, table::room()))
            }
            Self::Lines(lines) => logs::put(&lines.changed(look)),
            Self::Drawn(terminal, drawn) => {
                let (height, width) = terminal.size();
                let text = table(look, Some(usize::from(width)));
                // What stands above the terminal's upper edge can't be drawn over.
                let room = usize::from(height).saturating_sub(1).max(1);
                let lines: Vec<&str> = text.lines().collect();
                let kept = if lines.len() > room { &lines[lines.len() - room..] } else { &lines[..] };
                // A terminal that is gone is no reason to complain.
                let _ = terminal.clear_last_lines(*drawn);
                *drawn = kept.len();
                let text = kept.join("\n") + if kept.is_empty() { "" } else { "\n" };
                Ok(terminal.write_str(&text).is_ok())
            }
        }
    }
}
