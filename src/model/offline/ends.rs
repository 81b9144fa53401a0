//! Where the result files end. A reply may be made in part, so that a file has more lines than the position knows of; what
//! was added is not added again. What the conversation doesn't show any more is counted in the file.

use super::{
    calls::{Call, call},
    position::{PATH, Position},
    seen::{Exchange, Seen},
};
use serde_json::json;

/// Reads that count the lines of those of `paths` that may have more of them than `position` says.
pub(super) fn counts(seen: &Seen<'_>, position: &Position, paths: &[&str]) -> Vec<Call> {
    paths
        .iter()
        .filter(|path| position.lines.contains_key(**path) && !is_sure(seen, path))
        .map(|path| count(path))
        .collect()
}

/// The read that counts a file's lines.
pub(super) fn count(path: &str) -> Call {
    call("read_file", json!({"path": path, "limit": 1}))
}

/// Whether nothing can have been added to a file since its lines were written down or counted.
fn is_sure(seen: &Seen<'_>, path: &str) -> bool {
    let told = seen.exchanges.iter().rev().find_map(|exchange| {
        let is_file = exchange.argument("path") == path;
        match exchange.name {
            "write_file" if is_file || exchange.argument("path") == PATH => exchange.is_done().then_some(true),
            "read_file" if is_file => exchange.is_answered().then_some(true),
            "append_file" | "edit_file" if is_file => exchange.is_done().then_some(false),
            _ => None,
        }
    });
    told.unwrap_or(false)
}

/// The lines that a file had when it was read last, if it was not written anew since then.
fn counted(seen: &Seen<'_>, path: &str) -> Option<u64> {
    let of_file = seen.exchanges.iter().rev().filter(|exchange| exchange.argument("path") == path);
    of_file.take_while(|exchange| !(exchange.name == "write_file" && exchange.is_done())).find_map(lines_of)
}

/// The number of lines that a read tells: `work/counts.tsv (lines 1-1 of 12):`.
fn lines_of(exchange: &Exchange<'_>) -> Option<u64> {
    let head = exchange.result.lines().next().filter(|_| exchange.name == "read_file")?;
    let (_, count) = head.strip_suffix("):")?.rsplit_once(" of ")?;
    count.parse().ok()
}

/// Why a result file lacks what was to be written: the tool refused it, and nothing was written there since.
pub(super) fn refusal<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    let is_result = |path: &str| path.starts_with("output/") || path.starts_with("work/");
    let mut written: Vec<&str> = Vec::new();
    for exchange in seen.exchanges.iter().rev().filter(|exchange| exchange.is_answered()) {
        let path = exchange.argument("path");
        if !matches!(exchange.name, "write_file" | "append_file" | "edit_file") || !is_result(path) {
            continue;
        }
        if exchange.is_done() {
            written.push(path);
        } else if !written.contains(&path) {
            return Some(exchange.result);
        }
    }
    None
}

/// Whether a file was counted with fewer lines than were recorded in it.
pub(super) fn is_short(seen: &Seen<'_>, position: &Position, path: &str) -> bool {
    counted(seen, path).zip(position.lines.get(path)).is_some_and(|(lines, recorded)| lines < *recorded)
}

/// What of `items`, a line each, the file lacks. From now on the position counts them all.
pub(super) fn lacking<T>(seen: &Seen<'_>, position: &mut Position, path: &str, items: Vec<T>) -> Vec<T> {
    let Some(before) = position.lines.get_mut(path) else { return items };
    let more = counted(seen, path).unwrap_or(0).saturating_sub(*before);
    *before += items.len() as u64;
    items.into_iter().skip(usize::try_from(more).unwrap_or(usize::MAX)).collect()
}

/// The lines of `text` that the file lacks. From now on the position counts them all.
pub(super) fn lacking_lines(seen: &Seen<'_>, position: &mut Position, path: &str, text: &str) -> String {
    lacking(seen, position, path, text.split_inclusive('\n').collect()).concat()
}
