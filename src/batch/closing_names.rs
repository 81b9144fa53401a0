//! Names of deliverables as documents of the closing job. Hundreds of jobs each deliver an `output/report.json`; the
//! name shows the origin: the job's label in the batch, then the file's own path.

use overnight_core::job::id::JobId;
use overnight_documents::check_name;
use std::{collections::BTreeMap, path::MAIN_SEPARATOR};

/// Bytes of a part of a name: the maximum for a file's name, with room for the workspace's additions.
const MOST_PART_BYTES: usize = 200;

/// A map with unique names as keys, none of which is the folder of another.
#[derive(Debug)]
pub(super) struct UniqueNames<T>(BTreeMap<String, T>);

impl<T> UniqueNames<T> {
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The name for the file that the job `id`, called `label`, delivered at `path`. If the name made of the label is
    /// taken or invalid, the id replaces the label. `None` if that name is taken too: the file was delivered twice.
    pub(super) fn find(&self, label: &str, id: JobId, path: &str) -> Option<String> {
        let below = path.strip_prefix("output/").unwrap_or(path);
        let names = [folder(label).map(|folder| format!("{folder}/{below}")), Some(format!("{id}/{below}"))];
        names.into_iter().flatten().find(|name| check_name(name).is_ok() && self.is_free(name))
    }

    pub(super) fn add(&mut self, name: String, thing: T) {
        self.0.insert(name, thing);
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.0.get(name)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&String, &T)> {
        self.0.iter()
    }

    fn is_free(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        let is_folder = self.0.range(folder.clone()..).next().is_some_and(|(other, _)| other.starts_with(&folder));
        let mut folders = name.match_indices('/').map(|(at, _)| &name[..at]);
        !is_folder && !self.0.contains_key(name) && !folders.any(|folder| self.0.contains_key(folder))
    }
}

/// `label` as a folder's name: the name of a document unchanged, any other label without invalid characters.
fn folder(label: &str) -> Option<String> {
    let parts: Vec<String> = label
        .split(['/', '\\', MAIN_SEPARATOR])
        .map(|part| {
            let letters = part.chars().map(|letter| if letter.is_control() || letter == ':' { '-' } else { letter });
            let mut part = String::new();
            for letter in letters {
                if part.len() + letter.len_utf8() > MOST_PART_BYTES {
                    break;
                }
                part.push(letter);
            }
            part.trim().trim_end_matches('.').to_owned()
        })
        .filter(|part| !part.is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> JobId {
        format!("{number:08}-0000-7000-8000-0123456789ab").parse().unwrap()
    }

    #[test]
    fn each_deliverable_has_a_name_of_its_own() {
        let mut names = UniqueNames::new();
        let mut name = |label: &str, number: u32, path: &str| {
            let name = names.find(label, id(number), path);
            if let Some(name) = &name {
                names.add(name.clone(), ());
            }
            name.unwrap_or_else(|| "none".to_owned())
        };
        let own = |number: u32, rest: &str| format!("{}/{rest}", id(number));
        for (label, number, path, expected) in [
            ("a.md", 1, "output/x.json", "a.md/x.json".to_owned()),
            ("a.md", 1, "output/deep/y.json", "a.md/deep/y.json".to_owned()),
            ("in/a.md", 2, "output/x.json", "in/a.md/x.json".to_owned()),
            // Another folder's document of the same name.
            ("a.md", 3, "output/x.json", own(3, "x.json")),
            ("a.md", 3, "output/x.json", "none".to_owned()),
            // A folder that is a file, and the other way about.
            ("a.md/x.json", 4, "output/z", own(4, "z")),
            ("in", 5, "output/a.md", own(5, "a.md")),
            ("../../etc\u{7}:x", 6, "output/x", "etc--x/x".to_owned()),
            ("", 7, "output/x", own(7, "x")),
            ("nul", 8, "output/x", own(8, "x")),
            (".text", 9, "output/x", own(9, "x")),
            ("b.md", 10, "../x", "none".to_owned()),
        ] {
            assert_eq!(name(label, number, path), expected, "{label} {number} {path}");
        }
        let long = name(&"ä".repeat(300), 11, "output/x");
        assert_eq!(long, format!("{}/x", "ä".repeat(100)));
    }
}
