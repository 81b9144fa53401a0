//! Proof of completeness: sub-agents, the second reader, the verifier, with scripts for each of their models.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{Ran, TestDir, done, reply, write},
    support::copy,
};
use overnight_core::answer;
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path};

const RECORDS: usize = 60;

/// What the runner tells a sub-agent, a second reader and a verifier first.
const SUB_AGENT: &str = include_str!("../../instructions/runner/sub_agent.md");
const SECOND_READER: &str = include_str!("../../instructions/runner/second_reader.md");
const VERIFIER: &str = include_str!("../../instructions/runner/verifier.md");

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap()
}

/// Instructions for a list of rules; `more` is put into the front matter.
fn task(more: &str) -> String {
    format!(
        r#"---
name: rules
deliverables:
  - path: output/rules.json
    schema: {{ type: object, properties: {{ rules: {{ type: array, items: {{ type: object, required: [quote, document] }} }} }} }}
    quotes: {{ each: "$.rules[*]", text: quote, document: document }}
{more}
---
List every rule.
"#
    )
}

fn record(number: usize) -> Value {
    json!({"quote": format!("Rule {number:02}: the keeper must do it."), "document": "rules.md"})
}

fn add(path: &str, numbers: impl IntoIterator<Item = usize>) -> Value {
    json!({"add_records": {"path": path, "records": numbers.into_iter().map(record).collect::<Vec<_>>()}})
}

fn read() -> Value {
    json!({"read_document": {"name": "rules.md"}})
}

fn complete() -> Value {
    json!({"job_complete": {"summary": "All rules.", "deliverables": ["output/rules.json"], "confidence": 0.9}})
}

fn settle(id: &str) -> Value {
    json!({"settle_finding": {"id": id, "reason": "It stands there."}})
}

/// A folder with 60 rules in one document, and the instructions with `more`.
fn place(more: &str) -> TestDir {
    let dir = TestDir::new();
    let rules: Vec<String> = (1..=RECORDS).map(|number| record(number)["quote"].as_str().unwrap().to_owned()).collect();
    dir.put("rules/rules.md", format!("# Rules\n\n{}\n", rules.join("\n\n")));
    dir.put("prompts/checker.md", "You check what you are given.\n");
    dir.put("prompts/rubric.md", "Each rule is a rule.\n");
    dir.put("rules.yaml.md", task(more));
    dir
}

/// The replies up to the claim: a plan, the records `numbers`, and the claim.
fn first_reader(numbers: impl IntoIterator<Item = usize>) -> Vec<Value> {
    let plan = "# Execution Plan\n\n## Overview\n\nOne phase.\n\n## Phase 1: Listing\n\n- [ ] Read the rules\n- [ ] List them\n";
    vec![
        reply(&[write("main_plan.md", plan), read()]),
        reply(&[add("output/rules.json", numbers), done(), done(), done(), done(), complete()]),
    ]
}

fn second_reader(numbers: impl IntoIterator<Item = usize>) -> Vec<Value> {
    vec![reply(&[read()]), reply(&[add("output/rules.json", numbers), report("All were read.")])]
}

fn report(text: &str) -> Value {
    json!({"report": {"text": text}})
}

fn run(dir: &TestDir) -> Ran {
    dir.run_with(&[], &["run", "./rules.yaml.md", "-d", "rules", "-m", "scripted:first.json", "-q"])
}

fn show(dir: &TestDir) -> Value {
    serde_json::from_str(&dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap()
}

/// The findings of the only job: id, kind, the number of the rule, and how each was settled.
fn findings(dir: &TestDir) -> Vec<(String, String, String, String)> {
    let text = std::fs::read_to_string(dir.workspace().join("findings.jsonl")).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or("open").to_owned();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|it| {
            (word(&it["id"]), word(&it["kind"]), word(&it["quote"])[5..7].to_owned(), word(&it["settled"]["how"]))
        })
        .collect()
}

const SECOND: &str = "second_reader: { deliverable: output/rules.json, model: \"scripted:second.json\" }";

#[test]
fn two_readers_find_what_one_has_missed() {
    let dir = place(SECOND);
    let mut replies = first_reader(11..=RECORDS);
    let settled: Vec<Value> = (11..=18).map(|number| settle(&format!("r{number}"))).collect();
    let mended = [&[add("output/rules.json", 1..=10)], &settled[..], &[complete()]].concat();
    replies.push(reply(&mended));
    dir.script("first.json", &replies);
    dir.script("second.json", &second_reader((1..=20).chain(29..=RECORDS)));
    let ran = run(&dir);
    assert_eq!(ran.code, 0, "{ran:?}");
    let missing = (1..=10).map(|number| (format!("r{number}"), "missing", number, "added"));
    let unconfirmed = (21..=28)
        .zip(11..)
        .map(|(rule, number): (usize, u32)| (format!("r{number}"), "unconfirmed", rule, "explained"));
    let expected: Vec<_> = missing
        .chain(unconfirmed)
        .map(|(id, kind, rule, how)| (id, kind.to_owned(), format!("{rule:02}"), how.to_owned()))
        .collect();
    assert_eq!(findings(&dir), expected);
    let proof = &show(&dir)["proof"];
    let comparison = &proof["reading"]["comparison"];
    assert_eq!(
        [&comparison["first"], &comparison["second"], &comparison["both"]],
        [50, 52, 42].map(|n| json!(n)).each_ref()
    );
    let bound = |name: &str| comparison["estimate"][name].as_f64().unwrap();
    assert!(bound("low") <= 60.0 && 60.0 <= bound("high") && (bound("records") - 61.86).abs() < 0.01, "{comparison}");
    let counts = json!({"added": 10, "dropped": 0, "explained": 8, "judged_again": 0, "open": 0});
    assert_eq!(proof["reading"]["findings"], counts);
    let list: Value =
        serde_json::from_slice(&std::fs::read(dir.workspace().join("output/rules.json")).unwrap()).unwrap();
    assert_eq!(list["rules"].as_array().unwrap().len(), RECORDS);
    // The second reader was told nothing of the first one's work.
    let turns: Vec<Value> = serde_json::from_str(&dir.run_with(&[], &["audit", "last", "--json"]).stdout)
        .map(|audit: Value| audit["phases"].as_array().unwrap().clone())
        .unwrap();
    assert!(!turns.is_empty());
    let prompt = dir.run_with(&[], &["audit", "prompt", "last", "--turn", "4"]).stdout;
    let begin = first_line(SECOND_READER);
    let words = [begin, "output/rules.json", "add_records", "All rules.", "main_plan", "Rule 60"];
    assert_eq!(words.map(|word| prompt.contains(word)), [true, true, true, false, false, true], "{prompt}");
    assert_eq!(dir.run_with(&[], &["audit", "verify", "last"]).code, 0);
}

#[test]
fn a_result_whose_findings_nobody_settles_is_partial() {
    for (tolerance, code) in [(17, 3), (18, 0)] {
        let dir = place(&SECOND.replace(" }", &format!(", tolerance: {tolerance} }}")));
        let mut replies = first_reader(11..=RECORDS);
        replies.push(reply(&[complete()]));
        dir.script("first.json", &replies);
        dir.script("second.json", &second_reader((1..=20).chain(29..=RECORDS)));
        let ran = run(&dir);
        assert_eq!(ran.code, code, "{ran:?}");
        let shown = show(&dir);
        assert_eq!(shown["proof"]["reading"]["findings"]["open"], 18);
        if code == 3 {
            assert_eq!(shown["reason"], "findings are open: 18 of the second reading; findings.jsonl has them");
        }
    }
}

#[test]
fn a_verifier_rejects_once_and_then_accepts() {
    let dir = place("verify: { rubric: prompts/rubric.md, model: \"scripted:judge.json\" }");
    let mut replies = first_reader(2..=RECORDS);
    replies.push(reply(&[add("output/rules.json", [1]), complete()]));
    dir.script("first.json", &replies);
    let fault = |quote: &str| json!({"text": "The first rule is missing.", "document": "rules.md", "quote": quote});
    let reject = |quote: &str| reply(&[json!({"verdict": {"verdict": "reject", "findings": [fault(quote)]}})]);
    let judge = [
        reply(&[json!({"read_file": {"path": "output/rules.json"}}), json!({"read_file": {"path": "main_plan.md"}})]),
        reject("Rule 01: the keeper may do it."),
        reject("Rule 01: the keeper must do it."),
        reply(&[json!({"verdict": {"verdict": "accept"}})]),
    ];
    dir.script("judge.json", &judge);
    let ran = run(&dir);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        findings(&dir),
        [("v1.1", "fault", "01", "judged_again")].map(|it| (
            it.0.to_owned(),
            it.1.to_owned(),
            it.2.to_owned(),
            it.3.to_owned()
        ))
    );
    let shown = show(&dir);
    assert_eq!(
        shown["proof"]["verdicts"],
        json!([{"round": 1, "verdict": "reject"}, {"round": 2, "verdict": "accept"}])
    );
    let judged = dir.run_with(&[], &["audit", "prompt", "last", "--turn", "4"]).stdout;
    let not_judged = answer!("refused.not_to_be_judged", file = "instructions.md");
    let words = [not_judged.as_str(), "Each rule is a rule.", first_line(VERIFIER), "main_plan.md with"];
    assert_eq!(words.map(|word| judged.contains(word)), [true, true, true, false], "{judged}");
}

#[test]
fn a_verifier_without_a_verdict_is_no_consent() {
    let dir = place("verify: { rubric: prompts/rubric.md, model: \"scripted:judge.json\" }");
    let mut replies = first_reader(1..=RECORDS);
    replies.extend([reply(&[complete()]), reply(&[complete()])]);
    dir.script("first.json", &replies);
    dir.script("judge.json", &[json!({"text": "It looks fine to me.", "times": 6})]);
    let ran = run(&dir);
    assert_eq!(ran.code, 3, "{ran:?}");
    let shown = show(&dir);
    assert_eq!(shown["reason"], "findings are open: 1 of the verifier; findings.jsonl has them");
    assert_eq!(shown["proof"]["verdicts"], json!([{"round": 1, "verdict": "none"}, {"round": 2, "verdict": "none"}]));
}

#[test]
fn what_a_sub_agent_does_costs_only_itself() {
    let agents = "agents: { checker: { prompt: prompts/checker.md, tools: [read_document, write_file], model: \"scripted:helper.json\" } }";
    let looping = json!({"calls": [read()], "times": 40});
    let flood = reply(&vec![json!({"read_document": {"name": "rules.md"}}); 300]);
    let hostile = reply(&[
        write("output/rules.json", "{}"),
        write("helpers/1/../../output/rules.json", "{}"),
        write("helpers/9/x.md", "x"),
        json!({"job_complete": {"summary": "x", "deliverables": [], "confidence": 1}}),
        json!({"delegate": {"agent_type": "checker", "task": "x"}}),
        json!({"todo_complete": {}}),
        write("./helpers/1/notes.md", "Seen."),
        report("All is done."),
    ]);
    let honest = reply(&[report("Two of three hold.")]);
    let given = |report: &str| answer!("report.given", agent = "checker", report);
    let missing = || answer!("report.missing", agent = "checker", end = "got stuck");
    let cases: [(&[Value], String, &str); 4] = [
        (&[hostile, honest], given("Two of three hold."), "sub-agent 1, agent checker: it has reported after 2 turns"),
        (&[looping], missing(), "got stuck after 5 turns"),
        (&[flood], missing(), "got stuck after 1 turn"),
        (&[json!({"text": "It holds."})], given("It holds."), "has reported after 1 turn"),
    ];
    for (sub_agent, told, noted) in cases {
        let dir = place(agents);
        let mut replies = first_reader(1..=RECORDS);
        let ask = json!({"delegate": {"agent_type": "checker", "task": "Check rule 7.", "context": "It is new."}});
        replies[0]["calls"].as_array_mut().unwrap().push(ask);
        dir.script("first.json", &replies);
        dir.script("helper.json", sub_agent);
        let ran = run(&dir);
        assert_eq!(ran.code, 0, "{ran:?}");
        let prompts: String = (2..=60)
            .map(|turn| dir.run_with(&[], &["audit", "prompt", "last", "--turn", &turn.to_string()]).stdout)
            .take_while(|prompt| !prompt.is_empty())
            .filter(|prompt| !prompt.contains(first_line(SUB_AGENT)))
            .collect();
        assert!(prompts.contains(&told), "{told}\n{prompts}");
        let audit = dir.run_with(&[], &["audit", "last", "--phase", "1"]).stdout
            + &dir.run_with(&[], &["audit", "last", "--phase", "0"]).stdout;
        assert!(audit.contains(noted), "{noted}\n{audit}");
        let list: Value =
            serde_json::from_slice(&std::fs::read(dir.workspace().join("output/rules.json")).unwrap()).unwrap();
        let sub_agents: BTreeSet<String> = std::fs::read_dir(dir.workspace().join("helpers"))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(list["rules"].as_array().unwrap().len() == RECORDS && sub_agents.iter().all(|name| name == "1"));
        assert_eq!(dir.run_with(&[], &["audit", "verify", "last"]).code, 0);
    }
}

#[test]
fn a_delegate_whose_model_is_not_there_costs_only_itself() {
    let dir = place("agents: { checker: { prompt: prompts/checker.md, model: \"openai:gone\" } }");
    let mut replies = first_reader(1..=RECORDS);
    let ask = json!({"delegate": {"agent_type": "checker", "task": "Check rule 7."}});
    replies[0]["calls"].as_array_mut().unwrap().push(ask);
    dir.script("first.json", &replies);
    let words = ["run", "./rules.yaml.md", "-d", "rules", "-m", "scripted:first.json", "-q"];
    // Nobody listens there.
    let ran = dir.run_with(&[], &[&words[..], &["--base-url", "http://127.0.0.1:9/v1"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let audit = dir.run_with(&[], &["audit", "last", "--phase", "1"]).stdout;
    assert!(audit.contains("sub-agent 1, agent checker: it could not be asked after 0 turns"), "{audit}");
}

/// The texts at these places in a value.
fn texts<const N: usize>(value: &Value, places: [&str; N]) -> [String; N] {
    places.map(|place| value.pointer(place).unwrap().as_str().unwrap().to_owned())
}

#[test]
fn planted_gaps_are_found_and_closed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = TestDir::new();
    for folder in ["examples/gaps", "samples/standards"] {
        copy(&root.join(folder), &dir.path().join(folder));
    }
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let readme = text("examples/gaps/README.md");
    let command = readme.lines().find_map(|line| line.trim().strip_prefix("cargo run --release -- ")).unwrap();
    let ran = dir.run_with(&[], &command.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran:?}");

    let planted: Value = serde_yaml::from_str(&text("examples/gaps/truth.yaml")).unwrap();
    let records = |key: &str| planted[key].as_array().unwrap().iter().map(|it| texts(it, ["/document", "/quote"]));
    let added = records("first_leaves_out").map(|it| (it, ["missing", "added"].map(str::to_owned)));
    let explained = records("second_leaves_out").map(|it| (it, ["unconfirmed", "explained"].map(str::to_owned)));
    let expected: Vec<_> = added.chain(explained).collect();
    let found = std::fs::read_to_string(dir.workspace().join("findings.jsonl")).unwrap();
    let found = found.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<_> =
        found.map(|it| (texts(&it, ["/document", "/quote"]), texts(&it, ["/kind", "/settled/how"]))).collect();
    assert_eq!(found, expected);

    let samples: Value = serde_yaml::from_str(&text("samples/truth.yaml")).unwrap();
    let mut known = Vec::new();
    for document in samples["documents"].as_array().unwrap() {
        let name = document["name"].as_str().unwrap();
        if let Some(count) = planted["documents"].get(name) {
            let statements = document["statements"].as_array().unwrap();
            assert_eq!(json!(statements.len()), *count, "{name}");
            let name = name.strip_prefix("standards/").unwrap();
            known.extend(statements.iter().map(|it| (name.to_owned(), texts(it, ["/strength", "/quote"]))));
        }
    }
    let list = std::fs::read(dir.workspace().join("output/requirements.json")).unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    let list = list["requirements"].as_array().unwrap().iter();
    let mut listed: Vec<_> =
        list.map(|it| (it["document"].as_str().unwrap().to_owned(), texts(it, ["/strength", "/quote"]))).collect();
    known.sort();
    listed.sort();
    assert_eq!(listed, known);
    let estimate = &show(&dir)["proof"]["reading"]["comparison"]["estimate"];
    let rounded = ["records", "low", "high"].map(|name| format!("{:.0}", estimate[name].as_f64().unwrap()));
    assert_eq!(rounded, ["226", "225", "227"]);
}
