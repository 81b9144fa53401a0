//! Puts a sheet's rows on pages. A row is given with its filled cells, so that a sheet is as large as its content and
//! not as large as it states.

use crate::readers::package::{BlockKind, Blocks, one_line, row, rule};
use crate::readers::{PageSink, Stopped};

/// The most rows and the most characters of a page.
const MAX_ROWS: usize = 100;
const MAX_CHARS: usize = 12_000;
/// A first row longer than this isn't repeated.
const MAX_HEADER: usize = 3_000;
/// Up to this many columns, empty ones between others are kept; they show where a value stands.
const MAX_WIDTH: u32 = 64;
/// The most rows with a single cell before a table that are its title.
const MAX_TITLE: usize = 10;
/// The most characters of a cell, as in Excel, and of a row.
pub(super) const MAX_CELL: usize = 32_767;
const MAX_ROW: usize = 1 << 20;

/// A cell: its column from 0, and its text.
pub(super) type SheetCell = (u32, String);

#[derive(Debug, Default)]
struct SheetRow {
    number: u64,
    cells: Vec<SheetCell>,
}

/// Divides rows into pages, and passes these on.
pub(super) struct Pager<'p> {
    pages: &'p mut dyn PageSink,
    page: u64,
    /// The current sheet, and how many follow it.
    name: String,
    is_hidden: bool,
    behind: u64,
    is_wanted: bool,
    title: Vec<SheetRow>,
    header: Option<SheetRow>,
    /// The rows of the current page, and their characters.
    rows: Vec<SheetRow>,
    chars: usize,
    gaps: Vec<String>,
    /// Texts over the sheet's cells, and the alternative texts of its pictures.
    boxes: Vec<String>,
    /// The pages of this sheet reported so far.
    told: u64,
}

impl<'p> Pager<'p> {
    pub(super) fn new(pages: &'p mut dyn PageSink) -> Self {
        Self {
            pages,
            page: 0,
            name: String::new(),
            is_hidden: false,
            behind: 0,
            is_wanted: false,
            title: Vec::new(),
            header: None,
            rows: Vec::new(),
            chars: 0,
            gaps: Vec::new(),
            boxes: Vec::new(),
            told: 0,
        }
    }

    /// Begins the next sheet; `behind` others follow it.
    pub(super) fn sheet(&mut self, name: &str, is_hidden: bool, behind: u64) -> Result<(), Stopped> {
        self.name = one_line(name);
        self.is_hidden = is_hidden;
        self.behind = behind;
        self.told = 0;
        self.header = None;
        self.next()
    }

    /// Adds a row, with its cells in ascending order.
    pub(super) fn row(&mut self, number: u64, mut cells: Vec<SheetCell>) -> Result<(), Stopped> {
        let mut length = 0;
        for (_, text) in &mut cells {
            *text = one_line(text);
            length += text.len() + 3;
            if length > MAX_ROW {
                text.clear();
            }
        }
        if length > MAX_ROW {
            self.gap("a row on it is too long, and its end was left out");
        }
        cells.retain(|(_, text)| !text.is_empty());
        let row = SheetRow { number, cells };
        if row.cells.is_empty() {
            return Ok(());
        }
        if self.header.is_none() {
            if row.cells.len() == 1 && self.title.len() < MAX_TITLE {
                self.title.push(row);
                return Ok(());
            }
            // A larger number of rows with one cell is no title.
            if row.cells.len() > 1 {
                self.header = Some(row);
                return Ok(());
            }
            self.begin_list()?;
        }
        self.add(row)
    }

    /// Reports a gap in the sheet.
    pub(super) fn gap(&mut self, why: &str) {
        if !self.gaps.iter().any(|gap| gap == why) {
            self.gaps.push(why.to_owned());
        }
    }

    /// Adds a text over the sheet's cells, which is reported behind them.
    pub(super) fn beside(&mut self, text: String) {
        self.boxes.push(text);
    }

    /// Ends the sheet.
    pub(super) fn end(&mut self) -> Result<(), Stopped> {
        if self.header.is_none() {
            self.begin_list()?;
        }
        self.tell(true)
    }

    /// Rows of one cell each were no title: they are the sheet.
    fn begin_list(&mut self) -> Result<(), Stopped> {
        let mut rows = std::mem::take(&mut self.title).into_iter();
        self.header = rows.next();
        rows.try_for_each(|row| self.add(row))
    }

    fn add(&mut self, row: SheetRow) -> Result<(), Stopped> {
        let chars = length(&row);
        if self.rows.len() >= MAX_ROWS || (!self.rows.is_empty() && self.chars + chars > MAX_CHARS) {
            self.tell(false)?;
            self.next()?;
        }
        self.chars += chars;
        self.rows.push(row);
        Ok(())
    }

    fn next(&mut self) -> Result<(), Stopped> {
        self.page += 1;
        self.pages.expect(self.page + self.behind)?;
        self.is_wanted = self.pages.begin(self.page)?;
        Ok(())
    }

    fn tell(&mut self, is_last: bool) -> Result<(), Stopped> {
        let rows = std::mem::take(&mut self.rows);
        self.chars = 0;
        let gaps = std::mem::take(&mut self.gaps);
        let is_first = self.told == 0;
        self.told += 1;
        let title = std::mem::take(&mut self.title);
        let boxes = if is_last { std::mem::take(&mut self.boxes) } else { Vec::new() };
        if !self.is_wanted {
            return Ok(());
        }
        for gap in gaps {
            self.pages.gap(&gap)?;
        }
        let mut blocks = Blocks::default();
        let hidden = if self.is_hidden { " (hidden sheet)" } else { "" };
        if is_first {
            blocks.add(BlockKind::Paragraph, &format!("# {}{hidden}", self.name));
        }
        for line in title {
            let texts: Vec<String> = line.cells.into_iter().map(|(_, text)| text).collect();
            blocks.add(BlockKind::Paragraph, &texts.join(" "));
        }
        let header = self.header.as_ref();
        if !(is_first && is_last) {
            let first = if is_first { header } else { None }.or(rows.first()).map_or(0, |row| row.number);
            let last = rows.last().map_or(first, |row| row.number);
            blocks.add(BlockKind::Paragraph, &format!("Sheet {}{hidden}, rows {first}-{last}", self.name));
        }
        let header = header.filter(|header| is_first || length(header) <= MAX_HEADER);
        let all: Vec<&SheetRow> = header.into_iter().chain(&rows).collect();
        let columns = columns(&all);
        for (index, line) in all.iter().enumerate() {
            let mut cells = line.cells.iter().peekable();
            let texts: Vec<&str> = columns
                .iter()
                .map(|column| cells.next_if(|(at, _)| at == column).map_or("", |(_, text)| text.as_str()))
                .collect();
            blocks.add(BlockKind::Row, &row(&texts));
            if index == 0 {
                blocks.add(BlockKind::Row, &rule(columns.len()));
            }
        }
        for text in boxes.iter().filter(|text| !text.is_empty()) {
            blocks.add(BlockKind::Paragraph, text);
        }
        self.pages.text(&blocks.take())
    }
}

fn length(row: &SheetRow) -> usize {
    row.cells.iter().map(|(_, text)| text.chars().count() + 3).sum()
}

/// The columns of a page: from the first used to the last, or only the used ones where that would be too many.
fn columns(rows: &[&SheetRow]) -> Vec<u32> {
    let mut used: Vec<u32> = rows.iter().flat_map(|row| row.cells.iter().map(|(column, _)| *column)).collect();
    used.sort_unstable();
    used.dedup();
    match (used.first(), used.last()) {
        (Some(&first), Some(&last)) if last - first < MAX_WIDTH => (first..=last).collect(),
        (_, _) => used,
    }
}
