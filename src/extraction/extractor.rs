//! What the rest of the house asks of documents: their text, what lies inside them, their content.

use super::{
    cache::Cache,
    message::{Question, Told},
    pages,
    parent::{End, Heard, ask},
    recognition::{Recognition, Tools},
};
use crate::{
    documents::{self, DocumentError, Extracted, Found, Members, Opener, READERS, Refusal},
    job::digest::sha256,
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

/// Gets texts out of documents.
#[derive(Debug)]
pub struct Extractor {
    /// The program whose hidden command reads; none: it is read here, in this process.
    program: Option<PathBuf>,
    cache: Option<Cache>,
    tools: Tools,
    /// Documents that may still be begun at the same time: each may take a gigabyte.
    free: Mutex<usize>,
    freed: Condvar,
}

impl Extractor {
    /// Reads each document in a process of its own, started from `program`, which is ours. Texts are kept in the folder
    /// `cache`.
    pub fn new(program: PathBuf, cache: PathBuf, recognition: Recognition) -> Self {
        let tools = Tools::find(&program, recognition);
        Self { program: Some(program), cache: Some(Cache::new(cache)), tools, ..Self::in_process() }
    }

    /// Reads documents here and now, without limits and without keeping anything: for documents that are trusted.
    pub fn in_process() -> Self {
        let free = thread::available_parallelism().map_or(1, usize::from);
        Self { program: None, cache: None, tools: Tools::none(), free: Mutex::new(free), freed: Condvar::new() }
    }

    /// Why documents can't be read as it is wanted: a program that isn't there.
    pub fn missing(&self) -> Option<String> {
        self.tools.missing()
    }

    /// Which other programs help, for a person.
    pub fn helpers(&self) -> String {
        self.tools.told()
    }

    /// The text of a document. `name` serves to tell kinds of text apart, by its ending, and to say which document it is.
    pub fn extract(&self, name: &str, bytes: &[u8]) -> Result<Extracted, DocumentError> {
        let Some(program) = &self.program else { return documents::extract(name, bytes) };
        let refused = |refusal| DocumentError::Refused { name: name.to_owned(), refusal };
        let kind = kind(name);
        let key = self.cache.as_ref().map(|cache| (cache, self.key(&kind, bytes)));
        if let Some(kept) = key.as_ref().and_then(|(cache, key)| cache.get(key)) {
            return Ok(kept);
        }
        let _place = self.place();
        let read = pages::read(program, &kind, bytes).map_err(|error| refused(unable(&error)))?;
        let extracted = self.tools.help(read, bytes).map_err(refused)?;
        if let Some((cache, key)) = key {
            cache.put(&key, &extracted);
        }
        Ok(extracted)
    }

    /// What the same text is kept under: the content, what its name says of it, and everybody who could have read it.
    fn key(&self, kind: &str, bytes: &[u8]) -> String {
        let content = sha256(bytes);
        let readers = READERS.iter().map(|format| format.reader_version()).collect::<Vec<_>>().join("\n");
        sha256(format!("{content}\n{kind}\n{readers}\n{}", self.tools.versions()).as_bytes())
    }

    /// A document's bytes, out of an archive where it lies in one.
    pub fn content(&self, found: &Found) -> Result<Vec<u8>, DocumentError> {
        let Some(program) = self.program.as_ref().filter(|_| !found.inside.is_empty()) else {
            return documents::content(found);
        };
        let refused = |refusal| DocumentError::Refused { name: found.name.clone(), refusal };
        let bytes = documents::file(found)?;
        let _place = self.place();
        let question = Question::Take { name: kind(&found.path.to_string_lossy()), path: found.inside.clone() };
        let mut answer = Answer::default();
        let end = ask(program, &question, &bytes, &mut |heard| answer.hear(heard))
            .map_err(|error| refused(unable(&error)))?;
        match (answer.refusal, answer.expected) {
            (Some(refusal), _) => Err(refused(refusal)),
            (None, Some(expected)) if expected == answer.content.len() as u64 => Ok(answer.content),
            (None, _) => Err(refused(ended(end))),
        }
    }

    fn place(&self) -> Place<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Place(self)
    }
}

/// A running reader's place.
struct Place<'e>(&'e Extractor);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

impl Opener for Extractor {
    fn members(&self, name: &str, path: &Path, _bytes: u64) -> Result<Members, Refusal> {
        let bytes = documents::bytes_at(path)?;
        let Some(program) = &self.program else { return documents::members(name, &bytes) };
        let _place = self.place();
        let mut answer = Answer::default();
        let question = Question::Members { name: kind(name) };
        let end = ask(program, &question, &bytes, &mut |heard| answer.hear(heard)).map_err(|error| unable(&error))?;
        match (answer.refusal, answer.members) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(members)) => Ok(members),
            (None, None) => Err(ended(end)),
        }
    }
}

#[derive(Default)]
struct Answer {
    members: Option<Members>,
    refusal: Option<Refusal>,
    /// Bytes of content that were announced.
    expected: Option<u64>,
    content: Vec<u8>,
}

impl Answer {
    fn hear(&mut self, heard: Heard) -> bool {
        match heard {
            Heard::Line(Told::Members { members }) => self.members = Some(members),
            Heard::Line(Told::Refused { refusal }) => self.refusal = Some(refusal),
            Heard::Line(Told::Content { bytes }) => self.expected = Some(bytes.min(documents::MAX_BYTES)),
            Heard::Line(_) => return false,
            Heard::Bytes(piece) => {
                self.content.extend_from_slice(&piece);
                return self.expected.is_some_and(|expected| self.content.len() as u64 <= expected);
            }
        }
        true
    }
}

fn ended(end: End) -> Refusal {
    let why = match end {
        End::Time => "reading it took more than 60 s of processor time".to_owned(),
        End::Fell(why) => why,
        End::Done | End::Code(_) => "its reader ended without a word".to_owned(),
    };
    Refusal::Ended { why }
}

fn unable(error: &io::Error) -> Refusal {
    Refusal::Ended { why: format!("its reader can't be started ({error})") }
}

/// A name that says no more than the document's own ending: the text must not depend on anything else.
fn kind(name: &str) -> String {
    const MOST_LETTERS: usize = 12;
    let ending = documents::ending(name);
    let is_plain = ending.len() <= MOST_LETTERS && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain && !ending.is_empty() { format!("document.{ending}") } else { "document".to_owned() }
}
