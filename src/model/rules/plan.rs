//! What the rules can do, and the plan for it: the documents in the order in which they are read, some of them a todo.

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

/// What becomes of a document's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    Statements,
    KeyPoints,
    Policies,
    Standards,
}

impl Work {
    /// What the report calls such a document.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Statements | Self::KeyPoints => "Read",
            Self::Policies => "Policy",
            Self::Standards => "Standard",
        }
    }
}

/// Todos that read: what one of them has read of a long document is not read again when it is begun anew. And names in a todo.
const MOST_TODOS: usize = 8;
const MOST_NAMES: usize = 4;
const READ: &str = "Read up to document ";
pub(super) const REPORT: &str = "Write the report";

impl Task {
    /// The task whose deliverables the instructions name in their headings, and no others.
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

    /// Its records, their list, its report, and the title of that.
    pub(super) fn names(self) -> [&'static str; 4] {
        match self {
            Self::Extract => ["output/requirements.json", "requirements", "output/summary.md", "Normative statements"],
            Self::Summarise => ["output/key_points.json", "points", "output/summary.md", "Key sentences"],
            Self::Audit => ["output/findings.json", "findings", "output/audit.md", "Policies against standards"],
        }
    }

    /// The documents with a text, in the order in which they are read, and for what.
    pub(super) fn reading(self, documents: &[ListedDocument<'_>]) -> Vec<(Work, String)> {
        let mut documents = documents.to_vec();
        documents.retain(|document| !document.line.contains(", about 0 tokens, "));
        let has_both = documents.iter().any(is_policy) && !documents.iter().all(is_policy);
        let work = |(place, document): (usize, &ListedDocument<'_>)| match self {
            Self::Extract => Work::Statements,
            Self::Summarise => Work::KeyPoints,
            // Where the names don't tell them apart, the first one is the standard.
            Self::Audit if if has_both { is_policy(document) } else { place > 0 } => Work::Policies,
            Self::Audit => Work::Standards,
        };
        let mut all: Vec<_> = documents.iter().enumerate().map(|one| (work(one), one.1.name.to_owned())).collect();
        // Standards are compared with all that the policies say.
        all.sort_by_key(|(work, _)| *work == Work::Standards);
        all
    }
}

fn is_policy(document: &ListedDocument<'_>) -> bool {
    let name = document.name.to_lowercase();
    ["polic", "handbook", "procedure"].iter().any(|word| name.contains(word))
}

/// The todos that read these documents, with their names for people, and the one that reports.
pub(super) fn steps(reading: &[(Work, String)]) -> Vec<String> {
    let mut until = 0;
    let step = |some: &[(Work, String)]| {
        until += some.len();
        let names: Vec<&str> = some.iter().map(|(_, name)| name.as_str()).take(MOST_NAMES).collect();
        format!("{READ}{until} of {}: {}", reading.len(), names.join(", "))
    };
    let read = reading.chunks(reading.len().div_ceil(MOST_TODOS).max(1)).map(step);
    read.chain([REPORT.to_owned()]).collect()
}

/// How many documents are read when a todo of these rules is done.
pub(super) fn read_until(todo: &str) -> Option<usize> {
    todo.strip_prefix(READ)?.split(' ').next()?.parse().ok()
}
