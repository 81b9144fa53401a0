//! What makes a beginning easy: `init`, manual pages, completions; and what scripts are told of pause, cancel and retry.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{Ran, TestDir},
    commands::tree,
};
use serde_json::{Value, json};

const REPORT: [&str; 7] =
    ["init", "--task", "Say what these texts demand of whom.", "--documents", "docs", "--model", "offline"];

fn text(dir: &TestDir, path: &str) -> String {
    std::fs::read_to_string(dir.path().join(path)).unwrap()
}

#[test]
fn a_task_is_made_tried_and_never_overwritten() {
    let dir = TestDir::new();
    dir.put("docs/c.md", "# C\n\nAll MUST come.\n");
    dir.put("docs/d.md", "# D\n\nEveryone MUST stay.\n");
    let ran = dir.run_with(&[], &REPORT);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Three documents were tried, and there are four.
    let told = ran.stderr.lines().find(|line| line.contains("as the trial went, all 4 documents take about ")).unwrap();
    let job: Value = serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap();
    let tokens = (job["tokens_in"].as_u64().unwrap() + job["tokens_out"].as_u64().unwrap()) * 4 / 3;
    let tokens = format!("{}.{}k tokens, ", tokens / 1_000, tokens % 1_000 / 100);
    assert!(told.contains(&tokens) && told.ends_with(", one after the other"), "{told}");
    let made = ["instructions/say-what-these-texts.md", "instructions/schemas/say-what-these-texts.schema.json"];
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], format!("written: {}, {}, overnight.yaml", made[0], made[1]));
    assert!(lines[1].ends_with(": completed"), "{lines:?}");
    let next: Vec<&str> = lines.iter().skip_while(|line| **line != "next:").copied().collect();
    let submit = "  overnight submit say-what-these-texts --documents docs --each --batch say-what-these-texts";
    assert_eq!(next[3..5], [format!("{submit} --dry-run    # what it may cost").as_str(), submit]);
    // What it says next works, and what it wrote is sound.
    let words: Vec<&str> = submit.split_whitespace().skip(1).collect();
    for words in [&words[..], &["work", "--until-empty"], &["doctor"], &["man", "man"]] {
        let ran = dir.run_with(&[], words);
        assert_eq!(ran.code, 0, "{words:?} {ran:?}");
    }
    let page = text(&dir, "man/overnight-init.1");
    assert!(page.contains(".SH SYNOPSIS") && page.contains("\n.nf\n  overnight init   "), "{page}");
    let before = tree(&dir);
    let again = dir.run_with(&[], &REPORT);
    assert!(again.code == 2 && again.stderr.contains(".md is there already, and nothing is overwritten"), "{again:?}");
    assert_eq!(tree(&dir), before);
}

#[test]
fn records_have_the_fields_that_were_named() {
    let dir = TestDir::new();
    let task = ["--task", "Find every \"duty\": who, what?", "--documents", "docs", "--name", "duties"];
    let fields =
        ["--fields", "who, due date:date?, amount:money, kind:a|b, rows:lines(day:date)", "--model", "offline"];
    // The rules of the offline model can't do it: that isn't tried.
    let ran = dir.run_with(&[], &[&["init", "new", "--one-per-document"], &task[..], &fields].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("no trial: the rules of offline can't find fields") && ran.stdout.contains("next:"),
        "{ran:?}"
    );
    let task = text(&dir, "new/instructions/duties.md");
    let front = "---\nname: duties\ndescription: \"Find every \\\"duty\\\": who, what?\"\n";
    assert!(task.starts_with(front) && task.contains("\n- `due_date`: a date, as"), "{task}");
    let schema: Value = serde_json::from_str(&text(&dir, "new/instructions/schemas/duties.schema.json")).unwrap();
    let item = &schema["properties"]["records"]["items"];
    assert_eq!(item["required"], json!(["who", "due_date", "amount", "kind", "rows", "quote", "document", "page"]));
    assert_eq!(
        [&item["properties"]["due_date"], &item["properties"]["amount"], &item["properties"]["kind"]],
        [
            &json!({"type": ["string", "null"], "format": "date"}),
            &json!({"type": "number"}),
            &json!({"enum": ["a", "b"]})
        ]
    );
    assert_eq!(schema["properties"]["records"]["minItems"], 1);
    let rule =
        "      - { rule: \"unique(records.map(r, r.document))\", message: a document has more than one record }\n";
    assert!(task.contains(rule) && task.contains("exactly one record for each document."), "{task}");
    // Another task in the same folder; the settings stay.
    let settings = text(&dir, "new/overnight.yaml") + "# mine\n";
    dir.put("new/overnight.yaml", &settings);
    let other = ["--task", "Find each name.", "--documents", "docs", "--fields", "name", "--model", "offline"];
    let ran = dir.run_with(&[], &[&["init", "new"], &other[..]].concat());
    let written = "written: new/instructions/find-each-name.md, new/instructions/schemas/find-each-name.schema.json\n";
    assert!(ran.code == 0 && ran.stdout.starts_with(written), "{ran:?}");
    assert_eq!(text(&dir, "new/overnight.yaml"), settings);
}

#[test]
fn each_field_may_have_its_quote() {
    let dir = TestDir::new();
    // Among the documents, which its own files are not.
    let words = ["init", "docs/task", "--task", "Record each text.", "--documents", "docs", "--model", "offline"];
    let fields = ["--fields", "title, year:integer", "--quote-each-field", "--no-trial"];
    assert_eq!(dir.run_with(&[], &[&words[..], &fields].concat()).code, 0);
    let task = text(&dir, "docs/task/instructions/record-each-text.md");
    let rules = "    quotes:\n      - { each: \"$.records[*]\", text: quote, document: document, page: page, carries: [] }\n      \
                 - { each: \"$.records[*]\", text: title_quote, document: document }\n      \
                 - { each: \"$.records[*]\", text: year_quote, document: document, carries: [year] }\n";
    assert!(task.contains(rules) && task.contains("\n- `year_quote`: the place"), "{task}");
    let schema = text(&dir, "docs/task/instructions/schemas/record-each-text.schema.json");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let required = json!(["title", "title_quote", "year", "year_quote", "quote", "document", "page"]);
    assert_eq!(schema["properties"]["records"]["items"]["required"], required);
    let jobs = |config: &[&str]| {
        let words = ["submit", "summarize-documents", "--documents", "docs", "--each", "--dry-run", "--json"];
        let ran = dir.run_with(&[], &[&words[..], config].concat());
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["jobs"].clone()
    };
    let with_task = jobs(&["--config", "docs/task/overnight.yaml"]);
    std::fs::remove_dir_all(dir.path().join("docs/task")).unwrap();
    assert_eq!(with_task, jobs(&[]));
}

#[test]
fn nothing_is_written_after_a_mistake() {
    let dir = TestDir::new();
    let before = tree(&dir);
    for (words, why) in [
        (&["--documents", "docs"][..], "--task is missing: name it, or answer the questions on a terminal"),
        (&["--task", "Find.", "--documents", "nowhere"], "--documents 'nowhere' names nothing that is there"),
        (
            &["--task", "Find.", "--documents", "docs", "--fields", "a, a_quote", "--quote-each-field"],
            "--quote-each-field makes a field 'a_quote', which is there already",
        ),
    ] {
        let ran = dir.run_with(&[], &[&["init"], words].concat());
        assert_eq!(ran, Ran { code: 2, stdout: String::new(), stderr: format!("error: {why}\n") });
    }
    let ran = dir.run_with(&[], &["init", "--task", "Find.", "--documents", "docs", "--model", "openai:gpt-6-sol"]);
    assert!(ran.code == 2 && ran.stderr.contains("OPENAI_API_KEY") && ran.stderr.contains("--no-trial"), "{ran:?}");
    assert_eq!(tree(&dir), before);
}

#[test]
fn a_shell_completes_jobs_batches_and_instructions() {
    let dir = TestDir::new();
    let completed = |words: &[&str]| {
        let index = (words.len() - 1).to_string();
        let asked = [("_OVERNIGHT_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", index.as_str()), ("_CLAP_IFS", "\n")];
        let ran = dir.run_with(&asked, &[&["--"], words].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.stdout.lines().map(str::to_owned).filter(|word| !word.starts_with('-')).collect::<Vec<_>>()
    };
    let before = tree(&dir);
    assert_eq!(completed(&["overnight", "show", ""]), [""; 0]);
    assert_eq!(completed(&["overnight", "run", "extract-r"]), ["extract-requirements"]);
    assert_eq!(tree(&dir), before);
    let submit = ["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", "night", "--json"];
    let batch: Value = serde_json::from_str(&dir.run_with(&[], &submit).stdout).unwrap();
    let jobs: Value = serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap();
    let ids = jobs.as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned());
    let newest: Vec<String> = ["night".to_owned(), "last".to_owned()].into_iter().chain(ids).collect();
    assert_eq!(completed(&["overnight", "show", ""]), newest);
    assert_eq!(completed(&["overnight", "report", "--batch", "ni"]), ["night"]);
    let script = dir.run_with(&[], &["completions", "bash"]).stdout;
    assert!(script.contains("_OVERNIGHT_COMPLETE=\"bash\"") && !script.contains("/overnight"), "{script}");
    // Requests say in numbers what came of them.
    let told = |words: &[&str]| -> Value {
        let ran = dir.run_with(&[], &[words, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let (batch, job) = (&batch["batch"], &newest[2]);
    assert_eq!(told(&["cancel", job])["done"], 1);
    let message = "batch 'night': 1 job is held (paused); `overnight resume night` goes on";
    let paused = json!({"request": "pause", "job": null, "batch": batch, "done": 1, "asked": 0, "message": message});
    assert_eq!(told(&["pause", "night"]), paused);
    // Also that it is nothing.
    for (request, named, ids, why) in [
        ("retry", job.as_str(), [&json!(job), &Value::Null], format!("job {job} has not failed: it is cancelled")),
        ("pause", "night", [&Value::Null, batch], "nothing of batch 'night' can be paused: its jobs are ".to_owned()),
    ] {
        let ran = dir.run_with(&[], &[request, named, "--json"]);
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        let message = said["message"].as_str().unwrap();
        assert!(ran.code == 2 && message.starts_with(&why) && ran.stderr == format!("error: {message}\n"), "{ran:?}");
        let nothing =
            json!({"request": request, "job": ids[0], "batch": ids[1], "done": 0, "asked": 0, "message": message});
        assert_eq!(said, nothing);
    }
}
