//! The documents of records that contain a list: a line of a contract, `$.contracts[*].lines[*]`, belongs to the
//! document that its contract names.

use super::lists::RecordList;
use overnight_core::job::{contract::records::record_quotes, json_path::JsonPath};
use serde_json::{Deserializer, Value};
use std::{collections::HashMap, io::BufRead, iter::successors};

/// The key of a record's document if no rule names it.
const DOCUMENT: &str = "document";

/// The documents of outer records, by the places of these records.
#[derive(Debug, Default)]
pub(super) struct OuterDocuments(HashMap<String, String>);

impl OuterDocuments {
    /// Reads the documents of the records that contain those of a list; `open` opens the file from its beginning.
    /// Errors are ignored: the reader of the records reports them.
    pub(super) fn read<R: BufRead>(list: &RecordList<'_>, mut open: impl FnMut() -> Option<R>) -> Self {
        let mut documents = HashMap::new();
        let own = list.quotes.first().map(|quote| &quote.rule.document);
        for outer in around(&list.each) {
            let quotes = record_quotes(list.deliverable, outer);
            let key = quotes.first().map(|quote| &quote.rule.document).or(own).map_or(DOCUMENT, String::as_str);
            let Ok(path) = JsonPath::parse(&format!("{outer}['{key}']")) else { continue };
            let Some(file) = open() else { continue };
            let end = format!(".{key}");
            let _ = path.each_in(&mut Deserializer::from_reader(file), &mut |place, value| {
                if let (Some(place), Value::String(name)) = (place.strip_suffix(&end), value) {
                    documents.insert(place.to_owned(), name);
                }
            });
        }
        Self(documents)
    }

    /// The document of the nearest record around `place` that names one.
    pub(super) fn of(&self, place: &str) -> Option<&str> {
        around(place).find_map(|outer| self.0.get(outer)).map(String::as_str)
    }
}

/// The places of the records around a place, or their paths, the nearest first: `$.contracts[2]` of `$.contracts[2].lines[5]`.
fn around(place: &str) -> impl Iterator<Item = &str> {
    successors(Some(place), |place| {
        let place: &str = place;
        let before = &place[..place.rfind('[')?];
        Some(&before[..=before.rfind(']')?])
    })
    .skip(1)
}
