//! Notifies people that a batch has ended, or that some of its jobs need a person. The worker's settings choose the
//! recipients, not the batch's: whoever can write to the database must not be able to run commands here.
//!
//! - `notice`: the content of a notice, as a JSON object and as a text
//! - `channel`: the ways to send it: a command, a web address, an e-mail; `webhook` and `email` send the latter two
//!
//! A channel tries for a while and then reports why it failed. The callers decide when to send a notice.

mod channel;
mod email;
mod notice;
#[cfg(feature = "network")]
mod webhook;

pub use channel::{InvalidChannel, NoticeChannel, NoticeTarget};
pub use email::EmailChannel;
pub use notice::{MOST_NEEDS, Notice, NoticeKind, NoticeNeed};
