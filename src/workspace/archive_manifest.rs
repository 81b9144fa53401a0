//! `manifest.json` of an archive: what a phase left, file by file, and where the chain stood. Whoever has the
//! manifest's own hash (the journal has it) can check everything in the archive.

use super::{error::WorkspaceError, files::Workspace, hash::FileHash};
use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The one format there is.
pub const FORMAT: u32 = 1;
/// The manifest's name in its archive.
pub const MANIFEST: &str = "manifest.json";

/// What an archive is of, and why the phase ended.
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
    /// Everything in the archive but the manifest itself.
    pub files: BTreeMap<String, FileHash>,
    /// Everything then in `output/`.
    pub outputs: BTreeMap<String, FileHash>,
    /// Everything then in `tool_results/`.
    pub tool_results: BTreeMap<String, FileHash>,
    pub journal: JournalSpan,
}

#[derive(Deserialize)]
struct FormatVersion {
    format: u32,
}

/// What is wrong with a stored manifest; a fragment.
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

    /// As it is stored: pretty, so that a person can read it and `diff` it.
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
