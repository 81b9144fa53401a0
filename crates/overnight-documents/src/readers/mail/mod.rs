//! Mails: RFC 5322 (`.eml`), Outlook's own (`.msg`), and many in one file (`.mbox`).
//!
//! How a mail is put together, its header fields, encoded words and transfer encodings are `mail-parser`'s. Characters are
//! decoded as those of any other document, from the bytes of each part: the library puts � where no encoding is declared.
//! It reads mails in mails without recursion, but those inside a packed one; a thousand levels of these overflow the stack of
//! the process that reads, which is told as any other end of it.
//!
//! - `known`: whether some bytes are a mail
//! - `sorted`: which parts are the mail's text, and which are attachments
//! - `letter`: a mail as a person sees it, whatever it was kept in; `mime`, `outlook`: the two ways
//! - `mailbox`: many mails in one file
//! - `read`: the reader

mod known;
mod letter;
mod mailbox;
mod mime;
mod outlook;
mod read;
mod sorted;

pub(crate) use known::{begins_like_one, is_mailbox, is_saved_page, may_be_one};
pub(crate) use letter::Attachment;
pub(crate) use mime::saved_page;
pub(crate) use read::{Attached, Mail, attachments};

#[cfg(test)]
mod tests;
