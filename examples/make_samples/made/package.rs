//! A package of XML parts, as Word files and workbooks are: a zip whose bytes depend on nothing but its parts.

use std::{
    error::Error,
    io::{Cursor, Write},
};
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

pub(super) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

/// The bytes of a package with these parts, in this order. Nothing is compressed: compressors change.
pub(super) fn package(parts: &[(&str, String)]) -> Result<Vec<u8>, Box<dyn Error>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part) in parts {
        zip.start_file(*name, options)?;
        zip.write_all(DECLARATION.as_bytes())?;
        zip.write_all(part.as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

/// A text inside XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
