//! Golden sets, and candidates that are evaluated by them.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{TestDir, bootstrap, done, reply, work};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

const TASK: &str = r"---
name: leases
description: The terms of a lease
coverage: 0
deliverables:
  - path: output/lease.json
    schema:
      type: object
      properties:
        tenant: { type: string }
        rent: { type: number }
        terms: { type: array, items: { type: object, properties: { year: { type: integer } } } }
---
# Task

Record the terms.
";

/// What every run of a script finds.
fn found(rent: u64) -> Value {
    json!({"tenant": "Ann", "rent": rent, "terms": [{"year": 1}, {"year": 2}]})
}

/// A folder with two scripts that find different rents, and the task.
pub(crate) fn ground() -> TestDir {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    for (name, rent) in [("good", 100), ("poor", 90)] {
        let write = json!({"write_file": {"path": "output/lease.json", "content": found(rent).to_string()}});
        let complete =
            json!({"job_complete": {"summary": "All.", "deliverables": ["output/lease.json"], "confidence": 0.9}});
        let last = [&vec![done(); 5][..], &[complete]].concat();
        dir.script(&format!("{name}.json"), &[bootstrap(&["Reading"]), work(write), reply(&last)]);
    }
    dir
}

/// `cases` leases in a folder from outside; of one in four the tenant is somebody else, and of one a record is missing.
fn benchmark(dir: &TestDir, cases: usize) {
    for number in 0..cases {
        let tenant = if number % 4 == 3 { "Bo" } else { "Ann" };
        let mut right = found(100);
        right["tenant"] = json!(tenant);
        if number == 0 {
            right["terms"] = json!([{"year": 2}, {"year": 3}, {"year": 1}]);
        }
        dir.put(
            &format!("bench/documents/lease-{number:02}.md"),
            format!("# Lease {number}\n\nThe tenant is {tenant}.\n"),
        );
        dir.put(&format!("bench/expected/lease-{number:02}.json"), right.to_string());
    }
}

fn evaluated(dir: &TestDir, more: &[&str]) -> (i32, Value) {
    let words = ["eval", "gold", "--instructions", "task.md", "-q", "--json"];
    let ran = dir.run(&[&words[..], more].concat());
    assert!(ran.stdout.starts_with('{'), "{}{}", ran.stdout, ran.stderr);
    (ran.code, serde_json::from_str(&ran.stdout).unwrap())
}

fn jobs(dir: &TestDir) -> Vec<Value> {
    serde_json::from_str(&dir.run(&["jobs", "--json", "-q"]).stdout).unwrap()
}

const BOTH: [&str; 2] = ["-m", "scripted:good.json,scripted:poor.json"];

#[test]
fn candidates_are_compared_by_a_set_from_outside() {
    let dir = ground();
    benchmark(&dir, 12);
    let added = dir.run(&["gold", "add", "bench"]);
    assert_eq!((added.code, &*added.stdout), (0, "12 cases added; gold has 12 cases\n"), "{}", added.stderr);
    let (code, evaluation) = evaluated(&dir, &[&BOTH[..], &["--out", "results", "--junit", "tests.xml"]].concat());
    assert_eq!(code, 0);
    // Of each lease the tenant, the rent and two years; of the first one a third year, which nobody has found.
    let share = |right: f64, total: f64| json!([right / total, right, total]);
    let scores: Vec<Value> = evaluation["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["name"], [one["score"]["value"], one["score"]["right"], one["score"]["total"]]]))
        .collect();
    assert_eq!(scores, [json!(["task+good", share(45.0, 49.0)]), json!(["task+poor", share(33.0, 49.0)])]);
    let fields: BTreeMap<String, Value> = evaluation["candidates"][1]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| (field["field"].as_str().unwrap().to_owned(), json!([field["right"], field["total"]])))
        .collect();
    let expected = [("$.rent", [0.0, 12.0]), ("$.tenant", [9.0, 12.0]), ("$.terms[*].year", [24.0, 25.0])];
    assert_eq!(fields, expected.map(|(field, counts)| (field.to_owned(), json!(counts))).into());
    let list = &evaluation["candidates"][0]["lists"][0];
    assert_eq!(
        json!([list["list"], list["expected"], list["found"], list["paired"], list["precision"]]),
        json!(["$.terms", 25, 24, 24, 1.0])
    );
    let difference = &evaluation["comparisons"][0];
    assert_eq!(json!([difference["verdict"], difference["documents"]]), json!(["worse", 12]));
    assert!(difference["p"].as_f64().unwrap() < 0.001 && difference["high"].as_f64().unwrap() < 0.0, "{difference}");
    let pairings = &evaluation["candidates"][0]["pairings"];
    let pairs: Vec<Value> =
        pairings[0]["pairs"].as_array().unwrap().iter().map(|pair| json!([pair["expected"], pair["found"]])).collect();
    assert_eq!((pairs, &pairings[0]["missing"]), (vec![json!([0, 1]), json!([2, 0])], &json!([1])));
    let wrong: Vec<Value> = evaluation["candidates"][0]["wrong"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| {
            json!([cell["case"], cell["expected_path"], cell["expected"], cell["found"], cell["source"]["quote"]])
        })
        .collect();
    assert_eq!(wrong[0], json!(["lease-00", "$.terms[1].year", 3, null, null]));
    assert_eq!(wrong[1..].iter().map(|cell| cell[0].clone()).collect::<Vec<_>>(), ["lease-03", "lease-07", "lease-11"]);
    assert_eq!(wrong[1], json!(["lease-03", "$.tenant", "Bo", "Ann", null]), "too short to be looked for");

    // What was written.
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    let result: Value = serde_json::from_str(&read("results/results/task+poor/1/lease-05.json")).unwrap();
    assert_eq!(result, found(90));
    assert_eq!(serde_json::from_str::<Value>(&read("results/report.json")).unwrap(), evaluation);
    let xml = read("tests.xml");
    assert!(
        xml.contains("<testsuite name=\"task+good\" tests=\"12\" failures=\"4\" errors=\"0\" skipped=\"0\">"),
        "{xml}"
    );
    let page = read("results/page.html");
    assert!(
        page.contains("task+poor is worse than task+good") && page.contains("<code>$.terms[1].year</code>"),
        "{page}"
    );

    // Nothing is run again; a further case is run alone, and a report of the night knows nothing of it.
    assert_eq!(jobs(&dir).len(), 24);
    let (_, again) = evaluated(&dir, &BOTH);
    assert_eq!((again["candidates"].clone(), jobs(&dir).len()), (evaluation["candidates"].clone(), 24));
    benchmark(&dir, 13);
    assert_eq!(dir.run(&["gold", "add", "bench"]).stdout, "1 case added, 12 again; gold has 13 cases\n");
    evaluated(&dir, &BOTH);
    let linked = jobs(&dir).iter().filter(|job| job["same_as"].is_string()).count();
    assert_eq!((jobs(&dir).len(), linked), (50, 24));
    let report: Value = serde_json::from_str(&dir.run(&["report", "--json", "-q"]).stdout).unwrap();
    assert_eq!(report["jobs"], json!([]));
}

#[test]
fn a_pipeline_fails_where_it_has_become_worse() {
    let dir = ground();
    benchmark(&dir, 12);
    dir.run(&["gold", "add", "bench"]);
    let (code, baseline) = evaluated(&dir, &["-m", "scripted:good.json", "--fail-under", "0.9"]);
    assert_eq!(code, 0);
    dir.put("baseline.json", baseline.to_string());
    let (code, now) = evaluated(&dir, &["-m", "scripted:poor.json", "--against", "baseline.json"]);
    assert_eq!((code, &now["against"][0]["verdict"]), (3, &json!("worse")));
    assert_eq!(evaluated(&dir, &["-m", "scripted:poor.json", "--fail-under", "0.9"]).0, 3);
    assert_eq!(evaluated(&dir, &["-m", "scripted:good.json", "--against", "baseline.json"]).0, 0);
    dir.put("baseline.json", "{}");
    let ran = dir.run(&["eval", "gold", "--instructions", "task.md", "--against", "baseline.json"]);
    let told = "error: --against baseline.json: it is no evaluation: missing field `version` at line 1 column 2\n";
    assert_eq!((ran.code, &*ran.stderr), (2, told));
}

#[test]
fn cases_that_are_kept_back_are_used_when_that_is_asked_for_and_counted() {
    let dir = ground();
    benchmark(&dir, 10);
    let added = dir.run(&["gold", "add", "bench", "--hold-out", "0.3", "--seed", "7"]);
    assert_eq!(added.stdout, "10 cases added; gold has 10 cases, 3 kept back\n");
    let names = |evaluation: &Value| -> Vec<String> {
        let cases = evaluation["candidates"][0]["cases"].as_array().unwrap();
        cases.iter().map(|case| case["case"].as_str().unwrap().to_owned()).collect()
    };
    let (_, usual) = evaluated(&dir, &BOTH[..]);
    assert_eq!((names(&usual).len(), &usual["hold_out_uses"]), (7, &json!(0)));
    for uses in 1..=2 {
        let (_, kept) = evaluated(&dir, &[&BOTH[..], &["--hold-out"]].concat());
        assert_eq!((names(&kept).len(), &kept["hold_out_uses"]), (3, &json!(uses)));
        assert!(names(&kept).iter().all(|name| !names(&usual).contains(name)));
    }
    // Those that are kept back stay so.
    benchmark(&dir, 14);
    assert_eq!(dir.run(&["gold", "add", "bench"]).stdout, "4 cases added, 10 again; gold has 14 cases, 4 kept back\n");
    let (_, more) = evaluated(&dir, &[&BOTH[..], &["--hold-out"]].concat());
    assert_eq!(names(&more).len(), 4);
}

#[test]
fn approved_jobs_are_cases_with_their_corrections_and_their_runs_are_not_paid_again() {
    let dir = ground();
    for name in ["a", "b", "c"] {
        dir.put(&format!("docs/{name}.md"), format!("# {name}\n\nThe rent is 100.\n"));
    }
    dir.run(&["submit", "task.md", "-d", "docs", "--each", "--batch", "night", "-m", "scripted:good.json"]);
    dir.run(&["work", "--until-empty", "-q"]);
    let ids: BTreeMap<String, String> = jobs(&dir)
        .iter()
        .map(|job| (job["label"].as_str().unwrap().to_owned(), job["id"].as_str().unwrap().to_owned()))
        .collect();
    let said = dir.run(&["correct", &ids["b.md"], "$.rent", "120", "--file", "output/lease.json", "--as", "anna"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for name in ["a.md", "b.md"] {
        assert_eq!(dir.run(&["approve", &ids[name], "--as", "anna"]).code, 0);
    }
    let added = dir.run(&["gold", "add", "night"]);
    assert_eq!((added.code, &*added.stdout), (3, "2 cases added; gold has 2 cases\n"));
    assert_eq!(added.stderr, "left out: c.md (nobody has approved it)\n");
    let right: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path().join("gold/expected/b.json")).unwrap()).unwrap();
    assert_eq!(right, found(120));
    let listed = dir.run(&["gold", "list", "--json", "-q"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(json!([listed[1]["name"], listed[1]["approved"]["by"]]), json!(["b", "anna"]));

    dir.put("other.md", TASK.replace("Record the terms.", "Record the terms, whatever they are."));
    let (_, evaluation) = evaluated(&dir, &["--instructions", "other.md", "-m", "scripted:good.json"]);
    let before = jobs(&dir).len();
    let linked = jobs(&dir).iter().filter(|job| job["same_as"].is_string()).count();
    assert_eq!((before, linked), (7, 2), "two of the first candidate are taken from the record");
    let wrong = |candidate: usize| {
        let cells = evaluation["candidates"][candidate]["wrong"].as_array().unwrap();
        cells.iter().map(|cell| json!([cell["case"], cell["field"], cell["found"]])).collect::<Vec<_>>()
    };
    assert_eq!(wrong(0), [json!(["b", "$.rent", 100])]);
    assert_eq!(wrong(0), wrong(1));
}

#[test]
fn a_set_says_what_no_longer_holds() {
    let dir = ground();
    benchmark(&dir, 3);
    dir.put("bench/schema.json", r#"{"type": "object", "properties": {"rent": {"type": "number"}}}"#);
    dir.put("bench/expected/lease-01.json", r#"{"rent": "much"}"#);
    dir.put("bench/expected/other.json", "{}");
    let added = dir.run(&["gold", "add", "bench"]);
    assert_eq!((added.code, &*added.stderr), (3, "left out: expected/other.json (there is no document of its name)\n"));
    let checked = dir.run(&["gold", "check"]);
    assert_eq!(checked.code, 3);
    assert!(checked.stdout.starts_with("lease-01: expected/lease-01.json: schema: "), "{}", checked.stdout);
    assert!(checked.stdout.ends_with("2 of 3 cases hold\n"), "{}", checked.stdout);
    assert_eq!(dir.run(&["gold", "correct", "gold", "lease-01", "$.rent", "100", "--as", "bo"]).code, 0);
    assert_eq!(dir.run(&["gold", "correct", "gold", "lease-01", "$.rent", "7"]).code, 0);
    assert_eq!(dir.run(&["gold", "drop", "gold", "lease-02"]).stdout, "1 case dropped, 2 left\n");
    assert!(!dir.path().join("gold/expected/lease-02.json").exists());
    let ran = dir.run(&["gold", "drop", "gold", "lease-02"]);
    let told = "error: no case is called lease-02: `overnight gold list` names them\n";
    assert_eq!((ran.code, &*ran.stderr), (2, told));
    let set = std::fs::read_to_string(dir.path().join("gold/gold.yaml")).unwrap();
    dir.put("other/gold.yaml", set.replace("expected/lease-00.json", "../task.md"));
    let ran = dir.run(&["gold", "drop", "other", "lease-00"]);
    let told = "error: other/gold.yaml: '../task.md' leads out of the set: files are named within it\n";
    assert_eq!((ran.code, &*ran.stderr), (2, told));
    let ran = dir.run(&["eval", "nowhere", "--instructions", "task.md"]);
    let told =
        "error: nowhere is no golden set, because there is no gold.yaml in it: make one with `overnight gold add`\n";
    assert_eq!((ran.code, &*ran.stderr), (2, told));
}

#[test]
fn a_judge_is_asked_where_a_set_names_one_and_once() {
    let dir = ground();
    benchmark(&dir, 4);
    dir.run(&["gold", "add", "bench"]);
    let file = dir.path().join("gold/gold.yaml");
    let set = std::fs::read_to_string(&file).unwrap();
    let judge = r#"fields: { "$.tenant": { compare: text, judge: true } }"#;
    std::fs::write(
        &file,
        format!("{set}{judge}\njudge: {{ model: 'scripted:judge.json', rubric: Any tenant will do. }}\n"),
    )
    .unwrap();
    dir.script("judge.json", &[json!({"text": "Yes, that is a tenant too."})]);
    let right = |evaluation: &Value| evaluation["candidates"][0]["score"]["right"].clone();
    let good = ["-m", "scripted:good.json"];
    let (_, evaluation) = evaluated(&dir, &good);
    assert_eq!(right(&evaluation), json!(16.0), "of 17, the year that is missing is nobody's to judge");
    let verdicts = std::fs::read_to_string(dir.path().join("gold/verdicts.jsonl")).unwrap();
    let verdict: Value = serde_json::from_str(verdicts.trim()).unwrap();
    assert_eq!(
        json!([verdict["field"], verdict["expected"], verdict["found"], verdict["is_right"], verdict["words"]]),
        json!(["$.tenant", "Bo", "Ann", true, "Yes, that is a tenant too."])
    );
    dir.script("judge.json", &[json!({"text": "No."})]);
    assert_eq!(right(&evaluated(&dir, &good).1), json!(16.0));
    assert_eq!(std::fs::read_to_string(dir.path().join("gold/verdicts.jsonl")).unwrap(), verdicts);
}

/// Killed again and again, an evaluation goes on with what is there.
#[test]
fn an_evaluation_that_is_killed_goes_on() {
    let dir = ground();
    benchmark(&dir, 12);
    dir.run(&["gold", "add", "bench"]);
    let words = [&["eval", "gold", "--instructions", "task.md", "-q"][..], &BOTH[..]].concat();
    for after in [300, 500, 700, 900] {
        dir.killed_after(&words, Duration::from_millis(after));
    }
    let (code, evaluation) = evaluated(&dir, &BOTH);
    let scores: Vec<&Value> =
        evaluation["candidates"].as_array().unwrap().iter().map(|one| &one["score"]["right"]).collect();
    assert_eq!((code, scores), (0, vec![&json!(45.0), &json!(33.0)]));
    assert_eq!(jobs(&dir).len(), 24);
}

#[test]
fn nothing_outside_of_a_set_is_read_or_written() {
    let dir = ground();
    dir.put("secret.md", "# Secret\n");
    dir.put("docs/a.md", "# A\n\nThe rent is 100.\n");
    std::os::unix::fs::symlink(dir.path().join("secret.md"), dir.path().join("docs/link.md")).unwrap();
    dir.put("truth.csv", "file,rent\na.md,100\n../secret.md,1\n..,1\nlink.md,1\n,7\nb.md\n");
    let added = dir.run(&["gold", "add", "truth.csv", "--documents", "docs"]);
    let told = "left out: row 6 (it names no document)\n\
         left out: row 7 (it has 1 cells, and there are 2 columns)\n\
         left out: .. (there is no such document in docs)\n\
         left out: ../secret.md (there is no such document in docs)\n\
         left out: link.md (there is no such document in docs)\n";
    assert_eq!((added.code, &*added.stdout, &*added.stderr), (3, "1 case added; gold has 1 case\n", told));
    let set = std::fs::read_to_string(dir.path().join("gold/gold.yaml")).unwrap();
    dir.put("gold/gold.yaml", set.replace("name: a\n", "name: ../../a\n"));
    let ran = dir.run(&["eval", "gold", "--instructions", "task.md", "-m", "scripted:good.json", "-o", "results"]);
    let told = "error: gold/gold.yaml: '../../a' can't be the name of a case: letters, digits, '-', '_' and '.' can\n";
    assert_eq!((ran.code, &*ran.stderr), (2, told));
    dir.put("gold/gold.yaml", &set);
    let document = std::fs::read_dir(dir.path().join("gold/documents")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(document.join("a.md"), "# A\n\nThe rent is 7.\n").unwrap();
    let ran = dir.run(&["eval", "gold", "--instructions", "task.md", "-m", "scripted:good.json"]);
    assert!(ran.code == 2 && ran.stderr.contains("it is not the file that was added"), "{}", ran.stderr);
}

#[test]
fn two_cases_with_one_long_name_are_told_apart() {
    let dir = ground();
    let name = "lease-".repeat(15);
    for (at, end) in ["x", "y"].iter().enumerate() {
        dir.put(&format!("bench/documents/{name}{end}.md"), format!("# {at}\n"));
        dir.put(&format!("bench/expected/{name}{end}.json"), "{}");
    }
    assert_eq!(dir.run(&["gold", "add", "bench"]).stdout, "2 cases added; gold has 2 cases\n");
    assert_eq!(dir.run(&["gold", "check"]).stdout, "2 of 2 cases hold\n");
}

#[test]
fn what_people_said_of_a_set_holds_when_a_case_comes_again() {
    let dir = ground();
    dir.put("bench/documents/a/lease.md", "# Lease\n");
    dir.put("bench/documents/b/lease.md", "# Lease\n");
    dir.put("bench/documents/c.md", "# C\n");
    for (name, rent) in [("a", 1), ("b", 2), ("c", 3)] {
        dir.put(&format!("bench/expected/{name}.json"), format!(r#"{{"rent": {rent}, "tenant": "Ann"}}"#));
    }
    let added = dir.run(&["gold", "add", "bench"]);
    let told = "left out: b (its documents are those of a, which was added just now)\n";
    assert_eq!((&*added.stdout, &*added.stderr), ("2 cases added; gold has 2 cases\n", told));
    assert_eq!(dir.run(&["gold", "correct", "gold", "c", "$.rent", "100"]).code, 0);
    assert_eq!(dir.run(&["gold", "correct", "gold", "a", "$.tenant", "Bo"]).code, 0);
    let missed = dir.run(&["gold", "correct", "gold", "c", "$.rant", "7"]);
    assert_eq!(
        (missed.code, &*missed.stderr),
        (2, "error: there is no value at $.rant of c: look into gold/expected/c.json\n")
    );
    // Of a the benchmark has mended something else by itself.
    dir.put("bench/expected/a.json", r#"{"rent": 1, "tenant": "Cy"}"#);
    dir.run(&["gold", "add", "bench"]);
    let right = |name: &str| -> Value {
        let path = dir.path().join(format!("gold/expected/{name}.json"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    assert_eq!([right("a"), right("c")], [json!({"rent": 1, "tenant": "Cy"}), json!({"rent": 100, "tenant": "Ann"})]);
}

#[test]
fn what_can_not_be_looked_at_is_missing_and_not_wrong() {
    let dir = ground();
    benchmark(&dir, 3);
    dir.run(&["gold", "add", "bench"]);
    // Named twice: the same runs.
    let (code, twice) = evaluated(&dir, &["-m", "scripted:good.json,scripted:good.json"]);
    assert_eq!((code, jobs(&dir).len()), (0, 3));
    assert_eq!(twice["candidates"][0]["score"], twice["candidates"][1]["score"]);
    dir.put("baseline.json", twice.to_string().replace("lease-", "other-"));
    let (code, apart) = evaluated(&dir, &["-m", "scripted:good.json", "--against", "baseline.json"]);
    assert_eq!((code, apart.get("against")), (4, None));
    let workspaces = dir.path().join("workspaces");
    let delivered = jobs(&dir)[0]["id"].as_str().unwrap().to_owned();
    std::fs::write(workspaces.join(&delivered).join("output/lease.json"), r#"{"rent": 7}"#).unwrap();
    std::fs::remove_dir_all(workspaces.join(jobs(&dir)[1]["id"].as_str().unwrap())).unwrap();
    let (code, evaluation) = evaluated(&dir, &["-m", "scripted:good.json", "--out", "results"]);
    let candidate = &evaluation["candidates"][0];
    assert_eq!(
        (code, candidate["failed"].as_array().unwrap().len(), candidate["cases"].as_array().unwrap().len()),
        (4, 0, 1)
    );
    let why: Vec<&str> =
        candidate["missing"].as_array().unwrap().iter().map(|run| run["why"].as_str().unwrap()).collect();
    assert!(why.contains(&"output/lease.json is not as the job left it"), "{why:?}");
    let page = std::fs::read_to_string(dir.path().join("results/page.html")).unwrap();
    assert!(!page.contains("Every value is right"), "{page}");
}
