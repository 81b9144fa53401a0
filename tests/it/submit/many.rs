//! Folders with ten thousand documents, and with names and files that are no one's documents.

use crate::{
    cli_run::TestDir,
    store::{Place, on_both},
    support::words,
};
use serde_json::{Value, json};
use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::symlink},
};

const MANY: usize = 10_000;

async fn ten_thousand_documents_are_one_submission(place: Place) {
    let dir = TestDir::new();
    for number in 0..MANY {
        let text = format!("# Contract {number}\n\nThe supplier MUST deliver {number} crates.\n");
        dir.put(&format!("contracts/{}/{number:05}.md", number % 10), text);
    }
    let submit = "./task.md --documents contracts --each --batch contracts --dedupe --json --ids --database-url";
    let ran = dir.submit(&[&words(submit)[..], &[&place.url]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    let rows = shown["manifest"].as_array().unwrap();
    assert_eq!((&shown["jobs"], &shown["queued"], rows.len()), (&json!(MANY), &json!(MANY), MANY));
    // In the order of their names, which is that of the jobs.
    assert!(rows.is_sorted_by_key(|row| row["document"].as_str().unwrap()));
    assert!(rows.is_sorted_by_key(|row| row["job"].as_str().unwrap()));
    let store = place.store().await;
    let row = store.batch("contracts").await.unwrap();
    assert_eq!((row.totals.queued, row.totals.all()), (MANY as u64, MANY as u64));
    assert_eq!(rows.last().unwrap()["document"], json!("9/09999.md"));
    // Who doesn't ask for the list is told of the batch alone, however many there are.
    let submit = "./task.md --documents contracts --each --json --database-url";
    let compact = dir.submit(&[&words(submit)[..], &[&place.url]].concat());
    let shown: Value = serde_json::from_str(&compact.stdout).unwrap();
    assert_eq!((&shown["jobs"], &shown["manifest"]), (&json!(MANY), &Value::Null));
    assert!(compact.stdout.len() < 1_000, "{}", compact.stdout);
}

on_both! {
    ten_thousand_documents_are_one_submission
}

#[test]
fn odd_files_are_named_and_harm_no_others() {
    let dir = TestDir::new();
    let place = |name: &[u8]| dir.path().join("docs").join(OsStr::from_bytes(name));
    for name in [&b"new\nline.md"[..], b"latin-\xe4.md", b"bell\x07.md", b"a:b.md", b"nul.md", b"dot.", b"-rf.md"] {
        std::fs::write(place(name), "Text.\n").unwrap();
    }
    symlink("a.md", place(b"link.md")).unwrap();
    std::fs::write(place(b"huge.md"), "").unwrap();
    std::fs::File::options().write(true).open(place(b"huge.md")).unwrap().set_len((1 << 30) + 1).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(place(b"socket")).unwrap();
    let ran = dir.submit(&["./task.md", "--documents", "docs", "--each"]);
    drop(listener);
    assert_eq!(
        ran.stderr,
        "left out: docs/a:b.md (no name for a document, because `:` stands in it: rename it)\n\
         left out: docs/bell.md (no name for a document, because it has a control character: rename it)\n\
         left out: docs/dot. (no name for a document, because \"dot.\" ends with a dot: rename it)\n\
         left out: docs/huge.md (1073741825 bytes, and a document may have 1073741824: split it)\n\
         left out: docs/latin-\u{fffd}.md (its name isn't valid UTF-8: rename it)\n\
         left out: docs/link.md (a symbolic link to a.md, not followed)\n\
         left out: docs/new line.md (no name for a document, because it has a control character: rename it)\n\
         left out: docs/nul.md (no name for a document, because \"nul.md\" is a device on Windows: rename it)\n\
         left out: docs/socket (not a regular file)\n"
    );
    let (_, entries) = dir.last();
    let labels: Vec<&str> = entries.iter().map(|entry| entry.job.label.as_str()).collect();
    assert_eq!(labels, ["-rf.md", "a.md", "b.md"]);

    // A folder whose own name can't be written down leaves nothing that a worker could be told of.
    let odd = dir.path().join(OsStr::from_bytes(b"odd\xe4"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("a.md"), "Text.\n").unwrap();
    let output = assert_cmd::Command::new(crate::cli_run::PROGRAM)
        .current_dir(dir.path())
        .env_clear()
        .args([OsStr::new("submit"), OsStr::new("./task.md"), OsStr::new("--documents"), odd.as_os_str()])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.ends_with("odd\u{fffd}/a.md (its path isn't valid UTF-8)\n"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn many_that_are_left_out_are_counted() {
    let dir = TestDir::new();
    for number in 0..15 {
        dir.put(&format!("docs/{number:02}.pdf"), "%PDF-1.7");
    }
    let ran = dir.submit(&["./task.md", "--documents", "docs", "--each"]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!((ran.code, lines.len(), lines[10]), (0, 11, "left out: 5 more"));
    assert!(lines[9].starts_with("left out: docs/09.pdf (can't be read as PDF"), "{}", lines[9]);
    assert_eq!(dir.submitted(&["./task.md", "--documents", "docs"])["left_out"].as_array().unwrap().len(), 15);
}

/// The terminal names some of them; the report's JSON has all.
#[test]
fn all_that_are_left_out_are_in_the_report() {
    let dir = TestDir::new();
    for number in 0..152 {
        dir.put(&format!("docs/{number:03}.pdf"), "%PDF-1.7");
    }
    let submitted = dir.submitted(&["./task.md", "--documents", "docs", "--each"]);
    assert_eq!(submitted["left_out"].as_array().map(Vec::len), Some(152));
    let batch = submitted["batch"].as_str().unwrap();
    let ran = dir.run_with(&[], &["report", "--batch", batch, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&report["batches"][0]["left_out_files"], &report["batches"][0]["left_out"]),
        (&json!(152), &submitted["left_out"])
    );
    let shown = |form: &str| {
        let shown = dir.run_with(&[], &["report", "--batch", batch, "--format", form]).stdout;
        (shown.matches(".pdf").count(), shown.contains("  92 more: -o report.html has them all, or .md or .json\n"))
    };
    assert_eq!([shown("text"), shown("markdown"), shown("html")], [(60, true), (152, false), (152, false)]);
}

#[test]
fn the_same_content_is_named_and_with_dedupe_done_once() {
    let dir = TestDir::new();
    dir.put("docs/c.md", std::fs::read_to_string(dir.path().join("docs/a.md")).unwrap());
    let archive = std::fs::File::create(dir.path().join("docs/pack.zip")).unwrap();
    let mut archive = zip::ZipWriter::new(archive);
    for name in ["a.md", "new.md"] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        let content = std::fs::read(dir.path().join("docs/a.md")).unwrap();
        let content = if name == "a.md" { content } else { b"# New\n\nThe keeper shall look.\n".to_vec() };
        std::io::Write::write_all(&mut archive, &content).unwrap();
    }
    archive.finish().unwrap();
    let ran = dir.submit(&["./task.md", "--documents", "docs/*", "--each"]);
    let line = "the same content: 2 documents have that of another (c.md = a.md, pack.zip/a.md = a.md)\n";
    assert!(ran.stdout.contains(line), "{}{}", ran.stdout, ran.stderr);
    let labels = || dir.last().1.into_iter().map(|entry| entry.job.label).collect::<Vec<_>>();
    assert_eq!(labels(), ["a.md", "b.md", "c.md", "pack.zip/a.md", "pack.zip/new.md"]);
    let ran = dir.submit(&["./task.md", "--documents", "docs", "--each", "--dedupe"]);
    assert_eq!(
        ran.stderr.lines().filter(|line| line.starts_with("left out")).collect::<Vec<_>>(),
        [
            format!("left out: {}/docs/c.md (the same content as a.md)", dir.path().display()),
            format!("left out: {}/docs/pack.zip/a.md (the same content as a.md)", dir.path().display()),
        ]
    );
    assert_eq!(labels(), ["a.md", "b.md", "pack.zip/new.md"]);
}
