//! What the rules can do, and the plan for it. A plan's steps are the todos: each names its stretch of the documents.

use super::listing::Listed;
use regex::Regex;
use std::{fmt::Write, sync::LazyLock};

/// The work of the shipped instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Extract,
    Summarise,
    Audit,
}

/// Tokens that one todo reads.
const STRETCH_TOKENS: u64 = 18_000;
/// Small documents that one todo reads together.
const STRETCH_DOCUMENTS: usize = 6;
/// Letters of a todo's list of documents.
const STRETCH_LETTERS: usize = 380;
/// Stretches of one phase: where each line is a record, one takes 16 turns, and a phase may have 200.
const PHASE_STRETCHES: usize = 11;

/// A part of a document, in its pages or lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) name: String,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Tokens of a hundred units, estimated.
    pub(super) density: u64,
}

pub(super) const TO_DIVIDE: &str = "Compare the standard statements (divided when their number is known)";
pub(super) const LIST: &str = "List the documents";
pub(super) const START: &str = "Start the result files";
pub(super) const RESUME: &str = "Read work/position.json";
pub(super) const CHECK_SIZE: &str = "Check the size of";
pub(super) const CHECK_READ: &str = "Check what is read so far";
pub(super) const READ_COUNTS: &str = "Read the counts";
pub(super) const WRITE_REPORT: &str = "Write";
pub(super) const READ_AGAIN: &str = "Read again";

/// What the instructions ask for, by the deliverables that they name; an error says what can't be made.
pub(super) fn kind(task: &str) -> Result<Kind, String> {
    static DELIVERABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m)^### `(output/[^`]+)`").ok());
    let paths: Vec<&str> = DELIVERABLE
        .as_ref()
        .map(|pattern| {
            pattern.captures_iter(task).filter_map(|found| found.get(1)).map(|found| found.as_str()).collect()
        })
        .unwrap_or_default();
    let all = |known: &[&str]| !paths.is_empty() && paths.iter().all(|path| known.contains(path));
    if all(&["output/requirements.json", "output/summary.md"]) && paths.contains(&"output/requirements.json") {
        Ok(Kind::Extract)
    } else if all(&["output/findings.json", "output/audit.md"]) {
        Ok(Kind::Audit)
    } else if all(&["output/summary.md", "output/key_points.json"]) {
        Ok(Kind::Summarise)
    } else {
        Err(format!(
            "the offline model is a set of rules for extract-requirements, summarize-documents and audit-policy; it can't make {}. Use a language model for these instructions",
            if paths.is_empty() { "what is asked for".to_owned() } else { paths.join(", ") }
        ))
    }
}

impl Kind {
    /// The file that grows with each stretch.
    pub(super) fn records(self) -> &'static str {
        match self {
            Self::Extract => "output/requirements.json",
            Self::Summarise => "output/key_points.json",
            Self::Audit => "output/findings.json",
        }
    }

    pub(super) fn report(self) -> &'static str {
        match self {
            Self::Extract | Self::Summarise => "output/summary.md",
            Self::Audit => "output/audit.md",
        }
    }

    /// The word by which a plan names its kind, to be found again after a compaction.
    fn word(self) -> &'static str {
        match self {
            Self::Extract => "Extraction of normative statements",
            Self::Summarise => "Summary by ranked sentences",
            Self::Audit => "Comparison of policies with standards",
        }
    }

    /// The kind of a plan that these rules wrote.
    pub(super) fn of_plan(text: &str) -> Option<Self> {
        [Self::Extract, Self::Summarise, Self::Audit].into_iter().find(|kind| text.contains(kind.word()))
    }
}

/// Whether a document belongs to the policies, by its name.
fn is_named_policy(name: &str) -> bool {
    let name = name.to_lowercase();
    ["polic", "handbook", "procedure"].iter().any(|word| name.contains(word))
}

/// Standards and policies, as `audit-policy` tells them apart.
fn sides(documents: &[Listed]) -> (Vec<Listed>, Vec<Listed>) {
    let (policies, standards): (Vec<Listed>, Vec<Listed>) =
        documents.iter().cloned().partition(|document| is_named_policy(&document.name));
    if !policies.is_empty() && !standards.is_empty() {
        return (standards, policies);
    }
    let mut all = documents.to_vec();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let rest = if all.is_empty() { Vec::new() } else { all.split_off(1) };
    (all, rest)
}

/// The documents cut into stretches of about the same size, small ones together.
fn stretches(documents: &[Listed]) -> Vec<String> {
    let mut stretches: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut open_tokens = 0;
    let mut flush = |open: &mut Vec<String>, tokens: &mut u64| {
        if !open.is_empty() {
            stretches.push(open.join(" and "));
            open.clear();
        }
        *tokens = 0;
    };
    for document in documents.iter().filter(|document| document.units > 0) {
        let parts = document.tokens.div_ceil(STRETCH_TOKENS).clamp(1, document.units);
        let size = document.units.div_ceil(parts);
        let density = document.tokens * 100 / document.units;
        let mut from = 1;
        while from <= document.units {
            let to = (from + size - 1).min(document.units);
            let text = format!("`{}` [{from}-{to}, {density}]", written(&document.name));
            let tokens = document.tokens / parts;
            let letters: usize = open.iter().map(String::len).sum::<usize>() + text.len();
            if open_tokens + tokens > STRETCH_TOKENS || open.len() >= STRETCH_DOCUMENTS || letters > STRETCH_LETTERS {
                flush(&mut open, &mut open_tokens);
            }
            open.push(text);
            open_tokens += tokens;
            from = to + 1;
        }
    }
    flush(&mut open, &mut open_tokens);
    stretches
}

/// A name as a todo can hold it, on one line between backticks: what would be lost there is written `%xx`.
fn written(name: &str) -> String {
    let last = name.chars().count().saturating_sub(1);
    let mut before = ' ';
    let mut text = String::with_capacity(name.len());
    for (place, letter) in name.chars().enumerate() {
        let is_lost = matches!(letter, '%' | '`' | '═' | '─' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || letter.is_whitespace() && (letter != ' ' || before == ' ' || place == last);
        if is_lost {
            for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(text, "%{byte:02x}");
            }
        } else {
            text.push(letter);
        }
        before = letter;
    }
    text
}

/// The name that [`written`] has written.
fn read_back(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%').then(|| after.get(..2)).flatten();
        let value =
            code.and_then(|code| std::str::from_utf8(code).ok()).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(value.unwrap_or(byte));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The segments that a todo names.
pub(super) fn segments(todo: &str) -> Vec<Segment> {
    static SEGMENT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`([^`]+)` \[(\d+)-(\d+), (\d+)\]").ok());
    let Some(pattern) = SEGMENT.as_ref() else {
        return Vec::new();
    };
    pattern
        .captures_iter(todo)
        .filter_map(|found| {
            Some(Segment {
                name: read_back(&found[1]),
                from: found[2].parse().ok()?,
                to: found[3].parse().ok()?,
                density: found[4].parse().ok()?,
            })
        })
        .collect()
}

/// The plan for `kind` over `documents`.
pub(super) fn plan(kind: Kind, documents: &[Listed]) -> String {
    let mut phases: Vec<(String, Vec<String>)> = Vec::new();
    let tokens: u64 = documents.iter().map(|document| document.tokens).sum();
    let mut overview = format!("{} over {} documents, about {tokens} tokens.", kind.word(), documents.len());
    match kind {
        Kind::Extract => {
            reading(&mut phases, "Extraction", &with_verb("Extract the statements of", &stretches(documents)), kind);
        }
        Kind::Summarise => {
            reading(&mut phases, "Reading", &with_verb("Choose the key sentences of", &stretches(documents)), kind);
        }
        Kind::Audit => {
            let (standards, policies) = sides(documents);
            let names = |side: &[Listed]| side.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
            let _ = write!(overview, "\n\nStandards: {}\n\nPolicies: {}", names(&standards), names(&policies));
            let mut steps = with_verb("Collect the standard statements of", &stretches(&standards));
            steps.extend(with_verb("Collect the policy statements of", &stretches(&policies)));
            reading(&mut phases, "Statements", &steps, kind);
            let closing = [format!("{CHECK_SIZE} {}", kind.records()), CHECK_READ.to_owned(), RESUME.to_owned()];
            let mut compare = vec![LIST.to_owned(), TO_DIVIDE.to_owned()];
            compare.extend(closing);
            phases.push(("Comparison".to_owned(), compare));
        }
    }
    let report = kind.report();
    phases.push((
        "Report".to_owned(),
        vec![
            format!("{READ_COUNTS} in work/counts.tsv"),
            format!("{WRITE_REPORT} {report}"),
            format!("{READ_AGAIN} {report}"),
            format!("{CHECK_SIZE} {}", kind.records()),
            CHECK_READ.to_owned(),
        ],
    ));
    let mut text = format!("# Execution Plan\n\n## Overview\n\n{overview}\n");
    for (number, (title, steps)) in (1..).zip(&phases) {
        let _: usize = number;
        let _ = write!(text, "\n## Phase {number}: {title}\n\n");
        for step in steps {
            let _ = writeln!(text, "- [ ] {step}");
        }
    }
    text
}

fn with_verb(verb: &str, stretches: &[String]) -> Vec<String> {
    stretches.iter().map(|stretch| format!("{verb} {stretch}")).collect()
}

/// Phases of about equal size that read all stretches.
fn reading(phases: &mut Vec<(String, Vec<String>)>, title: &str, steps: &[String], kind: Kind) {
    let count = steps.len().div_ceil(PHASE_STRETCHES).max(1);
    let size = steps.len().div_ceil(count).max(1);
    let empty: [&[String]; 1] = [&[]];
    let chunks: Vec<&[String]> = if steps.is_empty() { empty.to_vec() } else { steps.chunks(size).collect() };
    for (place, chunk) in chunks.iter().enumerate() {
        let name = if chunks.len() == 1 { title.to_owned() } else { format!("{title} {}", place + 1) };
        let mut todos = vec![LIST.to_owned(), if place == 0 { START.to_owned() } else { RESUME.to_owned() }];
        todos.extend(chunk.iter().cloned());
        todos.push(format!("{CHECK_SIZE} {}", kind.records()));
        todos.push(CHECK_READ.to_owned());
        phases.push((name, todos));
    }
}

/// What is shown while a todo is worked.
pub(super) fn active_form(step: &str) -> String {
    let forms = [
        ("List ", "Listing "),
        ("Start ", "Starting "),
        ("Extract ", "Extracting "),
        ("Choose ", "Choosing "),
        ("Collect ", "Collecting "),
        ("Compare ", "Comparing "),
        ("Check ", "Checking "),
        ("Read ", "Reading "),
        ("Write ", "Writing "),
    ];
    let found = forms.iter().find_map(|(verb, form)| step.strip_prefix(verb).map(|rest| format!("{form}{rest}")));
    found.unwrap_or_else(|| format!("Working on: {step}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_found_again_in_a_todo() {
        for name in [
            "a`b.txt",
            "a  b.txt",
            " lead.txt",
            "trail ",
            "100%.md",
            "%20.txt",
            "tab\tname",
            "日本 語.md",
            "a═b─c.txt",
            "x [1-2, 3].md",
            "\u{feff}a\u{feff}b\u{200d}c.md",
        ] {
            let listed =
                Listed { name: name.to_owned(), units: 3, tokens: 30, not_read: Vec::new(), recognised: Vec::new() };
            let todo = crate::job::todo_list::clean(&with_verb("Read", &stretches(&[listed]))[0]);
            let expected = Segment { name: name.to_owned(), from: 1, to: 3, density: 1_000 };
            assert_eq!(segments(&todo), [expected], "{todo}");
        }
    }
}
