//! What a piece of a document gives: statements or key sentences, as records in the result files.

use super::{
    calls::{Call, add_records, append},
    ends,
    position::Position,
    seen::Seen,
    statements::{Found, Line, PAGE, Statement, statements},
    stretch::{Into, Piece},
    summary::rank,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write};

const COUNTS: &str = "work/counts.tsv";
const STANDARDS: &str = "work/standards.tsv";
const POLICIES: &str = "work/policies.tsv";
/// Tokens of text for which one key sentence is chosen.
const TOKENS_A_POINT: u64 = 900;
/// Letters of the longest sentence that is chosen.
const MOST_LETTERS: usize = 600;

/// The files that grow by what is recorded.
pub(super) fn files(into: Into) -> &'static [&'static str] {
    match into {
        Into::Requirements => &["output/requirements.json", COUNTS],
        Into::KeyPoints => &["output/key_points.json", "output/summary.md", COUNTS],
        Into::Standards => &[STANDARDS, COUNTS],
        Into::Policies => &[POLICIES, COUNTS],
    }
}

/// Works a piece: the calls that record it, and the position after it.
pub(super) fn record(seen: &Seen<'_>, position: &mut Position, piece: &Piece<'_>, into: Into) -> Vec<Call> {
    match into {
        Into::KeyPoints => key_points(seen, position, piece),
        Into::Requirements | Into::Standards | Into::Policies => of_statements(seen, position, piece, into),
    }
}

fn of_statements(seen: &Seen<'_>, position: &mut Position, piece: &Piece<'_>, into: Into) -> Vec<Call> {
    let Found { mut statements, end, open_from } = statements(&piece.lines, piece.style, &piece.start);
    let first = piece.lines.first().map_or(0, |line| line.number);
    // A block that the piece's end cuts is worked with the next piece, unless it is longer than the piece.
    let cut = open_from.filter(|from| !piece.is_last && *from > first);
    if let Some(from) = cut {
        statements.retain(|statement| statement.line < from);
    }
    position.stand_at(&piece.segment.name, cut.unwrap_or(piece.after), &end);
    let name = &piece.segment.name;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for statement in &statements {
        *counts.entry(statement.strength.to_string()).or_default() += 1;
        if into == Into::Requirements {
            position.add(&statement.strength.to_string());
        }
    }
    let mut calls = Vec::new();
    match into {
        Into::Requirements => {
            let records: Vec<Value> = statements
                .iter()
                .map(|statement| {
                    position.count += 1;
                    requirement(position.count, name, statement)
                })
                .collect();
            calls.extend(add(seen, position, into.kind().records(), records));
        }
        Into::Standards | Into::Policies => {
            let rows: String = statements.iter().map(|statement| row(name, statement)).collect();
            let (path, count) = if into == Into::Standards {
                (STANDARDS, &mut position.standards)
            } else {
                position.policy_tokens += crate::context::tokens::estimate(&rows);
                (POLICIES, &mut position.policies)
            };
            *count += statements.len() as u64;
            calls.extend(append_lacking(seen, position, path, &rows));
        }
        Into::KeyPoints => {}
    }
    calls.extend(counts_row(seen, position, piece, statements.len(), &counts));
    calls
}

/// Page, and line where there are no pages.
fn place(page: Option<u64>, line: u64) -> (Value, Value) {
    match page {
        Some(page) => (json!(page), Value::Null),
        None => (Value::Null, json!(line)),
    }
}

fn requirement(number: u64, name: &str, statement: &Statement) -> Value {
    let (page, line) = place(statement.page, statement.line);
    json!({
        "id": format!("R-{number:03}"),
        "document": name,
        "page": page,
        "line": line,
        "section": statement.section,
        "strength": statement.strength.to_string(),
        "quote": statement.quote,
    })
}

/// `document, page, line, strength, quote`, tab-separated; quotes have no tabs.
fn row(name: &str, statement: &Statement) -> String {
    let page = statement.page.map_or_else(String::new, |page| page.to_string());
    let line = if statement.page.is_some() { String::new() } else { statement.line.to_string() };
    format!("{name}\t{page}\t{line}\t{}\t{}\n", statement.strength, statement.quote)
}

/// One line of `work/counts.tsv`.
fn counts_row(
    seen: &Seen<'_>,
    position: &mut Position,
    piece: &Piece<'_>,
    found: usize,
    counts: &BTreeMap<String, u64>,
) -> Option<Call> {
    let listed: Vec<String> = counts.iter().map(|(what, count)| format!("{what} {count}")).collect();
    let row = format!("{}\t{found}\t{}\n", piece.segment.name, listed.join(", "));
    append_lacking(seen, position, COUNTS, &row)
}

/// Adds the records that the file lacks.
pub(super) fn add(seen: &Seen<'_>, position: &mut Position, path: &str, records: Vec<Value>) -> Option<Call> {
    let (count, all) = (position.count, records.len());
    let lacking = ends::lacking(seen, position, path, records);
    let is_first = count == all as u64 && lacking.len() == all;
    add_records(path, is_first, &lacking)
}

/// Appends the lines that the file lacks.
pub(super) fn append_lacking(seen: &Seen<'_>, position: &mut Position, path: &str, text: &str) -> Option<Call> {
    let lacking = ends::lacking_lines(seen, position, path, text);
    (!lacking.is_empty()).then(|| append(path, &lacking))
}

fn key_points(seen: &Seen<'_>, position: &mut Position, piece: &Piece<'_>) -> Vec<Call> {
    let tokens: u64 = piece.lines.iter().map(|line| crate::context::tokens::estimate(line.text)).sum();
    let most = usize::try_from(tokens.div_ceil(TOKENS_A_POINT)).unwrap_or(1).clamp(1, 15).max(if piece.is_first {
        3
    } else {
        1
    });
    let mut ranked = rank(&piece.lines, piece.style, most);
    ranked.retain(|sentence| sentence.text.len() <= MOST_LETTERS);
    ranked.sort_by_key(|sentence| sentence.place);
    // A text without sentences still has a line that can be quoted.
    let fallback =
        (ranked.is_empty() && piece.is_first && position.count == 0).then(|| longest(&piece.lines)).flatten();
    let mut points: Vec<(u64, Option<u64>, String)> =
        ranked.into_iter().map(|sentence| (sentence.line, sentence.page, sentence.text)).collect();
    points.extend(fallback);
    let name = &piece.segment.name;
    let mut records = Vec::new();
    let mut section = String::new();
    if piece.is_first {
        section.push_str("\n## ");
        section.push_str(name);
        section.push_str("\n\n");
    }
    for (line, page, quote) in &points {
        position.count += 1;
        position.add("key sentences");
        let (page_value, line_value) = place(*page, *line);
        records.push(json!({"document": name, "page": page_value, "line": line_value, "quote": quote}));
        let at = page.map_or_else(|| format!("line {line}"), |page| format!("page {page}"));
        section.push_str("> ");
        section.push_str(quote);
        let _ = write!(section, " ({at})\n\n");
    }
    if piece.is_first && points.is_empty() {
        section.push_str("No sentence of it stands out.\n\n");
    }
    position.stand_at(name, piece.after, &piece.start);
    let mut calls = Vec::new();
    calls.extend(add(seen, position, Into::KeyPoints.kind().records(), records));
    calls.extend(append_lacking(seen, position, "output/summary.md", &section));
    calls.extend(counts_row(seen, position, piece, points.len(), &BTreeMap::new()));
    calls
}

fn longest(lines: &[Line<'_>]) -> Option<(u64, Option<u64>, String)> {
    let line = lines.iter().max_by_key(|line| line.text.trim().len().min(MOST_LETTERS))?;
    let bare =
        line.text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '>' | '-' | '*' | '|' | '`'));
    let text: String = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(MOST_LETTERS / 4).collect();
    let number = if line.number >= PAGE { line.number % PAGE } else { line.number };
    (!text.is_empty()).then_some((number, line.page, text))
}
