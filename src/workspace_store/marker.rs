//! The marker by which a store is recognised as the one that it was: a small object at its top with an id that no other store
//! has. A folder that comes without it, or with another's, is not the store: what should be mounted there is not.

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
/// Bytes of one that is read.
const MOST_MARKER: u64 = 4096;
/// The one format there is.
const FORMAT: u32 = 1;

/// The stored shape.
#[derive(Debug, Serialize, Deserialize)]
struct StoreMarker {
    format: u32,
    id: Uuid,
}

impl WorkspaceStore {
    /// For who writes: the store is there, and is the one that it was when this was first called. One that nobody has used
    /// yet is begun. A folder is then made; not so where the database has workspaces in a store, because then it is lost.
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

    /// For who only looks: there is a store. Nothing is made.
    pub async fn check_exists(&self) -> Result<(), WorkspaceStoreError> {
        if self.marker().await?.is_some() || self.is_used().await? { Ok(()) } else { Err(self.lost()) }
    }

    /// It is still the store that it was.
    pub(super) async fn check_marker(&self) -> Result<(), WorkspaceStoreError> {
        match self.marker().await? {
            Some(id) => self.remember(id),
            None => Err(self.lost()),
        }
    }

    async fn begin(&self, store: &dyn JobStore) -> Result<(), WorkspaceStoreError> {
        // Whoever used it before there were markers, or a person who wants a new one, has left a folder.
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
            // Where another was first, it is theirs.
            Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => self.put_unchecked(MARKER, text).await?,
            Err(error) => return Err(self.put_failed(MARKER, &error)),
        }
        self.check_marker().await
    }

    /// What it is known by; none: it has no marker, or there is no folder.
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
