//! The contents of a record: the unchanged workspace, the pages, the anchor and the script; then the list of these
//! files, which may be signed and time-stamped; then a list of that list and its seals.

use super::layout::{MANIFEST, SCRIPT_FILE, SEAL, SIGNATURE, SIGNER, TIME_STAMP, WORKSPACE};
use super::{
    RecordAnchor, RecordError,
    anchor::ANCHOR,
    pages,
    record_zip::{self, RecordZip},
};
use crate::{
    audit::{timeline::timeline, verify},
    workspace::{Workspace, files::FolderEntry},
};
use overnight_core::job::{digest::sha256, id::JobId};
use std::{collections::BTreeMap, path::Path};

const SCRIPT: &str = include_str!("verify.sh");
/// A file that belongs to this machine, and not to the job.
const LOCK: &str = ".lock";

/// A record whose list is complete and that is still to be sealed.
#[derive(Debug)]
pub struct UnsealedRecord {
    zip: RecordZip,
    manifest: String,
    pub job: JobId,
    /// Number of the journal's last line.
    pub seq: u64,
    /// Faults that verifying the workspace found; the record shows them too.
    pub faults: Vec<verify::RecordFault>,
}

/// A record that is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRecord {
    /// Size of the ZIP.
    pub bytes: u64,
    /// In it.
    pub files: u64,
    pub manifest_sha256: String,
}

impl UnsealedRecord {
    /// Writes the record of the job whose workspace is at `path` into the new file `out`. `signer` is the public key of
    /// the person who will sign it.
    pub fn write(path: &Path, anchor: &RecordAnchor, out: &Path, signer: Option<&str>) -> Result<Self, RecordError> {
        let timeline = timeline(path)?;
        let verified = verify::verify(path, anchor.pair());
        let workspace = Workspace::open(path)?;
        let mut zip = RecordZip::new(out)?;
        for FolderEntry { path: name, .. } in workspace.list(".")?.iter().filter(|entry| entry.path != LOCK) {
            let (mut file, bytes) = workspace.stream(name)?;
            zip.add(&format!("{WORKSPACE}/{name}"), &mut file, bytes)?;
        }
        for folder in workspace.empty_folders()? {
            zip.add_folder(&format!("{WORKSPACE}/{folder}"))?;
        }
        pages::write(path, &timeline, anchor, &verified, &mut |name, page| zip.add_text(name, page.as_bytes()))?;
        let mut anchor = serde_json::to_vec_pretty(anchor).unwrap_or_default();
        anchor.push(b'\n');
        zip.add_text(ANCHOR, &anchor)?;
        zip.add_text(SCRIPT_FILE, SCRIPT.as_bytes())?;
        if let Some(signer) = signer {
            zip.add_text(SIGNER, signer.as_bytes())?;
        }
        let manifest = record_zip::manifest(&zip.listed);
        let (job, seq) = (timeline.job.spec.id, timeline.seq);
        Ok(Self { zip, manifest, job, seq, faults: verified.err().unwrap_or_default() })
    }

    /// The text that is to be signed and time-stamped.
    pub fn manifest(&self) -> &str {
        &self.manifest
    }

    /// Adds the list with the signature and time-stamp that were obtained for it, and completes the ZIP.
    pub fn seal(mut self, signature: Option<&[u8]>, time_stamp: Option<&[u8]>) -> Result<SealedRecord, RecordError> {
        let parts = [(MANIFEST, Some(self.manifest.as_bytes())), (SIGNATURE, signature), (TIME_STAMP, time_stamp)];
        let mut sealed = BTreeMap::new();
        for (name, content) in parts.into_iter().filter_map(|(name, content)| Some((name, content?))) {
            self.zip.add_text(name, content)?;
            sealed.insert(name.to_owned(), sha256(content));
        }
        self.zip.add_text(SEAL, record_zip::manifest(&sealed).as_bytes())?;
        let files = self.zip.listed.len() as u64;
        let bytes = self.zip.finish()?;
        Ok(SealedRecord { bytes, files, manifest_sha256: sha256(self.manifest.as_bytes()) })
    }
}
