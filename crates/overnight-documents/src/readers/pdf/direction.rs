//! Lines of Hebrew and Arabic. They are drawn from the left like all lines, so their characters come in visual order;
//! here they are put into reading order, while numbers and Latin words among them stay as they are.

use unicode_bidi::{BidiInfo, Level};
use unicode_normalization::UnicodeNormalization;

use super::layout::{CELLS_APART, PlacedWord, WordBlock, WordLine};
use super::letters::{is_from_right, is_letter_from_right, is_mark};

/// Brackets that are mirrored when read from the right: opening, closing.
const BRACKETS: [(char, char); 5] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>'), ('\u{ab}', '\u{bb}')];

/// Puts each line of `blocks` into reading order.
pub(super) fn read(blocks: &mut [WordBlock]) {
    let texts = || blocks.iter().flat_map(|block| &block.lines).map(|line| line.text.as_str());
    if !texts().flat_map(str::chars).any(is_letter_from_right) {
        return;
    }
    let is_page_from_right = is_from_right(texts()).unwrap_or(false);
    let bases: Vec<bool> = blocks
        .iter()
        .map(|block| is_from_right(block.lines.iter().map(|line| line.text.as_str())).unwrap_or(is_page_from_right))
        .collect();
    // Some programs store a bracket as it looks, some by its meaning: the choice is the one that gives more pairs.
    let cells =
        || blocks.iter().zip(&bases).flat_map(|(block, &base)| block.lines.iter().map(move |line| (line, base)));
    let vote: i64 = cells()
        .flat_map(|(line, base)| spans(line).into_iter().map(move |(from, to)| (&line.text[from..to], base)))
        .filter(|(cell, _)| cell.chars().any(is_letter_from_right))
        .map(|(cell, base)| pairs(&logical(cell, base, true)) - pairs(&logical(cell, base, false)))
        .sum();
    for (block, base) in blocks.iter_mut().zip(bases) {
        for line in &mut block.lines {
            *line = read_line(line, base, vote >= 0);
        }
    }
}

/// The start and end of each cell in a line.
fn spans(line: &WordLine) -> Vec<(usize, usize)> {
    let ends = line.cells.iter().copied().chain([line.text.len()]);
    let begins = std::iter::once(0).chain(line.cells.iter().map(|end| end + CELLS_APART.len()));
    begins.zip(ends).collect()
}

fn read_line(line: &WordLine, is_from_right: bool, is_mirrored: bool) -> WordLine {
    let mut cells = spans(line);
    if is_from_right {
        cells.reverse();
    }
    let mut out =
        WordLine { text: String::with_capacity(line.text.len()), cells: Vec::new(), words: Vec::new(), ..*line };
    for (nth, (from, to)) in cells.into_iter().enumerate() {
        if nth > 0 {
            out.cells.push(out.text.len());
            out.text.push_str(CELLS_APART);
        }
        let drawn = &line.text[from..to];
        let read = with_brackets_around_numbers(&as_read(drawn, is_from_right, is_mirrored));
        let words = line.words.iter().filter(|word| word.from >= from && word.to <= to);
        let begin = out.text.len();
        if read == drawn {
            let moved =
                words.map(|word| PlacedWord { from: word.from - from, to: word.to - from, ..*word }.behind(begin));
            out.words.extend(moved);
        } else {
            // The order of the words isn't known: any of them stands somewhere in the cell.
            let whole = words.copied().reduce(|whole, word| PlacedWord {
                start: whole.start.min(word.start),
                end: whole.end.max(word.end),
                top: whole.top.min(word.top),
                bottom: whole.bottom.max(word.bottom),
                ..whole
            });
            out.words.extend(whole.map(|whole| PlacedWord { from: begin, to: begin + read.len(), ..whole }));
        }
        out.text.push_str(&read);
    }
    out
}

/// Changes `)12(` in a cell to `(12)`: some programs store the brackets around a number mirrored, and numbers run from
/// the left in either script.
fn with_brackets_around_numbers(read: &str) -> String {
    let mut characters: Vec<char> = read.chars().collect();
    let mut open = 0_usize;
    for at in 0..characters.len() {
        match characters[at] {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' => {
                let is_of_number = |found: &&char| found.is_numeric() || matches!(found, '.' | ',' | '-' | '%');
                let number = characters[at + 1..].iter().take_while(is_of_number).count();
                let end = at + 1 + number;
                if number > 0 && characters.get(end) == Some(&'(') {
                    (characters[at], characters[end]) = ('(', ')');
                    open += 1;
                }
            }
            _ => {}
        }
    }
    characters.into_iter().collect()
}

/// A cell in reading order.
fn as_read(drawn: &str, is_from_right: bool, is_mirrored: bool) -> String {
    if !drawn.chars().any(is_letter_from_right) {
        let other: String = drawn.chars().map(mirrored).collect();
        let is_other = is_from_right && pairs(&other) > pairs(drawn);
        return if is_other { other } else { drawn.to_owned() };
    }
    let [as_drawn, turned] = [false, true].map(|is_mirrored| logical(drawn, is_from_right, is_mirrored));
    match pairs(&turned).cmp(&pairs(&as_drawn)) {
        std::cmp::Ordering::Less => as_drawn,
        std::cmp::Ordering::Greater => turned,
        std::cmp::Ordering::Equal => {
            if is_mirrored {
                turned
            } else {
                as_drawn
            }
        }
    }
}

/// The number of matched brackets of `text`, less the unmatched ones.
fn pairs(text: &str) -> i64 {
    let (mut open, mut score) = (Vec::new(), 0);
    for character in text.chars() {
        for (opening, closing) in BRACKETS {
            if character == opening {
                open.push(closing);
            } else if character == closing {
                score += if open.pop() == Some(closing) { 1 } else { -1 };
            }
        }
    }
    score - i64::try_from(open.len()).unwrap_or(i64::MAX)
}

fn mirrored(character: char) -> char {
    let other = BRACKETS.into_iter().find_map(|(opening, closing)| match character {
        _ if character == opening => Some(closing),
        _ if character == closing => Some(opening),
        _ => None,
    });
    other.unwrap_or(character)
}

/// The text `drawn` in reading order. The rules for visual order also reverse it; brackets are mirrored with the line
/// if they are stored as they look.
fn logical(drawn: &str, is_from_right: bool, is_mirrored: bool) -> String {
    let level = if is_from_right { Level::rtl() } else { Level::ltr() };
    let info = BidiInfo::new(drawn, Some(level));
    let mut text = String::with_capacity(drawn.len());
    for paragraph in &info.paragraphs {
        let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let is_turned = levels.get(run.start).is_some_and(Level::is_rtl);
            let part = &drawn[run];
            if !is_turned {
                text.extend(part.chars().flat_map(letters));
                continue;
            }
            let mut end = part.len();
            for (at, character) in part.char_indices().rev() {
                // A mark stays behind its letter.
                if is_mark(character) && at > 0 {
                    continue;
                }
                let cluster = part[at..end].chars();
                text.extend(cluster.map(|one| if is_mirrored { mirrored(one) } else { one }).flat_map(letters));
                end = at;
            }
        }
    }
    text
}

/// The letters for a presentation form: embedded fonts have one form for each place in a word.
fn letters(character: char) -> impl Iterator<Item = char> {
    let is_shape = matches!(character, '\u{fb1d}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdfc}' | '\u{fe70}'..='\u{fefc}');
    let (shape, other) = if is_shape { (Some(character), None) } else { (None, Some(character)) };
    shape.into_iter().nfkc().chain(other)
}

#[cfg(test)]
mod tests {
    use super::{as_read, with_brackets_around_numbers};

    #[test]
    fn lines_are_put_in_the_order_in_which_they_are_read() {
        let drawn = ".2024-\u{5d1} Linux \u{5d4}\u{5e1}\u{5e8}\u{5d2}";
        let read = "\u{5d2}\u{5e8}\u{5e1}\u{5d4} Linux \u{5d1}-2024.";
        assert_eq!(as_read(drawn, true, true), read);
        let quoted = "the word \u{5dd}\u{5d5}\u{5dc}\u{5e9} means peace";
        assert_eq!(as_read(quoted, false, true), "the word \u{5e9}\u{5dc}\u{5d5}\u{5dd} means peace");
        assert_eq!(as_read("nothing of it", true, true), "nothing of it");
    }

    #[test]
    fn brackets_open_before_they_close() {
        let read = "\u{5d0}\u{5d1} (\u{5d2} 12)";
        // Brackets stored as they look, and by their meaning.
        for drawn in ["(12 \u{5d2}) \u{5d1}\u{5d0}", ")12 \u{5d2}( \u{5d1}\u{5d0}"] {
            assert_eq!(as_read(drawn, true, true), read);
        }
        assert_eq!(as_read(")1,250(", true, true), "(1,250)");
        assert_eq!(with_brackets_around_numbers("Profit  )1,250( \u{5d0}"), "Profit  (1,250) \u{5d0}");
        assert_eq!(with_brackets_around_numbers("f(x)12(y) and )a("), "f(x)12(y) and )a(");
    }

    #[test]
    fn shapes_of_letters_are_letters_and_marks_stay_on_theirs() {
        assert_eq!(as_read("\u{feea}\u{fef4}\u{fed3}", true, true), "\u{641}\u{64a}\u{647}");
        assert_eq!(as_read("\u{631}\u{628}\u{651}", true, true), "\u{628}\u{651}\u{631}");
    }
}
