//! Normalizes a plan's headings: the title, the phases as `## Phase N: Title`, other headings at levels that
//! keep them inside or outside of their phase.

use super::{
    MAX_PHASES, MAX_TITLE, PlanError, TITLE,
    heading::{self, PhaseHeading},
    scan::{PlanBlockKind, Scan, scan},
};

/// The heading of a phase, as it was found.
struct HeadingFound {
    line: usize,
    /// The heading's level; for a bold line, the level of a phase.
    level: u8,
    named: PhaseHeading,
}

/// The headings that name phases, or where there are none, the bold lines that do.
fn find(lines: &[String], scan: &Scan) -> Vec<HeadingFound> {
    let found: Vec<HeadingFound> = headings(lines, scan)
        .filter_map(|(line, level, text)| Some(HeadingFound { line, level, named: heading::read_heading(text)? }))
        .collect();
    if !found.is_empty() {
        return found;
    }
    let plain = lines.iter().enumerate().filter(|&(at, _)| !scan.is_code[at]);
    plain
        .filter_map(|(line, text)| Some(HeadingFound { line, level: 2, named: heading::read_bold_heading(text)? }))
        .collect()
}

/// The headings that are written with `#`s: line, level, and the text behind the `#`s.
fn headings<'a>(lines: &'a [String], scan: &'a Scan) -> impl Iterator<Item = (usize, u8, &'a str)> {
    scan.blocks.iter().filter_map(|block| match block.kind {
        PlanBlockKind::Heading(level) => {
            let text = lines[block.first].trim_start().strip_prefix('#')?;
            Some((block.first, level, text.trim_start_matches('#').trim()))
        }
        PlanBlockKind::List(_) | PlanBlockKind::Code | PlanBlockKind::Other => None,
    })
}

/// Removes the fences around the plan, if phases in a fence come before any others. Lines keep their numbers.
pub(super) fn unfence(lines: &mut [String]) {
    // A fence within the outer one is read as if it stood alone: otherwise the plan would be different the next time.
    while unfence_once(lines) {}
}

/// Removes one fence; returns whether there was one.
fn unfence_once(lines: &mut [String]) -> bool {
    let scan = scan(lines);
    let end = find(lines, &scan).first().map_or(lines.len(), |found| found.line);
    let names = |line: &String| {
        line.starts_with('#') && heading::read_heading(line).is_some() || heading::read_bold_heading(line).is_some()
    };
    let plan = scan.blocks.iter().find(|block| {
        let inside = &lines[block.first..lines.len().min(block.last + 1)];
        matches!(block.kind, PlanBlockKind::Code) && block.first < end && inside.iter().any(names)
    });
    let Some(first) = plan.map(|block| block.first) else { return false };
    let Some(char) = lines[first].trim_start().chars().next().filter(|char| "`~".contains(*char)) else { return false };
    lines[first].clear();
    // In Markdown, the end of an inner fence ends the outer one, but a plan wrapped in a fence is not meant like that.
    let mut is_inner = false;
    for line in &mut lines[first + 1..] {
        let width = line.trim().chars().take_while(|&next| next == char).count();
        match (width >= 3, width == line.trim().chars().count()) {
            (true, true) if is_inner => is_inner = false,
            (true, true) => {
                line.clear();
                return true;
            }
            (true, false) => is_inner = true,
            (false, _) => {}
        }
    }
    true
}

/// The lines with all headings in their one form, and the lines (from 1) on which the phases' headings stood.
pub(super) fn normalize_headings(lines: &[String]) -> Result<(Vec<String>, Vec<usize>), PlanError> {
    let scan = scan(lines);
    if let Some(open) = scan.open {
        return Err(PlanError::NotClosed { line: open + 1 });
    }
    let found = find(lines, &scan);
    check(lines, &scan, &found)?;
    let mut out: Vec<String> = Vec::with_capacity(lines.len() + 2 * found.len() + 2);
    let first = found.first().map_or(0, |found| found.line);
    if !scan.blocks.iter().any(|block| block.first < first && matches!(block.kind, PlanBlockKind::Heading(1))) {
        out.extend([TITLE.to_owned(), String::new()]);
    }
    let mut phases = found.iter().zip(1_u32..).peekable();
    let mut others = headings(lines, &scan).peekable();
    // The level of the phase that the lines belong to.
    let mut phase = None;
    for (at, line) in lines.iter().enumerate().skip_while(|(_, line)| line.trim().is_empty()) {
        let other = others.next_if(|&(line, ..)| line == at);
        if let Some((found, number)) = phases.next_if(|(found, _)| found.line == at) {
            if out.last().is_some_and(|line| !line.is_empty()) {
                out.push(String::new());
            }
            out.push(heading::line(number, &found.named.title, found.named.state));
            if lines.get(at + 1).is_some_and(|line| !line.trim().is_empty()) {
                out.push(String::new());
            }
            phase = Some(found.level);
        } else if let (Some(above), Some((_, level, text))) = (phase, other) {
            let level = if level > above {
                level.max(3)
            } else if heading::says_phase(text) {
                return Err(not_named(at, text));
            } else {
                phase = None;
                level.min(2)
            };
            out.push(format!("{}{}", "#".repeat(level.into()), line.trim_start().trim_start_matches('#')));
        } else {
            out.push(line.clone());
        }
    }
    Ok((out, found.iter().map(|found| found.line + 1).collect()))
}

fn not_named(line: usize, text: &str) -> PlanError {
    PlanError::NotNamed { line: line + 1, text: text.chars().take(80).collect() }
}

/// Numbers must rise, every phase must have a title, and none may be written in a form of its own.
fn check(lines: &[String], scan: &Scan, found: &[HeadingFound]) -> Result<(), PlanError> {
    if found.is_empty() {
        let is_filled = |line: &String| !line.trim().is_empty();
        let first = lines.iter().position(is_filled).unwrap_or(0);
        let last = lines.iter().rposition(is_filled).unwrap_or(0);
        return Err(PlanError::NoPhases { line: first + 1, lines: last + 1 });
    }
    if let Some(phase) = found.get(MAX_PHASES) {
        return Err(PlanError::TooManyPhases { line: phase.line + 1, count: MAX_PHASES + 1 });
    }
    for phase in found {
        let (line, number) = (phase.line + 1, phase.named.number);
        let chars = phase.named.title.chars().count();
        if chars == 0 {
            return Err(PlanError::NoTitle { line, number });
        }
        if chars > MAX_TITLE {
            return Err(PlanError::TitleTooLong { line, chars });
        }
    }
    // A phase that is only bold among headings, or continues after the bold text, would be lost. Phases are renumbered,
    // so such a line must name a phase that exists before and after that.
    let is_there = |number: u32| {
        (1..=found.len()).contains(&(number as usize)) && found.iter().any(|it| it.named.number == number)
    };
    for (at, line) in lines.iter().enumerate().filter(|&(at, _)| !scan.is_code[at]) {
        if heading::bold_number(line).is_some_and(|number| !is_there(number)) {
            return Err(not_named(at, line));
        }
    }
    for (at, phase) in found.iter().enumerate() {
        let (line, number) = (phase.line + 1, phase.named.number);
        if let Some(same) = found[..at].iter().find(|earlier| earlier.named.number == number) {
            return Err(PlanError::NumberTwice { line, first: same.line + 1, number });
        }
        if let Some(before) = at.checked_sub(1).map(|before| &found[before])
            && number < before.named.number
        {
            let (previous, previous_line) = (before.named.number, before.line + 1);
            return Err(PlanError::OutOfOrder { line, number, previous, previous_line });
        }
    }
    Ok(())
}
