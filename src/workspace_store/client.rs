//! The client of a store: opens it by its address, and makes the few requests that there are.

use super::{
    WorkspaceStoreError,
    error::message,
    manifest::{MOST_MANIFEST, ManifestKey, WorkspaceManifest},
    marker::MARKER,
};
use object_store::{ObjectStore, ObjectStoreExt, local::LocalFileSystem, path::Path as Name};
use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};
use uuid::Uuid;

/// A workspace store.
#[derive(Clone)]
pub struct WorkspaceStore {
    backend: Backend,
    /// The prefix of every name; empty, or ends with a slash.
    prefix: String,
    shown: String,
    /// The id of its marker when it was first used.
    pub(super) known: Arc<OnceLock<Uuid>>,
}

/// Where the objects are stored.
#[derive(Clone)]
enum Backend {
    Bucket(Arc<dyn ObjectStore>),
    /// It can appear and disappear at any time: a mounted share.
    Folder(PathBuf),
}

impl fmt::Debug for WorkspaceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkspaceStore").field("store", &self.shown).finish_non_exhaustive()
    }
}

/// Something in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredObject {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) modified: chrono::DateTime<chrono::Utc>,
}

impl WorkspaceStore {
    /// Opens the store at `address`; `variables` are the environment variables that its provider recognises. The first
    /// request shows whether the store exists.
    pub fn open(address: &str, variables: &[(String, String)]) -> Result<Self, WorkspaceStoreError> {
        let shown = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_owned();
        let wrong = |detail: String| WorkspaceStoreError::Address { store: shown.clone(), detail };
        let (scheme, rest) = shown.split_once("://").unwrap_or_default();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() && scheme != "file" {
            return Err(wrong(format!("name the bucket, such as {scheme}://bucket/folder")));
        }
        let bucket: Arc<dyn ObjectStore> = match scheme {
            "file" => return Self::folder(&shown, rest),
            #[cfg(not(feature = "network"))]
            "s3" | "gs" | "az" => return Err(wrong(crate::built_without::NO_NETWORK.to_owned())),
            #[cfg(feature = "network")]
            "s3" | "gs" | "az" => super::buckets::open(scheme, bucket, variables).map_err(wrong)?,
            _ => return Err(wrong("it must begin with s3://, gs://, az:// or file://".to_owned())),
        };
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Ok(Self { backend: Backend::Bucket(bucket), prefix, shown, known: Arc::default() })
    }

    /// A folder: one that all machines see, or for one machine.
    fn folder(shown: &str, path: &str) -> Result<Self, WorkspaceStoreError> {
        let wrong = |detail: String| WorkspaceStoreError::Address { store: shown.to_owned(), detail };
        if !path.starts_with('/') {
            return Err(wrong("a folder is named with its whole path, such as file:///mnt/overnight".to_owned()));
        }
        let backend = Backend::Folder(PathBuf::from(path));
        Ok(Self { backend, prefix: String::new(), shown: shown.to_owned(), known: Arc::default() })
    }

    pub fn is_folder(&self) -> bool {
        matches!(self.backend, Backend::Folder(_))
    }

    /// Makes the folder of a store that is used for the first time.
    pub(super) fn make_folder(&self) -> Result<(), WorkspaceStoreError> {
        let Backend::Folder(path) = &self.backend else { return Ok(()) };
        std::fs::create_dir_all(path)
            .map_err(|error| WorkspaceStoreError::Address { store: self.shown.clone(), detail: error.to_string() })
    }

    /// The store for requests. A folder must exist, and is not made here.
    pub(super) async fn objects(&self) -> Result<Arc<dyn ObjectStore>, WorkspaceStoreError> {
        let path = match &self.backend {
            Backend::Bucket(objects) => return Ok(objects.clone()),
            Backend::Folder(path) => path.clone(),
        };
        // A share that hangs must not hold up others.
        let opened = tokio::task::spawn_blocking(move || {
            if !std::fs::metadata(&path)?.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            LocalFileSystem::new_with_prefix(path).map_err(|error| io::Error::other(message(&error)))
        });
        let store = self.shown.clone();
        let opened = opened.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        match opened {
            Ok(folder) => Ok(Arc::new(folder.with_fsync(true))),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::NotFound => self.lost(),
                io::ErrorKind::NotADirectory => WorkspaceStoreError::Address { store, detail: error.to_string() },
                io::ErrorKind::PermissionDenied => WorkspaceStoreError::Refused { store, detail: error.to_string() },
                _ => WorkspaceStoreError::Unreachable { store, detail: error.to_string() },
            }),
        }
    }

    /// The address, as it may be shown.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn name(&self, name: &str) -> Name {
        Name::from(format!("{}{name}", self.prefix))
    }

    pub(super) fn corrupt(&self, name: &str, what: impl Into<String>) -> WorkspaceStoreError {
        WorkspaceStoreError::Corrupt { store: self.shown.clone(), name: name.to_owned(), what: what.into() }
    }

    fn failed(&self, name: &str, error: &object_store::Error) -> WorkspaceStoreError {
        use object_store::Error;
        let (store, detail) = (self.shown.clone(), message(error));
        match error {
            Error::NotFound { .. } => WorkspaceStoreError::Missing { store, name: name.to_owned() },
            Error::Generic { .. } | Error::JoinError { .. } => WorkspaceStoreError::Unreachable { store, detail },
            // Other errors: permissions, preconditions, unsupported requests.
            _ => WorkspaceStoreError::Refused { store, detail },
        }
    }

    pub(super) async fn put(&self, name: &str, content: Vec<u8>) -> Result<(), WorkspaceStoreError> {
        let Backend::Folder(path) = &self.backend else { return self.put_unchecked(name, content).await };
        self.check_marker().await?;
        let put = self.put_unchecked(name, content).await;
        // It may have disappeared meanwhile: then this write made everything in its place, including folders.
        if let Err(lost) = self.check_marker().await {
            undo_put(path, name);
            return Err(lost);
        }
        put
    }

    /// [`Self::put`], even if the store has no marker.
    pub(super) async fn put_unchecked(&self, name: &str, content: Vec<u8>) -> Result<(), WorkspaceStoreError> {
        let put = self.objects().await?.put(&self.name(name), content.into()).await;
        put.map(drop).map_err(|error| self.put_failed(name, &error))
    }

    pub(super) fn put_failed(&self, name: &str, error: &object_store::Error) -> WorkspaceStoreError {
        match error {
            // A missing bucket is not the same as a missing object in it.
            object_store::Error::NotFound { .. } => {
                WorkspaceStoreError::Refused { store: self.shown.clone(), detail: message(error) }
            }
            error => self.failed(name, error),
        }
    }

    /// The complete content of an object of at most `most` bytes.
    pub(super) async fn get(&self, name: &str, most: u64) -> Result<Vec<u8>, WorkspaceStoreError> {
        let found = match self.objects().await?.get(&self.name(name)).await {
            Ok(found) => found,
            Err(error) => {
                let is_missing = matches!(error, object_store::Error::NotFound { .. });
                if is_missing && self.is_folder() && self.known.get().is_some() && name != MARKER {
                    // If the whole store is missing, this object is not. (The marker itself is not read here.)
                    Box::pin(self.check_marker()).await?;
                }
                return Err(self.failed(name, &error));
            }
        };
        if found.meta.size > most {
            return Err(self.corrupt(name, format!("it has {} bytes, and should have {most} at most", found.meta.size)));
        }
        let bytes = found.bytes().await.map_err(|error| self.failed(name, &error))?;
        Ok(bytes.to_vec())
    }

    /// The names of the folders directly in `folder`, and the objects directly in it.
    pub(super) async fn list(&self, folder: &str) -> Result<(Vec<String>, Vec<StoredObject>), WorkspaceStoreError> {
        let found = self.objects().await?.list_with_delimiter(Some(&self.name(folder))).await;
        let found = found.map_err(|error| self.failed(folder, &error))?;
        let own = |name: &Name| name.as_ref().strip_prefix(&self.prefix).map(str::to_owned);
        let folders = found.common_prefixes.iter().filter_map(own).collect();
        let stored = found.objects.into_iter().filter_map(|meta| {
            Some(StoredObject { name: own(&meta.location)?, bytes: meta.size, modified: meta.last_modified })
        });
        Ok((folders, stored.collect()))
    }

    pub(super) async fn delete(&self, name: &str) -> Result<(), WorkspaceStoreError> {
        match self.objects().await?.delete(&self.name(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(name, &error)),
        }
    }

    /// The manifest with this name, checked.
    pub async fn manifest(&self, key: &ManifestKey) -> Result<WorkspaceManifest, WorkspaceStoreError> {
        let text = self.get(key.as_str(), MOST_MANIFEST).await?;
        WorkspaceManifest::parse(key, &text).map_err(|what| self.corrupt(key.as_str(), what))
    }
}

/// Removes the file `name` below `root`, and the folders on the way to it that are empty then. Best effort.
fn undo_put(root: &Path, name: &str) {
    let file = root.join(name);
    let _ = std::fs::remove_file(&file);
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_when_they_are_opened() {
        let error = |address: &str| WorkspaceStore::open(address, &[]).unwrap_err().to_string();
        assert_eq!(
            error("file://mnt/x"),
            "can't open the workspace store file://mnt/x: a folder is named with its whole path, such as file:///mnt/overnight"
        );
        assert_eq!(
            error("s3:///x"),
            "can't open the workspace store s3:///x: name the bucket, such as s3://bucket/folder"
        );
        assert_eq!(
            error("ftp://a/b?key=SECRET"),
            "can't open the workspace store ftp://a/b: it must begin with s3://, gs://, az:// or file://"
        );
        let keys = [
            ("AWS_ACCESS_KEY_ID".to_owned(), "id".to_owned()),
            ("AWS_SECRET_ACCESS_KEY".to_owned(), "SECRET".to_owned()),
        ];
        let remote = WorkspaceStore::open("s3://bucket/a/b/", &keys).unwrap();
        assert_eq!((remote.shown(), remote.prefix.as_str()), ("s3://bucket/a/b", "a/b/"));
        assert_eq!(format!("{remote:?}"), "WorkspaceStore { store: \"s3://bucket/a/b\", .. }");
    }
}
