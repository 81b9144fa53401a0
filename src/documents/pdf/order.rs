//! Blocks → text, in the order in which a person reads them: Breuel's rules. A block comes before another one that it
//! stands above, where they share a part of the width; and before one that it stands to the left of, unless a third one
//! lies between the two in height and shares width with both.

use super::glyphs::{Page, TURNS};
use super::layout::{Block, blocks};
use super::words::{Word, words};

/// With more blocks than this, they come from top to bottom and left to right.
const MAX_BLOCKS: usize = 1_500;
/// With more words than this, they come as they were painted.
const MAX_WORDS: usize = 60_000;

/// The text of `page`.
pub(super) fn text(page: &Page) -> String {
    let mut counts = [0_usize; TURNS];
    for glyph in &page.glyphs {
        if let Some(count) = counts.get_mut(usize::from(glyph.turn)) {
            *count += 1;
        }
    }
    let mut turns: Vec<u8> = vec![0, 1, 2, 3];
    turns.sort_by_key(|&turn| std::cmp::Reverse(counts[usize::from(turn)]));
    let mut out = String::new();
    for turn in turns {
        if counts[usize::from(turn)] == 0 {
            break;
        }
        let words = words(page, turn);
        if words.len() > MAX_WORDS {
            as_painted(&words, &mut out);
        } else {
            write(&ordered(blocks(&words)), &mut out);
        }
    }
    out
}

fn as_painted(words: &[Word], out: &mut String) {
    let mut base = None;
    for word in words {
        let is_new_line = base.replace(word.base).is_none_or(|base: f32| (base - word.base).abs() > 0.5 * word.size);
        out.push(if is_new_line { '\n' } else { ' ' });
        out.push_str(&word.text);
    }
    out.push('\n');
}

fn write(blocks: &[Block], out: &mut String) {
    for block in blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        let mut last: Option<f32> = None;
        let mut pitches: Vec<f32> = block.lines.windows(2).map(|pair| pair[1].base - pair[0].base).collect();
        pitches.sort_by(f32::total_cmp);
        let usual = pitches.get(pitches.len() / 2).copied().unwrap_or_default();
        for line in &block.lines {
            if last.is_some_and(|last| line.base - last > 1.35 * usual.max(block.size)) {
                out.push('\n');
            }
            out.push_str(&line.text);
            out.push('\n');
            last = Some(line.base);
        }
    }
}

fn ordered(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.sort_by(|a, b| a.top.total_cmp(&b.top).then(a.start.total_cmp(&b.start)));
    if blocks.len() > MAX_BLOCKS {
        return blocks;
    }
    let mut order = Vec::with_capacity(blocks.len());
    let mut is_done = vec![false; blocks.len()];
    for first in 0..blocks.len() {
        visit(&blocks, first, &mut is_done, &mut order);
    }
    let mut taken: Vec<Option<Block>> = blocks.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| taken.get_mut(index).and_then(Option::take)).collect()
}

/// Puts `from` into `order`, behind all that must come before it.
fn visit(blocks: &[Block], from: usize, is_done: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut is_done[from], true) {
        return;
    }
    let mut path = vec![(from, 0)];
    while let Some((block, next)) = path.last_mut() {
        let Some(other) = (*next..blocks.len()).find(|&other| !is_done[other] && is_before(blocks, other, *block))
        else {
            order.push(*block);
            path.pop();
            continue;
        };
        *next = other + 1;
        is_done[other] = true;
        path.push((other, 0));
    }
}

fn is_before(blocks: &[Block], first: usize, second: usize) -> bool {
    let (a, b) = (&blocks[first], &blocks[second]);
    if shares_width(a, b) {
        return a.top < b.top;
    }
    if a.end > b.start {
        return false;
    }
    let (upper, lower) = (a.top.min(b.top), a.bottom.max(b.bottom));
    !blocks.iter().enumerate().any(|(index, other)| {
        index != first
            && index != second
            && shares_width(other, a)
            && shares_width(other, b)
            && is_between(other, a, b, upper, lower)
    })
}

/// Whether `other` lies between two blocks in height.
fn is_between(other: &Block, a: &Block, b: &Block, _upper: f32, _lower: f32) -> bool {
    let middle = (other.top + other.bottom) / 2.0;
    let (above, below) = if a.top < b.top { (a, b) } else { (b, a) };
    middle > (above.top + above.bottom) / 2.0 && middle < (below.top + below.bottom) / 2.0
}

fn shares_width(a: &Block, b: &Block) -> bool {
    a.start < b.end && b.start < a.end
}
