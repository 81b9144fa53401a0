//! Tables: which ones hold data, and how cells line up. A table that only arranges a page is read as the blocks in it.

use super::tree::{NodeId, Tree, TreeStep};
use crate::readers::package::{row, rule};

/// The most columns that spans can make; real cells are not limited.
const MAX_SPANNED: usize = 64;

/// Whether a table holds data: two cells side by side somewhere, and nothing in it that needs lines of its own.
pub(super) fn is_data(tree: &Tree, table: NodeId) -> bool {
    if tree.attribute(table, "role").is_some_and(|role| matches!(role, "presentation" | "none")) {
        return false;
    }
    let (mut cells, mut side_by_side, mut blocks) = (0, false, false);
    tree.walk(table, |step| {
        if let TreeStep::Enter(id) = step {
            match tree.name(id) {
                Some("table") if id != table => blocks = true,
                Some("pre" | "blockquote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6") => blocks = true,
                Some("tr") => cells = 0,
                Some("td" | "th") => {
                    cells += 1;
                    side_by_side |= cells > 1;
                }
                _ => {}
            }
        }
        // The tables of a layout may be nested: a known result needs no further check.
        !blocks
    });
    side_by_side && !blocks
}

/// The rows of one table as they come.
#[derive(Debug, Default)]
pub(super) struct Rows {
    cells: Vec<String>,
    /// For each column, the number of further rows that the cell above covers.
    reach: Vec<usize>,
    header_written: bool,
}

impl Rows {
    pub(super) fn begin_row(&mut self) {
        self.cells.clear();
    }

    /// Whether a row has been written.
    pub(super) const fn has_begun(&self) -> bool {
        self.header_written
    }

    /// Adds a cell that covers `columns` and `rows`.
    pub(super) fn add(&mut self, text: String, columns: usize, rows: usize) {
        while let Some(reach) = self.reach.get_mut(self.cells.len()).filter(|reach| **reach > 0) {
            *reach -= 1;
            self.cells.push(String::new());
        }
        let spare = MAX_SPANNED.saturating_sub(self.cells.len()).max(1);
        self.cells.push(text);
        for _ in 1..columns.clamp(1, spare) {
            self.cells.push(String::new());
        }
        if rows > 1 && self.cells.len() <= MAX_SPANNED {
            self.reach.resize(self.reach.len().max(self.cells.len()), 0);
            self.reach[self.cells.len() - 1] = rows.min(65_534) - 1;
        }
    }

    /// The row's lines, for the first row with the rule below it; `None` if the row is empty.
    pub(super) fn end_row(&mut self) -> Option<Vec<String>> {
        // Cells that reach down to the right of the row's last cell.
        for reach in self.reach.iter_mut().skip(self.cells.len()) {
            *reach = reach.saturating_sub(1);
        }
        let cells = std::mem::take(&mut self.cells);
        if cells.iter().all(String::is_empty) {
            return None;
        }
        let mut lines = vec![row(&cells)];
        if !self.header_written {
            self.header_written = true;
            lines.push(rule(cells.len()));
        }
        Some(lines)
    }
}
