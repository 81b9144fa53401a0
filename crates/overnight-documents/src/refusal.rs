//! Why a document can't be read at all, as text that follows its name: "a.pdf" + "is a PDF file with a password: …".

use serde::{Deserialize, Serialize};

/// A document without readable text. Each message is a predicate: what, and after a colon what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A format without a reader.
    #[error("is {format}, which can't be read: {advice}")]
    Unsupported {
        /// With its article: "a PostScript file".
        format: String,
        /// Advice for the user.
        advice: String,
    },
    /// Neither text nor a format that is recognised by its first bytes.
    #[error("looks like binary data, not text ({why}): save it again as text in UTF-8, or leave it out")]
    Binary {
        /// The evidence for that.
        why: String,
    },
    /// Broken beyond reading, or built to exhaust its reader.
    #[error("can't be read as {format}, because {why}: {}, or leave it out", against_damage(format))]
    Damaged {
        /// The format's name without an article: "PDF".
        format: String,
        /// A clause: "its table of objects is cut off".
        why: String,
    },
    /// Unpacking it would fill memory or a disk.
    #[error("is {format} that {why}: unpack it and give the documents in it, or leave it out")]
    Bomb {
        /// With its article: "a ZIP archive".
        format: String,
        /// A predicate: "unpacks to more than 2 GiB".
        why: String,
    },
    /// The document's seller locked it: no password of the user's opens it.
    #[error("is {format} with copy protection (DRM): give a copy without it, or leave it out")]
    Protected {
        /// With its article: "an EPUB book".
        format: String,
    },
    /// The document can't be read without its password.
    #[error("is {format} with a password: remove the password, or leave it out")]
    Encrypted {
        /// With its article: "a PDF file".
        format: String,
    },
    /// The document has more bytes than offsets can address.
    #[error("has {bytes} bytes, and a document may have {limit}: split it")]
    TooLarge {
        /// The size of the document in bytes.
        bytes: u64,
        /// The largest size in bytes.
        limit: u64,
    },
    /// The content isn't text, and no program for character recognition was available, or wanted.
    #[error(
        "is an image: use a model that takes images, install tesseract and have `documents.ocr` on, or give its text"
    )]
    Image,
    /// Character recognition was tried.
    #[error(
        "is an image in which no characters were recognised: see that tesseract works, give its text, or leave it out"
    )]
    Unrecognised,
    /// The reader was ended from outside, again and again.
    #[error(
        "can't be read now, because its reader was ended by signal {signal} each time: see that the machine has memory to \
         spare, and try again"
    )]
    Killed {
        /// The number of the last signal.
        signal: i32,
    },
    /// The document needs more memory or time than one document may.
    #[error("can't be read, because {why}: split it, or leave it out")]
    Overlong {
        /// A clause: "its reader needed more than 1 GiB of memory".
        why: String,
    },
    /// The reader ended itself, before a page was read.
    #[error("can't be read, because {why}: open it in its own program and save it again, or leave it out")]
    Ended {
        /// A clause: "it is nested too deeply".
        why: String,
    },
}

fn against_damage(format: &str) -> &'static str {
    if format.contains("archive") {
        "fetch it again or pack it again"
    } else {
        "open it in its own program and save it again"
    }
}

/// An error of a library as a clause. Some errors have words that only their authors understand, and some begin with
/// their source, which doesn't help a person.
pub(super) fn clause(error: &dyn std::fmt::Display) -> String {
    const KNOWN: [(&str, &str); 5] = [
        ("ill-formed document", "its tags don't fit together"),
        ("syntax error", "a tag in it has no end"),
        ("deflate stream", "what is packed there is damaged"),
        ("Cfb error", "its table of parts makes no sense"),
        ("End of stream", "it is cut off"),
    ];
    let text = error.to_string();
    if let Some((_, clause)) = KNOWN.iter().find(|(what, _)| text.contains(what)) {
        return (*clause).to_owned();
    }
    text.strip_prefix("I/O error: ").unwrap_or(&text).to_owned()
}

impl Refusal {
    /// The refusal for a text that has named the file already: "a PDF file with a password: …".
    pub fn fragment(&self) -> String {
        let predicate = self.to_string();
        predicate.strip_prefix("is ").or(predicate.strip_prefix("has ")).unwrap_or(&predicate).to_owned()
    }
}
