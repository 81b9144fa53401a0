//! `manifest.json` of an archive: the files of a phase with their hashes, and the place in the chain. With the
//! manifest's own hash, which the journal has, everything in the archive can be checked.

use super::{error::WorkspaceError, files::Workspace, hash::FileHash};
use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The only format.
pub const FORMAT: u32 = 1;
/// The manifest's name in its archive.
pub const MANIFEST: &str = "manifest.json";

/// The subject of an archive, and the reason why the phase ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveMeta {
    /// Name in `archive/`, such as `phase-02-extraction.rewound-1`.
    pub folder: String,
    pub phase: u32,
    /// `bootstrap`, `planned` or `review`; `result` of a result that a person sent back.
    pub kind: String,
    pub title: String,
    /// From 1.
    pub attempt: u32,
    /// `done`, `rewound`, `stuck`, `limit`, `reset` …
    pub outcome: String,
    /// Why it ended early.
    pub issue: Option<String>,
    pub ended: Timestamp,
}

/// The archived part of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalSpan {
    pub first_seq: u64,
    pub last_seq: u64,
    /// SHA-256 of the last line.
    pub head: String,
}

/// The stored shape. Paths of `files` are relative to the archive, all others to the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveManifest {
    pub format: u32,
    pub meta: ArchiveMeta,
    /// All files of the archive except the manifest itself.
    pub files: BTreeMap<String, FileHash>,
    /// All files then in `output/`.
    pub outputs: BTreeMap<String, FileHash>,
    /// All files then in `tool_results/`.
    pub tool_results: BTreeMap<String, FileHash>,
    pub journal: JournalSpan,
}

#[derive(Deserialize)]
struct FormatVersion {
    format: u32,
}

/// The fault of a stored manifest; a fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidManifest(String);

impl ArchiveManifest {
    /// Reads a stored manifest.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidManifest> {
        let no_manifest = |error| InvalidManifest(format!("not a manifest: {error}"));
        let version: FormatVersion = serde_json::from_slice(text).map_err(no_manifest)?;
        if version.format != FORMAT {
            return Err(InvalidManifest(format!(
                "format {} is unknown to this version of the program, which reads {FORMAT}",
                version.format
            )));
        }
        serde_json::from_slice(text).map_err(no_manifest)
    }

    /// The stored form: formatted, so that a person can read it and `diff` it.
    pub fn render(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The hashes of all files in `folder` and below.
pub fn hash_folder(workspace: &Workspace, folder: &str) -> Result<BTreeMap<String, FileHash>, WorkspaceError> {
    workspace
        .list(folder)?
        .into_iter()
        .map(|entry| workspace.hash(&entry.path).map(|hash| (entry.path, hash)))
        .collect()
}
