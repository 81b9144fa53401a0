//! Columns for a terminal: as wide as what stands in them, cut with `…` where the terminal is narrower.

use super::out;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Between two columns.
const GAP: usize = 2;
/// A column that is cut keeps this much.
const LEAST: usize = 8;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    /// Numbers.
    Right,
    /// As left, and cut first where there is no room: the widest of these.
    Cut,
}

/// A heading and lines, cell by cell.
#[derive(Debug)]
pub(super) struct TextTable {
    sides: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new(columns: &[(&str, Align)]) -> Self {
        let heading = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Self { sides: columns.iter().map(|(_, side)| *side).collect(), rows: vec![heading] }
    }

    /// One cell for each column; a cell is one line, whatever stands in it.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| out::one_line(&cell)).collect());
    }

    /// The lines, each ended. `room` is the terminal's width; none where it isn't a terminal, and nothing is cut.
    pub(super) fn render(&self, room: Option<usize>) -> String {
        let mut widths: Vec<usize> = (0..self.sides.len())
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        if let Some(room) = room {
            self.fit(&mut widths, room);
        }
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, side), width) in row.iter().zip(&self.sides).zip(&widths) {
                let cell = cut(cell, *width);
                let blanks = " ".repeat(width.saturating_sub(cell.width()));
                match side {
                    Align::Left | Align::Cut => line.extend([cell.as_str(), &blanks]),
                    Align::Right => line.extend([blanks.as_str(), &cell]),
                }
                line.push_str(&" ".repeat(GAP));
            }
            let line = line.trim_end();
            text.push_str(&room.map_or_else(|| line.to_owned(), |room| cut(line, room)));
            text.push('\n');
        }
        text
    }

    fn fit(&self, widths: &mut [usize], room: usize) {
        let gaps = GAP * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > room {
            let widest = (0..widths.len())
                .filter(|column| self.sides[*column] == Align::Cut && widths[*column] > LEAST)
                .max_by_key(|column| widths[*column]);
            let Some(widest) = widest else { break };
            widths[widest] -= 1;
        }
    }
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
    // A sign may make the one before it wider.
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
            let mut table = TextTable::new(&[("ID", Align::Left), ("TITLE", Align::Cut)]);
            for cell in &cells {
                table.row(vec![cell.clone(), cell.clone()]);
            }
            for line in table.render(Some(room)).lines() {
                prop_assert!(line.width() <= room, "{line}");
            }
        }
    }
}
