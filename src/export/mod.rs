//! One table of what many jobs found: the records of a deliverable of all of them, one row each, for a spreadsheet, a notebook
//! or a database.
//!
//! - `gather`: reads the records of all jobs; `lists`: which lists a job has; `facts`: what the program knows of a record
//! - `columns`: which columns there are
//! - `table`: what all formats have in common
//! - `csv`, `jsonl`, `xlsx`, `parquet`, `sqlite`: the formats, a writer each

mod columns;
mod csv;
mod facts;
mod gather;
mod jsonl;
mod lists;
mod parquet;
mod sqlite;
mod table;
mod table_writer;
mod xlsx;

pub use columns::{ColumnKind, TableColumn, TableColumns};
pub use gather::{GatheredRecords, ReviewPages, TableRequest};
pub use table::{TableFormat, folder_of, write_table};
pub use table_writer::{ExportError, TableNotes};
