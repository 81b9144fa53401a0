//! What the rules can do, and the plan for it. A plan's steps are its todos, and each names its part of the documents.

use super::prompt_view::ListedDocument;
use regex::Regex;
use std::{fmt::Write, sync::LazyLock};

/// One of the shipped instructions, with its result files.
#[derive(PartialEq)]
pub(super) struct Task {
    name: &'static str,
    pub(super) records: &'static str,
    pub(super) report: &'static str,
}

pub(super) static EXTRACT: Task =
    Task { name: "extract-requirements", records: "output/requirements.json", report: "output/summary.md" };
pub(super) static SUMMARISE: Task =
    Task { name: "summarize-documents", records: "output/key_points.json", report: "output/summary.md" };
pub(super) static AUDIT: Task =
    Task { name: "audit-policy", records: "output/findings.json", report: "output/audit.md" };

static TASKS: [&Task; 3] = [&EXTRACT, &SUMMARISE, &AUDIT];

/// What becomes of what is read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Work {
    Statements,
    KeyPoints,
    Policies,
    Standards,
}

const WORKS: [(Work, &str); 4] = [
    (Work::Statements, "Extract statements"),
    (Work::KeyPoints, "Choose key sentences"),
    (Work::Policies, "Collect policy statements"),
    (Work::Standards, "Compare standard statements"),
];
const START: &str = "Start the result files of ";
const REPORT: &str = "Write the report of ";
const ADDITION: &str = "Add what is new to the report of ";
/// How a todo begins that is for what a person has sent back, that of the runner too.
const ADDRESS: &str = "Address";
pub(super) const SENT_BACK: &str = "Address what was sent back";

/// What a todo asks for.
pub(super) enum TodoKind {
    Start(&'static Task),
    Read(Work, Vec<Segment>),
    Report(&'static Task),
    /// The report is there, and is told of what was read since.
    Addition(&'static Task),
    /// A person has sent the result back, or added documents.
    SentBack,
}

/// A part of a document, in its pages or lines.
pub(super) struct Segment {
    pub(super) name: String,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Tokens that one todo reads: so few that it is done in 40 turns of a small window too.
const PART_TOKENS: u64 = 8_000;
/// Parts that documents are divided into at most; of more text they are longer.
const MOST_PARTS: u64 = 400;
/// Letters of a todo's documents: all are shown on the board of a small window.
const MOST_LETTERS: usize = 160;
/// Todos of a phase.
const PHASE_TODOS: usize = 9;

/// What the rules can't make, with what was asked for.
#[derive(Debug, thiserror::Error)]
#[error(
    "the offline model is a set of rules for extract-requirements, summarize-documents and audit-policy; it can't make {0}. Use a language model for these instructions"
)]
pub(super) struct UnknownTask(String);

/// The task of `instructions.md`, by the deliverables that its headings name.
pub(super) fn task(instructions: &str) -> Result<&'static Task, UnknownTask> {
    let headings = instructions.lines().filter_map(|line| line.strip_prefix("### `")?.split_once('`'));
    let paths: Vec<&str> = headings.map(|(path, _)| path).filter(|path| path.starts_with("output/")).collect();
    let makes = |task: &Task, path: &&str| *path == task.records || *path == task.report;
    let found =
        TASKS.into_iter().find(|task| paths.contains(&task.records) && paths.iter().all(|path| makes(task, path)));
    let asked = || if paths.is_empty() { "what is asked for".to_owned() } else { paths.join(", ") };
    found.ok_or_else(|| UnknownTask(asked()))
}

/// What a todo of these rules asks for; `None` for one of somebody else.
pub(super) fn step(todo: &str) -> Option<TodoKind> {
    let named = |name: &str| TASKS.into_iter().find(|task| task.name == name);
    let work = WORKS.iter().find(|(_, verb)| todo.starts_with(verb) && todo.ends_with(']'));
    let start = todo.strip_prefix(START).and_then(named).map(TodoKind::Start);
    let report = todo.strip_prefix(REPORT).and_then(named).map(TodoKind::Report);
    let addition = todo.strip_prefix(ADDITION).and_then(named).map(TodoKind::Addition);
    let sent_back = todo.starts_with(ADDRESS).then_some(TodoKind::SentBack);
    start.or(report).or(addition).or(sent_back).or_else(|| work.map(|(work, _)| TodoKind::Read(*work, segments(todo))))
}

/// The segments that a todo names: `"a.md" [1-200]`.
fn segments(todo: &str) -> Vec<Segment> {
    static SEGMENT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"("[^"]+") \[(\d+)-(\d+)\]"#).ok());
    let segment = |found: regex::Captures<'_>| {
        let name = serde_json::from_str(&found[1]).ok()?;
        Some(Segment { name, from: found[2].parse().ok()?, to: found[3].parse().ok()? })
    };
    SEGMENT.iter().flat_map(|pattern| pattern.captures_iter(todo)).filter_map(segment).collect()
}

/// A name as a JSON string that neither a plan nor a todo changes: what is no letter, digit or plain mark is `\uxxxx`.
fn in_todo(name: &str) -> String {
    let mut text = String::from("\"");
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        // Elsewhere than within a word, it may set off what stands between it and another.
        let is_joint = letter == '_'
            && text.ends_with(char::is_alphanumeric)
            && letters.peek().is_some_and(|next| next.is_alphanumeric());
        if letter.is_alphanumeric()
            || is_joint
            || "-./()+,&'".contains(letter)
            || letter == ' ' && !text.ends_with([' ', '"'])
        {
            text.push(letter);
        } else {
            letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| _ = write!(text, "\\u{unit:04x}"));
        }
    }
    text + "\""
}

/// Standards and policies, as `audit-policy` tells them apart.
pub(super) fn sides(documents: &[ListedDocument]) -> (Vec<ListedDocument>, Vec<ListedDocument>) {
    let words = ["polic", "handbook", "procedure"];
    let is_policy = |one: &ListedDocument| words.iter().any(|word| one.name.to_lowercase().contains(word));
    let (policies, standards): (Vec<_>, Vec<_>) = documents.iter().cloned().partition(is_policy);
    if !policies.is_empty() && !standards.is_empty() {
        return (standards, policies);
    }
    let mut all = documents.to_vec();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let rest = all.split_off(all.len().min(1));
    (all, rest)
}

/// Documents in parts of about the same size, small ones together.
fn parts(documents: &[ListedDocument], part_tokens: u64) -> Vec<String> {
    let mut parts: Vec<(u64, String)> = Vec::new();
    for document in documents.iter().filter(|document| document.units > 0) {
        let count = document.tokens.div_ceil(part_tokens).clamp(1, document.units);
        let (size, tokens) = (document.units.div_ceil(count), document.tokens / count);
        for from in (1..=document.units).step_by(usize::try_from(size).unwrap_or(usize::MAX)) {
            let segment = format!("{} [{from}-{}]", in_todo(&document.name), (from + size - 1).min(document.units));
            match parts.last_mut() {
                Some((sum, text)) if *sum + tokens <= part_tokens && text.len() + segment.len() < MOST_LETTERS => {
                    *sum += tokens;
                    *text = format!("{text}, {segment}");
                }
                Some(_) | None => parts.push((tokens, segment)),
            }
        }
    }
    parts.into_iter().map(|(_, text)| text).collect()
}

/// What is to be done about documents that were added; none where the rules weigh all documents against each other.
pub(super) fn added(task: &'static Task, documents: &[ListedDocument]) -> Option<Vec<String>> {
    let work = match task {
        _ if *task == EXTRACT => 0,
        _ if *task == SUMMARISE => 1,
        _ => return None,
    };
    let tokens: u64 = documents.iter().map(|document| document.tokens).sum();
    let parts = parts(documents, PART_TOKENS.max(tokens / MOST_PARTS));
    let steps = parts.iter().map(|part| format!("{}, added: {part}", WORKS[work].1));
    Some(steps.chain([format!("{ADDITION}{}", task.name)]).collect())
}

/// The plan for `task` over `documents`.
pub(super) fn plan(task: &'static Task, documents: &[ListedDocument]) -> String {
    let (standards, policies) = sides(documents);
    let reading = match task {
        _ if *task == EXTRACT => vec![(0, documents)],
        _ if *task == SUMMARISE => vec![(1, documents)],
        _ => vec![(2, &policies[..]), (3, &standards[..])],
    };
    let tokens: u64 = documents.iter().map(|document| document.tokens).sum();
    let mut steps = vec![format!("{START}{}", task.name)];
    for (work, documents) in reading {
        for part in parts(documents, PART_TOKENS.max(tokens / MOST_PARTS)) {
            // A number of its own: names may differ by their punctuation only.
            steps.push(format!("{}, part {}: {part}", WORKS[work].1, steps.len()));
        }
    }
    steps.push(format!("{REPORT}{}", task.name));
    steps.extend([task.records, task.report].map(|path| format!("Look at {path}")));
    let phases = steps.len().div_ceil(PHASE_TODOS);
    let mut text = format!("# Execution Plan\n\n## Overview\n\nAbout {tokens} tokens of text, by rules.\n");
    for phase in 1..=phases {
        let _ = write!(text, "\n## Phase {phase}: {}, {phase} of {phases}\n\n", task.name);
        for step in &steps[(phase - 1) * steps.len() / phases..phase * steps.len() / phases] {
            let _ = writeln!(text, "- [ ] {step}");
        }
    }
    text
}
