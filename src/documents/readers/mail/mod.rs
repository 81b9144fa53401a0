//! Mails: RFC 5322 (`.eml`), Outlook's own (`.msg`), and many in one file (`.mbox`).
//!
//! Header fields, encoded words, dates and transfer encodings are `mail-parser`'s. How a mail is put together of parts is
//! read here, because that library's tree of mails in mails is dropped and copied by recursion, without a bound on its
//! depth: a small hostile mail ends the process. Here each level is a slice of the same bytes, to a depth that is bounded.
//!
//! - `known`: whether some bytes are a mail
//! - `entity`: header and body of one part, and the parts of a body
//! - `sorted`: which parts are the mail's text, and which are attachments
//! - `letter`: a mail as a person sees it, whatever it was kept in; `mime`, `outlook`: the two ways
//! - `mailbox`: many mails in one file
//! - `read`: the reader

mod entity;
mod known;
mod letter;
mod mailbox;
mod mime;
mod outlook;
mod read;
mod sorted;

pub(in crate::documents) use known::{begins_like_one, is_mailbox, is_saved_page, may_be_one};
pub(in crate::documents) use letter::Attachment;
pub(in crate::documents) use mime::saved_page;
pub(in crate::documents) use read::{Attached, Mail, attachments};

#[cfg(test)]
mod tests;
