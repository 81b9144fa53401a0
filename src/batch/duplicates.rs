//! Documents of one submission with the same content. Names are for people; what a job would find is in the content.

use super::Document;
use std::collections::HashMap;

/// A document, and an earlier one with the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate<'d> {
    pub document: &'d Document,
    pub of: &'d Document,
}

/// All but the first of each content, in their order.
pub fn duplicates(documents: &[Document]) -> Vec<Duplicate<'_>> {
    let mut first: HashMap<&str, &Document> = HashMap::with_capacity(documents.len());
    let later = documents.iter().filter_map(|document| {
        let of = *first.entry(&document.sha256).or_insert(document);
        (!std::ptr::eq(of, document)).then_some(Duplicate { document, of })
    });
    later.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_first_of_each_content() {
        let document = |name: &str, sha256: &str| Document {
            name: name.to_owned(),
            path: format!("/{name}"),
            inside: Vec::new(),
            bytes: 1,
            sha256: sha256.to_owned(),
            tokens: 1,
        };
        let documents = [document("a", "1"), document("b", "2"), document("c", "1"), document("d", "1")];
        let named: Vec<(&str, &str)> =
            duplicates(&documents).iter().map(|one| (one.document.name.as_str(), one.of.name.as_str())).collect();
        assert_eq!(named, [("c", "a"), ("d", "a")]);
    }
}
