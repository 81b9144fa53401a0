//! A page as one HTML file: without scripts and external resources (its own policy forbids them), light or dark as in
//! the reader's system; its links lead to deliverables and reviews.

use super::{
    cell::PageCell,
    page::{Column, Page, ReportTable},
};
use askama::Template;

#[derive(Template)]
#[template(path = "report/page.html")]
struct ReportPage<'p> {
    page: &'p Page,
}

impl ReportPage<'_> {
    /// The cells of each row by column. A row with only a further command is merged into the row before.
    #[expect(clippy::unused_self, reason = "the template asks the page")]
    fn rows<'t>(&self, table: &'t ReportTable) -> Vec<Vec<(Column, Vec<&'t PageCell>)>> {
        let mut rows: Vec<Vec<(Column, Vec<&PageCell>)>> = Vec::new();
        for row in &table.rows {
            let cells = || row.iter().zip(table.columns.iter().map(|(_, column)| *column));
            match rows.last_mut() {
                Some(last) if cells().all(|(cell, column)| cell.text.is_empty() || column.is_typed()) => {
                    for ((_, above), cell) in last.iter_mut().zip(row).filter(|(_, cell)| !cell.text.is_empty()) {
                        above.push(cell);
                    }
                }
                Some(_) | None => rows.push(cells().map(|(cell, column)| (column, vec![cell])).collect()),
            }
        }
        rows
    }
}

/// The page as an HTML document.
pub fn html(page: &Page) -> Result<String, askama::Error> {
    ReportPage { page }.render().map(|html| html + "\n")
}
