//! The prompt as the rules see it, and all that they know of its form: results that end with the call that goes on, the marks
//! around a document's text, the lines of the list of documents, the board, and the runner's own mark.

use overnight_core::job::{state::MEMORY_FILE, tool::Tool};
use overnight_core::message::{Message, Prompt, ToolCall};
use overnight_core::wording::is_said;
use serde_json::{Value, json};

/// A place in a document: a page or line, and the line of the page (1 where there are no pages).
pub(super) type DocumentPlace = (u64, u64);

/// The part of a document that one read has returned.
pub(super) struct Passage<'a> {
    pub(super) is_paged: bool,
    /// Pages or lines of the whole document.
    pub(super) units: u64,
    pub(super) lines: Vec<(DocumentPlace, &'a str)>,
    /// The place where the document continues; none at its end.
    pub(super) next: Option<DocumentPlace>,
}

/// A document in the list: `a.pdf (PDF, 12 pages, about 3400 tokens, 0 % shown) [not read: page 3: damaged]`.
#[derive(Clone, Copy)]
pub(super) struct ListedDocument<'a> {
    pub(super) name: &'a str,
    pub(super) line: &'a str,
}

impl ListedDocument<'_> {
    /// The number of tokens, or none if it is unknown.
    pub(super) fn tokens(&self) -> u64 {
        let behind = self.line.get(self.name.len()..).unwrap_or_default();
        let count = behind.split_once(", about ").and_then(|(_, rest)| rest.split(' ').next());
        count.and_then(|count| count.parse().ok()).unwrap_or_default()
    }
}

/// The most results that one file may span, as a prompt holds no more; and those of the document list before the plan.
const FILE_PARTS: usize = 8;
const LIST_PARTS: usize = 2;

/// The content of a prompt.
pub(super) struct PromptView<'a> {
    prompt: &'a Prompt,
    /// The current state of the job.
    pub(super) opening: &'a str,
    /// Calls since then, with their results.
    exchanges: Vec<(&'a ToolCall, &'a str)>,
    /// Messages of the runner itself, oldest first.
    words: Vec<&'a str>,
}

pub(super) fn call(tool: Tool, arguments: Value) -> ToolCall {
    ToolCall { id: String::new(), name: tool.name().to_owned(), arguments }
}

/// Ends the job for a reason that the rules can't resolve.
pub(super) fn blocked(reason: &str) -> Vec<ToolCall> {
    let end = json!({"summary": reason, "deliverables": [], "confidence": 0.0, "status": "blocked"});
    vec![call(Tool::JobComplete, end)]
}

pub(super) fn read(name: &str, (unit, line): DocumentPlace) -> ToolCall {
    call(Tool::ReadDocument, json!({"name": name, "from": unit, "line": line}))
}

impl<'a> PromptView<'a> {
    pub(super) fn of(prompt: &'a Prompt) -> Self {
        let (mut calls, mut exchanges, mut texts): (Vec<&ToolCall>, _, _) = (Vec::new(), Vec::new(), Vec::new());
        for message in prompt.messages() {
            match message {
                Message::System { .. } => {}
                Message::User { text, .. } => texts.push(text.as_str()),
                Message::Assistant { calls: made, .. } => calls.extend(made),
                Message::Tool { call, text, .. } => {
                    exchanges.extend(calls.iter().find(|made| made.id == *call).map(|made| (*made, text.as_str())));
                    texts.push(text.as_str());
                }
            }
        }
        let opening = texts.first().copied().unwrap_or_default();
        // The documents existed before the runner's mark was made, so none of them contains it.
        let mark = opening.rsplit_once("\n[runner ").and_then(|(_, rest)| rest.split_once(' ')).unwrap_or_default().0;
        let mark = format!("\n[runner {mark} ");
        let words = texts.into_iter().filter_map(|text| text.rsplit_once(&mark)).map(|(_, word)| word).collect();
        Self { prompt, opening, exchanges, words }
    }

    pub(super) fn has_tool(&self, tool: Tool) -> bool {
        self.prompt.tools.iter().any(|spec| spec.name == tool.name())
    }

    /// The last result of a call: from the history, else from the opening, including the text after it there.
    fn result(&self, wanted: &ToolCall) -> Option<&'a str> {
        let is_wanted = |(made, _): &&(&ToolCall, &str)| made.name == wanted.name && made.arguments == wanted.arguments;
        let carried = self.opening.split_once(&format!("\n\n### {}({})\n", wanted.name, wanted.arguments));
        let made = self.exchanges.iter().rev().filter(is_wanted).map(|(_, text)| *text);
        made.chain(carried.map(|(_, text)| text)).find(|text| !is_said("skipped", text))
    }

    /// The lines of a call's whole result, including those of the continuing calls. The error is a missing call.
    fn whole(&self, mut call: ToolCall, most: usize) -> Result<Vec<&'a str>, Vec<ToolCall>> {
        let mut lines = Vec::new();
        for _ in 0..most {
            let Some(result) = self.result(&call) else { return Err(vec![call]) };
            lines.extend(result.lines().take_while(|line| !line.is_empty()));
            match lines.last().copied().and_then(going_on) {
                Some(next) => call = next,
                None => return Ok(lines),
            }
        }
        let what = format!("what {} shows is too long for these rules", call.name);
        Err(blocked(&format!("{what}: divide the documents among several jobs (submit --each makes a job of each)")))
    }

    pub(super) fn documents(&self) -> Result<Vec<ListedDocument<'a>>, Vec<ToolCall>> {
        let lines = self.whole(call(Tool::ListDocuments, json!({})), LIST_PARTS)?.into_iter();
        let listed = |line: &'a str| {
            let (name, _) = line.split_once(" % shown)")?.0.rsplit_once(" (")?;
            Some(ListedDocument { name, line })
        };
        Ok(lines.filter_map(listed).collect())
    }

    /// The lines of a file; none if it doesn't exist.
    pub(super) fn file(&self, path: &str) -> Result<Vec<&'a str>, Vec<ToolCall>> {
        let lines = self.whole(call(Tool::ReadFile, json!({"path": path})), FILE_PARTS)?;
        Ok(lines.into_iter().filter_map(|line| line.split_once('\t')).map(|(_, text)| text).collect())
    }

    /// The passage that a read from this place has returned; the error is the call that reads it.
    pub(super) fn passage(&self, name: &str, place: DocumentPlace) -> Result<Passage<'a>, Vec<ToolCall>> {
        let call = read(name, place);
        let Some(result) = self.result(&call) else { return Err(vec![call]) };
        // A read that failed once may succeed when repeated.
        let is_tried = self.exchanges.iter().filter(|(made, _)| made.arguments == call.arguments).nth(1).is_some();
        let why = result.lines().next().unwrap_or_default();
        let failed = || if is_tried { blocked(&format!("{name} can't be read: {why}")) } else { vec![call] };
        shown(result, place).ok_or_else(failed)
    }

    /// The first line of the memory: as it was written last, else as it is read.
    pub(super) fn memory(&self) -> Result<&'a str, Vec<ToolCall>> {
        let is_saved = |(made, result): &&(&ToolCall, &str)| {
            made.arguments["path"] == MEMORY_FILE && is_said("done.wrote", result)
        };
        let written = self.exchanges.iter().rfind(is_saved).and_then(|(made, _)| made.arguments["content"].as_str());
        Ok(written.map_or_else(|| self.file(MEMORY_FILE), |text| Ok(vec![text]))?.first().copied().unwrap_or_default())
    }

    /// The reason why records were not added although the call could be parsed.
    pub(super) fn refusal(&self) -> Option<&'a str> {
        let is_refused = |(made, result): &&(&ToolCall, &str)| {
            made.name == Tool::AddRecords.name()
                && made.arguments.is_object()
                && !is_said("skipped", result)
                && (!is_said("records.added", result) || result.contains("\n- records["))
        };
        self.exchanges.iter().find(is_refused).map(|(_, result)| *result)
    }

    /// The current todo of the board that was shown last, and whether a phase is being planned. In that case it is the
    /// phase's first todo, and empty if there is none.
    pub(super) fn todo(&self) -> Option<(&'a str, bool)> {
        let (_, board) = self.words.iter().rev().find_map(|word| word.split_once("═\n"))?;
        if board.trim_start().starts_with("PLANNING") {
            let (_, todos) = board.rsplit_once("\nTodos")?;
            return Some((todos.lines().find_map(|line| line.strip_prefix("- ")).unwrap_or_default(), true));
        }
        let current = board.lines().find_map(|line| line.strip_prefix("[>] ")?.split_once("      ← CURRENT"))?;
        Some((current.0.split_once(". ")?.1, false))
    }
}

/// The continuing call at the end of a result: `read_document({"name": "a.pdf", "from": 4})`.
fn going_on(line: &str) -> Option<ToolCall> {
    let line = line.strip_suffix(')')?;
    line.match_indices("({").find_map(|(at, _)| {
        let tool = Tool::named(line[..at].rsplit(' ').next()?)?;
        Some(call(tool, serde_json::from_str(&line[at + 1..]).ok()?))
    })
}

/// Parses the result of a read: between `<document 0123456789abcdef name="a.pdf" pages="1-3" of="9">` and `</document
/// 0123456789abcdef>` there are numbered lines, or pages, each under `[page 3]` or a longer such mark.
fn shown(result: &str, (first, line): DocumentPlace) -> Option<Passage<'_>> {
    let (head, rest) = result.split_once("\">\n")?;
    let (text, rest) =
        rest.split_once(&format!("\n</document {}>", head.strip_prefix("<document ")?.split(' ').next()?))?;
    let (is_paged, units) = (head.contains(" pages=\""), head.rsplit('"').next()?.parse().ok()?);
    let going_on = rest.lines().nth(1).and_then(going_on);
    let next = going_on
        .and_then(|call| Some((call.arguments["from"].as_u64()?, call.arguments["line"].as_u64().unwrap_or(1))));
    let (mut lines, mut place) = (Vec::new(), (first - 1, 0));
    for text in text.split('\n') {
        // Only the next page may begin here: a line of the document itself may look like a page mark.
        let heading = text.strip_prefix("[page ").and_then(|rest| rest.strip_prefix(&(place.0 + 1).to_string()));
        if !is_paged {
            place = (place.0 + 1, 1);
            lines.push((place, text.split_once('\t').map_or(text, |(_, text)| text)));
        } else if heading.is_some_and(|rest| rest.starts_with([']', ',', ':'])) {
            place = (place.0 + 1, if place.0 < first { line - 1 } else { 0 });
        } else {
            place.1 += 1;
            lines.push((place, text));
        }
    }
    Some(Passage { is_paged, units, lines, next })
}
