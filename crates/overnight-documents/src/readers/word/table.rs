//! One table: its rows as they are read.

use crate::readers::package::{BlockKind, Blocks, BrokenPart, Xml, one_line, row, rule};
use crate::text::MAX_LINE_CHARS;

/// The most columns that one cell can cover.
const MAX_SPAN: usize = 64;

/// The current cell.
#[derive(Debug, Default)]
pub(super) struct WordCell {
    pub(super) blocks: Blocks,
    pub(super) span: usize,
    /// Page breaks before its first text, and behind.
    pub(super) breaks: (u64, u64),
}

/// The current table.
#[derive(Debug, Default)]
pub(super) struct WordTable {
    cells: Vec<(String, usize)>,
    /// The page breaks before the current row, and in it.
    pub(super) breaks: (u64, u64),
    pub(super) row_is_deleted: bool,
    /// The number of the page's notes when the row began.
    pub(super) notes: usize,
    has_begun: bool,
}

impl WordTable {
    pub(super) fn begin_row(&mut self, notes: usize) {
        self.cells.clear();
        self.breaks = (0, 0);
        self.row_is_deleted = false;
        self.notes = notes;
    }

    pub(super) fn add(&mut self, mut cell: WordCell) {
        let (before, behind) = cell.breaks;
        // Cells side by side break at the same places.
        self.breaks = (self.breaks.0.max(before), self.breaks.1.max(behind));
        self.cells.push((cell.blocks.take(), cell.span.clamp(1, MAX_SPAN)));
    }

    /// Writes the row. A single cell is a frame around its blocks; so are cells that don't fit in a line.
    pub(super) fn end_row(&mut self, is_nested: bool, blocks: &mut Blocks) {
        let cells = std::mem::take(&mut self.cells);
        if self.row_is_deleted || cells.iter().all(|(text, _)| text.trim().is_empty()) {
            return;
        }
        if is_nested {
            let texts: Vec<String> = cells.iter().map(|(text, _)| one_line(text)).collect();
            blocks.add(BlockKind::Paragraph, texts.join(" ").trim());
            return;
        }
        let is_frame = cells.len() == 1 && !self.has_begun;
        let chars: usize = cells.iter().map(|(text, span)| text.len() + 3 * span).sum();
        if is_frame || chars > MAX_LINE_CHARS {
            for (text, _) in &cells {
                blocks.add(BlockKind::Paragraph, text.trim());
            }
            return;
        }
        let mut texts = Vec::new();
        for (text, span) in &cells {
            texts.push(one_line(text));
            texts.extend(std::iter::repeat_n(String::new(), span - 1));
        }
        if !self.has_begun {
            blocks.set_off();
        }
        blocks.add(BlockKind::Row, &row(&texts));
        if !self.has_begun {
            blocks.add(BlockKind::Row, &rule(texts.len()));
        }
        self.has_begun = true;
    }
}

/// The number of columns that a cell covers; the start tag of its properties was read last.
pub(super) fn span(xml: &mut Xml<'_>) -> Result<usize, BrokenPart> {
    let mut span = 1;
    xml.each("tcPr", |element, xml| match element.name() {
        "tcPrChange" => xml.skip(),
        "gridSpan" => {
            span = element.number("val").unwrap_or(1);
            Ok(())
        }
        _ => Ok(()),
    })?;
    Ok(span)
}

/// Whether someone deleted the row whose properties begin here.
pub(super) fn is_deleted(xml: &mut Xml<'_>) -> Result<bool, BrokenPart> {
    let mut deleted = false;
    xml.each("trPr", |element, _| {
        deleted |= element.name() == "del";
        Ok(())
    })?;
    Ok(deleted)
}
