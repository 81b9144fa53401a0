//! A mail in the format in which it is sent.

use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{Addr, Address, HeaderName, Message, MessageParser, MimeHeaders, PartType};

use super::body::{BodyPiece, sort_parts};
use super::parsed_mail::{ParsedMail, name_all};
use crate::encoding;
use crate::readers::ReadFailure;
use crate::readers::html::{HtmlOmissions, of_part};
use crate::readers::package::one_line;

/// The mail that these bytes are.
pub(super) fn letter(bytes: &[u8]) -> ParsedMail<'_> {
    let mut letter = ParsedMail::default();
    let Some(mail) = parser().parse(bytes) else { return letter };
    let head = mail.parts.first().map_or(0, |part| part.offset_body as usize);
    let head = bytes.get(..head).unwrap_or(bytes);
    letter.head = fields(head);
    let sorted = sort_parts(&mail, bytes);
    dismantle(mail);
    letter.gaps = sorted.gaps;
    if has_stray_lines(head) {
        letter.gaps.push(
            "lines of its head are no part of it, and were left out: an empty line is missing before them".to_owned(),
        );
    }
    letter.attachments = sorted.attachments;
    name_all(&mut letter.attachments);
    for piece in &sorted.pieces {
        let text = text(piece, &mut letter);
        if text.contains("-----BEGIN PGP MESSAGE-----") {
            letter.gaps.push("a part of it is encrypted (PGP): give its text".to_owned());
        }
        let text = text.trim_matches(['\r', '\n']);
        if !text.trim().is_empty() {
            if !letter.text.is_empty() {
                letter.text.push_str("\n\n");
            }
            letter.text.push_str(text);
        }
    }
    letter
}

/// The page that a browser saved in the form of a mail, and its encoding; `None` where these bytes are no such mail.
pub(crate) fn saved_page(bytes: &[u8]) -> Option<(Vec<u8>, Option<String>)> {
    if bytes.trim_ascii_start().starts_with(b"<") {
        return None;
    }
    let mail = parser().parse(bytes)?;
    mail.content_type()?;
    let page = sort_parts(&mail, bytes).pieces.into_iter().find(|piece| piece.is_html);
    dismantle(mail);
    page.map(|page| (page.content.into_owned(), page.charset))
}

fn parser() -> MessageParser {
    let parser = MessageParser::new().with_mime_headers().with_address_headers().with_date_headers();
    parser.header_text(HeaderName::Subject).default_header_ignore()
}

/// Frees a mail level by level: the library's recursion would overflow the stack with thousands of nested mails.
fn dismantle(mail: Message<'_>) {
    let mut left = vec![mail];
    while let Some(mail) = left.pop() {
        for part in mail.parts {
            if let PartType::Message(inner) = part.body {
                left.push(inner);
            }
        }
    }
}

/// The head of a mail or a part in any encoding: only ASCII is allowed there, but anything is sent.
pub(super) fn decoded(head: &[u8]) -> Option<Message<'static>> {
    let decoded = encoding::decode(head, None).ok()?;
    // A field at the end counts only with a line end behind it.
    let ended = format!("{}\n\n", decoded.text.trim_end());
    parser().parse_headers(&ended).map(Message::into_owned)
}

/// The fields shown to a person.
fn fields(head: &[u8]) -> Vec<(&'static str, String)> {
    let Some(mail) = decoded(head) else { return Vec::new() };
    let fields = [
        ("From", mail.from().map(people)),
        ("To", mail.to().map(people)),
        ("Cc", mail.cc().map(people)),
        ("Date", mail.header_raw(HeaderName::Date).map(one_line)),
        ("Subject", mail.subject().map(one_line)),
    ];
    fields.into_iter().filter_map(|(label, value)| Some((label, value.filter(|value| !value.is_empty())?))).collect()
}

/// Whether a head has lines that belong to no field: the empty line behind it is missing.
fn has_stray_lines(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').any(|line| {
        let name = line.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b':').count();
        let is_field = name > 0 && line.get(name) == Some(&b':');
        let is_mailbox = line.starts_with(b"From ") || line.starts_with(b">From ");
        let goes_on = line.trim_ascii().is_empty() || line.starts_with(b" ") || line.starts_with(b"\t");
        !(is_field || is_mailbox || goes_on)
    })
}

/// `Ann Example <ann@example.org>, bob@example.org`.
pub(super) fn people(addresses: &Address<'_>) -> String {
    let all = |list: &[Addr<'_>]| {
        let people = list.iter().map(|one| person(one.name().map(one_line), one.address().map(one_line)));
        people.filter(|person| !person.is_empty()).collect::<Vec<_>>().join(", ")
    };
    match addresses {
        Address::List(list) => all(list),
        Address::Group(groups) => {
            let group = |members: String, name: Option<&str>| match name {
                Some(name) => format!("{name}: {members};"),
                None => members,
            };
            let people = groups.iter().map(|one| group(all(&one.addresses), one.name.as_deref()));
            people.filter(|people| !people.is_empty()).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A person by name and address, as far as they are known.
pub(super) fn person(name: Option<String>, address: Option<String>) -> String {
    match (name, address) {
        (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
        (name, address) => address.or(name).unwrap_or_default(),
    }
}

/// The text of one piece. Problems are added to the letter.
fn text(piece: &BodyPiece<'_>, letter: &mut ParsedMail<'_>) -> String {
    let Some(text) = characters(piece, &mut letter.notes) else {
        letter.gaps.push("a text of it is binary data, and was left out".to_owned());
        return String::new();
    };
    if !piece.is_html {
        return text;
    }
    match of_part(&text, false) {
        Ok(read) => {
            letter.notes.extend(HtmlOmissions { images: 0, ..read.left_out }.notes());
            read.text
        }
        Err(ReadFailure::Refused(refusal)) => {
            letter.gaps.push(format!("its text {refusal}"));
            String::new()
        }
        Err(ReadFailure::Stopped(_)) => String::new(),
    }
}

fn characters(piece: &BodyPiece<'_>, notes: &mut Vec<String>) -> Option<String> {
    let is_known = |label: &str| encoding_rs::Encoding::for_label(label.as_bytes()).is_some();
    let declared = piece.charset.as_deref().filter(|label| !label.eq_ignore_ascii_case("us-ascii"));
    if let Some(label) = declared.filter(|label| !is_known(label))
        && let Some(decoder) = charset_decoder(label.as_bytes())
    {
        return Some(decoder(&piece.content));
    }
    let of_html = || if piece.is_html { encoding::declared_in_html(&piece.content) } else { None };
    let label = declared.map(str::to_owned).or_else(of_html);
    let decoded = encoding::decode(&piece.content, label.as_deref()).ok()?;
    // A declared encoding that is right needs no note.
    let told = decoded.notes.into_iter().filter(|note| !note.ends_with("as it declares"));
    for note in told {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Some(decoded.text.into_owned())
}
