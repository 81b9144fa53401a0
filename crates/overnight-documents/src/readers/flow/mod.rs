//! A text document on its way from its reader to the pages: blocks in a row, with breaks, notes and gaps between them. What
//! the readers of ODT, RTF and the old Office formats share, which learn only at the end what divides a document into pages.
//!
//! - `parts`: what a document is made of, and how it is told; `table`: rows of cells; `marks`: signs of raised, lowered and
//!   struck text, and the numbers of lists

mod marks;
mod parts;
mod table;

pub(crate) use marks::{Emphasis, counted, written};
pub(crate) use parts::{Flow, FlowPart};
pub(crate) use table::FlowTable;
