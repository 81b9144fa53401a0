//! Names of documents within files: an archive is like a folder, so `a.zip/x.pdf`; a mail is a document itself, and
//! nothing can be both a file and a folder, so its attachments are in `m.eml.attachments/`.

use std::collections::HashSet;

use super::super::container::Members;

/// The suffix of a document's name for the folder of the documents in it.
const ATTACHMENTS: &str = ".attachments";

/// The documents that contain the one called `name`, such as the mail that it is attached to, from outside in.
pub fn holders(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').filter_map(|(slash, _)| name[..slash].strip_suffix(ATTACHMENTS))
}

/// The names of all members of the file called `outer`, in their order.
pub(super) fn names(outer: &str, held: &Members) -> Vec<String> {
    let documents: HashSet<&[String]> = held.members.iter().map(|member| member.path.as_slice()).collect();
    let name = |path: &[String]| {
        let mut name = outer.to_owned();
        for (depth, part) in path.iter().enumerate() {
            let is_document = if depth == 0 { held.is_document } else { documents.contains(&path[..depth]) };
            name.push_str(if is_document { ATTACHMENTS } else { "" });
            name.push('/');
            name.push_str(part);
        }
        name
    };
    held.members.iter().map(|member| name(&member.path)).collect()
}
