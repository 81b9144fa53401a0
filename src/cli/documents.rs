//! The reading of documents: this program reads them itself, in processes of its own.

use super::{CliError, out};
use crate::{
    config::Settings,
    extraction::{CACHE_FOLDER, Confinement, Extractor, ReaderProgram, SandboxMode},
    store::database_file,
};
use std::{
    path::{Path, PathBuf},
    sync::Once,
};

/// A path that leads to this program's file, even if another version replaces it while it runs.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// This program's own files, which are no documents: workspaces, the database with SQLite's files beside it, a local workspace store.
pub(super) fn own(settings: &Settings) -> Result<Vec<PathBuf>, CliError> {
    let mut own = vec![super::job_request::workspaces(settings)?];
    if let Some(file) = database_file(settings.database_url.value.reveal()) {
        let beside = |end: &str| PathBuf::from(format!("{}{end}", file.display()));
        own.extend(["", "-wal", "-shm", "-journal"].map(beside));
    }
    let store = settings.workspace_store.value.as_deref().and_then(|url| url.strip_prefix("file://"));
    own.extend(store.map(PathBuf::from));
    Ok(own)
}

/// The reader of documents that the settings ask for.
pub(super) fn extractor(settings: &Settings) -> Result<Extractor, CliError> {
    let program = if Path::new(THIS_PROGRAM).exists() {
        PathBuf::from(THIS_PROGRAM)
    } else {
        std::env::current_exe().map_err(|error| CliError::usage(format!("the program can't find itself ({error})")))?
    };
    let workspaces = super::job_request::workspaces(settings)?;
    let most_bytes = settings.cache_mib.value.saturating_mul(1 << 20);
    let program = ReaderProgram { path: program, sandbox: settings.sandbox.value, tell_unconfined };
    let extractor =
        Extractor::new(program, workspaces.join(CACHE_FOLDER), settings.ocr.value).with_cache_bytes(most_bytes);
    let extractor = extractor.with_vision(settings.vision.value);
    match extractor.missing() {
        None => Ok(extractor),
        Some(sentence) => Err(CliError::usage(sentence)),
    }
}

/// The confinement of readers, for a person.
pub(super) fn confinement(settings: &Settings) -> Result<String, String> {
    let confinement = Confinement::in_force();
    match settings.sandbox.value {
        SandboxMode::Off => Ok("readers and OCR programs are not confined (`documents.sandbox` is `off`)".to_owned()),
        SandboxMode::Required if confinement.missing().is_some() => Err(confinement.summary()),
        SandboxMode::Auto | SandboxMode::Required => Ok(confinement.summary()),
    }
}

/// Warns once in a process: a system that can't confine readers is no reason to stop.
fn tell_unconfined(missing: &str) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        out::note(&format!(
            "readers and OCR programs are not fully confined here: {missing}; set `documents.sandbox` to `off` to hear no more of it"
        ));
    });
}
