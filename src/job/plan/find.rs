//! Finds which lines of a text are the headings of its phases. Models write them in many forms; the surest form that
//! occurs at all is taken, so that "Phase 1: …" in an overview's list is no phase where real headings follow.

use super::PhaseState;
use super::heading::{self, Named, Rank};
use super::lines::{self, Document};
use super::marks;
use super::scan::{Kind, Scan};

/// How a phase's heading is written, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Heading,
    Bold,
    Item,
    Plain,
}

/// A phase's heading, as found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) first: usize,
    pub(super) last: usize,
    /// The heading's level; lines that are no headings are below all levels.
    pub(super) level: u8,
    pub(super) form: Form,
    pub(super) named: Named,
    /// What stood on the same line behind a bold title.
    pub(super) tail: Option<String>,
    /// For an item: its last line, and how far its content is indented.
    pub(super) item: Option<(usize, usize)>,
}

/// The phases' headings in the order of the text.
pub(super) fn find(document: &Document, scan: &Scan) -> Vec<Found> {
    let all = candidates(document, scan);
    // Anything written to stand out beats plain lines, whatever its word.
    let best = all.iter().map(|found| (found.form == Form::Plain, found.named.rank, found.form)).min();
    let Some((_, rank, form)) = best else {
        return bare(scan);
    };
    let (chosen, others): (Vec<Found>, Vec<Found>) =
        all.into_iter().filter(|found| found.named.rank == rank).partition(|found| found.form == form);
    if form == Form::Heading { with_bold(chosen, others) } else { chosen }
}

/// Adds bold lines that carry on the count of the headings before them.
fn with_bold(chosen: Vec<Found>, others: Vec<Found>) -> Vec<Found> {
    let used: std::collections::HashSet<u32> = chosen.iter().filter_map(|found| found.named.number).collect();
    let mut merged: Vec<Found> = chosen;
    merged.extend(others.into_iter().filter(|found| {
        found.form == Form::Bold
            && found.tail.is_none()
            && found.named.number.is_some_and(|number| !used.contains(&number))
    }));
    merged.sort_by_key(|found| found.first);
    let mut last = None;
    merged.retain(|found| {
        let keep = found.form == Form::Heading || last.is_some_and(|last| found.named.number > Some(last));
        if keep {
            last = last.max(found.named.number);
        }
        keep
    });
    merged
}

fn candidates(document: &Document, scan: &Scan) -> Vec<Found> {
    let mut found = Vec::new();
    let mut taken = vec![false; document.lines.len()];
    for block in &scan.blocks {
        match &block.kind {
            Kind::Heading(level, text) => {
                taken.iter_mut().take(block.last + 1).skip(block.first).for_each(|line| *line = true);
                if let Some(named) = heading::recognise(text) {
                    found.push(Found { level: *level, ..line(block.first, block.last, Form::Heading, named) });
                }
            }
            Kind::List(items) => {
                for item in items {
                    let text = &document.lines[item.first].text;
                    if let Some((_, number, content)) = lines::list_marker(text)
                        && let Some(mut named) = item_text(text.get(content..).unwrap_or_default(), number, item.first)
                    {
                        taken[item.first] = true;
                        named.item = Some((item.last, content));
                        found.push(named);
                    }
                }
            }
            Kind::Paragraph(_) | Kind::Table(_) | Kind::Fence(..) | Kind::Rule | Kind::Html | Kind::Other => {}
        }
    }
    for (at, text) in document.lines.iter().enumerate() {
        if !taken[at] && !scan.shielded[at] {
            found.extend(bold(&text.text, at).or_else(|| plain(&text.text, at)));
        }
    }
    found.sort_by_key(|found| found.first);
    found
}

fn line(first: usize, last: usize, form: Form, named: Named) -> Found {
    Found { first, last, level: 7, form, named, tail: None, item: None }
}

/// A list item that is a phase: "1. Phase: X", "- **Phase 2: Y**".
fn item_text(content: &str, number: Option<u32>, at: usize) -> Option<Found> {
    let content = content.trim().trim_start_matches('#').trim_start();
    let mut found = match bold(content, at) {
        Some(found) => found,
        None => line(at, at, Form::Item, heading::recognise(content).filter(|named| named.separated)?),
    };
    found.form = Form::Item;
    found.named.number = found.named.number.or(number);
    Some(found)
}

/// A line that begins with a bold phase: "**Phase 1: X**", "✅ **Phase 1:** X", "**Phase 1: X** – prose".
fn bold(text: &str, at: usize) -> Option<Found> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let (mark, text) = match marks::take_leading(text).filter(|_| indent < 4) {
        Some((mark, rest)) => (Some(mark), rest),
        None => (None, text.trim()),
    };
    let fence = ["**", "__"].into_iter().find(|fence| text.starts_with(fence)).filter(|_| indent < 4)?;
    let (inner, rest) = text[2..].trim_start_matches('*').split_once(fence)?;
    let rest = rest.trim_start_matches('*').trim();
    let mut named = heading::recognise(inner)?;
    let mut tail = None;
    if named.title.is_empty() && !rest.is_empty() {
        named = heading::recognise(&format!("{} {rest}", inner.trim_end()))?;
    } else {
        let (words, state) = heading::split_state(rest);
        if named.state == PhaseState::Open {
            named.state = marks::Mark::state(state);
        }
        tail = Some(words).filter(|words| !words.is_empty());
    }
    if named.state == PhaseState::Open {
        named.state = marks::Mark::state(mark);
    }
    Some(Found { tail, ..line(at, at, Form::Bold, named) })
}

/// A line of plain text that is nothing but a phase's number and title.
fn plain(text: &str, at: usize) -> Option<Found> {
    if text.starts_with("    ")
        || text.trim_start().starts_with(['>', '|', '#', '-', '*', '+', '<', '`', '~', '"', '('])
    {
        return None;
    }
    let named = heading::recognise(text).filter(|named| named.separated && named.number.is_some())?;
    (named.title.chars().count() <= 120).then(|| line(at, at, Form::Plain, named))
}

/// No word for "phase" anywhere: numbered headings of one level, else headings right over a task list.
fn bare(scan: &Scan) -> Vec<Found> {
    let headings = || {
        scan.blocks.iter().enumerate().filter_map(|(at, block)| match &block.kind {
            Kind::Heading(level, text) => Some((at, block, *level, text)),
            Kind::Paragraph(_)
            | Kind::List(_)
            | Kind::Table(_)
            | Kind::Fence(..)
            | Kind::Rule
            | Kind::Html
            | Kind::Other => None,
        })
    };
    let heading = |block: &super::scan::Block, level, named| Found {
        level,
        ..line(block.first, block.last, Form::Heading, named)
    };
    let numbered: Vec<Found> = headings()
        .filter_map(|(_, block, level, text)| Some(heading(block, level, heading::numbered(text)?)))
        .collect();
    let named = if numbered.is_empty() {
        headings()
            .filter(|&(at, _, level, _)| level > 1 && over_tasks(scan, at))
            .map(|(_, block, level, text)| heading(block, level, heading::unnumbered(text)))
            .collect()
    } else {
        numbered
    };
    let level = named.iter().map(|found| found.level).min();
    named.into_iter().filter(|found| Some(found.level) == level).collect()
}

/// Whether a task list stands between a heading and the next one.
fn over_tasks(scan: &Scan, heading: usize) -> bool {
    scan.blocks[heading + 1..]
        .iter()
        .take_while(|block| !matches!(block.kind, Kind::Heading(..)))
        .any(|block| matches!(&block.kind, Kind::List(items) if items.iter().any(|item| item.task.is_some())))
}

/// Fences that hold the plan itself: those before the first phase that have phases inside, by their first lines.
pub(super) fn fences(document: &Document, scan: &Scan, phases: &[Found]) -> Vec<usize> {
    let before = phases.first().map_or(usize::MAX, |found| found.first);
    let mut fences = Vec::new();
    for block in scan.blocks.iter().take_while(|block| block.first < before) {
        if let Kind::Fence(info, closed) = &block.kind
            && matches!(info.split_whitespace().next().unwrap_or(""), "" | "markdown" | "md" | "text" | "txt" | "plan")
        {
            let inside = block.first + 1..(if *closed { block.last } else { block.last + 1 });
            let inner = Document { front: Vec::new(), lines: document.lines[inside].to_vec() };
            if find(&inner, &super::scan::scan(&inner))
                .iter()
                .any(|found| found.named.rank != Rank::Bare || found.named.number.is_some())
            {
                fences.push(block.first);
            }
        }
    }
    fences
}
