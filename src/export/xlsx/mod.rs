//! An Excel workbook, written row by row: the heading stays visible and has filters, no cell is a formula, dates are
//! dates, doubtful and corrected cells are coloured, the quote's cell has a note with the quote's place, and a record
//! is linked to its place on the review page.
//!
//! - `table`: the sheet of the records; `list_sheets`: sheets of the lists within them; `other_sheets`: jobs and files
//!   that are not in the table, and the meaning of the colours
//! - `book`: the workbook and the names of its sheets; `sheet`: a sheet with a heading and rows; `cell_look`: formats of cells

mod book;
mod cell_look;
mod list_sheets;
mod other_sheets;
mod sheet;
mod table;

pub(super) use table::ExcelTable;
