//! A text document between reader and pages: a series of blocks, with breaks, notes and gaps between them. Shared by
//! the readers of ODT, RTF and the old Office formats, which learn only at the end what divides it into pages.
//!
//! - `parts`: the parts of a document, and how they are reported; `table`: rows of cells; `marks`: signs of raised,
//!   lowered and struck text, and the numbers of lists

mod marks;
mod parts;
mod table;

pub(crate) use marks::{Emphasis, counted, written};
pub(crate) use parts::{Flow, FlowPart};
pub(crate) use table::FlowTable;
