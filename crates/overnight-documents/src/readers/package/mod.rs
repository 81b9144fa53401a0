//! Office files of today: ZIP archives of XML parts that refer to each other. Their readers share this code.
//!
//! A library's reader of whole documents isn't used, because the available ones (`undoc`, and `calamine` for XLSX and
//! ODS) hold every part in memory without a limit, trust the sizes stated by a file, know no pages, and end at the
//! first damaged part. Libraries work one level lower: `zip` reads the directory, `flate2` unpacks, `quick-xml` parses;
//! each part is read as a bounded stream, and the content before damage is kept.
//!
//! - `archive`: the parts and their bytes; `salvage`: the same without a directory
//! - `xml`: a part's elements and text in order; `relations`: how parts refer to others
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
