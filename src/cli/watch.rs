//! `overnight watch`

use super::{CliError, Office};

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    name: Option<String>,
}

pub(super) async fn run(_: &Office, _: &WatchArgs) -> Result<u8, CliError> {
    Ok(0)
}
