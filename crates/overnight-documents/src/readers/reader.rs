//! The trait of readers: bytes of one format in, text out, page after page. Page after page, because a reader runs in a
//! limited process of its own: the pages read before it hung or crashed stay, and it is restarted behind the page that it
//! crashed on.

use crate::refusal::Refusal;
use crate::units::Unit;

/// A document as a reader gets it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// Distinguishes kinds of text; errors don't contain it.
    pub(crate) name: &'a str,
    pub(crate) bytes: &'a [u8],
}

/// One format's reader. A pure function of name and bytes.
pub(crate) trait Reader: Sync {
    /// Name and version, as stored with the text: `unpdf 0.52.1`, followed by `+2` after our second change to our part.
    /// Must change whenever the text of some document changes: stored texts depend on it.
    fn version(&self) -> &'static str;

    /// Reports the whole document to `pages`, pages in ascending order.
    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure>;
}

/// Receives a document's pages.
pub trait PageSink {
    /// The number of pages, as soon as it is known, so that pages never reached can be named.
    fn expect(&mut self, pages: u64) -> Result<(), Stopped>;

    /// Page `page`, from 1, is about to be read. False: it isn't needed, and is skipped silently. A document without
    /// pages has one.
    fn begin(&mut self, page: u64) -> Result<bool, Stopped>;

    /// The text of the page begun, or more of it. Form feeds in it count as line ends. A page that is begun and gets no text is
    /// empty, which is no gap: a blank page.
    fn text(&mut self, text: &str) -> Result<(), Stopped>;

    /// Something on the current page can't be read. A fragment: `no text on it, probably a scan`.
    fn gap(&mut self, why: &str) -> Result<(), Stopped>;

    /// The characters of the current page were recognised in an image of it by the document's creator.
    fn recognised(&mut self) -> Result<(), Stopped>;

    /// A fact about the extraction that a person should know, a fragment: `read as windows-1252, a guess`.
    fn note(&mut self, note: String) -> Result<(), Stopped>;
}

/// Reports several kinds of things: their counts, the text for a single one, and the text behind a larger number.
pub(crate) fn note_counts(pages: &mut dyn PageSink, counts: &[(u64, &str, &str)]) -> Result<(), Stopped> {
    for &(count, one, many) in counts {
        match count {
            0 => {}
            1 => pages.note(one.to_owned())?,
            count => pages.note(format!("{count} {many}"))?,
        }
    }
    Ok(())
}

/// The receiver wants no more: the text has become too long, or the other process is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nobody takes more of the text")]
pub struct Stopped;

/// Why a reader ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFailure {
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The approximate size of pieces in which texts are passed on, so that no process holds a long text twice.
const PIECE_BYTES: usize = 1 << 20;

/// Passes pages on; long texts in pieces that end with a line if a line end is within reach.
pub(crate) struct InPieces<'p>(pub(crate) &'p mut dyn PageSink);

impl PageSink for InPieces<'_> {
    fn expect(&mut self, pages: u64) -> Result<(), Stopped> {
        self.0.expect(pages)
    }

    fn begin(&mut self, page: u64) -> Result<bool, Stopped> {
        self.0.begin(page)
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        let mut rest = text;
        while rest.len() > PIECE_BYTES {
            let most = rest.floor_char_boundary(PIECE_BYTES);
            let end = rest[..most].rfind('\n').map_or(most, |at| at + 1);
            self.0.text(&rest[..end])?;
            rest = &rest[end..];
        }
        self.0.text(rest)
    }

    fn gap(&mut self, why: &str) -> Result<(), Stopped> {
        self.0.gap(why)
    }

    fn recognised(&mut self) -> Result<(), Stopped> {
        self.0.recognised()
    }

    fn note(&mut self, note: String) -> Result<(), Stopped> {
        self.0.note(note)
    }
}
