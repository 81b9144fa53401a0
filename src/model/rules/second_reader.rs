//! The second reader's work: the statements of the parts that are to be read again. It needs no memory, for all of them stand
//! in one history. Rules that read again what they have read list the same: that proves nothing, and is done where it is
//! asked for.

use super::{
    calls::call,
    plan::Work,
    prompt_view::PromptView,
    reading::{entries, read},
};
use overnight_core::{job::tool::Tool, message::ToolCall};
use serde_json::{Value, json};

/// Reads that may fail before a part is left unread.
const MOST_FAILURES: usize = 3;
/// Records of one call.
const MOST_RECORDS: usize = 200;

/// The next calls, where the prompt is a second reader's.
pub(super) fn next(view: &PromptView<'_>) -> Option<Vec<ToolCall>> {
    let (_, task) = view.task().split_once("You are the second reader.")?;
    let (_, rest) = task.split_once("add_records(path: \"")?;
    let (file, _) = rest.split_once('"')?;
    let (mut needed, mut records) = (Vec::new(), Vec::new());
    let parts = task.split("\n\n").find(|part| part.contains("\n- ")).unwrap_or_default();
    for (name, from, to) in parts.lines().filter_map(unit) {
        let passage = view.passage(name, (from, 1), to);
        if passage.next.0 <= to && view.failures(name).len() < MOST_FAILURES {
            needed.push(read(name, passage.next, to));
        }
        let (found, _) = entries(name, &passage, Work::Statements, &mut None);
        for (number, entry) in (records.len() + 1..).zip(found) {
            records.push(json!({
                "id": format!("R-{number:03}"), "document": name, "page": entry.page, "line": entry.line,
                "section": entry.section, "strength": entry.strength.name, "quote": entry.quote,
            }));
        }
    }
    if !needed.is_empty() {
        return Some(needed);
    }
    let add = |records: &[Value]| call(Tool::AddRecords.name(), json!({"path": file, "records": records}));
    let mut calls: Vec<ToolCall> = records.chunks(MOST_RECORDS).map(add).collect();
    calls.push(call(Tool::Report.name(), json!({"text": format!("{} statements were found.", records.len())})));
    Some(calls)
}

/// `- a.pdf 4-6 (about 2,100 tokens)`.
fn unit(line: &str) -> Option<(&str, u64, u64)> {
    let (part, _) = line.strip_prefix("- ")?.strip_suffix(" tokens)")?.rsplit_once(" (about ")?;
    let (name, place) = part.rsplit_once(' ')?;
    let (from, to) = place.split_once('-').unwrap_or((place, place));
    Some((name, from.parse().ok()?, to.parse().ok()?))
}
