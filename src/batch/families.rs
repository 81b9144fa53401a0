//! Decides which documents of a submission belong to one job. Documents that belong together, such as a contract and
//! its amendments, or a mail and its attachments, are a family. The contents of one file always stay together.

use super::{Document, natural_order::in_order};
use regex::Regex;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// The documents that one job works on.
#[derive(Clone, Debug)]
pub enum JobUnit {
    /// All documents.
    Whole,
    Document,
    /// A family: the files in one folder directly below a given one, or, if there is a `name`, the files of one folder
    /// for whose names its first group matches the same text.
    Family {
        name: Option<Regex>,
    },
}

/// The property that the documents of one family share.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FamilyKey {
    /// One file, with all documents in it.
    File(PathBuf),
    /// A folder, with all that lies below it.
    Folder(PathBuf),
    /// Files of a folder, by the common part of their names.
    Name(PathBuf, String),
}

impl JobUnit {
    /// The documents of each job. Jobs are in the order of their first documents, those of a family in reading order.
    /// `given` are the folders that were searched for documents. Only documents of a family keep their dates: only
    /// among them the order of changes matters.
    pub fn jobs(&self, documents: Vec<Document>, given: &[PathBuf]) -> Vec<Vec<Document>> {
        let mut jobs = self.parted(documents, given);
        for job in &mut jobs {
            let is_family = matches!(self, Self::Family { .. }) && job.len() > 1;
            for document in job {
                document.dated = document.dated.filter(|_| is_family);
            }
        }
        jobs
    }

    fn parted(&self, documents: Vec<Document>, given: &[PathBuf]) -> Vec<Vec<Document>> {
        let name = match self {
            Self::Whole if documents.is_empty() => return Vec::new(),
            Self::Whole => return vec![documents],
            Self::Document => return documents.into_iter().map(|document| vec![document]).collect(),
            Self::Family { name } => name.as_ref(),
        };
        let mut places: HashMap<FamilyKey, usize> = HashMap::new();
        let mut families: Vec<Vec<Document>> = Vec::new();
        for document in documents {
            let place = *places.entry(FamilyKey::of(Path::new(&document.path), name, given)).or_insert(families.len());
            match families.get_mut(place) {
                Some(family) => family.push(document),
                None => families.push(vec![document]),
            }
        }
        for family in &mut families {
            in_order(family);
        }
        families
    }
}

impl FamilyKey {
    fn of(file: &Path, name: Option<&Regex>, given: &[PathBuf]) -> Self {
        let key = match name {
            Some(name) => Self::by_name(file, name),
            None => Self::by_folder(file, given),
        };
        key.unwrap_or_else(|| Self::File(file.to_owned()))
    }

    fn by_name(file: &Path, name: &Regex) -> Option<Self> {
        let found = name.captures(file.file_name()?.to_str()?)?.get(1)?;
        let alike = found.as_str().trim_end_matches([' ', '-', '_']).to_lowercase();
        (!alike.is_empty()).then(|| Self::Name(file.parent().unwrap_or(file).to_owned(), alike))
    }

    /// The folder directly below the nearest of those given.
    fn by_folder(file: &Path, given: &[PathBuf]) -> Option<Self> {
        let below = |folder: &PathBuf| file.strip_prefix(folder).ok().map(|below| (folder.clone(), below));
        let (folder, below) = given.iter().filter_map(below).min_by_key(|(_, below)| below.components().count())?;
        let mut parts = below.components();
        let first = parts.next()?;
        parts.next().is_some().then(|| Self::Folder(folder.join(first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(unit: &JobUnit, given: &[&str], names: &[(&str, &[&str])]) -> Vec<String> {
        let documents = names.iter().map(|(path, inside)| Document {
            name: [&[*path], *inside].concat().join("/"),
            path: format!("/in/{path}"),
            inside: inside.iter().map(|part| (*part).to_owned()).collect(),
            bytes: 1,
            sha256: String::new(),
            tokens: 1,
            scans: 0,
            is_transcribed: false,
            dated: None,
        });
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        let jobs = unit.jobs(documents.collect(), &given);
        let names = |job: &Vec<Document>| job.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" + ");
        jobs.iter().map(names).collect()
    }

    #[test]
    fn what_lies_in_one_folder_or_one_file_is_a_family() {
        let names = [
            ("a.md", &[][..]),
            ("acme/contract-amendment-1.md", &[]),
            ("acme/contract.md", &[]),
            ("acme/more/annex.md", &[]),
            ("b/x.md", &[]),
            ("m.eml", &[]),
            ("m.eml", &["x.txt"]),
            ("pack.zip", &["sub/b.md"]),
            ("pack.zip", &["a.md"]),
        ];
        let by_folder = JobUnit::Family { name: None };
        let below_in = [
            "a.md",
            "acme/contract.md + acme/contract-amendment-1.md + acme/more/annex.md",
            "b/x.md",
            "m.eml + m.eml/x.txt",
            "pack.zip/a.md + pack.zip/sub/b.md",
        ];
        assert_eq!(families(&by_folder, &["/in"], &names), below_in);
        // The nearest given folder counts; a file directly in it is a family of its own.
        let below_both = families(&by_folder, &["/in", "/in/acme"], &names);
        assert_eq!(below_both[1..4], ["acme/contract-amendment-1.md", "acme/contract.md", "acme/more/annex.md"]);
        // Files that were named one by one.
        assert_eq!(families(&by_folder, &[], &names[..3]).len(), 3);
        assert_eq!(families(&JobUnit::Whole, &[], &names).len(), 1);
        assert_eq!(families(&JobUnit::Whole, &[], &[]).len(), 0);
        assert_eq!(families(&JobUnit::Document, &[], &names).len(), names.len());
    }

    #[test]
    fn names_with_the_same_beginning_are_a_family() {
        let name = Regex::new(r"(?i)^(.+?)([-_ ]+(amendment|nachtrag|v)?[-_ ]*\d*)?\.").unwrap();
        let names = [
            ("Lease - Nachtrag 10.md", &[][..]),
            ("Lease - Nachtrag 2.md", &[]),
            ("Lease.md", &[]),
            ("README", &[]),
            ("deep/lease_v2.md", &[]),
            ("lease.eml", &[]),
            ("lease.eml", &["x.txt"]),
            ("leasing.md", &[]),
        ];
        assert_eq!(
            families(&JobUnit::Family { name: Some(name) }, &["/in"], &names),
            [
                "Lease.md + lease.eml + lease.eml/x.txt + Lease - Nachtrag 2.md + Lease - Nachtrag 10.md",
                "README",
                "deep/lease_v2.md",
                "leasing.md",
            ]
        );
    }
}
