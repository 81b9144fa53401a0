//! A mail as a person sees it: sender, recipients, date, subject, text and attachments.

use std::borrow::Cow;
use std::fmt::Write as _;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::parsers::MessageStream;

use crate::member_names::MemberNames;

/// A parsed mail, whatever its file format.
#[derive(Default)]
pub(super) struct ParsedMail<'a> {
    /// Names of fields such as `Subject`, and their values.
    pub(super) head: Vec<(&'static str, String)>,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment<'a>>,
    /// The missing parts, as fragments.
    pub(super) gaps: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// An attachment of a mail.
pub(crate) struct Attachment<'a> {
    /// Unique in its mail and valid as a document's name, once [`name_all`] was called.
    pub(crate) name: String,
    /// The media type: `application/pdf`.
    pub(super) media: String,
    pub(super) body: Cow<'a, [u8]>,
    pub(super) transfer: TransferEncoding,
}

impl Attachment<'_> {
    pub(super) fn into_owned(self) -> Attachment<'static> {
        Attachment {
            name: self.name,
            media: self.media,
            body: Cow::Owned(self.body.into_owned()),
            transfer: self.transfer,
        }
    }

    /// The decoded bytes.
    pub(crate) fn content(&self) -> Cow<'_, [u8]> {
        self.transfer.unpack(&self.body)
    }
}

/// The transfer encoding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEncoding {
    Plain,
    Base64,
    QuotedPrintable,
    /// An encoding that can't be read.
    Unknown,
}

impl TransferEncoding {
    /// By its name in a header field.
    pub(super) fn called(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "base64" => Self::Base64,
            "quoted-printable" => Self::QuotedPrintable,
            "x-uuencode" | "uuencode" | "x-uue" => Self::Unknown,
            _ => Self::Plain,
        }
    }

    /// The decoded bytes of the body. Broken parts are skipped.
    pub(super) fn unpack(self, body: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Plain | Self::Unknown => Cow::Borrowed(body),
            Self::Base64 => base64_decode(body).or_else(|| base64_decode(&letters(body))).unwrap_or_default().into(),
            Self::QuotedPrintable => match MessageStream::new(body).decode_quoted_printable_mime(b"") {
                (usize::MAX, _) => Cow::Borrowed(body),
                (_, unpacked) => unpacked,
            },
        }
    }
}

/// The letters of base64, up to its end.
fn letters(body: &[u8]) -> Vec<u8> {
    let end = memchr::memchr(b'=', body).map_or(body.len(), |at| (at + 2).min(body.len()));
    body[..end].iter().copied().filter(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).collect()
}

/// The ending for an attachment without a name; its content also shows its format.
fn ending(media: &str) -> &str {
    match media.split_once('/').unwrap_or_default() {
        ("message", "rfc822" | "global") => "eml",
        (_, "markdown") => "md",
        (_, short) if matches!(short.len(), 1..=4) && short.bytes().all(|byte| byte.is_ascii_alphanumeric()) => short,
        ("text" | "message", _) => "txt",
        (_, _) => "bin",
    }
}

/// Gives every attachment its name: the sent one, or else its number and type.
pub(super) fn name_all(attachments: &mut [Attachment<'_>]) {
    let mut names = MemberNames::default();
    for (at, attachment) in attachments.iter_mut().enumerate() {
        let ending = ending(&attachment.media);
        if attachment.name.is_empty() {
            attachment.name = format!("attachment-{}.{ending}", at + 1);
        } else if ending == "eml" && !attachment.name.to_ascii_lowercase().ends_with(".eml") {
            // Mail programs call a forwarded mail by its subject.
            attachment.name.push_str(".eml");
        }
        attachment.name = names.of_file(&attachment.name);
    }
}

impl ParsedMail<'_> {
    /// The mail as a document: header lines, a blank line, the text, and a list of the attachments.
    pub(super) fn document(&self) -> String {
        let mut document = String::new();
        for (name, value) in &self.head {
            let _ = writeln!(document, "{name}: {value}");
        }
        document.push('\n');
        document.push_str(self.text.trim_matches(['\r', '\n']));
        document.push('\n');
        if !self.attachments.is_empty() {
            document.push_str("\nAttachments:\n\n");
            for attachment in &self.attachments {
                let bytes = attachment.content().len();
                let _ = writeln!(document, "- {} ({}, {})", attachment.name, attachment.media, size(bytes));
            }
        }
        document
    }
}

/// `1 byte`, `900 bytes`, `12 KiB`.
fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
