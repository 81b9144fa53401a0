//! `overnight serve` and `overnight mcp` in a program that was built without them: what they say.

use super::{CliError, Flags};

/// What stands behind a command that isn't there.
#[derive(Debug, clap::Args)]
pub(super) struct LeftOutArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub(super) type ServeArgs = LeftOutArgs;
pub(super) type McpArgs = LeftOutArgs;

pub(super) async fn run(_: Flags, _: &LeftOutArgs) -> Result<u8, CliError> {
    std::future::ready(Err(CliError::usage(crate::built_without::NO_NETWORK.to_owned()))).await
}

pub(super) use run as run_mcp;
