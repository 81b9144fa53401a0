//! The line spacing of a page's paragraphs. Most pages have close lines; where lines are spaced widely, a step that
//! would separate paragraphs elsewhere only leads to the next line.

use super::words::Word;

/// Lines further apart than this, baseline to baseline, in font sizes, belong to two blocks ...
const CLOSE: f32 = 1.5;
/// ... or, if the step between most lines of running text is from `WIDE` to `WIDEST`, than this many times that step.
const WIDE: f32 = 1.55;
const MORE: f32 = 1.03;
const WIDEST: f32 = 2.2;
/// A line of running text is as wide as this share of the page's text, has no gap wider than this in sizes, and is not
/// filled with dots, as one of a table of contents is.
const SHARE: f32 = 0.5;
const GAP: f32 = 1.5;
/// The number of such steps that are evidence on a page with many such lines; or the fewer ones behind filled lines.
const LEAST: usize = 5;
const FEW: usize = 3;
/// A line that reaches so far over the width of the page's text is filled.
const FILLED: f32 = 0.85;
/// If no lines are closer than this, two steps up to `WIDE` are evidence: style sheets with one and a half spacing.
const NEAR: f32 = 1.45;

struct WordRow {
    base: f32,
    size: f32,
    is_running: bool,
    /// The line ends where the page's text ends.
    is_full: bool,
}

/// The widest step between lines within a paragraph, in font sizes.
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

/// The words grouped by line, from the top.
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
