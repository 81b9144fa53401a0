//! The protocol of the reader process: the request is its argument, the document its standard input, and its messages are one
//! JSON object a line.

use overnight_documents::{Format, Members, PagePicture, QuoteOnPage, Refusal, Unit};
use serde::{Deserialize, Serialize};

/// The request, as the hidden command's one argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub(super) enum ReaderRequest {
    /// The document's text.
    Read {
        /// Only its ending matters.
        name: String,
        /// Pages up to this one are had already.
        after: u64,
        /// Milliseconds of processor time that are left for the document.
        left_ms: u64,
    },
    /// What lies inside an archive or a mail.
    Members { name: String },
    /// Some of those, one after the other.
    Take { name: String, paths: Vec<Vec<String>> },
    /// A page of a PDF as an image, with the places of quotes on it, and marks there where `is_marked`.
    Picture { page: u64, quotes: Vec<QuoteOnPage>, is_marked: bool },
    /// Another program, held by the same limits: its name and arguments.
    Run { program: String, arguments: Vec<String>, left_ms: u64 },
}

/// A message of the reader process: one line of its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub(super) enum ReaderMessage {
    /// First: what it is, and who reads it.
    Format {
        format: Format,
        reader: String,
    },
    Expect {
        pages: u64,
    },
    /// A page is begun, after so much processor time.
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
    /// What is to be known of an image, which comes as content next.
    Picture {
        picture: PagePicture,
    },
    /// So many bytes follow this line: what was taken out next, or an image.
    Content {
        bytes: u64,
    },
    /// Last, where there is no text; in the place of content, where one of several can't be had.
    Refused {
        refusal: Refusal,
    },
}
