//! `overnight man`: the manual pages, one for each command.

use super::{Cli, CliError, exit, out};
use clap::CommandFactory;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Folder for the pages, made where it is missing: overnight.1, overnight-run.1, …
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run(args: &ManArgs) -> Result<u8, CliError> {
    let written =
        std::fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder));
    let folder = out::one_line(&args.folder.display().to_string());
    written.map_err(|error| CliError::usage(format!("the pages can't be written into {folder} ({error})")))?;
    Ok(exit::COMPLETED)
}
