//! The files of a workspace, block by block, and the end of its journal.

use super::WorkspaceStoreError;
use crate::workspace::{files::TEMPORARY, hash::FileHash};
use overnight_core::job::{digest::sha256, id::JobId};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// The only format.
const FORMAT: u32 = 1;
/// Bytes of a block of the journal, which grows at each turn: only its last block goes up again.
pub(super) const JOURNAL_BLOCK: usize = 256 * 1024;
/// Bytes of a block of any other file.
pub(super) const BLOCK: usize = 1024 * 1024;
/// Bytes of a manifest that is read: some hundred thousand files.
pub(super) const MOST_MANIFEST: u64 = 64 * 1024 * 1024;
/// Bytes of a path.
const MOST_PATH: usize = 4096;
/// A file in a workspace that is not part of it.
pub(super) const LOCK: &str = ".lock";
/// The folders of manifests and of blocks.
pub(super) const MANIFESTS: &str = "manifests";
pub(super) const OBJECTS: &str = "objects";

/// The stored shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceManifest {
    format: u32,
    pub job: JobId,
    /// The lease under which it was written.
    pub lease: u64,
    /// Number and SHA-256 of the journal's last line.
    pub seq: u64,
    pub head: String,
    /// The blocks of each file in their order; an empty file has none.
    pub files: BTreeMap<String, Vec<FileHash>>,
}

impl WorkspaceManifest {
    pub(super) fn new(job: JobId, lease: u64, seq: u64, head: &str) -> Self {
        Self { format: FORMAT, job, lease, seq, head: head.to_owned(), files: BTreeMap::new() }
    }

    /// The stored form, with its name.
    pub(super) fn render(&self) -> (ManifestKey, Vec<u8>) {
        // Strings and numbers only: they can always be written.
        let text = serde_json::to_vec(self).unwrap_or_default();
        let key = format!("{MANIFESTS}/{}/{}-{}-{}.json", self.job, self.lease, self.seq, sha256(&text));
        (ManifestKey { job: self.job, seq: self.seq, key }, text)
    }

    /// Parses the object stored as `key`, or returns its fault.
    pub(super) fn parse(key: &ManifestKey, text: &[u8]) -> Result<Self, String> {
        if sha256(text) != key.sha256() {
            return Err("its hash is not the one in its name".to_owned());
        }
        let manifest: Self = serde_json::from_slice(text).map_err(|error| format!("it is no manifest ({error})"))?;
        if manifest.format != FORMAT {
            return Err(format!("its format is {}, and this version reads {FORMAT}", manifest.format));
        }
        if manifest.job != key.job {
            return Err(format!("it is of job {}", manifest.job));
        }
        for (path, blocks) in &manifest.files {
            if !is_safe(path) {
                return Err(format!("it has the path '{}'", path.escape_debug().take(80).collect::<String>()));
            }
            if blocks.iter().any(|block| !is_hash(&block.sha256) || block.bytes > BLOCK as u64) {
                return Err(format!("a block of '{path}' is none"));
            }
        }
        Ok(manifest)
    }

    /// All blocks of all files.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &FileHash> {
        self.files.values().flatten()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.blocks().map(|block| block.bytes).fold(0, u64::saturating_add)
    }
}

/// A manifest's name in its store, as the database keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestKey {
    pub job: JobId,
    /// Number of the journal's last line in it.
    pub seq: u64,
    key: String,
}

impl ManifestKey {
    /// Reads a name; the error is for a row or an object that this program can't have written.
    pub fn parse(key: &str) -> Result<Self, WorkspaceStoreError> {
        Self::read(key).ok_or_else(|| {
            let shown = key.escape_debug().take(120).collect();
            WorkspaceStoreError::Corrupt {
                store: "that it was in".to_owned(),
                name: shown,
                what: "it is no manifest's name".to_owned(),
            }
        })
    }

    pub(super) fn read(key: &str) -> Option<Self> {
        let mut parts = key.split('/');
        let (MANIFESTS, job, name, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
            return None;
        };
        let mut parts = name.strip_suffix(".json")?.split('-');
        let (_lease, seq, hash, None) =
            (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse().ok()?, parts.next()?, parts.next())
        else {
            return None;
        };
        is_hash(hash).then_some(())?;
        let id: JobId = job.parse().ok()?;
        (id.to_string() == job).then(|| Self { job: id, seq, key: key.to_owned() })
    }

    pub fn as_str(&self) -> &str {
        &self.key
    }

    fn sha256(&self) -> &str {
        let end = self.key.len().saturating_sub(".json".len());
        self.key.get(end.saturating_sub(64)..end).unwrap_or_default()
    }
}

impl fmt::Display for ManifestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)
    }
}

/// The name of a block in the store.
pub(super) fn object(sha256: &str) -> String {
    format!("{OBJECTS}/{}/{sha256}", sha256.get(..2).unwrap_or("xx"))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Whether a file may be created there. The folder itself also refuses paths that lead outside.
fn is_safe(path: &str) -> bool {
    let is_name = |name: &str| {
        !matches!(name, "" | "." | ".." | LOCK)
            && name.len() <= 255
            && !name.starts_with(TEMPORARY)
            && !name.contains('\0')
    };
    path.len() <= MOST_PATH && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobId {
        "00000001-0000-7000-8000-0123456789ab".parse().unwrap()
    }

    #[test]
    fn names_are_read_back_and_foreign_ones_refused() {
        let (key, _) = WorkspaceManifest::new(job(), 3, 70, &sha256(b"line")).render();
        assert_eq!(ManifestKey::read(key.as_str()), Some(key.clone()));
        assert_eq!((key.job, key.seq, key.sha256().len()), (job(), 70, 64));
        let hash = "a".repeat(64);
        for wrong in [
            String::new(),
            format!("manifests/{}/1-2-{}.json", job(), "A".repeat(64)),
            format!("manifests/{}/1-2-{hash}.json/x", job()),
            format!("manifests/{}/1-2-3-{hash}.json", job()),
            format!("manifests/{}/-2-{hash}.json", job()),
            format!("manifests/../1-2-{hash}.json"),
            format!("manifests/{}/1-2-{hash}.json", job().to_string().to_uppercase()),
            format!("objects/{}/1-2-{hash}.json", job()),
        ] {
            assert_eq!(ManifestKey::read(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_manifest_is_foreign_input() {
        let hash = FileHash::of(b"x");
        let read = |manifest: &WorkspaceManifest| {
            let (key, text) = manifest.render();
            WorkspaceManifest::parse(&key, &text)
        };
        let mut good = WorkspaceManifest::new(job(), 3, 70, "head");
        good.files.insert("documents/.text/a b: ä.md.txt".to_owned(), vec![hash.clone()]);
        assert_eq!(read(&good).as_ref(), Ok(&good));
        for path in ["", "/etc/x", "a//b", "../x", "a/../../x", ".lock", "a/.overnight-tmp-1/b", "a\0", "a/"] {
            let mut bad = good.clone();
            bad.files.insert(path.to_owned(), Vec::new());
            assert!(read(&bad).unwrap_err().starts_with("it has the path '"), "{path}");
        }
        for block in
            [FileHash { sha256: "../../x".to_owned(), bytes: 1 }, FileHash { bytes: BLOCK as u64 + 1, ..hash.clone() }]
        {
            let mut bad = good.clone();
            bad.files.insert("a".to_owned(), vec![block]);
            assert_eq!(read(&bad), Err("a block of 'a' is none".to_owned()));
        }
        let (key, mut text) = good.render();
        text[20] ^= 1;
        assert_eq!(WorkspaceManifest::parse(&key, &text), Err("its hash is not the one in its name".to_owned()));
        let (newer, text) = WorkspaceManifest { format: 2, ..good }.render();
        assert_eq!(
            WorkspaceManifest::parse(&newer, &text),
            Err("its format is 2, and this version reads 1".to_owned())
        );
    }
}
