//! The tasks of the rules, and their plan: the documents in reading order, several of them per todo.

use super::prompt_view::ListedDocument;
use serde::{Deserialize, Serialize};

/// One of the shipped instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    #[default]
    Extract,
    Summarise,
    Audit,
}

/// The use of a document's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    Statements,
    KeyPoints,
    Policies,
    Standards,
}

impl Work {
    /// The report's name for such a document.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Statements | Self::KeyPoints => "Read",
            Self::Policies => "Policy",
            Self::Standards => "Standard",
        }
    }
}

/// Limits of the todos that read: their number by documents and by tokens, tokens of a todo, and names in a todo.
const MOST_TODOS: usize = 8;
const MORE_TODOS: u64 = 10;
const TODO_TOKENS: u64 = 300_000;
const MOST_NAMES: usize = 4;
const READ: &str = "Read up to document ";
pub(super) const REPORT: &str = "Write the report";

impl Task {
    /// The task whose deliverables, and no others, are named in the headings of the instructions.
    pub(super) fn of(instructions: &str) -> Result<Self, String> {
        let headings = instructions.lines().filter_map(|line| line.strip_prefix("### `")?.split_once('`'));
        let paths: Vec<&str> = headings.map(|(path, _)| path).filter(|path| path.starts_with("output/")).collect();
        let is_meant = |task: &Self| {
            let [records, _, report, _] = task.names();
            paths.contains(&records) && paths.iter().all(|path| [records, report].contains(path))
        };
        [Self::Extract, Self::Summarise, Self::Audit].into_iter().find(is_meant).ok_or_else(|| {
            let asked = if paths.is_empty() { "what is asked for".to_owned() } else { paths.join(", ") };
            format!(
                "the offline model is a set of rules for extract-requirements, summarize-documents and audit-policy; it can't make {asked}. Use a language model for these instructions"
            )
        })
    }

    /// The file of its records, their list, the file of its report, and the report's title.
    pub(super) fn names(self) -> [&'static str; 4] {
        match self {
            Self::Extract => ["output/requirements.json", "requirements", "output/summary.md", "Normative statements"],
            Self::Summarise => ["output/key_points.json", "points", "output/summary.md", "Key sentences"],
            Self::Audit => ["output/findings.json", "findings", "output/audit.md", "Policies against standards"],
        }
    }

    /// The documents with text, in reading order, each with its use.
    pub(super) fn reading(self, documents: &[ListedDocument<'_>]) -> Vec<Reading> {
        let mut documents = documents.to_vec();
        documents.retain(|document| document.tokens() > 0);
        let has_both = documents.iter().any(is_policy) && !documents.iter().all(is_policy);
        let work = |(place, document): (usize, &ListedDocument<'_>)| match self {
            Self::Extract => Work::Statements,
            Self::Summarise => Work::KeyPoints,
            // If the names don't tell them apart, the first one is the standard.
            Self::Audit if if has_both { is_policy(document) } else { place > 0 } => Work::Policies,
            Self::Audit => Work::Standards,
        };
        let mut all: Vec<Reading> = documents
            .iter()
            .enumerate()
            .map(|one| Reading { work: work(one), name: one.1.name.to_owned(), tokens: one.1.tokens() })
            .collect();
        // Standards are compared with all statements of the policies.
        all.sort_by_key(|one| one.work == Work::Standards);
        all
    }
}

fn is_policy(document: &ListedDocument<'_>) -> bool {
    let name = document.name.to_lowercase();
    ["polic", "handbook", "procedure"].iter().any(|word| name.contains(word))
}

/// A document to read, and its use.
pub(super) struct Reading {
    pub(super) work: Work,
    pub(super) name: String,
    tokens: u64,
}

/// The point to which a todo reads: a document, by its number, and a part of it, of the given number of parts.
#[derive(Clone, Copy)]
pub(super) struct ReadUntil {
    pub(super) document: usize,
    pub(super) part: u64,
    pub(super) parts: u64,
}

/// The todos that read these documents, with their names for people, and the one that reports.
pub(super) fn steps(reading: &[Reading]) -> Vec<String> {
    let total: u64 = reading.iter().map(|one| one.tokens).sum();
    let (most, tokens) = (reading.len().div_ceil(MOST_TODOS), TODO_TOKENS.max(total / MORE_TODOS));
    let mut steps: Vec<(usize, u64, ReadUntil)> = Vec::new();
    for (number, one) in (1..).zip(reading) {
        let parts = one.tokens.div_ceil(tokens).max(1);
        for part in 1..=parts {
            let until = ReadUntil { document: number, part, parts };
            match steps.last_mut() {
                Some((count, sum, last)) if *count < most && *sum + one.tokens <= tokens => {
                    (*count, *sum, *last) = (*count + 1, *sum + one.tokens, until);
                }
                Some(_) | None => steps.push((1, one.tokens / parts, until)),
            }
        }
    }
    let step = |(count, _, until): (usize, u64, ReadUntil)| {
        let ReadUntil { document, part, parts } = until;
        let names = reading[document - count..document].iter().map(|one| one.name.as_str()).take(MOST_NAMES);
        let part = if part < parts { format!(", part {part} of {parts}") } else { String::new() };
        format!("{READ}{document} of {}{part}: {}", reading.len(), names.collect::<Vec<_>>().join(", "))
    };
    steps.into_iter().map(step).chain([REPORT.to_owned()]).collect()
}

/// The point to which the documents are read when a todo of these rules is done.
pub(super) fn read_until(todo: &str) -> Option<ReadUntil> {
    let (place, _) = todo.strip_prefix(READ)?.split_once(": ")?;
    let document = place.split(' ').next()?.parse().ok()?;
    let (part, parts) = place.split_once(", part ").and_then(|(_, part)| part.split_once(" of ")).unwrap_or(("1", "1"));
    Some(ReadUntil { document, part: part.parse().ok()?, parts: parts.parse().ok()? })
}
