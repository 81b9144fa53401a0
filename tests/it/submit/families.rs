//! `--each family`: documents that belong together are read by one job.

use super::{TestDir, Value, json, text, words};
use crate::store::{A, MINUTE, checkpoint, completed};
use std::fmt::Write;

const FAMILIES: [&str; 5] = ["./task.md", "--documents", "in", "--each", "family"];

/// The documents of each job, in their order.
fn jobs(submitted: &Value) -> Vec<Vec<String>> {
    let rows = submitted["manifest"].as_array().unwrap();
    let names = rows.chunk_by(|one, next| one["job"] == next["job"]);
    names.map(|rows| rows.iter().map(|row| text(&row["document"]).to_owned()).collect()).collect()
}

fn contract(dir: &TestDir, name: &str) {
    dir.put(&format!("in/{name}"), format!("# {name}\n\nThe tenant MUST pay.\n"));
}

fn mail(attached: &[(&str, &str)]) -> String {
    let mut parts = String::new();
    for (name, text) in attached {
        let head = "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment";
        write!(parts, "{head}; filename=\"{name}\"\r\n\r\n{text}\r\n").unwrap();
    }
    format!(
        "From: a@example.org\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nSee the list.\r\n{parts}--b--\r\n"
    )
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_sub_folder_a_mail_and_an_archive_are_families() {
    let dir = TestDir::new();
    for name in ["acme/contract-amendment-10.md", "acme/contract-amendment-2.md", "acme/contract.md", "lone.md"] {
        contract(&dir, name);
    }
    contract(&dir, "beta/deep/annex.md");
    contract(&dir, "beta/lease.md");
    dir.put("in/mail 7.eml", mail(&[("a.txt", "The pump must stop."), ("b.txt", "The pump may start.")]));
    dir.put("in/pack.zip", zip(&[("sub/two.md", "# Two\n\nText.\n"), ("one.md", "# One\n\nText.\n")]));
    let shown = dir.submitted(&[&FAMILIES[..], &["--trial", "2"]].concat());
    assert_eq!(
        jobs(&shown),
        [
            &["acme/contract.md", "acme/contract-amendment-2.md", "acme/contract-amendment-10.md"][..],
            &["beta/lease.md", "beta/deep/annex.md"],
            &["lone.md"],
            &["mail 7.eml", "mail 7.eml.attachments/a.txt", "mail 7.eml.attachments/b.txt"],
            &["pack.zip/one.md", "pack.zip/sub/two.md"],
        ]
    );
    assert_eq!(["jobs", "queued", "held", "documents"].map(|key| shown[key].as_u64().unwrap()), [5, 2, 3, 11]);
    let families = &shown["families"];
    assert_eq!(
        (&families["families"], &families["largest"], &families["largest_documents"]),
        (&json!(5), &json!("acme/contract.md and 2 more"), &json!(3))
    );

    // The dry run tells the same, and its estimate is that of five jobs.
    let dry = dir.submit(&[&FAMILIES[..], &["--dry-run"]].concat()).stdout;
    let line = "\ndocuments: 11 (";
    assert!(dry.contains(line), "{dry}");
    assert!(dry.contains("\nfamilies: 5 of 11 documents; the largest has 3: acme/contract.md and 2 more\n"), "{dry}");
    let turns = |arguments: &[&str]| dir.submitted(&[arguments, &["--dry-run"]].concat())["turns"].as_u64().unwrap();
    let (families, each, whole) = (turns(&FAMILIES), turns(&FAMILIES[..4]), turns(&FAMILIES[..3]));
    assert!(whole < families && families < each, "{whole} {families} {each}");
}

/// The job reads the base first, and what changed it later behind it, whatever their names sort like.
#[test]
fn a_job_has_its_family_in_order() {
    let dir = TestDir::new();
    for name in ["x/amendment 10.md", "x/amendment 9.md", "x/lease.md"] {
        contract(&dir, name);
    }
    let submitted = dir.submitted(&[&["extract-requirements"], &FAMILIES[1..]].concat());
    let ran = dir.run_with(&[], &["work", "--until-empty"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let job = text(&submitted["manifest"][0]["job"]);
    let shown = dir.run_with(&[], &["show", job, "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let names: Vec<&str> = shown["documents"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
    assert_eq!(
        (text(&shown["status"]), names),
        ("completed", vec!["x/lease.md", "x/amendment 9.md", "x/amendment 10.md"])
    );
    let prompt = dir.run_with(&[], &["audit", "prompt", job, "--turn", "1"]).stdout;
    let places: Vec<Option<usize>> = ["- x/lease.md (", "- x/amendment 9.md (", "- x/amendment 10.md ("]
        .iter()
        .map(|line| prompt.find(line))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {prompt}");
    let listed = dir.run_with(&[], &["jobs"]).stdout;
    assert!(listed.contains("x/lease.md and 2 more"), "{listed}");
}

#[test]
fn a_pattern_says_what_names_have_in_common() {
    let dir = TestDir::new();
    let names = ["Acme.md", "acme-amendment2.md", "acme_amendment10.md", "beta v2.md", "beta.md", "sub/beta.md"];
    for name in names {
        contract(&dir, name);
    }
    contract(&dir, "odd");
    let by_name = |pattern: &str| {
        jobs(&dir.submitted(&["./task.md", "--documents", "in", "--family", pattern]))
            .into_iter()
            .map(|names| names.join(" + "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        by_name(r"(.+?)[-_ ]?(amendment|nachtrag|v)?\d*\."),
        ["Acme.md + acme-amendment2.md + acme_amendment10.md", "beta.md + beta v2.md", "odd", "sub/beta.md"]
    );
    assert_eq!(by_name("^nothing()").len(), 7);
    assert_eq!(by_name("^([ab]).*[.]md$").len(), 4);
}

#[test]
fn what_a_family_can_not_be_is_said_in_one_sentence() {
    let dir = TestDir::new();
    for (arguments, sentence) in [
        (
            &["--family", ".+"][..],
            "--family '.+' has no group: put what the names of a family have in common into parentheses",
        ),
        (&["--family", "(.+"], "--family '(.+' is not a regular expression: unclosed group"),
        (
            &["--each", "document", "--family", "(.+)"],
            "--family makes one job for each family: say --each family, or leave --each out",
        ),
        (
            &["--each", "folder"],
            "invalid value 'folder' for '--each [<family>]': it stands alone or before `family`; put the instructions before it",
        ),
    ] {
        let ran = dir.submit(&[&["./task.md", "--documents", "docs"], arguments].concat());
        assert!(ran.stderr.starts_with(&format!("error: {sentence}\n")), "{arguments:?}: {}", ran.stderr);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    }
    // Without a value it is what it was.
    let each = dir.submitted(&["./task.md", "--each", "--documents", "docs"]);
    assert_eq!((jobs(&each).len(), &each["families"]), (2, &Value::Null));
    assert_eq!(jobs(&dir.submitted(&["./task.md", "--each=document", "--documents", "docs"])).len(), 2);
}

#[test]
fn a_family_is_the_same_where_all_its_documents_are() {
    let dir = TestDir::new();
    for (name, text) in
        [("a/1.md", "One."), ("a/2.md", "Two."), ("b/x.md", "Two."), ("b/y.md", "One."), ("c/1.md", "One.")]
    {
        dir.put(&format!("in/{name}"), text);
    }
    let dedupe = [&FAMILIES[..], &["--dedupe"]].concat();
    let first = dir.submitted(&dedupe);
    assert_eq!(jobs(&first), [&["a/1.md", "a/2.md"][..], &["c/1.md"]]);
    let left_out: Vec<&str> = first["left_out"].as_array().unwrap().iter().map(|file| text(&file["why"])).collect();
    assert_eq!(left_out, ["the same content as a/2.md", "the same content as a/1.md"]);
    super::wait(async {
        let store = dir.store().await;
        for job in store.claim_next(A, "here", 2, MINUTE).await.unwrap() {
            store.checkpoint(job.id, job.lease, &checkpoint(completed())).await.unwrap();
        }
    });
    // Of what was done before, a family that has changed is done anew, as a whole.
    dir.put("in/a/3.md", "Three.");
    let second = dir.submitted(&dedupe);
    assert_eq!((&second["linked"], &second["queued"]), (&json!(1), &json!(2)));
    assert_eq!(jobs(&second), [&["a/1.md", "a/2.md", "a/3.md"][..], &["b/x.md", "b/y.md"], &["c/1.md"]]);
}

#[test]
fn a_pattern_that_takes_part_of_a_mail_names_the_rest() {
    let dir = TestDir::new();
    dir.put("in/m.eml", mail(&[("a.md", "# A\n\nThe pump must stop.\n"), ("b.txt", "Terms.")]));
    dir.put("in/n.eml", mail(&[("c.txt", "Terms.")]));
    let told = |arguments: &[&str]| -> (Vec<String>, Vec<String>) {
        let shown = dir.submitted(&[&["./task.md", "--each", "family"], arguments].concat());
        let left_out = shown["left_out"].as_array().unwrap();
        let why = "its name doesn't fit the pattern, that of another part of the mail does";
        assert!(left_out.iter().all(|file| text(&file["why"]) == why), "{left_out:?}");
        let place = |file: &Value| dir.masked(text(&file["path"]), "no batch", &[]);
        (jobs(&shown).concat(), left_out.iter().map(place).collect())
    };
    let whole = ["m.eml", "m.eml.attachments/a.md", "m.eml.attachments/b.txt"].map(str::to_owned).to_vec();
    assert_eq!(told(&["--documents", "in", "--glob", "m.eml"]), (whole.clone(), vec![]));
    assert_eq!(told(&["--documents", "in/m*"]), (whole, vec![]));
    let rest = ["in/m.eml", "in/m.eml/b.txt"].map(str::to_owned).to_vec();
    let taken = vec!["m.eml.attachments/a.md".to_owned()];
    assert_eq!(told(&["--documents", "in", "--glob", "*.md"]), (taken.clone(), rest.clone()));
    assert_eq!(told(&["--documents", "in/**/*.md"]), (taken, rest));
}

#[test]
fn a_closing_job_and_a_schedule_take_families() {
    let dir = TestDir::new();
    contract(&dir, "a/1.md");
    contract(&dir, "a/2.md");
    let shown = dir.submitted(
        &[&["extract-requirements", "--batch", "night", "--then", "summarize-documents"], &FAMILIES[1..]].concat(),
    );
    assert_eq!((&shown["then"], &shown["jobs"]), (&json!("summarize-documents"), &json!(1)));
    let ran = dir.run_with(&[], &["work", "--until-empty"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let listed = dir.run_with(&[], &["jobs", "--batch", "night, then"]).stdout;
    assert!(listed.contains("a/1.md and 1 more/requirements.json"), "{listed}");
    let add = words("schedule add families 0_22_*_*_* --timezone UTC -- ./task.md --documents in --each family");
    let add: Vec<String> = add.iter().map(|word| word.replace('_', " ")).collect();
    let ran = dir.run_with(&[], &add.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

fn set_day(dir: &TestDir, name: &str, seconds: u64) {
    let file = std::fs::File::options().write(true).open(dir.path().join(name)).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
}

/// What came later is told by days that were taken when the batch was submitted, and only of families.
#[test]
fn the_documents_of_a_family_have_their_days() {
    let dir = TestDir::new();
    let texts = [("x/lease.md", 1_700_000_000), ("x/amendment 1.md", 1_760_000_000), ("lone.md", 1_700_000_000)];
    for (name, seconds) in texts {
        contract(&dir, name);
        set_day(&dir, &format!("in/{name}"), seconds);
    }
    let sent = mail(&[("a.txt", "The pump must stop.")]);
    dir.put("in/mail.eml", format!("Date: Mon, 2 Feb 2026 23:30:00 -0500\r\n{sent}"));
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, day) in [("old.md", 3), ("new.md", 14)] {
        let time = zip::DateTime::from_date_and_time(2025, 6, day, 12, 0, 0).unwrap();
        let options = zip::write::SimpleFileOptions::default().last_modified_time(time);
        archive.start_file(name, options).unwrap();
        std::io::Write::write_all(&mut archive, format!("# {name}\n\nThe pump must stop.\n").as_bytes()).unwrap();
    }
    dir.put("in/pack.zip", archive.finish().unwrap().into_inner());

    let submitted = dir.submitted(&[&["extract-requirements"], &FAMILIES[1..]].concat());
    let each = dir.submitted(&["extract-requirements", "--documents", "in/x", "--each"]);
    for (name, _) in texts {
        set_day(&dir, &format!("in/{name}"), 1_770_000_000);
    }
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let days = |batch: &Value| -> Vec<String> {
        let mut jobs: Vec<&str> = batch["manifest"].as_array().unwrap().iter().map(|row| text(&row["job"])).collect();
        jobs.dedup();
        let prompts = jobs.iter().map(|job| dir.run_with(&[], &["audit", "prompt", job, "--turn", "1"]).stdout);
        let lines = prompts.flat_map(|prompt| {
            let of_documents = prompt.lines().filter(|line| line.starts_with("- ") && line.contains(" tokens"));
            of_documents.map(str::to_owned).collect::<Vec<_>>()
        });
        let told = lines.map(|line| {
            let (name, facts) = line[2..].split_once(" (").unwrap();
            let day = facts.split_once(", dated ").map_or("none", |(_, day)| day.trim_end_matches(')'));
            format!("{name}: {day}")
        });
        told.collect()
    };
    assert_eq!(
        days(&submitted),
        [
            "lone.md: none",
            "mail.eml: 2026-02-02",
            "mail.eml.attachments/a.txt: none",
            "pack.zip/new.md: 2025-06-14",
            "pack.zip/old.md: 2025-06-03",
            "x/lease.md: 2023-11-14",
            "x/amendment 1.md: 2025-10-09",
        ]
    );
    assert_eq!(days(&each), ["amendment 1.md: none", "lease.md: none"]);
}
