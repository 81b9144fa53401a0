//! The prompt as the rules see it: the board, where things stand, and what was called with which result. Nothing else is
//! known to them, as to any model.

use super::statements::{Line, PAGE};
use crate::{
    context::{
        fence::quoted,
        message::{Message, Prompt},
    },
    job::pages::PageLines,
};
use regex::Regex;
use serde_json::Value;
use std::{collections::BTreeMap, sync::LazyLock};

/// What the board asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Board {
    Todo { content: String, is_last_of_review: bool },
    UpdateMemory,
    UpdatePlan,
    CreateTodos { title: String },
    Digest,
    Unknown,
}

/// A call that was made, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) result: &'a str,
}

impl Exchange<'_> {
    pub(super) fn argument(&self, name: &str) -> &str {
        self.arguments[name].as_str().unwrap_or_default()
    }

    /// Whether the tool said something that still stands there. A call that was not run is to be made again, and so is one
    /// whose result was folded.
    pub(super) fn is_answered(&self) -> bool {
        !self.result.is_empty() && !self.result.starts_with("not run") && !self.is_folded()
    }

    /// Whether its result stood there once.
    pub(super) fn is_folded(&self) -> bool {
        self.result.starts_with('[')
    }

    /// Whether it changed its file.
    pub(super) fn is_done(&self) -> bool {
        ["Wrote", "Appended to", "Edited"].iter().any(|word| self.result.starts_with(word))
    }
}

/// All that a prompt shows.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) board: Board,
    /// Layer 4 and what was examined.
    pub(super) standing: String,
    /// Since the last compaction, oldest first.
    pub(super) exchanges: Vec<Exchange<'a>>,
    /// Where the current todo's exchanges begin.
    todo_from: usize,
}

impl<'a> Seen<'a> {
    pub(super) fn of(prompt: &'a Prompt) -> Self {
        let mut results: BTreeMap<&str, &str> = BTreeMap::new();
        let mut standing = String::new();
        let mut board = "";
        for message in &prompt.messages {
            match message {
                Message::Tool { call, text, .. } => {
                    results.insert(call, text);
                }
                Message::User { text } => {
                    standing.push_str(board);
                    standing.push('\n');
                    board = text;
                }
                Message::System { .. } | Message::Assistant { .. } => {}
            }
        }
        let exchanges: Vec<Exchange<'a>> = prompt
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { calls, .. } => Some(calls),
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
            })
            .flatten()
            .map(|call| Exchange {
                name: &call.name,
                arguments: &call.arguments,
                result: results.get(call.id.as_str()).copied().unwrap_or_default(),
            })
            .collect();
        let is_completion =
            |exchange: &Exchange<'_>| exchange.name == "todo_complete" && exchange.result.contains("marked complete");
        let todo_from = exchanges.iter().rposition(is_completion).map_or(0, |last| last + 1);
        Self { board: read_board(board), standing, exchanges, todo_from }
    }

    /// Exchanges of the current todo.
    pub(super) fn of_todo(&self) -> &[Exchange<'a>] {
        &self.exchanges[self.todo_from..]
    }

    /// The newest text of a small file that the conversation shows, written or read.
    pub(super) fn file(&self, path: &str) -> Option<String> {
        self.exchanges.iter().rev().find_map(|exchange| {
            if exchange.argument("path") != path {
                return None;
            }
            match exchange.name {
                "write_file" if exchange.is_done() => Some(exchange.argument("content").to_owned()),
                "read_file" if exchange.result.starts_with(path) => Some(numbered(exchange.result).join("\n")),
                _ => None,
            }
        })
    }

    /// Whether the todo has an answer of `tool` to a call whose argument `key` is `value`.
    pub(super) fn did(&self, tool: &str, key: &str, value: &str) -> bool {
        self.of_todo()
            .iter()
            .any(|exchange| exchange.name == tool && exchange.argument(key) == value && exchange.is_answered())
    }

    /// The lines of a file that reads among `exchanges` have shown, by number.
    pub(super) fn lines_of(exchanges: &[Exchange<'a>], path: &str) -> BTreeMap<u64, &'a str> {
        exchanges
            .iter()
            .filter(|exchange| exchange.name == "read_file" && exchange.argument("path") == path)
            .flat_map(|exchange| numbered_lines(exchange.result))
            .collect()
    }
}

/// The lines of a numbered listing, without the words around them.
fn numbered_lines(result: &str) -> impl Iterator<Item = (u64, &str)> {
    result
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(number, text)| Some((number.parse().ok()?, text)))
}

/// The same without their numbers.
fn numbered(result: &str) -> Vec<&str> {
    numbered_lines(result).map(|(_, text)| text).collect()
}

fn read_board(text: &str) -> Board {
    let lines = || text.lines().map(str::trim);
    if lines().any(|line| line == "DIGEST") {
        return Board::Digest;
    }
    if lines().any(|line| line == "PLANNING") {
        let step = lines().find_map(|line| line.strip_prefix("Step: ")).unwrap_or_default();
        return match step.split(' ').next() {
            Some("update_memory") => Board::UpdateMemory,
            Some("update_plan") => Board::UpdatePlan,
            Some("create_todos") => {
                let title = text
                    .split_once("next phase, \"")
                    .and_then(|(_, rest)| rest.split_once("\", with"))
                    .map(|(title, _)| title);
                let title = title.and_then(|title| title.split_once(": ")).map_or("", |(_, title)| title);
                Board::CreateTodos { title: title.to_owned() }
            }
            Some(_) | None => Board::Unknown,
        };
    }
    let current =
        lines().find_map(|line| line.strip_prefix("[>] ")).and_then(|line| line.split_once("      ← CURRENT"));
    match current.and_then(|(task, _)| task.split_once(". ")) {
        Some((_, content)) => {
            Board::Todo { content: content.to_owned(), is_last_of_review: content.starts_with("Call job_complete()") }
        }
        None => Board::Unknown,
    }
}

/// One unit of a document, as `read_document` results show it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit<'a> {
    /// By number.
    lines: BTreeMap<u64, Line<'a>>,
    /// Lines of a page that was shown in parts, of which some may be missing here.
    of: Option<u64>,
}

impl<'a> Unit<'a> {
    /// The lines from the one numbered `next` on, and the place in the page of the first that isn't here.
    pub(super) fn from(&self, unit: u64, next: u64) -> (Vec<Line<'a>>, Option<u64>) {
        let Some(of) = self.of else {
            return (self.lines.range(next..).map(|(_, line)| *line).collect(), None);
        };
        let mut number = next.max(unit * PAGE + 1);
        let mut lines = Vec::new();
        while let Some(line) = self.lines.get(&number) {
            lines.push(*line);
            number += 1;
        }
        let place = number - unit * PAGE;
        (lines, (place <= of).then_some(place))
    }
}

/// The page that a line of a result begins: `[page 3]`, `[page 3, recognised by OCR: nothing on it]`, and of a page in
/// parts its lines: `[page 3, lines 5-9 of 20]`.
fn page_of(line: &str) -> Option<(u64, Option<PageLines>)> {
    static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\[page (\d+)(?:, recognised by OCR)?(?:, lines? (\d+)(?:-(\d+))? of (\d+))?(?:: .*)?\]$").ok()
    });
    let found = HEADING.as_ref().filter(|_| line.starts_with("[page "))?.captures(line)?;
    let number = |at: usize| found.get(at).and_then(|number| number.as_str().parse::<u64>().ok());
    let lines = number(2).zip(number(4)).map(|(from, of)| PageLines { from, to: number(3).unwrap_or(from), of });
    Some((number(1)?, lines))
}

/// The units of document `name` that the exchanges show, by number; and whether they are pages.
pub(super) fn units<'a>(exchanges: &[Exchange<'a>], name: &str) -> (BTreeMap<u64, Unit<'a>>, bool) {
    let mut units = BTreeMap::new();
    let mut paged = false;
    for exchange in exchanges.iter().filter(|exchange| exchange.name == "read_document") {
        let Some((head, rest)) = exchange.result.split_once('\n') else {
            continue;
        };
        let Some(mark) = head.strip_prefix("<document ").and_then(|head| head.split(' ').next()) else {
            continue;
        };
        if !head.contains(&format!(" name={} ", quoted(name))) {
            continue;
        }
        let Some((body, _)) = rest.split_once(&format!("</document {mark}>")) else {
            continue;
        };
        if head.contains(" pages=\"") {
            paged = true;
            let first = head.split_once(" pages=\"").and_then(|(_, pages)| pages.split_once('-')?.0.parse().ok());
            pages(body, first.unwrap_or(1), &mut units);
        } else {
            for line in body.split('\n') {
                let Some((Ok(number), text)) = line.split_once('\t').map(|(number, text)| (number.parse(), text))
                else {
                    continue;
                };
                let line = Line { number, page: None, text };
                units.insert(number, Unit { lines: [(number, line)].into(), of: None });
            }
        }
    }
    (units, paged)
}

/// Adds the pages of a result, the first of which is `first`. Only the next page may begin: a document may have lines that
/// look like the one over a page.
fn pages<'a>(body: &'a str, first: u64, units: &mut BTreeMap<u64, Unit<'a>>) {
    let mut page = first.saturating_sub(1);
    let (mut place, mut last) = (0, u64::MAX);
    for text in body.split('\n') {
        let heading = page_of(text).filter(|(number, _)| *number == page + 1);
        // Only the first page of a result may be there in part.
        if let Some((number, lines)) = heading.filter(|(number, lines)| lines.is_none() || *number == first) {
            page = number;
            (place, last) = lines.map_or((0, u64::MAX), |lines| (lines.from.saturating_sub(1), lines.to));
            let unit: &mut Unit<'a> = units.entry(page).or_default();
            match lines {
                Some(lines) => unit.of = Some(lines.of),
                None => *unit = Unit::default(),
            }
        } else if let Some(unit) = units.get_mut(&page).filter(|_| place < last) {
            place += 1;
            let number = page * PAGE + place;
            unit.lines.insert(number, Line { number, page: Some(page), text });
        }
    }
}
