//! The steps of a phase: the items of its lists with boxes or signs, or, if there are none, of its first list.

use super::{
    PlannedStep,
    heading::{self, PhaseHeading},
    scan::{PlanBlock, PlanBlockKind, PlanListItem, Scan},
};
use regex::Regex;
use std::sync::LazyLock;

static BULLET: LazyLock<Option<Regex>> = LazyLock::new(|| heading::regex(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+"));

/// The phases of lines whose headings are in their one form: each with the blocks from its heading to the next heading
/// of level 1 or 2.
pub(super) fn sections<'a>(lines: &[String], scan: &'a Scan) -> Vec<(PhaseHeading, &'a [PlanBlock])> {
    let is_end = |block: &PlanBlock| matches!(block.kind, PlanBlockKind::Heading(..=2));
    let mut sections = Vec::new();
    for (at, block) in scan.blocks.iter().enumerate().filter(|(_, block)| is_end(block)) {
        if let Some(named) = lines[block.first].strip_prefix("## ").and_then(heading::read_heading) {
            let rest = &scan.blocks[at..];
            let end = rest.iter().skip(1).position(is_end).map_or(rest.len(), |end| end + 1);
            sections.push((named, &rest[..end]));
        }
    }
    sections
}

/// The items that are steps, in the order of the text.
fn chosen(section: &[PlanBlock]) -> Vec<&PlanListItem> {
    let is_drawn = |item: &PlanListItem| item.task.is_some() || heading::step(&item.text).2;
    let lists: Vec<&Vec<PlanListItem>> = section
        .iter()
        .filter_map(|block| match &block.kind {
            PlanBlockKind::List(items) if items.iter().any(|item| !item.text.is_empty()) => Some(items),
            PlanBlockKind::List(_) | PlanBlockKind::Heading(_) | PlanBlockKind::Code | PlanBlockKind::Other => None,
        })
        .collect();
    let drawn: Vec<&Vec<PlanListItem>> = lists.iter().copied().filter(|items| items.iter().any(is_drawn)).collect();
    let lists = if drawn.is_empty() { lists.into_iter().take(1).collect() } else { drawn };
    lists.into_iter().flatten().filter(|item| !item.text.is_empty()).collect()
}

/// The lines with every step as `- [ ] step`, and its further lines indented by two. No line is added or removed.
pub(super) fn shape(mut lines: Vec<String>, scan: &Scan) -> Vec<String> {
    for (_, section) in sections(&lines, scan) {
        for item in chosen(section) {
            let bullet = BULLET.as_ref().and_then(|bullet| bullet.find(&lines[item.first]));
            let Some(bullet) = bullet.map(|found| found.as_str().to_owned()) else { continue };
            let (text, is_done, _) = heading::step(&lines[item.first][bullet.len()..]);
            if text.is_empty() {
                continue;
            }
            lines[item.first] = boxed(text, is_done);
            let indent = columns(&bullet);
            for line in &mut lines[item.first + 1..=item.last] {
                let text = dedent(line, indent);
                *line = if text.trim().is_empty() { String::new() } else { format!("  {text}") };
            }
        }
    }
    lines
}

pub(super) fn boxed(text: &str, is_done: bool) -> String {
    format!("- [{}] {text}", if is_done { 'x' } else { ' ' })
}

/// The steps of a section in their one form, with the line of each.
pub(super) fn read(lines: &[String], section: &[PlanBlock]) -> Vec<(usize, PlannedStep)> {
    let steps = chosen(section).into_iter().filter_map(|item| {
        // An item that couldn't be brought into the one form has no box to tick.
        let done = item.task.filter(|_| lines[item.first].starts_with("- ["))?;
        Some((item.first, PlannedStep { text: item.text.split_whitespace().collect::<Vec<_>>().join(" "), done }))
    });
    steps.filter(|(_, step)| !step.text.is_empty()).collect()
}

/// How wide a text is; a tab reaches to the next multiple of four.
fn columns(text: &str) -> usize {
    text.chars().fold(0, |column, char| if char == '\t' { column + 4 - column % 4 } else { column + 1 })
}

/// Takes up to `most` columns of indentation from a line.
fn dedent(text: &str, most: usize) -> String {
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    let (indent, rest) = text.split_at(blanks);
    format!("{}{rest}", " ".repeat(columns(indent).saturating_sub(most)))
}
