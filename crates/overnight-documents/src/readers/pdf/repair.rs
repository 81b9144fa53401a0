//! A document whose table of objects or of pages is damaged, made readable again: the objects are found where they stand,
//! and a new catalog behind them names the pages.

use unpdf::parser::raw::RawDocument;
use unpdf::parser::raw::tokenizer::{PdfDict, dict_get};

/// The most objects that are searched for pages.
const MAX_OBJECTS: usize = 1_000_000;

/// `bytes` with pages that can be found; none if there are no more of them than `known`.
pub(super) fn repaired(bytes: &[u8], known: usize) -> Option<Vec<u8>> {
    // Without an offset of the table, the library scans for the objects itself.
    let mut bytes = bytes.to_vec();
    let ways: Vec<usize> = memchr::memmem::find_iter(&bytes, b"startxref").collect();
    for at in ways {
        bytes[at..at + b"startxref".len()].fill(b' ');
    }
    let is_better = |bytes: &[u8]| RawDocument::load(bytes).is_ok_and(|document| document.pages().len() > known);
    if is_better(&bytes) {
        return Some(bytes);
    }
    let document = RawDocument::load(&with_catalog(&bytes, 0, "")).ok()?;
    let ids: Vec<u32> = (1..).take(MAX_OBJECTS.min(bytes.len() / 8)).collect();
    let of_type = |kind: &[u8]| -> Vec<(u32, &PdfDict)> {
        let named = |&id: &u32| Some((id, document.get_object((id, 0))?.as_dict()?));
        let is_such = |(_, dict): &(u32, &PdfDict)| dict_get(dict, b"Type").and_then(|of| of.as_name()) == Some(kind);
        ids.iter().filter_map(named).filter(is_such).collect()
    };
    let tree = of_type(b"Pages").into_iter().find(|(_, dict)| dict_get(dict, b"Parent").is_none());
    let by_tree = tree.map(|(id, _)| with_catalog(&bytes, id, ""));
    let pages = of_type(b"Page");
    let kids = pages.iter().map(|(id, _)| format!("{id} 0 R")).collect::<Vec<_>>().join(" ");
    let id = u32::try_from(ids.len()).ok()?.checked_add(2)?;
    let count = pages.len();
    let list = format!("{id} 0 obj\n<</Type/Pages/Kids[{kids}]/Count {count}>>\nendobj\n");
    by_tree
        .filter(|bytes| is_better(bytes))
        .or_else(|| Some(with_catalog(&bytes, id, &list)).filter(|bytes| is_better(bytes)))
}

/// `bytes`, and behind them a catalog that names the table of pages `pages`, which may be in `more`.
fn with_catalog(bytes: &[u8], pages: u32, more: &str) -> Vec<u8> {
    let id = u32::MAX;
    let catalog = format!(
        "\n{id} 0 obj\n<</Type/Catalog/Pages {pages} 0 R>>\nendobj\n{more}trailer\n<</Root {id} 0 R>>\n%%EOF\n"
    );
    [bytes, catalog.as_bytes()].concat()
}
