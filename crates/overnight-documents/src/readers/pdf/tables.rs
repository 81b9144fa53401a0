//! Tables without rules between their cells: rows of short texts that stand on shared lines, with white between them that
//! runs through several rows. They are read row by row. Columns of running text look alike but for their lines, which are
//! long and fill the column's width, and are left to be read one after the other.

use super::page_columns::page_columns;
use super::words::Word;

/// A wider gap than this, in font sizes, separates two cells ...
const CELL_GAP: f32 = 0.8;
/// ... where it stands over another of at least this width in the next row.
const CHANNEL: f32 = 0.6;
/// ... and so does text that overlaps the next one by this much.
const OVERLAP: f32 = 0.5;
/// Words with baselines nearer than this, in font sizes, are on one line; smaller raised or lowered ones, than this.
const LINE_SHIFT: f32 = 0.45;
const SCRIPT_SHIFT: f32 = 0.6;
const SCRIPT_SIZE: f32 = 0.85;
/// Scripts stand beside the words of their line: they run over none of them by more than this, in sizes of the font.
const SCRIPT_OVERLAP: f32 = 0.3;
/// The distance of rows of one table, in font sizes: lines of mathematics are nearer.
const ROW_STEPS: std::ops::RangeInclusive<f32> = 0.9..=3.0;
/// The maximum number of letters of a unit or a currency beside a figure.
const UNIT: usize = 3;
/// Lines of a separate column differ by more than this, in font sizes, from those beside them.
const SHIFT: f32 = 0.2;
/// Rows of several lines are this many times further apart than the lines.
const GROUP_STEP: f32 = 1.2;
/// The minimum rows of a table with several cells, and the minimum rows with at least three cells.
const ROWS: usize = 3;
const FEW_ROWS: usize = 2;
/// A column of running text: the characters in a line, and the share of lines that fill this share of its width.
const PROSE_CHARACTERS: usize = 25;
const PROSE_LINES: f32 = 0.6;
const FILLED: f32 = 0.85;
/// Running text in the last column comes this near to the margin, as a share of the width.
const MARGIN: f32 = 0.05;
/// Beside running text, cells that stand at more than this share of its lines are no cells.
const BESIDE_PROSE: f32 = 0.7;

/// The words on one line, divided by white space.
#[derive(Debug, Clone)]
pub(super) struct CellRow {
    pub(super) base: f32,
    pub(super) size: f32,
    pub(super) cells: Vec<RowCell>,
}

#[derive(Debug, Clone)]
pub(super) struct RowCell {
    pub(super) start: f32,
    pub(super) end: f32,
    pub(super) words: Vec<usize>,
}

/// A table's row: its cells, each with the words of its lines.
pub(super) type TableRow = Vec<Vec<Vec<usize>>>;

/// White between two columns.
type Channel = (f32, f32);

/// The tables among `words`, each as its rows, from the top, and the positions that divide the page's columns.
pub(super) fn tables(words: &[Word]) -> (Vec<Vec<TableRow>>, Vec<f32>) {
    let all = rows(words, (0..words.len()).collect());
    let mut found = Vec::new();
    let Some((splits, parts)) = page_columns(words, &all) else {
        regions(words, &all, &mut found);
        return (found, Vec::new());
    };
    for part in parts {
        regions(words, &rows(words, part), &mut found);
    }
    (found, splits)
}

/// The lines formed by `members`, from the top.
pub(super) fn rows(words: &[Word], mut members: Vec<usize>) -> Vec<CellRow> {
    members.sort_by(|&a, &b| words[a].base.total_cmp(&words[b].base));
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for at in members {
        let word = &words[at];
        match lines.last_mut() {
            Some(line) if word.base - words[line[0]].base < LINE_SHIFT * word.size.min(words[line[0]].size) => {
                line.push(at);
            }
            _ => lines.push(vec![at]),
        }
    }
    let size = |line: &[usize]| line.iter().map(|&word| words[word].size).fold(0.0, f32::max);
    let letters = |line: &[usize]| line.iter().map(|&word| words[word].count).sum::<usize>();
    let mut at = 0;
    while at < lines.len() {
        let base = words[lines[at][0]].base;
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().find(|&other| {
            lines.get(other).is_some_and(|line| {
                size(&lines[at]) < SCRIPT_SIZE * size(line)
                    // Lines beside one large sign are no scripts of it.
                    && letters(&lines[at]) < letters(line)
                    && (words[line[0]].base - base).abs() < SCRIPT_SHIFT * size(line)
                    && !lines[at].iter().any(|&script| line.iter().any(|&word| cross(&words[script], &words[word])))
            })
        });
        match beside {
            Some(other) => {
                let scripts = lines.remove(at);
                // Placed behind the others, so that the line keeps its baseline.
                lines[if other > at { other - 1 } else { other }].extend(scripts);
            }
            None => at += 1,
        }
    }
    lines
        .into_iter()
        .map(|mut line| {
            let (base, size) = (words[line[0]].base, size(&line));
            line.sort_by(|&a, &b| words[a].start.total_cmp(&words[b].start));
            let mut cells: Vec<RowCell> = Vec::new();
            for at in line {
                let word = &words[at];
                match cells.last_mut() {
                    Some(cell) if (-OVERLAP * size..=CELL_GAP * size).contains(&(word.start - cell.end)) => {
                        cell.end = cell.end.max(word.end);
                        cell.words.push(at);
                    }
                    _ => cells.push(RowCell { start: word.start, end: word.end, words: vec![at] }),
                }
            }
            CellRow { base, size, cells }
        })
        .collect()
}

/// Whether two words overlap in width, one over the other, and don't just stand side by side.
fn cross(a: &Word, b: &Word) -> bool {
    a.end.min(b.end) - a.start.max(b.start) > SCRIPT_OVERLAP * a.size.min(b.size)
}

pub(super) fn channels(row: &CellRow) -> impl Iterator<Item = Channel> {
    row.cells.windows(2).map(|pair| (pair[0].end, pair[1].start))
}

/// Finds tables in `rows`.
fn regions(words: &[Word], rows: &[CellRow], found: &mut Vec<Vec<TableRow>>) {
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let (start, end) = (
        cells().map(|cell| cell.start).fold(f32::MAX, f32::min),
        cells().map(|cell| cell.end).fold(f32::MIN, f32::max),
    );
    let margin = end - MARGIN * (end - start);
    let mut from = 0;
    while from < rows.len() {
        let Some((to, between)) = region(&rows[from..]) else {
            from += 1;
            continue;
        };
        let region = &rows[from..from + to];
        if is_table(words, region, &between, margin) {
            found.push(table_rows(words, region, &between));
        }
        from += to;
    }
}

/// How many of the first of `rows` share white between their cells, and that white.
fn region(rows: &[CellRow]) -> Option<(usize, Vec<Channel>)> {
    let mut between: Vec<Channel> = channels(&rows[0]).collect();
    let mut kept = between.clone();
    let (mut many, mut last) = (1, 0);
    for (at, row) in rows.iter().enumerate().skip(1) {
        let (step, size) = (row.base - rows[at - 1].base, row.size.max(rows[at - 1].size));
        if between.is_empty() || !ROW_STEPS.contains(&(step / size)) {
            break;
        }
        let narrowed: Vec<Channel> = between.iter().filter_map(|&channel| narrow(channel, row)).collect();
        let is_shared =
            |&(from, to): &Channel| row.cells[0].end <= from && row.cells.last().is_some_and(|last| last.start >= to);
        if row.cells.len() > 1 {
            if !narrowed.iter().any(is_shared) {
                break;
            }
            (between, many, last) = (narrowed, many + 1, at);
            kept.clone_from(&between);
        } else if narrowed.len() < between.len() {
            break;
        } else {
            between = narrowed;
            // The rest of a text in the last column.
            if between.last().is_some_and(|channel| row.cells[0].start >= channel.1) && last + 1 == at {
                last = at;
                kept.clone_from(&between);
            }
        }
    }
    let columns = kept.len() + 1;
    (many >= ROWS || many >= FEW_ROWS && columns > 2).then_some((last + 1, kept))
}

/// The part of a channel that `row` leaves free.
fn narrow((mut from, mut to): Channel, row: &CellRow) -> Option<Channel> {
    for cell in &row.cells {
        if cell.start < to && cell.end > from {
            if cell.end - from < to - cell.start {
                from = cell.end;
            } else {
                to = cell.start;
            }
        }
    }
    (to - from >= CHANNEL * row.size).then_some((from, to))
}

fn is_table(words: &[Word], rows: &[CellRow], between: &[Channel], margin: f32) -> bool {
    let mut columns: Vec<Vec<(usize, &RowCell)>> = vec![Vec::new(); between.len() + 1];
    for (at, row) in rows.iter().enumerate() {
        for cell in &row.cells {
            columns[column(between, cell)].push((at, cell));
        }
    }
    let Some((last, others)) = columns.split_last() else { return false };
    if others.iter().any(|column| is_prose(words, column)) || are_shifted(words, rows, last) {
        return false;
    }
    if !is_prose(words, last) || last.iter().all(|(_, cell)| cell.end < margin) {
        return true;
    }
    let beside = last.iter().filter(|(at, _)| others.iter().flatten().any(|(other, _)| other == at)).count();
    share(beside, last.len()) <= BESIDE_PROSE
}

/// Whether a column has lines of its own, which only come near those of the others.
fn are_shifted(words: &[Word], rows: &[CellRow], column: &[(usize, &RowCell)]) -> bool {
    let is_shifted = |&&(at, cell): &&(usize, &RowCell)| {
        let row = &rows[at];
        let others = row.cells.iter().filter(|other| other.start < cell.start);
        let least =
            others.map(|other| (words[other.words[0]].base - words[cell.words[0]].base).abs()).fold(f32::MAX, f32::min);
        (SHIFT * row.size..LINE_SHIFT * row.size).contains(&least)
    };
    column.len() >= FEW_ROWS && column.iter().filter(is_shifted).count() * 3 >= column.len() * 2
}

/// Whether a cell is an amount, a date, a number or a sign for none.
pub(super) fn is_value_cell(words: &[Word], cell: &RowCell) -> bool {
    is_figure(cell.words.iter().flat_map(|&at| words[at].text.chars()))
}

pub(super) fn is_number(word: &Word) -> bool {
    is_figure(word.text.chars())
}

fn is_figure(characters: impl Iterator<Item = char>) -> bool {
    let (mut letters, mut digits) = (0_usize, 0_usize);
    for character in characters {
        letters += usize::from(character.is_alphabetic());
        digits += usize::from(character.is_numeric());
    }
    letters <= digits && (letters <= UNIT || letters * 2 <= digits)
}

/// Whether `lines` are those of a column of running text.
pub(super) fn is_prose_column(words: &[Word], lines: &[CellRow]) -> bool {
    let cells: Vec<RowCell> = lines
        .iter()
        .filter_map(|line| {
            let (first, last) = (line.cells.first()?, line.cells.last()?);
            let words = line.cells.iter().flat_map(|cell| cell.words.iter().copied()).collect();
            Some(RowCell { start: first.start, end: last.end, words })
        })
        .collect();
    is_prose(words, &cells.iter().enumerate().collect::<Vec<_>>())
}

fn is_prose(words: &[Word], column: &[(usize, &RowCell)]) -> bool {
    let start = column.iter().map(|(_, cell)| cell.start).fold(f32::MAX, f32::min);
    let end = column.iter().map(|(_, cell)| cell.end).fold(f32::MIN, f32::max);
    let characters: usize = column.iter().flat_map(|(_, cell)| &cell.words).map(|&word| words[word].count).sum();
    let filled = column.iter().filter(|(_, cell)| cell.end - start >= FILLED * (end - start)).count();
    column.len() >= ROWS && characters >= PROSE_CHARACTERS * column.len() && share(filled, column.len()) >= PROSE_LINES
}

#[expect(clippy::cast_precision_loss, reason = "as many as a page has lines")]
fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole.max(1) as f32
}

fn column(between: &[Channel], cell: &RowCell) -> usize {
    between.partition_point(|channel| channel.1 <= cell.start)
}

/// The rows of a table with `lines`. A row is one line; or where the white between some lines is wider, and of the lines
/// between only the first has all cells, the texts in its cells are broken into lines.
fn table_rows(words: &[Word], lines: &[CellRow], between: &[Channel]) -> Vec<TableRow> {
    let step = |pair: &[CellRow]| pair[1].base - pair[0].base;
    let least = lines.windows(2).map(step).fold(f32::MAX, f32::min);
    let by_line = |line: &CellRow| -> TableRow { line.cells.iter().map(|cell| vec![cell.words.clone()]).collect() };
    let groups: Vec<&[CellRow]> = lines.chunk_by(|a, b| b.base - a.base < GROUP_STEP * least).collect();
    let later = || groups.iter().flat_map(|group| group[1..].iter().map(|line| (line, &group[0])));
    let broken = later().filter(|(line, first)| line.cells.len() < first.cells.len()).count();
    let without_first = later().filter(|(line, _)| column(between, &line.cells[0]) > 0).count();
    if groups.len() < FEW_ROWS || broken * 2 < later().count().max(1) || without_first * 3 < later().count() {
        return lines.iter().map(by_line).collect();
    }
    let row = |group: &&[CellRow]| {
        // A figure stays beside the line of its text at the same height.
        if group.iter().any(|line| line.cells.iter().any(|cell| is_value_cell(words, cell))) {
            return group.iter().map(by_line).collect();
        }
        let mut cells: TableRow = vec![Vec::new(); between.len() + 1];
        for cell in group.iter().flat_map(|line| &line.cells) {
            cells[column(between, cell)].push(cell.words.clone());
        }
        cells.retain(|cell| !cell.is_empty());
        vec![cells]
    };
    groups.iter().flat_map(row).collect()
}
