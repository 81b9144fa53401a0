//! The prompt as the rules see it, and all that they know of its form: the board's marks, the fences of documents, numbered
//! lines, the plan's marks, and how results begin. The other files depend on what is read here only.

use overnight_core::job::state::{LAST_REVIEW_TODO, MEMORY_FILE};
use overnight_core::message::{Message, Prompt, ToolCall};
use overnight_core::prompt::fence::quoted;
use std::{borrow::Cow, collections::BTreeMap};

/// What the board asks for.
pub(super) enum Board {
    /// The current todo, and how many are open with it.
    Todo(String, usize),
    Finish,
    /// The plan is to be written, and so many todos are done with it.
    Bootstrap,
    /// The first of the next phase's todos, and whether the memory is owed, and todos.
    Planning(String, bool, bool),
    /// Nothing that the rules have an answer to.
    Other,
}

/// A call that was made, and what came of it.
struct Exchange<'a> {
    call: Cow<'a, ToolCall>,
    result: &'a str,
}

impl<'a> Exchange<'a> {
    fn is(&self, tool: &str, argument: &str, value: &str) -> bool {
        self.call.name == tool && self.call.arguments[argument] == value
    }

    fn path(&self) -> &str {
        self.call.arguments["path"].as_str().unwrap_or_default()
    }

    /// What the tool said, where it was run.
    fn answer(&self) -> Option<&'a str> {
        (!self.result.is_empty() && !self.result.starts_with("not run")).then_some(self.result)
    }

    /// Whether it wrote to `path`, where it was answered.
    fn has_written(&self, path: &str) -> Option<bool> {
        let is_write =
            matches!(self.call.name.as_str(), "write_file" | "append_file" | "edit_file") && self.path() == path;
        let answer = self.answer().filter(|_| is_write)?;
        Some(["Wrote", "Appended to", "Edited"].iter().any(|word| answer.starts_with(word)))
    }

    /// How many lines a file has that was read: `path (lines 1-20 of 30):`.
    fn lines_of(&self, path: &str) -> Option<u64> {
        let head = self.answer().filter(|_| self.is("read_file", "path", path))?.lines().next()?;
        match head.strip_suffix("):").and_then(|head| head.rsplit_once(" of ")) {
            Some((_, count)) => count.parse().ok(),
            None => head.starts_with(path).then_some(0),
        }
    }
}

/// A place in a document: a page or line, and the line of the page (1 where there are no pages).
pub(super) type DocumentPlace = (u64, u64);

/// What is in sight of a document, without a break.
#[derive(Default)]
pub(super) struct Passage<'a> {
    pub(super) lines: Vec<(DocumentPlace, &'a str)>,
    /// Where it goes on.
    pub(super) next: DocumentPlace,
    pub(super) is_paged: bool,
    /// Pages or lines of the whole document.
    pub(super) units: u64,
    /// Whether all that was asked for is there, and the document ends with it.
    pub(super) is_end: bool,
}

/// A document as the list shows it.
#[derive(Clone)]
pub(super) struct ListedDocument {
    pub(super) name: String,
    pub(super) units: u64,
    pub(super) tokens: u64,
    /// Nobody has read of it.
    pub(super) is_new: bool,
    /// What of it can't be read, among other remarks.
    pub(super) remarks: String,
}

/// Parts of a list or of a file that a prompt can hold together: each has at most a tenth of its room.
const MOST_PARTS: u64 = 5;
/// Parts of a list that one reply asks for: together they have at most a quarter of the room.
const PARTS_A_REPLY: usize = 2;

/// Where a list or a file goes on; none: it is longer than a prompt can hold.
pub(super) type Next = Option<u64>;

/// A list from its parts, where all are there: it has so many places, and the longest part that was shown so many.
fn joined<T>(parts: BTreeMap<u64, T>, all: Option<u64>, longest: usize) -> Result<Vec<T>, Next> {
    match ((1..=parts.len() as u64 + 1).find(|number| !parts.contains_key(number)), all) {
        (Some(next), Some(all)) if next > all => Ok(parts.into_values().collect()),
        (_, Some(all)) if all / longest as u64 >= MOST_PARTS => Err(None),
        (next, _) => Err(next),
    }
}

/// All that a prompt shows.
pub(super) struct PromptView<'a> {
    pub(super) board: Board,
    /// Where things stand.
    opening: &'a str,
    /// Since the last compaction, oldest first.
    exchanges: Vec<Exchange<'a>>,
    /// Where those of the current todo begin.
    todo_from: usize,
}

impl<'a> PromptView<'a> {
    pub(super) fn of(prompt: &'a Prompt) -> Self {
        let opening = prompt.messages().find_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        let opening = opening.unwrap_or_default();
        // The runner's own word stands behind a mark that the opening names.
        let mark = opening.split_once("`[").and_then(|(_, rest)| rest.split_once('`')).map_or("", |(mark, _)| mark);
        let mark = format!("\n[{mark}");
        let (stands, first) = opening.rsplit_once(&*mark).unwrap_or((opening, ""));
        let (mut results, mut words, mut calls) = (BTreeMap::new(), vec![first], Vec::new());
        for message in prompt.messages().skip(2) {
            match message {
                Message::Tool { call, text, .. } => {
                    let (result, word) = text.rsplit_once(&*mark).unwrap_or((text, ""));
                    words.push(word);
                    results.insert(call.as_str(), result.trim_end_matches('\n'));
                }
                Message::User { text, .. } => words.push(text),
                Message::Assistant { calls: made, .. } => calls.extend(made),
                Message::System { .. } => {}
            }
        }
        let board = words.iter().rev().find(|word| word.contains(INSTRUCTION)).map_or(Board::Other, |text| board(text));
        let result = |call: &ToolCall| results.get(call.id.as_str()).copied().unwrap_or_default();
        let mut exchanges = carried_over(stands);
        exchanges.extend(calls.into_iter().map(|call| Exchange { result: result(call), call: Cow::Borrowed(call) }));
        let is_end = |one: &Exchange<'_>| one.call.name == "todo_complete" && one.result.starts_with("Task ");
        let todo_from = exchanges.iter().rposition(is_end).map_or(0, |last| last + 1);
        Self { board, opening: stands, exchanges, todo_from }
    }

    /// The task, as it stands in the opening.
    pub(super) fn task(&self) -> &'a str {
        self.opening
    }

    /// Why a file lacks what was to be written there: the tool refused it, and nothing was written there since.
    pub(super) fn refusal(&self) -> Option<&'a str> {
        let last = |path: &str| self.exchanges.iter().rfind(|one| one.has_written(path).is_some());
        let is_refused = |one: &&Exchange<'_>| !one.path().is_empty() && one.has_written(one.path()) == Some(false);
        let lasts = self.exchanges.iter().filter_map(|one| last(one.path()));
        lasts.filter(is_refused).find_map(Exchange::answer)
    }

    /// What was said in this todo in place of a document's text.
    pub(super) fn failures(&self, name: &str) -> Vec<&'a str> {
        let reads = self.exchanges[self.todo_from..].iter().filter(|one| one.is("read_document", "name", name));
        reads.filter_map(Exchange::answer).filter(|text| !text.starts_with("<document ")).collect()
    }

    /// Where the memory was written or read last.
    fn memory_at(&self) -> Option<usize> {
        let is_seen = |one: &Exchange<'_>| {
            one.call.name == "write_file" && one.has_written(MEMORY_FILE) == Some(true)
                || one.lines_of(MEMORY_FILE).is_some()
        };
        self.exchanges.iter().rposition(is_seen)
    }

    /// The memory as it was written or read last.
    pub(super) fn memory(&self) -> Option<String> {
        let at = self.memory_at()?;
        let written = self.exchanges[at].call.arguments["content"].as_str();
        written.map(str::to_owned).or_else(|| self.file_from(MEMORY_FILE, at).ok())
    }

    /// How many lines a file has, of which the memory says that it has so many; `None` where it must be looked at.
    pub(super) fn length(&self, path: &str, remembered: u64) -> Option<u64> {
        let memory = self.memory_at()?;
        let changed = self.exchanges.iter().rposition(|one| one.has_written(path) == Some(true));
        if changed.is_none_or(|changed| changed < memory) && self.exchanges[memory].call.name == "write_file" {
            return Some(remembered);
        }
        self.exchanges[changed.map_or(0, |changed| changed + 1)..].iter().rev().find_map(|one| one.lines_of(path))
    }

    /// The text of a file that was read from exchange `from` on; or the line at which to go on.
    fn file_from(&self, path: &str, from: usize) -> Result<String, Next> {
        let (mut lines, mut all, mut longest) = (BTreeMap::new(), None, 1);
        // Reads of a first line only count the lines.
        for one in self.exchanges[from..].iter().filter(|one| one.call.arguments["limit"].is_null()) {
            let Some(count) = one.lines_of(path) else { continue };
            let read: Vec<_> = numbered(one.answer().unwrap_or_default().lines()).collect();
            (all, longest) = (Some(count), longest.max(read.len()));
            lines.extend(read);
        }
        joined(lines, all, longest).map(|lines| lines.join("\n"))
    }

    /// The text of a file that was read in this todo; or the line at which to go on.
    pub(super) fn file(&self, path: &str) -> Result<String, Next> {
        self.file_from(path, self.todo_from)
    }

    /// The list of documents, put together from its parts; or the places at which to go on, none where it is too long.
    pub(super) fn listing(&self) -> Result<Vec<ListedDocument>, Vec<u64>> {
        let (mut documents, mut all, mut longest) = (BTreeMap::new(), None, 1);
        for part in self.exchanges.iter().filter(|one| one.call.name == "list_documents").filter_map(Exchange::answer) {
            let number = |text: &str| text.split(' ').next().and_then(|number| number.parse::<u64>().ok());
            let from = part.split_once("; here ").and_then(|(_, rest)| number(rest)).unwrap_or(1);
            let listed: Vec<ListedDocument> = part.lines().skip(1).map_while(listed).collect();
            (all, longest) = (number(part), longest.max(listed.len()));
            documents.extend((from..).zip(listed));
        }
        let places = |next: u64| (next..=all.unwrap_or(next)).step_by(longest).take(PARTS_A_REPLY).collect();
        joined(documents, all, longest).map_err(|next| next.map_or_else(Vec::new, places))
    }

    /// What is in sight of the document `name` from a place to the end of page or line `to`.
    pub(super) fn passage(&self, name: &str, from: DocumentPlace, to: u64) -> Passage<'a> {
        let mut passage = Passage { next: from, ..Passage::default() };
        let mut shown = ShownLines::default();
        for one in self.exchanges.iter().filter(|one| one.is("read_document", "name", name)) {
            let facts = one.answer().and_then(|answer| show(name, answer, &mut shown));
            (passage.is_paged, passage.units) = facts.unwrap_or((passage.is_paged, passage.units));
        }
        while passage.next.0 <= to {
            let Some(line) = shown.0.get(&passage.next) else { break };
            passage.lines.push((passage.next, line));
            let is_last = shown.1.get(&passage.next.0).is_some_and(|last| *last <= passage.next.1);
            passage.next = if is_last { (passage.next.0 + 1, 1) } else { (passage.next.0, passage.next.1 + 1) };
        }
        passage.is_end = passage.next.0 > to && to >= passage.units;
        passage
    }
}

/// Lines with their numbers before them.
fn numbered<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (u64, &'a str)> {
    lines.filter_map(|line| line.split_once('\t')).filter_map(|(number, text)| Some((number.parse().ok()?, text)))
}

/// Pages or lines of a document, and of each, as far as known, the number of its last line.
type ShownLines<'a> = (BTreeMap<DocumentPlace, &'a str>, BTreeMap<u64, u64>);

/// Adds what a read shows. Whether the document has pages, and how many pages or lines:
/// `<document 0123456789abcdef name="a.pdf" pages="1-3" of="9">`.
fn show<'a>(name: &str, result: &'a str, (lines, last): &mut ShownLines<'a>) -> Option<(bool, u64)> {
    let (head, rest) = result.split_once('\n')?;
    let (mark, head) = head.strip_prefix("<document ")?.split_once(' ')?;
    let head = head.strip_prefix(&format!("name={} ", quoted(name)))?;
    let (body, _) = rest.split_once(&format!("\n</document {mark}>"))?;
    let mut values = head.split('"').skip(1).step_by(2);
    let first: u64 = values.next()?.split('-').next()?.parse().ok()?;
    let units = values.next()?.parse().ok()?;
    if !head.starts_with("page") {
        for (number, text) in numbered(body.split('\n')) {
            lines.insert((number, 1), text);
            last.insert(number, 1);
        }
        return Some((false, units));
    }
    let (mut page, mut line, mut is_part) = (first - 1, 0, false);
    for text in body.split('\n') {
        // Only the next page may begin: a document may have a line that looks like the one over a page.
        let rest = text.strip_prefix("[page ").and_then(|rest| rest.strip_prefix(&(page + 1).to_string()));
        if let Some(heading) = rest.filter(|rest| rest.starts_with([']', ',', ':'])) {
            page += 1;
            let part = heading.split([':', ']']).next().and_then(|heading| heading.split_once(", line"));
            let numbers = part.map_or("", |(_, part)| part).split(|c: char| !c.is_ascii_digit());
            let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
            line = numbers.first().map_or(0, |from| from - 1);
            is_part = !numbers.is_empty();
            last.extend(numbers.last().map(|of| (page, *of)));
        } else {
            line += 1;
            lines.insert((page, line), text);
            if !is_part {
                last.insert(page, line);
            }
        }
    }
    Some((true, units))
}

/// How the last lines of every board begin.
const INSTRUCTION: &str = "\nINSTRUCTION: ";

/// Calls of the epoch before with their results, as the opening tells of them.
fn carried_over(opening: &str) -> Vec<Exchange<'_>> {
    let Some((_, results)) = opening.split_once("\n\n## Results of your last reply") else { return Vec::new() };
    let exchange = |part| {
        let (head, result): (&str, &str) = str::split_once(part, '\n')?;
        let (name, arguments) = head.strip_suffix(')')?.split_once('(')?;
        let arguments = serde_json::from_str(arguments).ok()?;
        let call = Cow::Owned(ToolCall { id: String::new(), name: name.to_owned(), arguments });
        Some(Exchange { call, result: result.trim_end_matches('\n') })
    };
    results.split("\n\n### ").skip(1).filter_map(exchange).collect()
}

fn board(text: &str) -> Board {
    if let Some((_, planning)) = text.split_once("\nOwed: ") {
        let first = planning
            .rsplit_once("\nTodos")
            .and_then(|(_, todos)| todos.lines().find_map(|line| line.strip_prefix("- ")));
        let is_owed = |what: &str| planning.lines().next().is_some_and(|owed| owed.contains(what));
        let first = first.unwrap_or_default().to_owned();
        return Board::Planning(first, is_owed(MEMORY_FILE), is_owed("todo_write"));
    }
    if text.contains("\nPhase: Bootstrap\n") {
        return Board::Bootstrap;
    }
    let current = text.lines().find_map(|line| line.strip_prefix("[>] ")?.split_once("      ← CURRENT"));
    let open = text.lines().filter(|line| line.starts_with("[>] ") || line.starts_with("[ ] ")).count();
    match current.and_then(|(task, _)| task.split_once(". ")) {
        Some((_, LAST_REVIEW_TODO)) => Board::Finish,
        Some((_, content)) => Board::Todo(content.to_owned(), open),
        None => Board::Other,
    }
}

/// `a.pdf (PDF, 12 pages, about 3400 tokens, 0 % shown) [not read: page 3: damaged]`.
fn listed(line: &str) -> Option<ListedDocument> {
    let rest = line.strip_suffix(']').and_then(|line| line.split_once(" % shown) ["));
    let (rest, remarks) = rest.or_else(|| Some((line.strip_suffix(" % shown)")?, "")))?;
    let (name, facts) = rest.rsplit_once(" (")?;
    let mut numbers = facts.rsplit(", ").skip(1).map(|fact| fact.split(' ').find_map(|word| word.parse().ok()));
    let (tokens, units) = (numbers.next()??, numbers.next()??);
    let is_new = facts.ends_with(", 0");
    Some(ListedDocument { name: name.to_owned(), units, tokens, is_new, remarks: remarks.to_owned() })
}
