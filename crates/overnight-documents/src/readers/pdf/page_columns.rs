//! The columns of a page, which are read one after the other: as wide as each other, with white between them that runs down the page.

use super::letters;
use super::tables::{CellRow, channels, is_value_cell, rows};
use super::words::Word;

/// The minimum number of lines of a column, most of them wider than the second number, in font sizes.
const COLUMN_LINES: usize = 15;
const COLUMN_WIDTH: f32 = 3.0;
/// The minimum white between two columns, in font sizes.
const NARROW_GAP: f32 = 0.4;
/// The maximum white in most lines of columns that nearly touch.
const MOST_NARROW: f32 = 1.2;
/// The minimum ratio of that white to the mean of the other gaps in the lines.
const WIDER: f32 = 1.1;

/// The positions that divide a page into columns, and the words of each column.
pub(super) fn page_columns(words: &[Word], rows: &[CellRow]) -> Option<(Vec<f32>, Vec<Vec<usize>>)> {
    wide_columns(words, rows).or_else(|| narrow_columns(words, rows))
}

/// For a page with two or three equally wide columns: the positions that divide them, and the words of each column.
fn wide_columns(words: &[Word], rows: &[CellRow]) -> Option<(Vec<f32>, Vec<Vec<usize>>)> {
    let start = words.iter().map(|word| word.start).fold(f32::MAX, f32::min);
    let width = words.iter().map(|word| word.end).fold(f32::MIN, f32::max) - start;
    let divided = |shares: &[f32]| {
        let split = |share: &f32| {
            let near = (-6..=6_i8).rev().map(|off| start + (share + 0.01 * f32::from(off)) * width);
            near.min_by_key(|&x| crossing(rows, x))
        };
        let splits: Vec<f32> = shares.iter().filter_map(split).collect();
        let parts = parted(rows, &splits)?;
        // The same in two languages, side by side, has rows that run across.
        let mut directions =
            parts.iter().map(|part| letters::is_from_right(part.iter().map(|&at| words[at].text.as_str())));
        let first = directions.next().flatten();
        if directions.flatten().any(|other| first.is_some_and(|first| first != other)) {
            return None;
        }
        let begins = std::iter::once(f32::MIN).chain(splits.iter().copied());
        let are_columns = parts.iter().zip(begins).all(|(part, begin)| is_page_column(words, part, begin, 0.1 * width));
        let across: usize = splits.iter().map(|&x| crossing(rows, x)).sum();
        are_columns.then_some((across, splits, parts))
    };
    let of_two = divided(&[0.5]);
    let of_three = divided(&[1.0 / 3.0, 2.0 / 3.0]);
    [of_two, of_three]
        .into_iter()
        .flatten()
        .min_by_key(|&(across, ..)| across)
        .map(|(_, splits, parts)| (splits, parts))
}

/// The same for two columns so near to each other that their lines seem to be one: both begin at the left and fill their width,
/// as in contents whose page numbers stand at the right, or in justified text.
fn narrow_columns(words: &[Word], rows: &[CellRow]) -> Option<(Vec<f32>, Vec<Vec<usize>>)> {
    if rows.len() < COLUMN_LINES {
        return None;
    }
    let start = words.iter().map(|word| word.start).fold(f32::MAX, f32::min);
    let width = words.iter().map(|word| word.end).fold(f32::MIN, f32::max) - start;
    let members = |row: &CellRow| row.cells.iter().flat_map(|cell| cell.words.clone()).collect::<Vec<usize>>();
    let lines: Vec<Vec<usize>> = rows.iter().map(members).collect();
    // The white in the lines at a position; few lines may run over it.
    let white = |x: f32| {
        let (mut across, mut white) = (0_usize, 0.0);
        for line in &lines {
            let last = line.iter().rfind(|&&at| words[at].start < x).map(|&at| words[at].end);
            let first = line.iter().find(|&&at| words[at].start >= x).map(|&at| words[at].start);
            across += usize::from(last.is_some_and(|end| end > x));
            if across * 20 > lines.len() {
                return None;
            }
            white += last.zip(first).map_or(0.0, |(end, start)| start - end);
        }
        Some((white, x))
    };
    let near = (-30..=30_i8).map(|off| start + (0.5 + 0.003 * f32::from(off)) * width);
    let (_, x) = near.filter_map(white).max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let mut parts = [Vec::new(), Vec::new()];
    // Gaps between the columns, and all between words, in sizes of the font.
    let (mut between, mut all) = (Vec::new(), Vec::new());
    for (line, row) in lines.iter().zip(rows) {
        let at = line.partition_point(|&at| words[at].start < x);
        let gaps = || line.windows(2).map(|pair| (words[pair[1]].start - words[pair[0]].end) / row.size);
        if let Some(gap) = at.checked_sub(1).and_then(|last| gaps().nth(last)) {
            // A heading that runs across has a blank there.
            if gap < NARROW_GAP {
                continue;
            }
            between.push(gap);
            all.extend(gaps());
        }
        parts[0].extend(&line[..at]);
        parts[1].extend(&line[at..]);
    }
    #[expect(clippy::cast_precision_loss, reason = "as many as a page has words")]
    let mean = |gaps: &[f32]| gaps.iter().sum::<f32>() / gaps.len().max(1) as f32;
    let is_column = |part: &Vec<usize>, begin: f32| {
        let rows = self::rows(words, part.clone());
        let left = rows.iter().map(|row| row.cells[0].start).fold(f32::MAX, f32::min);
        let aligned = rows.iter().filter(|row| row.cells[0].start - left < 0.5 * row.size).count();
        aligned * 10 >= rows.len() * 6 && is_page_column(words, part, begin, 0.1 * width)
    };
    let narrow = between.iter().filter(|&&gap| gap <= MOST_NARROW).count();
    let are_columns = between.len() >= COLUMN_LINES
        && narrow * 10 >= between.len() * 6
        && mean(&between) > WIDER * mean(&all)
        && is_column(&parts[0], f32::MIN)
        && is_column(&parts[1], x);
    are_columns.then(|| (vec![x], parts.into()))
}

fn crossing(rows: &[CellRow], x: f32) -> usize {
    rows.iter().filter(|row| row.cells.iter().any(|cell| cell.start < x && cell.end > x)).count()
}

/// The cells of each column; none if many lines run over the splits between them.
fn parted(rows: &[CellRow], splits: &[f32]) -> Option<Vec<Vec<usize>>> {
    let mut parts = vec![Vec::new(); splits.len() + 1];
    let mut crossing = 0;
    for row in rows {
        if row.cells.iter().any(|cell| splits.iter().any(|&x| cell.start < x && cell.end > x)) {
            crossing += 1;
            continue;
        }
        for cell in &row.cells {
            parts[splits.partition_point(|&x| x < cell.start)].extend(&cell.words);
        }
    }
    (crossing * 5 <= rows.len()).then_some(parts)
}

/// Whether `members` are the lines of one of the page's columns, which begins within `near` behind `begin`.
fn is_page_column(words: &[Word], members: &[usize], begin: f32, near: f32) -> bool {
    let rows = rows(words, members.to_vec());
    if rows.len() < COLUMN_LINES {
        return false;
    }
    let is_line = |row: &&CellRow| {
        let (start, end) = (row.cells[0].start, row.cells[row.cells.len() - 1].end);
        (start - begin <= near || begin <= f32::MIN) && end - start > COLUMN_WIDTH * row.size
    };
    let lines = rows.iter().filter(is_line).count();
    // Numbers alone are no column of a page, and columns separated all the way down are columns of a table.
    let is_parted = rows.iter().flat_map(channels).any(|(from, to)| {
        let x = f32::midpoint(from, to);
        let both = rows.iter().filter(|row| channels(row).any(|(from, to)| from < x && x < to)).count();
        both * 2 >= rows.len() && crossing(&rows, x) * 10 <= rows.len()
    });
    let are_values = rows.iter().filter(|row| row.cells.iter().all(|cell| is_value_cell(words, cell))).count();
    lines * 3 >= rows.len() && !is_parted && are_values * 2 < rows.len()
}
