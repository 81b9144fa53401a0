//! OpenDocument texts, presentations and drawings (ODT, ODP, ODG; also flat, as one XML file), as `LibreOffice` writes
//! them. No available library reads them with pages, list numbers and notes (`xberg` comes nearest, with thirty times
//! this code); the files are XML, parsed by `quick-xml`. The `workbook` reader reads sheets.
//!
//! - `read`: one document, from bytes to text; `story`: paragraphs, lists, tables and frames in order; `inline`: the
//!   content of a paragraph
//! - `styles`: the meaning of style names; `numbering`: the numbers before items and headings
//! - `objects`: formulas, charts and texts within the file; `slides`: pages of shapes

mod inline;
mod numbering;
mod objects;
mod read;
mod slides;
mod story;
mod styles;
#[cfg(test)]
mod tests;

pub(crate) use read::OpenDocumentReader;
