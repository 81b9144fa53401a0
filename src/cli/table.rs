//! Columns for a terminal: as wide as their content. If the terminal is narrower, long texts are cut with `…`, and the
//! least important columns are left out.

use super::out;
use crate::report::cell::Tone;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between two columns.
const GAP: usize = 2;
/// Texts are cut down to this width before columns are left out.
const EASY: usize = 32;
/// The minimum width of a column that is cut.
const LEAST: usize = 8;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    /// Numbers.
    Right,
    /// Left-aligned, and cut if there is no room: the widest of these columns first.
    Cut,
    /// The same, cut in the middle: paths and names differ at both ends.
    Middle,
}

/// A heading and lines, cell by cell.
#[derive(Debug)]
pub(super) struct TextTable {
    sides: Vec<Align>,
    rows: Vec<Vec<String>>,
    /// The tones of each row's cells, with their columns.
    tones: Vec<Vec<(usize, Tone)>>,
    /// Columns that may be left out, the least important first.
    minor: Vec<usize>,
}

impl TextTable {
    pub(super) fn new(columns: &[(&str, Align)]) -> Self {
        let heading = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let sides = columns.iter().map(|(_, side)| *side).collect();
        Self { sides, rows: vec![heading], tones: vec![Vec::new()], minor: Vec::new() }
    }

    /// Sets the columns that are left out if there is no room, the least important first.
    pub(super) fn with_minor(mut self, names: &[&str]) -> Self {
        let place = |name: &&str| self.rows.first()?.iter().position(|heading| heading == name);
        self.minor = names.iter().filter_map(place).collect();
        self
    }

    /// Adds a row with one cell for each column; each cell is reduced to one line.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| out::one_line(&cell)).collect());
        self.tones.push(Vec::new());
    }

    /// Colours a cell of the last row, if the terminal has colours.
    pub(super) fn tone(&mut self, column: usize, tone: Tone) {
        if let Some(tones) = self.tones.last_mut() {
            tones.push((column, tone));
        }
    }

    /// The lines, each ended. `room` is the terminal's width; `None` if it isn't a terminal, and nothing is cut.
    pub(super) fn render(&self, room: Option<usize>) -> String {
        let widths = self.widths(room);
        let mut text = String::new();
        for (row, tones) in self.rows.iter().zip(&self.tones) {
            let mut line = String::new();
            let mut left = room.unwrap_or(usize::MAX);
            for (column, (cell, side)) in row.iter().zip(&self.sides).enumerate() {
                if left == 0 {
                    break;
                }
                let Some(width) = widths.get(column).copied().flatten().map(|width| width.min(left)) else { continue };
                let cell = if *side == Align::Middle { cut_middle(cell, width) } else { cut(cell, width) };
                let blanks = " ".repeat(width.saturating_sub(cell.width()));
                let tone = tones.iter().find(|(of, _)| *of == column).map_or(Tone::Plain, |(_, tone)| *tone);
                let cell = if room.is_some() { coloured(cell, tone) } else { cell };
                match side {
                    Align::Left | Align::Cut | Align::Middle => line.extend([cell.as_str(), &blanks]),
                    Align::Right => line.extend([blanks.as_str(), &cell]),
                }
                left = left.saturating_sub(width + GAP);
                line.push_str(&" ".repeat(GAP));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The width of each column; `None` for those that are left out.
    fn widths(&self, room: Option<usize>) -> Vec<Option<usize>> {
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
        };
        let whole: Vec<Option<usize>> = (0..self.sides.len()).map(|column| Some(widest(column))).collect();
        let Some(room) = room else { return whole };
        let mut widths = whole.clone();
        for column in self.minor.iter().map(Some).chain([None]) {
            self.shrink(&mut widths, room, EASY);
            if total(&widths) <= room {
                break;
            }
            if let Some(column) = column {
                widths[*column] = None;
            }
        }
        // Leaving out columns may have made room for longer texts.
        for (width, whole) in widths.iter_mut().zip(&whole).filter(|(width, _)| width.is_some()) {
            *width = *whole;
        }
        self.shrink(&mut widths, room, LEAST);
        widths
    }

    fn shrink(&self, widths: &mut [Option<usize>], room: usize, least: usize) {
        while total(widths) > room {
            let is_cut = |column: &usize| matches!(self.sides[*column], Align::Cut | Align::Middle);
            let widest = (0..widths.len())
                .filter(|column| is_cut(column) && widths[*column].is_some_and(|width| width > least))
                .max_by_key(|column| widths[*column]);
            let Some(widest) = widest else { break };
            widths[widest] = widths[widest].map(|width| width - 1);
        }
    }
}

/// The total width of these columns.
fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

/// `text` in the colour of its tone, where the terminal has colours.
pub(super) fn coloured(text: String, tone: Tone) -> String {
    let styled = console::style(text);
    match tone {
        Tone::Plain => styled,
        Tone::Good => styled.green(),
        Tone::Doubt => styled.yellow(),
        Tone::Bad => styled.red(),
    }
    .to_string()
}

/// `text` in at most `width` columns of a terminal, with `…` in place of its middle where it is too long.
pub(super) fn cut_middle(text: &str, width: usize) -> String {
    if text.width() <= width || width < 3 {
        return cut(text, width);
    }
    // The distinguishing part of a file's name is nearer to its end.
    let begin = cut(text, width.div_ceil(3));
    let mut room = width.saturating_sub(begin.width());
    let mut end: Vec<char> = Vec::new();
    for letter in text.chars().rev() {
        let needed = letter.width().unwrap_or(0);
        if needed > room {
            break;
        }
        room -= needed;
        end.push(letter);
    }
    let mut end: String = end.into_iter().rev().collect();
    while end.width() > width.saturating_sub(begin.width()) {
        end.remove(0);
    }
    begin + &end
}

/// `text` in at most `width` columns of a terminal, with `…` in place of what is cut off.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let mut kept = String::new();
    for letter in text.chars() {
        let needed = letter.width().unwrap_or(0);
        if needed > room {
            break;
        }
        room -= needed;
        kept.push(letter);
    }
    // A combining sign may make its predecessor wider.
    while kept.width() > width.saturating_sub(1) {
        kept.pop();
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// The width of the terminal that stdout is, if it is one.
pub(super) fn room() -> Option<usize> {
    let terminal = console::Term::stdout();
    terminal.size_checked().filter(|_| terminal.is_term()).map(|(_, columns)| usize::from(columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table() -> TextTable {
        let mut table = TextTable::new(&[("ID", Align::Left), ("TITLE", Align::Cut), ("TURNS", Align::Right)]);
        table.row(vec!["1".to_owned(), "Anforderungen über alles".to_owned(), "12".to_owned()]);
        table.row(vec!["22".to_owned(), "計画を立て直す".to_owned(), "3,456".to_owned()]);
        table
    }

    #[test]
    fn columns_stand_under_each_other_and_are_cut_for_a_terminal() {
        assert_eq!(
            table().render(None),
            "ID  TITLE                     TURNS\n\
             1   Anforderungen über alles     12\n\
             22  計画を立て直す            3,456\n"
        );
        assert_eq!(
            table().render(Some(22)),
            "ID  TITLE        TURNS\n\
             1   Anforderun…     12\n\
             22  計画を立て…  3,456\n"
        );
    }

    #[test]
    fn a_cell_is_one_line_that_no_terminal_obeys() {
        let mut table = TextTable::new(&[("A", Align::Left), ("B", Align::Left)]);
        table.row(vec!["x\u{1b}[2J\ny".to_owned(), "z".to_owned()]);
        assert_eq!(table.render(None), "A       B\nx[2J y  z\n");
    }

    #[test]
    fn a_sign_that_widens_the_one_before_it_is_counted() {
        assert_eq!(cut("🕯\u{fe0f}！x", 2), "🕯…");
        assert_eq!(cut("🕯\u{fe0f}！x", 3), "🕯\u{fe0f}…");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(cells in prop::collection::vec("\\PC{0,40}", 0..6), room in 1_usize..60) {
            let columns = [("ID", Align::Left), ("TITLE", Align::Cut), ("PATH", Align::Middle), ("N", Align::Right)];
            let mut table = TextTable::new(&columns).with_minor(&["N"]);
            for cell in &cells {
                table.row(vec![cell.clone(); 4]);
            }
            for line in table.render(Some(room)).lines() {
                prop_assert!(line.width() <= room, "{line}");
            }
        }
    }
}
