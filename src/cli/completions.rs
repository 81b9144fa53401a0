//! `overnight completions`: a script that completes this command line in a shell.

use super::{Cli, CliError, exit, out};
use clap::CommandFactory;

const EXAMPLES: &str = "\
Examples:
  overnight completions bash > ~/.local/share/bash-completion/completions/overnight
  overnight completions zsh > ~/.zfunc/_overnight";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "overnight", &mut script);
    out::result(&String::from_utf8_lossy(&script))?;
    Ok(exit::COMPLETED)
}
