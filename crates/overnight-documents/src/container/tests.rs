//! Archives made here, and the documents found in them.

use std::io::{Cursor, Write};

use zip::unstable::write::FileOptionsExt;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use crate::Refusal;
use crate::readers::package::sample::damaged;

/// An archive of these files.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The members with their sizes, the omissions with reasons, and whether the file is a document itself.
type Listed = (Vec<(String, u64)>, Vec<(String, String)>, bool);

fn listed(name: &str, bytes: &[u8]) -> Listed {
    let found = members(name, bytes).unwrap();
    for member in found.members.iter().filter(|member| member.fault.is_none()) {
        let taken = take(name, bytes, &member.path).unwrap();
        assert_eq!(taken.len() as u64, member.bytes, "{:?}", member.path);
        assert!(member.path.iter().all(|part| crate::check_name(part).is_ok()));
    }
    let (members, faulty): (Vec<_>, Vec<_>) = found.members.into_iter().partition(|member| member.fault.is_none());
    let members = members.into_iter().map(|member| (member.path.join(" > "), member.bytes)).collect();
    let faulty = faulty.into_iter().map(|member| (member.path.join("/"), member.fault.unwrap_or_default()));
    (members, found.left_out.into_iter().chain(faulty).collect(), found.is_document)
}

fn names(files: &[(&str, &[u8])]) -> Vec<String> {
    listed("a.zip", &zip(files)).0.into_iter().map(|(name, _)| name).collect()
}

fn left_out(name: &str, why: &str) -> (String, String) {
    (name.to_owned(), why.to_owned())
}

#[test]
fn an_archive_holds_its_files_and_those_of_archives_in_it() {
    let inner = zip(&[("c.txt", b"ccc"), ("d/e.md", b"# e")]);
    let bytes = zip(&[("a.txt", b"a"), ("folder/b.txt", b"bb"), ("folder/inner.zip", &inner)]);
    assert!(may_hold("a.zip", &bytes[..30]));
    let expected =
        [("a.txt", 1), ("folder/b.txt", 2), ("folder/inner.zip > c.txt", 3), ("folder/inner.zip > d/e.md", 3)];
    assert_eq!(listed("a.zip", &bytes), (expected.map(|(name, size)| (name.to_owned(), size)).to_vec(), vec![], false));
    let path = ["folder/inner.zip".to_owned(), "d/e.md".to_owned()];
    assert_eq!(take("a.zip", &bytes, &path), Ok(b"# e".to_vec()));
    assert_eq!(
        take("a.zip", &bytes, &path[1..]).unwrap_err().to_string(),
        "can't be read as a ZIP archive, because there is no \"d/e.md\" in it any more: fetch it again or pack it \
         again, or leave it out"
    );
}

#[test]
fn names_inside_are_made_valid_and_stay_below() {
    let found = names(&[
        ("../../etc/passwd", b""),
        ("/etc/passwd", b""),
        ("C:\\Temp\\a.txt", b""),
        ("con.txt", b""),
        ("ends.", b""),
        ("a\u{1}b:c.txt", b""),
        ("日本/Größe.txt", b""),
        ("A.TXT", b""),
        ("a.txt", b""),
        ("x", b""),
        ("x/y", b""),
        ("v/w", b""),
        ("v", b""),
    ]);
    assert_eq!(
        found,
        [
            "etc/passwd",
            "etc/passwd (2)",
            "C_/Temp/a.txt",
            "_con.txt",
            "ends_",
            "a_b_c.txt",
            "日本/Größe.txt",
            "A.TXT",
            "a (2).txt",
            "x",
            "x (2)/y",
            "v/w",
            "v (2)"
        ]
    );
    let long = format!("{}.txt", "ä".repeat(300));
    assert_eq!(names(&[(&long, b"")]), [format!("{}.txt", "ä".repeat(98))]);
}

#[test]
fn old_archives_name_their_files_in_code_page_437() {
    let mut bytes = zip(&[("Gr__e.txt", b"x")]);
    while let Some(at) = memchr::memmem::find(&bytes, b"Gr__e") {
        bytes[at + 2..at + 4].copy_from_slice(b"\x94\xe1");
    }
    assert_eq!(listed("a.zip", &bytes).0, [("Größe.txt".to_owned(), 1)]);
}

#[test]
fn junk_links_and_what_is_locked_are_left_out() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default();
    for name in
        ["__MACOSX/._a.txt", "__MACOSX/._b.txt", "a/.DS_Store", ".git/config", "a/Thumbs.db", "~$a.docx", "b.txt"]
    {
        zip.start_file(name, plain).unwrap();
        zip.write_all(b"x").unwrap();
    }
    zip.add_symlink("link.txt", "/etc/passwd", plain).unwrap();
    zip.add_directory("empty/", plain).unwrap();
    zip.start_file("secret.txt", plain.with_deprecated_encryption(b"password").unwrap()).unwrap();
    zip.write_all(b"secret").unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let expected = vec![
        left_out("__MACOSX", "made by macOS, no document"),
        left_out("a/.DS_Store", "hidden"),
        left_out(".git", "hidden"),
        left_out("a/Thumbs.db", "made by Windows, no document"),
        left_out("~$a.docx", "a lock of an office program, no document"),
        left_out("link.txt", "a symbolic link"),
        left_out("secret.txt", "it has a password: unpack the archive and give the documents in it"),
    ];
    assert_eq!(listed("a.zip", &bytes), (vec![("b.txt".to_owned(), 1)], expected, false));
}

#[test]
fn an_archive_without_a_file_is_told_so() {
    let mut folders = ZipWriter::new(Cursor::new(Vec::new()));
    folders.add_directory("empty/", SimpleFileOptions::default()).unwrap();
    for bytes in [zip(&[]), folders.finish().unwrap().into_inner()] {
        let refusal = members("a.zip", &bytes).unwrap_err();
        assert_eq!(refusal.to_string(), "is an empty ZIP archive, which can't be read: leave it out");
        let outer = zip(&[("in.zip", &bytes), ("a.txt", b"a")]);
        let why = "an empty ZIP archive, which can't be read: leave it out";
        assert_eq!(listed("b.zip", &outer), (vec![("a.txt".to_owned(), 1)], vec![left_out("in.zip", why)], false));
    }
}

#[test]
fn an_archive_all_of_which_is_locked_is_refused() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let locked = SimpleFileOptions::default().with_deprecated_encryption(b"password").unwrap();
    zip.start_file("secret.txt", locked).unwrap();
    zip.write_all(b"secret").unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    assert_eq!(members("a.zip", &bytes), Err(Refusal::Encrypted { format: "a ZIP archive".to_owned() }));
    let outer = self::zip(&[("in.zip", &bytes)]);
    let why = "a ZIP archive with a password: remove the password, or leave it out";
    assert_eq!(listed("b.zip", &outer), (vec![], vec![left_out("in.zip", why)], false));
}

#[test]
fn an_office_file_is_no_container() {
    for mark in ["[Content_Types].xml", "_rels/.rels", "mimetype"] {
        assert_eq!(members("a.docx", &zip(&[(mark, b"x"), ("word/document.xml", b"x")])), Ok(Members::default()));
    }
    assert_eq!(members("a.txt", b"text"), Ok(Members::default()));
}

#[test]
fn bombs_are_left_out_or_refused() {
    // 100 MB of zeros in 100 kB.
    let zeros = vec![0; 30 << 20];
    let bytes = zip(&[("zeros.txt", &zeros), ("fine.txt", b"fine")]);
    let expected = vec![left_out(
        "zeros.txt",
        "it unpacks to more than 200 times its size: unpack the archive yourself if it is to be read",
    )];
    assert_eq!(listed("a.zip", &bytes), (vec![("fine.txt".to_owned(), 4)], expected, false));
    assert!(take("a.zip", &bytes, &["zeros.txt".to_owned()]).unwrap_err().to_string().contains("200 times its size"));

    let mut many = ZipWriter::new(Cursor::new(Vec::new()));
    for n in 0..20_001 {
        many.start_file(n.to_string(), SimpleFileOptions::default().compression_method(CompressionMethod::Stored))
            .unwrap();
    }
    let many = many.finish().unwrap().into_inner();
    assert!(
        members("a.zip", &many)
            .unwrap_err()
            .to_string()
            .contains("is a ZIP archive that holds more than 20,000 files: ")
    );
}

#[test]
fn what_is_packed_otherwise_is_told_so_and_the_rest_is_read() {
    let mut bytes = zip(&[("a.txt", b"one"), ("b.txt", b"two")]);
    // The method number of bzip2, in the file's own header and in the table of contents.
    for (sign, at) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
        let place = memchr::memmem::find(&bytes, sign).unwrap() + at;
        bytes[place] = 12;
    }
    let why = "it is packed in a way that isn't read: unpack the archive and give the documents in it";
    assert_eq!(listed("a.zip", &bytes), (vec![("b.txt".to_owned(), 3)], vec![left_out("a.txt", why)], false));
}

#[test]
fn archives_in_archives_end_at_four() {
    let mut bytes = b"deep".to_vec();
    for n in (1..=6).rev() {
        bytes = zip(&[(if n == 6 { "a.txt" } else { "a.zip" }, &bytes)]);
    }
    let expected = vec![left_out(
        "a.zip/a.zip/a.zip/a.zip",
        "what is in it lies more than 4 deep: unpack it and give the documents in it",
    )];
    assert_eq!(listed("a.zip", &bytes), (vec![], expected, false));
}

#[test]
fn thousands_that_lie_too_deep_are_counted() {
    let innermost = zip(&[("a.txt", b"deep")]);
    let names: Vec<String> = (1..=150).map(|n| format!("{n}.zip")).collect();
    let mut bytes = zip(&names.iter().map(|name| (name.as_str(), &innermost[..])).collect::<Vec<_>>());
    for _ in 0..3 {
        bytes = zip(&[("a.zip", &bytes), ("b.txt", b"here")]);
    }
    let (members, faults, _) = listed("a.zip", &bytes);
    assert_eq!((members.len(), faults.len()), (3, 100));
    let why = "what is in it lies more than 4 deep: unpack it and give the documents in it; 50 more in this file can't be taken out either";
    assert_eq!(faults[99], ("a.zip/a.zip/a.zip/100.zip".to_owned(), why.to_owned()));
}

#[test]
fn a_file_that_lies_about_itself_costs_only_itself() {
    let mut bytes = zip(&[("a.txt", &b"hello ".repeat(100)), ("b.txt", b"fine")]);
    // A byte of the packed data.
    let at = memchr::memmem::find(&bytes, b"a.txt").unwrap() + 8;
    bytes[at] ^= 0x55;
    let (members, left_out, _) = listed("a.zip", &bytes);
    assert_eq!(members, [("b.txt".to_owned(), 4)]);
    let why = "it is damaged and doesn't unpack to what was packed: pack the archive again";
    assert_eq!(left_out, [("a.txt".to_owned(), why.to_owned())]);
    let cut = &bytes[..bytes.len() - 30];
    assert!(
        super::members("a.zip", cut).unwrap_err().to_string().contains("its table of contents is missing or damaged")
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    /// Archives with bytes changed anywhere give members or an error sentence, and every member can be unpacked.
    #[test]
    fn changed_archives_never_panic(changes in proptest::collection::vec((0_usize..2000, proptest::num::u8::ANY), 1..12), end in 0_usize..2000) {
        let inner = zip(&[("c.txt", b"ccc"), ("d/e.md", b"# e")]);
        let bytes = zip(&[("a.txt", b"a"), ("folder/b.txt", &b"bb ".repeat(50)), ("inner.zip", &inner)]);
        let bytes = damaged(&bytes, &changes, end);
        if let Ok(found) = members("a.zip", &bytes) {
            for member in found.members.into_iter().filter(|member| member.fault.is_none()) {
                proptest::prop_assert_eq!(take("a.zip", &bytes, &member.path).unwrap().len() as u64, member.bytes);
            }
        }
    }
}
