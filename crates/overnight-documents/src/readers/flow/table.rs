//! A table: rows of cells as they come.

use super::{Flow, FlowPart};
use crate::readers::package::{BlockKind, one_line, row, rule};
use crate::text::MAX_LINE_CHARS;

/// The most columns that one cell can cover.
const MAX_SPAN: usize = 64;

/// The table that is being read.
#[derive(Debug, Default)]
pub(crate) struct FlowTable {
    cells: Vec<String>,
    has_begun: bool,
}

impl FlowTable {
    /// Adds a cell to the current row; it covers `span` columns.
    pub(crate) fn cell(&mut self, text: &str, span: usize) {
        self.cells.push(text.trim().to_owned());
        self.cells.extend(std::iter::repeat_n(String::new(), span.clamp(1, MAX_SPAN) - 1));
    }

    /// Ends the row. A single cell is a frame around its text; so are the cells of a row that doesn't fit in a line.
    pub(crate) fn end_row(&mut self, is_nested: bool, flow: &mut Flow) {
        let cells = std::mem::take(&mut self.cells);
        if cells.iter().all(String::is_empty) {
            return;
        }
        let texts: Vec<String> = cells.iter().map(|text| one_line(text)).collect();
        if is_nested {
            flow.paragraph(texts.join(" ").trim());
            return;
        }
        let is_frame = cells.len() == 1 && !self.has_begun;
        if is_frame || cells.iter().map(|text| text.len() + 3).sum::<usize>() > MAX_LINE_CHARS {
            for text in cells {
                flow.paragraph(text);
            }
            return;
        }
        if !self.has_begun {
            flow.add(FlowPart::SetOff);
        }
        flow.add(FlowPart::Block(BlockKind::Row, row(&texts)));
        if !self.has_begun {
            flow.add(FlowPart::Block(BlockKind::Row, rule(texts.len())));
        }
        self.has_begun = true;
    }
}
