//! Documents of one submission with the same content. Names are for people; a job's result depends on the content.

use super::Document;
use std::collections::{HashMap, hash_map::Entry};

/// A document, and an earlier one with the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate<'d> {
    pub document: &'d Document,
    pub of: &'d Document,
}

/// All but the first of each content, in their order.
pub fn duplicates<'d>(documents: impl IntoIterator<Item = &'d Document>) -> Vec<Duplicate<'d>> {
    let mut first: HashMap<&str, &Document> = HashMap::new();
    let later = documents.into_iter().filter_map(|document| {
        let of = *first.entry(&document.sha256).or_insert(document);
        (!std::ptr::eq(of, document)).then_some(Duplicate { document, of })
    });
    later.collect()
}

/// Removes the jobs whose documents all have the content of an earlier job's documents. Returns each of these
/// documents, and the name of the one with the same content.
pub fn take_repeated(jobs: &mut Vec<Vec<Document>>) -> Vec<(Document, String)> {
    let mut places: HashMap<Vec<String>, usize> = HashMap::with_capacity(jobs.len());
    let mut kept: Vec<Vec<Document>> = Vec::with_capacity(jobs.len());
    let mut repeated = Vec::new();
    for documents in std::mem::take(jobs) {
        let mut contents: Vec<String> = documents.iter().map(|document| document.sha256.clone()).collect();
        contents.sort_unstable();
        match places.entry(contents) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(documents);
            }
            Entry::Occupied(place) => {
                let earlier = kept.get(*place.get()).map(Vec::as_slice).unwrap_or_default();
                let of = |document: &Document| earlier.iter().find(|one| one.sha256 == document.sha256);
                repeated.extend(documents.into_iter().filter_map(|document| {
                    let name = of(&document)?.name.clone();
                    Some((document, name))
                }));
            }
        }
    }
    *jobs = kept;
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str, sha256: &str) -> Document {
        Document {
            name: name.to_owned(),
            path: format!("/{name}"),
            inside: Vec::new(),
            bytes: 1,
            sha256: sha256.to_owned(),
            tokens: 1,
            scans: 0,
            is_transcribed: false,
            dated: None,
        }
    }

    #[test]
    fn all_but_the_first_of_each_content() {
        let documents = [document("a", "1"), document("b", "2"), document("c", "1"), document("d", "1")];
        let named: Vec<(&str, &str)> =
            duplicates(&documents).iter().map(|one| (one.document.name.as_str(), one.of.name.as_str())).collect();
        assert_eq!(named, [("c", "a"), ("d", "a")]);
    }

    #[test]
    fn a_job_is_repeated_where_all_its_documents_are() {
        let mut jobs = vec![
            vec![document("a", "1"), document("b", "2")],
            vec![document("c", "1")],
            vec![document("d", "2"), document("e", "1")],
            vec![document("f", "2"), document("g", "3")],
        ];
        let taken = take_repeated(&mut jobs);
        let named: Vec<(&str, &str)> = taken.iter().map(|(one, of)| (one.name.as_str(), of.as_str())).collect();
        assert_eq!(named, [("d", "b"), ("e", "a")]);
        let kept: Vec<&str> = jobs.iter().map(|job| job[0].name.as_str()).collect();
        assert_eq!(kept, ["a", "c", "f"]);
    }
}
