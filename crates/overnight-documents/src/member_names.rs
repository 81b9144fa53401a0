//! Names of the entries of a container: valid as a document's name, unique, and never outside of the container.

use std::collections::{HashMap, HashSet};

use crate::document_name::check_name;
use crate::forbidden_names::is_invisible;

/// The longest part of a name, in bytes, with room for ` (2)` and for a program's own suffixes.
const MAX_PART_BYTES: usize = 200;
/// The longest name, in bytes: folders in folders.
const MAX_NAME_BYTES: usize = 1000;
/// Files that systems leave in folders; a folder with such a name is left out with everything in it.
const JUNK: &[(&str, &str)] = &[
    ("__macosx", "made by macOS, no document"),
    ("thumbs.db", "made by Windows, no document"),
    ("desktop.ini", "made by Windows, no document"),
];

/// The names in one container. Two names differ in more than letter case, and none is the folder of another one.
#[derive(Debug, Default)]
pub(crate) struct MemberNames {
    files: HashSet<String>,
    folders: HashSet<String>,
    /// The number for the next entry with the same name: searching for it each time would take quadratic time.
    next: HashMap<String, u64>,
}

/// The result of checking a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EntryName {
    Document(String),
    /// The name in a list, and the reason why it is no document.
    LeftOut(String, String),
}

impl MemberNames {
    /// The name for a path in an archive.
    pub(crate) fn of_path(&mut self, raw: &str) -> EntryName {
        let separators: &[char] = if raw.contains('/') { &['/'] } else { &['\\'] };
        let parts: Vec<&str> =
            raw.split(separators).map(str::trim).filter(|part| !matches!(*part, "" | "." | "..")).collect();
        for (at, part) in parts.iter().enumerate() {
            if let Some(why) = junk(part) {
                let name = parts[..=at].iter().map(|part| fit(part)).collect::<Vec<_>>().join("/");
                return EntryName::LeftOut(cut(&name, MAX_NAME_BYTES).to_owned(), why.to_owned());
            }
        }
        let name = parts.iter().map(|part| fit(part)).collect::<Vec<_>>().join("/");
        if name.len() > MAX_NAME_BYTES {
            let why = format!("its name has {} bytes, and {MAX_NAME_BYTES} is the most", name.len());
            return EntryName::LeftOut(cut(&name, MAX_NAME_BYTES).to_owned(), why);
        }
        EntryName::Document(self.unique(if name.is_empty() { "unnamed" } else { &name }))
    }

    /// The name for an attached file: never in a folder, and never hidden.
    pub(crate) fn of_file(&mut self, raw: &str) -> String {
        let bare = raw.trim().replace(['/', '\\'], "_");
        let shown = bare.trim_start_matches('.');
        let name = if shown.len() < bare.len() { format!("_{shown}") } else { bare };
        self.unique(&fit(&name))
    }

    fn unique(&mut self, name: &str) -> String {
        let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (folder, file));
        let mut path = String::new();
        for part in folder.split('/').filter(|part| !part.is_empty()) {
            // An earlier file may have the folder's name.
            path = self.numbered(&path, part, |names, found| names.files.contains(found));
            self.folders.insert(path.to_lowercase());
        }
        let path =
            self.numbered(&path, file, |names, found| names.files.contains(found) || names.folders.contains(found));
        self.files.insert(path.to_lowercase());
        path
    }

    /// `folder/part`, with ` (2)` and so on before its ending where it is `taken`.
    fn numbered(&mut self, folder: &str, part: &str, taken: impl Fn(&Self, &str) -> bool) -> String {
        let within = |part: &str| if folder.is_empty() { part.to_owned() } else { format!("{folder}/{part}") };
        let plain = within(part);
        let key = plain.to_lowercase();
        if !taken(self, &key) {
            return plain;
        }
        let mut number = self.next.get(&key).copied().unwrap_or(2);
        let found = loop {
            let candidate = within(&with_number(part, number));
            number += 1;
            if !taken(self, &candidate.to_lowercase()) {
                break candidate;
            }
        };
        self.next.insert(key, number);
        found
    }
}

/// The name `part`, which may include folders, with a number.
pub(crate) fn with_number(part: &str, number: u64) -> String {
    let (stem, ending) = halves(part);
    format!("{stem} ({number}){ending}")
}

/// A name and its ending with the dot; a name that begins with its only dot, or ends in a sentence, has no ending.
fn halves(part: &str) -> (&str, &str) {
    match part.rfind('.') {
        Some(at) if at > 0 && part.len() - at <= 16 => part.split_at(at),
        Some(_) | None => (part, ""),
    }
}

/// A part of a name that every system accepts.
fn fit(part: &str) -> String {
    let odd = |c: char| c.is_control() || is_invisible(c) || matches!(c, '\\' | ':' | '/' | '\u{fffd}');
    let mut name: String = part.trim().chars().map(|c| if odd(c) { '_' } else { c }).collect();
    if name.len() > MAX_PART_BYTES {
        let (stem, ending) = halves(&name);
        name = format!("{}{ending}", cut(stem, MAX_PART_BYTES - ending.len()).trim_end());
    }
    if name.ends_with('.') {
        name.pop();
        name.push('_');
    }
    if check_name(&name).is_err() {
        name.insert(0, '_');
    }
    name
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes.min(text.len()))]
}

fn junk(part: &str) -> Option<&'static str> {
    let lower = part.to_lowercase();
    if let Some((_, why)) = JUNK.iter().find(|(name, _)| *name == lower) {
        return Some(why);
    }
    if part.starts_with("~$") {
        return Some("a lock of an office program, no document");
    }
    part.starts_with('.').then_some("hidden")
}
