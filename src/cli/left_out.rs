//! The message of a command that this build of the program leaves out.

use super::CliError;

/// What stands behind it.
#[derive(Debug, clap::Args)]
pub(super) struct LeftOutArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub(super) fn run(_: &LeftOutArgs) -> Result<u8, CliError> {
    Err(CliError::usage(crate::built_without::NO_NETWORK.to_owned()))
}
