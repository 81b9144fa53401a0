//! Whole folders in, whole lists out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::*;

/// A folder with the files named, each with its own name as content.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    root
}

/// What `paths` in `root` give: names and sizes and what was left out; or the error's sentence, with `root` cut out.
fn gathered(root: &tempfile::TempDir, paths: &[&str]) -> String {
    let paths: Vec<PathBuf> = paths.iter().map(|path| root.path().join(path)).collect();
    let shown = match gather(&paths) {
        Ok(Gathered { documents, left_out }) => {
            let documents = documents.iter().map(|found| format!("{} {}\n", found.name, found.bytes));
            let left_out = left_out.iter().map(|(path, why)| format!("left out {}: {why}\n", path.display()));
            documents.chain(left_out).collect()
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
    let one = gather(&[root.path().join("in/a")]).unwrap().documents.remove(0);
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
    let root = folder(&["in/a.md", "out/b.md"]);
    symlink(root.path().join("out"), root.path().join("in/folder")).unwrap();
    symlink(root.path().join("out/b.md"), root.path().join("in/file")).unwrap();
    symlink(root.path().join("in"), root.path().join("link")).unwrap();
    let expected =
        "a.md 7\nleft out in/file: a symbolic link, not followed\nleft out in/folder: a symbolic link, not followed\n";
    assert_eq!(gathered(&root, &["in"]), expected);
    assert_eq!(gathered(&root, &["link"]), expected.replace("out in/", "out link/"));
    assert_eq!(gathered(&root, &["in/file"]), "file 8\n");
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
    drop(socket);
}

#[test]
fn a_name_that_is_not_utf_8_is_named() {
    let root = folder(&["in/a.md"]);
    fs::write(root.path().join("in").join(OsStr::from_bytes(b"b\xe4.md")), "").unwrap();
    assert_eq!(gathered(&root, &["in"]), "the name of in/b\u{fffd}.md isn't valid UTF-8: rename it");
}

#[test]
fn names_that_a_workspace_refuses_are_refused_here() {
    for (name, why) in [
        ("a:b", "it has a :"),
        ("a\\b", "it has a \\"),
        ("a\nb", "it has a control character"),
        ("a.", "\"a.\" ends with a dot"),
        ("x/nul.txt", "\"nul.txt\" is a device on Windows"),
        ("Com1", "\"Com1\" is a device on Windows"),
    ] {
        let root = folder(&[&format!("in/{name}")]);
        assert_eq!(gathered(&root, &["in"]), format!("{name:?} can't be a document's name, because {why}: rename it"));
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
        survey(&paths, wanted).map_err(|error| error.to_string()).map(|found| {
            let names: Vec<String> = found.documents.into_iter().map(|found| found.name).collect();
            let left_out: Vec<String> = found.left_out.into_iter().map(|(_, why)| why).collect();
            (names, left_out)
        })
    };
    let lists = |names: &[&str], whys: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Ok((owned(names), owned(whys)))
    };
    let not_utf_8 = "its name isn't valid UTF-8: rename it";
    let bad = "no name for a document, because it has a :: rename it";
    let all = survey(&["in", "one.md"], &|_| true);
    assert_eq!(all, lists(&["a.md", "b.txt", "deep/c.md", "one.md"], &[not_utf_8, bad]));
    // What isn't wanted is not told of either, where its name can be read; a folder may have nothing.
    let wanted = survey(&["in", "x", "one.md"], &|name| name.ends_with("c.md"));
    assert_eq!(wanted, lists(&["in/deep/c.md"], &[not_utf_8]));
    assert_eq!(survey(&["one.md"], &|_| false), lists(&[], &[]));
    // What was asked for by its own name, and isn't there, is a mistake.
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
fn a_path_may_carry_a_name() {
    let root = folder(&["in/a.md", "b.md"]);
    let named = |name: &str, path: &str| PathBuf::from(source::source(name, root.path().join(path).to_str().unwrap()));
    let called = |paths: &[PathBuf]| -> Result<Vec<String>, DocumentError> {
        Ok(gather(paths)?.documents.into_iter().map(|found| found.name).collect())
    };
    assert_eq!(called(&[named("x/b.md", "in/a.md"), named("b.md", "b.md")]).unwrap(), ["b.md", "x/b.md"]);
    assert_eq!(called(&[named("of in", "in"), named("b.md", "b.md")]).unwrap(), ["b.md", "of in/a.md"]);
    for bad in ["../a.md", "/a.md", "", "a//b", "a\nb"] {
        assert!(matches!(called(&[named(bad, "in/a.md")]), Err(DocumentError::BadName { .. })), "{bad:?}");
    }
    assert!(matches!(called(&[named("a.md", "b.md"), named("a.md", "in/a.md")]), Err(DocumentError::SameName { .. })));
}
