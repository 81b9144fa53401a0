//! One container, whatever it is, as a list of what lies in it.

use super::archive::{self, Archive};
use super::bounds::{Spent, Unfit, Unpacked};
use crate::readers::mail::{self, Attached, Attachment};
use crate::refusal::Refusal;

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
    /// A document that can't be taken out, with a fragment.
    Faulty(&'static str),
    /// A fragment.
    LeftOut(String),
}

/// A container that was recognised.
pub(super) enum Opened<'a> {
    Archive(Archive<'a>),
    /// What was attached to a mail.
    Mail(Attached<'a>),
}

const MAIL: &str = "a mail";

/// Whether a file may be a container, by its name and how it begins.
pub(super) fn may_be_one(name: &str, head: &[u8]) -> bool {
    archive::begins_like_one(head) || mail::may_be_one(name, head)
}

impl<'a> Opened<'a> {
    /// `None`: not a container.
    pub(super) fn open(name: &str, bytes: &'a [u8]) -> Result<Option<Self>, Refusal> {
        if let Some(archive) = Archive::open(name, bytes)? {
            return Ok(Some(Self::Archive(archive)));
        }
        if !mail::may_be_one(name, bytes) {
            return Ok(None);
        }
        Ok(mail::attachments(name, bytes)?.map(Self::Mail))
    }

    /// What refusals call it.
    pub(super) fn format(&self) -> &'static str {
        match self {
            Self::Archive(_) => archive::FORMAT,
            Self::Mail(_) => MAIL,
        }
    }

    /// Whether it is a document itself.
    pub(super) fn is_document(&self) -> bool {
        match self {
            Self::Archive(_) => false,
            Self::Mail(_) => true,
        }
    }

    /// What lies in it.
    pub(super) fn inside(&self) -> Result<Vec<Inside>, Refusal> {
        match self {
            Self::Archive(archive) => archive.inside(),
            Self::Mail(Attached { attachments, left_out }) => {
                let named = attachments.iter().map(|attachment| attachment.name.clone()).enumerate();
                let named = named.map(|(index, name)| Inside { name, what: What::Document(index) });
                let left_out = left_out.iter().cloned();
                Ok(named.chain(left_out.map(|(name, why)| Inside { name, what: What::LeftOut(why) })).collect())
            }
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
            Self::Mail(Attached { attachments, .. }) => {
                let content = attachments.get(index).map(Attachment::content).unwrap_or_default();
                spent.unpack(&mut &*content, u64::MAX, MAIL, wanted)
            }
        }
    }
}
