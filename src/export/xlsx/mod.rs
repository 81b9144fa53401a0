//! An Excel workbook, written row by row: the heading stays in sight and has filters, no cell is a formula, dates are dates, what
//! is in doubt and what a person has corrected has a colour, the quote's cell has a note that says where it stands, and a record is
//! linked to its place on the review page.
//!
//! - `table`: the sheet of the records; `list_sheets`: sheets of the lists within them; `other_sheets`: what is not in the table, and
//!   what the colours mean
//! - `book`: the workbook and the names of its sheets; `sheet`: a sheet with a heading and rows; `cell_look`: formats of cells

mod book;
mod cell_look;
mod list_sheets;
mod other_sheets;
mod sheet;
mod table;

pub(super) use table::ExcelTable;
