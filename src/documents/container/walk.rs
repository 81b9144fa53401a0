//! Which documents are inside another, through all containers in it; and one of them.

use serde::{Deserialize, Serialize};

use super::bounds::{Spent, Unfit};
use super::opened::{Inside, Opened, What, may_be_one};
use crate::documents::refusal::Refusal;

/// How many names a path inside may have.
const MAX_DEPTH: usize = 4;

/// One document inside another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Names from outside in; each relative, `/`-separated, valid by [`check_name`](crate::documents::check_name).
    pub path: Vec<String>,
    /// Unpacked size in bytes.
    pub bytes: u64,
}

/// All documents inside another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// In the order in which they lie there.
    pub members: Vec<Member>,
    /// Name inside (path joined with `/`), and a fragment why it is left out.
    pub left_out: Vec<(String, String)>,
    /// The container is a document itself (a mail), not only a wrapper (an archive).
    pub is_document: bool,
}

/// Whether a file that begins so may hold documents: cheap, from its name and its first 4 KiB. May say yes for an office
/// file.
pub(in crate::documents) fn may_hold(name: &str, head: &[u8]) -> bool {
    may_be_one(name, head)
}

/// All documents inside, to a depth of 4. No members where it isn't a container after all (a DOCX).
pub fn members(name: &str, bytes: &[u8]) -> Result<Members, Refusal> {
    let mut found = Members::default();
    let Some(opened) = Opened::open(name, bytes)? else { return Ok(found) };
    found.is_document = opened.is_document();
    let inside = opened.inside()?;
    Walk { found: &mut found, spent: Spent::default() }.container(opened, inside, &mut Vec::new())?;
    Ok(found)
}

/// The content of one of them. An error where it is over its bounds or no longer there.
pub fn take(name: &str, bytes: &[u8], path: &[String]) -> Result<Vec<u8>, Refusal> {
    let mut spent = Spent::default();
    let mut outer: Option<(String, Vec<u8>)> = None;
    for (depth, wanted) in path.iter().enumerate() {
        let (name, bytes) = outer.as_ref().map_or((name, bytes), |(name, bytes)| (name.as_str(), bytes.as_slice()));
        let gone = |format: &str| Refusal::Damaged {
            format: format.to_owned(),
            why: format!("there is no {:?} in it any more", path[..=depth].join("/")),
        };
        let mut opened = Opened::open(name, bytes)?.ok_or_else(|| gone("an archive or a mail"))?;
        let format = opened.format();
        let found = opened.inside()?.into_iter().find_map(|inside| match inside.what {
            What::Document(index) if inside.name == *wanted => Some(index),
            What::Document(_) | What::LeftOut(_) => None,
        });
        let index = found.ok_or_else(|| gone(format))?;
        let unpacked = opened.unpack(index, &mut spent, &|_| true).map_err(|unfit| match unfit {
            Unfit::Whole(refusal) => refusal,
            Unfit::Itself(why) => Refusal::Damaged { format: format.to_owned(), why: format!("of {wanted:?}: {why}") },
        })?;
        outer = Some((wanted.clone(), unpacked.content.unwrap_or_default()));
    }
    outer.map_or_else(|| Ok(bytes.to_vec()), |(_, bytes)| Ok(bytes))
}

struct Walk<'f> {
    found: &'f mut Members,
    spent: Spent,
}

impl Walk<'_> {
    /// Adds what lies in one container, which is at `path`.
    fn container(&mut self, mut opened: Opened<'_>, all: Vec<Inside>, path: &mut Vec<String>) -> Result<(), Refusal> {
        for inside in all {
            self.spent.entry(opened.format())?;
            path.push(inside.name);
            match inside.what {
                What::LeftOut(why) => self.leave_out(path, why),
                What::Document(index) => self.document(&mut opened, index, path)?,
            }
            path.pop();
        }
        Ok(())
    }

    fn document(&mut self, opened: &mut Opened<'_>, index: usize, path: &mut Vec<String>) -> Result<(), Refusal> {
        let name = path.last().cloned().unwrap_or_default();
        let unpacked = match opened.unpack(index, &mut self.spent, &|head| may_be_one(&name, head)) {
            Ok(unpacked) => unpacked,
            Err(Unfit::Whole(refusal)) => return Err(refusal),
            Err(Unfit::Itself(why)) => {
                self.leave_out(path, why);
                return Ok(());
            }
        };
        let bytes = unpacked.bytes;
        let Some(content) = unpacked.content else {
            self.add(path, bytes);
            return Ok(());
        };
        if !self.spent.hold(bytes) {
            self.leave_out(path, "it may hold documents, and is too large to look at inside another".to_owned());
            return Ok(());
        }
        let told = match Opened::open(&name, &content) {
            Ok(None) => {
                self.add(path, bytes);
                Ok(())
            }
            Ok(Some(inner)) => self.inner(inner, path, bytes),
            Err(refusal) => {
                self.leave_out(path, refusal.fragment());
                Ok(())
            }
        };
        self.spent.release(bytes);
        told
    }

    /// A container in a container.
    fn inner(&mut self, inner: Opened<'_>, path: &mut Vec<String>, bytes: u64) -> Result<(), Refusal> {
        if inner.is_document() {
            self.add(path, bytes);
        }
        match inner.inside() {
            Ok(inside) if path.len() < MAX_DEPTH => self.container(inner, inside, path)?,
            Ok(inside) if inside.is_empty() => {}
            Ok(_) => self.leave_out(path, format!("what is in it lies more than {MAX_DEPTH} deep")),
            Err(refusal) => self.leave_out(path, refusal.fragment()),
        }
        Ok(())
    }

    fn add(&mut self, path: &[String], bytes: u64) {
        self.found.members.push(Member { path: path.to_vec(), bytes });
    }

    fn leave_out(&mut self, path: &[String], why: String) {
        self.found.left_out.push((path.join("/"), why));
    }
}
