//! The helper programs for OCR and broken PDFs: whether they are wanted and installed, and their versions.

use super::{
    child::NO_PROGRAM,
    limits::DOCUMENT,
    message::ReaderRequest,
    parent::{ReaderEnd, ReaderProgram, heard_from},
    use_mode::UseMode,
};
use std::sync::OnceLock;

/// The most bytes of a program's version output.
const MOST_BYTES: usize = 64 << 10;

/// The helper programs, and whether they may be used.
#[derive(Debug)]
pub(super) struct HelperPrograms {
    /// Our program, which enforces the limits; none: no helper programs are used.
    pub(super) program: Option<ReaderProgram>,
    recognition: UseMode,
    installed: OnceLock<InstalledPrograms>,
}

/// The first line of each program's version output.
#[derive(Debug, Default)]
pub(super) struct InstalledPrograms {
    pub(super) pdftotext: Option<String>,
    pub(super) pdftoppm: Option<String>,
    pub(super) tesseract: Option<String>,
}

impl HelperPrograms {
    pub(super) fn find(program: ReaderProgram, recognition: UseMode) -> Self {
        Self { program: Some(program), recognition, installed: OnceLock::new() }
    }

    pub(super) fn none() -> Self {
        Self { program: None, recognition: UseMode::Never, installed: OnceLock::new() }
    }

    pub(super) fn installed(&self) -> &InstalledPrograms {
        self.installed.get_or_init(|| match self.recognition {
            UseMode::Never => InstalledPrograms::default(),
            UseMode::Auto | UseMode::Always => InstalledPrograms {
                pdftotext: self.version("pdftotext", "-v"),
                pdftoppm: self.version("pdftoppm", "-v"),
                tesseract: self.version("tesseract", "--version"),
            },
        })
    }

    /// The first line of a program's version output; none if it isn't installed. It is confined as when it helps: it
    /// may be any program of that name.
    fn version(&self, program: &str, flag: &str) -> Option<String> {
        let request = ReaderRequest::Run {
            program: program.to_owned(),
            arguments: vec![flag.to_owned()],
            left_ms: u64::try_from(DOCUMENT.as_millis()).unwrap_or(u64::MAX),
            // Some print it to standard output, some to standard error.
            is_merged: true,
        };
        let (end, said) = heard_from(self.program.as_ref()?, &request, &[], MOST_BYTES).ok()?;
        if end == ReaderEnd::Code(NO_PROGRAM) {
            return None;
        }
        let line = String::from_utf8_lossy(&said).lines().next().unwrap_or(program).trim().to_owned();
        Some(line.replace(" version ", " "))
    }

    /// The wanted programs that are missing, as a sentence.
    pub(super) fn missing(&self) -> Option<String> {
        let installed = self.installed();
        let missing = match (&installed.pdftoppm, &installed.tesseract) {
            (Some(_), Some(_)) => return None,
            (None, Some(_)) => "pdftoppm",
            (Some(_), None) => "tesseract",
            (None, None) => "pdftoppm and tesseract",
        };
        (self.recognition == UseMode::Always).then(|| {
            format!("`documents.ocr` is `always`, and {missing} can't be found: install it, or set `auto` or `never`")
        })
    }

    /// The helper programs in use, for a person.
    pub(super) fn summary(&self) -> String {
        if self.recognition == UseMode::Never {
            return "no other programs help (`documents.ocr` is `never`)".to_owned();
        }
        let InstalledPrograms { pdftotext, pdftoppm, tesseract } = self.installed();
        let broken = match pdftotext {
            Some(version) => format!("{version} helps with broken PDFs"),
            None => "pdftotext isn't installed, which could help with broken PDFs".to_owned(),
        };
        let images = match (pdftoppm, tesseract) {
            (Some(_), Some(version)) => format!("{version} recognises characters in scans"),
            (None, Some(_)) => "pdftoppm isn't installed, so pages that are only images stay unread".to_owned(),
            (Some(_) | None, None) => "tesseract isn't installed, so what is only an image stays unread".to_owned(),
        };
        format!("{broken}; {images}")
    }

    /// The versions of all programs that may affect a text, in one line.
    pub(super) fn versions(&self) -> String {
        let InstalledPrograms { pdftotext, pdftoppm, tesseract } = self.installed();
        [pdftotext, pdftoppm, tesseract].map(|version| version.as_deref().unwrap_or("-")).join("; ")
    }
}
