//! Markdown and plain text: the document is its own text. Nothing is interpreted, so a quote of what a person sees in an
//! editor is found, and line numbers are the file's own (but for lines too long to show).

use super::encoding;
use super::error::DocumentError;
use super::format::{Extracted, Format};
use super::text;

/// Reads Markdown or plain text.
pub(super) fn read(name: &str, format: Format, bytes: &[u8]) -> Result<Extracted, DocumentError> {
    let decoded = encoding::decode(name, bytes, None)?;
    let tidy = text::tidy(&decoded.text);
    let mut notes = decoded.notes;
    notes.extend(tidy.notes);
    Ok(Extracted { format, unit: tidy.unit, text: tidy.text, notes })
}
