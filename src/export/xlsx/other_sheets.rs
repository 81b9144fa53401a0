//! The sheets other than the records': jobs and files that are not in the table, and the meaning of the colours.

use super::{book::ExcelBook, sheet::ExcelSheet};
use crate::export::{
    column_format::ColumnFormat,
    columns::{ColumnKind, TableColumn},
    not_in_table::JobNotInTable,
    row_marks::CellMark,
};
use rust_xlsxwriter::XlsxError;
use serde_json::json;

const NOT_IN_TABLE: &str = "Not in this table";
const LEGEND: &str = "Legend";
const COLOURS: [(&str, CellMark, bool, &str); 3] = [
    (
        "yellow",
        CellMark::Doubtful,
        false,
        "The value does not stand in its quote, or may not; or the quote is not found, or only one of two readings of a scan has \
         it. The document is yellow where anything of its row is.",
    ),
    ("green", CellMark::Corrected, false, "A person has corrected the value."),
    ("grey", CellMark::Unmarked, true, "The job of the record is partial or blocked."),
];

/// Writes a row for each job or file that is not, or not completely, in the table.
pub(super) fn write_not_in_table(book: &mut ExcelBook, rows: &[JobNotInTable]) -> Result<(), XlsxError> {
    let all_there = ["", "", "Everything of every job is in the table.", ""].map(str::to_owned);
    let rows = rows.iter().map(|row| [&row.documents, row.status, &row.why, &row.job].map(str::to_owned));
    let rows: Vec<[String; 4]> = rows.collect();
    let rows = if rows.is_empty() { vec![all_there] } else { rows };
    let heading = ["documents", "job_status", "reason", "job"];
    write(
        book,
        NOT_IN_TABLE,
        &heading,
        rows.iter().map(|row| (row.each_ref().map(String::as_str), CellMark::Unmarked, false)),
    )
}

/// Writes the meaning of the colours.
pub(super) fn write_legend(book: &mut ExcelBook) -> Result<(), XlsxError> {
    let rows = COLOURS.iter().map(|(name, mark, is_grey, meaning)| ([*name, *meaning], *mark, *is_grey));
    write(book, LEGEND, &["colour", "meaning"], rows)
}

/// Writes a sheet of texts; the first cell of each row has its mark's colour.
fn write<'t, const N: usize>(
    book: &mut ExcelBook,
    name: &str,
    heading: &[&str; N],
    rows: impl Iterator<Item = ([&'t str; N], CellMark, bool)>,
) -> Result<(), XlsxError> {
    let column =
        |name: &&str| TableColumn { name: (*name).to_owned(), kind: ColumnKind::Text, format: ColumnFormat::default() };
    let mut sheet = ExcelSheet::new(book, name, heading.iter().map(column).collect())?;
    for (texts, mark, is_grey) in rows {
        sheet.begin_row(book)?;
        for (place, text) in texts.into_iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let marks = if place == 0 { (mark, is_grey) } else { (CellMark::Unmarked, false) };
            sheet.write(book, place, &json!(text), marks)?;
        }
    }
    sheet.end(book)
}
