//! `overnight audit export`: the ZIP that an auditor gets is whole and the same each time, its own script finds any changed
//! byte, its signature and time-stamp are those asked for, and its pages tell what the model was shown, with nothing in them
//! that runs. And damaged journals are said to be damaged.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::PROGRAM;
use overnight::audit::export::unpacked::verify_unpacked;
use overnight_core::{job::digest::sha256, message::Message};
use regex::Regex;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};
use tempfile::TempDir;

const HOSTILE: &str = "<script>alert(1)</script>";

/// A folder with a job on a hostile document, which a person corrected and approved.
struct RecordDir(TempDir);

impl RecordDir {
    fn new() -> Self {
        let dir = Self(TempDir::new().unwrap());
        fs::create_dir(dir.path("docs")).unwrap();
        let text =
            format!("# {HOSTILE}\n\nThe server MUST {HOSTILE} answer.\n\nA client <b>SHOULD</b> & \"may\" wait.\n");
        fs::write(dir.path("docs/a <b>&.md"), text).unwrap();
        let instructions =
            fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/instructions/extract-requirements.md"));
        let copied = dir.path("instructions");
        crate::support::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions"), &copied);
        let reviewed = instructions.unwrap().replacen("\n---\n", "\nreview: required\n---\n", 1);
        fs::write(copied.join("extract-requirements.md"), reviewed).unwrap();
        dir.run(4, &["run", "./instructions/extract-requirements.md", "--documents", "docs", "--quiet"]);
        let comment = format!("as said in {HOSTILE}");
        let place = "$.requirements[0].strength";
        dir.run(0, &["correct", "last", place, "SHOULD", "--as", "Ada <a@b>", "--comment", &comment]);
        dir.run(0, &["approve", "last", "--as", "Bob", "--comment", "read it all", "--quiet"]);
        dir
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: &str, words: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.0.path()).env_remove("DATABASE_URL").output().unwrap()
    }

    /// stdout and stderr of the program, which must end with `code`.
    #[track_caller]
    fn run(&self, code: i32, words: &[&str]) -> (String, String) {
        let output = self.command(PROGRAM, words);
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {stdout}{stderr}");
        (stdout, stderr)
    }

    /// Exports the job and unpacks the record.
    #[track_caller]
    fn record(&self, name: &str, more: &[&str]) -> PathBuf {
        let file = format!("{name}.zip");
        self.run(0, &[&["audit", "export", "last", "-o", &file], more].concat());
        let folder = self.path(name);
        let mut zip = zip::ZipArchive::new(fs::File::open(self.path(&file)).unwrap()).unwrap();
        zip.extract(&folder).unwrap();
        folder
    }

    fn workspace(&self) -> PathBuf {
        let shown: Value = serde_json::from_str(&self.run(0, &["show", "last", "--json"]).0).unwrap();
        PathBuf::from(shown["workspace"].as_str().unwrap())
    }
}

/// Exit code and stdout of the record's script.
fn script(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("sh").arg(folder.join("verify.sh")).args(words).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All files in `folder` and below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(|entry| entry.path().to_owned()).collect()
}

#[test]
fn any_flipped_byte_is_found_and_named_without_the_program() {
    let dir = RecordDir::new();
    let folder = dir.record("record", &[]);
    dir.run(0, &["audit", "export", "last", "-o", "again.zip"]);
    assert!(
        fs::read(dir.path("record.zip")).unwrap() == fs::read(dir.path("again.zip")).unwrap(),
        "not the same bytes"
    );
    dir.run(2, &["audit", "export", "last", "-o", "again.zip"]);
    let (code, said) = script(&folder, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ok: the journal ends with the line that the database knew last (sqlite)"), "{said}");
    assert!(said.contains("not known: who made this record: it is not signed"), "{said}");
    let alone =
        "findings.jsonl, instructions.md, main_plan.md, progress.md, todos.md, workspace.md, workspace_summary.md\n";
    assert!(said.contains(alone), "{said}");
    verify_unpacked(&folder).unwrap();
    let all = files(&folder);
    assert!(all.len() > 40, "{all:?}");
    for file in &all {
        let whole = fs::read(file).unwrap();
        let name = file.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let Some(place) = whole.len().checked_sub(1).map(|last| last / 2) else { continue };
        let mut changed = whole.clone();
        changed[place] ^= 1;
        fs::write(file, changed).unwrap();
        let (code, said) = script(&folder, &[]);
        let faults = verify_unpacked(&folder);
        fs::write(file, whole).unwrap();
        // Where the list of lists is changed, what it lists is.
        let named = if name == "seal.sha256" { "manifest.sha256" } else { &name };
        assert!(
            code != Some(0) && (name == "verify.sh" || said.contains(&format!("FAULT: {named}"))),
            "{name}: {said}"
        );
        let faults = faults.map(|_| format!("{name} passes")).unwrap_err();
        assert!(name == "seal.sha256" || faults.iter().any(|fault| fault.file == name), "{name}: {faults:?}");
    }
    fs::write(folder.join("workspace/added"), "x").unwrap();
    assert!(script(&folder, &[]).1.contains("FAULT: workspace/added: added: "));
    fs::remove_file(folder.join("workspace/added")).unwrap();
    fs::remove_file(folder.join("workspace/output/summary.md")).unwrap();
    assert!(script(&folder, &[]).1.contains("FAULT: workspace/output/summary.md: missing: "));
}

/// Of hashes such as 12e9…, which a number may look like.
#[test]
fn hashes_are_compared_as_texts() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("workspace")).unwrap();
    let script_file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/audit/export/verify.sh");
    fs::copy(script_file, dir.path().join("verify.sh")).unwrap();
    for file in ["manifest.sha256", "seal.sha256", "workspace/job.yaml"] {
        fs::write(dir.path().join(file), "").unwrap();
    }
    fs::write(dir.path().join("anchor.json"), "{}").unwrap();
    // Too large for any number, as the other sum is.
    let large = Regex::new("^[1-9][0-9]{0,9}e[1-9][0-9]{3,}$").unwrap();
    let lines = (1..).map(|n| format!(r#"{{"seq":1,"prev":"{:064}","events":[],"n":{n}"#, 0));
    let mut sums = lines.map(|line| (sha256(line.as_bytes())[..16].to_owned(), line));
    let (sum, line) = sums.find(|(sum, _)| large.is_match(sum)).unwrap();
    for (sum, is_changed) in [(sum.as_str(), false), ("12345e6789012345", true)] {
        fs::write(dir.path().join("workspace/journal.jsonl"), format!("{line},\"sum\":\"{sum}\"}}\n")).unwrap();
        let (_, said) = script(dir.path(), &[]);
        let fault = "workspace/journal.jsonl line 1: this line was changed: its own checksum is another one";
        assert_eq!(said.contains(fault), is_changed, "{said}");
    }
}

#[test]
fn a_record_without_a_database_says_what_nobody_can_tell() {
    let dir = RecordDir::new();
    let workspace = dir.workspace();
    let last = fs::read_to_string(workspace.join("journal.jsonl")).unwrap();
    let seq = &Regex::new(r#"(?m)^\{"seq":(\d+)"#).unwrap().captures_iter(&last).last().unwrap()[1].to_owned();
    let copied = format!("{}/", workspace.display());
    let (said, _) = dir.run(0, &["audit", "verify", &copied]);
    assert!(said.starts_with(&format!("ok up to line {seq}: ")), "{said}");
    assert!(
        said.ends_with(
            "; without the database nobody can tell whether lines are missing behind it, or were written anew\n"
        ),
        "{said}"
    );
    dir.run(0, &["audit", "export", &copied, "-o", "copy.zip"]);
    let mut zip = zip::ZipArchive::new(fs::File::open(dir.path("copy.zip")).unwrap()).unwrap();
    zip.extract(dir.path("copy")).unwrap();
    let (code, said) = script(&dir.path("copy"), &[]);
    let sentence =
        format!("not known: whether lines are missing behind line {seq}, or were written anew: no database was asked");
    assert!(code == Some(0) && said.contains(&sentence), "{said}");
}

#[test]
fn a_signature_counts_where_its_key_is_trusted() {
    let dir = RecordDir::new();
    for key in ["key", "other"] {
        let made = dir.command("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", key]);
        assert!(made.status.success(), "{made:?}");
        let public = fs::read_to_string(dir.path(&format!("{key}.pub"))).unwrap();
        fs::write(dir.path(&format!("{key}.signers")), format!("auditee@example.org {public}")).unwrap();
    }
    let folder = dir.record("record", &["--sign", "key"]);
    let signers = |key: &str| dir.path(&format!("{key}.signers")).display().to_string();
    let (code, said) = script(&folder, &[&signers("key")]);
    assert!(code == Some(0) && said.contains("ok: signed by auditee@example.org\n"), "{said}");
    let (code, said) = script(&folder, &[&signers("other")]);
    assert!(code == Some(1) && said.contains("FAULT: manifest.sha256.sig: no key of "), "{said}");
    let (code, said) = script(&folder, &[]);
    assert!(code == Some(0) && said.contains("ok: Good \"overnight\" signature with ED25519 key SHA256:"), "{said}");
    let (_, error) = dir.run(1, &["audit", "export", "last", "-o", "none.zip", "--sign", "docs/a <b>&.md"]);
    assert!(error.starts_with("error: ssh-keygen can't sign with docs/a <b>&.md: "), "{error}");
    assert!(!dir.path("none.zip").exists());
}

type Answer = fn(&[u8]) -> Vec<u8>;

/// A server that answers one request after the other with what `answer` makes of the hash in it.
fn time_stamp_server(answers: Vec<Answer>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let end = loop {
                let mut part = [0; 1024];
                let count = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..count]);
                let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|end| end + 4);
                if let Some(end) = end.filter(|end| request.len() >= end + 69) {
                    break end;
                }
            };
            let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
            assert!(head.contains("content-type: application/timestamp-query\r\n"), "{head}");
            let reply = answer(&request[end + 24..end + 56]);
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", reply.len()).unwrap();
            stream.write_all(&reply).unwrap();
        }
    });
    url
}

#[test]
fn a_time_stamp_is_kept_where_it_is_granted_for_this_record() {
    let dir = RecordDir::new();
    let granted = |digest: &[u8]| [&[0x30, 39, 0x30, 3, 2, 1, 0, 4, 32], digest].concat();
    let refused = |_: &[u8]| vec![0x30, 5, 0x30, 3, 2, 1, 2];
    let url = time_stamp_server(vec![granted, refused, |_| b"no time".to_vec()]);
    let folder = dir.record("record", &["--timestamp", &url]);
    assert_eq!(fs::read(folder.join("manifest.sha256.tsr")).unwrap().len(), 41);
    let (code, said) = script(&folder, &[]);
    assert!(
        code == Some(0) && said.contains("openssl ts -verify -data manifest.sha256 -in manifest.sha256.tsr"),
        "{said}"
    );
    for what in ["it refused to stamp this", "its answer is no time-stamp"] {
        let (_, error) = dir.run(1, &["audit", "export", "last", "-o", "none.zip", "--timestamp", &url]);
        assert_eq!(error, format!("error: there is no time-stamp from {url}: {what}\n"));
    }
    assert!(!dir.path("none.zip").exists());
}

#[test]
fn the_pages_tell_what_was_shown_and_by_whom_it_was_approved() {
    let dir = RecordDir::new();
    let folder = dir.record("record", &[]);
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for file in files(&folder).iter().filter(|file| !file.starts_with(folder.join("workspace"))) {
        if file.extension().is_some_and(|ending| ending == "html") {
            let name = file.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
            pages.insert(name, fs::read_to_string(file).unwrap());
        }
    }
    let first = &pages["record.html"];
    for told in [
        "<dt>Approved</dt><dd>by Bob, 20",
        ": read it all</dd>",
        "<td>Ada &#60;a@b&#62;</td>",
        "people's corrections: <a href=\"workspace/output/requirements.corrected.json\">",
        "offline (",
        " UTC</td>",
    ] {
        assert!(first.contains(told), "{told}: {first}");
    }
    let link = Regex::new(r##"href="([^"#]*)(?:#([^"]*))?""##).unwrap();
    for (name, page) in &pages {
        assert!(!page.to_lowercase().contains("<script"), "{name}");
        for found in link.captures_iter(page) {
            let target = Path::new(name).parent().unwrap().join(&found[1]);
            let target = target.to_string_lossy().replace("record/../", "");
            assert!(folder.join(&target).is_file(), "{name} links {target}");
            if let Some(anchor) = found.get(2) {
                assert!(pages[&target].contains(&format!("id=\"{}\"", anchor.as_str())), "{name} links {target}");
            }
        }
    }
    // All that stands above a turn is its prompt.
    let plain = |text: &str| {
        let text = text.replace("&#60;", "<").replace("&#62;", ">").replace("&#34;", "\"").replace("&#39;", "'");
        text.replace("&#38;", "&")
    };
    let message = Regex::new(r#"(?s)<h2 class="message"[^\n]*</h2>\n<pre>(.*?)</pre>"#).unwrap();
    let turn = Regex::new(r#"id="turn-(\d+)""#).unwrap();
    let mut turns = BTreeSet::new();
    for page in pages.iter().filter(|(name, _)| name.contains("epoch")).map(|(_, page)| page) {
        assert!(!page.contains("class=\"bad\""), "{page}");
        for found in turn.captures_iter(page) {
            let above = &page[..found.get(0).unwrap().start()];
            let shown: Vec<String> = message.captures_iter(above).map(|message| plain(&message[1])).collect();
            let (said, _) = dir.run(0, &["audit", "prompt", "last", "--turn", &found[1], "--json"]);
            let prompt: Value = serde_json::from_str(&said).unwrap();
            let messages: Vec<Message> = serde_json::from_value(prompt["messages"].clone()).unwrap();
            assert_eq!(shown.len(), messages.len());
            for (shown, message) in shown.iter().zip(&messages) {
                match message {
                    Message::System { text } | Message::User { text, .. } | Message::Tool { text, .. } => {
                        assert_eq!(shown, text);
                    }
                    Message::Assistant { text, .. } => assert!(shown.starts_with(text)),
                }
            }
            turns.insert(found[1].parse::<u64>().unwrap());
        }
    }
    let audit: Value = serde_json::from_str(&dir.run(0, &["audit", "last", "--json"]).0).unwrap();
    let all: u64 =
        audit["phases"].as_array().unwrap().iter().map(|phase| phase["spent"]["turns"].as_u64().unwrap()).sum();
    assert_eq!(turns, (1..=all).collect());
    let acts =
        audit["people"].as_array().unwrap().iter().map(|act| (act["who"].as_str().unwrap(), act["comment"].clone()));
    assert_eq!(acts.collect::<Vec<_>>()[1], ("Bob", Value::from("read it all")));
    let (shown, _) = dir.run(0, &["show", "last"]);
    assert!(shown.contains("  Bob approved the result by command: read it all\n"), "{shown}");
    let (logged, _) = dir.run(0, &["logs", "last"]);
    assert!(logged.contains(&format!("output/requirements.corrected.json: as said in {HOSTILE}\n")), "{logged}");
}

#[test]
fn a_damaged_journal_is_said_to_be_damaged() {
    let dir = RecordDir::new();
    let journal = dir.workspace().join("journal.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    let (kept, last) = whole.trim_end().rsplit_once('\n').unwrap();
    let said = |what: &str| {
        let (shown, _) = dir.run(0, &["show", "last"]);
        assert!(shown.contains(&format!("\nthe journal is damaged: {what}")), "{shown}");
        let (_, warned) = dir.run(0, &["logs", "last"]);
        assert!(warned.starts_with(&format!("warning: the journal is damaged: {what}")), "{warned}");
    };
    fs::write(&journal, format!("{kept}\n")).unwrap();
    said("it ends with line ");
    fs::write(&journal, format!("{kept}\n{}", &last[..40])).unwrap();
    said("it ends with line ");
    fs::write(&journal, format!("{kept}\n{last}\n{{\"seq\":")).unwrap();
    said("behind line ");
    let body = last.replacen("\"summary\":\"", "\"summary\":\"Not so: ", 1);
    let body = body.rsplit_once(",\"sum\"").unwrap().0.to_owned();
    let sum = &sha256(body.as_bytes())[..16];
    fs::write(&journal, format!("{kept}\n{body},\"sum\":\"{sum}\"}}\n")).unwrap();
    said("the database knows another line ");
    fs::write(&journal, whole.replacen("\"lease\":", "\"lease\": ", 1)).unwrap();
    for command in ["show", "logs"] {
        let (_, error) = dir.run(1, &[command, "last"]);
        assert!(error.starts_with("error: the journal is broken at journal.jsonl line 1: "), "{error}");
    }
}
