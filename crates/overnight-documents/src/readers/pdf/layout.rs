//! Words → blocks of lines. A block grows from one word over its neighbours: lines of its size close above and below
//! that share width with it, and words beside it without a column gap. So a paragraph, a column of it, a table's cell
//! or column is a block, and a wide gap inside a justified line separates nothing.

use std::collections::HashSet;

use super::direction;
use super::letters::is_letter_from_right;
use super::line_spacing::line_step;
use super::rows::{WordGroup, joined};
use super::scripts::{BEHIND, shifts};
use super::tables::{TableRow, tables};
use super::words::{WORD_GAP, Word};
use crate::raised::{self, BaselineShift};

/// Words whose bases are nearer than this, in sizes of the font, are on one line: raised and lowered characters.
const LINE_SHIFT: f32 = 0.5;
/// A wider gap than this, in font sizes, separates a word from a block on its left or right.
const COLUMN_GAP: f32 = 1.0;
/// How much a word's size may differ from the block's, as a share of it: above and below, and within.
const SIZE_ABOVE: f32 = 0.05;
const SIZE_WITHIN: f32 = 0.6;
/// A wider gap than this, in sizes of the font, ends a line.
const LINE_GAP: f32 = 1.5;
/// A word further than this before the end of the last one, in sizes of the font, is of another line: stacked marks,
/// and cells that run into each other.
const LINE_OVERLAP: f32 = 0.5;
/// The minimum size of raised characters at the beginning of a line, as a share of its size.
const NOTE_SIZE: f32 = 0.5;
/// Words whose baselines fall into one row of this height, in points, are read from left to right.
const ROW: f32 = 4.0;
/// How many rows are searched for the leftmost word, so as not to begin with a raised one.
const FIRST_ROWS: i64 = 3;
/// A word ends where the gap behind it is wider than this, in sizes of the font ...
const SPACE: f32 = 0.03;
/// ... or, in a line of letter-spaced characters, if it is this many times wider than the narrowest gap in the line; a
/// gap of the second width, in font sizes, is always enough.
const SPACE_APART: f32 = 1.3;
const MOST_APART: f32 = 0.4;

/// Separates two cells of a row.
pub(super) const CELLS_APART: &str = "  ";
/// Marks words with a line through them, as in Markdown.
const STRUCK: &str = "~~";
/// Parts of a line have bases nearer than this, in points.
const SAME_BASE: f32 = 0.1;

/// Words in one box.
#[derive(Debug, Clone)]
pub(super) struct WordBlock {
    pub(super) lines: Vec<WordLine>,
    pub(super) start: f32,
    pub(super) end: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
    pub(super) size: f32,
}

/// Words on one line, from its start.
#[derive(Debug, Clone)]
pub(super) struct WordLine {
    pub(super) text: String,
    pub(super) base: f32,
    pub(super) start: f32,
    /// The ends of cells that others follow.
    pub(super) cells: Vec<usize>,
    /// The places of its text on the page.
    pub(super) words: Vec<PlacedWord>,
}

impl WordLine {
    fn end(&self) -> f32 {
        self.words.last().map_or(self.start, |word| word.end)
    }

    /// Appends the next cell.
    fn add(&mut self, cell: Self) {
        self.cells.push(self.text.len());
        self.text.push_str(CELLS_APART);
        let before = self.text.len();
        self.text.push_str(&cell.text);
        self.cells.extend(cell.cells.into_iter().map(|at| at + before));
        self.words.extend(cell.words.into_iter().map(|word| word.behind(before)));
    }
}

/// A part of a text, and where on the page it is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedWord {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) start: f32,
    pub(super) end: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
    /// As in a [`super::glyphs::Glyph`]; known once it is written.
    pub(super) turn: u8,
}

impl PlacedWord {
    /// The same with `before` bytes of text before it.
    pub(super) fn behind(self, before: usize) -> Self {
        Self { from: self.from + before, to: self.to + before, ..self }
    }

    pub(super) fn new(word: &Word, from: usize, to: usize) -> Self {
        Self { from, to, start: word.start, end: word.end, top: word.top(), bottom: word.bottom(), turn: 0 }
    }
}

/// The blocks formed by `words`, from the top.
pub(super) fn blocks(words: &[Word]) -> Vec<WordBlock> {
    let mut pool = Pool::new(words, (0..words.len()).collect());
    let (tables, splits) = tables(words);
    let mut groups: Vec<WordGroup> = tables.into_iter().map(|table| pool.take_table(table)).collect();
    let step = line_step(words);
    while let Some(seed) = pool.take_first() {
        groups.push(grow(words, &mut pool, seed, step, &splits));
    }
    let groups = joined(words, groups, &splits);
    let mut blocks: Vec<WordBlock> = groups.into_iter().map(|group| block(words, group)).collect();
    blocks.sort_by(|a, b| a.top.total_cmp(&b.top));
    direction::read(&mut blocks);
    blocks
}

fn block(words: &[Word], group: WordGroup) -> WordBlock {
    let all = || group.words.iter().map(|&at| &words[at]);
    let (start, end) =
        (all().map(|word| word.start).fold(f32::MAX, f32::min), all().map(|word| word.end).fold(f32::MIN, f32::max));
    let (top, bottom) =
        (all().map(Word::top).fold(f32::MAX, f32::min), all().map(Word::bottom).fold(f32::MIN, f32::max));
    let lines = match group.rows {
        Some(rows) => table_lines(words, &rows),
        None => lines(words, group.words),
    };
    WordBlock { lines, start, end, top, bottom, size: group.size }
}

/// A line for each line of a table's cells.
fn table_lines(words: &[Word], rows: &[TableRow]) -> Vec<WordLine> {
    let mut lines: Vec<WordLine> = Vec::new();
    for row in rows {
        for (nth, cell) in row.iter().enumerate() {
            for (line, members) in cell.iter().enumerate() {
                let made = line_of(words, members);
                match lines.last_mut() {
                    Some(last) if nth > 0 && line == 0 => last.add(made),
                    _ => lines.push(made),
                }
            }
        }
    }
    lines
}

/// Words that no block or line has yet, in rows.
struct Pool<'a> {
    words: &'a [Word],
    /// By row, and within a row from the left.
    order: Vec<usize>,
    is_taken: Vec<bool>,
    first: usize,
}

impl<'a> Pool<'a> {
    fn new(words: &'a [Word], mut order: Vec<usize>) -> Self {
        order.sort_by(|&a, &b| {
            let (a, b) = (&words[a], &words[b]);
            row(a.base).cmp(&row(b.base)).then(a.start.total_cmp(&b.start))
        });
        let is_taken = vec![false; order.len()];
        Self { words, order, is_taken, first: 0 }
    }

    /// The word furthest to the left in the first rows.
    fn take_first(&mut self) -> Option<usize> {
        while *self.is_taken.get(self.first)? {
            self.first += 1;
        }
        let last = row(self.words[self.order[self.first]].base) + FIRST_ROWS;
        let mut best = self.first;
        for at in self.first..self.order.len() {
            let word = &self.words[self.order[at]];
            if row(word.base) > last {
                break;
            }
            if !self.is_taken[at] && word.start < self.words[self.order[best]].start {
                best = at;
            }
        }
        self.is_taken[best] = true;
        Some(self.order[best])
    }

    /// A group of a table's rows.
    fn take_table(&mut self, rows: Vec<TableRow>) -> WordGroup {
        let members: HashSet<usize> = rows.iter().flatten().flatten().flatten().copied().collect();
        for (place, word) in self.order.iter().enumerate() {
            self.is_taken[place] |= members.contains(word);
        }
        let size = self.words[rows[0][0][0][0]].size;
        let mut words: Vec<usize> = members.into_iter().collect();
        words.sort_unstable();
        WordGroup { words, rows: Some(rows), size }
    }

    /// The range in the order of the words with baselines from `from` to `to`, mixed with some others.
    fn range(&self, from: f32, to: f32) -> std::ops::Range<usize> {
        let (from, to) = (row(from), row(to));
        let start = self.order.partition_point(|&word| row(self.words[word].base) < from);
        let end = self.order.partition_point(|&word| row(self.words[word].base) <= to);
        start.max(self.first)..end.max(self.first)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "places on a page are checked to be small")]
fn row(base: f32) -> i64 {
    (base / ROW).floor() as i64
}

/// A block that is growing.
struct GrowingBlock {
    words: Vec<usize>,
    start: f32,
    end: f32,
    first_base: f32,
    last_base: f32,
}

impl GrowingBlock {
    fn new(seed: &Word) -> Self {
        Self { words: Vec::new(), start: seed.start, end: seed.end, first_base: seed.base, last_base: seed.base }
    }

    fn add(&mut self, index: usize, word: &Word) {
        self.words.push(index);
        self.start = self.start.min(word.start);
        self.end = self.end.max(word.end);
    }
}

/// Grows a block from the word `seed`, with line steps of at most `step` font sizes, in one of the page's columns.
fn grow(words: &[Word], pool: &mut Pool<'_>, seed: usize, step: f32, splits: &[f32]) -> WordGroup {
    let word = &words[seed];
    let size = word.size;
    let mut block = GrowingBlock::new(word);
    block.add(seed, word);
    let is_alike = |word: &Word, share: f32| (word.size - size).abs() < share * size;
    loop {
        let (first, last) = (block.first_base, block.last_base);
        let above = (first - step * size, first);
        let below = (last, last + step * size);
        let within = (first - LINE_SHIFT * size, last + LINE_SHIFT * size);

        let mut has_grown = false;
        let mut bases = (first, last);
        for at in pool.range(above.0, above.1).rev() {
            let word = &words[pool.order[at]];
            if !pool.is_taken[at]
                && word.base < first
                && word.base >= above.0
                && word.start < block.end
                && word.end > block.start
                && is_alike(word, SIZE_ABOVE)
            {
                pool.is_taken[at] = true;
                block.add(pool.order[at], word);
                bases.0 = bases.0.min(word.base);
                has_grown = true;
            }
        }
        for at in pool.range(below.0, below.1) {
            let word = &words[pool.order[at]];
            if !pool.is_taken[at]
                && word.base > last
                && word.base <= below.1
                && word.start < block.end
                && word.end > block.start
                && is_alike(word, SIZE_ABOVE)
            {
                pool.is_taken[at] = true;
                block.add(pool.order[at], word);
                bases.1 = bases.1.max(word.base);
                has_grown = true;
            }
        }
        (block.first_base, block.last_base) = bases;
        let within = (within.0.min(bases.0 - LINE_SHIFT * size), within.1.max(bases.1 + LINE_SHIFT * size));
        for at in pool.range(within.0, within.1) {
            let word = &words[pool.order[at]];
            if !pool.is_taken[at]
                && (within.0..=within.1).contains(&word.base)
                && word.start < block.end + COLUMN_GAP * size
                && word.end > block.start - COLUMN_GAP * size
                && !splits.iter().any(|x| block.end <= *x && word.start >= *x || word.end <= *x && block.start >= *x)
                && is_alike(word, SIZE_WITHIN)
            {
                pool.is_taken[at] = true;
                block.add(pool.order[at], word);
                has_grown = true;
            }
        }
        if !has_grown {
            break;
        }
    }
    WordGroup { words: block.words, rows: None, size }
}

fn lines(words: &[Word], members: Vec<usize>) -> Vec<WordLine> {
    let mut pool = Pool::new(words, members);
    let mut lines = Vec::new();
    while let Some(seed) = pool.take_first() {
        let first = &words[seed];
        let size = first.size;
        let mut line = vec![seed];
        let mut last = first;
        loop {
            // The number of a note may begin its line.
            let most = LINE_SHIFT * size / NOTE_SIZE;
            let mut nearest: Option<(f32, usize)> = None;
            for at in pool.range(first.base - most, first.base + most) {
                let word = &words[pool.order[at]];
                let gap = word.start - last.end;
                if !pool.is_taken[at]
                    && (word.base - first.base).abs() <= (LINE_SHIFT * size.max(word.size)).min(most)
                    // Two lines of small text may stand beside one large sign.
                    && (word.base - last.base).abs() <= LINE_SHIFT * word.size.max(last.size)
                    && word.start >= last.start
                    && gap >= -LINE_OVERLAP * size
                    && gap <= LINE_GAP * size
                    && nearest.is_none_or(|(least, _)| gap < least)
                {
                    nearest = Some((gap, at));
                }
            }
            let Some((_, at)) = nearest else { break };
            pool.is_taken[at] = true;
            line.push(pool.order[at]);
            last = &words[pool.order[at]];
        }
        lines.push(line_of(words, &line));
    }
    lines.sort_by(|a, b| a.base.total_cmp(&b.base).then(a.start.total_cmp(&b.start)));
    // A wide gap separates no line: its parts share one baseline.
    let mut whole: Vec<WordLine> = Vec::with_capacity(lines.len());
    for line in lines {
        match whole.last_mut() {
            Some(last) if (line.base - last.base).abs() < SAME_BASE && line.start >= last.end() => last.add(line),
            _ => whole.push(line),
        }
    }
    whole
}

/// The line of the words `line`, of which there is at least one.
fn line_of(words: &[Word], line: &[usize]) -> WordLine {
    let space = space(words, line);
    let shifts = shifts(words, line);
    let (mut text, mut placed) = (String::new(), Vec::with_capacity(line.len()));
    let is_parted = |nth: usize| {
        let (last, word) = (&words[line[nth - 1]], &words[line[nth]]);
        let white = if shifts[nth - 1] == shifts[nth] {
            space.unwrap_or(least_space(last, word))
        } else {
            BEHIND * last.size.max(word.size)
        };
        word.start - last.end >= white || is_apart(last, word)
    };
    let mut nth = 0;
    while nth < line.len() {
        let word = &words[line[nth]];
        let goes_on = |&next: &usize| {
            shifts[next] == shifts[nth]
                && shifts[nth] != BaselineShift::Level
                && words[line[next]].is_struck == word.is_struck
        };
        let end = (nth + 1..line.len()).take_while(goes_on).last().map_or(nth + 1, |last| last + 1);
        if nth > 0 && is_parted(nth) {
            text.push(' ');
        }
        if word.is_struck && !nth.checked_sub(1).is_some_and(|last| words[line[last]].is_struck) {
            text.push_str(STRUCK);
        }
        let mut run = word.text.clone();
        for next in nth + 1..end {
            if is_parted(next) {
                run.push(' ');
            }
            run.push_str(&words[line[next]].text);
        }
        let from = text.len();
        raised::push(&mut text, shifts[nth], &run);
        placed.extend(line[nth..end].iter().map(|&at| PlacedWord::new(&words[at], from, text.len())));
        if word.is_struck && !line.get(end).is_some_and(|&next| words[next].is_struck) {
            text.push_str(STRUCK);
        }
        nth = end;
    }
    let level = shifts.iter().position(|&shift| shift == BaselineShift::Level).unwrap_or_default();
    let base = line.get(level).map_or(0.0, |&at| words[at].base);
    let start = line.first().map_or(0.0, |&at| words[at].start);
    WordLine { text, base, start, cells: Vec::new(), words: placed }
}

/// The minimum gap between two words. Letters from the right are often drawn one by one.
fn least_space(last: &Word, word: &Word) -> f32 {
    let is_from_right = last.text.chars().chain(word.text.chars()).any(is_letter_from_right);
    last.size * if is_from_right { WORD_GAP } else { SPACE }
}

/// Whether two words touch though they were not drawn as one: the text of a cell that reaches to the next.
fn is_apart(last: &Word, word: &Word) -> bool {
    last.count > 1
        && word.count > 1
        && !last.text.chars().chain(word.text.chars()).any(is_letter_from_right)
        && (word.base - last.base).abs() <= 0.05 * last.size
        && (word.size - last.size).abs() <= 0.05 * last.size
}

/// The gap that ends a word in a letter-spaced line. Signs without a letter or digit are leaders.
fn space(words: &[Word], line: &[usize]) -> Option<f32> {
    let (first, rest) = line.split_first()?;
    let is_leader = !line.iter().any(|&index| words[index].text.chars().any(char::is_alphanumeric));
    if rest.is_empty() || is_leader || line.iter().any(|&index| words[index].count > 1) {
        return None;
    }
    let gaps = line.windows(2).map(|pair| words[pair[1]].start - words[pair[0]].end);
    let least = gaps.fold(f32::MAX, f32::min);
    (least > 0.0).then(|| (SPACE_APART * least).min(MOST_APART * words[*first].size))
}
