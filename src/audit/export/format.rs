//! Formatting for the pages: times in UTC, so that the same record looks the same anywhere; amounts; links.

use crate::audit::timeline::Spending;
use overnight_core::{
    amount::{COST_UNKNOWN, grouped},
    job::{
        event::ShownPart,
        spec::JobSpec,
        time::{self, Timestamp},
    },
    message::Usage,
};
use std::fmt::Write;

/// Files that a browser shows as text. Only these are linked: content of a model or a document must never run.
const SHOWN_AS_TEXT: [&str; 5] = ["csv", "json", "jsonl", "md", "txt"];

/// `2026-11-21 03:14:07 UTC`.
pub(super) fn moment(at: Timestamp) -> String {
    format!("{} UTC", time::moment(at))
}

/// `0.0123 USD`.
pub(super) fn cost(usd: Option<f64>) -> String {
    usd.map_or_else(|| COST_UNKNOWN.to_owned(), |usd| format!("{usd:.4} USD"))
}

/// `12,345 in (8,000 cached), 678 out`.
pub(super) fn usage(usage: &Usage) -> String {
    tokens(usage.input, usage.cached, usage.output)
}

/// The same for a part of the journal.
pub(super) fn spent(spent: &Spending) -> String {
    tokens(spent.tokens_in, spent.tokens_cached, spent.tokens_out)
}

fn tokens(read: u64, cached: u64, written: u64) -> String {
    let cached = if cached > 0 { format!(" ({} cached)", grouped(cached)) } else { String::new() };
    format!("{} in{cached}, {} out", grouped(read), grouped(written))
}

/// `contract.pdf pages 1-4`.
pub(super) fn part(spec: &JobSpec, part: &ShownPart) -> String {
    let unit = spec.document(&part.document).map_or("line", |document| document.unit_name());
    let lines = part.lines.map(|lines| format!(", {lines}")).unwrap_or_default();
    if part.from == part.to {
        format!("{} {unit} {}{lines}", part.document, part.from)
    } else {
        format!("{} {unit}s {}-{}{lines}", part.document, part.from, part.to)
    }
}

/// A link to a file of the record, relative to its folder; `None` if a browser might do more than show the file.
pub(super) fn link(path: &str) -> Option<String> {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase())?;
    SHOWN_AS_TEXT.contains(&ending.as_str()).then(|| {
        path.bytes().fold(String::new(), |mut link, byte| {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => link.push(char::from(byte)),
                _ => drop(write!(link, "%{byte:02X}")),
            }
            link
        })
    })
}
