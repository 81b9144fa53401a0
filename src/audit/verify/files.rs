//! Verifies the files: compares each file with its hash in the journal or in a manifest.

use super::{
    Faults, NO_JOB,
    chain::{ArchiveDir, Chain},
    expected_files::ExpectedHashes,
};
use crate::workspace::{
    archive_manifest::{ArchiveManifest, MANIFEST},
    chain::{ARCHIVE, LIVE},
    files::Workspace,
    known_path::{Folder, JOB_FILE, KnownPath},
};
use overnight_core::job::{
    digest::sha256,
    state::{INSTRUCTIONS_FILE, MEMORY_FILE, PLAN_FILE},
};
use std::collections::{BTreeMap, BTreeSet};

const JOURNAL: &str = "the journal";

/// Each archive against its manifest, and the manifest against the journal. Gives the number of files compared.
pub(super) fn check_archives(
    workspace: &Workspace,
    archives: &[ArchiveDir],
    record: &Chain,
    faults: &mut Faults,
) -> u64 {
    let mut count = 0;
    for (number, archive) in archives.iter().enumerate() {
        let path = archive.path(MANIFEST);
        let is_newest = number + 1 == archives.len();
        // The journal may not have the newest one yet, after a crash or in a copy; and missing lines may have named it.
        if !is_newest && !record.has_gap && !record.stored.iter().any(|stored| stored.folder == archive.folder) {
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
        if let Some(Some((first, last))) = record.spans.get(number) {
            let span = &manifest.journal;
            if (span.first_seq, span.last_seq, &span.head) != (*first, last.seq, &last.head) {
                let what = format!(
                    "its journal is lines {} to {} ending in {}, and the one beside it is lines {} to {} ending in {}",
                    span.first_seq, span.last_seq, span.head, first, last.seq, last.head
                );
                faults.add(&path, None, what);
            }
        }
        check_between(archives, number, record, faults);
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
    let walked = workspace.walk(ARCHIVE, &mut |found| {
        if found.entry.path.matches('/').count() == 1 {
            strays.push(found.entry.path);
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

/// Compares a manifest's entries for `output/` and `tool_results/` with the previous manifest and the writes since:
/// this finds changes by others while the job rested. Missing lines may explain them, so it is skipped then.
fn check_between(archives: &[ArchiveDir], number: usize, record: &Chain, faults: &mut Faults) {
    let before = match number.checked_sub(1).map(|before| &archives[before].manifest) {
        Some(None) => return,
        Some(Some((manifest, _))) => results(manifest),
        None => BTreeMap::new(),
    };
    let (Some((manifest, _)), Some(between), false) =
        (&archives[number].manifest, record.results.get(number), record.has_gap)
    else {
        return;
    };
    let mut expected = before;
    expected.extend(between.written.iter().map(|(path, hash)| (path.as_str(), hash.as_str())));
    let found = results(manifest);
    let paths: BTreeSet<&str> = expected.keys().chain(found.keys()).copied().collect();
    for path in paths {
        let what = match (expected.get(path), found.get(path)) {
            (Some(expected), Some(found)) if expected == found => continue,
            (_, Some(found)) if between.cut_off.contains(*found) => continue,
            (Some(_), Some(_)) => "was changed",
            (Some(_), None) => "was taken away",
            (None, _) => "was added",
        };
        let what = format!("{path} {what} before this, and {JOURNAL} doesn't know by whom");
        faults.add(&archives[number].path(MANIFEST), None, what);
    }
}

/// Path → SHA-256 of the manifest's entries for `output/` and `tool_results/`.
fn results(manifest: &ArchiveManifest) -> BTreeMap<&str, &str> {
    let both = manifest.outputs.iter().chain(&manifest.tool_results);
    both.map(|(path, hash)| (path.as_str(), hash.sha256.as_str())).collect()
}

/// Checks `job.yaml`, documents and assets against the journal's first event, which the chain protects.
pub(super) fn check_inputs(workspace: &Workspace, record: &Chain, faults: &mut Faults) -> u64 {
    let Some((hash, spec)) = &record.files.spec else {
        // This follows from the missing part of the journal, but must be reported all the same.
        faults.add(LIVE, None, NO_JOB);
        return 0;
    };
    let expected = BTreeMap::from([(JOB_FILE.to_owned(), hash.clone())]);
    let count = compare(workspace, &[], &expected, &[], JOURNAL, faults);
    let mut expected = BTreeMap::new();
    // Until an event says that their pages were read, these may have the old or the new text.
    let mut besides = Vec::new();
    for document in &spec.documents {
        expected.insert(format!("documents/{}", document.name), document.sha256.clone());
        if spec.scans.iter().any(|page| page.document == document.name) {
            besides.extend([document.text_path(), document.scan_path()]);
            continue;
        }
        expected.insert(document.text_path(), document.text_sha256.clone());
        expected.extend(document.scan_sha256.clone().map(|sha256| (document.scan_path(), sha256)));
    }
    let besides: Vec<&str> = besides.iter().map(String::as_str).collect();
    for asset in &spec.assets {
        let path = asset.path.strip_prefix("assets/").unwrap_or(&asset.path);
        expected.insert(format!("assets/{path}"), asset.sha256.clone());
    }
    count + compare(workspace, &["documents", "assets"], &expected, &besides, JOURNAL, faults)
}

/// Compares `output/` and `tool_results/` with their state at the newest archive and the writes since.
pub(super) fn check_results(
    workspace: &Workspace,
    archives: &[ArchiveDir],
    record: &Chain,
    faults: &mut Faults,
) -> u64 {
    const FOLDERS: [&str; 2] = ["output", "tool_results"];
    let mut expected = BTreeMap::new();
    if let Some(archive) = archives.last() {
        // Without it nothing can be checked; that it can't be read is already reported as a fault.
        let Some((manifest, _)) = &archive.manifest else {
            return 0;
        };
        let known = manifest.outputs.iter().chain(&manifest.tool_results);
        expected.extend(known.map(|(path, hash)| (path.clone(), hash.sha256.clone())));
    }
    let since = record.files.results.written.iter();
    expected.extend(since.map(|(path, hash)| (path.clone(), hash.clone())));
    settle(workspace, record, &mut expected);
    let whose = if record.has_gap_since { "the newest archive" } else { JOURNAL };
    let count = hashed(workspace, &expected, whose, faults);
    for path in unknown(workspace, &FOLDERS, &expected, &[], faults) {
        let is_cut_off = is_cut_off(workspace, record, &path)
            || path
                .strip_prefix("tool_results/")
                .and_then(|name| name.strip_suffix(".txt"))
                .is_some_and(|call| record.files.open_calls.contains(call))
            || (!record.files.open_calls.is_empty() && is_named_by_hash(workspace, &path));
        // Missing lines may explain the file.
        if !is_cut_off && !record.has_gap_since {
            faults.add(&path, None, format!("added: {JOURNAL} doesn't know it"));
        }
    }
    count
}

/// Whether a file is an image that a call has stored, and that no result names yet.
fn is_named_by_hash(workspace: &Workspace, path: &str) -> bool {
    let name = path.strip_prefix("tool_results/").and_then(|name| name.strip_suffix(".png"));
    name.is_some_and(|name| workspace.read(path).is_ok_and(|bytes| sha256(&bytes) == name))
}

/// Checks the task, the plan, the memory and the model's files against the journal, and finds unknown files; not if lines are missing.
pub(super) fn check_root(workspace: &Workspace, record: &Chain, faults: &mut Faults) -> u64 {
    let files = &record.files;
    if record.has_gap || files.spec.is_none() {
        return 0;
    }
    let mut count = check_copies(workspace, INSTRUCTIONS_FILE, &files.task, "", faults);
    // Before the end, a change may be a person's edit, which takes effect when the file is examined.
    if files.has_ended {
        let when = " since the job last read or wrote it";
        count += check_copies(workspace, PLAN_FILE, &files.plan, when, faults);
        count += check_copies(workspace, MEMORY_FILE, &files.memory, when, faults);
    }
    let mut expected = files.own.clone();
    settle(workspace, record, &mut expected);
    count += hashed(workspace, &expected, JOURNAL, faults);
    let files: Vec<&str> = KnownPath::FILES.into_iter().filter_map(KnownPath::file).collect();
    for path in unknown(workspace, &["."], &expected, &files, faults) {
        let is_elsewhere =
            path.split_once('/').is_some_and(|(first, _)| Folder::ALL.into_iter().any(|folder| folder.name() == first));
        if !is_elsewhere && !is_cut_off(workspace, record, &path) {
            faults.add(&path, None, format!("added: {JOURNAL} doesn't know it"));
        }
    }
    count
}

/// Checks one file that may have several hashes. `when` adds a time to a fault.
fn check_copies(workspace: &Workspace, path: &str, copies: &ExpectedHashes, when: &str, faults: &mut Faults) -> u64 {
    match workspace.read(path) {
        // The journal may have the hash of a lossy conversion of a file that isn't UTF-8.
        Ok(content)
            if copies.has(Some(&sha256(&content)))
                || copies.has(Some(&sha256(String::from_utf8_lossy(&content).as_bytes()))) =>
        {
            return 1;
        }
        Ok(_) if copies.has(None) => faults.add(path, None, format!("added: {JOURNAL} doesn't know it")),
        Ok(_) => faults.add(path, None, format!("changed{when}: {JOURNAL} holds another SHA-256 of it")),
        Err(error) if error.is_not_found() && copies.has(None) => {}
        Err(error) if error.is_not_found() => faults.add(path, None, format!("missing: {JOURNAL} has it")),
        Err(error) => faults.add(path, None, error.to_string()),
    }
    0
}

/// Whether the file is as an interrupted call found or left it.
fn is_cut_off(workspace: &Workspace, record: &Chain, path: &str) -> bool {
    workspace.hash(path).is_ok_and(|found| record.files.is_cut_off(&found.sha256))
}

/// Accepts the results of interrupted calls as expected.
fn settle(workspace: &Workspace, record: &Chain, expected: &mut BTreeMap<String, String>) {
    if !record.files.has_cut_off() {
        return;
    }
    for (path, hash) in expected {
        if let Ok(found) = workspace.hash(path)
            && record.files.is_cut_off(&found.sha256)
        {
            *hash = found.sha256;
        }
    }
}

/// Compares the files in `folders` with those expected; `besides` are checked elsewhere. Gives the number of files compared.
fn compare(
    workspace: &Workspace,
    folders: &[&str],
    expected: &BTreeMap<String, String>,
    besides: &[&str],
    whose: &str,
    faults: &mut Faults,
) -> u64 {
    let count = hashed(workspace, expected, whose, faults);
    for path in unknown(workspace, folders, expected, besides, faults) {
        faults.add(&path, None, format!("added: {whose} doesn't know it"));
    }
    count
}

/// Compares what is expected. Gives the number of files that are as expected.
fn hashed(workspace: &Workspace, expected: &BTreeMap<String, String>, whose: &str, faults: &mut Faults) -> u64 {
    let mut count = 0;
    for (path, hash) in expected {
        match workspace.hash(path) {
            Ok(found) if found.sha256 == *hash => count += 1,
            Ok(_) => faults.add(path, None, format!("changed: {whose} holds another SHA-256 of it")),
            Err(error) if error.is_not_found() => faults.add(path, None, format!("missing: {whose} has it")),
            Err(error) => faults.add(path, None, error.to_string()),
        }
    }
    count
}

/// The files in `folders` that are neither expected nor in `besides`, sorted.
fn unknown(
    workspace: &Workspace,
    folders: &[&str],
    expected: &BTreeMap<String, String>,
    besides: &[&str],
    faults: &mut Faults,
) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders {
        let walked = workspace.walk(folder, &mut |met| {
            let path = met.entry.path;
            if !expected.contains_key(&path) && !besides.contains(&path.as_str()) {
                found.push(path);
            }
        });
        if let Err(error) = walked {
            faults.add(folder, None, error.to_string());
        }
    }
    found.sort();
    found
}
