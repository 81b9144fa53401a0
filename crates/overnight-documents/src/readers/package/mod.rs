//! Office files of today: a ZIP archive of XML parts that refer to each other. What all their readers share.
//!
//! Why not a library's reader of whole documents: those at hand (`undoc`, and `calamine` for XLSX and ODS) hold every part
//! in memory with no bound on it, trust the sizes that a file states, know no pages, and end at the first damaged part.
//! Here libraries do the work one step below: `zip` reads the directory, `flate2` unpacks, `quick-xml` parses; each part
//! passes by as a stream, bounded, and what was read before damage stays.
//!
//! - `archive`: which parts there are, and their bytes; `salvage`: the same without a directory
//! - `xml`: a part's elements and text as they pass by; `relations`: how parts refer to others
//! - `blocks`: text in Markdown's blocks; `formula`: a formula;
//!   `drawing`: alternative texts and diagrams; `drawing_text`: paragraphs in drawings; `list_numbers`: numbers as lists write them

mod archive;
mod blocks;
mod drawing;
mod drawing_text;
mod formula;
mod list_numbers;
mod relations;
mod salvage;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
mod xml;

pub(crate) use archive::Package;
pub(crate) use blocks::{BlockKind, Blocks, one_line, roman, row, rule};
pub(crate) use drawing::{alternative_text, diagram, picture};
pub(crate) use drawing_text::{DrawingText, paragraphs};
pub(crate) use formula::{formula, group, side_by_side};
pub(crate) use list_numbers::{bullet, number};
pub(crate) use relations::{Relations, resolve};
pub(crate) use xml::{BrokenPart, Element, Halt, Xml, XmlNode};
