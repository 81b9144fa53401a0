//! Gets the text of documents, the members of archives, and their content, for the rest of the program.

use super::{
    cache::TextCache,
    helper_programs::{HelpedText, fill_gaps},
    limits::DOCUMENT,
    message::{ReaderMessage, ReaderRequest},
    ocr::HelperPrograms,
    parent::{ReaderOutput, ReaderProgram, ask},
    resumed_read,
    use_mode::UseMode,
};
use crate::table_query::{self, DocumentReader, TableAnswer, TableQuery};
use overnight_core::job::digest::sha256;
use overnight_documents::{
    Colours, ContainerOpener, DocumentError, Extracted, Format, FoundDocument, MarkedBox, Members, PagePainter,
    PagePicture, PaintedPlace, PictureOptions, QuoteOnPage, READERS, Refusal, is_pictures_only,
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

/// Bytes of the largest image of a page.
const MOST_PICTURE_BYTES: u64 = 64 << 20;

/// Bytes of an image over which a page is painted less sharp for a model: the strictest vendor takes 5 MB, as Base64.
const MOST_SENT: usize = 3_500_000;
/// The lowest resolution to which a page is reduced because of its size.
const LEAST_DPI: u16 = 66;

/// Gets texts out of documents.
#[derive(Debug)]
pub struct Extractor {
    /// The program whose hidden command reads; none: documents are read in this process.
    program: Option<ReaderProgram>,
    pub(super) cache: Option<TextCache>,
    pub(super) tools: HelperPrograms,
    vision: UseMode,
    /// Documents that may still be begun at the same time: each may take a gigabyte.
    free: Mutex<usize>,
    freed: Condvar,
}

impl Extractor {
    /// Reads each document in a process of its own, started from `program`. Texts are kept in the folder `cache`.
    pub fn new(program: ReaderProgram, cache: PathBuf, recognition: UseMode) -> Self {
        let tools = HelperPrograms::find(program.clone(), recognition);
        Self { program: Some(program), cache: Some(TextCache::new(cache)), tools, ..Self::in_process() }
    }

    /// Limits the cache to this many bytes of texts.
    #[must_use]
    pub fn with_cache_bytes(self, most_bytes: u64) -> Self {
        Self { cache: self.cache.map(|cache| cache.with_most_bytes(most_bytes)), ..self }
    }

    /// Reads texts from the cache and adds none: for commands that only look.
    #[must_use]
    pub fn with_read_only_cache(self) -> Self {
        Self { cache: self.cache.map(TextCache::with_read_only), ..self }
    }

    /// Sets whether models look at pages without text.
    #[must_use]
    pub fn with_vision(self, vision: UseMode) -> Self {
        Self { vision, ..self }
    }

    /// That setting.
    pub fn vision(&self) -> UseMode {
        self.vision
    }

    /// A text stored by [`DocumentReader::keep_text`].
    pub fn kept_text(&self, key: &str) -> Option<String> {
        self.cache.as_ref()?.get(key).map(|kept| kept.text)
    }

    /// Reads documents in this process, without limits and without storing anything: for trusted documents.
    pub fn in_process() -> Self {
        let free = thread::available_parallelism().map_or(1, usize::from);
        Self {
            program: None,
            cache: None,
            tools: HelperPrograms::none(),
            vision: UseMode::Auto,
            free: Mutex::new(free),
            freed: Condvar::new(),
        }
    }

    /// The reason why documents can't be read as configured: a missing program or confinement.
    pub fn missing(&self) -> Option<String> {
        let unconfined = self.program.as_ref().and_then(ReaderProgram::unconfined);
        unconfined.or_else(|| self.tools.missing())
    }

    /// The helper programs in use, for a person.
    pub fn helpers(&self) -> String {
        self.tools.summary()
    }

    /// The text of a document. `name` distinguishes kinds of text by its ending, and names the document in errors. A
    /// picture without recognised characters is a document only if a model will look at it, `has_eyes`.
    pub fn extract(&self, name: &str, bytes: &[u8], has_eyes: bool) -> Result<Extracted, DocumentError> {
        let Some(program) = self.program.as_ref().filter(|_| !needs_no_reader(name, bytes)) else {
            return overnight_documents::extract(name, bytes);
        };
        let refused = |refusal| DocumentError::Refused { name: name.to_owned(), refusal };
        let kind = kind(name);
        let key = self.cache.as_ref().map(|cache| (cache, self.key(&kind, bytes)));
        if let Some(kept) = key.as_ref().and_then(|(cache, key)| cache.get(key)) {
            return self.seen(kept, has_eyes).map_err(refused);
        }
        let _slot = self.take_slot();
        let (read, left) = resumed_read::read(program, &kind, bytes).map_err(|error| refused(unable(&error)))?;
        let paint = |page| {
            let painted = picture_by(program, bytes, &PaintedPlace::Page(page), &[], PictureOptions::FOR_RECOGNITION);
            painted.ok().map(|(_, png)| png)
        };
        let HelpedText { read, has_failed } = fill_gaps(&self.tools, read, left, (bytes, &paint));
        let extracted = read.map_err(refused)?;
        if let Some((cache, key)) = key.filter(|_| !has_failed) {
            cache.put(&key, &extracted);
        }
        self.seen(extracted, has_eyes).map_err(refused)
    }

    /// A picture without recognised characters that no model can look at is no document. With `has_eyes`, a model looks
    /// at each picture of a document that has nothing else.
    fn seen(&self, mut extracted: Extracted, has_eyes: bool) -> Result<Extracted, Refusal> {
        if is_pictures_only(&extracted.text) {
            if has_eyes { extracted.make_pages_of_pictures() } else { extracted.text.clear() }
        }
        let is_unread = extracted.format == Format::Image && extracted.text.is_empty();
        match self.tools.installed().tesseract {
            _ if has_eyes || !is_unread => Ok(extracted),
            Some(_) => Err(Refusal::Unrecognised),
            None => Err(Refusal::Image),
        }
    }

    /// The cache key of a text: the content, the kind in its name, and all readers that could have read it.
    pub(super) fn key(&self, kind: &str, bytes: &[u8]) -> String {
        let content = sha256(bytes);
        let readers = READERS.iter().map(|format| format.reader_version()).collect::<Vec<_>>().join("\n");
        sha256(format!("{content}\n{kind}\n{readers}\n{}", self.tools.versions()).as_bytes())
    }

    /// The bytes of documents, out of an archive where they lie in one; `take` gets them one by one, in their order. An archive
    /// is opened once for all that follow each other.
    pub fn contents<'f>(
        &self,
        found: &'f [FoundDocument],
        take: &mut dyn FnMut(&'f FoundDocument, Result<Vec<u8>, DocumentError>),
    ) {
        for group in found.chunk_by(FoundDocument::is_beside) {
            match &self.program {
                // It can't be read, and the reason is known.
                _ if !group[0].inside.is_empty() && group[0].fault.is_some() => take(&group[0], Ok(Vec::new())),
                Some(program) if !group[0].inside.is_empty() => members_of(program, group, take),
                Some(_) | None => group.iter().for_each(|one| take(one, one.content())),
            }
        }
    }

    /// A place of the document in `bytes` as a PNG, with its data: see [`overnight_documents::picture_of`].
    pub fn page_picture(
        &self,
        bytes: &[u8],
        place: &PaintedPlace,
        quotes: &[QuoteOnPage],
        options: PictureOptions,
    ) -> Result<(PagePicture, Vec<u8>), Refusal> {
        let Some(program) = &self.program else {
            return overnight_documents::picture_of(bytes, place, quotes, options);
        };
        let _slot = self.take_slot();
        picture_by(program, bytes, place, quotes, options)
    }

    fn take_slot(&self) -> ReaderSlot<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        ReaderSlot(self)
    }
}

/// A place as an image, made by a separate process.
fn picture_by(
    program: &ReaderProgram,
    bytes: &[u8],
    place: &PaintedPlace,
    quotes: &[QuoteOnPage],
    options: PictureOptions,
) -> Result<(PagePicture, Vec<u8>), Refusal> {
    let request = ReaderRequest::Picture { place: place.clone(), quotes: quotes.to_vec(), options };
    let (mut picture, mut png, mut refused) = (None, Vec::new(), None);
    let mut length = 0;
    let end = ask(program, &request, bytes, &mut |heard| {
        match heard {
            ReaderOutput::Line(ReaderMessage::Picture { picture: told }) => picture = Some(told),
            ReaderOutput::Line(ReaderMessage::Content { bytes }) if bytes <= MOST_PICTURE_BYTES => length = bytes,
            ReaderOutput::Line(ReaderMessage::Refused { refusal }) => refused = Some(refusal),
            ReaderOutput::Line(_) => return false,
            ReaderOutput::Bytes(piece) => png.extend_from_slice(&piece),
        }
        true
    });
    match (refused, picture, end) {
        (Some(refusal), _, _) => Err(refusal),
        (None, Some(picture), Ok(_)) if length > 0 && png.len() as u64 == length => Ok((picture, png)),
        (None, _, Ok(end)) => Err(end.refusal(DOCUMENT)),
        (None, _, Err(error)) => Err(unable(&error)),
    }
}

/// A slot for a running reader process.
struct ReaderSlot<'e>(&'e Extractor);

impl Drop for ReaderSlot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

impl PagePainter for Extractor {
    fn paint(
        &self,
        bytes: &[u8],
        place: &PaintedPlace,
        mut options: PictureOptions,
    ) -> Result<(PagePicture, Vec<u8>), Refusal> {
        loop {
            let painted = self.page_picture(bytes, place, &[], options)?;
            if painted.1.len() <= MOST_SENT {
                return Ok(painted);
            }
            // Letters are legible without their colours, and less so with fewer dots.
            options = match options {
                PictureOptions { colours: Colours::Greys, dpi, .. } if dpi <= LEAST_DPI => return Ok(painted),
                PictureOptions { colours: Colours::Greys, dpi, .. } => PictureOptions { dpi: dpi * 2 / 3, ..options },
                options => PictureOptions { colours: Colours::Greys, ..options },
            };
        }
    }

    fn quote_boxes(&self, bytes: &[u8], quotes: &[(u64, QuoteOnPage)]) -> Vec<(u64, MarkedBox)> {
        let Some(program) = &self.program else {
            return overnight_documents::quote_boxes(bytes, quotes).unwrap_or_default();
        };
        let _slot = self.take_slot();
        let mut found = Vec::new();
        let request = ReaderRequest::Boxes { quotes: quotes.to_vec() };
        // Places that can't be found are left out: the quotes are found all the same.
        let _ = ask(program, &request, bytes, &mut |heard| {
            if let ReaderOutput::Line(ReaderMessage::Boxes { boxes }) = heard {
                found = boxes;
            }
            false
        });
        found
    }
}

impl DocumentReader for Extractor {
    fn keep_text(&self, key: &str, text: &str) {
        self.keep(key, text.to_owned(), Vec::new());
    }

    fn query_tables(&self, query: &TableQuery, texts: &[u8]) -> Result<TableAnswer, String> {
        let Some(program) = &self.program else { return table_query::answer(query, texts) };
        let _slot = self.take_slot();
        let mut answer = None;
        let end = ask(program, &ReaderRequest::Query { query: query.clone() }, texts, &mut |heard| {
            if let ReaderOutput::Line(ReaderMessage::Answer { answer: told }) = heard {
                answer = Some(told);
            }
            false
        });
        match (answer, end) {
            (Some(answer), _) => answer,
            (None, Ok(end)) => Err(format!("the tables can't be asked: {}; ask for less", end.why(DOCUMENT))),
            (None, Err(error)) => Err(format!("the tables can't be asked ({error})")),
        }
    }
}

impl ContainerOpener for Extractor {
    fn members(&self, name: &str, path: &Path, _bytes: u64) -> Result<Members, Refusal> {
        let bytes = overnight_documents::bytes_at(path)?;
        let Some(program) = &self.program else { return overnight_documents::members(name, &bytes) };
        let _slot = self.take_slot();
        let mut answer = None;
        let request = ReaderRequest::Members { name: kind(name) };
        let end = ask(program, &request, &bytes, &mut |heard| {
            answer = match heard {
                ReaderOutput::Line(ReaderMessage::Members { members }) => Some(Ok(members)),
                ReaderOutput::Line(ReaderMessage::Refused { refusal }) => Some(Err(refusal)),
                ReaderOutput::Line(_) | ReaderOutput::Bytes(_) => None,
            };
            answer.is_some()
        });
        match (answer, end) {
            (Some(answer), _) => answer,
            (None, Ok(end)) => Err(end.refusal(DOCUMENT)),
            (None, Err(error)) => Err(unable(&error)),
        }
    }
}

/// Documents inside one and the same file.
fn members_of<'f>(
    program: &ReaderProgram,
    mut group: &'f [FoundDocument],
    take: &mut dyn FnMut(&'f FoundDocument, Result<Vec<u8>, DocumentError>),
) {
    while let Some(first) = group.first() {
        let bytes = match first.file() {
            Ok(bytes) => bytes,
            Err(error) => {
                take(first, Err(error));
                group = &group[1..];
                continue;
            }
        };
        let paths = group.iter().map(|one| one.inside.clone()).collect();
        let request = ReaderRequest::Take { name: kind(&first.path.to_string_lossy()), paths };
        let mut taking = MemberReceiver { group, take, content: None };
        // Without a slot of its own: while it waits, its output is read, which needs a slot of its own.
        let end = ask(program, &request, &bytes, &mut |heard| taking.hear(heard));
        drop(bytes);
        group = taking.group;
        // The reader failed at this member; the others are requested again.
        if let Some((fallen, rest)) = group.split_first() {
            let refusal = end.map_or_else(|error| unable(&error), |end| end.refusal(DOCUMENT));
            take(fallen, Err(DocumentError::Refused { name: fallen.name.clone(), refusal }));
            group = rest;
        }
    }
}

/// Documents that come out of an archive one after the other.
struct MemberReceiver<'f, 't> {
    /// The members still to come.
    group: &'f [FoundDocument],
    take: &'t mut dyn FnMut(&'f FoundDocument, Result<Vec<u8>, DocumentError>),
    /// The content of the first of them so far, and its length.
    content: Option<(Vec<u8>, u64)>,
}

impl MemberReceiver<'_, '_> {
    fn hear(&mut self, heard: ReaderOutput) -> bool {
        match heard {
            ReaderOutput::Line(ReaderMessage::Content { bytes }) if bytes <= overnight_documents::MAX_BYTES => {
                self.content = Some((Vec::new(), bytes));
            }
            ReaderOutput::Line(ReaderMessage::Refused { refusal }) => {
                let Some(first) = self.group.first() else { return false };
                return self.end(Err(DocumentError::Refused { name: first.name.clone(), refusal }));
            }
            ReaderOutput::Line(_) => return false,
            ReaderOutput::Bytes(piece) => {
                let Some((content, _)) = &mut self.content else { return false };
                content.extend_from_slice(&piece);
            }
        }
        match self.content.take_if(|(content, bytes)| content.len() as u64 >= *bytes) {
            Some((content, _)) => self.end(Ok(content)),
            None => true,
        }
    }

    /// The first member still to come has arrived, or can't be read; false if none was to come.
    fn end(&mut self, result: Result<Vec<u8>, DocumentError>) -> bool {
        let Some((first, rest)) = self.group.split_first() else { return false };
        (self.take)(first, result);
        self.group = rest;
        true
    }
}

fn unable(error: &io::Error) -> Refusal {
    Refusal::Ended { why: format!("its reader can't be started ({error})") }
}

/// Whether it is its own text: UTF-8 without a byte that any other format begins with, and short. Thousands of those are
/// read in the time that it takes to start a few processes, and there is nothing in them to fall over.
fn needs_no_reader(name: &str, bytes: &[u8]) -> bool {
    const MOST_BYTES: usize = 1 << 20;
    let is_short_text =
        bytes.len() <= MOST_BYTES && memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok();
    is_short_text
        && !bytes.starts_with(b"PK")
        && matches!(overnight_documents::detect(name, bytes), Ok(Format::Markdown | Format::Text))
}

/// A name with nothing but the document's ending: the text must not depend on anything else.
fn kind(name: &str) -> String {
    const MOST_LETTERS: usize = 12;
    let ending = overnight_documents::ending(name);
    let is_plain = ending.len() <= MOST_LETTERS && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain && !ending.is_empty() { format!("document.{ending}") } else { "document".to_owned() }
}
