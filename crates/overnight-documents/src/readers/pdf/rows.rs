//! Blocks that stand side by side and share their lines → rows. A table's columns are separate blocks if the white
//! between them is wide, its rows are far apart, or headings run across: their rows are joined by their baselines.
//! Running text beside other text is left alone.

use std::collections::HashMap;

use super::tables::{CellRow, TableRow, is_number, is_prose_column, is_value_cell, rows};
use super::words::Word;

/// With more groups than this, each stays by itself.
const MAX_GROUPS: usize = 2_000;
/// The minimum share of lines of two adjacent blocks that are on one line, if they are columns of one table.
const ON_ONE_LINE: f32 = 0.6;
/// Running text in a ragged column: the minimum number of lines, most of which continue in small letters.
const RUNNING_LINES: usize = 2;
/// The minimum number of lines that show columns, or line numbers.
const COLUMN_LINES: usize = 3;
/// Text on one line has bases nearer than this, in sizes of the font; of columns with lines of their own they differ.
const SHIFT: f32 = 0.25;
/// Figures without text on their line belong to the line nearer than this, in sizes of the font: they stand in the middle of
/// a text of two lines.
const BETWEEN: f32 = 0.8;

/// Words that are written together: as lines, or as the rows of a table.
#[derive(Debug)]
pub(super) struct WordGroup {
    pub(super) words: Vec<usize>,
    pub(super) rows: Option<Vec<TableRow>>,
    pub(super) size: f32,
}

/// The properties of a group that decide about its neighbours.
struct GroupLines {
    lines: Vec<CellRow>,
    top: f32,
    bottom: f32,
    is_running: bool,
    /// Most of its lines are amounts, dates, numbers; or have one.
    are_values: bool,
    have_values: bool,
}

impl GroupLines {
    fn of(words: &[Word], group: &WordGroup) -> Self {
        let lines = rows(words, group.words.clone());
        let all = || group.words.iter().map(|&at| &words[at]);
        let top = all().map(Word::top).fold(f32::MAX, f32::min);
        let bottom = all().map(Word::bottom).fold(f32::MIN, f32::max);
        let most = |count: usize| count > 0 && count * 10 >= lines.len() * 6;
        let are_values = most(lines.iter().filter(|line| is_value(words, line)).count());
        let has_value = |line: &&CellRow| line.cells.iter().any(|cell| is_value_cell(words, cell));
        let have_values = most(lines.iter().filter(has_value).count());
        let is_running = group.rows.is_none() && !are_values && is_running(words, &lines);
        Self { lines, top, bottom, is_running, are_values, have_values }
    }

    /// The number of its lines at the height of `other`.
    fn beside(&self, other: &Self) -> usize {
        self.lines.iter().filter(|line| line.base > other.top && line.base < other.bottom + 0.25 * line.size).count()
    }
}

/// Joins groups that are columns of one table; `splits`: the positions that divide the page's own columns.
pub(super) fn joined(words: &[Word], groups: Vec<WordGroup>, splits: &[f32]) -> Vec<WordGroup> {
    if groups.len() > MAX_GROUPS {
        return groups;
    }
    let mut group_of = vec![usize::MAX; words.len()];
    for (group, at) in groups.iter().enumerate().flat_map(|(nth, group)| group.words.iter().map(move |&at| (nth, at))) {
        group_of[at] = group;
    }
    let mut pairs: HashMap<(usize, usize), (Vec<f32>, bool)> = HashMap::new();
    for row in settled(words, rows(words, (0..words.len()).collect())) {
        let members: Vec<usize> = row.cells.iter().flat_map(|cell| cell.words.iter().copied()).collect();
        for pair in members.windows(2) {
            let (left, right) = (group_of[pair[0]], group_of[pair[1]]);
            let (one, other) = (&words[pair[0]], &words[pair[1]]);
            let is_value = [pair[0], pair[1]].iter().any(|&at| is_number(&words[at]));
            let shift = if is_value { BETWEEN } else { SHIFT };
            let is_beside = other.start >= one.end && (one.base - other.base).abs() <= shift * one.size.max(other.size);
            if left != right && left != usize::MAX && right != usize::MAX && is_beside {
                let is_parted = splits.iter().any(|&x| words[pair[0]].end <= x && words[pair[1]].start >= x);
                let found: &mut (Vec<f32>, bool) = pairs.entry((left, right)).or_default();
                found.0.push(row.base);
                found.1 |= is_parted;
            }
        }
    }
    let lines: Vec<GroupLines> = groups.iter().map(|group| GroupLines::of(words, group)).collect();
    let mut first: Vec<usize> = (0..groups.len()).collect();
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_unstable_by_key(|&(pair, _)| pair);
    let has_values_behind = |group: usize| {
        pairs.iter().any(|&((left, right), _)| left == group && lines[right].have_values)
            || lines[group].have_values && !lines[group].are_values
    };
    let has_text_before = |group: usize| {
        let are_beside = pairs.iter().any(|&((left, right), _)| right == group && !lines[left].are_values);
        are_beside || lines[group].have_values && !lines[group].are_values
    };
    for ((left, right), (shared, is_parted)) in &pairs {
        let (left, right) = (*left, *right);
        // Figures between texts in two languages may stand where other pages have their columns divided.
        let is_page = !is_parted
            || lines[left].have_values != lines[right].have_values
                && !lines[left].is_running
                && !lines[right].is_running
                && !has_values_behind(right);
        let is_one = is_page
            && !(has_text_before(left) && has_values_behind(right) && are_halves(&lines[left], &lines[right], shared));
        if is_one && are_columns(words, &lines[left], &lines[right], shared) {
            let (one, other) = (first[left], first[right]);
            for of in &mut first {
                if *of == other {
                    *of = one;
                }
            }
        }
    }
    let mut parts: Vec<Vec<WordGroup>> = (0..groups.len()).map(|_| Vec::new()).collect();
    for (nth, group) in groups.into_iter().enumerate() {
        parts[first[nth]].push(group);
    }
    let put = |mut parts: Vec<WordGroup>| {
        if parts.len() < 2 {
            return parts.pop();
        }
        let size = parts[0].size;
        let members: Vec<usize> = parts.into_iter().flat_map(|part| part.words).collect();
        Some(WordGroup { rows: Some(by_base(words, members.clone())), words: members, size })
    };
    parts.into_iter().filter_map(put).collect()
}

/// Whether two blocks, of which these lines stand side by side, are columns of one table.
fn are_columns(words: &[Word], left: &GroupLines, right: &GroupLines, shared: &[f32]) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "as many as a page has lines")]
    let is_share = |lines: usize| shared.len() as f32 >= ON_ONE_LINE * lines as f32;
    match (left.is_running, right.is_running) {
        (true, true) => false,
        (false, false) => is_share(left.beside(right).min(right.beside(left)).max(1)),
        (true, false) | (false, true) => {
            let (running, other) = if left.is_running { (left, right) } else { (right, left) };
            let begins =
                running.lines.first().is_some_and(|line| shared.iter().any(|&base| (base - line.base).abs() < 1.0));
            other.are_values && !are_counted(words, &other.lines) && is_share(other.lines.len())
                || other.lines.len() == 1 && begins
        }
    }
}

/// Whether two tables stand side by side, as on facing pages: figures, and then texts with figures behind them that stand at
/// heights of their own.
fn are_halves(left: &GroupLines, right: &GroupLines, shared: &[f32]) -> bool {
    let most = left.beside(right).max(right.beside(left));
    left.have_values && !right.are_values && most >= COLUMN_LINES && shared.len() * 100 < most * 85
}

/// Whether lines are running text: they fill their column, or continue in small letters.
fn is_running(words: &[Word], lines: &[CellRow]) -> bool {
    if lines.len() < RUNNING_LINES {
        return false;
    }
    let goes_on = |line: &&CellRow| {
        let first = line.cells.first().and_then(|cell| cell.words.first());
        first.and_then(|&at| words[at].text.chars().next()).is_some_and(char::is_lowercase)
    };
    is_prose_column(words, lines) || lines[1..].iter().filter(goes_on).count() * 2 > lines.len() - 1
}

/// Whether a line is an amount, a date, a number or a sign for none.
fn is_value(words: &[Word], line: &CellRow) -> bool {
    line.cells.iter().all(|cell| is_value_cell(words, cell))
}

/// Whether the numbers in `lines` increase by one, as line numbers do.
fn are_counted(words: &[Word], lines: &[CellRow]) -> bool {
    let number = |line: &CellRow| line.cells.first()?.words.first().and_then(|&at| words[at].text.parse::<u32>().ok());
    let next = |pair: &&[CellRow]| number(&pair[0]).is_some_and(|one| number(&pair[1]) == one.checked_add(1));
    lines.len() > COLUMN_LINES && lines.windows(2).filter(next).count() * 4 >= (lines.len() - 1) * 3
}

/// The rows of cells on one baseline.
fn by_base(words: &[Word], members: Vec<usize>) -> Vec<TableRow> {
    let lines = settled(words, rows(words, members));
    lines.into_iter().map(|line| line.cells.into_iter().map(|cell| vec![cell.words]).collect()).collect()
}

/// Figures in the middle of a text of two lines are put beside the nearer one.
fn settled(words: &[Word], mut lines: Vec<CellRow>) -> Vec<CellRow> {
    let mut at = 0;
    while at < lines.len() {
        let near = |other: usize| -> Option<f32> {
            let (line, other) = (&lines[at], lines.get(other)?);
            let distance = (line.base - other.base).abs();
            let mut beside = line.cells.iter().flat_map(|cell| other.cells.iter().map(move |its| (cell, its)));
            let is_free = beside.all(|(cell, its)| its.end <= cell.start || cell.end <= its.start);
            (is_free && !is_value(words, other) && distance < BETWEEN * line.size.max(other.size)).then_some(distance)
        };
        let above = at.checked_sub(1).and_then(|other| Some((near(other)?, other)));
        let below = near(at + 1).map(|distance| (distance, at + 1));
        let nearest = above.into_iter().chain(below).min_by(|one, other| one.0.total_cmp(&other.0));
        // Other texts in the middle of one of two lines, with a figure among them, are as near to either.
        let is_between = above.zip(below).is_some_and(|((one, _), (other, _))| {
            (one - other).abs() < 0.25 * one.max(other) && lines[at].cells.iter().any(|cell| is_value_cell(words, cell))
        });
        match nearest.filter(|_| is_between || is_value(words, &lines[at])) {
            Some((_, other)) => {
                let alone = lines.remove(at);
                let line = &mut lines[if other > at { other - 1 } else { other }];
                line.cells.extend(alone.cells);
                line.cells.sort_by(|one, other| one.start.total_cmp(&other.start));
            }
            None => at += 1,
        }
    }
    lines
}
