//! One table of many jobs' records: those of a deliverable of all jobs, one row each, for a spreadsheet, a notebook or
//! a database.
//!
//! - `gather`: reads the records of all jobs, `list_reader`: those of one list; `lists`: a job's lists; `facts`: facts
//!   about a record; `outer_documents`: the document of a nested list; `not_in_table`: what has no row, and why
//! - `columns`: which columns there are; `column_format`: how their values are shown; `nested`: lists within the records;
//!   `row_marks`: which cells are in doubt or corrected
//! - `table`: the common part of all formats
//! - `csv`, `jsonl`, `xlsx`, `parquet`, `sqlite`: the formats, a writer each

mod column_format;
mod columns;
mod csv;
mod facts;
mod gather;
mod jsonl;
mod list_reader;
mod lists;
mod nested;
mod not_in_table;
mod outer_documents;
#[cfg(feature = "tables")]
mod parquet;
mod review_pages;
mod row_marks;
mod sqlite;
mod table;
mod table_writer;
#[cfg(feature = "tables")]
mod xlsx;

pub use column_format::{ColumnFormat, DecimalFormat};
pub use columns::{ColumnKind, TableColumn, TableColumns};
pub use gather::{GatheredRecords, TableRequest};
pub use list_reader::{CorrectedRecord, ReadList, UnreadList, read_lists, read_lists_as_written};
pub use not_in_table::{JobNotInTable, TableJob};
pub use review_pages::ReviewPages;
pub use row_marks::AcceptedFields;
pub use table::{TableFormat, folder_of, write_table};
pub use table_writer::{ExportError, TableNotes};
