//! The names of documents whose names would clash.

use super::super::tests::{discover, folder};
use super::*;
use crate::source_path;

#[test]
fn what_lies_in_a_file_makes_room_for_a_file_of_its_name() {
    let root = folder(&["in/m.eml.attachments/x.txt", "in/n.eml.attachments/y.txt"]);
    let part = "--b\r\nContent-Disposition: attachment; filename=x.txt\r\n\r\nattached\r\n";
    let inner = part.replace("--b", "--i") + "--i--\r\n";
    let forwarded = format!(
        "--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: a@b\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n{inner}"
    );
    let mail = format!("From: a@b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n{part}{forwarded}--b--\r\n");
    fs::write(root.path().join("in/m.eml"), mail).unwrap();
    let named: Vec<_> = discover(&[root.path().join("in")])
        .unwrap()
        .documents
        .into_iter()
        .map(|found| (found.name, found.inside.len()))
        .collect();
    let expected = [
        ("m.eml", 0),
        ("m.eml.attachments/attachment-2.eml", 1),
        ("m.eml.attachments/attachment-2.eml.attachments/x.txt", 2),
        ("m.eml.attachments/x (2).txt", 1),
        ("m.eml.attachments/x.txt", 0),
        ("n.eml.attachments/y.txt", 0),
    ];
    assert_eq!(named, expected.map(|(name, depth)| (name.to_owned(), depth)));
}

#[test]
fn a_path_may_carry_a_name() {
    let root = folder(&["in/a.md", "b.md", "*.md"]);
    let named = |name: &str, path: &str| {
        PathBuf::from(source_path::source(name, root.path().join(path).to_str().unwrap(), &[], None))
    };
    let called = |paths: &[PathBuf]| -> Result<Vec<String>, DocumentError> {
        Ok(discover(paths)?.documents.into_iter().map(|found| found.name).collect())
    };
    assert_eq!(called(&[named("x/b.md", "in/a.md"), named("b.md", "b.md")]).unwrap(), ["x/b.md", "b.md"]);
    assert_eq!(called(&[named("of in", "in"), named("b.md", "b.md")]).unwrap(), ["of in/a.md", "b.md"]);
    for bad in ["../a.md", "/a.md", "", "a//b", "a\nb"] {
        assert!(matches!(called(&[named(bad, "in/a.md")]), Err(DocumentError::BadName { .. })), "{bad:?}");
    }
    assert!(matches!(called(&[named("a.md", "b.md"), named("a.md", "in/a.md")]), Err(DocumentError::SameName { .. })));
    // A name with `*` that was given is never a pattern.
    assert_eq!(called(&[named("*.md", "*.md")]).unwrap(), ["*.md"]);
    fs::remove_file(root.path().join("*.md")).unwrap();
    assert!(matches!(called(&[named("*.md", "*.md")]), Err(DocumentError::Missing { .. })));
}
