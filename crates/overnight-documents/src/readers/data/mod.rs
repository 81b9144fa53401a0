//! Data that people read: JSON, XML (also feeds and SVG), notebooks. What they hold, not how it is marked up: keys with values,
//! the text of elements, cells with what they printed. What can't be parsed stands as it is, with a note.
//!
//! - `json`: keys and values; `notebook`: Jupyter's cells; `xml`: elements; `plain_text`: what all of them fall back to

mod json;
mod notebook;
mod plain_text;
#[cfg(test)]
mod tests;
mod xml;

pub(crate) use json::JsonReader;
pub(crate) use notebook::NotebookReader;
pub(crate) use xml::XmlReader;
