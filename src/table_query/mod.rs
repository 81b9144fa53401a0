//! Questions to the tables of documents, in SQL.
//!
//! The tables are those of the documents' extracted texts ([`overnight_documents::tables`]), so no document is opened a second
//! time. They are loaded into an SQLite database in the memory of a reader process, which is confined and limited like any
//! reader; a statement may read them and nothing else.
//!
//! - `question`: questions, answers, and the interface that answers them
//! - `names`: the names of tables and columns
//! - `column`: the type of a column: numbers, dates or texts
//! - `database`: loads the tables and answers the statement; this runs in the reader process

mod column;
mod database;
mod names;
mod question;

pub use database::{MOST_INPUT_BYTES, answer};
pub use names::{NamedTable, may_have_tables, name_tables};
pub use question::{DocumentReader, TableAnswer, TableQuery, TableText};
