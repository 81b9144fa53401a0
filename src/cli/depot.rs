//! Which workspace store a command works with.

use super::{CliError, Office, out};
use crate::{
    config::{Partial, Settings},
    depot::{Depot, DepotError, Keeper, ManifestKey},
    runner::Anchor,
};
use overnight_core::job::id::JobId;

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

/// The store of the settings, where a command can't do without one. It is there already: nothing is made.
pub(super) async fn named(settings: &Settings) -> Result<Depot, CliError> {
    let depot = open(settings)?.ok_or_else(|| {
        CliError::usage("no workspace store is named: give --workspace-store, or OVERNIGHT_WORKSPACE_STORE".to_owned())
    })?;
    depot.look().await?;
    Ok(depot)
}

/// The store of the settings, for a worker: a folder is made or found at once, so that a wrong one is told at the beginning.
/// One that is lost may come back.
pub(super) async fn begun(office: &Office) -> Result<Option<Depot>, CliError> {
    let depot = open(&office.settings)?;
    if let Some(depot) = depot.as_ref().filter(|depot| depot.is_folder()) {
        match depot.ready(office.store.as_ref()).await {
            Ok(()) => {}
            Err(error) if error.retryable() => out::talk(&format!("{error}; jobs are held until it is back")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(depot)
}

/// What keeps the workspace of a job that a worker has put into the store, and the journal's end as the database knows it.
pub(super) async fn keeper(office: &Office, id: JobId) -> Result<(Option<Keeper>, Option<Anchor>), CliError> {
    let Some(row) = office.store.job(id).await? else { return Ok((None, None)) };
    let Some(key) = row.queue.as_ref().and_then(|queue| queue.manifest.as_deref()) else { return Ok((None, None)) };
    let depot = open(&office.settings)?.ok_or_else(|| {
        CliError::usage(format!(
            "the workspace of job {id} is in a workspace store: name it with OVERNIGHT_WORKSPACE_STORE or in overnight.yaml"
        ))
    })?;
    depot.look().await?;
    let key = ManifestKey::parse(key)?;
    let manifest = depot.manifest(&key).await?;
    let keeper = Keeper::new(depot, office.store.clone(), id, Some((key, manifest)));
    Ok((Some(keeper), Anchor::of(&row)))
}

/// An amount of data, as a person reads it.
pub(super) fn bytes(count: u64) -> String {
    let mut unit = (1_u64, "bytes");
    for larger in [(1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB")] {
        if count >= larger.0 {
            unit = larger;
        }
    }
    let (whole, tenths) = (count / unit.0, count % unit.0 * 10 / unit.0);
    if unit.0 == 1 { format!("{count} {}", unit.1) } else { format!("{whole}.{tenths} {}", unit.1) }
}

impl From<DepotError> for CliError {
    fn from(error: DepotError) -> Self {
        match error {
            DepotError::Address { .. } | DepotError::Lost { .. } => Self::usage(error.to_string()),
            DepotError::Unreachable { .. }
            | DepotError::Refused { .. }
            | DepotError::Missing { .. }
            | DepotError::Corrupt { .. }
            | DepotError::Changed { .. }
            | DepotError::Workspace(_)
            | DepotError::Lock(_) => Self::failed(error.to_string()),
            DepotError::Database(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_told_in_their_unit() {
        let told: Vec<String> = [0, 1023, 1024, 1600, 5 << 20, u64::MAX].map(bytes).to_vec();
        assert_eq!(told, ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "5.0 MiB", "17179869183.9 GiB"]);
    }
}
