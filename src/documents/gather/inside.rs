//! What documents within files are called: an archive is like a folder, so `a.zip/x.pdf`; a mail is a document itself, and
//! nothing can be both a file and a folder, so its attachments are in `m.eml.attachments/`.

use std::collections::HashSet;

use super::super::container::Members;

/// Behind the name of a document that others are in.
const ATTACHMENTS: &str = ".attachments";

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

#[cfg(test)]
mod tests {
    use super::super::super::container::Member;
    use super::*;

    #[test]
    fn a_document_is_no_folder() {
        let member = |path: &[&str]| Member {
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            bytes: 1,
            fault: None,
        };
        let members = vec![
            member(&["x.pdf"]),
            member(&["in/m.eml"]),
            member(&["in/m.eml", "y.pdf"]),
            member(&["in/m.eml", "b.zip", "z.pdf"]),
        ];
        let mut held = Members { members, left_out: Vec::new(), is_document: false };
        let expected = |outer: &str| {
            ["x.pdf", "in/m.eml", "in/m.eml.attachments/y.pdf", "in/m.eml.attachments/b.zip/z.pdf"]
                .map(|name| format!("{outer}/{name}"))
        };
        assert_eq!(names("a.zip", &held), expected("a.zip"));
        held.is_document = true;
        assert_eq!(names("a.eml", &held), expected("a.eml.attachments"));
    }
}
