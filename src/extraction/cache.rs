//! Texts kept by their document's content: the same content is read once, however many jobs have it.
//!
//! One file each, in a folder that all jobs of a machine share: one line of JSON (the format, the readers, the text's
//! hash), then the text. A file that doesn't match its hash is ignored. The folder may be deleted at any time. Texts
//! unused for a long time are deleted, and the least recently used ones if all together are too long.

use crate::workspace::private;
use overnight_core::job::digest::sha256;
use overnight_documents::Extracted;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use walkdir::WalkDir;

/// The folder's name, below that of the workspaces.
pub const FOLDER: &str = ".texts";
/// A text that was not used for this long is deleted.
const KEPT: Duration = Duration::from_hours(30 * 24);
/// All texts are counted whenever this fraction of the limit was added.
const COUNTED_EACH: u64 = 16;
/// Bytes of the longest first line.
const MOST_HEAD_BYTES: usize = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    text_sha256: String,
    extracted: Extracted,
}

#[derive(Debug)]
pub(super) struct TextCache {
    folder: PathBuf,
    /// Nothing is stored; existing texts are used.
    is_read_only: bool,
    /// The most bytes of all texts together.
    most_bytes: u64,
    /// Bytes that were kept since all of them were last counted; none: they never were.
    since: Mutex<Option<u64>>,
}

impl TextCache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, is_read_only: false, most_bytes: u64::MAX, since: Mutex::new(None) }
    }

    pub(super) fn with_read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    pub(super) fn with_most_bytes(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(&key[..key.len().min(2)]).join(key)
    }

    /// The text stored under `key`, a hash.
    pub(super) fn get(&self, key: &str) -> Option<Extracted> {
        let path = self.path(key);
        let content = fs::read(&path).ok()?;
        let end = memchr::memchr(b'\n', &content[..content.len().min(MOST_HEAD_BYTES)])?;
        let head: Head = serde_json::from_slice(&content[..end]).ok()?;
        let text = &content[end + 1..];
        if sha256(text) != head.text_sha256 {
            return None;
        }
        if !self.is_read_only {
            touch(&path);
        }
        Some(Extracted { text: String::from_utf8(text.to_vec()).ok()?, ..head.extracted })
    }

    /// Stores it if possible: a caller whose text can't be stored has the text all the same.
    pub(super) fn put(&self, key: &str, extracted: &Extracted) {
        if !self.is_read_only {
            let _ = self.try_put(key, extracted);
        }
    }

    fn try_put(&self, key: &str, extracted: &Extracted) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        private::make_folders(folder)?;
        let head = Head { text_sha256: sha256(extracted.text.as_bytes()), extracted: extracted.clone() };
        let mut content = serde_json::to_vec(&head)?;
        content.push(b'\n');
        content.extend_from_slice(extracted.text.as_bytes());
        if content.len() as u64 > self.most_bytes {
            return Ok(());
        }
        let unfinished = folder.join(format!("{}.{}", uuid::Uuid::now_v7().simple(), UNFINISHED));
        private::make_file(&unfinished)?.write_all(&content)?;
        fs::rename(&unfinished, &path).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })?;
        sweep(folder)?;
        self.bound(content.len() as u64)
    }

    /// Keeps the total length of all texts within the limit, now that one of `added` bytes was stored. They are counted
    /// only now and then, so other processes may exceed it for a while, by a small fraction each.
    fn bound(&self, added: u64) -> io::Result<()> {
        {
            let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
            match since.as_mut() {
                Some(bytes) if *bytes + added <= self.most_bytes / COUNTED_EACH => {
                    *bytes += added;
                    return Ok(());
                }
                Some(_) | None => *since = Some(0),
            }
        }
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for item in WalkDir::new(&self.folder).min_depth(2).max_depth(2) {
            // Another process may just have deleted it.
            let Ok(item) = item else { continue };
            if let Ok(meta) = item.metadata() {
                kept.push((meta.modified()?, meta.len(), item.into_path()));
            }
        }
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= self.most_bytes {
            return Ok(());
        }
        // Leave room for texts stored before the next count.
        let goal = self.most_bytes - self.most_bytes / COUNTED_EACH;
        kept.sort_unstable();
        let last = kept.len().saturating_sub(1);
        for (_, length, path) in kept.into_iter().take(last) {
            if bytes <= goal {
                break;
            }
            if fs::remove_file(path).is_ok() {
                bytes -= length;
            }
        }
        Ok(())
    }
}

/// Marks a text as used. One that can't be marked only has to be read once more some day.
fn touch(path: &Path) {
    let _ = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

const UNFINISHED: &str = "unfinished";

/// Deletes texts unused for a long time, in one part of the folder: that of the text just stored.
fn sweep(part: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    for item in fs::read_dir(part)? {
        let item = item?;
        // Another process may have been quicker.
        let Ok(used) = item.metadata().and_then(|known| known.modified()) else { continue };
        if now.duration_since(used).unwrap_or_default() > KEPT {
            let _ = fs::remove_file(item.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use overnight_documents::extract;

    #[test]
    fn a_text_is_kept_until_it_is_broken_or_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let cache = TextCache::new(folder.path().join("texts"));
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
        // Another text whose key begins alike is stored: the old one is deleted.
        cache.put(&format!("{}ff", &key[..2]), &text);
        assert_eq!(cache.get(&key), None);
    }

    #[test]
    fn the_texts_asked_for_longest_ago_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let text = extract("a.txt", &b"0123456789 ".repeat(100)).unwrap();
        let keys: Vec<String> = (0..20_u32).map(|n| sha256(&n.to_le_bytes())).collect();
        let free = TextCache::new(folder.path().join("texts"));
        free.put(&keys[0], &text);
        let length = fs::metadata(free.path(&keys[0])).unwrap().len();

        let cache = TextCache::new(folder.path().join("texts")).with_most_bytes(length * 5);
        for (age, key) in keys[..5].iter().enumerate() {
            cache.put(key, &text);
            let at = SystemTime::now() - Duration::from_mins(100 - age as u64);
            fs::File::options().append(true).open(cache.path(key)).unwrap().set_modified(at).unwrap();
        }
        // The oldest one has been used again.
        assert_eq!(cache.get(&keys[0]), Some(text.clone()));
        cache.put(&keys[5], &text);
        let is_there: Vec<bool> = keys[..6].iter().map(|key| cache.get(key).is_some()).collect();
        assert_eq!(is_there, [true, false, false, true, true, true]);

        for key in &keys[6..] {
            cache.put(key, &text);
            let kept = keys.iter().filter(|key| cache.path(key).exists()).count();
            assert!((1..=5).contains(&kept), "{kept}");
        }
        // A text longer than the limit isn't stored, and nothing is deleted for it.
        let none = TextCache::new(folder.path().join("texts")).with_most_bytes(length - 1);
        none.put(&sha256(b"more"), &text);
        assert!(!none.path(&sha256(b"more")).exists() && keys.iter().any(|key| none.path(key).exists()));
    }
}
