//! Which documents the paths given by a user mean, and what they will be called under `documents/` in the workspace.
//! Reads no content: what can't be read as text shows when it is extracted.
//!
//! Folders are walked to the end. Hidden files and what an `.overnightignore` (written like a `.gitignore`) names are not
//! documents; a `.gitignore` says nothing about documents, so it doesn't count. Symbolic links inside a folder are not
//! followed, because they may lead anywhere, but listed; one that a user names is meant.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::error::DocumentError;
use super::source;

/// Where a folder says what in it is no document.
const IGNORE_FILE: &str = ".overnightignore";
/// What stands beside the documents in a workspace: their extracted text (SPEC 2).
const TEXT_FOLDER: &str = ".text";
/// The longest part of a name, in bytes: with `.txt`, for its text, it must be a name as well (SPEC 2).
const MAX_NAME_BYTES: usize = 255 - ".txt".len();

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is now.
    pub path: PathBuf,
    /// What it will be called under `documents/`: relative, parts separated by `/`, unique, valid in a workspace.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    pub inside: Vec<String>,
}

/// The documents of a job, by name; and what was passed over without being asked to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Sorted by name.
    pub documents: Vec<Found>,
    /// Path, and why it was left out; sorted.
    pub left_out: Vec<(PathBuf, String)>,
}

/// The documents that `paths` mean. Names are relative to the folder given; where several folders are given, each name
/// begins with its folder's own. The same file named twice is one document. A path may carry a name ([`super::source`]).
pub fn gather(paths: &[PathBuf]) -> Result<Gathered, DocumentError> {
    Search { wanted: &|_| true, is_strict: true, met: 0, by_name: BTreeMap::new(), left_out: Vec::new() }.all(paths)
}

/// As [`gather`], for many jobs at once: only documents whose name is `wanted`, and a file that can be no document is left
/// out, with the reason, instead of being in the way of all others. What was left out may be all that there was.
pub fn survey(paths: &[PathBuf], wanted: &dyn Fn(&str) -> bool) -> Result<Gathered, DocumentError> {
    Search { wanted, is_strict: false, met: 0, by_name: BTreeMap::new(), left_out: Vec::new() }.all(paths)
}

struct Search<'w> {
    wanted: &'w dyn Fn(&str) -> bool,
    /// A file that can be no document is an error.
    is_strict: bool,
    /// Files that were looked at.
    met: usize,
    by_name: BTreeMap<String, Found>,
    left_out: Vec<(PathBuf, String)>,
}

impl Search<'_> {
    fn all(mut self, paths: &[PathBuf]) -> Result<Gathered, DocumentError> {
        let folders = paths.iter().filter(|path| path.is_dir()).count();
        for source in paths {
            let (given, path) = source::parts(source);
            let meta = fs::metadata(path).map_err(|source| match source.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    DocumentError::Missing { path: path.to_owned() }
                }
                _ => unreadable(path, source),
            })?;
            if meta.is_dir() {
                let prefix = match given {
                    Some(given) => Some(given.to_owned()),
                    None if folders > 1 => own_name(path)?,
                    None => None,
                };
                self.walk(path, prefix.as_deref())?;
            } else if meta.is_file() {
                let own = || path.file_name().map_or(path, Path::new);
                let name = given.map_or_else(|| utf_8(own(), path), Ok).map(str::to_owned);
                self.take(path, name, Ok(meta.len()))?;
            } else {
                return Err(DocumentError::Special { path: path.to_owned() });
            }
        }
        let Some(first) = paths.first() else { return Err(DocumentError::Nothing) };
        if self.met == 0 {
            return Err(empty(first, !self.left_out.is_empty()));
        }
        self.finish()
    }

    fn walk(&mut self, folder: &Path, prefix: Option<&str>) -> Result<(), DocumentError> {
        let (left_out_before, met_before) = (self.left_out.len(), self.met);
        let walk = WalkBuilder::new(folder)
            .standard_filters(false)
            .hidden(true)
            .add_custom_ignore_filename(IGNORE_FILE)
            .follow_links(false)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        for entry in walk {
            let entry = match entry.map_err(|error| of_walk(folder, error)) {
                Ok(entry) => entry,
                Err(error) => {
                    self.leave_out(folder, error)?;
                    continue;
                }
            };
            // Such as a line in an ignore file that isn't a pattern: ignoring what a user wrote would be worse.
            if let Some(error) = entry.error() {
                return Err(unreadable(entry.path(), std::io::Error::other(error.to_string())));
            }
            let Some(kind) = entry.file_type().filter(|_| entry.depth() > 0) else {
                continue;
            };
            if kind.is_dir() {
                continue;
            }
            if !kind.is_file() {
                let why = if kind.is_symlink() { "a symbolic link, not followed" } else { "not a regular file" };
                self.left_out.push((entry.path().to_owned(), why.to_owned()));
                continue;
            }
            let bytes = entry.metadata().map(|meta| meta.len()).map_err(|error| of_walk(entry.path(), error));
            let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let name = slashed(relative, entry.path());
            let name = name.map(|name| prefix.map_or_else(|| name.clone(), |prefix| format!("{prefix}/{name}")));
            self.take(entry.path(), name, bytes)?;
        }
        if self.is_strict && self.met == met_before {
            return Err(empty(folder, self.left_out.len() > left_out_before));
        }
        Ok(())
    }

    /// Adds a file, where it is wanted and can be a document.
    fn take(
        &mut self,
        path: &Path,
        name: Result<String, DocumentError>,
        bytes: Result<u64, DocumentError>,
    ) -> Result<(), DocumentError> {
        self.met += 1;
        let sound = name.and_then(|name| {
            if !(self.wanted)(&name) {
                return Ok(None);
            }
            check_name(&name)?;
            // Opened to see that it can be: better now than in the middle of the night.
            File::open(path).map_err(|source| unreadable(path, source))?;
            Ok(Some((name, bytes?)))
        });
        match sound {
            Ok(Some((name, bytes))) => self.add(path, name, bytes),
            Ok(None) => Ok(()),
            Err(error) => self.leave_out(path, error),
        }
    }

    fn leave_out(&mut self, path: &Path, error: DocumentError) -> Result<(), DocumentError> {
        if self.is_strict {
            return Err(error);
        }
        // A walk knows better than its folder what can't be read.
        let path = if let DocumentError::Unreadable { path, .. } = &error { path.as_path() } else { path };
        self.left_out.push((path.to_owned(), error.fragment()));
        Ok(())
    }

    fn add(&mut self, path: &Path, name: String, bytes: u64) -> Result<(), DocumentError> {
        match self.by_name.entry(name) {
            Entry::Vacant(place) => {
                let name = place.key().clone();
                place.insert(Found { path: path.to_owned(), name, bytes, inside: Vec::new() });
                Ok(())
            }
            Entry::Occupied(other) if same_file(&other.get().path, path) => Ok(()),
            Entry::Occupied(other) => Err(same_name(other.get(), other.key(), path)),
        }
    }

    fn finish(mut self) -> Result<Gathered, DocumentError> {
        // A document can't be called like a folder that another one needs.
        for found in self.by_name.values() {
            let mut folders = found.name.match_indices('/').map(|(at, _)| &found.name[..at]);
            if let Some(other) = folders.find_map(|folder| self.by_name.get(folder)) {
                return Err(same_name(other, &other.name, &found.path));
            }
        }
        self.left_out.sort();
        Ok(Gathered { documents: self.by_name.into_values().collect(), left_out: self.left_out })
    }
}

/// The name of the folder itself, also for `.` and `docs/..`; none for the root of the file system.
fn own_name(folder: &Path) -> Result<Option<String>, DocumentError> {
    let whole = fs::canonicalize(folder).map_err(|source| unreadable(folder, source))?;
    // A link's own name is what the user typed.
    let name = folder.file_name().or_else(|| whole.file_name());
    name.map(|name| utf_8(Path::new(name), folder).map(str::to_owned)).transpose()
}

fn slashed(relative: &Path, whole: &Path) -> Result<String, DocumentError> {
    let parts: Result<Vec<&str>, _> = relative.iter().map(|part| utf_8(Path::new(part), whole)).collect();
    Ok(parts?.join("/"))
}

fn utf_8<'a>(name: &'a Path, whole: &Path) -> Result<&'a str, DocumentError> {
    name.to_str().ok_or_else(|| DocumentError::NotUtf8 { path: whole.to_owned() })
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

fn same_name(found: &Found, name: &str, other: &Path) -> DocumentError {
    DocumentError::SameName { name: name.to_owned(), first: found.path.clone(), second: other.to_owned() }
}

fn empty(path: &Path, has_links: bool) -> DocumentError {
    let passed = if has_links { " and symbolic links" } else { "" };
    let why = format!("hidden files{passed} and what {IGNORE_FILE} names don't count; put files in it, or name them");
    DocumentError::Empty { path: path.to_owned(), why }
}

fn unreadable(path: &Path, source: std::io::Error) -> DocumentError {
    DocumentError::Unreadable { path: path.to_owned(), source }
}

/// The walker's error, which wraps the path and the system's error in each other.
fn of_walk(path: &Path, error: ignore::Error) -> DocumentError {
    let mut inner = &error;
    let mut at = path.to_owned();
    loop {
        match inner {
            ignore::Error::WithPath { path, err } => {
                at.clone_from(path);
                inner = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => inner = err,
            _ => break,
        }
    }
    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other("the folder can't be walked"));
    unreadable(&at, source)
}

/// A workspace's rules for names (SPEC 2), so that a job doesn't fail on them after it was queued.
pub fn check_name(name: &str) -> Result<(), DocumentError> {
    let bad = |why: String| Err(DocumentError::BadName { name: name.to_owned(), why });
    for part in name.split('/') {
        if part.is_empty() {
            return bad("a part of it is empty".into());
        }
        if part.chars().any(char::is_control) {
            return bad("it has a control character".into());
        }
        if let Some(sign) = part.chars().find(|c| matches!(c, '\\' | ':')) {
            return bad(format!("it has a {sign}"));
        }
        if part.ends_with('.') {
            return bad(format!("{part:?} ends with a dot"));
        }
        if part.len() > MAX_NAME_BYTES {
            return bad(format!("a part of it has {} bytes, and {MAX_NAME_BYTES} is the most", part.len()));
        }
        if is_reserved(part) {
            return bad(format!("{part:?} is a device on Windows"));
        }
    }
    let first = name.split('/').next().unwrap_or(name);
    if first.eq_ignore_ascii_case(TEXT_FOLDER) {
        return bad(format!("{TEXT_FOLDER} holds the documents' extracted text"));
    }
    Ok(())
}

fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let numbered = |device| {
        let number = stem.strip_prefix(device).unwrap_or_default();
        matches!(number, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests;
