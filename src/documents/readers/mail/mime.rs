//! A mail as it goes through the net.

use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{Addr, Address, HeaderName, HeaderValue};

use super::entity::Entity;
use super::letter::{Letter, name_all};
use super::sorted::{Piece, sorted};
use crate::documents::encoding;
use crate::documents::readers::Failure;
use crate::documents::readers::html::of_part;

/// Fields of addresses that a reader sees.
const PEOPLE: &[(&str, HeaderName<'static>)] =
    &[("From", HeaderName::From), ("To", HeaderName::To), ("Cc", HeaderName::Cc)];

/// The mail that these bytes are.
pub(super) fn letter(bytes: &[u8]) -> Letter<'_> {
    let mail = Entity::of(bytes);
    let mut letter = Letter::default();
    for (label, name) in PEOPLE {
        if let Some(people) = mail.field(name.clone()).map(people).filter(|people| !people.is_empty()) {
            letter.head.push((label, people));
        }
    }
    if let Some(date) = mail.raw(HeaderName::Date) {
        letter.head.push(("Date", date));
    }
    if let Some(subject) = subject(&mail) {
        letter.head.push(("Subject", subject));
    }
    let sorted = sorted(&mail);
    letter.gaps = sorted.gaps;
    if mail.has_stray_lines() {
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
pub(in crate::documents) fn saved_page(bytes: &[u8]) -> Option<(Vec<u8>, Option<String>)> {
    if bytes.trim_ascii_start().starts_with(b"<") {
        return None;
    }
    let whole = Entity::of(bytes);
    whole.media()?;
    let page = sorted(&whole).pieces.into_iter().find(|piece| piece.is_html)?;
    Some((page.content.into_owned(), page.charset))
}

/// What it is about, on one line.
pub(super) fn subject(mail: &Entity<'_>) -> Option<String> {
    let told = mail.field(HeaderName::Subject)?.as_text()?;
    Some(told.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|subject| !subject.is_empty())
}

/// `Ann Example <ann@example.org>, bob@example.org`.
fn people(field: &HeaderValue<'_>) -> String {
    let lists: Vec<&Address<'_>> = match field {
        HeaderValue::Address(address) => vec![address],
        _ => Vec::new(),
    };
    let mut people = Vec::new();
    for list in lists {
        match list {
            Address::List(list) => people.extend(list.iter().map(person)),
            Address::Group(groups) => {
                for group in groups {
                    let members = group.addresses.iter().map(person).collect::<Vec<_>>().join(", ");
                    people.push(group.name.as_ref().map_or(members.clone(), |name| format!("{name}: {members};")));
                }
            }
        }
    }
    people.retain(|person| !person.is_empty());
    people.join(", ")
}

fn person(person: &Addr<'_>) -> String {
    let clean = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (person.name().map(clean), person.address().map(clean)) {
        (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
        (_, Some(address)) => address,
        (Some(name), None) => name,
        (None, None) => String::new(),
    }
}

/// The text of one piece. What can't be had of it is told to the letter.
fn text(piece: &Piece<'_>, letter: &mut Letter<'_>) -> String {
    let Some(text) = characters(piece, &mut letter.notes) else {
        letter.gaps.push("a text of it is binary data, and was left out".to_owned());
        return String::new();
    };
    if !piece.is_html {
        return text;
    }
    let read = of_part(&text, false);
    match read {
        Ok(text) => text,
        Err(Failure::Refused(refusal)) => {
            letter.gaps.push(format!("its text {refusal}"));
            String::new()
        }
        Err(Failure::Stopped(_)) => String::new(),
    }
}

fn characters(piece: &Piece<'_>, notes: &mut Vec<String>) -> Option<String> {
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
    // That a mail is in the encoding that it declares needs no word.
    let told = decoded.notes.into_iter().filter(|note| !note.ends_with("as it declares"));
    for note in told {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Some(decoded.text.into_owned())
}
