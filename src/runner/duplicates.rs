//! Documents of one job with the same content: each keeps its text, so that any name that a task mentions can be read,
//! and names the first document with this content, so that nothing is read twice.

use overnight_core::job::spec::DocumentEntry;
use std::collections::HashMap;

/// Notes with each document the first one, by place, that has the same content.
pub(super) fn note(documents: &mut [DocumentEntry]) {
    let mut first: HashMap<String, String> = HashMap::with_capacity(documents.len());
    for document in documents {
        match first.get(&document.sha256) {
            Some(name) => document.notes.push(format!("the same content as {name}")),
            None => {
                first.insert(document.sha256.clone(), document.name.clone());
            }
        }
    }
}
