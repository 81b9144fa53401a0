//! How this program reads documents: by itself, in processes of its own.

use super::CliError;
use crate::{
    config::Settings,
    extraction::{CACHE_FOLDER, Extractor},
};
use std::path::{Path, PathBuf};

/// What stays this program's file, also when another version is put in its place while it runs.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// The reader of documents that the settings ask for.
pub(super) fn extractor(settings: &Settings) -> Result<Extractor, CliError> {
    let program = if Path::new(THIS_PROGRAM).exists() {
        PathBuf::from(THIS_PROGRAM)
    } else {
        std::env::current_exe().map_err(|error| CliError::usage(format!("the program can't find itself ({error})")))?
    };
    let workspaces = super::run::workspaces(settings)?;
    let extractor = Extractor::new(program, workspaces.join(CACHE_FOLDER), settings.ocr.value);
    match extractor.missing() {
        None => Ok(extractor),
        Some(sentence) => Err(CliError::usage(sentence)),
    }
}
