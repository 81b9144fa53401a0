//! The protocol of the reader process: the request is the head of its standard input, the document is what follows there, and its
//! messages are one JSON object a line. A request may name thousands of files of an archive, which an argument can't hold.

use super::confinement::SandboxMode;
use crate::table_query::{TableAnswer, TableQuery};
use overnight_documents::{
    Format, MarkedBox, Members, PagePicture, PaintedPlace, PictureOptions, QuoteOnPage, Refusal, Unit,
};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// The request to the process, and its confinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReaderOrder<R> {
    pub(super) sandbox: SandboxMode,
    pub(super) request: R,
}

impl ReaderOrder<&ReaderRequest> {
    /// The head of the input: the length of the order in a line of its own, then the order.
    pub(super) fn head(&self) -> io::Result<Vec<u8>> {
        let order = serde_json::to_vec(self)?;
        Ok([format!("{}\n", order.len()).into_bytes(), order].concat())
    }
}

impl ReaderOrder<ReaderRequest> {
    /// Reads a head, and no byte after it: the program that this process may execute reads on from there. `input` must
    /// not be buffered.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut length = 0_u64;
        loop {
            let mut byte = [0];
            input.read_exact(&mut byte)?;
            match byte[0] {
                b'\n' => break,
                digit @ b'0'..=b'9' => length = length.saturating_mul(10).saturating_add(u64::from(digit - b'0')),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        let mut order = Vec::new();
        input.take(length).read_to_end(&mut order)?;
        Ok(serde_json::from_slice(&order)?)
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReaderRequest {
    /// The document's text.
    Read {
        /// Only its ending matters.
        name: String,
        /// Pages up to this one have been read already.
        after: u64,
        /// Milliseconds of processor time that are left for the document.
        left_ms: u64,
    },
    /// Lists the members of an archive or a mail.
    Members { name: String },
    /// Takes some of those out, one after the other.
    Take { name: String, paths: Vec<Vec<String>> },
    /// A place of a document as an image, with the places of quotes on it.
    Picture { place: PaintedPlace, quotes: Vec<QuoteOnPage>, options: PictureOptions },
    /// The places of quotes on pages of a PDF.
    Boxes { quotes: Vec<(u64, QuoteOnPage)> },
    /// The result of a statement on the tables of texts, which follow one after the other.
    Query { query: TableQuery },
    /// Another program, held to the same limits: its name and arguments. Its standard error is part of the answer if
    /// `is_merged`.
    Run {
        program: String,
        arguments: Vec<String>,
        left_ms: u64,
        #[serde(default)]
        is_merged: bool,
    },
}

/// A message of the reader process: one line of its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReaderMessage {
    /// First: the format, and the reader.
    Format {
        format: Format,
        reader: String,
    },
    Expect {
        pages: u64,
    },
    /// A page has begun, after this much processor time.
    Begin {
        page: u64,
        used_ms: u64,
    },
    Text {
        text: String,
    },
    Gap {
        why: String,
    },
    Recognised,
    Note {
        note: String,
    },
    /// Last of a text.
    Done {
        unit: Unit,
    },
    Members {
        members: Members,
    },
    /// The data of an image, which follows as content.
    Picture {
        picture: PagePicture,
    },
    /// The places of quotes, each with its page.
    Boxes {
        boxes: Vec<(u64, MarkedBox)>,
    },
    /// The result of a statement, or the reason why there is none: a sentence.
    Answer {
        answer: Result<TableAnswer, String>,
    },
    /// This many bytes follow this line: the next member, or an image.
    Content {
        bytes: u64,
    },
    /// Last, where there is no text; in the place of content, where one of several can't be had.
    Refused {
        refusal: Refusal,
    },
}
