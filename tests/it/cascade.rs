//! A cascade, as a person has it: two models behind one server, the documents of a batch, the sentence at its end.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::TestDir,
    remote::server::{Format, Server, Setup},
};
use overnight_core::job::instructions::shipped::shipped;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const DOCUMENTS: usize = 12;
/// Of these the sentences may be followed or not, which the rule below doubts.
const DOUBTFUL: [usize; 2] = [3, 8];
const FRONT: &str = r#"---
name: cascaded
cascade: { models: ["openai:cheap", "openai:strong"], CERTIFY }
deliverables:
  - path: output/requirements.json
    schema:
      type: object
      required: [requirements]
      properties:
        requirements: { type: array, items: { type: object, required: [quote, document, strength] } }
    quotes: { each: "$.requirements[*]", text: quote, document: document, carries: [] }
    checks:
      - { each: "$.requirements[*]", rule: "strength != 'MAY'", level: doubt }
  - path: output/summary.md
---
"#;

struct Cascaded {
    dir: TestDir,
    url: String,
    _server: Server,
}

impl Cascaded {
    fn new(certify: &str) -> Self {
        let server = Server::start(Setup::default());
        let dir = TestDir::new();
        for number in 0..DOCUMENTS {
            let word = if DOUBTFUL.contains(&number) { "may" } else { "must" };
            dir.put(
                &format!("many/{number:02}.md"),
                format!("# Contract {number}\n\nParty {number} {word} pay within {number} days.\n"),
            );
        }
        let text = shipped("extract-requirements").unwrap();
        let body = text.splitn(3, "---\n").nth(2).unwrap();
        dir.put("cascaded.md", format!("{}{body}", FRONT.replace("CERTIFY", certify)));
        Self { url: server.base_url(Format::OpenAi), dir, _server: server }
    }

    fn submit(&self, more: &[&str]) -> (i32, String) {
        let base = ["submit", "cascaded.md", "-d", "many", "--batch", "night", "--base-url", &self.url];
        let ran = self.dir.run_with(&[], &[&base[..], more].concat());
        (ran.code, ran.stderr)
    }

    fn work(&self) -> String {
        let ran = self.dir.run_with(&[], &["work", "--until-empty"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.dir.run_with(&[], arguments).stdout).unwrap()
    }
}

#[test]
fn doubts_go_to_the_strong_model_and_a_draw_of_the_rest_says_how_good_it_is() {
    let night = Cascaded::new("certify: { right: 0.6, confidence: 0.7, seed: 7 }");
    assert_eq!(night.submit(&["--each"]).0, 0);
    night.work();
    let cascade = night.json(&["show", "night", "--json"])["cascade"].clone();
    let certificate = &cascade["certificate"];
    let drawn = cascade["drawn"].as_array().unwrap();
    assert_eq!((&cascade["is_over"], &certificate["holds"]), (&json!(true), &json!(true)), "{cascade}");
    assert!((1..DOCUMENTS - DOUBTFUL.len()).contains(&drawn.len()), "{drawn:?}");
    assert!(drawn.iter().all(|one| one["differs"].is_null()), "{drawn:?}");
    let why: Vec<&str> =
        cascade["escalated"].as_array().unwrap().iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(why.len(), DOUBTFUL.len());
    assert!(why.iter().all(|why| why.contains("strength != 'MAY'")), "{why:?}");
    // In the table the strong readings stand in place of the first ones.
    let table = night.dir.run_with(&[], &["export", "night", "--format", "jsonl"]).stdout;
    let rows: Vec<Value> = table.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut answered: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &rows {
        let model = row["model"].as_str().unwrap().split(' ').next().unwrap();
        answered.entry(model).or_default().push(row["document"].as_str().unwrap());
    }
    let read_again = DOUBTFUL.len() + drawn.len();
    assert_eq!(answered.keys().copied().collect::<Vec<&str>>(), ["openai:cheap", "openai:strong"]);
    assert_eq!((rows.len(), answered["openai:strong"].len()), (DOCUMENTS, read_again), "{answered:?}");
    assert!(DOUBTFUL.iter().all(|number| answered["openai:strong"].contains(&format!("{number:02}.md").as_str())));
    let told = format!(
        "at least 60 % of the 12 results equal openai:strong's reading in every field, with 70 % confidence: 2 escalated, {} drawn, 0 differed, seed 7",
        drawn.len()
    );
    for arguments in [["show", "night"], ["report", "night"]] {
        let shown = night.dir.run_with(&[], &arguments).stdout;
        assert!(shown.contains(&told), "{shown}");
    }
    // Nothing is left to do, and a worker that looks again changes nothing.
    night.work();
    assert_eq!(night.json(&["show", "night", "--json"])["cascade"], cascade);
}

#[test]
fn without_a_certificate_only_what_is_doubtful_is_read_again() {
    let night = Cascaded::new("accept: { rules: true }");
    assert_eq!(night.submit(&["--each"]).0, 0);
    night.work();
    let cascade = night.json(&["show", "night", "--json"])["cascade"].clone();
    let counts = ["escalated", "drawn", "order"].map(|list| cascade[list].as_array().unwrap().len());
    assert_eq!((counts, &cascade["is_over"]), ([2, 0, 10], &json!(true)));
}

#[test]
fn what_can_be_no_cascade_is_refused_in_a_sentence() {
    let night = Cascaded::new("certify: { right: 0.95 }");
    for (more, expected) in [
        (&[][..], "a cascade is for the documents of a batch: add --each"),
        (
            &["--each", "--model", "openai:other"],
            "the instructions' cascade begins with openai:cheap, not with openai:other: leave --model out, or change the cascade",
        ),
    ] {
        let (code, said) = night.submit(more);
        assert_eq!((code, said.trim_end()), (2, format!("error: {expected}").as_str()));
    }
    let (code, said) = night.submit(&["--each", "--dry-run"]);
    assert_eq!(code, 0);
    assert!(said.contains("with 12 documents the cascade's certificate does not pay"), "{said}");
}

/// The jobs of the batch that a person has still to read, as `show` names them.
fn to_read(night: &Cascaded) -> Vec<String> {
    let shown = night.dir.run_with(&[], &["show", "night"]).stdout;
    shown.lines().filter_map(|line| line.trim().strip_prefix("to read       job ").map(str::to_owned)).collect()
}

#[test]
fn people_read_the_draw_and_what_they_correct_was_not_right() {
    let night = Cascaded::new("certify: { by: person, right: 0.6, confidence: 0.7, seed: 7 }");
    assert_eq!(night.submit(&["--each"]).0, 0);
    let told = night.work();
    let first = to_read(&night);
    assert!(!first.is_empty() && told.contains(&format!("waits for people: {} drawn results", first.len())), "{told}");
    // What a person says of other jobs is no reading of the draw.
    let cascade = || night.json(&["show", "night", "--json"])["cascade"].clone();
    let other = cascade()["order"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
    assert_eq!(night.dir.run_with(&[], &["approve", &other, "--as", "Anna"]).code, 0);
    assert_eq!(to_read(&night), first);
    // One is corrected; its correction alone does not say that all of it is read.
    let place = "$.requirements[0].strength";
    assert_eq!(night.dir.run_with(&[], &["correct", &first[0], place, "SHOULD", "--as", "Ben"]).code, 0);
    assert_eq!(to_read(&night), first);
    let mut said = String::new();
    for job in &first {
        said = night.dir.run_with(&[], &["approve", job, "--as", "Ben"]).stderr;
    }
    // As one was not right, more are drawn.
    let second = to_read(&night);
    assert!(!second.is_empty() && second.iter().all(|job| !first.contains(job)), "{second:?}");
    assert!(said.contains(&format!("{} result", second.len())), "{said}");
    for job in &second {
        said = night.dir.run_with(&[], &["approve", job, "--as", "Anna"]).stderr;
    }
    let drawn = first.len() + second.len();
    let sentence = format!(
        "at least 60 % of the 10 results of openai:cheap that were not escalated are as Anna and Ben read them in every field, with 70 % confidence: 2 escalated, {drawn} drawn, 1 not right, seed 7"
    );
    assert!(said.contains(&sentence), "{said}");
    let cascade = cascade();
    let differs: Vec<(&str, bool)> = (cascade["drawn"].as_array().unwrap().iter())
        .map(|one| (one["by"].as_str().unwrap(), one["differs"].is_string()))
        .collect();
    assert_eq!((differs[0], &cascade["is_over"]), (("Ben", true), &json!(true)));
    assert_eq!(differs.iter().filter(|(_, differs)| *differs).count(), 1, "{differs:?}");
    assert_eq!(
        cascade["stages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stage| stage["drawn"].as_array().unwrap().len())
            .sum::<usize>(),
        0
    );
}
