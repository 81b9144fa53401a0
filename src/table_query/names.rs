//! The SQL names of documents' tables and their columns.

use overnight_documents::{TableHeader, TableSink, tables};
use std::{collections::BTreeSet, ops::ControlFlow};

/// Letters of a name.
const MOST_LETTERS: usize = 50;
/// Columns of a table that are loaded.
pub(super) const MOST_COLUMNS: usize = 200;

/// Words that SQL doesn't accept as names.
const KEYWORDS: [&str; 44] = [
    "add",
    "all",
    "alter",
    "and",
    "as",
    "between",
    "by",
    "case",
    "check",
    "column",
    "create",
    "default",
    "delete",
    "distinct",
    "drop",
    "else",
    "escape",
    "except",
    "exists",
    "from",
    "group",
    "having",
    "in",
    "index",
    "insert",
    "into",
    "is",
    "join",
    "limit",
    "not",
    "null",
    "on",
    "or",
    "order",
    "primary",
    "references",
    "select",
    "set",
    "table",
    "then",
    "to",
    "union",
    "values",
    "where",
];

/// Formats whose texts have tables with headers, as documents name them.
const FORMATS: [&str; 8] = ["CSV", "workbook", "OpenDocument", "Word", "HTML", "Markdown", "old Office", "EPUB"];

/// Whether documents of a format may have tables.
pub fn may_have_tables(format: &str) -> bool {
    FORMATS.contains(&format)
}

/// A table of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTable {
    /// The SQL name.
    pub name: String,
    /// The same of its columns.
    pub columns: Vec<String>,
    /// Without the header.
    pub rows: u64,
}

/// Names the tables of a document called `document`. `taken` are names of other tables.
pub fn name_tables(document: &str, format: &str, text: &str, taken: &mut BTreeSet<String>) -> Vec<NamedTable> {
    let file = document.rsplit('/').next().unwrap_or(document);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut namer = TableNamer { stem: plain(stem, "document"), taken, found: Vec::new() };
    tables(format, text, &mut namer);
    namer.found
}

struct TableNamer<'t> {
    stem: String,
    taken: &'t mut BTreeSet<String>,
    found: Vec<NamedTable>,
}

impl TableSink for TableNamer<'_> {
    fn begin(&mut self, header: TableHeader) -> ControlFlow<()> {
        let sheet = plain(&header.name, "");
        let wanted =
            if sheet.is_empty() || sheet == self.stem { self.stem.clone() } else { format!("{}_{sheet}", self.stem) };
        let name = free(&wanted, self.taken);
        self.found.push(NamedTable { name, columns: column_names(&header.columns), rows: 0 });
        ControlFlow::Continue(())
    }

    fn row(&mut self, _: &[&str]) -> ControlFlow<()> {
        if let Some(table) = self.found.last_mut() {
            table.rows += 1;
        }
        ControlFlow::Continue(())
    }
}

/// The names of columns with these headers.
pub(super) fn column_names(headers: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let numbered = (1..).zip(headers).take(MOST_COLUMNS);
    numbered.map(|(number, header)| free(&plain(header, &format!("column_{number}")), &mut taken)).collect()
}

/// Small letters and digits of `text`, joined by `_` into a valid SQL name; `otherwise` if there are none.
fn plain(text: &str, otherwise: &str) -> String {
    let mut name = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name: String = name.trim_end_matches('_').chars().take(MOST_LETTERS).collect();
    if name.is_empty() {
        return otherwise.to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("t{name}");
    }
    if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// `wanted`, or the same with a number, where it is taken.
fn free(wanted: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = wanted.to_owned();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_differ() {
        let mut taken = BTreeSet::new();
        let sheets = "# Orders 2024\n\n| Id | Net amount (EUR) | Id |  | Order |\n| --- | --- | --- | --- | --- |\n| 1 | 2 | 3 | 4 | 5 |\n";
        let named = name_tables("in/2024 Sales.xlsx", "workbook", sheets, &mut taken);
        let columns = ["id", "net_amount_eur", "id_2", "column_4", "order_"].map(str::to_owned).to_vec();
        assert_eq!(named, [NamedTable { name: "t2024_sales_orders_2024".to_owned(), columns, rows: 1 }]);
        let csv = name_tables("other/prices.csv", "CSV", "a,b\n1,2\n", &mut taken);
        let again = name_tables("prices.csv", "CSV", "a,b\n1,2\n", &mut taken);
        let all: Vec<&str> = csv.iter().chain(&again).map(|table| table.name.as_str()).collect();
        assert_eq!(all, ["prices", "prices_2"]);
    }
}
