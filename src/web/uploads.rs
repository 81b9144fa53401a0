//! Documents uploaded to the server: each upload in a folder of its own, whose name becomes the batch's id.

use super::WebError;
use crate::{
    store::{Store, StoreError},
    workspace::private::{make_file, make_folders},
};
use axum::extract::multipart::Field;
use overnight_core::job::digest::sha256;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use uuid::Uuid;

/// Files in one upload.
pub(super) const MOST_FILES: usize = 1_000;
/// The longest name of a file, in bytes.
const MOST_NAME: usize = 200;
/// An upload that was never submitted is removed after this time.
const KEPT: Duration = Duration::from_hours(24);

/// A folder that is filled, and removed unless it is kept.
#[derive(Debug)]
pub(super) struct UploadFolder {
    pub(super) path: PathBuf,
    pub(super) files: usize,
    is_kept: bool,
}

impl Drop for UploadFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // Best effort: remains are swept later.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

impl UploadFolder {
    pub(super) fn new(uploads: &Path, id: Uuid) -> Result<Self, WebError> {
        let failed = |error| WebError::failed(format!("the folder for uploads can't be made ({error})"));
        let path = uploads.join(id.to_string());
        make_folders(&path).map_err(failed)?;
        Ok(Self { path, files: 0, is_kept: false })
    }

    /// Writes a file as it arrives. A field without a file name means that none was chosen.
    pub(super) async fn add(&mut self, mut field: Field<'_>) -> Result<(), WebError> {
        let name = field.file_name().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Ok(());
        }
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(WebError::usage(format!("At most {MOST_FILES} files are taken at once.")));
        }
        let mut file = self.create(&name)?;
        while let Some(chunk) = field.chunk().await? {
            let written = crate::blocking::run_blocking(|| file.write_all(&chunk));
            written.map_err(|error| WebError::failed(format!("a file can't be written ({error})")))?;
        }
        Ok(())
    }

    fn create(&self, name: &str) -> Result<File, WebError> {
        let is_sound = name.len() <= MOST_NAME
            && !name.starts_with('.')
            && !name.contains(['/', '\\'])
            && !name.chars().any(char::is_control);
        if !is_sound {
            return Err(WebError::usage(format!(
                "A file's name has at most {MOST_NAME} bytes, no slashes and no dot at its beginning: rename it."
            )));
        }
        let made = make_file(&self.path.join(name));
        made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => WebError::usage("Two of the files have the same name: rename one."),
            _ => WebError::failed(format!("a file can't be written ({error})")),
        })
    }

    /// The hash of all names and contents.
    pub(super) fn fingerprint(&self) -> Result<String, WebError> {
        let failed = |error: io::Error| WebError::failed(format!("an uploaded file can't be read ({error})"));
        crate::blocking::run_blocking(|| {
            let mut files = BTreeMap::new();
            for entry in fs::read_dir(&self.path)? {
                let entry = entry?;
                files.insert(entry.file_name().to_string_lossy().into_owned(), sha256(&fs::read(entry.path())?));
            }
            Ok(sha256(serde_json::json!(files).to_string().as_bytes()))
        })
        .map_err(failed)
    }

    /// The same folder under the name of another batch, replacing any existing one.
    pub(super) fn rename(mut self, uploads: &Path, id: Uuid) -> Result<Self, WebError> {
        let path = uploads.join(id.to_string());
        if path != self.path {
            let _ = fs::remove_dir_all(&path);
            let failed = |error| WebError::failed(format!("the folder for uploads can't be renamed ({error})"));
            fs::rename(&self.path, &path).map_err(failed)?;
            self.path = path;
        }
        Ok(self)
    }

    /// Leaves the folder where it is.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

/// The folder of the upload `id`, if there is one.
pub(super) fn folder(uploads: &Path, id: Uuid) -> Option<PathBuf> {
    let path = uploads.join(id.to_string());
    path.is_dir().then_some(path)
}

/// Removes uploads that were never submitted.
pub async fn sweep(uploads: &Path, store: &dyn Store) {
    for entry in fs::read_dir(uploads).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = age.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > KEPT));
        if !is_old || Uuid::parse_str(&name).is_err() {
            continue;
        }
        if let Err(StoreError::NoBatch { .. }) = store.batch(&name).await {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
