//! Which workspace store a command works with.

use super::CliError;
use crate::{
    config::{Partial, Settings},
    depot::Depot,
};

/// Where workspaces are kept for other machines.
#[derive(Debug, clap::Args)]
pub(super) struct DepotArgs {
    /// Where workspaces are kept so that other machines can go on: s3://BUCKET/…, gs://…, az://… or file:///FOLDER; keys go by variables such as AWS_ACCESS_KEY_ID
    #[arg(long, value_name = "URL")]
    workspace_store: Option<String>,
}

impl DepotArgs {
    pub(super) fn put_into(&self, flags: Partial) -> Partial {
        Partial { workspace_store: self.workspace_store.clone(), ..flags }
    }
}

/// The store of the settings, where they name one.
pub(super) fn open(settings: &Settings) -> Result<Option<Depot>, CliError> {
    let address = settings.workspace_store.value.as_deref();
    address
        .map(|address| {
            Depot::open(address, settings.cloud().reveal()).map_err(|error| CliError::usage(error.to_string()))
        })
        .transpose()
}
