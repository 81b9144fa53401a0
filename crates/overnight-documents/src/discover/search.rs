//! Goes through the given paths and finds documents with their names.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, Utc};

use super::super::container;
use super::super::content::{self, ContainerOpener};
use super::super::document_name::check_name;
use super::super::error::DocumentError;
use super::super::member_names::with_number;
use super::super::source_path::SourceParts;
use super::found::{FoundDocument, FoundDocuments, OwnPaths};
use super::given_path::{GivenPath, unreadable};
use super::names::{own_name, slashed};
use super::nested_names::{self, holders};
use super::pattern::GlobPattern;
use super::walk::IGNORE_FILE;

/// How many first bytes of a file are read to see whether it may hold documents.
const HEAD_BYTES: usize = 4 * 1024;

pub(super) struct Search<'w> {
    wanted: &'w dyn Fn(&str) -> bool,
    /// Absolute, with all links resolved.
    pub(super) own: Vec<PathBuf>,
    opener: &'w dyn ContainerOpener,
    /// A named path that can't be a document is an error.
    is_strict: bool,
    /// The number of files that were looked at and are meant.
    met: usize,
    by_name: BTreeMap<String, FoundDocument>,
    pub(super) left_out: Vec<(PathBuf, String)>,
    unfit: Vec<(PathBuf, String)>,
}

/// Which part of a folder is meant, and how its documents are named.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FolderSelection<'a> {
    /// The prefix of each name.
    pub(super) prefix: Option<&'a str>,
    /// The pattern that names must match, without the prefix.
    pub(super) pattern: Option<&'a GlobPattern>,
    /// The selection is no folder but one file that the user named.
    pub(super) is_file: bool,
}

impl FolderSelection<'_> {
    /// The whole name of a file from its name in the folder.
    pub(super) fn name(&self, relative: &str) -> String {
        self.prefix.map_or_else(|| relative.to_owned(), |prefix| format!("{prefix}/{relative}"))
    }

    fn fits(&self, name: &str) -> bool {
        let relative = || match self.prefix {
            Some(prefix) => name.strip_prefix(prefix).and_then(|name| name.strip_prefix('/')).unwrap_or(name),
            None => name,
        };
        self.pattern.is_none_or(|pattern| pattern.fits(relative()))
    }

    /// Whether a file or folder at this path is meant, whatever bytes its name has.
    fn fits_path(&self, relative: &Path) -> bool {
        self.pattern.is_none_or(|pattern| pattern.fits(relative))
    }
}

/// The day in UTC, so that it is the same on every machine.
fn day_of(time: SystemTime) -> NaiveDate {
    DateTime::<Utc>::from(time).date_naive()
}

impl<'w> Search<'w> {
    pub(super) fn new(
        wanted: &'w dyn Fn(&str) -> bool,
        own: OwnPaths<'_>,
        opener: &'w dyn ContainerOpener,
        is_strict: bool,
    ) -> Self {
        // A path that doesn't exist can't be found.
        let own = own.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        let by_name = BTreeMap::new();
        Self { wanted, own, opener, is_strict, met: 0, by_name, left_out: Vec::new(), unfit: Vec::new() }
    }

    pub(super) fn all(mut self, paths: &[PathBuf]) -> Result<FoundDocuments, DocumentError> {
        let mut sources = Vec::with_capacity(paths.len());
        for path in paths {
            match GivenPath::of(path) {
                Ok(source) => sources.push(source),
                Err(error @ (DocumentError::Special { .. } | DocumentError::Unreadable { .. })) if !self.is_strict => {
                    self.unfit.push((path.clone(), error.fragment()));
                }
                Err(error) => return Err(error),
            }
        }
        let whole = |folder: &Path| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let folders: BTreeSet<PathBuf> = sources.iter().filter_map(|(_, given)| given.folder().map(whole)).collect();
        for (source, given) in &sources {
            self.one(source, given, folders.len() > 1)?;
        }
        let Some(first) = paths.first() else { return Err(DocumentError::Nothing) };
        if self.met == 0 && self.unfit.is_empty() {
            return Err(empty(first, &self.left_out));
        }
        let named = (0..).zip(&sources).filter_map(|(place, (source, _))| Some((source.name?, place)));
        self.finish(&named.collect())
    }

    fn one(&mut self, source: &SourceParts<'_>, given: &GivenPath, are_several: bool) -> Result<(), DocumentError> {
        let prefix = |folder: &Path| match source.name {
            Some(name) => Ok(Some(name.to_owned())),
            None if are_several => own_name(folder),
            None => Ok(None),
        };
        match given {
            GivenPath::Folder(path) => {
                if self.is_own(path) {
                    let why = "this program's own folder: name what is meant in it".to_owned();
                    self.left_out.push((path.clone(), why));
                    return Ok(());
                }
                let prefix = prefix(path)?;
                let (left_out, unfit, met) = (self.left_out.len(), self.unfit.len(), self.met);
                self.walk(path, FolderSelection { prefix: prefix.as_deref(), ..FolderSelection::default() })?;
                if self.is_strict && self.met == met && self.unfit.len() == unfit {
                    return Err(empty(path, &self.left_out[left_out..]));
                }
                Ok(())
            }
            GivenPath::Pattern(pattern) => {
                let prefix = prefix(&pattern.folder)?;
                let met = self.met;
                let part =
                    FolderSelection { prefix: prefix.as_deref(), pattern: Some(pattern), ..FolderSelection::default() };
                self.walk(&pattern.folder, part)?;
                if self.met == met {
                    let why = format!(
                        "`*` stops at folders, which `**` goes through, and hidden files, symbolic links and what {IGNORE_FILE} names don't count"
                    );
                    return Err(DocumentError::NoMatch { pattern: source.path.to_owned(), why });
                }
                Ok(())
            }
            GivenPath::File { path, bytes } => {
                if let Some(name) = source.name {
                    return self.exactly(path, name, source, *bytes);
                }
                let own = source.path.file_name().map_or(source.path, Path::new);
                self.take(path, own, FolderSelection { is_file: true, ..FolderSelection::default() })
            }
        }
    }

    /// Adds the one document that a text made by [`source`](crate::source) names.
    fn exactly(&mut self, path: &Path, name: &str, source: &SourceParts<'_>, bytes: u64) -> Result<(), DocumentError> {
        self.met += 1;
        let inside: Vec<String> = source.inside.iter().map(|part| (*part).to_owned()).collect();
        let part = FolderSelection { is_file: true, ..FolderSelection::default() };
        if let Err(error) = check_name(name) {
            return self.unfit(path, error, part);
        }
        let bytes = if inside.is_empty() { bytes } else { 0 };
        let (whole, name, dated) = (path.to_owned(), name.to_owned(), source.dated);
        let found = FoundDocument { path: whole, inside, name, bytes, is_named: true, dated, fault: None };
        match content::open(path) {
            Ok(_) => self.add(found),
            Err(source) => self.add_faulty(found, unreadable(path, source)),
        }
    }

    /// Adds a file, if it is wanted and can be a document, and the documents in it.
    pub(super) fn take(
        &mut self,
        path: &Path,
        relative: &Path,
        part: FolderSelection<'_>,
    ) -> Result<(), DocumentError> {
        let name = match slashed(relative, path) {
            Ok(name) => part.name(&name),
            Err(_) if !self.tells_of(relative, part) => return Ok(()),
            Err(error) => {
                self.met += 1;
                return self.unfit(path, error, part);
            }
        };
        let fits = part.fits(&name);
        self.met += usize::from(fits);
        let is_wanted = fits && (self.wanted)(&name);
        if let Err(error) = check_name(&name) {
            return if is_wanted { self.unfit(path, error, part) } else { Ok(()) };
        }
        // An error shows better now than in the middle of the night. An unwanted file may hold wanted documents.
        let opened = content::open(path)
            .and_then(|(mut file, meta)| Ok((content::head(&mut file, HEAD_BYTES)?, meta)))
            .map_err(|source| unreadable(path, source));
        let (path, is_named) = (path.to_owned(), part.is_file);
        let found =
            |name, bytes, dated| FoundDocument { path, inside: Vec::new(), name, bytes, is_named, dated, fault: None };
        // A caller that creates a job at once doesn't ask for days.
        let day = |meta: &fs::Metadata| meta.modified().ok().filter(|_| !self.is_strict).map(day_of);
        match opened {
            Ok((head, meta)) if container::may_hold(&name, &head) => {
                let found = found(name, meta.len(), day(&meta));
                self.open(found, is_wanted, part)
            }
            Ok((_, meta)) if is_wanted => {
                let found = found(name, meta.len(), day(&meta));
                self.add(found)
            }
            Err(error) if is_wanted => self.add_faulty(found(name, 0, None), error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Adds the wanted documents of a file that may hold some: the file itself, if it is a document, and those inside.
    fn open(&mut self, outer: FoundDocument, is_wanted: bool, part: FolderSelection<'_>) -> Result<(), DocumentError> {
        let (name, path) = (outer.name.clone(), outer.path.clone());
        let held = match self.opener.members(&name, &path, outer.bytes) {
            Ok(held) => held,
            Err(refusal) => {
                let error = DocumentError::Refused { name, refusal };
                if is_wanted {
                    return self.add_faulty(outer, error);
                }
                self.left_out.push((path, error.fragment()));
                return Ok(());
            }
        };
        // An office file looks like an archive but holds no documents.
        let holds_nothing = held.members.is_empty() && held.left_out.is_empty();
        if (held.is_document || holds_nothing) && is_wanted {
            self.add(outer)?;
        }
        let is_whole = is_wanted && !held.is_document;
        // Attachments come with their mail.
        let fits = |name: &str| part.fits(name) || holders(name).any(|mail| part.fits(mail));
        let is_meant = |name: &str| is_whole || (fits(name) && (self.wanted)(name));
        let names = nested_names::names(&name, &held);
        let meant: Vec<bool> = names.iter().map(|name| is_meant(name)).collect();
        let members = held.members.iter().map(|member| member.path.as_slice());
        let members = names.iter().map(String::as_str).zip(members).zip(meant.iter().copied());
        let itself = held.is_document.then_some(((name.as_str(), [].as_slice()), is_wanted));
        let rest = rest_of_mails(&path, itself.into_iter().chain(members));
        for (within, why) in held.left_out {
            let within = path.join(within);
            if is_wanted || within.to_str().is_some_and(is_meant) {
                self.left_out.push((within, why));
            }
        }
        for ((member, name), is_meant) in held.members.into_iter().zip(names).zip(meant) {
            self.met += usize::from(fits(&name));
            if !is_meant {
                continue;
            }
            match check_name(&name) {
                Ok(()) => {
                    let dated = member.dated.filter(|_| !self.is_strict);
                    let (path, inside, bytes, fault) = (path.clone(), member.path, member.bytes, member.fault);
                    self.add(FoundDocument { path, inside, name, bytes, is_named: false, dated, fault })?;
                }
                Err(error) => self.unfit.push((within(&path, &member.path), error.fragment())),
            }
        }
        self.left_out.extend(rest);
        Ok(())
    }

    /// Passes over a file that can't be a document, unless the user named it.
    pub(super) fn unfit(
        &mut self,
        path: &Path,
        error: DocumentError,
        part: FolderSelection<'_>,
    ) -> Result<(), DocumentError> {
        if self.is_strict && part.is_file {
            return Err(error);
        }
        // The walk's error names the unreadable path more precisely than its folder.
        let path = if let DocumentError::Unreadable { path, .. } = &error { path.as_path() } else { path };
        self.unfit.push((path.to_owned(), error.fragment()));
        Ok(())
    }

    /// Adds a document with the reason why it has no text; for a named document, that is an error.
    fn add_faulty(&mut self, found: FoundDocument, error: DocumentError) -> Result<(), DocumentError> {
        if self.is_strict && found.is_named {
            return Err(error);
        }
        self.add(FoundDocument { fault: Some(error.fragment()), ..found })
    }

    /// Whether the folder is one of the caller's own.
    fn is_own(&self, folder: &Path) -> bool {
        !self.own.is_empty() && fs::canonicalize(folder).is_ok_and(|folder| self.own.contains(&folder))
    }

    /// Whether the file with this name is reported when it is left out.
    pub(super) fn tells_of(&self, relative: &Path, part: FolderSelection<'_>) -> bool {
        part.fits_path(relative) && (self.wanted)(&part.name(&relative.to_string_lossy()))
    }

    fn add(&mut self, found: FoundDocument) -> Result<(), DocumentError> {
        match self.by_name.entry(found.name.clone()) {
            Entry::Vacant(place) => {
                place.insert(found);
                Ok(())
            }
            Entry::Occupied(mut other) if is_same(other.get(), &found) => {
                other.get_mut().is_named |= found.is_named;
                Ok(())
            }
            // A document inside another file leaves its name to a file in a folder, and gets a number.
            Entry::Occupied(mut other) if !other.get().inside.is_empty() && found.inside.is_empty() => {
                let member = other.insert(found);
                self.add_numbered(member);
                Ok(())
            }
            Entry::Occupied(_) if !found.inside.is_empty() => {
                self.add_numbered(found);
                Ok(())
            }
            Entry::Occupied(other) => Err(same_name(other.get(), &found)),
        }
    }

    fn add_numbered(&mut self, member: FoundDocument) {
        let names = (2..).map(|number| with_number(&member.name, number));
        if let Some(name) = names.into_iter().find(|name| !self.by_name.contains_key(name)) {
            self.by_name.insert(name.clone(), FoundDocument { name, ..member });
        }
    }

    /// Passes over a document in an archive, so that it doesn't stop all others; for a file, the error remains.
    fn leave_out_member(&mut self, found: &FoundDocument, error: DocumentError) -> Result<(), DocumentError> {
        if found.inside.is_empty() {
            return Err(error);
        }
        self.unfit.push((within(&found.path, &found.inside), error.fragment()));
        Ok(())
    }

    /// `places`: the order of the names that were given.
    fn finish(mut self, places: &HashMap<&str, usize>) -> Result<FoundDocuments, DocumentError> {
        // A document can't be called like a folder that another one needs.
        let mut clashes = Vec::new();
        for found in self.by_name.values() {
            let mut folders = found.name.match_indices('/').map(|(at, _)| &found.name[..at]);
            if let Some(other) = folders.find_map(|folder| self.by_name.get(folder)) {
                clashes.push((found.name.clone(), same_name(other, found)));
            }
        }
        for (name, error) in clashes {
            if let Some(found) = self.by_name.remove(&name) {
                self.leave_out_member(&found, error)?;
            }
        }
        for list in [&mut self.left_out, &mut self.unfit] {
            list.sort();
            list.dedup();
        }
        let mut documents: Vec<FoundDocument> = self.by_name.into_values().collect();
        documents.sort_by_key(|found| places.get(found.name.as_str()));
        Ok(FoundDocuments { documents, left_out: self.left_out, unfit: self.unfit })
    }
}

fn is_same(one: &FoundDocument, other: &FoundDocument) -> bool {
    let is_same_file =
        || matches!((fs::canonicalize(&one.path), fs::canonicalize(&other.path)), (Ok(one), Ok(other)) if one == other);
    one.inside == other.inside && (one.path == other.path || is_same_file())
}

fn same_name(one: &FoundDocument, other: &FoundDocument) -> DocumentError {
    let (first, second) = (within(&one.path, &one.inside), within(&other.path, &other.inside));
    DocumentError::SameName { name: one.name.clone(), first, second }
}

/// The parts of mails that aren't meant although others are: a user who picks files in a folder sees the rest of it,
/// but can't see into a mail. `parts` are all of the file `path`: name, place, and whether it is meant.
fn rest_of_mails<'p>(
    path: &Path,
    parts: impl Iterator<Item = ((&'p str, &'p [String]), bool)> + Clone,
) -> Vec<(PathBuf, String)> {
    let mail = |name: &'p str| holders(name).next().unwrap_or(name);
    let taken: HashSet<&str> =
        parts.clone().filter(|(_, is_meant)| *is_meant).map(|((name, _), _)| mail(name)).collect();
    let rest = parts.filter(|((name, _), is_meant)| !is_meant && taken.contains(mail(name)));
    let why = "its name doesn't fit the pattern, that of another part of the mail does";
    rest.map(|((_, inside), _)| (within(path, inside), why.to_owned())).collect()
}

/// The path of a document's file, followed by its names inside.
fn within(path: &Path, inside: &[String]) -> PathBuf {
    inside.iter().fold(path.to_owned(), |path, part| path.join(part))
}

fn empty(path: &Path, left_out: &[(PathBuf, String)]) -> DocumentError {
    let why = if let Some((_, why)) = left_out.iter().find(|(left_out, _)| left_out == path) {
        format!("it is {why}")
    } else {
        let passed = if left_out.is_empty() { "" } else { " and symbolic links" };
        format!("hidden files{passed} and what {IGNORE_FILE} names don't count; put files in it, or name them")
    };
    DocumentError::Empty { path: path.to_owned(), why }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
