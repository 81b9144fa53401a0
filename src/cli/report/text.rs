//! A page for the terminal: tables as wide as their content, cut if the terminal is narrower; states in their colours.

use crate::{
    cli::{
        out,
        table::{Align, TextTable},
    },
    report::{
        cell::PageCell,
        page::{Column, Page, Section},
    },
};
use std::fmt::Write;

/// Rows of a table that are shown; the rest is counted.
const MOST_ROWS: usize = 60;
const INDENT: usize = 2;

/// The page as text. `room` is the terminal's width, if stdout is a terminal.
pub(super) fn text(page: &Page, room: Option<usize>) -> String {
    let mut text = format!("{}\n", out::one_line(&page.title));
    for line in &page.lines {
        let _ = writeln!(text, "{}", out::one_line(line));
    }
    for section in &page.sections {
        text.push_str(&self::section(section, room));
    }
    text
}

fn section(section: &Section, room: Option<usize>) -> String {
    let mut text = format!("\n{}\n", section.title);
    for line in &section.lines {
        let _ = writeln!(text, "  {}", out::one_line(line));
    }
    let Some(table) = &section.table else {
        return text;
    };
    // Commands are below their row, uncut, however narrow the terminal is.
    let (typed, shown): (Vec<usize>, Vec<usize>) =
        (0..table.columns.len()).partition(|&column| table.columns[column].1 == Column::Command);
    let columns: Vec<(&str, Align)> = shown
        .iter()
        .map(|&column| table.columns[column])
        .map(|(name, side)| match side {
            Column::Words | Column::Command => (name, Align::Left),
            Column::Name => (name, Align::Middle),
            Column::Number => (name, Align::Right),
            Column::Sentence => (name, Align::Cut),
        })
        .collect();
    let mut lines = TextTable::new(&columns).with_minor(table.minor);
    for row in table.rows.iter().take(MOST_ROWS) {
        let cells = cells(row, &shown);
        lines.row(cells.iter().map(|cell| cell.text.clone()).collect());
        for (column, cell) in cells.iter().enumerate() {
            lines.tone(column, cell.tone);
        }
    }
    let rendered = lines.render(room.map(|room| room.saturating_sub(INDENT)));
    let mut rendered = rendered.lines();
    if let Some(heading) = rendered.next() {
        let _ = writeln!(text, "  {heading}");
    }
    for (line, row) in rendered.zip(&table.rows) {
        if !line.is_empty() {
            let _ = writeln!(text, "  {line}");
        }
        for command in cells(row, &typed).iter().filter(|command| !command.text.is_empty()) {
            let _ = writeln!(text, "      {}", out::one_line(&command.text));
        }
    }
    // A row with nothing but a further command belongs to the previous row.
    let is_another = |row: &&Vec<PageCell>| cells(row, &shown).iter().any(|cell| !cell.text.is_empty());
    match (table.rows.iter().skip(MOST_ROWS).filter(is_another).count() as u64, table.more) {
        (0, 0) => {}
        (rest, 0) => {
            let _ = writeln!(text, "  {rest} more: -o report.html has them all, or .md or .json");
        }
        (rest, more) => {
            let _ = writeln!(text, "  {} more: -o report.json has them all", rest + more);
        }
    }
    text
}

/// The cells of a row in these columns.
fn cells<'r>(row: &'r [PageCell], of: &[usize]) -> Vec<&'r PageCell> {
    of.iter().filter_map(|&column| row.get(column)).collect()
}
