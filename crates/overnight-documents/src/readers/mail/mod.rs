//! Mails: RFC 5322 (`.eml`), Outlook's own (`.msg`), and many in one file (`.mbox`).
//!
//! `mail-parser` handles a mail's structure, its header fields, encoded words and transfer encodings. Characters are
//! decoded as in any other document, from the bytes of each part: the library puts � where no encoding is declared. It
//! parses nested mails without recursion, except in packed ones; a thousand levels of these overflow the stack of the
//! reading process, which is reported like any other crash.
//!
//! - `detect`: whether some bytes are a mail
//! - `body`: which parts are the mail's text, and which are attachments
//! - `parsed_mail`: a mail as a person sees it, whatever it was stored in; `mime`, `outlook`: the two parsers
//! - `mbox`: many mails in one file
//! - `read`: the reader

mod body;
mod detect;
mod mbox;
mod mime;
mod outlook;
mod parsed_mail;
mod read;

pub(crate) use detect::{begins_like_one, is_mailbox, is_saved_page, may_be_one};
pub(crate) use mime::saved_page;
pub(crate) use parsed_mail::Attachment;
pub(crate) use read::{Attachments, MailReader, attachments};

#[cfg(test)]
mod tests;
