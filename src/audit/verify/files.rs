//! The files' part of verifying: each file against the hash that the journal, a manifest or `job.yaml` holds of it.

use super::{
    Faults,
    chain::{Archive, Record},
};
use crate::{
    job::digest::sha256,
    workspace::{
        chain::{ARCHIVE, LIVE},
        manifest::MANIFEST,
        rooted::Workspace,
    },
};
use serde::Deserialize;
use std::collections::BTreeMap;

const JOB_FILE: &str = "job.yaml";

/// Of `job.yaml`, only what verifying needs.
#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    documents: Vec<Document>,
    #[serde(default)]
    assets: Vec<Asset>,
}

#[derive(Deserialize)]
struct Document {
    name: String,
    sha256: String,
    /// None where no text could be extracted.
    text_sha256: Option<String>,
}

#[derive(Deserialize)]
struct Asset {
    path: String,
    sha256: String,
}

/// Each archive against its manifest, and the manifest against the journal. Gives the number of files compared.
pub(super) fn check_archives(workspace: &Workspace, archives: &[Archive], record: &Record, faults: &mut Faults) -> u64 {
    let mut count = 0;
    for (number, archive) in archives.iter().enumerate() {
        let path = archive.path(MANIFEST);
        let is_newest = number + 1 == archives.len();
        // The newest may not be in the journal yet: a crash, or a copy, can come in between.
        if !is_newest && !record.stored.iter().any(|stored| stored.folder == archive.folder) {
            faults.add(&format!("{ARCHIVE}/{}", archive.folder), None, "the journal knows no such archive");
        }
        let Some((manifest, hash)) = &archive.manifest else {
            continue;
        };
        count += 1;
        for stored in record.stored.iter().filter(|stored| stored.folder == archive.folder) {
            if stored.manifest != *hash {
                let what =
                    format!("changed: the journal holds another SHA-256 of it ({} line {})", stored.file, stored.line);
                faults.add(&path, None, what);
            }
        }
        if manifest.meta.folder != archive.folder {
            faults.add(&path, None, format!("it is the manifest of archive/{}", manifest.meta.folder));
        }
        if let Some((before, last)) = record.spans.get(number) {
            let span = &manifest.journal;
            let first = before.seq.saturating_add(1);
            if (span.first_seq, span.last_seq, &span.head) != (first, last.seq, &last.head) {
                let what = format!(
                    "its journal is lines {} to {} ending in {}, and the one beside it is lines {} to {} ending in {}",
                    span.first_seq, span.last_seq, span.head, first, last.seq, last.head
                );
                faults.add(&path, None, what);
            }
        }
        let expected = manifest.files.iter().map(|(name, hash)| (archive.path(name), hash.sha256.clone())).collect();
        count += compare(
            workspace,
            &[&format!("{ARCHIVE}/{}", archive.folder)],
            &expected,
            &[&path],
            "its manifest",
            faults,
        );
    }
    for stored in &record.stored {
        if !archives.iter().any(|archive| archive.folder == stored.folder) {
            let what = format!("missing: the journal says that it was stored ({} line {})", stored.file, stored.line);
            faults.add(&format!("{ARCHIVE}/{}", stored.folder), None, what);
        }
    }
    // Files beside the archives' folders.
    let mut strays = Vec::new();
    let walked = workspace.walk(ARCHIVE, &mut |path, _, _| {
        if path.matches('/').count() == 1 {
            strays.push(path);
        }
    });
    if let Err(error) = walked {
        faults.add(ARCHIVE, None, error.to_string());
    }
    strays.sort();
    for stray in strays {
        faults.add(&stray, None, "added: it belongs to no archive");
    }
    count
}

/// `job.yaml` against the journal, documents and assets against `job.yaml`.
pub(super) fn check_inputs(workspace: &Workspace, record: &Record, faults: &mut Faults) -> u64 {
    let text = match workspace.read(JOB_FILE) {
        Ok(text) => text,
        Err(error) => {
            faults.add(JOB_FILE, None, error.to_string());
            return 0;
        }
    };
    match &record.spec {
        Some(hash) if *hash == sha256(&text) => {}
        Some(_) => faults.add(JOB_FILE, None, "changed: the journal's job_created holds another SHA-256 of it"),
        None => faults.add(LIVE, None, "no job_created with the SHA-256 of job.yaml is in the journal"),
    }
    let spec: Spec = match serde_yaml::from_slice(&text) {
        Ok(spec) => spec,
        Err(error) => {
            faults.add(JOB_FILE, None, format!("can't be read: {error}"));
            return 1;
        }
    };
    let mut expected = BTreeMap::new();
    for document in spec.documents {
        if let Some(hash) = document.text_sha256 {
            expected.insert(format!("documents/.text/{}.txt", document.name), hash);
        }
        expected.insert(format!("documents/{}", document.name), document.sha256);
    }
    for asset in spec.assets {
        let path = asset.path.strip_prefix("assets/").unwrap_or(&asset.path);
        expected.insert(format!("assets/{path}"), asset.sha256);
    }
    1 + compare(workspace, &["documents", "assets"], &expected, &[], JOB_FILE, faults)
}

/// What is in `output/` and `tool_results/` now against what was there at the newest archive and was written since.
pub(super) fn check_results(workspace: &Workspace, archives: &[Archive], record: &Record, faults: &mut Faults) -> u64 {
    const FOLDERS: [&str; 2] = ["output", "tool_results"];
    let mut expected = BTreeMap::new();
    if let Some(archive) = archives.last() {
        // Without it nothing can be said; that it can't be read is a fault already.
        let Some((manifest, _)) = &archive.manifest else {
            return 0;
        };
        let known = manifest.outputs.iter().chain(&manifest.tool_results);
        expected.extend(known.map(|(path, hash)| (path.clone(), hash.sha256.clone())));
    }
    let is_result = |path: &str| path.split_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder));
    let since = record.written.iter().filter(|(path, _)| is_result(path));
    expected.extend(since.map(|(path, hash)| (path.clone(), hash.clone())));
    compare(workspace, &FOLDERS, &expected, &[], "the journal", faults)
}

/// Compares all that is in `folders` with what is expected there; `besides` are checked elsewhere. Gives the number of
/// files compared.
fn compare(
    workspace: &Workspace,
    folders: &[&str],
    expected: &BTreeMap<String, String>,
    besides: &[&str],
    whose: &str,
    faults: &mut Faults,
) -> u64 {
    let mut count = 0;
    for (path, hash) in expected {
        match workspace.hash(path) {
            Ok(found) if found.sha256 == *hash => count += 1,
            Ok(_) => faults.add(path, None, format!("changed: {whose} holds another SHA-256 of it")),
            Err(error) if error.is_not_found() => faults.add(path, None, format!("missing: {whose} has it")),
            Err(error) => faults.add(path, None, error.to_string()),
        }
    }
    let mut added = Vec::new();
    for folder in folders {
        let walked = workspace.walk(folder, &mut |path, _, _| {
            if !expected.contains_key(&path) && !besides.contains(&path.as_str()) {
                added.push(path);
            }
        });
        if let Err(error) = walked {
            faults.add(folder, None, error.to_string());
        }
    }
    added.sort();
    for path in added {
        faults.add(&path, None, format!("added: {whose} doesn't know it"));
    }
    count
}
