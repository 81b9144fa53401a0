//! OpenDocument texts, presentations and drawings (ODT, ODP, ODG; also flat, as one XML file), as `LibreOffice` writes them. No
//! library at hand reads these with their pages, list numbers and notes (`xberg` comes nearest, with thirty times the code of
//! this); what is read here is XML, which `quick-xml` takes apart. Sheets are read by the `workbook` reader.
//!
//! - `read`: one document, from bytes to text; `story`: paragraphs, lists, tables and frames as they pass by; `inline`: what
//!   stands in a paragraph
//! - `styles`: what the names of styles stand for; `numbering`: the numbers before items and headings
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
