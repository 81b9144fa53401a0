//! Other programs that help where our own readers have nothing: `pdftotext` for a PDF or a page that is too broken for
//! ours, `pdftoppm` and `tesseract` for pages that are only images. Used where they are installed; held by the same limits.
//! What was recognised in an image is marked, page by page, because it may be wrong in any letter.

use super::{
    child::NO_PROGRAM,
    message::Question,
    parent::{End, Heard, ask},
};
use crate::{
    documents::{Collected, Extracted, Format, Pages, Refusal, Unit},
    job::pages::{Gap, PageRange},
};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

/// `documents.ocr`: whether characters are recognised in images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recognition {
    /// Where the programs for it are installed.
    #[default]
    Auto,
    /// No.
    Never,
    /// As with `Auto`, and it is an error if they aren't installed.
    Always,
}

impl Recognition {
    /// As it stands in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Never => "never",
            Self::Always => "always",
        }
    }

    /// The other way round; the error is a predicate.
    pub fn parse(text: &str) -> Result<Self, String> {
        [Self::Auto, Self::Never, Self::Always]
            .into_iter()
            .find(|one| one.as_str() == text)
            .ok_or_else(|| "must be auto, never or always".to_owned())
    }
}

/// Processor time for one image, or for a whole PDF in `pdftotext`.
const IMAGE: Duration = Duration::from_mins(1);
/// Images of one document in which characters are recognised; the pages behind them stay gaps.
const MOST_IMAGES: usize = 500;
/// Dots per inch that recognition is best at.
const DOTS: &str = "300";
/// Bytes of another program's answer.
const MOST_BYTES: usize = 256 << 20;

/// The programs, and what they may be used for.
#[derive(Debug)]
pub(super) struct Tools {
    /// Ours, which holds the limits; none: no other programs are used.
    program: Option<PathBuf>,
    recognition: Recognition,
    installed: OnceLock<Installed>,
}

/// The first line with which each tells its version.
#[derive(Debug, Default)]
struct Installed {
    pdftotext: Option<String>,
    pdftoppm: Option<String>,
    tesseract: Option<String>,
}

impl Tools {
    pub(super) fn find(program: &Path, recognition: Recognition) -> Self {
        Self { program: Some(program.to_owned()), recognition, installed: OnceLock::new() }
    }

    pub(super) fn none() -> Self {
        Self { program: None, recognition: Recognition::Never, installed: OnceLock::new() }
    }

    fn installed(&self) -> &Installed {
        self.installed.get_or_init(|| match self.recognition {
            Recognition::Never => Installed::default(),
            Recognition::Auto | Recognition::Always => Installed {
                pdftotext: version("pdftotext", "-v"),
                pdftoppm: version("pdftoppm", "-v"),
                tesseract: version("tesseract", "--version"),
            },
        })
    }

    /// What is wanted and isn't there, as a sentence.
    pub(super) fn missing(&self) -> Option<String> {
        let installed = self.installed();
        let missing = match (&installed.pdftoppm, &installed.tesseract) {
            (Some(_), Some(_)) => return None,
            (None, Some(_)) => "pdftoppm",
            (Some(_), None) => "tesseract",
            (None, None) => "pdftoppm and tesseract",
        };
        (self.recognition == Recognition::Always).then(|| {
            format!("`documents.ocr` is `always`, and {missing} can't be found: install it, or set `auto` or `never`")
        })
    }

    /// Who helps, for a person.
    pub(super) fn told(&self) -> String {
        if self.recognition == Recognition::Never {
            return "no other programs help (`documents.ocr` is `never`)".to_owned();
        }
        let Installed { pdftotext, pdftoppm, tesseract } = self.installed();
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

    /// All that may have a part in a text, in one line.
    pub(super) fn versions(&self) -> String {
        let Installed { pdftotext, pdftoppm, tesseract } = self.installed();
        [pdftotext, pdftoppm, tesseract].map(|version| version.as_deref().unwrap_or("-")).join("; ")
    }

    /// What our reader made of the document, with what it couldn't read added where that can be had.
    pub(super) fn help(&self, read: Result<Extracted, Refusal>, bytes: &[u8]) -> Result<Extracted, Refusal> {
        match read {
            Ok(extracted) if extracted.format == Format::Pdf && !extracted.gaps.is_empty() => {
                Ok(self.fill(extracted, bytes))
            }
            Ok(extracted) => Ok(extracted),
            Err(Refusal::Image) => self.image(bytes).ok_or(Refusal::Image),
            Err(refusal) => self.whole(&refusal, bytes).ok_or(refusal),
        }
    }

    /// A PDF that our reader refused, read by `pdftotext`.
    fn whole(&self, refusal: &Refusal, bytes: &[u8]) -> Option<Extracted> {
        let is_broken = matches!(refusal, Refusal::Damaged { .. } | Refusal::Ended { .. });
        if !is_broken || !bytes[..bytes.len().min(1024)].windows(5).any(|at| at == b"%PDF-") {
            return None;
        }
        let version = self.installed().pdftotext.clone()?;
        let text = self.text("pdftotext", &["-enc", "UTF-8", "-", "-"], bytes)?;
        let mut collected = Collected::of(text.strip_suffix('\x0c')?.split('\x0c'));
        collected.add_note(format!("read by pdftotext: our own reader says that it {refusal}"));
        Some(collected.finish(Format::Pdf, version, Unit::Page, None)).filter(|extracted| !extracted.text.is_empty())
    }

    /// The characters in an image.
    fn image(&self, bytes: &[u8]) -> Option<Extracted> {
        let version = self.installed().tesseract.clone()?;
        let mut collected = Collected::default();
        collected.begin(1).ok()?;
        collected.text(&self.recognise(bytes)?).ok()?;
        let mut extracted = collected.finish(Format::Image, version, Unit::Page, None);
        if extracted.text.is_empty() {
            return None;
        }
        extracted.recognised.push(PageRange { from: 1, to: 1 });
        Some(extracted)
    }

    /// The gaps of a PDF filled, page by page, as far as it goes.
    fn fill(&self, mut extracted: Extracted, bytes: &[u8]) -> Extracted {
        let mut pages: Vec<String> = extracted.text.split('\x0c').map(str::to_owned).collect();
        let mut left = Vec::new();
        let mut images = 0;
        let mut others = Vec::new();
        for gap in std::mem::take(&mut extracted.gaps) {
            let Some(range) = gap.pages else {
                left.push(gap);
                continue;
            };
            for page in range.from..=range.to {
                let at = usize::try_from(page - 1).unwrap_or(usize::MAX);
                let is_empty = pages.get(at).is_none_or(|text| text.trim().is_empty());
                let filled = if is_empty && at < MAX_PAGES { self.page(page, bytes, &mut images) } else { None };
                let Some((text, is_image)) = filled else {
                    Gap::push(&mut left, page, &gap.why);
                    continue;
                };
                if pages.len() <= at {
                    pages.resize(at + 1, String::new());
                }
                pages[at] = text;
                if is_image {
                    PageRange::push(&mut extracted.recognised, page);
                } else {
                    PageRange::push(&mut others, page);
                }
            }
        }
        extracted.gaps = left;
        if extracted.recognised.is_empty() && others.is_empty() {
            return extracted;
        }
        let installed = self.installed();
        for version in [
            installed.pdftotext.as_ref().filter(|_| !others.is_empty()),
            installed.tesseract.as_ref().filter(|_| !extracted.recognised.is_empty()),
        ]
        .into_iter()
        .flatten()
        {
            let _ = write!(extracted.reader, ", {version}");
        }
        extracted.notes.extend(others.iter().map(|range| format!("{range} read by pdftotext")));
        let collected = Collected::of(pages.iter().map(String::as_str));
        let text = collected.finish(Format::Pdf, String::new(), Unit::Page, None).text;
        Extracted { text, ..extracted }
    }

    /// One page of a PDF; and whether it was recognised in an image.
    fn page(&self, page: u64, bytes: &[u8], images: &mut usize) -> Option<(String, bool)> {
        let number = page.to_string();
        let range = ["-f", number.as_str(), "-l", number.as_str()];
        if self.installed().pdftotext.is_some() {
            let arguments = [&["-enc", "UTF-8"][..], &range, &["-", "-"]].concat();
            if let Some(text) = self.text("pdftotext", &arguments, bytes).filter(|text| !text.trim().is_empty()) {
                return Some((text, false));
            }
        }
        if self.installed().pdftoppm.is_none() || self.installed().tesseract.is_none() || *images == MOST_IMAGES {
            return None;
        }
        *images += 1;
        let image = self.run("pdftoppm", &[&["-r", DOTS, "-png"][..], &range, &["-"]].concat(), bytes)?;
        Some((self.recognise(&image)?, true)).filter(|(text, _)| !text.trim().is_empty())
    }

    fn recognise(&self, image: &[u8]) -> Option<String> {
        self.text("tesseract", &["stdin", "stdout"], image)
    }

    fn text(&self, program: &str, arguments: &[&str], input: &[u8]) -> Option<String> {
        String::from_utf8(self.run(program, arguments, input)?).ok()
    }

    /// What the program says about `input`; none where it fails, falls, or says too much.
    fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let question = Question::Run {
            program: program.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            left_ms: u64::try_from(IMAGE.as_millis()).unwrap_or(u64::MAX),
        };
        let mut said = Vec::new();
        let end = ask(self.program.as_deref()?, &question, input, &mut |heard| match heard {
            Heard::Bytes(piece) => {
                said.extend_from_slice(&piece);
                said.len() <= MOST_BYTES
            }
            Heard::Line(_) => false,
        });
        matches!(end, Ok(End::Done)).then_some(said).filter(|said| said.len() <= MOST_BYTES)
    }
}

/// Pages of a PDF that are looked at.
const MAX_PAGES: usize = 100_000;

/// The first line that a program says when it is asked for its version; none where it isn't installed.
fn version(program: &str, flag: &str) -> Option<String> {
    let said = Command::new(program).arg(flag).stdin(Stdio::null()).output().ok()?;
    if said.status.code() == Some(i32::from(NO_PROGRAM)) {
        return None;
    }
    let text = [said.stdout, said.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().next().unwrap_or(program).trim().to_owned();
    Some(line.replace(" version ", " "))
}
