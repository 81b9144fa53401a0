//! Sorts the parts of a mail into text and attachments. If a text was sent in two forms, the plain one is read, unless
//! it is empty, or hardly more than a pointer to the other one.

use std::borrow::Cow;

use mail_parser::{ContentType, Message, MessagePart, MimeHeaders, PartType};

use super::mime::decoded;
use super::parsed_mail::{Attachment, TransferEncoding};
use crate::readers::html::of_part;
use crate::readers::package::one_line;

/// The maximum nesting depth of parts; real mails have four or five.
const MAX_DEPTH: usize = 20;
/// The maximum number of parts of one mail.
const MAX_PARTS: usize = 5_000;
/// The reason for parts of a mail that aren't read.
pub(super) const TOO_MANY: &str = "it has more than 5,000 parts";
const CUT: &str = "it breaks off: the end of its last part is missing, and what came behind it";
/// The plain form says little if the other one has this many times its words, and this many more.
const MUCH_MORE: usize = 3;
const LITTLE: usize = 20;
/// Other forms of a text with the same content.
const OTHER_FORMS: [&str; 3] = ["text/x-amp-html", "text/enriched", "text/watch-html"];
/// Images in the text that are smaller than this are logos and lines, not documents.
pub(super) const MAX_LOGO_BYTES: usize = 20_000;

/// One part of a mail's text.
pub(super) struct BodyPiece<'a> {
    pub(super) is_html: bool,
    pub(super) charset: Option<String>,
    pub(super) content: Cow<'a, [u8]>,
}

/// A mail's text and attachments.
#[derive(Default)]
pub(super) struct MailBody<'a> {
    pub(super) pieces: Vec<BodyPiece<'a>>,
    pub(super) attachments: Vec<Attachment<'a>>,
    pub(super) gaps: Vec<String>,
}

/// Sorts the parts of a mail, which was parsed from `bytes`.
pub(super) fn sort_parts<'a>(mail: &Message<'_>, bytes: &'a [u8]) -> MailBody<'a> {
    let mut sort = BodySorter { mail, bytes, left: MAX_PARTS };
    let mut all = sort.part(0, 0);
    if sort.left == 0 {
        all.gap(TOO_MANY);
    } else if is_cut(mail, bytes) {
        all.gap(CUT);
    }
    all
}

/// Whether the line behind a mail's last part is missing. Mails inside other parts end with them.
fn is_cut(mail: &Message<'_>, bytes: &[u8]) -> bool {
    let Some(MessagePart { body: PartType::Multipart(_), .. }) = mail.parts.first() else { return false };
    let boundary = mail.content_type().and_then(|kind| kind.attribute("boundary"));
    boundary.is_some_and(|boundary| memchr::memmem::find(bytes, format!("--{boundary}--").as_bytes()).is_none())
}

struct BodySorter<'m, 'a> {
    mail: &'m Message<'m>,
    bytes: &'a [u8],
    /// How many more parts are read.
    left: usize,
}

impl<'a> BodySorter<'_, 'a> {
    fn part(&mut self, id: u32, depth: usize) -> MailBody<'a> {
        let Some(part) = self.mail.parts.get(id as usize) else { return MailBody::default() };
        let (kind, subtype) = media(part);
        if (kind, subtype) == ("multipart", "encrypted") {
            return gap("it is encrypted (PGP): give its text");
        }
        let children = match &part.body {
            PartType::Multipart(children) if kind == "multipart" => children,
            // The part was damaged on the way: all of it is shown.
            _ if kind == "multipart" => return self.leaf(part, "text", "plain", depth),
            _ => return self.leaf(part, kind, subtype, depth),
        };
        if depth >= MAX_DEPTH {
            return gap("its parts lie more than 20 deep in one another");
        }
        let read = children.len().min(self.left);
        self.left -= read;
        let forms: Vec<MailBody<'a>> = children.iter().take(read).map(|&child| self.part(child, depth + 1)).collect();
        match subtype {
            "alternative" => best(forms),
            _ => forms.into_iter().fold(MailBody::default(), MailBody::and),
        }
    }
}

/// Type and subtype of a part.
fn media<'p>(part: &'p MessagePart<'_>) -> (&'p str, &'p str) {
    match part.content_type() {
        Some(told) => (told.ctype(), told.subtype().unwrap_or_default()),
        // The part is in a digest.
        None if matches!(part.body, PartType::Message(_)) => ("message", "rfc822"),
        None => ("text", "plain"),
    }
}

impl MailBody<'_> {
    fn and(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self.attachments.extend(other.attachments);
        for why in other.gaps {
            self.gap(&why);
        }
        self
    }

    fn gap(&mut self, why: &str) {
        if !self.gaps.iter().any(|gap| gap == why) {
            self.gaps.push(why.to_owned());
        }
    }
}

/// Chooses among several forms of a text: the plain one, unless it only points to the other one; else the first with
/// any text. The attachments of all forms are kept.
fn best(mut forms: Vec<MailBody<'_>>) -> MailBody<'_> {
    let shown = |form: &MailBody<'_>, html: bool| {
        form.pieces.iter().any(|piece| piece.is_html == html && !piece.content.trim_ascii().is_empty())
    };
    let (plain, html) =
        (forms.iter().position(|form| shown(form, false)), forms.iter().position(|form| shown(form, true)));
    let says_little = plain.zip(html).is_some_and(|(plain, html)| {
        let (plain, html) = (words(&forms[plain]), words(&forms[html]));
        html > plain * MUCH_MORE + LITTLE
    });
    let best =
        plain.filter(|_| !says_little).or(html).or_else(|| forms.iter().position(|form| !form.pieces.is_empty()));
    for (at, form) in forms.iter_mut().enumerate() {
        if Some(at) != best {
            form.pieces.clear();
        }
        if best.is_some() {
            form.attachments.retain(|attached| !OTHER_FORMS.contains(&attached.media.as_str()));
        }
    }
    forms.into_iter().fold(MailBody::default(), MailBody::and)
}

/// The number of words in a form.
fn words(form: &MailBody<'_>) -> usize {
    let count = |piece: &BodyPiece<'_>| {
        let text = String::from_utf8_lossy(&piece.content);
        let shown = if piece.is_html { of_part(&text, false).unwrap_or_default().text } else { text.into_owned() };
        shown.split_whitespace().count()
    };
    form.pieces.iter().map(count).sum()
}

fn gap<'a>(why: &str) -> MailBody<'a> {
    MailBody { gaps: vec![why.to_owned()], ..MailBody::default() }
}

impl<'a> BodySorter<'_, 'a> {
    fn leaf(&self, part: &MessagePart<'_>, kind: &str, subtype: &str, depth: usize) -> MailBody<'a> {
        let is_text = kind == "text" && matches!(subtype, "plain" | "html" | "");
        let is_attached = part.content_disposition().is_some_and(ContentType::is_attachment);
        let at = |from: u32, to: u32| self.bytes.get(from as usize..to as usize).unwrap_or_default();
        let name = part.attachment_name().filter(|name| !name.trim().is_empty());
        let odd_head =
            name.is_some_and(|name| name.contains('\u{fffd}')).then(|| at(part.offset_header, part.offset_body));
        let head = odd_head.and_then(decoded);
        let file_name = head.as_ref().map_or(name, |head| head.attachment_name());
        let parameter = |name: &str| part.content_type().and_then(|kind| kind.attribute(name));
        let transfer = TransferEncoding::called(part.content_transfer_encoding().unwrap_or_default());
        let body = at(part.offset_body, part.offset_end);
        // A mail with a single part is that part, whatever its name.
        if is_text && !is_attached && (file_name.is_none() || depth == 0) && transfer != TransferEncoding::Unknown {
            let content = transfer.unpack(body);
            if content.is_empty() && !body.trim_ascii().is_empty() {
                return gap("its text is damaged where it was packed, and can't be unpacked");
            }
            let piece =
                BodyPiece { is_html: subtype == "html", charset: parameter("charset").map(str::to_owned), content };
            return MailBody { pieces: vec![piece], ..MailBody::default() };
        }
        match (kind, subtype) {
            ("application", "pgp-signature" | "pkcs7-signature" | "x-pkcs7-signature" | "pgp-keys") => {
                return MailBody::default();
            }
            ("application", "pkcs7-mime" | "x-pkcs7-mime") => {
                let is_signed = parameter("smime-type").is_some_and(|it| it.eq_ignore_ascii_case("signed-data"));
                return gap(if is_signed {
                    "it is packed in its signature (S/MIME): save it without the signature"
                } else {
                    "it is encrypted (S/MIME): give its text"
                });
            }
            _ => {}
        }
        if kind == "image" && part.content_id().is_some() && !is_attached {
            let size = transfer.unpack(body).len();
            if size < MAX_LOGO_BYTES {
                return MailBody::default();
            }
        }
        let name = file_name.map_or_else(|| forwarded(part), str::to_owned);
        let mut sorted = MailBody::default();
        if transfer == TransferEncoding::Unknown {
            let shown = if name.is_empty() { "an attachment" } else { &name };
            sorted.gap(&format!("{shown} is packed in a way that isn't read (uuencode)"));
            return sorted;
        }
        let media = format!("{kind}/{subtype}");
        sorted.attachments.push(Attachment { name, media, body: Cow::Borrowed(body), transfer });
        sorted
    }
}

/// A forwarded mail without a name is called by its subject.
fn forwarded(part: &MessagePart<'_>) -> String {
    let PartType::Message(mail) = &part.body else { return String::new() };
    let subject: String = one_line(mail.subject().unwrap_or_default()).chars().take(80).collect();
    if subject.trim().is_empty() { String::new() } else { format!("{}.eml", subject.trim()) }
}
