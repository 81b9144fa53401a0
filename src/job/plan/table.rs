//! Steps from a table: a column of steps becomes a task list, the other columns are kept behind each step.

use super::lines::{Document, Line};
use super::marks;
use super::scan::{Block, Kind};
use super::shape::{boxed_line, read_step};

const STEP: &[&str] = &[
    "step",
    "steps",
    "task",
    "tasks",
    "action",
    "actions",
    "todo",
    "activity",
    "what",
    "description",
    "schritt",
    "schritte",
    "aufgabe",
    "aufgaben",
    "ステップ",
    "タスク",
    "作業",
    "手順",
    "步骤",
    "任务",
    "paso",
    "tarea",
    "étape",
    "tâche",
];
const STATUS: &[&str] = &["status", "state", "done", "done?", "✓", "✅", "状態", "状态", "stand", "erledigt"];
const NUMBER: &[&str] = &["#", "no", "no.", "nr", "nr.", "id", "step #", "step no.", "番号", "№"];

/// The task list that a table amounts to, or nothing where it has no column of steps.
pub(super) fn steps(document: &Document, block: &Block) -> Option<Vec<Line>> {
    let Kind::Table(rows) = &block.kind else { return None };
    let (head, body) = rows.split_first()?;
    let head: Vec<String> = head.iter().map(|cell| cell.replace("**", "").trim().to_lowercase()).collect();
    let find = |words: &[&str]| head.iter().position(|cell| words.contains(&cell.as_str()));
    let is_numbers = |at: usize| body.iter().all(|row| row.get(at).is_none_or(|cell| is_number(cell)));
    let step = head
        .iter()
        .enumerate()
        .find(|&(at, cell)| STEP.contains(&cell.as_str()) && !is_numbers(at))
        .map(|(at, _)| at)?;
    let status = find(STATUS).filter(|&at| at != step);
    let source = |row: usize| document.lines[(block.first + row).min(block.last)].source;
    let mut lines = Vec::new();
    for (index, row) in body.iter().enumerate() {
        // The row of dashes lies between the head and the body.
        let source = source(index + 2);
        let (text, mut done) = read_step(row.get(step).map_or("", String::as_str));
        if text.is_empty() {
            continue;
        }
        if let Some(cell) = status.and_then(|at| row.get(at)) {
            let said = format!("- ({cell})");
            done |= marks::take_trailing(&said).is_some_and(|(mark, _)| mark == marks::Mark::Done)
                || marks::take_leading(cell).is_some_and(|(mark, _)| mark == marks::Mark::Done);
        }
        let beside = row.iter().enumerate().filter(|&(at, cell)| {
            at != step
                && Some(at) != status
                && !cell.is_empty()
                && !(is_numbers(at) && (at == 0 || head.get(at).is_some_and(|name| NUMBER.contains(&name.as_str()))))
        });
        let beside: Vec<String> = beside
            .map(|(at, cell)| match rows[0].get(at).filter(|name| !name.is_empty()) {
                Some(name) => format!("{name}: {cell}"),
                None => cell.clone(),
            })
            .collect();
        let text = if beside.is_empty() { text } else { format!("{text} ({})", beside.join("; ")) };
        lines.push(Line::new(boxed_line(&text, done), source));
    }
    (!lines.is_empty()).then_some(lines)
}

fn is_number(cell: &str) -> bool {
    cell.trim().trim_end_matches(['.', ')']).chars().all(|char| char.is_ascii_digit() || char == '.')
}
