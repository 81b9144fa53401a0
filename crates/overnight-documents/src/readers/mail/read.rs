//! The reader of mails, and access to their attachments.

use super::body::TOO_MANY;
use super::parsed_mail::{Attachment, ParsedMail};
use super::{detect, mbox, mime, outlook};
use crate::encoding;
use crate::format::ending;
use crate::readers::plain::PlainReader;
use crate::readers::{PageSink, ReadFailure, Reader, Source};
use crate::refusal::Refusal;
use crate::units::Unit;

/// Reads mail.
pub(crate) struct MailReader;

impl Reader for MailReader {
    fn version(&self) -> &'static str {
        "mail-parser 0.11.9+5"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        if detect::is_outlook(source.bytes) {
            return one(&outlook::letter(source.bytes)?, pages);
        }
        let narrow = encoding::of_wide(source.bytes);
        let source = Source { bytes: narrow.as_deref().unwrap_or(source.bytes), ..source };
        if detect::is_mailbox(source.bytes) {
            let mails = mbox::mails(source.bytes);
            pages.expect(mails.len() as u64)?;
            for (page, mail) in (1..).zip(mails) {
                if pages.begin(page)? {
                    tell(&mime::letter(&mbox::restored(mail)), pages)?;
                }
            }
            return Ok(Unit::Page);
        }
        let letter = mime::letter(source.bytes);
        if letter.head.is_empty() && letter.attachments.is_empty() {
            // The name is that of a mail, but the content isn't one.
            return PlainReader.read(source, pages);
        }
        one(&letter, pages)
    }
}

fn one(letter: &ParsedMail<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
    if pages.begin(1)? {
        tell(letter, pages)?;
    }
    Ok(Unit::Line)
}

fn tell(letter: &ParsedMail<'_>, pages: &mut dyn PageSink) -> Result<(), ReadFailure> {
    for why in &letter.gaps {
        pages.gap(why)?;
    }
    for note in &letter.notes {
        pages.note(note.clone())?;
    }
    Ok(pages.text(&letter.document())?)
}

/// The attachments of a mail.
#[derive(Default)]
pub(crate) struct Attachments<'a> {
    pub(crate) attachments: Vec<Attachment<'a>>,
    /// Attachments beyond a limit: a pattern for names, and a fragment.
    pub(crate) left_out: Vec<(String, String)>,
}

impl Attachments<'_> {
    fn into_owned(self) -> Attachments<'static> {
        let attachments = self.attachments.into_iter().map(Attachment::into_owned).collect();
        Attachments { attachments, left_out: self.left_out }
    }
}

impl<'a> Attachments<'a> {
    /// Adds the attachments of this mail, with `folder` before each name.
    fn add(&mut self, folder: &str, letter: ParsedMail<'a>) {
        if letter.gaps.iter().any(|gap| gap == TOO_MANY) {
            self.left_out.push((format!("{folder}*"), format!("{TOO_MANY}: what is behind them is not read")));
        }
        let named = letter
            .attachments
            .into_iter()
            .map(|attachment| Attachment { name: format!("{folder}{}", attachment.name), ..attachment });
        self.attachments.extend(named);
    }
}

/// The attachments of a mail, if these bytes are one.
pub(crate) fn attachments<'a>(name: &str, bytes: &'a [u8]) -> Result<Option<Attachments<'a>>, Refusal> {
    let mut all = Attachments::default();
    if let Some(narrow) = encoding::of_wide(bytes) {
        // A mail saved as UTF-16: its parts are those of the converted mail.
        let inner = attachments(name, &narrow)?;
        return Ok(inner.map(Attachments::into_owned));
    }
    if detect::is_outlook(bytes) {
        all.add("", outlook::letter(bytes)?);
    } else if detect::is_mailbox(bytes) {
        for (number, mail) in (1..).zip(mbox::mails(bytes)) {
            // Encoded content has no lines that would need restoring.
            all.add(&format!("mail-{number}/"), mime::letter(mail));
        }
    } else if ending(name) == "eml" || detect::begins_like_one(bytes) {
        all.add("", mime::letter(bytes));
    } else {
        return Ok(None);
    }
    Ok(Some(all))
}
