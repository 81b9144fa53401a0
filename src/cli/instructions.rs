//! Finds instructions by name, first in the instructions folder and then among the shipped ones, or by the path of a file.

use super::CliError;
use crate::{config::text_file, runner::RunError};
use overnight_core::job::{
    instructions::{Instructions, UnreadFile, parse, shipped},
    lessons::{EXPERIENCES_FILE, Experiences},
};
use std::path::{Path, PathBuf};

/// Instructions, and the text of their file.
#[derive(Debug)]
pub(super) struct FoundInstructions {
    pub(super) instructions: Instructions,
    pub(super) text: String,
    /// The file of earlier jobs' lessons, which may not exist.
    pub(super) experiences: PathBuf,
}

/// Finds and reads the instructions called `given`. `folder` is the configured one.
pub(super) fn find(folder: &Path, given: &str) -> Result<FoundInstructions, CliError> {
    let path = Path::new(given);
    if is_markdown(path) || given.contains(std::path::is_separator) {
        return from_file(path);
    }
    let own = folder.join(format!("{given}.md"));
    if own.exists() {
        return from_file(&own);
    }
    if let (Some(text), Some(read)) = (shipped::shipped(given), shipped::parse_shipped(given)) {
        return with_lessons(read.map_err(RunError::from)?, text.to_owned(), folder);
    }
    if path.exists() {
        return from_file(path);
    }
    let names = names(folder);
    let near = names
        .iter()
        .map(|name| (strsim::jaro_winkler(given, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let hint = match near {
        Some((_, name)) => format!("did you mean {name}?"),
        None => format!("known are {}", names.join(", ")),
    };
    Err(CliError::usage(format!(
        "there are no instructions '{given}', neither as {} nor with the program: {hint}",
        own.display()
    )))
}

/// Names that [`find`] knows, without `.md`: the shipped ones, then those of the folder.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = shipped::NAMES.iter().map(|name| (*name).to_owned()).collect();
    let mut own: Vec<String> = files(folder)
        .iter()
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .filter(|name| !names.contains(name))
        .collect();
    own.sort();
    names.append(&mut own);
    names
}

/// The instructions files of the folder, by name. A folder that isn't there has none.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_markdown(path) && path.is_file() && !path.ends_with(EXPERIENCES_FILE))
        .collect();
    paths.sort();
    paths
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Reads an instructions file and what stands beside it.
pub(super) fn from_file(path: &Path) -> Result<FoundInstructions, CliError> {
    let text = text_file(path)
        .map_err(|why| CliError::usage(format!("{} can't be used as instructions: {why}", path.display())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str| text_file(&folder.join(name)).map_err(|error| UnreadFile(error.to_string()));
    let instructions = parse(&path.display().to_string(), &text, &beside).map_err(RunError::from)?;
    with_lessons(instructions, text, folder)
}

/// Adds the lessons of earlier jobs, which are in `folder`.
fn with_lessons(mut instructions: Instructions, text: String, folder: &Path) -> Result<FoundInstructions, CliError> {
    let experiences = folder.join(EXPERIENCES_FILE);
    instructions.lessons = read_experiences(&experiences)?.shown(&instructions.name);
    Ok(FoundInstructions { instructions, text, experiences })
}

/// Reads the file of experiences; an empty one if it doesn't exist.
pub(super) fn read_experiences(path: &Path) -> Result<Experiences, CliError> {
    if !path.exists() {
        return Ok(Experiences::parse(""));
    }
    let text = text_file(path)
        .map_err(|why| CliError::usage(format!("{} can't be read: {why}; mend it or move it away", path.display())))?;
    Ok(Experiences::parse(&text))
}
