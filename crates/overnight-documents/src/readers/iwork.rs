//! Documents of Pages, Numbers and Keynote. Their format is Apple's own, and no available library reads it well; but
//! many contain a preview as PDF, which shows all pages as their program does. That is read; others are refused.

use std::io::Read;

use super::package::Package;
use super::{PageSink, PdfReader, ReadFailure, Reader, Source};
use crate::refusal::Refusal;
use crate::units::Unit;

/// The name of the format, and the advice for a document without a preview.
pub(crate) const IWORK: (&str, &str) =
    ("a document of Pages, Numbers or Keynote", "export it as PDF, or as DOCX, XLSX or PPTX");
const PREVIEW: &str = "QuickLook/Preview.pdf";
/// The largest preview that is read.
const MAX_PREVIEW: u64 = 256 << 20;

/// Reads the previews of iWork's documents.
pub(crate) struct IWorkReader;

impl Reader for IWorkReader {
    fn version(&self) -> &'static str {
        PdfReader.version()
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let (format, advice) = IWORK;
        let unsupported = || Refusal::Unsupported { format: format.to_owned(), advice: advice.to_owned() };
        let package = Package::of(source.bytes, format, pages)?;
        let preview = package.part(PREVIEW).and_then(Result::ok).ok_or_else(unsupported)?;
        let mut bytes = Vec::new();
        preview.take(MAX_PREVIEW).read_to_end(&mut bytes).map_err(|_| unsupported())?;
        pages.note("read from the preview (PDF) that it holds, which may be older than the document".to_owned())?;
        PdfReader.read(Source { name: PREVIEW, bytes: &bytes }, pages)
    }
}

#[cfg(test)]
mod tests {
    use crate::extract::extract;
    use crate::readers::package::sample::zip;

    #[test]
    fn a_preview_is_read_and_without_one_the_document_is_refused() {
        let content = "BT /F1 12 Tf 72 700 Td (The lamp MUST burn.) Tj ET";
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
            format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        ];
        let objects: Vec<String> =
            (1..).zip(&objects).map(|(number, object)| format!("{number} 0 obj\n{object}\nendobj\n")).collect();
        let pdf = format!("%PDF-1.4\n{}trailer << /Root 1 0 R /Size 6 >>\n%%EOF\n", objects.concat());
        let history = ("buildVersionHistory.plist", "<plist/>");
        let read = extract("a.pages", &zip(&[("index.xml", "<document/>"), history, (super::PREVIEW, &pdf)])).unwrap();
        assert_eq!(read.text.trim(), "The lamp MUST burn.");
        assert!(read.notes[0].starts_with("read from the preview"), "{:?}", read.notes);
        let refused = extract("a.numbers", &zip(&[("Index/Document.iwa", "x")])).unwrap_err();
        let told = "a.numbers is a document of Pages, Numbers or Keynote, which can't be read: export it as PDF, or as DOCX, XLSX \
            or PPTX";
        assert_eq!(refused.to_string(), told);
    }
}
