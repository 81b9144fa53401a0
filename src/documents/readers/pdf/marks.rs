//! Marks that stand so far from their text, or so high over its line, that they make a block of their own: bullets of lists,
//! numbers of footnotes. Each goes before the line that it stands beside.

use super::layout::Block;

/// How far a mark's base may be from its line's, in sizes of the font.
const SHIFT: f32 = 0.3;
/// How far a note's number may be raised, in its own size, and how large it may be against the note.
const RAISED: f32 = 1.0;
const SMALL: f32 = 0.9;
/// The widest gap between a mark and its line, in sizes of the font.
const GAP: f32 = 5.0;
/// A page of more blocks is no text with lists.
const MAX_BLOCKS: usize = 3_000;

/// `blocks` with the marks before their lines.
pub(super) fn with_marks(mut blocks: Vec<Block>) -> Vec<Block> {
    if blocks.len() > MAX_BLOCKS {
        return blocks;
    }
    for of in 0..blocks.len() {
        let is_bullet = blocks[of].lines.iter().all(|line| is_bullet(&line.text));
        let is_number = matches!(&blocks[of].lines[..], [only] if is_note_number(&only.text));
        if !is_bullet && !is_number {
            continue;
        }
        let marks = std::mem::take(&mut blocks[of].lines);
        let (end, size) = (blocks[of].end, blocks[of].size);
        for mark in marks {
            let beside = (0..blocks.len())
                .filter(|&at| at != of && (0.0..GAP * size).contains(&(blocks[at].start - end)))
                .flat_map(|at| (0..blocks[at].lines.len()).map(move |line| (at, line)))
                .filter(|&(at, line)| {
                    let below = blocks[at].lines[line].base - mark.base;
                    if is_bullet {
                        below.abs() < SHIFT * size && !is_number_after_dash(&mark.text, &blocks[at].lines[line].text)
                    } else {
                        // a note's number is raised, small, and right before the note's first line
                        line == 0
                            && (0.1 * size..RAISED * size).contains(&below)
                            && size < SMALL * blocks[at].size
                            && blocks[at].start - end < size
                    }
                })
                .min_by(|&(a, _), &(b, _)| blocks[a].start.total_cmp(&blocks[b].start));
            match beside {
                Some((at, line)) => blocks[at].lines[line].text.insert_str(0, &format!("{} ", mark.text)),
                None => blocks[of].lines.push(mark),
            }
        }
    }
    blocks.retain(|block| !block.lines.is_empty());
    blocks
}

fn is_note_number(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A dash in a table says that there is nothing, and is no sign of the number in the next column.
fn is_number_after_dash(mark: &str, text: &str) -> bool {
    mark == "–" && !text.starts_with(char::is_alphabetic)
}

fn is_bullet(text: &str) -> bool {
    matches!(text, "•" | "◦" | "▪" | "●" | "○" | "■" | "·" | "∙" | "‣" | "⁃" | "–")
}
