//! Words → blocks of lines. Words side by side make a piece of a line; pieces one under the other, of one size and close
//! together, make a block: a paragraph, a column of it, a table's cell or column.

use super::words::Word;

/// A wider gap than this, in sizes of the font, parts two columns, unless lines above or below go over it.
const COLUMN_GAP: f32 = 0.9;
/// Lines whose bases are nearer than this, in sizes of the font, are one: raised and lowered characters.
const LINE_SHIFT: f32 = 0.5;
/// A wider white between two lines than this, in sizes of the font, parts two blocks.
const BLOCK_GAP: f32 = 1.2;
/// Sizes in one block differ by less than this share.
const SIZE_SHARE: f32 = 0.1;
/// A word ends where the gap behind it is wider than this, in sizes of the font ...
const SPACE: f32 = 0.03;
/// ... or than this, in a line whose characters are all set apart.
const SPACE_APART: f32 = 0.15;

/// Words in one box.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) lines: Vec<Line>,
    pub(super) start: f32,
    pub(super) end: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
    pub(super) size: f32,
}

/// Words on one line, from its start.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) base: f32,
}

/// A part of a line without a wide gap.
#[derive(Debug, Clone)]
struct Piece {
    words: Vec<usize>,
    start: f32,
    end: f32,
    top: f32,
    bottom: f32,
    base: f32,
    size: f32,
}

/// The blocks that `words` make, in no order.
pub(super) fn blocks(words: &[Word]) -> Vec<Block> {
    let pieces = pieces(words);
    let mut sets = Sets::new(pieces.len());
    let mut by_top: Vec<usize> = (0..pieces.len()).collect();
    by_top.sort_by(|&a, &b| pieces[a].top.total_cmp(&pieces[b].top));
    for (at, &upper) in by_top.iter().enumerate() {
        let above = &pieces[upper];
        for &lower in &by_top[at + 1..] {
            let below = &pieces[lower];
            if below.top - above.bottom > BLOCK_GAP * above.size.max(below.size) {
                if below.top - above.bottom > BLOCK_GAP * 4.0 * above.size {
                    break;
                }
                continue;
            }
            let overlap = above.end.min(below.end) - above.start.max(below.start);
            let is_alike = (above.size - below.size).abs() <= SIZE_SHARE * above.size.max(below.size);
            if overlap > 0.0 && is_alike {
                sets.join(upper, lower);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); pieces.len()];
    for piece in 0..pieces.len() {
        groups[sets.root(piece)].push(piece);
    }
    groups.iter().filter(|group| !group.is_empty()).map(|group| block(words, &pieces, group)).collect()
}

fn pieces(words: &[Word]) -> Vec<Piece> {
    let mut by_base: Vec<usize> = (0..words.len()).collect();
    by_base.sort_by(|&a, &b| words[a].base.total_cmp(&words[b].base).then(words[a].start.total_cmp(&words[b].start)));
    let mut sets = Sets::new(words.len());
    let mut from = 0;
    let largest = words.iter().map(|word| word.size).fold(0.0, f32::max);
    for &index in &by_base {
        let word = &words[index];
        while from < by_base.len() && words[by_base[from]].base < word.base - LINE_SHIFT * largest {
            from += 1;
        }
        // The nearest to the right, on this line.
        let mut nearest: Option<(f32, usize)> = None;
        for &other in &by_base[from..] {
            let next = &words[other];
            if next.base > word.base + LINE_SHIFT * largest {
                break;
            }
            let size = word.size.max(next.size);
            let gap = next.start - word.end;
            let is_behind = next.start > word.start || (next.start == word.start && other > index);
            if other == index
                || !is_behind
                || (next.base - word.base).abs() > LINE_SHIFT * size
                || !(-0.5 * size..=COLUMN_GAP * size).contains(&gap)
            {
                continue;
            }
            if nearest.is_none_or(|(least, _)| gap < least) {
                nearest = Some((gap, other));
            }
        }
        if let Some((_, other)) = nearest {
            sets.join(index, other);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); words.len()];
    for &index in &by_base {
        groups[sets.root(index)].push(index);
    }
    groups.into_iter().filter(|group| !group.is_empty()).map(|group| piece(words, group)).collect()
}

fn piece(words: &[Word], group: Vec<usize>) -> Piece {
    let mut longest = group[0];
    let mut piece = Piece {
        words: Vec::new(),
        start: f32::MAX,
        end: f32::MIN,
        top: f32::MAX,
        bottom: f32::MIN,
        base: 0.0,
        size: 0.0,
    };
    let mut sizes: Vec<(f32, usize)> = Vec::new();
    for &index in &group {
        let word = &words[index];
        piece.start = piece.start.min(word.start);
        piece.end = piece.end.max(word.end);
        if word.count > words[longest].count {
            longest = index;
        }
        match sizes.iter_mut().find(|(size, _)| (size - word.size).abs() < 0.05 * word.size) {
            Some((_, count)) => *count += word.count,
            None => sizes.push((word.size, word.count)),
        }
    }
    let main = sizes.iter().max_by_key(|(_, count)| *count).map_or(words[longest].size, |&(size, _)| size);
    let of_main = group.iter().filter(|&&index| (words[index].size - main).abs() < 0.05 * main);
    for &index in of_main {
        piece.top = piece.top.min(words[index].top());
        piece.bottom = piece.bottom.max(words[index].bottom());
        piece.base = words[index].base;
    }
    piece.size = main;
    piece.words = group;
    piece
}

fn block(words: &[Word], pieces: &[Piece], group: &[usize]) -> Block {
    let mut group = group.to_vec();
    group.sort_by(|&a, &b| pieces[a].base.total_cmp(&pieces[b].base));
    let mut lines: Vec<(f32, f32, Vec<usize>)> = Vec::new();
    for &index in &group {
        let piece = &pieces[index];
        match lines.last_mut() {
            Some((base, size, line)) if piece.base - *base <= LINE_SHIFT * size.min(piece.size) => {
                line.extend(&piece.words);
            }
            Some(_) | None => lines.push((piece.base, piece.size, piece.words.clone())),
        }
    }
    let extreme = |of: fn(&Piece) -> f32, pick: fn(f32, f32) -> f32, first: f32| {
        group.iter().map(|&index| of(&pieces[index])).fold(first, pick)
    };
    Block {
        start: extreme(|piece| piece.start, f32::min, f32::MAX),
        end: extreme(|piece| piece.end, f32::max, f32::MIN),
        top: extreme(|piece| piece.top, f32::min, f32::MAX),
        bottom: extreme(|piece| piece.bottom, f32::max, f32::MIN),
        size: extreme(|piece| piece.size, f32::max, 0.0),
        lines: lines.into_iter().map(|(base, _, line)| Line { text: line_text(words, line), base }).collect(),
    }
}

fn line_text(words: &[Word], mut line: Vec<usize>) -> String {
    line.sort_by(|&a, &b| words[a].start.total_cmp(&words[b].start));
    let gaps = || line.windows(2).map(|pair| words[pair[1]].start - words[pair[0]].end);
    let is_apart = line.len() > 1 && line.iter().all(|&index| words[index].count == 1) && gaps().all(|gap| gap > 0.0);
    let space = if is_apart { SPACE_APART } else { SPACE };
    let mut text = String::new();
    let mut last: Option<&Word> = None;
    for &index in &line {
        let word = &words[index];
        if let Some(last) = last
            && word.start - last.end >= space * last.size
        {
            text.push(' ');
        }
        text.push_str(&word.text);
        last = Some(word);
    }
    text
}

/// Sets of numbers that become one another's.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (first, second) = (a.min(b), a.max(b));
        self.0[second] = first;
    }
}
