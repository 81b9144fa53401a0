//! What people say of a result: each word is a fact with a name, the model's file stays, and a job that has ended goes on with
//! feedback or with more documents.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{TestDir, bootstrap, complete, done, next, plan, read, reply, work, write};
use serde_json::{Value, json};
use std::path::Path;

const TASK: &str = r"---
name: titles
description: A list of titles
deliverables:
  - path: output/report.json
    schema:
      type: object
      properties:
        titles: { type: array, items: { type: object, required: [text, pages], properties: { text: { type: string },
          pages: { type: integer } } } }
---
# List the titles
";
const REPORT: &str = "output/report.json";

fn titles(text: &str) -> String {
    json!({"titles": [{"text": text, "pages": 3}]}).to_string()
}

/// A round of work after the result was sent back; the plan has these phases then.
fn round(phases: &[&str], first: &[Value], text: &str) -> [Value; 2] {
    let calls = [&[write("main_plan.md", &plan(phases))], first].concat();
    [next(&calls, write(REPORT, &titles(text))), reply(&[read(REPORT), done(), complete(REPORT)])]
}

fn json_of(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn what_people_say_of_a_result_is_in_its_record() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    let mut replies =
        vec![bootstrap(&["Work"]), work(write(REPORT, &titles("A"))), reply(&[read(REPORT), done(), complete(REPORT)])];
    replies.extend(round(&["Work", "Mend"], &[], "B"));
    let read_new = json!({"read_document": {"name": "c.md"}});
    replies.extend(round(&["Work", "Mend", "Add"], &[read_new], "C"));
    dir.script("script.json", &replies);
    let ran = |words: &[&str]| dir.run_with(&[("USER", "ben")], words);
    let run = ["run", "./task.md", "-d", "docs", "-m", "scripted:script.json", "-q"];
    assert_eq!(ran(&run).code, 0);
    let workspace = dir.workspace();
    let verify = || ran(&["audit", "verify", "last"]).code;

    // Corrections, and what can't be one.
    let correct = |place: &str, value: &str| ran(&["correct", "last", place, value, "--file", REPORT]);
    assert_eq!(correct("$.titles[0].text", "An A").code, 0);
    assert_eq!(correct("$.titles[0].pages", "4").code, 0);
    for (place, value, why) in [
        ("$.titles[0].pages", "many", "$.titles[0].pages of output/report.json can't have this value: "),
        ("$.titles[1].text", "x", "there is no field $.titles[1].text in output/report.json"),
        ("$.titles[0].pages", "4", "$.titles[0].pages of output/report.json has this value already"),
    ] {
        let wrong = correct(place, value);
        assert_eq!((wrong.code, wrong.stderr.contains(why)), (2, true), "{}", wrong.stderr);
    }
    let corrected = json!({"titles": [{"text": "An A", "pages": 4}]});
    assert_eq!(json_of(workspace.join("output/report.corrected.json")), corrected);
    assert_eq!(json_of(workspace.join(REPORT)), json!({"titles": [{"text": "A", "pages": 3}]}));
    let findings = std::fs::read_to_string(workspace.join("findings.jsonl")).unwrap();
    let findings: Vec<Value> = findings.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<Value> = findings
        .iter()
        .map(|it| json!([it["id"], it["place"], it["settled"]["before"], it["settled"]["after"], it["settled"]["by"]]))
        .collect();
    assert_eq!(
        told,
        [json!(["c1", "$.titles[0].text", "A", "An A", "ben"]), json!(["c2", "$.titles[0].pages", 3, 4, "ben"])]
    );
    let approve =
        ["approve", "last", "--record", "$.titles[0]", "--file", REPORT, "--as", "Anna", "--comment", "Read."];
    assert_eq!(ran(&approve).code, 0);
    assert_eq!(ran(&["approve", "last", "--as", "Anna"]).code, 0);
    let logs = ran(&["logs", "last"]).stdout;
    for line in [
        "c1 $.titles[0].text: \"A\" was corrected to \"An A\" by ben; with all corrections in output/report.corrected.json",
        "record $.titles[0] of output/report.json approved by Anna: Read.",
        "approved by Anna",
    ] {
        assert!(logs.contains(line), "{line}\n{logs}");
    }
    assert_eq!((verify(), ran(&["show", "last", "--json"]).code), (0, 0));

    // A result that was completed is sent back: it is kept, and the next one knows the corrections.
    let ended = json_of_text(&ran(&["jobs", "--json"]).stdout)[0]["completed_at"].clone();
    assert_eq!(ran(&["feedback", "last", "Say B.", "-q"]).code, 0);
    let archived = workspace.join("archive/result-01");
    assert_eq!(json_of(archived.join("output/report.corrected.json")), corrected);
    assert_eq!(json_of(archived.join("manifest.json"))["meta"]["kind"], "result");
    assert_eq!(json_of(workspace.join(REPORT)), json!({"titles": [{"text": "B", "pages": 3}]}));
    let instructions = std::fs::read_to_string(workspace.join("instructions.md")).unwrap();
    let feedback = "\n\n## Feedback 1\n\nSay B.\n\nA person has corrected these; take them over:\n\
        - output/report.json $.titles[0].text: \"A\" was corrected to \"An A\"\n\
        - output/report.json $.titles[0].pages: 3 was corrected to 4\n";
    assert!(instructions.ends_with(feedback), "{instructions}");
    assert_eq!(std::fs::read_to_string(workspace.join("findings.jsonl")).unwrap(), "");
    let jobs = json_of_text(&ran(&["jobs", "--json"]).stdout);
    assert!(jobs[0]["status"] == "completed" && jobs[0]["completed_at"] != ended, "{jobs}");

    // Documents that come later: only they are new.
    dir.put("more/c.md", "# C\n\nA door must close.\n");
    let wrong = ran(&["add-documents", "last", "docs/a.md", "-q"]);
    let why = "error: the job has a document a.md already: name the new one otherwise\n";
    assert_eq!((wrong.code, wrong.stderr.as_str()), (2, why));
    dir.put("blank/d.md", "  \n");
    let wrong = ran(&["add-documents", "last", "blank", "-q"]);
    let why = "error: there is no new document with text that can be read\n";
    assert_eq!((wrong.code, wrong.stderr.as_str(), verify()), (2, why, 0));
    // The program is gone as soon as the documents are in the journal: the job goes on with them.
    let add = ["add-documents", "last", "more", "--as", "Anna", "-q"];
    assert_ne!(dir.run_with(&[("FAILPOINTS", "review.recorded=return")], &add).code, 0);
    let again = ran(&add).stderr;
    assert!(again.contains("it is running; `overnight resume "), "{again}");
    assert_eq!(ran(&["resume", "last", "-q"]).code, 0);
    let shown = ran(&["audit", "prompt", "last", "--turn", "6"]).stdout;
    assert!(shown.contains("Documents were added to the job:\n- c.md (3 lines)"), "{shown}");
    assert_eq!(json_of(workspace.join(REPORT)), json!({"titles": [{"text": "C", "pages": 3}]}));
    assert!(ran(&["logs", "last"]).stdout.contains("documents added by Anna: c.md"));
    let rows: Value = serde_json::from_str(&ran(&["jobs", "--json"]).stdout).unwrap();
    assert_eq!(rows[0]["documents"], 3);
    assert_eq!(verify(), 0);
    std::fs::write(workspace.join("documents/c.md"), "changed").unwrap();
    assert_eq!(verify(), 1);
    // What the journal says is enough.
    assert_eq!(ran(&["reindex"]).code, 0);
}

#[test]
fn a_corrected_quote_is_looked_for_anew() {
    let dir = TestDir::new();
    dir.put("docs/a.md", "# A\n\nThe pump must stop.\n\nThe valve must close within five seconds.\n");
    dir.put(
        "task.md",
        "---\nname: quoted\ndescription: d\ncoverage: 0\nconfidence_floor: 0.95\ndeliverables:\n  - path: output/report.json\n    quotes: { each: \"$.items[*]\", text: text, document: document }\n---\n# Task\n",
    );
    let items = json!({"items": [{"document": "a.md", "text": "The pump must stop."}]}).to_string();
    dir.script(
        "script.json",
        &[bootstrap(&["Work"]), work(write(REPORT, &items)), reply(&[read(REPORT), done(), complete(REPORT)])],
    );
    let ran = |words: &[&str]| dir.run_with(&[("USER", "ben")], words);
    // Its confidence is under the floor: it is partial, and needs a person.
    assert_eq!(ran(&["run", "./task.md", "-d", "docs", "-m", "scripted:script.json", "-q"]).code, 3);
    let needs = || json_of_text(&ran(&["report", "--json"]).stdout)["needs_person"].as_array().unwrap().len();
    assert_eq!(needs(), 1);
    let exported = |flags: &[&str]| {
        let row = json_of_text(&ran(&[&["export", "last", "--format", "jsonl"], flags].concat()).stdout);
        json!([row["check"], row["quote"], row["line_found"]])
    };
    assert_eq!(exported(&[]), json!(["found", "The pump must stop.", 3]));

    let correct = |value: &str| ran(&["correct", "last", "$.items[0].text", value]);
    let wrong = correct("The valve must open within five seconds.");
    let told = wrong.stdout.lines().nth(1).unwrap_or_default().to_owned();
    assert!(told.starts_with("its quote is not found: ") && told.contains("nearest on line 5 of a.md"), "{wrong:?}");
    for flags in [&[][..], &["--as-written"]] {
        assert_eq!(exported(flags), json!(["not_found", "The valve must open within five seconds.", null]));
    }
    assert_eq!(ran(&["review", "last", "-o", "pages"]).code, 0);
    let page = std::fs::read_dir(dir.path().join("pages")).unwrap().map(|file| file.unwrap().path());
    let page = page.filter(|file| !file.ends_with("index.html")).map(|file| std::fs::read_to_string(file).unwrap());
    let told = "its quote isn&#39;t found in a.md: &#34;The valve must open within five seconds.&#34;: nearest on line 5 of a.md";
    let page: String = page.collect();
    assert!(page.contains(told), "{page}");

    let right = correct("The valve must close within five seconds.");
    assert_eq!(right.stdout.lines().nth(1), Some("its quote is found in its document"));
    assert_eq!(exported(&[]), json!(["found", "The valve must close within five seconds.", 5]));
    // Who approves it has looked: nothing needs a person any more.
    assert_eq!(ran(&["resume", "last", "-q"]).code, 3);
    assert_eq!((ran(&["approve", "last"]).code, needs()), (0, 0));
    assert_eq!(ran(&["resume", "last", "-q"]).code, 0);
    assert_eq!(ran(&["audit", "verify", "last"]).code, 0);
}

#[test]
fn a_file_that_breaks_its_schema_is_mended_and_not_broken_further() {
    let dir = TestDir::new();
    dir.put("docs/a.md", "# A\n\nThe pump must stop.\n\nThe valve must close.\n");
    let quotes = "    quotes:\n      - { each: \"$.titles[*]\", text: text, document: document }\n      \
                  - { each: \"$.titles[*]\", text: why_quote, document: document }\n---";
    let task = TASK.replacen("\n---", &format!("\n{quotes}"), 1).replace("type: array,", "type: array, minItems: 2,");
    dir.put("task.md", task);
    let title = |text: &str, why: &str| json!({"text": text, "pages": 3, "document": "a.md", "why_quote": why});
    let one = json!({"titles": [title("The pump must stop.", "The valve must close.")]}).to_string();
    let ends = vec![reply(&[done(), complete(REPORT)]); 9];
    dir.script("script.json", &[vec![bootstrap(&["Work"]), work(write(REPORT, &one))], ends].concat());
    let ran = |words: &[&str]| dir.run_with(&[("USER", "ben")], words);
    let worked = ran(&["run", "./task.md", "-d", "docs", "-m", "scripted:script.json", "-q"]);
    assert_eq!(worked.code, 3, "{}{}", worked.stdout, worked.stderr);
    let correct = |place: &str, value: &str| ran(&["correct", "last", place, value, "--file", REPORT]);
    for (place, value, why) in [
        ("$.titles[0]", "17", "can't have this value: $.titles[0]: this value is not of type \"object\""),
        (
            "$.titles[0].pages",
            "many",
            "can't have this value: $.titles[0].pages: this value is not of type \"integer\"",
        ),
        ("$.titles[1]", "{}", "can't have this value: $.titles[1]: \"text\" is a required property"),
    ] {
        let wrong = correct(place, value);
        assert_eq!((wrong.code, wrong.stderr.contains(why)), (2, true), "{}", wrong.stderr);
    }
    let told = |place: &str, value: &str| {
        let told = correct(place, value);
        assert_eq!(told.code, 0, "{}", told.stderr);
        told.stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    // What is right is taken, and what comes of its quotes is said of each that is wrong.
    let both = ["its 2 quotes are found in their documents"];
    assert_eq!(told("$.titles[0].pages", "4"), both);
    let second = title("The valve must close.", "The pump must go.").to_string();
    let said = told("$.titles[1]", &second);
    assert_eq!(said[0], "its quote is found in its document");
    assert!(
        said[1].starts_with("why_quote is not found: \"The pump must go.\": nearest on line 3 of a.md"),
        "{said:?}"
    );
    let third = title("The pump must stop.", "The valve must close.").to_string();
    assert_eq!(told("$.titles[2]", &third), both);
    assert_eq!(ran(&["audit", "verify", "last"]).code, 0);
}

#[test]
fn a_partial_result_that_people_took_or_mended_is_not_worked_anew() {
    let dir = TestDir::new();
    let floor = "confidence_floor: 0.95\ncoverage: 0\ndeliverables:";
    dir.put("task.md", TASK.replace("deliverables:", floor));
    let listed = [json!({"list_documents": {}}), done()];
    let work = [&[write(REPORT, &titles("A")), done()][..], &listed, &listed, &listed, &listed].concat();
    let replies = [bootstrap(&["Work"]), reply(&work), reply(&[read(REPORT), done(), complete(REPORT)])];
    dir.script("script.json", &replies);
    let ran = |words: &[&str]| dir.run_with(&[("USER", "ben")], words);
    let submit = || {
        let words = "submit ./task.md -d docs --each --dedupe --json --ids -m scripted:script.json";
        json_of_text(&ran(&words.split(' ').collect::<Vec<_>>()).stdout)
    };
    let first = submit();
    let job = |n: usize| first["manifest"][n]["job"].as_str().unwrap();
    assert_eq!(ran(&["work", "--until-empty", "-q"]).code, 3);
    // As the program left them, both are partial: nobody has looked.
    let anew = submit();
    assert_eq!(anew["linked"], 0);
    for words in [
        &["cancel", anew["batch"].as_str().unwrap()][..],
        &["approve", job(0)],
        &["correct", job(1), "$.titles[0].text", "An A", "--file", REPORT],
        // The record alone tells it as well.
        &["reindex"],
    ] {
        let told = ran(words);
        assert_eq!(told.code, 0, "{words:?}: {told:?}");
    }
    let again = submit();
    let linked = |n: usize| json!([again["manifest"][n]["status"], again["manifest"][n]["linked_to"]]);
    assert_eq!([linked(0), linked(1)], [0, 1].map(|n| json!(["partial", job(n)])));
    let exported =
        ran(&["export", again["batch"].as_str().unwrap(), "--deliverable", REPORT, "--format", "jsonl"]).stdout;
    let texts: Vec<Value> = exported.lines().map(|line| json_of_text(line)["text"].clone()).collect();
    assert_eq!(texts, ["A", "An A"]);
    // What was mended and not taken needs a person still.
    let report = json_of_text(&ran(&["report", "--json"]).stdout);
    let needs = report["needs_person"].as_array().unwrap().iter().map(|need| json!([need["job"], need["commands"][0]]));
    let show = format!("overnight show {}", job(1));
    assert_eq!(needs.collect::<Vec<_>>(), [json!([job(1), show]), json!([again["manifest"][1]["job"], show])]);

    // What is said of it later holds for the job that is linked to it too, until the result is sent back.
    let batch = again["batch"].as_str().unwrap();
    let said = || {
        let report = json_of_text(&ran(&["report", batch, "--json"]).stdout);
        let of_job = |job: &Value| json!([job["approved_by"], job["corrections"]]);
        let jobs: Vec<Value> = report["jobs"].as_array().unwrap().iter().map(of_job).collect();
        (json!(jobs), report["needs_person"].as_array().unwrap().len())
    };
    assert_eq!(said(), (json!([["ben", 0], [null, 1]]), 1));
    assert_eq!(ran(&["correct", job(1), "$.titles[0].pages", "4", "--file", REPORT]).code, 0);
    assert_eq!(ran(&["approve", job(1)]).code, 0);
    assert_eq!(said(), (json!([["ben", 0], ["ben", 2]]), 0));
    let told = ran(&["show", batch]).stdout;
    assert!(told.contains("  partial       2\n  linked        2 of them done before by other jobs\n"), "{told}");
    let told = ran(&["report", batch]).stdout;
    assert!(told.contains("Linked to what was done before, and not done again: 2 jobs.\n"), "{told}");
    let told = ran(&["compare", first["batch"].as_str().unwrap(), batch]);
    assert!(told.code == 0 && told.stdout.ends_with("\nNothing has changed.\n"), "{told:?}");
    ran(&["feedback", job(1), "Say more.", "-q"]);
    assert_eq!(said().0, json!([["ben", 0], [null, 0]]));
}

#[test]
fn the_rules_read_what_is_added() {
    for (instructions, list, key, report) in [
        ("extract-requirements", "requirements.json", "requirements", "- c.md: 1 (MUST 1)"),
        ("summarize-documents", "key_points.json", "points", "## c.md"),
    ] {
        let dir = TestDir::new();
        let ran = |words: &[&str]| dir.run_with(&[], words);
        assert_eq!(ran(&["run", instructions, "-d", "docs", "-m", "offline", "-q"]).code, 0);
        let output = dir.workspace().join("output");
        let records = || json_of(output.join(list))[key].as_array().unwrap().clone();
        let before = records();
        dir.put("c.md", "# C\n\nA door must close.\n");
        let added = ran(&["add-documents", "last", "c.md", "-q"]);
        assert_eq!(added.code, 0, "{}", added.stdout);
        let after = records();
        assert_eq!(after[..before.len()], before);
        let new: Vec<&Value> = after[before.len()..].iter().map(|record| &record["quote"]).collect();
        assert_eq!(new, ["A door must close."]);
        let summary = std::fs::read_to_string(output.join("summary.md")).unwrap();
        let count = format!("\n{} entries are in output/{list}: ", after.len());
        assert!(summary.contains(report) && summary.contains(&count), "{summary}");
        assert_eq!(ran(&["audit", "verify", "last"]).code, 0);
    }
}

fn json_of_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
