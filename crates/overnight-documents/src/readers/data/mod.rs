//! Data that people read: JSON, XML (also feeds and SVG), notebooks. The text is the content, not the markup: keys with
//! values, the text of elements, cells with their output. Unparsable files stay as they are, with a note.
//!
//! - `json`: keys and values; `notebook`: Jupyter's cells; `xml`: elements; `plain_text`: the fallback of all of them

mod json;
mod notebook;
mod plain_text;
#[cfg(test)]
mod tests;
mod xml;

pub(crate) use json::JsonReader;
pub(crate) use notebook::NotebookReader;
pub(crate) use xml::XmlReader;
