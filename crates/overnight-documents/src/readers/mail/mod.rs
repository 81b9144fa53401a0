//! Mails: RFC 5322 (`.eml`), Outlook's own (`.msg`), and many in one file (`.mbox`).
//!
//! How a mail is put together, its header fields, encoded words and transfer encodings are `mail-parser`'s. Characters are
//! decoded as those of any other document, from the bytes of each part: the library puts � where no encoding is declared.
//! It reads mails in mails without recursion, but those inside a packed one; a thousand levels of these overflow the stack of
//! the process that reads, which is told as any other end of it.
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
