//! Brings a phase's steps into their one form, `- [ ] step` at the margin: other lists, marked lines, tables and headings
//! that are numbered as steps.

use super::heading::{self, Rank};
use super::lines::{Document, Line, dedent, list_marker};
use super::marks::{self, Mark};
use super::scan::{Block, Item, Kind};
use super::seen::Seen;
use super::steps::{Label, chosen, drawn, label, sections};

/// What becomes of the lines of a block.
struct Edit {
    first: usize,
    last: usize,
    lines: Vec<Line>,
    /// Whether blank lines must part it from what stands around it.
    apart: bool,
}

/// Puts a blank line between the last line and the next, if there is none.
fn part(lines: &mut Vec<Line>, next: Option<&Line>) {
    if let Some(next) = next.filter(|next| !next.is_blank())
        && lines.last().is_some_and(|last| !last.is_blank())
    {
        lines.push(Line::new("", next.source));
    }
}

/// Brings the steps of all phases into their one form; one layer of nesting at a time, so call it until nothing changes.
pub(super) fn shape(document: Document, seen: &mut Seen) -> Document {
    let scan = seen.scan(&document);
    let mut edits: Vec<Edit> = Vec::new();
    for section in sections(&scan) {
        let mut raised = lift(&document, section);
        if raised.is_empty() {
            raised = draw(&document, section);
        }
        edits.append(&mut raised);
    }
    let mut lines = Vec::with_capacity(document.lines.len());
    let mut edits = edits.into_iter().peekable();
    let (mut skip, mut apart) = (0, false);
    for (at, line) in document.lines.into_iter().enumerate() {
        if let Some(edit) = edits.next_if(|edit| edit.first == at) {
            if edit.apart {
                part(&mut lines, edit.lines.first());
            }
            lines.extend(edit.lines);
            skip = edit.last + 1;
            apart = edit.apart;
        }
        if at >= skip {
            if std::mem::take(&mut apart) {
                part(&mut lines, Some(&line));
            }
            lines.push(line);
        }
    }
    Document { front: document.front, lines }
}

/// Lifts items out of lists that only group: "- **Steps:**" with the steps inside, "- Objective: …" among the steps.
fn lift(document: &Document, section: &[Block]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for block in section {
        let Kind::List(items) = &block.kind else { continue };
        if items.iter().any(drawn) {
            continue;
        }
        let groups =
            items.iter().any(|item| item.nested_tasks || item.nested && label(&item.text).is_some_and(Label::is_steps));
        for item in items {
            let has_label = label(&item.text).is_some() && (item.nested || item.text.contains([':', '：']));
            if item.text.trim().is_empty() || !(groups || has_label) {
                continue;
            }
            let Some((_, _, content)) = list_marker(&document.lines[item.first].text) else {
                continue;
            };
            let mut lines = Vec::new();
            for (at, line) in document.lines[item.first..=item.last].iter().enumerate() {
                let text = if at == 0 {
                    line.text.get(content..).unwrap_or_default().to_owned()
                } else {
                    dedent(&line.text, content)
                };
                // A list right below the words would be read as their continuation if it is numbered from two.
                if at == 1 && list_marker(&text).is_some() {
                    lines.push(Line::new("", line.source));
                }
                lines.push(Line::new(text, line.source));
            }
            edits.push(Edit { first: item.first, last: item.last, lines, apart: true });
        }
    }
    edits
}

/// Draws boxes: for the items of the chosen lists, else for lines that begin with a mark, for a table's rows, for headings
/// that are numbered as steps.
fn draw(document: &Document, section: &[Block]) -> Vec<Edit> {
    let lists = chosen(section);
    if !lists.is_empty() {
        let items = lists.iter().filter_map(|&at| match &section[at].kind {
            Kind::List(items) => Some(items),
            Kind::Heading(..)
            | Kind::Paragraph(_)
            | Kind::Table(_)
            | Kind::Fence(..)
            | Kind::Rule
            | Kind::Html
            | Kind::Other => None,
        });
        return items.flatten().filter_map(|item| boxed(document, item)).collect();
    }
    let marked: Vec<Edit> = section.iter().filter_map(|block| marked_lines(document, block)).collect();
    if !marked.is_empty() {
        return marked;
    }
    if let Some(edit) =
        section.iter().find_map(|block| super::table::steps(document, block).map(|lines| (block, lines)))
    {
        let (block, lines) = edit;
        return vec![Edit { first: block.first, last: block.last, lines, apart: true }];
    }
    section[1..].iter().filter_map(|block| step_heading(document, block)).collect()
}

/// One item as `- [ ] step`, what belongs to it indented by two.
fn boxed(document: &Document, item: &Item) -> Option<Edit> {
    let first = &document.lines[item.first];
    let (_, _, content) = list_marker(&first.text)?;
    if item.text.trim().is_empty() {
        return None;
    }
    let (text, done) = read_step(first.text.get(content..)?);
    if text.is_empty() {
        return None;
    }
    let mut lines = vec![Line::new(boxed_line(&text, done), first.source)];
    for line in &document.lines[item.first + 1..=item.last] {
        let text = dedent(&line.text, content);
        lines.push(Line::new(if text.trim().is_empty() { String::new() } else { format!("  {text}") }, line.source));
    }
    Some(Edit { first: item.first, last: item.last, lines, apart: false })
}

pub(super) fn boxed_line(text: &str, done: bool) -> String {
    format!("- [{}] {text}", if done { 'x' } else { ' ' })
}

/// The text of a step without boxes, emoji and its own numbering, and whether it was marked as done.
pub(super) fn read_step(text: &str) -> (String, bool) {
    let (mut text, mut done) = (text.trim(), false);
    for _ in 0..64 {
        let before = text.len();
        if let Some((mark, rest)) = marks::take_leading(text).filter(|(_, rest)| !rest.is_empty()) {
            done |= mark == Mark::Done;
            text = rest;
        }
        if let Some((_, _, content)) = list_marker(text).filter(|&(indent, _, _)| indent == 0) {
            let rest = text.get(content..).unwrap_or_default().trim();
            text = if rest.is_empty() { text } else { rest };
        }
        if let Some((_, rest)) = text.ends_with(['✅', '✔', '✓', '☑']).then(|| marks::take_trailing(text)).flatten()
            && !rest.is_empty()
        {
            done = true;
            text = rest;
        }
        if text.len() == before {
            break;
        }
    }
    (text.to_owned(), done)
}

/// A paragraph of lines that begin with boxes or marks but are no list.
fn marked_lines(document: &Document, block: &Block) -> Option<Edit> {
    let Kind::Paragraph(_) = &block.kind else { return None };
    let lines = &document.lines[block.first..=block.last];
    let begins = |line: &Line| marks::take_leading(&line.text).is_some_and(|(_, rest)| !rest.is_empty());
    let has_box = lines.iter().any(|line| begins(line) && line.text.trim_start().starts_with('['));
    if !has_box && !lines.iter().all(begins) {
        return None;
    }
    let lines = lines.iter().map(|line| {
        let (text, done) = read_step(&line.text);
        if begins(line) && !text.is_empty() { Line::new(boxed_line(&text, done), line.source) } else { line.clone() }
    });
    Some(Edit { first: block.first, last: block.last, lines: lines.collect(), apart: false })
}

/// "### Step 2: Read the annex", in a phase without any list.
fn step_heading(document: &Document, block: &Block) -> Option<Edit> {
    let Kind::Heading(3.., text) = &block.kind else {
        return None;
    };
    let named = heading::recognise(text).or_else(|| heading::numbered(text))?;
    if named.title.is_empty() || named.rank == Rank::Phase {
        return None;
    }
    let done = named.state == super::PhaseState::Complete;
    let lines = vec![Line::new(boxed_line(&named.title, done), document.lines[block.first].source)];
    Some(Edit { first: block.first, last: block.last, lines, apart: true })
}
