//! Which documents are inside another one, through all nested containers; and the content of one of them.

use std::collections::HashMap;
use std::fmt::Write as _;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::bounds::{UnpackBudget, UnpackError};
use super::opened::{ContainerEntry, MemberKind, OpenContainer, may_be_one};
use crate::refusal::Refusal;

/// The maximum number of names in a path inside a file.
const MAX_DEPTH: usize = 4;
/// The most documents that are named as impossible to unpack; the others are counted, as more names wouldn't help.
const MOST_FAULTS: u64 = 100;

/// A document inside another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Names from outside in; each relative, `/`-separated, valid by [`check_name`](crate::check_name).
    pub path: Vec<String>,
    /// Unpacked size in bytes.
    pub bytes: u64,
    /// The day of the last change, if the archive records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dated: Option<NaiveDate>,
    /// Why it can't be unpacked, as a fragment: it is still a document, but an unreadable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// All documents inside another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// In the order of the container.
    pub members: Vec<Member>,
    /// Names inside (paths joined with `/`), each with a fragment that says why it isn't one of the documents.
    pub left_out: Vec<(String, String)>,
    /// The container is a document itself (a mail), not only a wrapper (an archive).
    pub is_document: bool,
}

/// Whether a file may hold documents, by its name and its first 4 KiB. This check is cheap, and may also accept an
/// office file.
pub(crate) fn may_hold(name: &str, head: &[u8]) -> bool {
    may_be_one(name, head)
}

/// All documents inside, to a depth of 4. Without members if it isn't a container after all (a DOCX).
pub fn members(name: &str, bytes: &[u8]) -> Result<Members, Refusal> {
    let mut found = Members::default();
    let Some(opened) = OpenContainer::open(name, bytes)? else { return Ok(found) };
    found.is_document = opened.is_document();
    let inside = opened.inside()?;
    let mut walk = MemberWalk { found: &mut found, spent: UnpackBudget::default(), faults: 0 };
    walk.container(opened, inside, &mut Vec::new())?;
    walk.count_faults();
    Ok(found)
}

/// The content of one of them. An error if it exceeds its limits or no longer exists.
pub(crate) fn take(name: &str, bytes: &[u8], path: &[String]) -> Result<Vec<u8>, Refusal> {
    let mut taken = None;
    take_all(name, bytes, &[path], &mut |result| taken = Some(result));
    taken.unwrap_or_else(|| Ok(bytes.to_vec()))
}

/// Reports the contents of several members in order. Each container is opened once for consecutive members in it.
pub fn take_all(name: &str, bytes: &[u8], paths: &[&[String]], tell: &mut dyn FnMut(Result<Vec<u8>, Refusal>)) {
    let refuse = |count: usize, refusal: &Refusal, tell: &mut dyn FnMut(Result<Vec<u8>, Refusal>)| {
        (0..count).for_each(|_| tell(Err(refusal.clone())));
    };
    let gone = |format: &str, wanted: &str| Refusal::Damaged {
        format: format.to_owned(),
        why: format!("there is no {wanted:?} in it any more"),
    };
    let opened = OpenContainer::open(name, bytes).and_then(|opened| {
        let opened = opened
            .ok_or_else(|| gone("an archive or a mail", &paths.first().copied().unwrap_or_default().join("/")))?;
        let inside = opened.inside()?;
        Ok((opened, inside))
    });
    let (mut opened, inside) = match opened {
        Ok(opened) => opened,
        Err(refusal) => return refuse(paths.len(), &refusal, tell),
    };
    let places: HashMap<&str, usize> = inside
        .iter()
        .filter_map(|inside| match inside.what {
            MemberKind::Document(index) => Some((inside.name.as_str(), index)),
            MemberKind::LeftOut(_) | MemberKind::Faulty(_) => None,
        })
        .collect();
    for group in paths.chunk_by(|one, next| one.len() > 1 && next.len() > 1 && one[0] == next[0]) {
        let Some((wanted, _)) = group[0].split_first() else {
            tell(Ok(bytes.to_vec()));
            continue;
        };
        let format = opened.format();
        let Some(&index) = places.get(wanted.as_str()) else {
            refuse(group.len(), &gone(format, wanted), tell);
            continue;
        };
        let unpacked = opened.unpack(index, &mut UnpackBudget::default(), &|_| true).map_err(|unfit| match unfit {
            UnpackError::Whole(refusal) => refusal,
            UnpackError::Itself(why, _) => {
                Refusal::Damaged { format: format.to_owned(), why: format!("of {wanted:?}: {why}") }
            }
        });
        match unpacked.map(|unpacked| unpacked.content.unwrap_or_default()) {
            Ok(content) if group[0].len() == 1 => tell(Ok(content)),
            Ok(content) => {
                let rest: Vec<&[String]> = group.iter().map(|path| &path[1..]).collect();
                take_all(wanted, &content, &rest, tell);
            }
            Err(refusal) => refuse(group.len(), &refusal, tell),
        }
    }
}

struct MemberWalk<'f> {
    found: &'f mut Members,
    spent: UnpackBudget,
    /// How many documents can't be unpacked.
    faults: u64,
}

impl MemberWalk<'_> {
    /// Adds the entries of one container, which is at `path`.
    fn container(
        &mut self,
        mut opened: OpenContainer<'_>,
        all: Vec<ContainerEntry>,
        path: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        for inside in all {
            self.spent.entry(opened.format())?;
            path.push(inside.name);
            match inside.what {
                MemberKind::LeftOut(why) => self.leave_out(path, why),
                MemberKind::Faulty(why) => self.fault(path, why.to_owned()),
                MemberKind::Document(index) => self.document(&mut opened, (index, inside.dated), path)?,
            }
            path.pop();
        }
        Ok(())
    }

    fn document(
        &mut self,
        opened: &mut OpenContainer<'_>,
        (index, dated): (usize, Option<NaiveDate>),
        path: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let name = path.last().cloned().unwrap_or_default();
        let unpacked = match opened.unpack(index, &mut self.spent, &|head| may_be_one(&name, head)) {
            Ok(unpacked) => unpacked,
            Err(UnpackError::Whole(refusal)) => return Err(refusal),
            Err(UnpackError::Itself(why, advice)) => {
                self.fault(path, format!("{why}: {advice}"));
                return Ok(());
            }
        };
        let bytes = unpacked.bytes;
        let Some(content) = unpacked.content else {
            self.add(path, bytes, dated);
            return Ok(());
        };
        if !self.spent.hold(bytes) {
            self.fault(path, "it may hold documents, and is too large to look at inside another: unpack it and give the documents in it".to_owned());
            return Ok(());
        }
        let told = match OpenContainer::open(&name, &content) {
            Ok(None) => {
                self.add(path, bytes, dated);
                Ok(())
            }
            Ok(Some(inner)) => self.inner(inner, path, (bytes, dated)),
            Err(refusal) => {
                self.fault(path, refusal.fragment());
                Ok(())
            }
        };
        self.spent.release(bytes);
        told
    }

    /// A container in a container.
    fn inner(
        &mut self,
        inner: OpenContainer<'_>,
        path: &mut Vec<String>,
        (bytes, dated): (u64, Option<NaiveDate>),
    ) -> Result<(), Refusal> {
        let too_deep =
            || format!("what is in it lies more than {MAX_DEPTH} deep: unpack it and give the documents in it");
        let is_document = inner.is_document();
        if is_document {
            self.add(path, bytes, dated);
        }
        match inner.inside() {
            Ok(inside) if path.len() < MAX_DEPTH => self.container(inner, inside, path)?,
            Ok(inside) if inside.is_empty() => {}
            // The mail itself is read, but not its attachments.
            Ok(_) if is_document => self.leave_out(path, too_deep()),
            Ok(_) => self.fault(path, too_deep()),
            Err(refusal) if is_document => self.leave_out(path, refusal.fragment()),
            Err(refusal) => self.fault(path, refusal.fragment()),
        }
        Ok(())
    }

    fn add(&mut self, path: &[String], bytes: u64, dated: Option<NaiveDate>) {
        self.found.members.push(Member { path: path.to_vec(), bytes, dated, fault: None });
    }

    fn fault(&mut self, path: &[String], why: String) {
        self.faults += 1;
        if self.faults > MOST_FAULTS {
            return;
        }
        self.found.members.push(Member { path: path.to_vec(), bytes: 0, dated: None, fault: Some(why) });
    }

    /// Adds to the last named fault how many follow it.
    fn count_faults(&mut self) {
        let more = self.faults.saturating_sub(MOST_FAULTS);
        let last = self.found.members.iter_mut().rev().find_map(|member| member.fault.as_mut());
        if let Some(why) = last.filter(|_| more > 0) {
            let _ = write!(why, "; {more} more in this file can't be taken out either");
        }
    }

    fn leave_out(&mut self, path: &[String], why: String) {
        self.found.left_out.push((path.join("/"), why));
    }
}
