//! Tells people: that a batch has ended, or that some of its jobs need a person. Who is told is the worker's to say and not the
//! batch's: who may write into the database may not have commands run here.
//!
//! - `notice`: what is told, as a JSON object and as a text
//! - `channel`: how: a command, a web address, an e-mail; `webhook` and `email` are the latter two
//!
//! A channel tries for a while and then says why it failed. Nothing here knows when there is something to tell.

mod channel;
mod email;
mod notice;
#[cfg(feature = "network")]
mod webhook;

pub use channel::{InvalidChannel, NoticeChannel, NoticeTarget};
pub use email::EmailChannel;
pub use notice::{MOST_NEEDS, Notice, NoticeKind, NoticeNeed};
