//! Documents inside documents: the files of an archive, the attachments of a mail, to any reasonable depth.
//!
//! - `walk`: the interface: which documents are inside, and the content of one of them
//! - `opened`: one container of any kind, as a list of its entries
//! - `archive`: ZIP; attachments of mails come from `mail`
//! - `bounds`: the limits on how much is unpacked
//!
//! *Invariants.* No declared size is trusted: bytes are counted while unpacking. The same bytes give the same names, so
//! that [`take`] finds a name again that came from [`members`]. No name leads out of the folder under which it is put.

mod archive;
mod bounds;
mod opened;
mod walk;

pub(crate) use walk::may_hold;
pub(crate) use walk::take;
pub use walk::{Member, Members, members, take_all};

#[cfg(test)]
mod tests;
