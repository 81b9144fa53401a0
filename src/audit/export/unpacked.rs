//! Checks an unpacked record: each file against the list, and the workspace in it against its own journal.

use super::{
    RecordAnchor,
    anchor::ANCHOR,
    layout::{MANIFEST, SEAL, WORKSPACE},
    record_zip::read_manifest,
};
use crate::{
    audit::verify::{RecordFault, Verified, verify},
    workspace::{Workspace, known_path::JOB_FILE},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The workspace of the record at `path`, if there is one.
pub fn workspace_of(path: &Path) -> Option<PathBuf> {
    let workspace = path.join(WORKSPACE);
    (path.join(MANIFEST).is_file() && workspace.join(JOB_FILE).is_file()).then_some(workspace)
}

/// The checked contents, and the anchor that is part of the record; otherwise all faults.
pub fn verify_unpacked(path: &Path) -> Result<(Verified, RecordAnchor), Vec<RecordFault>> {
    let mut faults = Vec::new();
    let mut add = |file: &str, what: &str| {
        faults.push(RecordFault { file: file.to_owned(), line: None, what: what.to_owned() });
    };
    let mut anchor = RecordAnchor::none();
    match Workspace::open(path) {
        Ok(folder) => {
            let listed = listed(&folder, &mut add);
            match folder.list(".") {
                Ok(entries) => {
                    for name in entries.iter().map(|entry| entry.path.as_str()).filter(|name| *name != SEAL) {
                        if !listed.contains_key(name) {
                            add(name, "added: manifest.sha256 doesn't list it");
                        }
                    }
                }
                Err(error) => add(".", &error.to_string()),
            }
            for (name, hash) in &listed {
                match folder.hash(name) {
                    Ok(found) if found.sha256 == *hash => {}
                    Ok(_) => add(name, "changed: the record lists another SHA-256 of it"),
                    Err(error) if error.is_not_found() => add(name, "missing: the record lists it"),
                    Err(error) => add(name, &error.to_string()),
                }
            }
            let text = folder.read(ANCHOR).unwrap_or_default();
            match serde_json::from_slice(&text) {
                Ok(found) => anchor = found,
                Err(error) => add(ANCHOR, &format!("it can't be read ({error})")),
            }
        }
        Err(error) => add(".", &error.to_string()),
    }
    match verify(&path.join(WORKSPACE), anchor.pair()) {
        Ok(verified) if faults.is_empty() => return Ok((verified, anchor)),
        Ok(_) => {}
        Err(found) => faults.extend(found.into_iter().map(|fault| {
            let file = format!("{WORKSPACE}/{}", fault.file);
            RecordFault { file, ..fault }
        })),
    }
    Err(faults)
}

/// The files that manifest and seal list.
fn listed(folder: &Workspace, add: &mut dyn FnMut(&str, &str)) -> BTreeMap<String, String> {
    let mut listed = BTreeMap::new();
    for list in [MANIFEST, SEAL] {
        match folder.read_text(list) {
            Ok(text) => {
                for line in read_manifest(&text) {
                    match line {
                        Some((name, hash)) => drop(listed.insert(name, hash)),
                        None => add(list, "a line of it can't be read"),
                    }
                }
            }
            Err(error) => add(list, &error.to_string()),
        }
    }
    listed
}
