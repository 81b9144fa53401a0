//! The marker that identifies a store: a small object at its top with a unique id. A folder without it, or with another
//! one, is not the store: the right share is not mounted there.

use super::{
    WorkspaceStore, WorkspaceStoreError,
    manifest::{MANIFESTS, OBJECTS},
};
use crate::store::JobStore;
use object_store::{Error, PutMode, PutOptions};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Its name in the store.
pub(super) const MARKER: &str = "workspace-store.json";
/// The most bytes of a marker that are read.
const MOST_MARKER: u64 = 4096;
/// The only format.
const FORMAT: u32 = 1;

/// The stored shape.
#[derive(Debug, Serialize, Deserialize)]
struct StoreMarker {
    format: u32,
    id: Uuid,
}

impl WorkspaceStore {
    /// For writers: checks that the store exists, and is the same as at the first call. A store that was never used is
    /// initialised. A folder is then created; but not if the database has workspaces in a store, which is then lost.
    pub async fn ready(&self, store: &dyn JobStore) -> Result<(), WorkspaceStoreError> {
        if self.known.get().is_some() {
            // A mount can go at any time, a bucket doesn't.
            return if self.is_folder() { self.check_marker().await } else { Ok(()) };
        }
        match self.marker().await? {
            Some(id) => self.remember(id),
            None => self.begin(store).await,
        }
    }

    /// For readers: checks that a store exists. Creates nothing.
    pub async fn check_exists(&self) -> Result<(), WorkspaceStoreError> {
        if self.marker().await?.is_some() || self.is_used().await? { Ok(()) } else { Err(self.lost()) }
    }

    /// Checks that it is still the same store.
    pub(super) async fn check_marker(&self) -> Result<(), WorkspaceStoreError> {
        match self.marker().await? {
            Some(id) => self.remember(id),
            None => Err(self.lost()),
        }
    }

    async fn begin(&self, store: &dyn JobStore) -> Result<(), WorkspaceStoreError> {
        // An earlier version without markers, or a person who wants a new store, has left a folder.
        if self.is_folder() && !self.is_used().await? && store.manifests().await?.iter().any(|(_, key)| key.is_some()) {
            return Err(self.lost());
        }
        self.make_folder()?;
        let marker = StoreMarker { format: FORMAT, id: Uuid::now_v7() };
        // Numbers and letters only: it can always be written.
        let text = serde_json::to_vec(&marker).unwrap_or_default();
        let objects = self.objects().await?;
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match objects.put_opts(&self.name(MARKER), text.clone().into(), options).await {
            // If another process was first, its marker counts.
            Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => self.put_unchecked(MARKER, text).await?,
            Err(error) => return Err(self.put_failed(MARKER, &error)),
        }
        self.check_marker().await
    }

    /// The id of its marker; none: it has no marker, or there is no folder.
    async fn marker(&self) -> Result<Option<Uuid>, WorkspaceStoreError> {
        let text = match self.get(MARKER, MOST_MARKER).await {
            Ok(text) => text,
            Err(WorkspaceStoreError::Missing { .. } | WorkspaceStoreError::Lost { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let marker: StoreMarker = serde_json::from_slice(&text)
            .map_err(|error| self.corrupt(MARKER, format!("it is no marker ({error})")))?;
        if marker.format != FORMAT {
            let what = format!("its format is {}, and this version reads {FORMAT}", marker.format);
            return Err(self.corrupt(MARKER, what));
        }
        Ok(Some(marker.id))
    }

    fn remember(&self, id: Uuid) -> Result<(), WorkspaceStoreError> {
        if *self.known.get_or_init(|| id) == id {
            return Ok(());
        }
        Err(WorkspaceStoreError::Lost {
            store: self.shown().to_owned(),
            what: "is not the workspace store that it was: is the right one mounted?".to_owned(),
        })
    }

    /// Whether workspaces were put into it, with or without a marker.
    async fn is_used(&self) -> Result<bool, WorkspaceStoreError> {
        match self.list("").await {
            Ok((folders, _)) => Ok(folders.iter().any(|name| [OBJECTS, MANIFESTS].contains(&name.as_str()))),
            Err(WorkspaceStoreError::Missing { .. } | WorkspaceStoreError::Lost { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn lost(&self) -> WorkspaceStoreError {
        WorkspaceStoreError::Lost {
            store: self.shown().to_owned(),
            what: if self.is_folder() {
                format!(
                    "has no marker of a workspace store any more: is it mounted? (a new one is begun by a folder '{OBJECTS}' in it)"
                )
            } else {
                "is none yet: no worker has used it, or its address is another".to_owned()
            },
        }
    }
}
