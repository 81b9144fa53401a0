//! Takes out of a text what differs from run to run: times, the job's id, the runner's mark, hashes, numbers of the journal's
//! lines where a process was started anew between them, and the order in which a summary lists files that were written at
//! one time.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use overnight::workspace::{Workspace, chain, journal};
use overnight_core::job::{
    digest::sha256,
    event::{Event, LifeEvent},
};
use regex::Regex;
use std::{path::Path, sync::LazyLock};

static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{3}Z)?").unwrap());
/// A file's time that the end of a shortened listing has cut.
static CUT_TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)  \d{4}-[\d :-]*$").unwrap());
static HASH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{64}\b").unwrap());
static SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""(first|last)_seq": (\d+)"#).unwrap());
static JOURNAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"("journal\.jsonl": \{[^}]*"bytes": )\d+"#).unwrap());

/// Decisions with their numbers.
pub(crate) type Decisions = Vec<(u64, Vec<Event>)>;

/// What is known of one job's workspace.
pub(crate) struct Mask {
    job: String,
    /// Numbers of the lines in which a process took the job up.
    openings: Vec<u64>,
}

impl Mask {
    pub(crate) fn new(job: String, openings: Vec<u64>) -> Self {
        Self { job, openings }
    }

    /// For the workspace at `path`; all its decisions but the openings, numbered without them.
    pub(crate) fn of(path: &Path) -> Result<(Self, Decisions), String> {
        let workspace = Workspace::open(path).map_err(|error| error.to_string())?;
        let job = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut mask = Self { job, openings: Vec::new() };
        let mut decisions = Vec::new();
        journal::read(&workspace, |line: chain::JournalLine<Event>| {
            if matches!(line.events[..], [Event::Life(LifeEvent::Opened { .. })]) {
                mask.openings.push(line.seq);
            } else {
                decisions.push((line.seq - mask.openings.len() as u64, line.events));
            }
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok((mask, decisions))
    }

    /// The line's number without the openings up to it.
    pub(crate) fn seq(&self, seq: u64) -> u64 {
        seq - self.openings_before(seq + 1)
    }

    fn openings_before(&self, seq: u64) -> u64 {
        self.openings.iter().filter(|opening| **opening < seq).count() as u64
    }

    /// The text of the file at `path`.
    pub(crate) fn file(&self, path: &str, content: &[u8]) -> String {
        let text = self.text(&String::from_utf8_lossy(content));
        if !path.ends_with("/manifest.json") {
            return text;
        }
        let text = SPAN.replace_all(&text, |found: &regex::Captures<'_>| {
            // A journal's first line may be an opening: then what counts is the one after it.
            let seq: u64 = found[2].parse().unwrap();
            let seq = if &found[1] == "first" { seq - self.openings_before(seq) } else { self.seq(seq) };
            format!(r#""{}_seq": {seq}"#, &found[1])
        });
        JOURNAL.replace(&text, "${1}0").into_owned()
    }

    pub(crate) fn text(&self, text: &str) -> String {
        let mark = format!("runner {}", &sha256(self.job.as_bytes())[..8]);
        let text = text.replace(&self.job, "<job>").replace(&mark, "runner <mark>");
        let text = TIME.replace_all(&text, "<time>");
        let text = CUT_TIME.replace_all(&text, "  <time>");
        sorted_rows(&HASH.replace_all(&text, "<sha256>"))
    }
}

/// Rows of a summary's table of files that stand together, in the order of their names; where the lines are numbered, the
/// numbers stay.
fn sorted_rows(text: &str) -> String {
    let mut lines: Vec<(&str, &str)> = text.split('\n').map(numbered).collect();
    let is_row = |line: &(&str, &str)| line.1.starts_with("| ") && line.1.contains(" bytes) | ");
    let mut at = 0;
    while at < lines.len() {
        let end = lines[at..].iter().position(|line| !is_row(line)).map_or(lines.len(), |count| at + count);
        let mut rows: Vec<&str> = lines[at..end].iter().map(|line| line.1).collect();
        rows.sort_unstable();
        lines[at..end].iter_mut().zip(rows).for_each(|(line, row)| line.1 = row);
        at = end + 1;
    }
    let mut sorted = String::with_capacity(text.len());
    for (place, (number, line)) in lines.iter().enumerate() {
        sorted.push_str(if place == 0 { "" } else { "\n" });
        sorted.push_str(number);
        sorted.push_str(line);
    }
    sorted
}

/// A line and the number before it, as `read_file` shows it.
fn numbered(line: &str) -> (&str, &str) {
    match line.split_once('\t') {
        Some((number, _)) if number.bytes().all(|byte| byte.is_ascii_digit()) => line.split_at(number.len() + 1),
        Some(_) | None => ("", line),
    }
}
