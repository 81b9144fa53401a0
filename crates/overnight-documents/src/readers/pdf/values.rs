//! Values of a PDF's objects as numbers and texts.

use unpdf::parser::backend::PdfValue;

pub(super) fn number(value: &PdfValue) -> Option<f64> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "a place on a page")]
        PdfValue::Integer(number) => Some(*number as f64),
        PdfValue::Real(number) => Some(f64::from(*number)),
        PdfValue::Name(_) | PdfValue::Str(_) | PdfValue::Array(_) | PdfValue::Other => None,
    }
}

/// A string for people: marked UTF-16 or UTF-8, else nearly Windows' Western letters.
pub(super) fn text_string(bytes: &[u8]) -> String {
    if let Some(units) = bytes.strip_prefix(b"\xfe\xff") {
        return encoding_rs::UTF_16BE.decode_without_bom_handling(units).0.into_owned();
    }
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(rest).into_owned();
    }
    encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
}
