//! Header and body of a mail or of one part of it; and the parts that a body is made of.

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{ContentType, HeaderName, HeaderValue, Message, MessageParser, MimeHeaders};

use crate::documents::encoding;

/// The longest header that is read; fields behind it are lost. Honest ones have some kilobytes.
const MAX_HEADER_BYTES: usize = 256 << 10;

/// A mail or a part of one.
pub(super) struct Entity<'a> {
    header: Option<Message<'static>>,
    /// The header as it was sent.
    head: &'a [u8],
    /// As it was sent: still encoded.
    body: &'a [u8],
}

impl<'a> Entity<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let (head, body) = halves(bytes);
        Self { header: parsed(&head[..head.len().min(MAX_HEADER_BYTES)]), head, body }
    }

    /// Whether lines stand in the header that are no part of a field: the empty line behind it is missing.
    pub(super) fn has_stray_lines(&self) -> bool {
        self.head.split(|byte| *byte == b'\n').any(|line| {
            let name = line.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b':').count();
            let is_field = name > 0 && line.get(name) == Some(&b':');
            let is_mailbox = line.starts_with(b"From ") || line.starts_with(b">From ");
            !(is_field
                || is_mailbox
                || line.trim_ascii().is_empty()
                || line.starts_with(b" ")
                || line.starts_with(b"\t"))
        })
    }

    /// A field of the header.
    pub(super) fn field(&self, name: HeaderName<'static>) -> Option<&HeaderValue<'static>> {
        self.header.as_ref()?.header(name)
    }

    /// A field as it was written, on one line.
    pub(super) fn raw(&self, name: HeaderName<'static>) -> Option<String> {
        let raw = self.header.as_ref()?.header_raw(name)?;
        Some(raw.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|raw| !raw.is_empty())
    }

    /// Type and subtype in lower case, where they are told.
    pub(super) fn media(&self) -> Option<(String, String)> {
        let told = self.header.as_ref()?.parts.first()?.content_type()?;
        Some((told.ctype().to_ascii_lowercase(), told.subtype().unwrap_or_default().to_ascii_lowercase()))
    }

    /// A parameter of its type, such as its boundary.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.header.as_ref()?.parts.first()?.content_type()?.attribute(name)
    }

    /// Whether it is to be attached, not shown.
    pub(super) fn is_attached(&self) -> bool {
        let told = self.header.as_ref().and_then(|header| header.parts.first()?.content_disposition());
        told.is_some_and(ContentType::is_attachment)
    }

    /// The name that it was attached under.
    pub(super) fn file_name(&self) -> Option<&str> {
        self.header.as_ref()?.parts.first()?.attachment_name().filter(|name| !name.trim().is_empty())
    }

    /// Whether the mail's text can show it by an address.
    pub(super) fn has_content_id(&self) -> bool {
        self.header.as_ref().and_then(|header| header.parts.first()).is_some_and(|part| part.content_id().is_some())
    }

    pub(super) fn body(&self) -> &'a [u8] {
        self.body
    }

    /// How its body was packed for the way.
    pub(super) fn transfer(&self) -> Transfer {
        let told = self.header.as_ref().and_then(|header| header.parts.first()?.content_transfer_encoding());
        match told.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "base64" => Transfer::Base64,
            "quoted-printable" => Transfer::QuotedPrintable,
            "x-uuencode" | "uuencode" | "x-uue" => Transfer::Unknown,
            _ => Transfer::Plain,
        }
    }
}

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    Plain,
    Base64,
    QuotedPrintable,
    /// Nobody reads it.
    Unknown,
}

impl Transfer {
    /// The body's own bytes. What is broken of it is passed over.
    pub(super) fn unpack(self, body: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Plain | Self::Unknown => Cow::Borrowed(body),
            Self::Base64 => base64_decode(body).or_else(|| base64_decode(&letters(body))).unwrap_or_default().into(),
            Self::QuotedPrintable => {
                let unpacked = quoted_printable_decode(body).or_else(|| quoted_printable_decode(&marked(body)));
                unpacked.map_or(Cow::Borrowed(body), Cow::Owned)
            }
        }
    }
}

/// Only what belongs to base64, up to its end.
fn letters(body: &[u8]) -> Vec<u8> {
    let end = memchr::memchr(b'=', body).map_or(body.len(), |at| (at + 2).min(body.len()));
    body[..end].iter().copied().filter(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).collect()
}

/// Each `=` that begins nothing, written as one that stands for itself.
fn marked(body: &[u8]) -> Vec<u8> {
    let mut marked = Vec::with_capacity(body.len() + 16);
    for (at, &byte) in body.iter().enumerate() {
        marked.push(byte);
        let rest = &body[at + 1..];
        let begins = match rest {
            [b'\n', ..] | [] => true,
            [first, second, ..] if first.is_ascii_hexdigit() => second.is_ascii_hexdigit(),
            [first, ..] => matches!(first, b'\r' | b' ' | b'\t'),
        };
        if byte == b'=' && !begins {
            marked.extend_from_slice(b"3D");
        }
    }
    marked
}

/// Up to the first blank line, and behind it.
fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        if bytes[at..end].trim_ascii_end().is_empty() {
            return (&bytes[..at], &bytes[end + 1..]);
        }
        at = end + 1;
    }
    (bytes, &[])
}

fn parsed(header: &[u8]) -> Option<Message<'static>> {
    // Only ASCII is allowed there, and everything is sent.
    let text = encoding::decode(header, None).ok()?.text;
    let parser = MessageParser::new().with_mime_headers().with_address_headers().with_date_headers();
    let parser = parser.header_text(HeaderName::Subject).default_header_ignore();
    // A field at the end counts only with a line end behind it.
    let ended = format!("{}\n\n", text.trim_end());
    parser.parse_headers(ended.as_bytes()).map(Message::into_owned)
}

/// What lies between the lines of a boundary.
pub(super) struct Parts<'a> {
    /// Each without the line end before the next boundary.
    pub(super) list: Vec<&'a [u8]>,
    /// The line behind the last one is missing.
    pub(super) is_cut: bool,
}

/// The parts between lines of `boundary`, the first `most` of them; `None` where there is no such line.
pub(super) fn parts<'a>(body: &'a [u8], boundary: &str, most: usize) -> Option<Parts<'a>> {
    let boundary = boundary.trim_end().as_bytes();
    if boundary.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    let mut from: Option<usize> = None;
    let mut at = 0;
    while at < body.len() && parts.len() < most {
        let end = memchr::memchr(b'\n', &body[at..]).map_or(body.len(), |end| at + end + 1);
        let mark = body[at..end].strip_prefix(b"--").and_then(|line| line.strip_prefix(boundary));
        let is_last = match mark.map(<[u8]>::trim_ascii) {
            Some(b"") => Some(false),
            Some(b"--") => Some(true),
            Some(_) | None => None,
        };
        if let Some(is_last) = is_last {
            if let Some(from) = from {
                let part = &body[from..at.max(from)];
                let part = part.strip_suffix(b"\n").unwrap_or(part);
                parts.push(part.strip_suffix(b"\r").unwrap_or(part));
            }
            from = Some(end);
            if is_last {
                return Some(Parts { list: parts, is_cut: false });
            }
        }
        at = end;
    }
    let from = from?;
    let is_cut = parts.len() < most;
    if is_cut && from < body.len() {
        parts.push(&body[from..]);
    }
    Some(Parts { list: parts, is_cut })
}
