//! `overnight audit`: a job's phases, one phase in full, whether the record is as it was left, and what the model was shown.
//! Everything is read from the workspace; the database only says where that is, and holds the anchor for verifying.
//!
//! - `phases`: the list, and `--phase N`
//! - `verify`, `prompt`, `export`: the commands of these names

mod export;
mod phases;
mod prompt;
mod verify;

pub(super) use phases::tokens;

use super::{CliError, job_location::JobLocation};
use crate::config::Settings;

const EXAMPLES: &str = "\
Examples:
  overnight audit last
  overnight audit 0193 --phase 3
  overnight audit verify --all
  overnight audit prompt ./copied-workspace --turn 12
  overnight audit export last -o record.zip";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    /// Id of a job, the beginning of one, 'last', or the path of a workspace folder
    #[arg(required = true)]
    job: Option<String>,
    /// Show this phase in full: todos, changes of the plan, files, parts of documents read, notes
    #[arg(long, value_name = "N")]
    phase: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum AuditCommand {
    /// Check every hash of a job's record, and name what is not as it was left
    Verify(verify::VerifyArgs),
    /// Print exactly what the model was shown at a turn
    Prompt(prompt::PromptArgs),
    /// Write all of a job's record into one ZIP that needs nothing of this program to be read and checked
    Export(export::RecordArgs),
}

pub(super) async fn run(settings: Settings, args: &AuditArgs) -> Result<u8, CliError> {
    match (&args.command, &args.job) {
        (Some(AuditCommand::Verify(args)), _) => Box::pin(verify::run(settings, args)).await,
        (Some(AuditCommand::Prompt(args)), _) => prompt::run(settings, args).await,
        (Some(AuditCommand::Export(args)), _) => Box::pin(export::run(settings, args)).await,
        (None, Some(job)) => {
            let location = JobLocation::find(settings, job).await?;
            match args.phase {
                Some(number) => phases::one(&location, number, args.json),
                None => phases::list(&location, args.json),
            }
        }
        (None, None) => Err(CliError::usage("name a job: its id, the beginning of one, 'last', or a workspace folder")),
    }
}
