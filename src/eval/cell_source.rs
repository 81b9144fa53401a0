//! The place of a wrong value's record in its document, for a person who has to judge which value is wrong.

use crate::workspace::Workspace;
use overnight_evals::comparison::RecordPlace;
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    path::Path,
};

/// Letters before and after the quote.
const AROUND: usize = 200;
/// Letters of the quote.
const MOST_QUOTE: usize = 600;
/// Minimum length in bytes of a value that is searched for: shorter ones occur everywhere.
const LEAST_WORDS: usize = 3;

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellSource {
    pub document: String,
    pub before: String,
    pub quote: String,
    pub behind: String,
}

/// Reads passages from the texts in a job's workspace.
pub(super) struct SourceReader {
    workspace: Option<Workspace>,
    texts: HashMap<String, Option<String>>,
}

impl SourceReader {
    pub(super) fn new(workspace: Option<&Path>) -> Self {
        Self { workspace: workspace.and_then(|path| Workspace::open(path).ok()), texts: HashMap::new() }
    }

    /// The passage of the record that contains `path`; `None` if its place is unknown.
    pub(super) fn passage(&mut self, path: &str, places: &BTreeMap<String, RecordPlace>) -> Option<CellSource> {
        let ends = path.char_indices().rev().filter(|(_, letter)| matches!(letter, '.' | '[')).map(|(at, _)| at);
        let place = std::iter::once(path.len()).chain(ends).find_map(|end| places.get(&path[..end]))?;
        let [from, to] = [place.start, place.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        passage(&place.document, self.text(&place.document)?, from..to)
    }

    /// The first literal occurrence of a value; for records without a place.
    pub(super) fn occurrence(&mut self, documents: &[String], value: &Value) -> Option<CellSource> {
        let words = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        documents.iter().filter(|_| words.len() >= LEAST_WORDS).find_map(|document| {
            let text = self.text(document)?;
            let at = text.find(&words)?;
            passage(document, text, at..at + words.len())
        })
    }

    fn text(&mut self, document: &str) -> Option<&str> {
        let workspace = self.workspace.as_ref()?;
        let text = self
            .texts
            .entry(document.to_owned())
            .or_insert_with(|| workspace.read_text_at_most(&format!("documents/.text/{document}.txt"), u64::MAX).ok());
        text.as_deref()
    }
}

fn passage(document: &str, text: &str, range: Range<usize>) -> Option<CellSource> {
    let quote = text.get(range.clone())?;
    let before = text[..range.start].char_indices().rev().nth(AROUND).map_or(0, |(at, _)| at);
    Some(CellSource {
        document: document.to_owned(),
        before: text[before..range.start].to_owned(),
        quote: quote.chars().take(MOST_QUOTE).collect(),
        behind: text[range.end..].chars().take(AROUND).collect(),
    })
}
