//! Small archives for tests, made by hand.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of these parts.
pub(crate) fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, content)| (*name, content.as_bytes())).collect();
    zip_bytes(&parts)
}

/// An archive of these parts, which may be binary.
pub(crate) fn zip_bytes(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Bytes with some of them changed, and cut where `end` is not far behind their middle.
pub(crate) fn damaged(bytes: &[u8], changes: &[(usize, u8)], end: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for &(at, byte) in changes {
        let at = at % bytes.len();
        bytes[at] = byte;
    }
    let kept = if end < bytes.len() / 2 { bytes.len() - end } else { bytes.len() };
    bytes.truncate(kept);
    bytes
}

/// The part that states the format of an archive.
pub(crate) fn types(main: &str) -> String {
    format!(
        "<Types><Override PartName=\"/main.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.{main}.main+xml\"/></Types>"
    )
}

/// The part that resolves identifiers: name, kind, target.
pub(crate) fn relations(all: &[(&str, &str, &str)]) -> String {
    let all: Vec<String> = all
        .iter()
        .map(|(id, kind, target)| format!("<Relationship Id=\"{id}\" Type=\"http://x/{kind}\" Target=\"{target}\"/>"))
        .collect();
    format!("<Relationships>{}</Relationships>", all.concat())
}
