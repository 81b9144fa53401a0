//! The tables of a document, read from its extracted text: comma-separated values; tables with bars, which readers
//! write for sheets, Word, HTML and Markdown; and, in a text without either, lines of columns separated by two blanks,
//! as in PDFs.
//!
//! The counted rows are those that the model saw, and no document is opened a second time. A table may continue over
//! pages: a first row that is repeated there is not counted.

use crate::readers::csv_delimiter;
use csv::{ReaderBuilder, StringRecord};
use std::{collections::HashMap, ops::ControlFlow};

/// The header of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableHeader {
    /// The name of the sheet, or the heading above the table; empty if there is none.
    pub name: String,
    /// Names of its columns as they are written; some may be empty.
    pub columns: Vec<String>,
}

/// Receives the tables of a document, one after the other.
pub trait TableSink {
    /// Begins a table. Reading stops at `Break`.
    fn begin(&mut self, header: TableHeader) -> ControlFlow<()>;
    /// The next row, with as many cells as it has.
    fn row(&mut self, cells: &[&str]) -> ControlFlow<()>;
}

/// Reads the tables of a document from its text and format, named as in [`Format::as_str`](crate::Format::as_str).
pub fn tables(format: &str, text: &str, sink: &mut dyn TableSink) {
    let _ = if format == "CSV" {
        separated(text, sink)
    } else if text.lines().any(|line| is_ruler(line.trim_start_matches('\x0c'))) {
        barred(text, sink)
    } else {
        columned(text, sink)
    };
}

/// Comma-separated values: pages of a large file begin with a line of ours and repeat the first row.
fn separated(text: &str, sink: &mut dyn TableSink) -> ControlFlow<()> {
    let mut delimiter = None;
    let mut header: Option<StringRecord> = None;
    for (page, part) in text.split('\x0c').enumerate() {
        let (repeats_first, part) = match part.split_once("\n\n").filter(|(first, _)| is_rows_line(first)) {
            Some((first, rest)) => (!first.contains(','), rest),
            None => (true, part),
        };
        let delimiter = *delimiter.get_or_insert_with(|| csv_delimiter(part));
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(part.as_bytes());
        let mut record = StringRecord::new();
        let mut is_first = true;
        while reader.read_record(&mut record).unwrap_or(false) {
            let repeats = page > 0 && is_first && repeats_first && header.as_ref() == Some(&record);
            is_first = false;
            if record.iter().all(|cell| cell.trim().is_empty()) || repeats {
                continue;
            }
            if header.is_none() {
                let columns = record.iter().map(|cell| cell.trim().trim_start_matches('\u{feff}').to_owned()).collect();
                header = Some(record.clone());
                sink.begin(TableHeader { name: String::new(), columns })?;
                continue;
            }
            let cells: Vec<&str> = record.iter().map(str::trim).collect();
            sink.row(&cells)?;
        }
    }
    ControlFlow::Continue(())
}

/// `Rows 101-200`, which a page of a large file begins with.
fn is_rows_line(line: &str) -> bool {
    let rows = line.strip_prefix("Rows ").map(|rest| rest.split(',').next().unwrap_or(rest));
    rows.and_then(|rows| rows.split_once('-'))
        .is_some_and(|(from, to)| [from, to].iter().all(|number| number.bytes().all(|b| b.is_ascii_digit())))
}

/// Whether a line is the rule under the header of a table: `| --- | :-: |`.
fn is_ruler(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2
        && line.starts_with('|')
        && line.contains('-')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// The cells of a line with bars; a bar behind a backslash is one of the text.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(line);
    let (mut found, mut from, mut is_escaped) = (Vec::new(), 0, false);
    for (at, c) in line.char_indices() {
        if c == '|' && !is_escaped {
            found.push(line[from..at].trim());
            from = at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    found.push(line[from..].trim());
    found
}

fn barred(text: &str, sink: &mut dyn TableSink) -> ControlFlow<()> {
    let mut name = String::new();
    let mut current: Option<TableHeader> = None;
    for page in text.split('\x0c') {
        let mut lines = page.lines().peekable();
        let mut is_in = false;
        while let Some(line) = lines.next() {
            let is_table_line = line.trim_start().starts_with('|');
            if is_table_line && !is_in && lines.peek().is_some_and(|next| is_ruler(next)) {
                lines.next();
                is_in = true;
                let columns = cells(line).into_iter().map(str::to_owned).collect();
                let header = TableHeader { name: name.clone(), columns };
                // The same header again continues the table.
                if current.as_ref() != Some(&header) {
                    sink.begin(header.clone())?;
                    current = Some(header);
                }
            } else if is_table_line && is_in {
                sink.row(&cells(line))?;
            } else {
                is_in = false;
                let heading = line.trim_start_matches('#');
                if heading.len() < line.len() && heading.starts_with(' ') {
                    heading.trim().clone_into(&mut name);
                } else if let Some((sheet, _)) =
                    line.strip_prefix("Sheet ").and_then(|rest| rest.rsplit_once(", rows "))
                {
                    sheet.clone_into(&mut name);
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// Reads lines of columns. Most lines decide the number of columns; other lines don't belong to the table.
fn columned(text: &str, sink: &mut dyn TableSink) -> ControlFlow<()> {
    let split = |line: &str| -> usize { line.trim().split("  ").filter(|cell| !cell.trim().is_empty()).count() };
    let mut counts: HashMap<usize, u64> = HashMap::new();
    for columns in text.split(['\n', '\x0c']).map(split).filter(|columns| *columns > 1) {
        *counts.entry(columns).or_default() += 1;
    }
    let Some((&width, _)) = counts.iter().max_by_key(|(columns, lines)| (**lines, **columns)) else {
        return ControlFlow::Continue(());
    };
    let mut header: Option<Vec<&str>> = None;
    for line in text.split(['\n', '\x0c']) {
        let cells: Vec<&str> = line.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        if cells.len() != width {
            continue;
        }
        match &header {
            None => {
                let columns = cells.iter().map(|cell| (*cell).to_owned()).collect();
                sink.begin(TableHeader { name: String::new(), columns })?;
                header = Some(cells);
            }
            // The header, repeated on a further page.
            Some(header) if *header == cells => {}
            Some(_) => sink.row(&cells)?,
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::extract;

    /// Collects each table with its rows, one per line.
    #[derive(Default)]
    struct All(Vec<String>);

    impl TableSink for All {
        fn begin(&mut self, header: TableHeader) -> ControlFlow<()> {
            self.0.push(format!("{}: {}", header.name, header.columns.join("/")));
            ControlFlow::Continue(())
        }

        fn row(&mut self, cells: &[&str]) -> ControlFlow<()> {
            self.0.push(cells.join("/"));
            ControlFlow::Continue(())
        }
    }

    fn all(name: &str, content: &str) -> Vec<String> {
        let extracted = extract(name, content.as_bytes()).unwrap();
        let mut all = All::default();
        tables(extracted.format.as_str(), &extracted.text, &mut all);
        all.0
    }

    #[test]
    fn separated_values() {
        let found = all("a.csv", "Item;Price\nDesk, large;\"1.234,50\"\n\n\"Two\nlines\";5\n");
        assert_eq!(found, [": Item/Price", "Desk, large/1.234,50", "Two\nlines/5"]);
        let many: String = (1..=3_200).fold("id,amount\n".to_owned(), |text, row| format!("{text}{row},5\n"));
        assert_eq!(all("a.csv", &many).len(), 3_201);
    }

    #[test]
    fn tables_with_bars() {
        let markdown = "# One\n\n| A | B |\n|---|---|\n| 1 | x \\| y |\n\ntext\n\n## Two\n\n| A |\n| - |\n| 2 |\n";
        assert_eq!(all("a.md", markdown), ["One: A/B", "1/x \\| y", "Two: A", "2"]);
        let html = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>x</td></tr></table>";
        assert_eq!(all("a.html", html), [": A/B", "1/x"]);
        let pages = "# S\n\nSheet S, rows 1-2\n\n| A |\n| --- |\n| 1 |\x0cSheet S, rows 3-4\n\n| A |\n| --- |\n| 2 |\n";
        let mut found = All::default();
        tables("workbook", pages, &mut found);
        assert_eq!(found.0, ["S: A", "1", "2"]);
    }

    #[test]
    fn lines_of_columns() {
        let pages = "Prices  Page 1\nNo.  Article  Price\n1  Bolt  1.37\n2  Nut  2\x0cPrices  Page 2\nNo.  Article  Price\n3  Pin  3\n";
        let mut found = All::default();
        tables("PDF", pages, &mut found);
        assert_eq!(found.0, [": No./Article/Price", "1/Bolt/1.37", "2/Nut/2", "3/Pin/3"]);
        assert_eq!(all("a.txt", "No table here.\nNone at all.\n"), [""; 0]);
    }
}
