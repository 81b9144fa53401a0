//! Documents are read in processes of their own: what a document does to its reader costs that document, or that page, and
//! never the job, the worker or the batch. The misbehaviour is put into the real reader by a failpoint.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{PROGRAM, TestDir};
use overnight_core::job::spec::{DocumentEntry, JobSpec};
use serde_json::Value;
use std::{fs, os::unix::process::ExitStatusExt, process::Command};

/// So many pages, each with one sentence that the rules find, and one byte that is no UTF-8: what is UTF-8 needs no reader.
fn pages(count: usize) -> Vec<u8> {
    const ACTS: [&str; 12] = [
        "open the gate",
        "count the crates",
        "weigh each load",
        "sign the list",
        "lock the vault",
        "ring the bell",
        "feed the dog",
        "read the meter",
        "sweep the yard",
        "close the hatch",
        "log the hour",
        "call the guard",
    ];
    let pages = ACTS[..count].iter().map(|act| format!("The keeper MUST {act}.")).collect::<Vec<_>>().join("\n\u{c}");
    [b"# Caf\xe9\n\n", pages.as_bytes()].concat()
}

/// Runs a job on `docs/keeper.txt`, with a reader that misbehaves as `how` says; what its record says of the document.
fn read_with(dir: &TestDir, how: &str) -> Result<(DocumentEntry, Vec<u64>), String> {
    let failpoints = format!("extraction.page={how}");
    let ran = dir.run_with(
        &[("FAILPOINTS", &failpoints)],
        &["run", "extract-requirements", "--documents", "docs/keeper.txt", "--json", "--quiet"],
    );
    if ran.code != 0 {
        return Err(format!("{} {}", ran.code, ran.stderr.trim()));
    }
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let workspace = std::path::Path::new(result["workspace"].as_str().unwrap());
    let spec: JobSpec = serde_yaml::from_str(&fs::read_to_string(workspace.join("job.yaml")).unwrap()).unwrap();
    let found: Value =
        serde_json::from_str(&fs::read_to_string(workspace.join("output/requirements.json")).unwrap()).unwrap();
    let pages = found["requirements"].as_array().unwrap().iter().map(|one| one["page"].as_u64().unwrap()).collect();
    Ok((spec.documents[0].clone(), pages))
}

fn dir(count: usize) -> TestDir {
    let dir = TestDir::new();
    dir.put("docs/keeper.txt", pages(count));
    dir
}

#[test]
fn a_page_that_its_reader_falls_on_is_a_gap_and_the_others_are_read() {
    for (how, why) in [
        ("loop", "reading it took more than 2 s of processor time"),
        ("memory", "its reader needed more than 1 GiB of memory"),
        ("stack", "it is nested too deeply"),
        ("exit", "its reader ended without a word"),
        ("abort", "its reader was ended by signal 6"),
    ] {
        let (document, pages) = read_with(&dir(5), &format!("2*off->1*return({how})")).unwrap();
        let gaps: Vec<String> = document.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, [format!("page 3: {why}")], "{how}");
        assert_eq!((document.units, document.paged, pages), (5, true, vec![1, 2, 4, 5]), "{how}");
    }
}

#[test]
fn a_reader_that_falls_again_and_again_is_given_up() {
    let (document, pages) = read_with(&dir(12), "1*off->return(abort)").unwrap();
    let gaps: Vec<String> = document.gaps.iter().map(ToString::to_string).collect();
    let why = "its reader was ended by signal 6";
    let fell = [2, 4, 6, 8, 10].map(|page| format!("page {page}: {why}"));
    let rest = format!("pages 11-12: given up after 5 pages on which {why}");
    assert_eq!((gaps, pages), ([&fell[..], &[rest]].concat(), vec![1, 3, 5, 7, 9]));
    // Nothing was read: there is no job.
    let none = format!(
        "2 error: there is no document with text that can be read: keeper.txt (pages 1-5: {why}): save it again in its own program, give its text, or install tesseract for scans"
    );
    assert_eq!(read_with(&dir(5), "return(abort)"), Err(none));
}

#[test]
fn a_document_that_takes_too_much_is_to_be_split() {
    let said = "2 error: keeper.txt can't be read, because its reader needed more than 1 GiB of memory: split it, or leave it \
                out";
    assert_eq!(read_with(&dir(1), "return(memory)"), Err(said.to_owned()));
}

#[test]
fn what_was_read_once_is_not_read_again() {
    let dir = dir(5);
    let first = read_with(&dir, "off").unwrap();
    // Any reader that was begun now would fall.
    assert_eq!(read_with(&dir, "return(abort)").unwrap(), first);
    dir.put("docs/keeper.txt", pages(6));
    assert!(read_with(&dir, "return(abort)").is_err());
}

#[test]
fn a_document_that_cannot_be_read_is_left_out_of_a_batch_with_its_reason() {
    let dir = dir(1);
    let ran = dir.run_with(
        &[("FAILPOINTS", "extraction.page=return(abort)")],
        &["submit", "extract-requirements", "--documents", "docs/keeper.txt", "--each", "--batch", "none"],
    );
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (
            2,
            "",
            "error: there is no document that can be read: docs/keeper.txt (can't be read, because its reader was ended by \
             signal 6: open it in its own program and save it again, or leave it out)\n"
        )
    );
}

#[test]
fn a_document_without_pages_has_one_limit() {
    let question = r#"{"request":"read","name":"document.txt","after":0,"left_ms":1000}"#;
    let mut reader = Command::new(PROGRAM);
    reader.args(["extract-document", question]).env("FAILPOINTS", "extraction.page=return(loop)");
    let ended = assert_cmd::Command::from_std(reader).write_stdin("One caf\u{e9}.").output().unwrap();
    let told = String::from_utf8(ended.stdout).unwrap();
    let lines: Vec<&str> =
        told.lines().map(|line| line.split_once(",\"used_ms\"").map_or(line, |(head, _)| head)).collect();
    assert_eq!(
        (ended.status.signal(), lines),
        (
            // Its processor time is over.
            Some(24),
            vec![r#"{"message":"format","format":"text","reader":"plain"}"#, r#"{"message":"begin","page":1"#]
        )
    );
}
