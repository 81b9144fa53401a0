//! Inspects documents before they are submitted: each is read, hashed and extracted once, so that unreadable ones are known in advance.

use crate::extraction::{Extractor, pages_for_eyes, transcribed_pages_key};
use chrono::{DateTime, NaiveDate};
use overnight_core::{job::digest::sha256, tokens::estimate};
use overnight_documents::{DocumentError, Extracted, Format, FoundDocument, Unit, Units};
use std::{
    fmt::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, SyncSender},
    },
    thread,
};

/// Files that are read at the same time.
const MOST_AT_ONCE: usize = 8;
/// Bytes from which on a file is read while no other such one is.
const LARGE: u64 = 16 * 1024 * 1024;

/// A document that can be submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The document's name in its job.
    pub name: String,
    /// An absolute path.
    pub path: String,
    /// The document's path within that file, names from outside in; empty if it is the file itself.
    pub inside: Vec<String>,
    pub bytes: u64,
    pub sha256: String,
    /// Estimated tokens of its text.
    pub tokens: u64,
    /// Pages that a model is to look at.
    pub scans: u64,
    /// All models that are to look at them have done so in an earlier job, and the transcriptions are cached.
    pub is_transcribed: bool,
    /// For a mail, the day in its header; else the day of the last change, in its archive's time or in UTC. `None`:
    /// there is none, or it is not needed.
    pub dated: Option<NaiveDate>,
}

/// The result of inspecting many files. Both lists are in the given order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    pub documents: Vec<Document>,
    /// A file, and a fragment that says why it can be no document.
    pub left_out: Vec<(FoundDocument, String)>,
}

/// Inspects all of `found`, several at a time, and calls `tell` for each. `eyes` are the models for scanned pages.
pub fn inspect(found: &[FoundDocument], reader: (&Extractor, &[String]), tell: &(dyn Fn() + Sync)) -> Inspected {
    let (extractor, _) = reader;
    // An archive is opened once, by one thread, for all documents in it.
    let mut first = 0;
    let parts: Vec<(usize, &[FoundDocument])> = found
        .chunk_by(FoundDocument::is_beside)
        .map(|part| {
            first += part.len();
            (first - part.len(), part)
        })
        .collect();
    let next = AtomicUsize::new(0);
    let large = Mutex::new(());
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(MOST_AT_ONCE).min(parts.len().max(1));
    let mut seen: Vec<Option<Result<Document, String>>> = vec![None; found.len()];
    let look = |sender: SyncSender<(usize, Result<Document, String>)>| {
        while let Some(&(first, part)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let is_large = part.iter().any(|found| found.bytes >= LARGE);
            let _alone = is_large.then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
            let mut places = first..;
            extractor.contents(part, &mut |found, content| {
                let document = document(found, content, reader);
                if let Some(place) = places.next() {
                    // The receiver waits for all of them.
                    let _ = sender.send((place, document));
                }
                tell();
            });
        }
    };
    thread::scope(|scope| {
        let (sender, looked) = mpsc::sync_channel(MOST_AT_ONCE);
        for _ in 0..at_once {
            let (look, sender) = (&look, sender.clone());
            scope.spawn(move || look(sender));
        }
        drop(sender);
        for (place, document) in looked {
            // One thread makes a fresh copy: data that many threads allocate while reading is scattered among freed
            // memory, and takes twice the memory.
            seen[place] = Some(document.clone());
        }
    });
    let mut inspected = Inspected::default();
    for (document, found) in seen.into_iter().zip(found) {
        match document {
            Some(Ok(document)) => inspected.documents.push(document),
            Some(Err(why)) => inspected.left_out.push((found.clone(), why)),
            None => {}
        }
    }
    inspected
}

fn document(
    found: &FoundDocument,
    content: Result<Vec<u8>, DocumentError>,
    (extractor, eyes): (&Extractor, &[String]),
) -> Result<Document, String> {
    let unreadable = |error: std::io::Error| format!("can't be read: {error}");
    let path = std::path::absolute(&found.path).map_err(unreadable)?;
    let path = path.into_os_string().into_string().map_err(|_| "its path isn't valid UTF-8".to_owned())?;
    let bytes = content.map_err(|error| error.fragment())?;
    if let Some(why) = &found.fault {
        return Err(why.clone());
    }
    let extracted = extractor.extract(&found.name, &bytes, !eyes.is_empty()).map_err(|error| error.fragment())?;
    let scans = if eyes.is_empty() { 0 } else { scanned(&extracted, (extractor, &bytes)) };
    if extracted.text.is_empty() && scans == 0 {
        return Err(extracted.lack());
    }
    let sha256 = sha256(&bytes);
    let kept = |model: &String| extractor.kept_text(&transcribed_pages_key(model, &sha256));
    let is_transcribed =
        scans > 0 && eyes.iter().all(|model| kept(model).is_some_and(|pages| pages == scans.to_string()));
    let of_mail = (extracted.format == Format::Mail).then(|| mail_day(&extracted.text)).flatten();
    Ok(Document {
        dated: of_mail.or(found.dated),
        name: found.name.clone(),
        path,
        inside: found.inside.clone(),
        bytes: bytes.len() as u64,
        sha256,
        tokens: estimate(&extracted.text),
        scans,
        is_transcribed,
    })
}

/// Pages that a model would look at.
fn scanned(extracted: &Extracted, (extractor, bytes): (&Extractor, &[u8])) -> u64 {
    if extracted.unit != Unit::Page {
        return 0;
    }
    let ranges = extracted.gaps.iter().filter_map(|gap| gap.pages).chain(extracted.recognised.iter().copied());
    let count = Units::new(extracted.unit, &extracted.text).count();
    let of = (extracted.format.as_str(), extracted.text.as_str(), count);
    let all = extractor.looks_at_all(of.0, bytes, of.1);
    pages_for_eyes(of, ranges.map(|pages| (pages.from, pages.to)), all).len() as u64
}

/// The day in a mail's header, by its sender's clock.
fn mail_day(text: &str) -> Option<NaiveDate> {
    let mut head = text.lines().take_while(|line| !line.is_empty());
    let date = head.find_map(|line| line.strip_prefix("Date: "))?;
    let sent = DateTime::parse_from_rfc2822(date).ok().map(|at| at.date_naive());
    sent.or_else(|| date.get(..10)?.parse().ok())
}

/// One hash over documents: the content's if there is one, else that of a `sha256sum` listing of all, in the order of their names.
pub fn hash_of<'d>(documents: impl IntoIterator<Item = (&'d str, &'d str)>) -> Option<String> {
    let mut documents: Vec<(&str, &str)> = documents.into_iter().collect();
    documents.sort_unstable();
    match documents[..] {
        [] => None,
        [(_, sha256)] => Some(sha256.to_owned()),
        [..] => {
            let lines = documents.iter().fold(String::new(), |mut lines, (name, sha256)| {
                let _ = writeln!(lines, "{sha256}  {name}");
                lines
            });
            Some(sha256(lines.as_bytes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overnight_documents::{InProcess, discover};

    #[test]
    fn each_document_is_read_or_named() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, content: &[u8]| std::fs::write(root.path().join(name), content).unwrap();
        put("a.md", b"# A\n");
        put("b.pdf", b"%PDF-1.7");
        put("c.txt", b" \n");
        put("d.txt", b"\x00\x01\x02 binary");
        put("e.html", b"<p>Long enough to be counted</p>");
        let found = discover(&[root.path().to_owned()], &[], &InProcess).unwrap().documents;
        let Inspected { documents, left_out } = inspect(&found, (&Extractor::in_process(), &[]), &|| ());
        let document = |name: &str, content: &[u8], tokens| Document {
            name: name.to_owned(),
            path: root.path().join(name).to_str().unwrap().to_owned(),
            inside: Vec::new(),
            bytes: content.len() as u64,
            sha256: sha256(content),
            tokens,
            scans: 0,
            is_transcribed: false,
            dated: None,
        };
        assert_eq!(
            documents,
            [document("a.md", b"# A\n", 1), document("e.html", b"<p>Long enough to be counted</p>", 7)]
        );
        let whys: Vec<(&str, &str)> = left_out.iter().map(|(found, why)| (found.name.as_str(), why.as_str())).collect();
        assert_eq!(
            whys[..2],
            [
                (
                    "b.pdf",
                    "can't be read as PDF, because it is cut off before its table of objects: open it in its own program and save it again, or leave it out"
                ),
                ("c.txt", "no text in it"),
            ]
        );
        assert!(whys[2].1.starts_with("looks like binary data, not text ("), "{whys:?}");
    }

    #[test]
    fn a_hash_over_several_is_that_of_their_list() {
        assert_eq!(hash_of([]), None);
        assert_eq!(hash_of([("a", "1")]), Some("1".to_owned()));
        assert_eq!(hash_of([("b", "2"), ("a", "1")]), Some(sha256(b"1  a\n2  b\n")));
    }
}
