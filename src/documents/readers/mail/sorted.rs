//! Which parts of a mail are its text, and which were attached. Of a text that was sent in two forms the plain one is
//! read, unless there is nothing in it, or little more than where to see the other.

use std::borrow::Cow;

use super::entity::{Entity, Transfer, parts};
use super::letter::Attachment;
use crate::documents::readers::html::of_part;

/// Parts inside one another; honest mails have four or five.
const MAX_DEPTH: usize = 20;
/// Parts of one mail.
const MAX_PARTS: usize = 5_000;
/// Why some parts of a mail are not had.
pub(super) const TOO_MANY: &str = "it has more than 5,000 parts";
const CUT: &str = "it breaks off: the end of its last part is missing, and what came behind it";
/// The plain form says little where the other has so many times its words, and so many more.
const MUCH_MORE: usize = 3;
const LITTLE: usize = 20;
/// Forms of a text that say what the others do.
const OTHER_FORMS: [&str; 3] = ["text/x-amp-html", "text/enriched", "text/watch-html"];
/// Images smaller than this that the text shows are logos and lines, not documents.
const MAX_LOGO_BYTES: usize = 20_000;

/// One piece of a mail's text.
pub(super) struct Piece<'a> {
    pub(super) is_html: bool,
    pub(super) charset: Option<String>,
    pub(super) content: Cow<'a, [u8]>,
}

/// A mail's parts.
#[derive(Default)]
pub(super) struct Sorted<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    pub(super) attachments: Vec<Attachment<'a>>,
    pub(super) gaps: Vec<String>,
}

/// Sorts the parts of a mail.
pub(super) fn sorted<'a>(mail: &Entity<'a>) -> Sorted<'a> {
    let mut sort = Sort { left: MAX_PARTS };
    sort.part(mail, 0, false)
}

struct Sort {
    left: usize,
}

impl Sort {
    fn part<'a>(&mut self, part: &Entity<'a>, depth: usize, in_digest: bool) -> Sorted<'a> {
        let default = || if in_digest { ("message", "rfc822") } else { ("text", "plain") };
        let told = part.media();
        let (kind, subtype) = told.as_ref().map_or_else(default, |(kind, subtype)| (kind.as_str(), subtype.as_str()));
        if kind != "multipart" {
            return leaf(part, kind, subtype, depth);
        }
        if subtype == "encrypted" {
            return gap("it is encrypted (PGP): give its text");
        }
        if depth >= MAX_DEPTH {
            return gap("its parts lie more than 20 deep in one another");
        }
        let Some(found) = part.parameter("boundary").and_then(|it| parts(part.body(), it, self.left)) else {
            // Broken on the way: all of it is shown.
            return leaf(part, "text", "plain", depth);
        };
        let before = self.left;
        self.left -= found.list.len().min(self.left);
        let children =
            found.list.into_iter().map(|bytes| self.part(&Entity::of(bytes), depth + 1, subtype == "digest"));
        let children: Vec<Sorted<'a>> = children.collect();
        let mut all = match subtype {
            "alternative" => best(children),
            _ => children.into_iter().fold(Sorted::default(), Sorted::and),
        };
        if before > 0 && self.left == 0 {
            self.left = 0;
            all.gap(TOO_MANY);
        }
        // what lies in other parts ends with them
        if depth == 0 && found.is_cut {
            all.gap(CUT);
        }
        all
    }
}

impl Sorted<'_> {
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

/// The same text in several forms: the plain one, unless it only says where the other is; else the first with any text.
/// What was attached beside each is kept.
fn best(mut forms: Vec<Sorted<'_>>) -> Sorted<'_> {
    let shown = |form: &Sorted<'_>, html: bool| {
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
    forms.into_iter().fold(Sorted::default(), Sorted::and)
}

/// How many words a form shows.
fn words(form: &Sorted<'_>) -> usize {
    let count = |piece: &Piece<'_>| {
        let text = String::from_utf8_lossy(&piece.content);
        let shown = if piece.is_html { of_part(&text, false).unwrap_or_default() } else { text.into_owned() };
        shown.split_whitespace().count()
    };
    form.pieces.iter().map(count).sum()
}

fn gap<'a>(why: &str) -> Sorted<'a> {
    Sorted { gaps: vec![why.to_owned()], ..Sorted::default() }
}

fn leaf<'a>(part: &Entity<'a>, kind: &str, subtype: &str, depth: usize) -> Sorted<'a> {
    let is_text = kind == "text" && matches!(subtype, "plain" | "html" | "");
    let is_attached = part.is_attached();
    let transfer = part.transfer();
    // A mail of one part is that part, whatever it is called.
    if is_text && !is_attached && (part.file_name().is_none() || depth == 0) && transfer != Transfer::Unknown {
        let charset = part.parameter("charset").map(str::to_owned);
        let (packed, content) = (part.body(), transfer.unpack(part.body()));
        if content.is_empty() && !packed.trim_ascii().is_empty() {
            return gap("its text is damaged where it was packed, and can't be unpacked");
        }
        let piece = Piece { is_html: subtype == "html", charset, content };
        return Sorted { pieces: vec![piece], ..Sorted::default() };
    }
    match (kind, subtype) {
        ("application", "pgp-signature" | "pkcs7-signature" | "x-pkcs7-signature" | "pgp-keys") => {
            return Sorted::default();
        }
        ("application", "pkcs7-mime" | "x-pkcs7-mime") => {
            let is_signed = part.parameter("smime-type").is_some_and(|it| it.eq_ignore_ascii_case("signed-data"));
            return gap(if is_signed {
                "it is packed in its signature (S/MIME): save it without the signature"
            } else {
                "it is encrypted (S/MIME): give its text"
            });
        }
        _ => {}
    }
    if kind == "image" && part.has_content_id() && !is_attached {
        let size = transfer.unpack(part.body()).len();
        if size < MAX_LOGO_BYTES {
            return Sorted::default();
        }
    }
    let name = part.file_name().map_or_else(|| forwarded(part, kind, subtype), str::to_owned);
    let mut sorted = Sorted::default();
    if transfer == Transfer::Unknown {
        let shown = if name.is_empty() { "an attachment" } else { &name };
        sorted.gap(&format!("{shown} is packed in a way that isn't read (uuencode)"));
        return sorted;
    }
    let media = format!("{kind}/{subtype}");
    sorted.attachments.push(Attachment { name, media, body: Cow::Borrowed(part.body()), transfer });
    sorted
}

/// A forwarded mail without a name is called by its subject.
fn forwarded(part: &Entity<'_>, kind: &str, subtype: &str) -> String {
    if kind != "message" || !matches!(subtype, "rfc822" | "global") {
        return String::new();
    }
    let inner = part.transfer().unpack(part.body());
    let subject = super::mime::subject(&Entity::of(&inner)).unwrap_or_default();
    let subject: String = subject.chars().take(80).collect();
    if subject.trim().is_empty() { String::new() } else { format!("{}.eml", subject.trim()) }
}
