//! A part of the documents, read piece by piece. What is in sight is worked at once and recorded; what its end may have cut
//! is left to the next piece.

use super::blocks::blocks;
use super::calls::{blocked, call, complete};
use super::compare::{POLICIES, findings};
use super::plan::{EXTRACT, SUMMARISE, Segment, Work};
use super::prompt_view::{DocumentPlace, Passage, PromptView};
use super::state::{ReadingState, in_words};
use super::statements::{Strength, collapsed, statements};
use super::summary::key_sentences;
use overnight_core::{message::ToolCall, tokens::estimate};
use serde_json::json;
use std::{fmt::Write, ops::Range};

/// Key sentences of a long document, and the tokens of text for each of a short one.
const MOST_POINTS: u64 = 12;
const TOKENS_A_POINT: u64 = 200;

/// A sentence of a document that is to be recorded.
pub(super) struct RecordedSentence {
    pub(super) page: Option<u64>,
    pub(super) line: Option<u64>,
    pub(super) section: Option<String>,
    pub(super) strength: Strength,
    /// As it stands there, but for white space.
    pub(super) quote: String,
}

/// The next calls for a todo.
pub(super) fn work(view: &PromptView<'_>, work: Work, segments: &[Segment]) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let mut state = ReadingState::recall(view)?;
    let before = state.clone();
    let (mut calls, mut needed) = (Vec::new(), Vec::new());
    let first = segments.iter().position(|segment| segment.name == state.document).unwrap_or(0);
    for (number, segment) in segments.iter().enumerate().skip(first) {
        if state.document != segment.name {
            state.document.clone_from(&segment.name);
            (state.next, state.section) = ((segment.from, 1), None);
            state.of_document.clear();
        }
        let passage = view.passage(&segment.name, state.next, segment.to);
        if !passage.lines.is_empty() {
            match piece(view, &mut state, work, &passage) {
                Ok(recorded) => calls.extend(recorded),
                Err(calls) => needed = calls,
            }
        }
        if needed.is_empty() && passage.next.0 <= segment.to {
            let failures = view.failures(&segment.name);
            if failures.len() > 1 {
                return Err(vec![blocked(&format!("{} can't be read: {}", segment.name, failures[0]))]);
            }
            needed.push(read(&segment.name, state.next, segment.to));
            needed.extend(segments[number + 1..].iter().map(|next| read(&next.name, (next.from, 1), next.to)));
        }
        if !needed.is_empty() {
            break;
        }
    }
    if needed.is_empty() {
        needed.push(complete(&format!("recorded; so far: {}", in_words(&state.totals))));
    }
    calls.extend((state != before && state.is_level(view)).then(|| state.save()));
    calls.extend(needed);
    Ok(calls)
}

pub(super) fn read(name: &str, (unit, line): DocumentPlace, to: u64) -> ToolCall {
    call("read_document", json!({"name": name, "from": unit, "to": to, "line": line}))
}

/// Records what is in sight of a document from the state's place on, and moves that place behind it; or gives the calls that
/// are needed first.
fn piece(
    view: &PromptView<'_>,
    state: &mut ReadingState,
    work: Work,
    passage: &Passage<'_>,
) -> Result<Vec<ToolCall>, Vec<ToolCall>> {
    let (is_beginning, name, mut section) = (state.next == (1, 1), state.document.clone(), state.section.clone());
    let (entries, next) = entries(&name, passage, work, &mut section);
    let mut calls = Vec::new();
    match work {
        Work::Statements => {
            let mut records = Vec::new();
            for (number, entry) in (state.entries + 1..).zip(&entries) {
                state.count(entry.strength.name);
                records.push(json!({
                    "id": format!("R-{number:03}"), "document": name, "page": entry.page, "line": entry.line,
                    "section": entry.section, "strength": entry.strength.name, "quote": entry.quote,
                }));
            }
            calls.extend(state.record(view, EXTRACT.records, &records));
            if passage.is_end {
                let (count, of_these) = (state.of_document.values().sum::<u64>(), in_words(&state.of_document));
                let row = format!("| {} | {count} | {of_these} |\n", name.replace('|', "\\|"));
                calls.extend(state.append(view, EXTRACT.report, &row));
            }
        }
        Work::KeyPoints => {
            let mut text = if is_beginning { format!("\n## {name}\n\n") } else { String::new() };
            let mut records = Vec::new();
            for entry in &entries {
                state.count("key sentences");
                records.push(json!({"document": name, "page": entry.page, "line": entry.line, "quote": entry.quote}));
                let (unit, number) =
                    (if passage.is_paged { "page" } else { "line" }, entry.page.or(entry.line).unwrap_or(1));
                let _ = write!(text, "> {} ({unit} {number})\n\n", entry.quote);
            }
            calls.extend(state.record(view, SUMMARISE.records, &records));
            calls.extend(state.append(view, SUMMARISE.report, &text));
        }
        Work::Policies => {
            let row =
                |entry: &RecordedSentence| json!([name, entry.page, entry.line, entry.strength.name, entry.quote]);
            let rows: String = entries.iter().map(|entry| row(entry).to_string() + "\n").collect();
            calls.extend(state.append(view, POLICIES, &rows));
        }
        Work::Standards => calls = findings(view, state, &entries)?,
    }
    (state.next, state.section) = (next, section);
    Ok(calls)
}

/// What is to be recorded of a passage, and where to go on: what its end may have cut is left out, unless it is all there is.
pub(super) fn entries(
    name: &str,
    passage: &Passage<'_>,
    work: Work,
    section: &mut Option<String>,
) -> (Vec<RecordedSentence>, DocumentPlace) {
    let (mut entries, mut next) = (Vec::new(), passage.next);
    let sheets: Vec<_> = passage.lines.chunk_by(|a, b| !passage.is_paged || a.0.0 == b.0.0).collect();
    for (number, lines) in sheets.iter().enumerate() {
        let text = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let line_at = |byte: usize| ends.partition_point(|end| *end < byte);
        let mut blocks = blocks(name, &text);
        let is_cut = number + 1 == sheets.len() && if passage.is_paged { next.1 > 1 } else { !passage.is_end };
        if is_cut && line_at(blocks.last) > 0 {
            next = lines[line_at(blocks.last)].0;
            blocks.list.retain(|block| block.range.start < blocks.last);
        }
        let entry = |range: Range<usize>, strength: Strength, section: Option<String>| {
            let unit = lines.get(line_at(range.start)).map(|(place, _)| place.0);
            let (page, line) = if passage.is_paged { (unit, None) } else { (None, unit) };
            RecordedSentence { page, line, section, strength, quote: collapsed(&text[range]) }
        };
        if work == Work::KeyPoints {
            let share = |unit: u64| unit * MOST_POINTS / passage.units.max(1);
            let (first, last) = (lines[0].0.0, lines[lines.len() - 1].0.0);
            let most = (share(last) - share(first - 1)).min(estimate(&text) / TOKENS_A_POINT + 1);
            let chosen = key_sentences(&text, &blocks.list, usize::try_from(most).unwrap_or(1));
            entries.extend(chosen.into_iter().map(|range| entry(range, Strength::default(), None)));
        } else {
            let found = statements(&text, &blocks.list, section);
            entries.extend(found.into_iter().map(|one| entry(one.range, one.strength, one.section)));
        }
    }
    (entries, next)
}
