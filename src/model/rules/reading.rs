//! Reads documents piece by piece. The text of each read is processed and recorded immediately; a sentence that may be
//! cut at its end is left to the next read.

use super::blocks::blocks;
use super::compare::{GAPS, POLICIES, findings};
use super::plan::{ReadUntil, Reading, Work};
use super::prompt_view::{DocumentPlace, Passage, PromptView, call};
use super::state::{ReadingState, in_words};
use super::statements::{collapsed, statements};
use super::summary::key_sentences;
use overnight_core::job::{contract::records::MOST_RECORDS, tool::Tool};
use overnight_core::{message::ToolCall, tokens::estimate};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{fmt::Write, ops::Range};

/// Key sentences of a long document, and the tokens of text for each of a short one.
const MOST_POINTS: u64 = 12;
const TOKENS_A_POINT: u64 = 200;

/// A sentence of a document to be recorded, in the form of `extract-requirements`.
#[derive(Serialize, Deserialize)]
pub(super) struct RecordedSentence {
    id: String,
    pub(super) document: String,
    pub(super) page: Option<u64>,
    pub(super) line: Option<u64>,
    section: Option<String>,
    pub(super) strength: String,
    /// As in the document, except for white space.
    pub(super) quote: String,
}

/// Reads these documents up to `until` as far as the prompt shows them, collecting `changes` of files. The error holds
/// the calls for the next read.
pub(super) fn work(
    view: &PromptView<'_>,
    state: &mut ReadingState,
    reading: &[Reading],
    until: ReadUntil,
    changes: &mut Vec<ToolCall>,
) -> Result<(), Vec<ToolCall>> {
    let reading = &reading[..until.document.min(reading.len())];
    while let Some(Reading { work, name, .. }) = reading.get(state.read) {
        let passage = view.passage(name, state.next).map_err(|mut needed| {
            let behind = reading[state.read + 1..].iter().map(|next| view.passage(&next.name, (1, 1)));
            needed.extend(behind.filter_map(Result::err).flatten());
            // A call that ends the job stands alone.
            let is_end = |call: &ToolCall| call.name == Tool::JobComplete.name();
            if let Some(end) = needed.iter().position(is_end) { vec![needed.swap_remove(end)] } else { needed }
        })?;
        record(view, state, *work, (name, &passage), changes)?;
        if passage.next.is_none() {
            (state.read, state.section) = (state.read + 1, None);
            state.of_document.clear();
        } else if state.read + 1 == until.document && state.next.0 * until.parts > passage.units * until.part {
            return Ok(());
        }
    }
    Ok(())
}

/// Records the text of a read, and moves the state's place behind it.
fn record(
    view: &PromptView<'_>,
    state: &mut ReadingState,
    work: Work,
    (name, passage): (&str, &Passage<'_>),
    changes: &mut Vec<ToolCall>,
) -> Result<(), Vec<ToolCall>> {
    let ([list, _, report, _], mut section) = (state.task.names(), state.section.clone());
    let (mut sentences, next) = sentences(name, passage, work, &mut section);
    let (mut records, mut text, mut file) = (Vec::new(), String::new(), report);
    match work {
        Work::Statements => {
            for sentence in &mut sentences {
                state.count(&sentence.strength);
                sentence.id = format!("R-{:03}", state.entries);
                records.push(json!(sentence));
            }
            if passage.next.is_none() {
                let count: u64 = state.of_document.values().sum();
                let _ = writeln!(text, "- {name}: {count} ({})", in_words(&state.of_document));
            }
        }
        Work::KeyPoints => {
            if state.next == (1, 1) {
                let _ = write!(text, "## {name}\n\n");
            }
            for RecordedSentence { page, line, quote, .. } in &sentences {
                state.count("key sentences");
                records.push(json!({"document": name, "page": page, "line": line, "quote": quote}));
                let unit = if passage.is_paged { "page" } else { "line" };
                let _ = write!(text, "> {quote} ({unit} {})\n\n", page.or(*line).unwrap_or(1));
            }
        }
        Work::Policies => {
            file = POLICIES;
            text.extend(sentences.iter().map(|sentence| format!("{}\n", json!(sentence))));
        }
        Work::Standards => {
            file = GAPS;
            (records, text) = findings(&view.file(POLICIES)?, state, &sentences);
        }
    }
    let some = |records: &[Value]| call(Tool::AddRecords, json!({"path": list, "records": records}));
    changes.extend(records.chunks(MOST_RECORDS).map(some));
    changes.extend((!text.is_empty()).then(|| call(Tool::AppendFile, json!({"path": file, "content": text}))));
    (state.next, state.section) = (next.unwrap_or((1, 1)), section);
    Ok(())
}

/// The sentences of a passage to record, and where to continue: a block that may be cut waits, unless it is alone.
fn sentences(
    name: &str,
    passage: &Passage<'_>,
    work: Work,
    section: &mut Option<String>,
) -> (Vec<RecordedSentence>, Option<DocumentPlace>) {
    let (is_paged, mut next, mut found) = (passage.is_paged, passage.next, Vec::new());
    let sheets: Vec<_> = passage.lines.chunk_by(|a, b| !is_paged || a.0.0 == b.0.0).collect();
    for (number, lines) in sheets.iter().enumerate() {
        let text = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let line_at = |byte: usize| ends.partition_point(|end| *end < byte);
        let (mut blocks, last) = blocks(name, &text);
        let is_cut = number + 1 == sheets.len() && next.is_some_and(|(_, line)| !is_paged || line > 1);
        if is_cut && line_at(last) > 0 {
            next = Some(lines[line_at(last)].0);
            blocks.retain(|block| block.range.start < last);
        }
        let sentence = |range: Range<usize>, strength: String, section: Option<String>| {
            let unit = lines.get(line_at(range.start)).map(|(place, _)| place.0);
            let (page, line) = if is_paged { (unit, None) } else { (None, unit) };
            let (document, quote) = (name.to_owned(), collapsed(&text[range]));
            RecordedSentence { id: String::new(), document, page, line, section, strength, quote }
        };
        if work == Work::KeyPoints {
            let share = |unit: u64| unit * MOST_POINTS / passage.units.max(1);
            let (first, last) = (lines[0].0.0, lines[lines.len() - 1].0.0);
            let most = (share(last) - share(first - 1)).min(estimate(&text) / TOKENS_A_POINT + 1);
            let chosen = key_sentences(&text, &blocks, usize::try_from(most).unwrap_or(1));
            found.extend(chosen.into_iter().map(|range| sentence(range, String::new(), None)));
        } else {
            let all = statements(&text, &blocks, section);
            found.extend(all.into_iter().map(|(range, strength, section)| sentence(range, strength, section)));
        }
    }
    (found, next)
}
