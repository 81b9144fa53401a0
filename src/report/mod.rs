//! The report in the morning: what became of many jobs, what it cost, and what needs a person. Everything here only reads,
//! but for `collect`, which writes into the folder that it is given.
//!
//! - `read`: one job's facts, from its row and its workspace; `facts`: what they are
//! - `count`: the report of many jobs, from their facts alone; `spread`, `needs`, `batch`: parts of it
//! - `page`: the same in words and tables; `markdown`, `html`: pages for readers; `words`: text that nothing obeys
//! - `collect`: all deliverables in one folder; `index`: what lies there; `csv`: the same for spreadsheets

pub mod batch;
pub mod collect;
pub mod count;
pub mod csv;
pub mod facts;
pub mod html;
pub mod index;
pub mod markdown;
pub mod needs;
pub mod page;
pub mod read;
pub mod spread;
pub mod words;
