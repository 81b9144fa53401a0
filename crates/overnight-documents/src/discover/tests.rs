//! Whole folders in, whole lists out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::super::container::Members;
use super::super::content::{ContainerOpener, InProcess};
use super::super::error::DocumentError;
use super::super::format::ending;
use super::super::refusal::Refusal;
use super::super::source_path;
use super::{FoundDocument, FoundDocuments};
use crate::document_name::check_name;

pub(super) fn discover(paths: &[PathBuf]) -> Result<FoundDocuments, DocumentError> {
    super::discover(paths, &[], &InProcess)
}

/// A folder with the files named, each with its own name as content.
pub(super) fn folder(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    root
}

/// The result for `paths` in `root`: names, sizes and what was left out; or the error's sentence, with `root` cut out.
fn gathered(root: &tempfile::TempDir, paths: &[&str]) -> String {
    let paths: Vec<PathBuf> = paths.iter().map(|path| root.path().join(path)).collect();
    let shown = match discover(&paths) {
        Ok(FoundDocuments { documents, left_out, unfit }) => {
            let fault =
                |found: &FoundDocument| found.fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
            let documents = documents.iter().map(|found| format!("{} {}{}\n", found.name, found.bytes, fault(found)));
            let left_out = left_out.iter().map(|(path, why)| format!("left out {}: {why}\n", path.display()));
            let unfit = unfit.iter().map(|(path, why)| format!("unfit {}: {why}\n", path.display()));
            documents.chain(left_out).chain(unfit).collect()
        }
        Err(error) => error.to_string(),
    };
    shown.replace(&format!("{}/", root.path().display()), "")
}

#[test]
fn a_folder_is_walked_to_the_end() {
    let root = folder(&["in/b.md", "in/a/z.txt", "in/a/deep/er/x", "in/.git/config", "in/a/.hidden", "in/B.md"]);
    assert_eq!(gathered(&root, &["in"]), "B.md 7\na/deep/er/x 14\na/z.txt 10\nb.md 7\n");
    assert_eq!(gathered(&root, &["in/"]), gathered(&root, &["in"]));
    let one = discover(&[root.path().join("in/a")]).unwrap().documents.remove(0);
    assert_eq!((one.path, one.name.as_str()), (root.path().join("in/a/deep/er/x"), "deep/er/x"));
}

#[test]
fn only_our_own_ignore_file_counts() {
    let root = folder(&["in/a.md", "in/b.md", "in/drafts/c.md"]);
    fs::write(root.path().join("in/.gitignore"), "*.md\n").unwrap();
    fs::write(root.path().join("in/.ignore"), "*.md\n").unwrap();
    assert_eq!(gathered(&root, &["in"]), "a.md 7\nb.md 7\ndrafts/c.md 14\n");
    fs::write(root.path().join("in/.overnightignore"), "b.md\ndrafts/\n").unwrap();
    assert_eq!(gathered(&root, &["in"]), "a.md 7\n");
}

#[test]
fn files_and_folders_can_be_mixed() {
    let root = folder(&["in/a.md", "one.md", ".hidden.md"]);
    assert_eq!(gathered(&root, &["one.md", "in", ".hidden.md"]), ".hidden.md 10\na.md 7\none.md 6\n");
    assert_eq!(gathered(&root, &["in", "in/a.md"]), "a.md 7\n");
}

#[test]
fn several_folders_give_their_names() {
    let root = folder(&["x/in/a.md", "y/rules/a.md", "z/in/a.md"]);
    assert_eq!(gathered(&root, &["x/in", "y/rules"]), "in/a.md 9\nrules/a.md 12\n");
    assert_eq!(
        gathered(&root, &["x/in", "z/in"]),
        "x/in/a.md and z/in/a.md would both be called in/a.md: rename one, or give their common folder"
    );
}

#[test]
fn one_name_means_one_document() {
    let root = folder(&["in/a.md", "a.md", "x/in"]);
    assert_eq!(
        gathered(&root, &["in", "a.md"]),
        "in/a.md and a.md would both be called a.md: rename one, or give their common folder"
    );
    let root = folder(&["in/a.md", "y/b", "x/in"]);
    assert_eq!(
        gathered(&root, &["in", "y", "x/in"]),
        "x/in and in/a.md would both be called in: rename one, or give their common folder"
    );
}

#[test]
fn links_are_followed_only_where_they_are_named() {
    let root = folder(&["in/a.md", "in/.hidden.md", "in/deep/c.md", "out/b.md"]);
    let link = |name: &str, to: &str| symlink(to, root.path().join("in").join(name)).unwrap();
    link("deep/up", "../a.md");
    link("to hidden", ".hidden.md");
    link("to deep", "deep");
    link("self", ".");
    link("loop", "loop");
    link("gone", "nowhere");
    link("out folder", root.path().join("out").to_str().unwrap());
    link("out file", "../out/b.md");
    link("through", "out folder/b.md");
    link("null", "/dev/null");
    symlink("in", root.path().join("link")).unwrap();
    let expected = "a.md 7\ndeep/c.md 12\n\
        left out in/deep/up: a symbolic link to a.md, not followed\n\
        left out in/gone: a symbolic link that leads nowhere\n\
        left out in/loop: a symbolic link that leads nowhere\n\
        left out in/null: a symbolic link out of the folder, refused\n\
        left out in/out file: a symbolic link out of the folder, refused\n\
        left out in/out folder: a symbolic link out of the folder, refused\n\
        left out in/self: a symbolic link to the folder itself\n\
        left out in/through: a symbolic link out of the folder, refused\n\
        left out in/to deep: a symbolic link to deep, not followed\n\
        left out in/to hidden: a symbolic link to .hidden.md, not followed\n";
    assert_eq!(gathered(&root, &["in"]), expected);
    assert_eq!(gathered(&root, &["link"]), expected.replace("out in/", "out link/"));
    assert_eq!(gathered(&root, &["in/out file"]), "out file 8\n");
}

#[test]
fn what_takes_the_place_of_a_file_is_not_read() {
    let root = folder(&["in/a.md", "in/b.md", "secret"]);
    let found = discover(&[root.path().join("in")]).unwrap().documents;
    let content = |at: usize| found[at].content().map_err(|error| error.fragment());
    assert_eq!(content(0).unwrap(), b"in/a.md");
    for file in ["in/a.md", "in/b.md"] {
        fs::remove_file(root.path().join(file)).unwrap();
    }
    symlink("../secret", root.path().join("in/a.md")).unwrap();
    let _pipe = std::os::unix::net::UnixListener::bind(root.path().join("in/b.md")).unwrap();
    assert_eq!(content(0).unwrap_err(), "can't be read: it has become a symbolic link");
    assert!(content(1).unwrap_err().starts_with("can't be read: "));
}

#[test]
fn a_pattern_means_all_that_it_fits() {
    let root = folder(&[
        "in/a.md",
        "in/b.txt",
        "in/deep/c.md",
        "in/deep/er/d.md",
        "in/.hidden.md",
        "in/deep/ignored.md",
        "in/x[1].md",
    ]);
    fs::write(root.path().join("in/.overnightignore"), "ignored.md\n").unwrap();
    assert_eq!(gathered(&root, &["in/*.md"]), "a.md 7\nx[1].md 10\n");
    assert_eq!(gathered(&root, &["in/**/*.md"]), "a.md 7\ndeep/c.md 12\ndeep/er/d.md 15\nx[1].md 10\n");
    assert_eq!(gathered(&root, &["in/deep/**/?.md"]), "c.md 12\ner/d.md 15\n");
    assert_eq!(gathered(&root, &["in/{a,b}.*", "in/deep/**/d.md"]), "deep/er/d.md 15\nin/a.md 7\nin/b.txt 8\n");
    // Two patterns below one folder are not two folders.
    assert_eq!(gathered(&root, &["in/a.*", "./in/b*"]).replace("./", ""), "a.md 7\nb.txt 8\n");
    // A file of that name is meant literally.
    assert_eq!(gathered(&root, &["in/x[1].md"]), "x[1].md 10\n");
    assert_eq!(
        gathered(&root, &["in/*.pdf"]),
        "in/*.pdf matches no document: `*` stops at folders, which `**` goes through, and hidden files, symbolic links and what .overnightignore names don't count"
    );
    assert_eq!(gathered(&root, &["in/.h*"]), gathered(&root, &["in/*.pdf"]).replace("*.pdf", ".h*"));
    let outer = root.path().display().to_string();
    assert_eq!(
        gathered(&root, &["no/*.md"]),
        format!("no/*.md matches no document: there is no folder {outer}/no").replace(&format!("{outer}/"), "")
    );
}

#[test]
fn names_in_any_script() {
    let long = "\u{fc}".repeat(125);
    let names = [
        " a.md",
        "\u{e4}.md",
        "a\u{308}.md",
        "A.md",
        "a.md",
        "a.md ",
        "\u{5d0}\u{5d1}\u{202e}.txt",
        "\u{1f4c4}\u{fe0f}.md",
        "\u{6587}\u{4ef6}/\u{7b2c}1\u{7ae0}",
        &long,
    ];
    let root = folder(&names.map(|name| format!("in/{name}")).each_ref().map(String::as_str));
    let found = discover(&[root.path().join("in")]).unwrap().documents;
    let mut expected = names.map(str::to_owned);
    expected.sort();
    assert_eq!(found.into_iter().map(|found| found.name).collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_wrong_is_said_in_one_sentence() {
    let root = folder(&["in/.hidden", "a.md"]);
    assert_eq!(gathered(&root, &["a.md", "b.md"]), "b.md doesn't exist: check the path");
    assert_eq!(gathered(&root, &["a.md/b"]), "a.md/b doesn't exist: check the path");
    assert_eq!(
        gathered(&root, &["in"]),
        "in has no documents: hidden files and what .overnightignore names don't count; put files in it, or name them"
    );
    assert_eq!(gathered(&root, &[]), "no documents were named: give files or folders");
    let socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    assert_eq!(gathered(&root, &["socket"]), "socket is neither a file nor a folder: give a document's path");
    let surveyed = ["socket", "a.md"].map(|name| root.path().join(name));
    let surveyed = super::survey(&surveyed, &|_| true, &[], &InProcess).unwrap();
    let left_out = (root.path().join("socket"), "neither a file nor a folder".to_owned());
    assert_eq!((surveyed.documents.len(), surveyed.unfit), (1, vec![left_out]));
    drop(socket);
}

#[test]
fn a_name_that_is_not_utf_8_is_named() {
    let root = folder(&["in/a.md", "in/x.txt"]);
    fs::write(root.path().join("in").join(OsStr::from_bytes(b"b\xe4.md")), "").unwrap();
    let told = "a.md 7\nunfit in/b\u{fffd}.md: its name isn't valid UTF-8: rename it\n";
    assert_eq!(gathered(&root, &["in/*.md"]), told);
    assert_eq!(gathered(&root, &["in"]), told.replace("unfit", "x.txt 8\nunfit"));
    // Files that aren't meant are not reported.
    assert_eq!(gathered(&root, &["in/*.txt"]), "x.txt 8\n");
    let itself = discover(&[root.path().join("in").join(OsStr::from_bytes(b"b\xe4.md"))]).unwrap_err().to_string();
    assert!(itself.ends_with("in/b\u{fffd}.md isn't valid UTF-8: rename it"), "{itself}");
}

#[test]
fn a_file_that_cannot_be_opened_stops_who_named_it_alone() {
    let root = folder(&["in/a.md", "in/b.md"]);
    // The walk sees the file but opening it fails, whichever user runs the test.
    let opener = Refuses;
    fs::write(root.path().join("in/c.zip"), zip(&[("d.md", b"d")])).unwrap();
    let gathered = super::discover(&[root.path().join("in")], &[], &opener).unwrap();
    let told: Vec<(&str, bool, Option<&str>)> =
        gathered.documents.iter().map(|one| (one.name.as_str(), one.is_named, one.fault.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("a.md", false, None),
            ("b.md", false, None),
            (
                "c.zip",
                false,
                Some(
                    "an image: use a model that takes images, install tesseract and have `documents.ocr` on, or give its text"
                )
            )
        ]
    );
    let error = super::discover(&[root.path().join("in/c.zip")], &[], &opener).unwrap_err().to_string();
    assert_eq!(
        error,
        "c.zip is an image: use a model that takes images, install tesseract and have `documents.ocr` on, or give its text"
    );
    let both = super::discover(&[root.path().join("in"), root.path().join("in/b.md")], &[], &opener).unwrap();
    let named: Vec<bool> = both.documents.iter().map(|one| one.is_named).collect();
    assert_eq!(named, [false, true, false]);
    let surveyed = super::survey(&[root.path().join("in/c.zip")], &|_| true, &[], &opener).unwrap().documents;
    assert_eq!((surveyed.len(), surveyed[0].is_named), (1, true));
}

/// Opens nothing.
struct Refuses;

impl ContainerOpener for Refuses {
    fn members(&self, _: &str, _: &std::path::Path, _: u64) -> Result<Members, Refusal> {
        Err(Refusal::Image)
    }
}

#[test]
fn our_own_files_are_no_documents() {
    let root = folder(&["a.md", "work/1/job.yaml", "work/1/output/x.md", "o.db", "o.db-wal", "deep/o.db"]);
    let own = ["work", "o.db", "o.db-wal", "o.db-shm"].map(|name| root.path().join(name));
    let names = |path: &str| -> Result<Vec<String>, String> {
        let gathered = super::discover(&[root.path().join(path)], &own, &InProcess);
        let gathered =
            gathered.map_err(|error| error.to_string().replace(&root.path().display().to_string(), "ROOT"))?;
        assert_eq!(gathered.left_out, []);
        Ok(gathered.documents.into_iter().map(|found| found.name).collect())
    };
    assert_eq!(names(".").unwrap(), ["a.md", "deep/o.db"]);
    assert_eq!(names("**/*.md").unwrap(), ["a.md"]);
    // A user who names a folder or a file in them means it.
    assert_eq!(names("work/1/output").unwrap(), ["x.md"]);
    assert_eq!(names("work/*/output/*.md").unwrap(), ["1/output/x.md"]);
    assert_eq!(names("o.db").unwrap(), ["o.db"]);
    assert_eq!(
        names("work").unwrap_err(),
        "ROOT/work has no documents: it is this program's own folder: name what is meant in it"
    );
    let both = super::discover(&[root.path().join("work"), root.path().join("a.md")], &own, &InProcess).unwrap();
    assert_eq!(
        both.left_out,
        [(root.path().join("work"), "this program's own folder: name what is meant in it".to_owned())]
    );
    assert_eq!(both.documents.len(), 1);
}

#[test]
fn names_that_a_workspace_refuses_are_refused_here() {
    for (name, why) in [
        ("a:b", "`:` stands in it"),
        ("a\\b", "`\\` stands in it"),
        ("a\nb", "it has a control character"),
        ("a.", "\"a.\" ends with a dot"),
        ("x/nul.txt", "\"nul.txt\" is a device on Windows"),
        ("Com1", "\"Com1\" is a device on Windows"),
    ] {
        let root = folder(&[&format!("in/{name}")]);
        let path = root.path().join("in").join(name);
        let error = discover(std::slice::from_ref(&path)).map(|_| ()).unwrap_err().to_string();
        let own = name.rsplit('/').next().unwrap();
        assert_eq!(error, format!("{own:?} can't be a document's name, because {why}: rename it"));
        let whole = discover(&[root.path().join("in")]).unwrap();
        let unfit = (path, format!("no name for a document, because {why}: rename it"));
        assert_eq!((whole.documents, whole.unfit), (Vec::new(), vec![unfit]));
    }
    assert!(check_name(&"x".repeat(251)).is_ok() && check_name(&"x".repeat(252)).is_err());
    assert!(check_name(".text/a").is_err() && check_name("a/.text").is_ok());
    assert!(check_name("console.md").is_ok() && check_name("com10").is_ok());
}

#[test]
fn a_survey_leaves_out_what_can_be_no_document() {
    let root = folder(&["in/a.md", "in/b.txt", "in/x:y.md", "in/deep/c.md", "x/.hidden", "one.md"]);
    fs::write(root.path().join("in").join(OsStr::from_bytes(b"b\xe4.md")), "").unwrap();
    let survey = |paths: &[&str], wanted: &dyn Fn(&str) -> bool| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| root.path().join(path)).collect();
        super::survey(&paths, wanted, &[], &InProcess).map_err(|error| error.to_string()).map(|found| {
            let names: Vec<String> = found.documents.into_iter().map(|found| found.name).collect();
            let unfit: Vec<String> = found.unfit.into_iter().map(|(_, why)| why).collect();
            (names, unfit)
        })
    };
    let lists = |names: &[&str], whys: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Ok((owned(names), owned(whys)))
    };
    let not_utf_8 = "its name isn't valid UTF-8: rename it";
    let bad = "no name for a document, because `:` stands in it: rename it";
    let all = survey(&["in", "one.md"], &|_| true);
    assert_eq!(all, lists(&["a.md", "b.txt", "deep/c.md", "one.md"], &[not_utf_8, bad]));
    // Unwanted files are not reported either; a folder may be empty.
    let wanted = survey(&["in", "x", "one.md"], &|name| name.ends_with("c.md"));
    assert_eq!(wanted, lists(&["in/deep/c.md"], &[]));
    assert_eq!(survey(&["one.md"], &|_| false), lists(&[], &[]));
    // A path that was named but doesn't exist is an error.
    let text = |result: Result<_, String>| result.unwrap_err().replace(&format!("{}/", root.path().display()), "");
    assert_eq!(text(survey(&["in", "missing"], &|_| true)), "missing doesn't exist: check the path");
    assert!(text(survey(&["x"], &|_| true)).starts_with("x has no documents: "));
    fs::write(root.path().join("x/a.md"), "").unwrap();
    assert_eq!(
        text(survey(&["in/a.md", "x/a.md"], &|_| true)),
        "in/a.md and x/a.md would both be called a.md: rename one, or give their common folder"
    );
}

#[test]
fn a_document_inside_a_file_is_found_again() {
    let root = folder(&["a.zip"]);
    let inside = ["b.zip".to_owned(), "c.md".to_owned()];
    let path = root.path().join("a.zip");
    let text = source_path::source("a.zip/b.zip/c.md", path.to_str().unwrap(), &inside, None);
    let found = discover(&[PathBuf::from(text)]).unwrap().documents;
    let name = "a.zip/b.zip/c.md".to_owned();
    let expected =
        FoundDocument { path, inside: inside.to_vec(), name, bytes: 0, is_named: true, dated: None, fault: None };
    assert_eq!(found, [expected]);
}

/// A ZIP archive of these files.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn archives_are_gone_into() {
    let root = folder(&["in/a.md"]);
    let inner = zip(&[("c.md", b"see"), ("deep/d.txt", b"dee")]);
    let outer = zip(&[("x/b.md", b"be"), ("inner.zip", &inner), (".hidden", b"h"), ("../e.md", b"ee")]);
    fs::write(root.path().join("in/pack.zip"), &outer).unwrap();
    let all = "a.md 7\npack.zip/e.md 2\npack.zip/inner.zip/c.md 3\npack.zip/inner.zip/deep/d.txt 3\npack.zip/x/b.md 2\n\
               left out in/pack.zip/.hidden: hidden\n";
    assert_eq!(gathered(&root, &["in"]), all);
    assert_eq!(gathered(&root, &["in/pack.zip"]), all.replace("a.md 7\n", ""));
    assert_eq!(gathered(&root, &["in/*.zip"]), all.replace("a.md 7\n", ""));
    assert_eq!(gathered(&root, &["in/**/*.txt"]), "pack.zip/inner.zip/deep/d.txt 3\n");
    // Each is read from where it lies, also if it was given as a text.
    let found = discover(&[root.path().join("in")]).unwrap().documents;
    let texts: Vec<PathBuf> = found
        .iter()
        .map(|one| source_path::source(&one.name, one.path.to_str().unwrap(), &one.inside, None).into())
        .collect();
    let again = discover(&texts).unwrap().documents;
    let contents = |found: &[FoundDocument]| -> Vec<(String, String)> {
        let content = |one: &FoundDocument| String::from_utf8(one.content().unwrap()).unwrap();
        found.iter().map(|one| (one.name.clone(), content(one))).collect()
    };
    let expected = ["in/a.md", "ee", "see", "dee", "be"].map(str::to_owned);
    assert_eq!(contents(&found).into_iter().map(|(_, content)| content).collect::<Vec<_>>(), expected);
    assert_eq!(contents(&again), contents(&found));
}

#[test]
fn an_archive_that_cannot_be_opened_is_named() {
    let root = folder(&["in/a.md"]);
    let whole = zip(&[("b.md", &[b'x'; 5_000])]);
    fs::write(root.path().join("in/cut.zip"), &whole[..whole.len() / 2]).unwrap();
    let said = gathered(&root, &["in/cut.zip"]);
    assert!(said.starts_with("cut.zip can't be read as ") && said.lines().count() == 1, "{said}");
    // A file that was only found in a folder doesn't stop the others.
    let met = gathered(&root, &["in"]);
    assert!(met.starts_with("a.md 7\ncut.zip ") && met.contains(": can't be read as "), "{met}");
    // The same holds if it isn't meant, and in a survey.
    let passed = gathered(&root, &["in/*.md"]);
    assert!(passed.starts_with("a.md 7\nleft out in/cut.zip: can't be read as "), "{passed}");
    let found = super::survey(&[root.path().join("in/cut.zip")], &|_| true, &[], &InProcess).unwrap();
    assert!(found.documents[0].fault.is_some(), "{found:?}");
}

#[test]
fn a_survey_asks_for_members_by_their_names() {
    let root = folder(&["in/a.md"]);
    fs::write(root.path().join("in/b.zip"), zip(&[("c.md", b"c"), ("d.txt", b"d"), (".x", b"x")])).unwrap();
    let names = |wanted: &dyn Fn(&str) -> bool| {
        let found = super::survey(&[root.path().join("in")], wanted, &[], &InProcess).unwrap();
        let names: Vec<String> = found.documents.into_iter().map(|found| found.name).collect();
        (names.join(" "), found.left_out.len())
    };
    assert_eq!(names(&|name| ending(name) == "md"), ("a.md b.zip/c.md".to_owned(), 0));
    assert_eq!(names(&|name| ending(name) == "zip"), ("b.zip/c.md b.zip/d.txt".to_owned(), 1));
    assert_eq!(names(&|_| false), (String::new(), 0));
}
