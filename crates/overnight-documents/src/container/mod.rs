//! Documents inside documents: the files of an archive, the attachments of a mail, to any depth that someone means.
//!
//! - `walk`: what is asked from outside: which documents are inside, and one of them
//! - `opened`: one container, whatever it is, as a list of what lies in it
//! - `archive`: ZIP; attachments of mails come from `mail`
//! - `bounds`: how much is unpacked, and when it is too much
//!
//! *Invariants.* Nothing is believed about a size: it is counted while unpacking. The same bytes give the same names, so
//! that a name taken from [`members`] is found again by [`take`]. No name leads out of the folder that it is put under.

mod archive;
mod bounds;
mod opened;
mod walk;

pub(crate) use walk::may_hold;
pub(crate) use walk::take;
pub use walk::{Member, Members, members, take_all};

#[cfg(test)]
mod tests;
