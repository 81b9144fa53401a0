//! Puts blocks into reading order by Breuel's two rules (T. Breuel, High performance document layout analysis, 2003): a
//! block precedes another below it that shares width with it; and one to its right, unless a third lies between both in
//! height and shares width with both. Cells of a table are read row by row.

use super::layout::WordBlock;

/// More blocks than this are ordered from top to bottom and left to right.
const MAX_BLOCKS: usize = 2_000;
/// Edges nearer than this, in font sizes, are aligned.
const ALIGNED_ACROSS: f32 = 0.7;
const ALIGNED_DOWN: f32 = 0.5;

/// The position of a block for the rules.
#[derive(Debug, Clone, Copy)]
struct BlockPosition {
    start: f32,
    end: f32,
    top: f32,
    /// The table that it is a cell of.
    table: Option<usize>,
}

/// Puts blocks, given from the top, into reading order.
pub(super) fn ordered(mut blocks: Vec<WordBlock>) -> Vec<WordBlock> {
    if blocks.len() > MAX_BLOCKS {
        blocks.sort_by(|a, b| a.top.total_cmp(&b.top).then(a.start.total_cmp(&b.start)));
        return blocks;
    }
    let places = places(&blocks);
    let rules = Rules::new(&blocks, &places);
    let mut order = Vec::with_capacity(blocks.len());
    let mut is_done = vec![false; blocks.len()];
    for from in 0..blocks.len() {
        rules.visit(from, &mut is_done, &mut order);
    }
    let mut taken: Vec<Option<WordBlock>> = blocks.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| taken.get_mut(index).and_then(Option::take)).collect()
}

fn shares_width(a: &WordBlock, b: &WordBlock) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn shares_height(a: &WordBlock, b: &WordBlock) -> bool {
    a.top <= b.bottom && b.top <= a.bottom
}

fn places(blocks: &[WordBlock]) -> Vec<BlockPosition> {
    let tables = tables(blocks);
    let mut places: Vec<BlockPosition> = blocks
        .iter()
        .zip(&tables)
        .map(|(block, &table)| BlockPosition { start: block.start, end: block.end, top: block.top, table })
        .collect();
    // For blocks outside of it, a table is one box.
    let count = tables.iter().flatten().max().map_or(0, |last| last + 1);
    let mut boxes = vec![(f32::MAX, f32::MIN, f32::MAX); count];
    for place in &places {
        if let Some(table) = place.table {
            let (start, end, top) = &mut boxes[table];
            (*start, *end, *top) = (start.min(place.start), end.max(place.end), top.min(place.top));
        }
    }
    for (index, place) in places.iter_mut().enumerate() {
        if let Some(table) = place.table {
            (place.start, place.end, place.top) = boxes[table];
        } else {
            (place.start, place.end) = widened(blocks, index);
        }
    }
    places
}

/// A block's width, and the free space beside it that blocks below take up: a short heading stands above all of its
/// columns.
fn widened(blocks: &[WordBlock], index: usize) -> (f32, f32) {
    let block = &blocks[index];
    let others = || blocks.iter().enumerate().filter(|&(other, _)| other != index).map(|(_, other)| other);
    let (mut left, mut right) = (f32::MIN, f32::MAX);
    for other in others().filter(|other| shares_height(block, other)) {
        if other.start > block.end {
            right = right.min(other.start);
        }
        if other.end < block.start {
            left = left.max(other.end);
        }
    }
    let (mut start, mut end) = (block.start, block.end);
    for other in others().filter(|other| other.top >= block.bottom) {
        if other.end > end && other.end <= right {
            end = other.end;
        }
        if other.start < start && other.start >= left {
            start = other.start;
        }
    }
    (start, end)
}

/// The table of each block that is a cell. Four blocks in two rows and two columns with aligned edges are a table, and
/// tables that share a cell are one.
fn tables(blocks: &[WordBlock]) -> Vec<Option<usize>> {
    let mut tables: Vec<Option<usize>> = vec![None; blocks.len()];
    let mut count = 0;
    for first in 0..blocks.len() {
        let Some(cells) = four(blocks, first) else { continue };
        let known = cells.iter().filter_map(|&cell| tables[cell]).max();
        let table = known.unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        for cell in cells {
            if let Some(other) = tables[cell].replace(table)
                && other != table
            {
                for of in &mut tables {
                    if *of == Some(other) {
                        *of = Some(table);
                    }
                }
            }
        }
    }
    tables
}

/// The blocks nearest to the right of `first`, below it, and both, if the four are cells.
fn four(blocks: &[WordBlock], first: usize) -> Option<[usize; 4]> {
    let a = &blocks[first];
    let (mut right, mut below, mut across): (Option<usize>, Option<usize>, Option<usize>) = (None, None, None);
    for (index, block) in blocks.iter().enumerate().filter(|&(index, _)| index != first) {
        let is_right = block.start > a.end;
        let is_below = block.top > a.bottom;
        if shares_height(a, block) && is_right {
            if right.is_none_or(|best| block.start < blocks[best].start) {
                right = Some(index);
            }
        } else if shares_width(a, block) && is_below {
            if below.is_none_or(|best| block.top < blocks[best].top) {
                below = Some(index);
            }
        } else if is_right
            && is_below
            && across.is_none_or(|best| block.start < blocks[best].start && block.top < blocks[best].top)
        {
            across = Some(index);
        }
    }
    let (right, below, across) = (right?, below?, across?);
    let (b, c, d) = (&blocks[right], &blocks[below], &blocks[across]);
    let is_grid = !shares_width(c, d)
        && !shares_height(b, d)
        && !shares_width(b, c)
        && !shares_height(b, c)
        && shares_width(d, b)
        && shares_height(d, c);
    if !is_grid {
        return None;
    }
    let size = a.size.min(b.size).min(c.size).min(d.size);
    let middle = |block: &WordBlock| f32::midpoint(block.start, block.end);
    let centre = |block: &WordBlock| f32::midpoint(block.top, block.bottom);
    let start = |block: &WordBlock| block.start;
    let end = |block: &WordBlock| block.end;
    let top = |block: &WordBlock| block.top;
    let bottom = |block: &WordBlock| block.bottom;
    let in_line = |of: &dyn Fn(&WordBlock) -> f32, pairs: [(&WordBlock, &WordBlock); 2], near: f32| {
        pairs.iter().all(|(one, other)| (of(one) - of(other)).abs() <= near)
    };
    let columns = [(a, c), (b, d)];
    let rows = [(a, b), (c, d)];
    let of_columns: [&dyn Fn(&WordBlock) -> f32; 3] = [&start, &end, &middle];
    let of_rows: [&dyn Fn(&WordBlock) -> f32; 3] = [&top, &bottom, &centre];
    let across_ok = of_columns.iter().any(|of| in_line(of, columns, ALIGNED_ACROSS * size));
    let down_ok = of_rows.iter().any(|of| in_line(of, rows, ALIGNED_DOWN * size));
    (across_ok && down_ok).then_some([first, right, below, across])
}

/// The relation "comes before" between blocks.
struct Rules<'a> {
    blocks: &'a [WordBlock],
    places: &'a [BlockPosition],
    /// For each block, the blocks above and below it that share width, as bits.
    above: Vec<Vec<u64>>,
    below: Vec<Vec<u64>>,
}

impl<'a> Rules<'a> {
    fn new(blocks: &'a [WordBlock], places: &'a [BlockPosition]) -> Self {
        let bits = vec![0_u64; blocks.len().div_ceil(64)];
        let mut above = vec![bits.clone(); blocks.len()];
        let mut below = vec![bits; blocks.len()];
        for (upper, a) in places.iter().enumerate() {
            for (lower, b) in places.iter().enumerate() {
                if upper != lower && a.start <= b.end && b.start <= a.end && a.top < b.top {
                    above[lower][upper / 64] |= 1 << (upper % 64);
                    below[upper][lower / 64] |= 1 << (lower % 64);
                }
            }
        }
        Self { blocks, places, above, below }
    }

    fn is_before(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.places[first], &self.places[second]);
        if a.table.is_some() && a.table == b.table {
            let (a, b) = (&self.blocks[first], &self.blocks[second]);
            return a.bottom <= b.top || (shares_height(a, b) && a.end <= b.start);
        }
        if self.above[second][first / 64] >> (first % 64) & 1 == 1 {
            return true;
        }
        let is_any_between = |upper: usize, lower: usize| {
            self.below[upper].iter().zip(&self.above[lower]).any(|(below, above)| below & above != 0)
        };
        a.end <= b.start && !is_any_between(first, second) && !is_any_between(second, first)
    }

    /// Adds `from` to `reading_order`, behind all blocks that must precede it.
    fn visit(&self, from: usize, is_done: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut is_done[from], true) {
            return;
        }
        let mut path = vec![(from, 0)];
        while let Some((block, next)) = path.last_mut() {
            let block = *block;
            let found = (*next..self.blocks.len()).find(|&other| !is_done[other] && self.is_before(other, block));
            let Some(other) = found else {
                order.push(block);
                path.pop();
                continue;
            };
            *next = other + 1;
            is_done[other] = true;
            path.push((other, 0));
        }
    }
}
