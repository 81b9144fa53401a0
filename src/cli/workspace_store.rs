//! The workspace store that a command uses.

use super::{AppContext, CliError, out};
use crate::{
    config::{Flags, Settings},
    store::JobRow,
    workspace_store::{ManifestKey, Uploader, WorkspaceStore, WorkspaceStoreError},
};

/// Where workspaces are kept for other machines.
#[derive(Debug, Default, clap::Args)]
pub(super) struct WorkspaceStoreArgs {
    /// Where workspaces are kept so that other machines can go on: s3://BUCKET/…, gs://…, az://… or file:///FOLDER; keys go by variables such as AWS_ACCESS_KEY_ID
    #[arg(long, value_name = "URL")]
    workspace_store: Option<String>,
}

impl WorkspaceStoreArgs {
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags { workspace_store: self.workspace_store.clone(), ..flags }
    }
}

/// The store that the settings name, if any.
pub(super) fn open(settings: &Settings) -> Result<Option<WorkspaceStore>, CliError> {
    let address = settings.workspace_store.value.as_deref();
    address
        .map(|address| {
            WorkspaceStore::open(address, settings.cloud().reveal()).map_err(|error| CliError::usage(error.to_string()))
        })
        .transpose()
}

/// The store that the settings name, for a command that needs one. It must exist: nothing is created.
pub(super) async fn required(settings: &Settings) -> Result<WorkspaceStore, CliError> {
    let workspace_store = open(settings)?.ok_or_else(|| {
        CliError::usage("no workspace store is named: give --workspace-store, or OVERNIGHT_WORKSPACE_STORE".to_owned())
    })?;
    workspace_store.check_exists().await?;
    Ok(workspace_store)
}

/// The store that the settings name, for a worker. A folder is created or found at once, so that a wrong one is reported at the start; a lost one may come back.
pub(super) async fn open_for_worker(app: &AppContext) -> Result<Option<WorkspaceStore>, CliError> {
    let workspace_store = open(&app.settings)?;
    if let Some(workspace_store) = workspace_store.as_ref().filter(|workspace_store| workspace_store.is_folder()) {
        match workspace_store.ready(app.store.as_ref()).await {
            Ok(()) => {}
            Err(error) if error.retryable() => out::note(&format!("{error}; jobs are held until it is back")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(workspace_store)
}

/// The uploader for a job whose workspace is in the store; `None` for other jobs.
pub(super) async fn uploader(app: &AppContext, row: &JobRow) -> Result<Option<Uploader>, CliError> {
    let id = row.job.id;
    let Some(key) = row.queue.as_ref().and_then(|queue| queue.manifest.as_deref()) else { return Ok(None) };
    let workspace_store = open(&app.settings)?.ok_or_else(|| {
        CliError::usage(format!(
            "the workspace of job {id} is in a workspace store: name it with OVERNIGHT_WORKSPACE_STORE or in overnight.yaml"
        ))
    })?;
    workspace_store.check_exists().await?;
    let key = ManifestKey::parse(key)?;
    let manifest = workspace_store.manifest(&key).await?;
    Ok(Some(Uploader::new(workspace_store, app.store.clone(), id, Some((key, manifest)))))
}

/// An amount of data for people, such as `1.5 MiB`.
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

impl From<WorkspaceStoreError> for CliError {
    fn from(error: WorkspaceStoreError) -> Self {
        match error {
            WorkspaceStoreError::Address { .. } | WorkspaceStoreError::Lost { .. } => Self::usage(error.to_string()),
            WorkspaceStoreError::Unreachable { .. }
            | WorkspaceStoreError::Refused { .. }
            | WorkspaceStoreError::Missing { .. }
            | WorkspaceStoreError::Corrupt { .. }
            | WorkspaceStoreError::Changed { .. }
            | WorkspaceStoreError::Workspace(_)
            | WorkspaceStoreError::Lock(_) => Self::failed(error.to_string()),
            WorkspaceStoreError::Database(error) => error.into(),
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
