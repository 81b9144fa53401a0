//! One table of what many jobs found: the records of a deliverable of all of them, one row each, for a spreadsheet, a notebook
//! or a database.
//!
//! - `columns`: which columns there are; `rows`: the rows of one job
//! - `table`: what all formats have in common
//! - `csv`, `jsonl`, `xlsx`, `parquet`, `sqlite`: the formats, a writer each

mod columns;
mod csv;
mod jsonl;
mod parquet;
mod rows;
mod sqlite;
mod table;
mod xlsx;

pub use columns::{ColumnKind, TableColumn, TableColumns};
pub use rows::JobRecords;
pub use table::{ExportError, TableFormat, TableWriter, writer};
