//! The line spacing of a page's paragraphs. Most pages are set close; where the lines are set wide, a step
//! that would part paragraphs elsewhere is only the next line's.

use super::words::Word;

/// Lines further apart than this, base to base, in sizes of the font, are of two blocks ...
const CLOSE: f32 = 1.5;
/// ... or, where the step between most lines of running text is from `WIDE` to `WIDEST`, than so many times that.
const WIDE: f32 = 1.55;
const MORE: f32 = 1.03;
const WIDEST: f32 = 2.2;
/// A line of running text is as wide as this share of the page's text, has no gap wider than this in sizes, and is not
/// filled with dots, as one of a table of contents is.
const SHARE: f32 = 0.5;
const GAP: f32 = 1.5;
/// So many such steps tell, on a page many of whose lines are such; or so few behind lines that are filled.
const LEAST: usize = 5;
const FEW: usize = 3;
/// A line that reaches so far over the width of the page's text is filled.
const FILLED: f32 = 0.85;
/// Where no two lines stand closer than this, two steps up to `WIDE` tell: style sheets with lines of one and a half sizes.
const NEAR: f32 = 1.45;

struct WordRow {
    base: f32,
    size: f32,
    is_running: bool,
    /// It ends where the page's text ends.
    is_full: bool,
}

/// The step from one line to the next that is the widest within a paragraph, in sizes of the font.
pub(super) fn line_step(words: &[Word]) -> f32 {
    let rows = rows(words);
    let pairs = rows.windows(2).filter(|pair| {
        pair.iter().all(|row| row.is_running) && (pair[0].size - pair[1].size).abs() < 0.05 * pair[0].size
    });
    let step_of = |pair: &[WordRow]| (pair[1].base - pair[0].base) / pair[0].size;
    let mut steps: Vec<f32> = pairs.clone().map(step_of).collect();
    steps.sort_by(f32::total_cmp);
    let usual = steps.get(steps.len() / 2).copied().unwrap_or(0.0);
    let are_alike = |step: f32, usual: f32| (step - usual).abs() < 0.03 * usual;
    let alike = steps.iter().filter(|&&step| are_alike(step, usual)).count();
    let running = rows.iter().filter(|row| row.is_running).count();
    let filled = pairs.filter(|pair| pair[0].is_full && are_alike(step_of(pair), usual)).count();
    let is_prose = running * 10 >= rows.len() * 4 && alike >= LEAST || filled >= FEW;
    if is_prose && (WIDE..=WIDEST).contains(&usual) && alike * 2 >= steps.len() {
        return usual * MORE;
    }
    let closest = steps.windows(2).find(|pair| are_alike(pair[0], pair[1])).map_or(0.0, |pair| pair[1]);
    if (NEAR..=WIDE).contains(&closest) { CLOSE.max(closest * MORE) } else { CLOSE }
}

/// Words by the line that they stand on, from the top.
fn rows(words: &[Word]) -> Vec<WordRow> {
    let start = words.iter().map(|word| word.start).fold(f32::MAX, f32::min);
    let end = words.iter().map(|word| word.end).fold(f32::MIN, f32::max);
    let mut sorted: Vec<&Word> = words.iter().collect();
    sorted.sort_by(|a, b| a.base.total_cmp(&b.base));
    sorted
        .chunk_by(|a, b| b.base - a.base < 0.3 * a.size)
        .map(|row| {
            let mut row = row.to_vec();
            row.sort_by(|a, b| a.start.total_cmp(&b.start));
            let (first, last) = (row[0], row[row.len() - 1]);
            let has_gap = row.windows(2).any(|pair| pair[1].start - pair[0].end > GAP * pair[0].size);
            let dots = row.iter().filter(|word| word.text.chars().all(|c| c == '.')).count();
            let is_running = !has_gap && dots * 2 < row.len() && last.end - first.start >= SHARE * (end - start);
            let is_full = last.end - start >= FILLED * (end - start);
            WordRow { base: first.base, size: first.size, is_running, is_full }
        })
        .collect()
}
