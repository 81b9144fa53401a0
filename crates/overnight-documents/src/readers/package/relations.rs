//! How a part refers to others: by short identifiers, which a small part beside it resolves.

use std::collections::HashMap;

use super::archive::Package;
use super::xml::{BrokenPart, Xml};

/// The most relations that one part may have.
const MAX_RELATIONS: usize = 100_000;

/// A reference to another part, or to something outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    /// The last word of its kind: `slide`, `notesSlide`, `chart`.
    pub(crate) kind: String,
    /// The part's name; empty if the target is outside.
    pub(crate) part: String,
    /// The target outside.
    pub(crate) outside: Option<String>,
}

/// One part's relations by their short identifiers.
#[derive(Debug, Default)]
pub(crate) struct Relations(HashMap<String, Relation>);

impl Relations {
    /// None if no part resolves them.
    pub(crate) fn of(package: &Package<'_>, part: &str) -> Result<Self, BrokenPart> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let mut relations = HashMap::new();
        let Some(xml) = Xml::open(package, &name) else { return Ok(Self::default()) };
        xml?.each("", |element, _| {
            if element.name() == "Relationship"
                && relations.len() < MAX_RELATIONS
                && let (Some(id), Some(kind)) = (element.value("Id"), element.value("Type"))
            {
                let is_outside = element.value("TargetMode").is_some_and(|mode| mode == "External");
                let target = element.value("Target").unwrap_or_default();
                let part = if is_outside { String::new() } else { resolve(folder, &target) };
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                relations.insert(id, Relation { kind, part, outside: is_outside.then_some(target) });
            }
            Ok(())
        })?;
        Ok(Self(relations))
    }

    /// The name of the package's main part; `usual`, which office programs use, if the package doesn't state it.
    pub(crate) fn main(package: &Package<'_>, usual: &str) -> String {
        let all = Self::of(package, "").unwrap_or_default();
        all.first("officeDocument").filter(|part| package.has(part)).unwrap_or(usual).to_owned()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Relation> {
        self.0.get(id)
    }

    /// The target of a link.
    pub(crate) fn outside(&self, id: &str) -> Option<&str> {
        self.0.get(id)?.outside.as_deref()
    }

    /// The part of the first relation of a kind, in the order of their short names.
    pub(crate) fn first(&self, kind: &str) -> Option<&str> {
        let of_kind = self.0.iter().filter(|(_, relation)| relation.kind == kind);
        of_kind.min_by_key(|(id, _)| *id).map(|(_, relation)| relation.part.as_str())
    }

    /// The number of relations of a kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.0.values().filter(|relation| relation.kind == kind).count()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Relation> {
        self.0.values()
    }
}

/// A target as it is written, seen from a folder, without the place in it.
pub(crate) fn resolve(folder: &str, target: &str) -> String {
    let target = decoded(target.split('#').next().unwrap_or_default()).replace('\\', "/");
    let mut names: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|name| !name.is_empty()).collect(),
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Decodes `%20` and the like.
fn decoded(link: &str) -> String {
    let mut bytes = Vec::with_capacity(link.len());
    let mut rest = link.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match hex.filter(|_| *first == b'%') {
            Some(byte) => (bytes.push(byte), rest = &after[2..]).1,
            None => (bytes.push(*first), rest = after).1,
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| link.to_owned())
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn targets_are_seen_from_the_folder_of_the_part() {
        for (folder, target, expected) in [
            ("ppt", "slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("ppt/slides", "../notesSlides/n.xml", "ppt/notesSlides/n.xml"),
            ("ppt", "/ppt/slides/a.xml", "ppt/slides/a.xml"),
            ("", "word/document.xml", "word/document.xml"),
            ("xl", "../../../etc/passwd", "etc/passwd"),
            ("text", "a%20b.xhtml#c", "text/a b.xhtml"),
        ] {
            assert_eq!(resolve(folder, target), expected, "{folder} {target}");
        }
    }
}
