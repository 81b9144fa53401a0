//! Text in Markdown's blocks: a blank line between them, none between a list's items or a table's rows.

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// Paragraphs and headings.
    Paragraph,
    /// An item of a list.
    Item,
    /// A row of a table.
    Row,
}

/// A series of blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    text: String,
    last: Option<BlockKind>,
}

impl Blocks {
    /// Adds a block, unless it is empty.
    pub(crate) fn add(&mut self, kind: BlockKind, block: &str) {
        if block.is_empty() {
            return;
        }
        let is_close = self.last == Some(kind) && kind != BlockKind::Paragraph;
        if self.last.is_some() {
            self.text.push_str(if is_close { "\n" } else { "\n\n" });
        }
        self.text.push_str(block);
        self.last = Some(kind);
    }

    /// Separates the next block from the last one, even if both are of one kind: two tables.
    pub(crate) fn set_off(&mut self) {
        self.last = self.last.map(|_| BlockKind::Paragraph);
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Takes all text, with its last line ended, and leaves nothing.
    pub(crate) fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        self.last = None;
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Text in one line, with single blanks.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Replaces in a cell the bar that would end it: its wide form, which quotes may have either way.
const WIDE_BAR: &str = "\u{ff5c}";

/// A table's row.
pub(crate) fn row<S: AsRef<str>>(cells: &[S]) -> String {
    let mut row = "|".to_owned();
    for cell in cells {
        row.push(' ');
        row.push_str(&cell.as_ref().replace('|', WIDE_BAR));
        row.push_str(" |");
    }
    row
}

/// The line below a table's first row.
pub(crate) fn rule(columns: usize) -> String {
    format!("|{}", " --- |".repeat(columns))
}

/// A number in capitals; in figures, where those would be too many.
pub(crate) fn roman(count: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    const MAX: u32 = 20_000;
    if count == 0 || count > MAX {
        return count.to_string();
    }
    let mut left = count;
    let mut roman = String::new();
    for (value, sign) in SIGNS {
        while left >= value {
            left -= value;
            roman.push_str(sign);
        }
    }
    roman
}
