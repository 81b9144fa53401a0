//! Figures and letters that stand smaller above or below their line, for [`crate::raised`]. PDF doesn't mark them: they
//! are recognised by their size, their baseline, and that they touch their text.

use super::words::Word;
use crate::raised::BaselineShift;

/// The size of a raised or lowered character relative to its line. A smaller one is beside a large sign: a drop cap.
const SIZE: std::ops::RangeInclusive<f32> = 0.4..=0.86;
/// How far above and below, in sizes of the line's font.
const ABOVE: std::ops::RangeInclusive<f32> = 0.15..=0.75;
const BELOW: std::ops::RangeInclusive<f32> = 0.07..=0.5;
/// The maximum distance behind the text that it belongs to, in sizes of the line's font ...
pub(super) const BEHIND: f32 = 0.15;
/// ... and, if it begins the line, as the number of a note, the maximum distance before it.
const BEFORE: f32 = 1.5;

/// The position of each word relative to its line.
pub(super) fn shifts(words: &[Word], line: &[usize]) -> Vec<BaselineShift> {
    let mut shifts = vec![BaselineShift::Level; line.len()];
    let least = line.iter().map(|&at| words[at].size).fold(f32::MAX, f32::min);
    if line.iter().all(|&at| least > SIZE.end() * words[at].size) {
        return shifts;
    }
    let mut from = 0;
    while from < line.len() {
        let to = from + line[from..].iter().take_while(|&&at| is_alike(&words[line[from]], &words[at])).count();
        let run = (&words[line[from]], &words[line[to - 1]]);
        let is_near = |other: &Word, gap: f32, most: f32| (-other.size..=most * other.size).contains(&gap);
        let before = (0..from).rev().find(|&at| shifts[at] == BaselineShift::Level).map(|at| &words[line[at]]);
        let touched = from.checked_sub(1).map(|at| &words[line[at]]);
        let behind = line.get(to).map(|&at| &words[at]);
        let of_before = before
            .zip(touched)
            .filter(|(level, touched)| is_near(level, run.0.start - touched.end, BEHIND))
            .and_then(|(level, _)| shift(run.0, level));
        let most = if from == 0 { BEFORE } else { BEHIND };
        let of_behind = || {
            behind.filter(|level| is_near(level, level.start - run.1.end, most)).and_then(|level| shift(run.0, level))
        };
        if let Some(shift) = of_before.or_else(of_behind) {
            shifts[from..to].fill(shift);
        }
        from = to;
    }
    shifts
}

fn is_alike(one: &Word, other: &Word) -> bool {
    (one.base - other.base).abs() <= 0.05 * one.size && (one.size - other.size).abs() <= 0.05 * one.size
}

/// The position of a word relative to one on the line.
fn shift(word: &Word, level: &Word) -> Option<BaselineShift> {
    let above = (level.base - word.base) / level.size;
    if !SIZE.contains(&(word.size / level.size)) {
        None
    } else if ABOVE.contains(&above) {
        Some(BaselineShift::Raised)
    } else {
        BELOW.contains(&-above).then_some(BaselineShift::Lowered)
    }
}
