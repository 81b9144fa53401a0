//! Texts kept by their document's content: the same content is read once, however many jobs have it.
//!
//! A file each, in a folder that all jobs of a machine share: one line of JSON (what it was, who read it, the text's hash),
//! then the text. What isn't whole, by its hash, isn't there. The folder may be deleted at any time.

use crate::{documents::Extracted, job::digest::sha256};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The folder's name, below that of the workspaces.
pub const FOLDER: &str = ".texts";
/// A text that nobody asked for in so long is deleted.
const KEPT: Duration = Duration::from_hours(30 * 24);
/// Bytes of the longest first line.
const MOST_HEAD_BYTES: usize = 4 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    text_sha256: String,
    extracted: Extracted,
}

#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Nothing is kept, what is there is used.
    is_only_read: bool,
}

impl Cache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, is_only_read: false }
    }

    pub(super) fn only_read(self) -> Self {
        Self { is_only_read: true, ..self }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(&key[..key.len().min(2)]).join(key)
    }

    /// What is kept under `key`, a hash.
    pub(super) fn get(&self, key: &str) -> Option<Extracted> {
        let path = self.path(key);
        let content = fs::read(&path).ok()?;
        let end = memchr::memchr(b'\n', &content[..content.len().min(MOST_HEAD_BYTES)])?;
        let head: Head = serde_json::from_slice(&content[..end]).ok()?;
        let text = &content[end + 1..];
        if sha256(text) != head.text_sha256 {
            return None;
        }
        if !self.is_only_read {
            touch(&path);
        }
        Some(Extracted { text: String::from_utf8(text.to_vec()).ok()?, ..head.extracted })
    }

    /// Keeps it, if it can: who can't keep a text has it all the same.
    pub(super) fn put(&self, key: &str, extracted: &Extracted) {
        if !self.is_only_read {
            let _ = self.try_put(key, extracted);
        }
    }

    fn try_put(&self, key: &str, extracted: &Extracted) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let head = Head { text_sha256: sha256(extracted.text.as_bytes()), extracted: extracted.clone() };
        let mut content = serde_json::to_vec(&head)?;
        content.push(b'\n');
        content.extend_from_slice(extracted.text.as_bytes());
        let unfinished = folder.join(format!("{}.{}", uuid::Uuid::now_v7().simple(), UNFINISHED));
        fs::write(&unfinished, &content)?;
        fs::rename(&unfinished, &path).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })?;
        sweep(folder)
    }
}

/// So that a text is known to be in use. What can't be marked is only read once more, some day.
fn touch(path: &Path) {
    let _ = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

const UNFINISHED: &str = "unfinished";

/// Deletes what nobody asked for in a long time, in one of the folder's parts: that in which something was just kept.
fn sweep(part: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    for item in fs::read_dir(part)? {
        let item = item?;
        let age = now.duration_since(item.metadata()?.modified()?).unwrap_or_default();
        if age > KEPT {
            fs::remove_file(item.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::extract;

    #[test]
    fn a_text_is_kept_until_it_is_broken_or_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("texts"));
        let key = sha256(b"one");
        let text = extract("a.txt", "one\u{c}two äöü\n".as_bytes()).unwrap();
        assert_eq!(cache.get(&key), None);
        cache.put(&key, &text);
        assert_eq!(cache.get(&key), Some(text.clone()));

        let path = cache.path(&key);
        let whole = fs::read(&path).unwrap();
        for cut in [0, 5, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(cache.get(&key), None, "cut at {cut}");
        }

        fs::write(&path, &whole).unwrap();
        let old = SystemTime::now() - KEPT - Duration::from_mins(1);
        fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
        // Another one whose key begins alike is kept: the old one goes.
        cache.put(&format!("{}ff", &key[..2]), &text);
        assert_eq!(cache.get(&key), None);
    }
}
