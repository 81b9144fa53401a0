//! Helper programs for cases that our own readers can't handle: `pdftotext` for a PDF or a page that is too broken for
//! ours, `pdftoppm` and `tesseract` for pages that are only images. Used if they are installed; held to the same
//! limits. Recognised text is marked, page by page, because any letter of it may be wrong.

use super::{
    limits::PAGE,
    message::ReaderRequest,
    ocr::HelperPrograms,
    parent::{ReaderEnd, heard_from},
    recognition::Recognition,
};
use overnight_documents::{
    CollectedPages, Extracted, Format, Gap, PageSpan, RecognisedPage, Refusal, SCAN_BEHIND_TEXT, Unit, is_gibberish,
    pdf_header,
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Write,
    time::Duration,
};

/// Processor time for one image.
const IMAGE: Duration = Duration::from_mins(1);
/// Pages that are given to `pdftotext` one by one, where it didn't get through all of them.
const MOST_SINGLE_PAGES: usize = 20;
/// The most consecutive images without success.
const MOST_FAILURES: usize = 3;
/// Images of one document in which characters are recognised; the pages behind them stay gaps.
const MOST_IMAGES: usize = 500;
/// The program that is asked about our own images: where it fails, the document is not to blame.
const RECOGNISING: &str = "tesseract";
/// The resolution in dots per inch at which recognition works best.
const DOTS: &str = "300";
/// The most bytes of a helper program's answer.
const MOST_BYTES: usize = 256 << 20;

/// A document, completed by the parts that our reader couldn't read, as far as possible.
#[derive(Debug)]
pub(super) struct HelpedText {
    pub(super) read: Result<Extracted, Refusal>,
    /// A program failed, or was ended from outside: another time it may not.
    pub(super) has_failed: bool,
}

/// Makes a PNG of a page of the document, where that can be done.
pub(super) type PaintPage<'p> = dyn Fn(u64) -> Option<Vec<u8>> + 'p;

/// Completes our reader's result; `left` is the rest of the document's time.
pub(super) fn fill_gaps(
    tools: &HelperPrograms,
    read: Result<Extracted, Refusal>,
    left: Duration,
    (bytes, paint): (&[u8], &PaintPage<'_>),
) -> HelpedText {
    let help = Help { tools, paint, left: Cell::new(left), failed: RefCell::new(None) };
    let mut read = help.fill_gaps(read, bytes);
    let failed = help.failed.into_inner();
    if let (Ok(extracted), Some(failed)) = (&mut read, &failed) {
        extracted.notes.push(failed.clone());
    }
    HelpedText { read, has_failed: failed.is_some() }
}

/// The characters in a picture, a PNG; none where that can't be had.
pub(super) fn recognise(tools: &HelperPrograms, png: &[u8]) -> Option<Recognition> {
    tools.installed().tesseract.as_ref()?;
    Help { tools, paint: &|_| None, left: Cell::default(), failed: RefCell::default() }.recognise(png)
}

/// Help with one document.
struct Help<'t> {
    tools: &'t HelperPrograms,
    paint: &'t PaintPage<'t>,
    /// Processor time for `pdftotext`.
    left: Cell<Duration>,
    /// A note on how the recognition of characters failed; the last failure.
    failed: RefCell<Option<String>>,
}

impl Help<'_> {
    /// Our reader's result, completed by the parts that it couldn't read, as far as possible.
    fn fill_gaps(&self, read: Result<Extracted, Refusal>, bytes: &[u8]) -> Result<Extracted, Refusal> {
        match read {
            Ok(extracted) if matches!(extracted.format, Format::Pdf | Format::Image) && !extracted.gaps.is_empty() => {
                Ok(self.fill(extracted, bytes))
            }
            Ok(extracted) => Ok(extracted),
            Err(refusal) => self.whole(&refusal, bytes).ok_or(refusal),
        }
    }

    /// A PDF that our reader refused, read by `pdftotext`.
    fn whole(&self, refusal: &Refusal, bytes: &[u8]) -> Option<Extracted> {
        let is_broken = matches!(refusal, Refusal::Damaged { .. } | Refusal::Ended { .. } | Refusal::Overlong { .. });
        if !is_broken || pdf_header(bytes).is_none() {
            return None;
        }
        let version = self.tools.installed().pdftotext.clone()?;
        let text = self.text("pdftotext", &["-enc", "UTF-8", "-", "-"], bytes, self.left.get())?;
        let mut collected = CollectedPages::of(text.strip_suffix('\x0c')?.split('\x0c'));
        collected.add_note(format!("read by pdftotext: our own reader says that it {refusal}"));
        Some(collected.finish(Format::Pdf, version, Unit::Page, None)).filter(|extracted| !extracted.text.is_empty())
    }

    /// The gaps of a PDF or a picture filled, page by page, as far as it goes.
    fn fill(&self, mut extracted: Extracted, bytes: &[u8]) -> Extracted {
        let mut pages: Vec<String> = extracted.text.split('\x0c').map(str::to_owned).collect();
        let is_empty = |page: u64| pages.get(place(page)).is_none_or(|text| text.trim().is_empty());
        let numbers = |gap: &Gap| gap.pages.map(|range| range.from..=range.to.min(MAX_PAGES)).into_iter().flatten();
        let mut empty: Vec<u64> = extracted.gaps.iter().flat_map(numbers).filter(|&page| is_empty(page)).collect();
        // These have a line of text, which stays above what is recognised.
        let scans = extracted.gaps.iter().filter(|gap| gap.why == SCAN_BEHIND_TEXT);
        let scans: Vec<u64> = scans.flat_map(numbers).filter(|&page| !is_empty(page)).collect();
        // A page may have several gaps.
        empty.sort_unstable();
        empty.dedup();
        let is_pdf = extracted.format == Format::Pdf;
        let mut found = if is_pdf { self.texts(&empty, bytes) } else { BTreeMap::new() };
        let mut others = Vec::new();
        for &page in found.keys() {
            PageSpan::push(&mut others, page);
        }
        let mut images = Images::default();
        let mut recognised = Vec::new();
        for page in empty.into_iter().chain(scans) {
            if found.contains_key(&page) {
                continue;
            }
            if let Some(Recognition { text, words }) = self.scan(page, bytes, is_pdf, &mut images) {
                if !words.is_empty() {
                    extracted.words.push(RecognisedPage { page, words });
                }
                recognised.push(page);
                let line = pages.get(place(page)).filter(|line| !line.trim().is_empty());
                found.insert(page, line.map_or_else(|| text.clone(), |line| format!("{}\n\n{text}", line.trim_end())));
            }
        }
        recognised.sort_unstable();
        extracted.words.sort_by_key(|words| words.page);
        for &page in &recognised {
            PageSpan::push(&mut extracted.recognised, page);
        }
        extracted.recognised.sort_by_key(|pages| pages.from);
        let mut left = Vec::new();
        for gap in std::mem::take(&mut extracted.gaps) {
            let Some(range) = gap.pages else {
                left.push(gap);
                continue;
            };
            let pages = range.from..=range.to.min(MAX_PAGES);
            pages.filter(|page| !found.contains_key(page)).for_each(|page| Gap::push(&mut left, page, &gap.why));
            if range.to > MAX_PAGES {
                let pages = Some(PageSpan { from: range.from.max(MAX_PAGES + 1), to: range.to });
                left.push(Gap { pages, why: gap.why });
            }
        }
        for (page, text) in found {
            if pages.len() <= place(page) {
                pages.resize(place(page) + 1, String::new());
            }
            pages[place(page)] = text;
        }
        extracted.gaps = left;
        if recognised.is_empty() && others.is_empty() {
            return extracted;
        }
        let installed = self.tools.installed();
        for version in [
            installed.pdftotext.as_ref().filter(|_| !others.is_empty()),
            installed.tesseract.as_ref().filter(|_| !recognised.is_empty()),
        ]
        .into_iter()
        .flatten()
        {
            let _ = write!(extracted.reader, ", {version}");
        }
        extracted.notes.extend(others.iter().map(|range| format!("{range} read by pdftotext")));
        let collected = CollectedPages::of(pages.iter().map(String::as_str));
        let text = collected.finish(extracted.format, String::new(), Unit::Page, None).text;
        Extracted { text, ..extracted }
    }

    /// The text that `pdftotext` reads on these sorted pages of a PDF: on all of them in one run, and if that takes
    /// half of the time that is left, on the first few, one by one, in the other half.
    fn texts(&self, pages: &[u64], bytes: &[u8]) -> BTreeMap<u64, String> {
        let (Some(first), Some(last), true) = (pages.first(), pages.last(), self.tools.installed().pdftotext.is_some())
        else {
            return BTreeMap::new();
        };
        let read = |from: u64, to: u64, limit: Duration| {
            if limit.is_zero() {
                return None;
            }
            let range = [from.to_string(), to.to_string()];
            let arguments = ["-enc", "UTF-8", "-f", &range[0], "-l", &range[1], "-", "-"];
            self.text("pdftotext", &arguments, bytes, limit)
        };
        let is_wanted = |(page, text): &(u64, String)| {
            pages.binary_search(page).is_ok() && !text.trim().is_empty() && !is_gibberish(text)
        };
        let together = (self.left.get() / 2).min(PAGE * u32::try_from(last - first + 1).unwrap_or(u32::MAX));
        match read(*first, *last, together) {
            Some(text) => (*first..=*last).zip(text.split('\x0c').map(str::to_owned)).filter(is_wanted).collect(),
            None => pages
                .iter()
                .take(MOST_SINGLE_PAGES)
                .map_while(|&page| Some((page, self.left.get().min(PAGE))).filter(|(_, limit)| !limit.is_zero()))
                .filter_map(|(page, limit)| Some((page, read(page, page, limit)?)))
                .map(|(page, text)| (page, text.trim_end_matches('\x0c').to_owned()))
                .filter(is_wanted)
                .collect(),
        }
    }

    /// The characters in a page that is an image.
    fn scan(&self, page: u64, bytes: &[u8], is_pdf: bool, images: &mut Images) -> Option<Recognition> {
        let installed = self.tools.installed();
        let are_installed = (installed.pdftoppm.is_some() || !is_pdf) && installed.tesseract.is_some();
        if !are_installed || images.tried == MOST_IMAGES || images.failed == MOST_FAILURES {
            return None;
        }
        images.tried += 1;
        images.failed += 1;
        let number = page.to_string();
        let image = if is_pdf {
            self.run("pdftoppm", &["-r", DOTS, "-png", "-f", &number, "-l", &number, "-"], bytes, IMAGE)?
        } else {
            (self.paint)(page)?
        };
        let recognised = self.recognise(&image)?;
        images.failed = 0;
        Some(recognised).filter(|recognised| !recognised.text.trim().is_empty())
    }

    fn recognise(&self, image: &[u8]) -> Option<Recognition> {
        let said = self.text("tesseract", &["stdin", "stdout", "--psm", "1", "tsv"], image, IMAGE)?;
        Some(Recognition::read(&said))
    }

    fn text(&self, program: &str, arguments: &[&str], input: &[u8], limit: Duration) -> Option<String> {
        String::from_utf8(self.run(program, arguments, input, limit)?).ok()
    }

    /// The program's output for `input`; none if it fails, crashes, or outputs too much.
    fn run(&self, program: &str, arguments: &[&str], input: &[u8], limit: Duration) -> Option<Vec<u8>> {
        let request = ReaderRequest::Run {
            program: program.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            left_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            is_merged: false,
        };
        let (end, said) = heard_from(self.tools.program.as_ref()?, &request, input, MOST_BYTES).ok()?;
        match end {
            ReaderEnd::Done => Some(said).filter(|said| said.len() <= MOST_BYTES),
            ReaderEnd::Code(code) if program == RECOGNISING => {
                *self.failed.borrow_mut() = Some(format!("{program} failed (exit code {code}): see that it works"));
                None
            }
            ReaderEnd::Killed(signal) => {
                *self.failed.borrow_mut() = Some(format!("{program} was ended by signal {signal}: try again"));
                None
            }
            ReaderEnd::Time if program == "pdftotext" => {
                self.left.set(self.left.get().saturating_sub(limit));
                None
            }
            ReaderEnd::Code(_) | ReaderEnd::Time | ReaderEnd::Memory | ReaderEnd::Fell(_) => None,
        }
    }
}

/// The most pages of a PDF that are read.
const MAX_PAGES: u64 = 100_000;

/// The place of a page's text among all pages.
fn place(page: u64) -> usize {
    usize::try_from(page.saturating_sub(1)).unwrap_or(usize::MAX)
}

/// Images of a document in which characters were to be recognised.
#[derive(Debug, Default)]
struct Images {
    tried: usize,
    /// The number of the last consecutive ones without success.
    failed: usize,
}
