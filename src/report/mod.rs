//! The morning report: what became of many jobs, what they cost, and what needs a person. Only `collect` writes, into the folder that it is given.
//!
//! - `read`: one job's facts, from its row and its workspace; `facts`: the types of these facts
//! - `count`: the report of many jobs, from their facts alone, which are `spooled`; `spread`, `needs`, `batch`: parts of it
//! - `page`: the report in words and tables, which begins with `headline`; `cell`: a place in a table; `links`: where it leads
//! - `markdown`, `html`: that page in these formats; `words`: text made safe to show
//! - `collect`: all deliverables in one folder; `index`: the list of its files; `csv`: the same for spreadsheets

pub mod batch;
pub mod cell;
pub mod collect;
pub mod count;
pub mod csv;
pub mod facts;
pub mod headline;
pub mod html;
pub mod index;
pub mod links;
pub mod markdown;
pub mod needs;
pub mod page;
pub mod read;
pub mod spooled;
pub mod spread;
pub mod words;
