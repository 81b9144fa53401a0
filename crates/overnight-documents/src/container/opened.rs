//! One container of any kind, as a list of its entries.

use super::archive::{self, Archive};
use super::bounds::{UnpackBudget, UnpackError, UnpackedMember};
use crate::readers::mail::{self, Attachment, Attachments};
use crate::refusal::Refusal;
use chrono::NaiveDate;

/// An entry of a container.
#[derive(Debug)]
pub(super) struct ContainerEntry {
    /// A valid name, unique among the documents of the container.
    pub(super) name: String,
    pub(super) what: MemberKind,
    /// The day of the last change, if the container records it.
    pub(super) dated: Option<NaiveDate>,
}

#[derive(Debug)]
pub(super) enum MemberKind {
    /// A document, by its number.
    Document(usize),
    /// A document that can't be unpacked, with the reason as a fragment.
    Faulty(&'static str),
    /// The reason as a fragment.
    LeftOut(String),
}

/// A container that was recognised.
pub(super) enum OpenContainer<'a> {
    Archive(Archive<'a>),
    /// The attachments of a mail.
    Mail(Attachments<'a>),
}

const MAIL: &str = "a mail";

/// Whether a file may be a container, by its name and its first bytes.
pub(super) fn may_be_one(name: &str, head: &[u8]) -> bool {
    archive::begins_like_one(head) || mail::may_be_one(name, head)
}

impl<'a> OpenContainer<'a> {
    /// Opens a container; `None`: not a container.
    pub(super) fn open(name: &str, bytes: &'a [u8]) -> Result<Option<Self>, Refusal> {
        if let Some(archive) = Archive::open(name, bytes)? {
            return Ok(Some(Self::Archive(archive)));
        }
        if !mail::may_be_one(name, bytes) {
            return Ok(None);
        }
        Ok(mail::attachments(name, bytes)?.map(Self::Mail))
    }

    /// The name of the format in refusals.
    pub(super) fn format(&self) -> &'static str {
        match self {
            Self::Archive(_) => archive::FORMAT,
            Self::Mail(_) => MAIL,
        }
    }

    /// Whether the container is a document itself.
    pub(super) fn is_document(&self) -> bool {
        match self {
            Self::Archive(_) => false,
            Self::Mail(_) => true,
        }
    }

    /// The entries of the container.
    pub(super) fn inside(&self) -> Result<Vec<ContainerEntry>, Refusal> {
        match self {
            Self::Archive(archive) => archive.inside(),
            Self::Mail(Attachments { attachments, left_out }) => {
                let named = attachments.iter().map(|attachment| attachment.name.clone()).enumerate();
                let named =
                    named.map(|(index, name)| ContainerEntry { name, what: MemberKind::Document(index), dated: None });
                let left_out = left_out.iter().cloned();
                let left_out =
                    left_out.map(|(name, why)| ContainerEntry { name, what: MemberKind::LeftOut(why), dated: None });
                Ok(named.chain(left_out).collect())
            }
        }
    }

    /// Unpacks the document with this number.
    pub(super) fn unpack(
        &mut self,
        index: usize,
        spent: &mut UnpackBudget,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<UnpackedMember, UnpackError> {
        match self {
            Self::Archive(archive) => archive.unpack(index, spent, wanted),
            Self::Mail(Attachments { attachments, .. }) => {
                let content = attachments.get(index).map(Attachment::content).unwrap_or_default();
                spent.unpack(&mut &*content, u64::MAX, MAIL, wanted)
            }
        }
    }
}
