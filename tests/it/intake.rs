//! What a person points the program at, as it comes: folders with broken files, odd names and the program's own work in
//! them. Nothing that is in the way of one document is in the way of others, and everything that was not read is told.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{RUN, TestDir, whole_job};
use crate::support::white_png;
use serde_json::{Value, json};
use std::{ffi::OsStr, fmt::Write, os::unix::ffi::OsStrExt};

const BROKEN: &str = "can't be read as PDF, because it is cut off before its table of objects: open it in its own program and \
                      save it again, or leave it out";

/// What a command printed with `--json`.
fn json_of(dir: &TestDir, arguments: &[&str]) -> (i32, String, Value) {
    let ran = dir.run_with(&[], &[arguments, &["--json"]].concat());
    let value = serde_json::from_str(&ran.stdout).unwrap_or(Value::Null);
    (ran.code, ran.stderr, value)
}

/// Names of the documents of the newest job.
fn documents(dir: &TestDir) -> Vec<String> {
    let (_, _, shown) = json_of(dir, &["show", "last"]);
    let documents = shown["documents"].as_array().unwrap();
    documents.iter().map(|document| document["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_file_that_cannot_be_read_stops_only_who_named_it() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    dir.put("docs/cut.pdf", "%PDF-1.7");
    dir.put("docs/empty.txt", " \n");
    dir.put("docs/song.mp3", b"ID3\0\0\0");
    let (code, stderr, result) = json_of(&dir, &RUN);
    assert_eq!(code, 0, "{stderr}");
    let song = "an audio or video file, which can't be read: give a transcript";
    let part = |name: &str, why: &str| json!({"document": name, "from": null, "to": null, "why": why, "whole": true});
    assert_eq!(
        result["not_read"],
        json!([part("cut.pdf", BROKEN), part("empty.txt", "no text in it"), part("song.mp3", song)])
    );
    assert!(stderr.starts_with(&format!("not read: cut.pdf ({BROKEN})\n")), "{stderr}");
    let shown = dir.run_with(&[], &["show", "last"]).stdout;
    assert!(shown.contains(&format!("not read: {song}")), "{shown}");
    let report = dir.run_with(&[], &["report", "--format", "markdown"]).stdout;
    assert!(report.contains("## Not read") && report.contains("song.mp3 | all of it"), "{report}");

    let named = |paths: &[&str]| {
        let ran = dir.run_with(&[], &[&["run", "./task.md", "--model", "scripted:script.json", "-d"], paths].concat());
        (ran.code, ran.stderr)
    };
    assert_eq!(named(&["docs", "docs/cut.pdf"]), (2, format!("error: cut.pdf {BROKEN}\n")));
    dir.put("bad/cut.pdf", "%PDF-1.7");
    dir.put("bad/empty.txt", " \n");
    dir.put("bad/more/song.mp3", b"ID3\0\0\0");
    dir.put("bad/more/z.txt", "");
    let all = format!(
        "error: there is no document with text that can be read: cut.pdf ({BROKEN}); empty.txt (no text in it); \
         more/song.mp3 ({song}); 1 more\n"
    );
    assert_eq!(named(&["bad"]), (2, all));
    // Nothing to read is no job, also where it was named.
    let none = "error: there is no document with text that can be read: empty.txt (no text in it)\n";
    assert_eq!(named(&["bad/empty.txt"]), (2, none.to_owned()));
}

/// Of an archive in which nothing can be read, the member and its damage are named; no job is made of it.
#[test]
fn an_archive_without_anything_readable_is_no_job() {
    let dir = TestDir::new();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("a.txt", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, b"The pump must stop.\n").unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    // Where its table of contents says that the file begins.
    let entry = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[entry + 42..entry + 46].copy_from_slice(&0x0100_0000_u32.to_le_bytes());
    dir.put("bad/wild.zip", &bytes);
    let why = "its place in the archive is wrong: pack the archive again";
    let run = ["run", "./task.md", "--model", "offline", "-d", "bad/wild.zip"];
    let ran = dir.run_with(&[], &run);
    let said = format!("error: there is no document with text that can be read: wild.zip/a.txt ({why})\n");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "", said));
    let ran = dir.run_with(&[], &["submit", "./task.md", "--model", "offline", "-d", "bad/wild.zip"]);
    let said = format!("error: there is no document that can be read: bad/wild.zip/a.txt ({why})\n");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "", said));
}

#[test]
fn one_bad_file_stops_no_submission() {
    let dir = TestDir::new();
    dir.put("docs/cut.pdf", "%PDF-1.7");
    let submit = ["submit", "./task.md", "--each", "--documents"];
    let (code, stderr, told) = json_of(&dir, &[&submit[..], &["docs/cut.pdf", "docs/a.md"]].concat());
    assert_eq!((code, &told["jobs"]), (0, &json!(1)), "{stderr}");
    assert_eq!(told["left_out"], json!([{"path": "docs/cut.pdf", "why": BROKEN}]));
    let (_, _, batch) = json_of(&dir, &["show", told["batch"].as_str().unwrap()]);
    assert_eq!(batch["left_out_files"], 1);
    let ran = dir.run_with(&[], &[&submit[..], &["docs"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\nleft out: 1 file, with the reasons in overnight report "), "{}", ran.stdout);
}

#[test]
fn an_odd_name_is_in_nobodys_way() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    for name in [&b"latin-\xe4.txt"[..], b"new\nline.txt"] {
        std::fs::write(dir.path().join("docs").join(OsStr::from_bytes(name)), "Text.\n").unwrap();
    }
    let run = |paths: &str| {
        let (code, stderr, _) = json_of(&dir, &["run", "./task.md", "--model", "scripted:script.json", "-d", paths]);
        let told: Vec<String> = stderr.lines().filter(|line| line.contains("left out")).map(str::to_owned).collect();
        (code, told)
    };
    assert_eq!(run("docs/*.md"), (0, Vec::new()));
    let told = [
        "left out: docs/latin-\u{fffd}.txt (its name isn't valid UTF-8: rename it)",
        "left out: docs/new line.txt (no name for a document, because it has a control character: rename it)",
    ];
    assert_eq!(run("docs"), (0, told.map(str::to_owned).to_vec()));
    assert_eq!(documents(&dir), ["a.md", "b.md"]);
    // Who was away that night reads it in the morning: in the result, and in the job's record.
    let quiet = dir.run_with(&[], &["run", "./task.md", "--model", "scripted:script.json", "-d", "docs", "--quiet"]);
    let said: Vec<&str> = quiet.stdout.lines().filter(|line| line.starts_with("left out")).collect();
    assert_eq!((quiet.stderr.as_str(), said), ("", told.to_vec()));
    let (_, _, shown) = json_of(&dir, &["show", "last"]);
    let names = ["docs/latin-\u{fffd}.txt", "docs/new\nline.txt"];
    let left_out: Vec<&str> =
        shown["left_out"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!((&shown["left_out_files"], left_out), (&json!(2), names.to_vec()));
    let shown = dir.run_with(&[], &["show", "last"]).stdout;
    assert_eq!(shown.matches("\n  left out      docs/").count(), 2, "{shown}");
}

#[test]
fn the_programs_own_work_is_no_document() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    let database = [("DATABASE_URL", "sqlite://night.db")];
    let run = |folder: &str| {
        let words = ["run", "./task.md", "--model", "scripted:script.json", "-d", folder];
        let ran = dir.run_with(&database, &words);
        let shown = dir.run_with(&database, &["show", "last", "--json"]).stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let names = shown["documents"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        (ran.code, ran.stderr, names.collect::<Vec<_>>())
    };
    let expected = ["docs/a.md", "docs/b.md", "script.json", "task.md"];
    for _ in 0..2 {
        let (_, stderr, names) = run(".");
        assert_eq!(names, expected, "{stderr}");
        assert!(!stderr.contains("left out"), "{stderr}");
    }
    let ran = dir.run_with(&database, &["run", "./task.md", "-d", "workspaces"]);
    let sentence = "error: workspaces has no documents: it is this program's own folder: name what \
                    is meant in it\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, sentence));
}

#[test]
fn a_report_by_rules_names_what_it_has_not_read() {
    let dir = TestDir::new();
    dir.put("docs/cut.pdf", "%PDF-1.7");
    let (code, stderr, result) = json_of(&dir, &["run", "extract-requirements", "--documents", "docs"]);
    assert_eq!(code, 0, "{stderr}");
    let workspace = result["workspace"].as_str().unwrap();
    let summary = std::fs::read_to_string(format!("{workspace}/output/summary.md")).unwrap();
    let listed = summary.lines().find_map(|line| line.strip_prefix("- Not read: cut.pdf ")).unwrap();
    assert_eq!(listed, format!("[not read: {BROKEN}]"));
    assert!(!result["summary"].as_str().unwrap().contains("read all documents"), "{}", result["summary"]);
}

/// A PDF of one page that is only an image.
pub(crate) fn scan() -> Vec<u8> {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>",
        "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>stream\nx\nendstream",
        "<</Length 5>>stream\n/I Do\nendstream",
    ];
    pdf_of(&objects)
}

/// A PDF of these objects, numbered from 1; the first is its catalogue.
pub(crate) fn pdf_of(objects: &[&str]) -> Vec<u8> {
    let count = objects.len() + 1;
    let mut file = String::from("%PDF-1.7\n");
    let mut table = format!("xref\n0 {count}\n0000000000 65535 f \n");
    for (number, object) in (1..).zip(objects) {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    format!("{file}{table}trailer<</Size {count}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF").into_bytes()
}

#[test]
fn what_failed_to_be_recognised_is_told_and_tried_again() {
    let dir = TestDir::new();
    dir.script("script.json", &whole_job());
    dir.put("docs/scan.pdf", scan());
    let program = |name: &str, body: &str| {
        use std::os::unix::fs::PermissionsExt;
        dir.put(&format!("bin/{name}"), format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(dir.path().join("bin").join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    // In the place of programs that may not be installed here.
    program("pdftotext", "exit 127");
    program("pdftoppm", "test \"$1\" = -v && echo pdftoppm 1 && exit; echo image");
    program("tesseract", "test \"$1\" = --version && echo tesseract 1 && exit; cat > /dev/null; exit 1");
    let path = format!("{}:/usr/bin:/bin", dir.path().join("bin").display());
    let run = || {
        dir.run_with(&[("PATH", &path)], &RUN);
        let shown = dir.run_with(&[], &["show", "last", "--json"]).stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let scan = shown["documents"].as_array().unwrap().iter().find(|one| one["name"] == "scan.pdf").unwrap().clone();
        (scan["gaps"].clone(), scan["notes"].clone(), scan["recognised"].clone())
    };
    let gap = json!([{"pages": {"from": 1, "to": 1}, "why": "no text on it, probably a scan"}]);
    let failed = json!(["tesseract failed (exit code 1): see that it works"]);
    assert_eq!(run(), (gap, failed, json!([])));
    program(
        "tesseract",
        "test \"$1\" = --version && echo tesseract 1 && exit; cat > /dev/null; echo The pump must stop.",
    );
    assert_eq!(run(), (json!([]), json!([]), json!([{"from": 1, "to": 1}])));
    // A picture without a character, where there is a program that looked for some.
    program("tesseract", "test \"$1\" = --version && echo tesseract 1 && exit; cat > /dev/null");
    dir.put("picture/blank.png", white_png(8, 8));
    let ran =
        dir.run_with(&[("PATH", &path)], &["run", "./task.md", "-d", "picture", "-m", "scripted:script.json", "-q"]);
    let why = "blank.png (an image in which no characters were recognised: see that tesseract works, give its text, or leave it out";
    assert!(ran.stderr.contains(why), "{ran:?}");
}
