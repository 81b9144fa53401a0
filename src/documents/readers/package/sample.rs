//! Small archives for tests, made by hand.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of these parts.
pub(in crate::documents) fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The part that says what an archive is.
pub(in crate::documents) fn types(main: &str) -> String {
    format!(
        "<Types><Override PartName=\"/main.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.{main}.main+xml\"/></Types>"
    )
}

/// The part that explains short names: name, kind, target.
pub(in crate::documents) fn relations(all: &[(&str, &str, &str)]) -> String {
    let all: Vec<String> = all
        .iter()
        .map(|(id, kind, target)| format!("<Relationship Id=\"{id}\" Type=\"http://x/{kind}\" Target=\"{target}\"/>"))
        .collect();
    format!("<Relationships>{}</Relationships>", all.concat())
}
