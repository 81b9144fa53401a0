//! Brings a plan's headings into their one form: the title, the phases as `## Phase N: Title`, other headings at levels
//! that keep them inside or outside of their phase.

use std::collections::HashMap;

use super::find::{Form, Found, fences};
use super::lines::{Document, Line, dedent};
use super::scan::{Kind, Scan};
use super::seen::Seen;
use super::steps::{Label, label};
use super::{MAX_PHASES, MAX_TITLE, PhaseState, PlanError, TITLE, heading_line};

/// Takes the plan out of a fence around it.
pub(super) fn unfence(document: Document, seen: &mut Seen) -> Document {
    let (scan, found) = seen.found(&document);
    let found = fences(&document, &scan, &found);
    let mut drop = vec![false; document.lines.len()];
    for first in found {
        drop[first] = true;
        if let Some(end) = fence_end(&document.lines, first) {
            drop[end] = true;
        }
    }
    let lines = document.lines.into_iter().zip(drop).filter_map(|(line, drop)| (!drop).then_some(line));
    Document { lines: lines.collect(), front: document.front }
}

/// Where the fence around a plan really ends. By the rules of Markdown a fence inside it ends the outer one at its own
/// end, but who wraps a plan in a fence doesn't mean that: an inner fence with an info string is paired first.
fn fence_end(lines: &[Line], first: usize) -> Option<usize> {
    let char = lines[first].text.trim_start().chars().next()?;
    let mut nested = false;
    for (at, line) in lines.iter().enumerate().skip(first + 1) {
        let text = line.text.trim();
        let width = text.chars().take_while(|&next| next == char).count();
        match (width >= 3, width == text.chars().count()) {
            (true, true) if nested => nested = false,
            (true, true) => return Some(at),
            (true, false) => nested = true,
            (false, _) => {}
        }
    }
    None
}

/// Writes every phase's heading in its one form, in order.
pub(super) fn place(document: &Document, seen: &mut Seen) -> Result<Document, PlanError> {
    let (scan, found) = seen.found(document);
    let mut found = found.to_vec();
    check(document, &found)?;
    name(document, &scan, &mut found)?;
    let mut out: Vec<Line> = Vec::with_capacity(document.lines.len() + found.len() * 2);
    let mut level = None;
    let (mut at, mut next, mut block) = (0, 0, 0);
    while at < document.lines.len() {
        if let Some(phase) = found.get(next).filter(|phase| phase.first == at) {
            let source = document.lines[at].source;
            if out.last().is_some_and(|line| !line.is_blank()) {
                out.push(Line::new("", source));
            }
            let number = u32::try_from(next + 1).unwrap_or(u32::MAX);
            out.push(Line::new(heading_line(number, &phase.named.title, phase.named.state), source));
            level = Some(phase.level);
            next += 1;
            at = phase.last + 1;
            let mut below: Vec<Line> = phase.tail.iter().map(|tail| Line::new(tail.clone(), source)).collect();
            if let Some((last, content)) = phase.item {
                // What stood inside the item stands below the heading now.
                level = Some(2);
                if !below.is_empty() {
                    below.push(Line::new("", source));
                }
                let inside = &document.lines[at..=last.max(phase.last)];
                below.extend(inside.iter().map(|line| Line::new(dedent(&line.text, content), line.source)));
                at = last.max(phase.last) + 1;
                if document.lines.get(at).is_some_and(|line| !line.is_blank()) {
                    below.push(Line::new("", source));
                }
            }
            let blank_below = below.first().or_else(|| document.lines.get(at)).is_none_or(Line::is_blank);
            if !blank_below {
                out.push(Line::new("", source));
            }
            out.append(&mut below);
            continue;
        }
        while scan.blocks.get(block).is_some_and(|block| block.last < at) {
            block += 1;
        }
        match scan.blocks.get(block).filter(|block| block.first == at).map(|block| (&block.kind, block.last)) {
            Some((Kind::Heading(depth, text), last)) if level.is_some() => {
                let (wanted, inside) = relevel(*depth, text, level);
                if !inside {
                    level = None;
                }
                if wanted == *depth {
                    out.extend_from_slice(&document.lines[at..=last]);
                } else {
                    let marks = "#".repeat(usize::from(wanted));
                    out.push(Line::new(format!("{marks} {text}"), document.lines[at].source));
                }
                at = last + 1;
            }
            _ => {
                out.push(document.lines[at].clone());
                at += 1;
            }
        }
    }
    Ok(Document { front: document.front.clone(), lines: out })
}

/// The level of another heading, and whether it belongs to the phase above it.
fn relevel(depth: u8, text: &str, phase: Option<u8>) -> (u8, bool) {
    let inside = phase.is_some_and(|phase| depth > phase) || label(text).is_some_and(Label::is_steps);
    if inside { (depth.max(3), true) } else { (depth.min(2), false) }
}

/// Numbers must rise; gaps are closed, missing numbers filled in.
fn check(document: &Document, found: &[Found]) -> Result<(), PlanError> {
    let line = |found: &Found| document.lines[found.first].source;
    if found.is_empty() {
        let source = |line: Option<&Line>| line.map_or(1, |line| line.source);
        return Err(PlanError::NoPhases { line: source(document.lines.first()), lines: source(document.lines.last()) });
    }
    if let Some(phase) = found.get(MAX_PHASES) {
        return Err(PlanError::TooManyPhases { line: line(phase), count: MAX_PHASES + 1 });
    }
    let mut seen: HashMap<u32, usize> = HashMap::new();
    for (at, phase) in found.iter().enumerate() {
        let Some(number) = phase.named.number else { continue };
        let Some(first) = seen.insert(number, at) else { continue };
        let (title, first_line) = (phase.named.title.clone(), line(&found[first]));
        let same = title == found[first].named.title && section(document, found, first) == section(document, found, at);
        return Err(if same {
            PlanError::PhaseTwice { line: line(phase), first: first_line, number, title }
        } else {
            PlanError::NumberTwice { line: line(phase), first: first_line, number }
        });
    }
    let mut highest: Option<(u32, usize)> = None;
    for phase in found {
        let Some(number) = phase.named.number else { continue };
        if let Some((previous, previous_line)) = highest.filter(|&(previous, _)| number < previous) {
            return Err(PlanError::OutOfOrder { line: line(phase), number, previous, previous_line });
        }
        highest = Some((number, line(phase)));
    }
    Ok(())
}

/// What stands under a heading, for telling a repetition from another phase with the same number.
fn section<'a>(document: &'a Document, found: &[Found], at: usize) -> Vec<&'a str> {
    let end = found.get(at + 1).map_or(document.lines.len(), |next| next.first);
    let lines = document.lines[found[at].last + 1..end].iter();
    lines.map(|line| line.text.trim()).filter(|line| !line.is_empty()).collect()
}

/// Gives every phase a title, and leaves one phase current at most.
fn name(document: &Document, scan: &Scan, found: &mut [Found]) -> Result<(), PlanError> {
    let ends: Vec<usize> = found.iter().skip(1).map(|next| next.first).chain([document.lines.len()]).collect();
    let mut current = false;
    for (phase, end) in found.iter_mut().zip(ends) {
        if phase.named.title.is_empty() {
            phase.named.title = untitled(scan, phase, end);
        }
        let chars = phase.named.title.chars().count();
        if chars > MAX_TITLE {
            return Err(PlanError::TitleTooLong { line: document.lines[phase.first].source, chars });
        }
        if phase.named.state == PhaseState::Current {
            if current {
                phase.named.state = PhaseState::Open;
            }
            current = true;
        }
    }
    Ok(())
}

/// A phase without a title is called after its first step, if that is short.
fn untitled(scan: &Scan, phase: &Found, end: usize) -> String {
    let first = scan.blocks.partition_point(|block| block.first <= phase.last);
    let blocks = scan.blocks[first..].iter().take_while(|block| block.first < end);
    let step = blocks.into_iter().find_map(|block| match &block.kind {
        Kind::List(items) => items.first().map(|item| super::heading::split_state(&item.text).0),
        Kind::Heading(..)
        | Kind::Paragraph(_)
        | Kind::Table(_)
        | Kind::Fence(..)
        | Kind::Rule
        | Kind::Html
        | Kind::Other => None,
    });
    step.filter(|step| phase.form == Form::Heading && (1..=80).contains(&step.chars().count()))
        .unwrap_or_else(|| "Untitled".to_owned())
}

/// Puts the title on top; a title of the author's own is kept behind it.
pub(super) fn title(document: Document, seen: &mut Seen) -> Document {
    let (scan, found) = seen.found(&document);
    let first = found.first().map_or(usize::MAX, |found| found.first);
    let titled = scan.blocks.iter().take_while(|block| block.first < first).find_map(|block| match &block.kind {
        Kind::Heading(level, text) => {
            (*level == 1 || is_generic(text)).then_some((block.first, block.last, text.clone()))
        }
        Kind::Paragraph(_)
        | Kind::List(_)
        | Kind::Table(_)
        | Kind::Fence(..)
        | Kind::Rule
        | Kind::Html
        | Kind::Other => None,
    });
    let titled = titled.or_else(|| {
        // "Execution Plan" or "**Plan:**" on the first line, without being a heading.
        let text = &document.lines.first()?.text;
        (first > 0 && is_generic(text)).then(|| (0, 0, text.clone()))
    });
    let mut lines = document.lines;
    let (line, source) = match titled {
        Some((0, 0, text)) if lines[0].text == format!("# {text}") && text.starts_with(&TITLE[2..]) => {
            (lines.remove(0).text, 1)
        }
        Some((first, last, text)) => {
            let source = lines[first].source;
            lines.drain(first..=last);
            if first > 0 && lines[first - 1].is_blank() {
                let blank = lines[first..].iter().take_while(|line| line.is_blank()).count();
                lines.drain(first..first + blank);
            }
            let own = text.replace("**", "");
            let own = own.trim();
            let line = if is_generic(own) {
                TITLE.to_owned()
            } else if own.starts_with(&TITLE[2..]) {
                format!("# {own}")
            } else {
                format!("{TITLE}: {own}")
            };
            (line, source)
        }
        None => (TITLE.to_owned(), 1),
    };
    let blank = lines.iter().take_while(|line| line.is_blank()).count();
    lines.drain(..blank);
    let mut out = Vec::with_capacity(lines.len() + 3);
    if !document.front.is_empty() {
        out.push(Line::new("", source));
    }
    out.push(Line::new(line, source));
    out.push(Line::new("", source));
    out.append(&mut lines);
    Document { front: document.front, lines: out }
}

fn is_generic(text: &str) -> bool {
    let words: String = text.to_lowercase().chars().filter(|char| char.is_alphanumeric()).collect();
    matches!(
        words.as_str(),
        "executionplan"
            | "plan"
            | "mainplan"
            | "mainplanmd"
            | "workplan"
            | "projectplan"
            | "theplan"
            | "ausführungsplan"
            | "arbeitsplan"
            | "実行計画"
            | "計画"
            | "执行计划"
            | "计划"
            | "plandeejecución"
            | "plandexécution"
    )
}
