//! One container, whatever it is, as a list of what lies in it.

use super::archive::{self, Archive};
use super::bounds::{Spent, Unfit, Unpacked};
use crate::documents::refusal::Refusal;

/// One thing in a container.
#[derive(Debug)]
pub(super) struct Inside {
    /// Valid, and in its container unique among documents.
    pub(super) name: String,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// By this number.
    Document(usize),
    /// A fragment.
    LeftOut(String),
}

/// A container that was recognised.
pub(super) enum Opened<'a> {
    Archive(Archive<'a>),
}

/// Whether a file may be a container, by its name and how it begins.
pub(super) fn may_be_one(_name: &str, head: &[u8]) -> bool {
    archive::begins_like_one(head)
}

impl<'a> Opened<'a> {
    /// `None`: not a container.
    pub(super) fn open(_name: &str, bytes: &'a [u8]) -> Result<Option<Self>, Refusal> {
        Ok(Archive::open(bytes)?.map(Self::Archive))
    }

    /// What refusals call it.
    pub(super) fn format(&self) -> &'static str {
        match self {
            Self::Archive(_) => archive::FORMAT,
        }
    }

    /// Whether it is a document itself.
    pub(super) fn is_document(&self) -> bool {
        match self {
            Self::Archive(_) => false,
        }
    }

    /// What lies in it.
    pub(super) fn inside(&self) -> Result<Vec<Inside>, Refusal> {
        match self {
            Self::Archive(archive) => archive.inside(),
        }
    }

    /// Unpacks the document with that number.
    pub(super) fn unpack(
        &mut self,
        index: usize,
        spent: &mut Spent,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Unpacked, Unfit> {
        match self {
            Self::Archive(archive) => archive.unpack(index, spent, wanted),
        }
    }
}
