//! Files embedded in a PDF: named in its catalog, or attached to a page. They are separate documents that aren't read
//! here, so each is named.

use std::collections::HashSet;

use unpdf::parser::raw::RawDocument;
use unpdf::parser::raw::tokenizer::{PdfDict, PdfObject, dict_get};

use super::values::text_string;

/// The most embedded files that are searched.
const MAX_FILES: usize = 1_000;
const MAX_NODES: usize = 10_000;

/// The names of the files in the catalog.
pub(super) fn attached(document: &RawDocument) -> Vec<String> {
    let root = document.catalog().ok().and_then(|catalog| entry(document, catalog, b"Names"));
    let root = root.and_then(PdfObject::as_dict).and_then(|names| entry(document, names, b"EmbeddedFiles"));
    let (mut found, mut waiting, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    waiting.extend(root);
    while let Some(node) = waiting.pop().and_then(PdfObject::as_dict) {
        let kids = entry(document, node, b"Kids").and_then(PdfObject::as_array).into_iter().flatten();
        for kid in kids {
            if seen.len() < MAX_NODES && kid.as_reference().is_some_and(|id| seen.insert(id)) {
                waiting.push(document.resolve(kid));
            }
        }
        let names = entry(document, node, b"Names").and_then(PdfObject::as_array).into_iter().flatten();
        for file in names.skip(1).step_by(2) {
            if found.len() < MAX_FILES {
                found.extend(document.resolve(file).as_dict().map(|file| name(document, file)));
            }
        }
    }
    found
}

/// The name of a file as its specification has it.
pub(super) fn name(document: &RawDocument, file: &PdfDict) -> String {
    let names = [b"UF".as_slice(), b"F"].into_iter().filter_map(|key| entry(document, file, key)?.as_str_bytes());
    names.map(text_string).find(|name| !name.trim().is_empty()).unwrap_or_else(|| "without a name".to_owned())
}

fn entry<'a>(document: &'a RawDocument, dictionary: &'a PdfDict, key: &[u8]) -> Option<&'a PdfObject> {
    dict_get(dictionary, key).map(|value| document.resolve(value))
}
