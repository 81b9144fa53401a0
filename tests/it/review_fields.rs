//! The review page shows a record as a table: each field with its own quote and with what is doubtful of it.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{RUN, TestDir, bootstrap, done, reply, work};
use regex::Regex;
use serde_json::{Value, json};

const TASK: &str = r#"---
name: contracts
description: What each contract says
coverage: 0
deliverables:
  - path: output/contracts.json
    schema:
      type: object
      properties:
        contracts:
          type: array
          items:
            type: object
            properties:
              title: { type: string }
              signed: { type: string, format: date }
              kind: { enum: [lease, order] }
              rent: { type: [object, "null"], properties: { value: { type: number } } }
    quotes:
      - { each: "$.contracts[*]", text: words, document: document, carries: [title] }
      - { each: "$.contracts[*]", text: signed_quote, document: document }
      - { each: "$.contracts[*]", text: kind_words, document: document, for: kind, carries: [] }
      - { each: "$.contracts[*].rent", text: quote, document: document }
      - { each: "$.contracts[*].fees[*]", text: quote, document: document, carries: [amount] }
---
# Task

List the contracts.
"#;

/// Each line of the tables of a page: field, input, value, quote, and kinds of doubts.
fn lines(html: &str) -> Vec<[String; 5]> {
    let text = |html: &str| {
        let plain = Regex::new("(?s)<[^>]*>").unwrap().replace_all(html, " ").into_owned();
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let found = |pattern: &str, part: &str| {
        Regex::new(pattern).unwrap().captures(part).map(|found| text(&found[1])).unwrap_or_default()
    };
    let line =
        Regex::new(r#"(?s)<(?:tr|td) class="line[^"]*" data-field="([^"]*)" data-input="([^"]*)".*?</(?:tr|td)>\n?"#)
            .unwrap();
    let rows = html.split("<table class=\"fields\">").skip(1).flat_map(|table| {
        let starts: Vec<usize> = line.find_iter(table).map(|found| found.start()).collect();
        let ends = starts.iter().skip(1).copied().chain([table.find("</table>\n").unwrap_or(table.len())]);
        starts.iter().copied().zip(ends).map(|(from, to)| table[from..to].to_owned()).collect::<Vec<_>>()
    });
    rows.map(|row| {
        [
            found(r#"data-field="([^"]*)""#, &row),
            found(r#"data-input="([^"]*)""#, &row),
            found(r#"(?s)<span dir="auto" data-place[^>]*>(.*?)</span>"#, &row),
            found("(?s)<q [^>]*>(.*?)</q>", &row),
            found(r#"(?s)<li class="is-[^"]*">(.*?)</li>"#, &row),
        ]
    })
    .collect()
}

#[test]
fn each_field_stands_beside_its_quote_and_its_doubt() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.put("docs/lease.md", "# Lease of the mill\n\nSigned on 3 May 2024.\n\nThe tenant rents it for EUR 1.250,00.\n\nCleaning costs EUR 80.\n");
    let contracts = json!({ "contracts": [{
        "title": "Lease of the mill", "words": "Lease of the mill", "signed": "2024-03-05", "signed_quote": "Signed on 3 May 2024",
        "kind": "lease", "kind_words": "The tenant rents it", "notice": null, "document": "lease.md",
        "rent": { "value": 1250, "quote": "rents it for EUR 1.205,00", "document": "lease.md" },
        "fees": [{ "what": "Cleaning", "amount": 80, "quote": "Cleaning costs EUR 80", "document": "lease.md" }],
    }] });
    let write = json!({"write_file": {"path": "output/contracts.json", "content": contracts.to_string()}});
    let complete =
        json!({"job_complete": {"summary": "All.", "deliverables": ["output/contracts.json"], "confidence": 0.9}});
    let refused = reply(&[complete]);
    let mut replies = vec![bootstrap(&["Reading"]), work(write), reply(&vec![done(); 5])];
    replies.extend(std::iter::repeat_n(refused, 4));
    dir.script("script.json", &replies);
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(dir.run(&["review", "last", "-o", "pages"]).code, 0);
    let page = std::fs::read_dir(dir.path().join("pages")).unwrap().map(|file| file.unwrap().path());
    let page = page.filter(|file| !file.ends_with("index.html")).map(|file| std::fs::read_to_string(file).unwrap());
    let page: String = page.collect();
    let place = |within: &str| format!("$.contracts[0].{within}");
    let wrong = "failed check : the quote of rent isn&#39;t found in lease.md: &#34;rents it for EUR 1.205,00&#34;: nearest on line 5 of \
        lease.md: &#34;…2024. The tenant rents it for EUR 1.250,00. Cleaning costs EUR 80.&#34;, differs at &#34;205&#34;";
    let not_there = "value in doubt : &#39;signed&#39; does not stand in its quote";
    let expected = [
        [&place("title"), "text", "Lease of the mill", "", ""],
        [&place("signed"), "date", "2024-03-05", "Signed on 3 May 2024", not_there],
        [&place("kind"), "choice", "lease", "The tenant rents it", ""],
        [&place("notice"), "text", "", "", ""],
        [&place("rent.value"), "number", "1250", "rents it for EUR 1.205,00", wrong],
        [&place("fees[0].what"), "text", "Cleaning", "", ""],
        [&place("fees[0].amount"), "number", "80", "", ""],
    ];
    assert_eq!(lines(&page), expected.map(|line| line.map(str::to_owned)));
    // What the program knows is in the table as well, of objects in records too.
    let row: Value = serde_json::from_str(&dir.run(&["export", "last", "--format", "jsonl"]).stdout).unwrap();
    let known = ["rent.value", "fees", "document", "quote", "check", "value_in_quote"].map(|name| row[name].clone());
    assert_eq!(
        known,
        [
            json!(1250),
            contracts["contracts"][0]["fees"].clone(),
            json!("lease.md"),
            json!("Lease of the mill"),
            json!("not_found"),
            json!("not signed")
        ]
    );
}

pub(crate) const TERMS: &str = r#"---
name: terms
description: Who pays what
coverage: 0
deliverables:
  - path: output/terms.json
    schema:
      type: object
      properties:
        terms:
          type: array
          minItems: 1
          items:
            type: object
            required: [tenant, rent]
            properties: { tenant: { type: string }, rent: { type: number }, quote: { type: string }, document: { type: string } }
    quotes: { each: "$.terms[*]", text: quote, document: document }
    checks: [{ each: "$.terms[*]", rule: "this.rent < 100", level: doubt, message: "too much" }]
---
# Task

List the terms.
"#;

/// Tenant, rent, place and what was looked for of each row of the table; and what the review page says of people.
fn told(dir: &TestDir, folder: &str) -> (Vec<Value>, Vec<String>) {
    let rows = dir.run(&["export", "last", "--format", "jsonl"]).stdout;
    let row = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        json!([row["tenant"], row["rent"], row["place"], row["check"], row["value_in_quote"]])
    };
    let rows = rows.lines().map(row).collect();
    let ran = dir.run(&["review", "last", "-o", folder]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = std::fs::read_dir(dir.path().join(folder)).unwrap().map(|file| file.unwrap().path());
    let page = page.filter(|file| file.extension().is_some_and(|end| end == "html") && !file.ends_with("index.html"));
    let page: String = page.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let people =
        Regex::new(r#"<p class="(?:people|unquoted|counts)">([^<,]*)|<li class="is-value">([^\n]*)</li>"#).unwrap();
    let people = people.captures_iter(&page).map(|found| found.get(1).or(found.get(2)).unwrap().as_str().to_owned());
    (rows, people.collect())
}

#[test]
fn people_add_delete_and_put_back_records() {
    let dir = TestDir::new();
    dir.put("task.md", TERMS);
    dir.put("docs/lease.md", "Ada rents for EUR 10.\n\nBob rents for EUR 200.\n\nCid rents for EUR 30.\n");
    let record = |tenant: &str, rent: u64| json!({"tenant": tenant, "rent": rent, "quote": format!("{tenant} rents for EUR {rent}."), "document": "lease.md"});
    let terms = json!({ "terms": [record("Ada", 10), record("Bob", 200)] });
    let write = json!({"write_file": {"path": "output/terms.json", "content": terms.to_string()}});
    let complete =
        json!({"job_complete": {"summary": "All.", "deliverables": ["output/terms.json"], "confidence": 0.9}});
    dir.script("script.json", &[bootstrap(&["Reading"]), work(write), reply(&vec![done(); 5]), reply(&[complete])]);
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let correct = |place: &str, value: &str| {
        let ran = dir.run(&["correct", "last", place, value, "--as", "Eve"]);
        (ran.code, ran.stderr)
    };
    let file = || -> Value {
        let id = dir.run(&["show", "last", "--json"]).stdout;
        let id: Value = serde_json::from_str(&id).unwrap();
        let path = dir.path().join("workspaces").join(id["id"].as_str().unwrap()).join("output/terms.corrected.json");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    // What can't be a record of the list is refused.
    for (place, value, why) in [
        ("$.terms[3]", "{}", "there is no field $.terms[3] in output/terms.json"),
        ("$.terms[2]", "Cid", "there is no $.terms[2] in output/terms.json yet: a new record is an object, as JSON"),
        ("$.terms[2]", r#"{"tenant": "Cid"}"#, "\"rent\" is a required property"),
    ] {
        let (code, stderr) = correct(place, value);
        assert_eq!((code, stderr.contains(why)), (2, true), "{place}: {stderr}");
    }
    // One more, the first one deleted, and the new one corrected to what its quote does not have.
    assert_eq!(correct("$.terms[2]", &record("Cid", 30).to_string()).0, 0);
    assert_eq!(correct("$.terms[0]", "null").0, 0);
    assert_eq!(correct("$.terms[2].rent", "31").0, 0);
    let (rows, people) = told(&dir, "pages");
    let bob = json!(["Bob", 200, "$.terms[1]", "found", "yes"]);
    assert_eq!(rows, [bob.clone(), json!(["Cid", 31, "$.terms[2]", "found", "yes"])]);
    let too_much = "<strong>value in doubt</strong>: too much: this.rent is 200";
    let unquoted = "&#39;rent&#39; does not stand in its quote: correct the quote too";
    let counts = "1 of 2 records are doubtful. One was deleted.";
    assert_eq!(people, [counts, too_much, "deleted by Eve", unquoted, "added by Eve", "rent corrected by Eve"]);
    let cid = json!({"tenant": "Cid", "rent": 31, "quote": "Cid rents for EUR 30.", "document": "lease.md"});
    assert_eq!(file(), json!({ "terms": [record("Bob", 200), cid] }));
    // The last one can't go, since the schema wants one; what was deleted comes back as it was.
    assert_eq!(correct("$.terms[2]", "null").0, 0);
    let (code, stderr) = correct("$.terms[1]", "null");
    assert_eq!((code, stderr.contains("has less than 1 item")), (2, true), "{stderr}");
    assert_eq!(correct("$.terms[0]", &record("Ada", 10).to_string()).0, 0);
    assert_eq!(file(), terms);
    let (rows, people) = told(&dir, "more");
    assert_eq!(rows, [json!(["Ada", 10, "$.terms[0]", "found", "yes"]), bob]);
    let counts = "1 of 2 records are doubtful. One was deleted.";
    let of_cid = ["added by Eve", "deleted by Eve", "rent corrected by Eve"];
    assert_eq!(people, [&[counts, too_much, "deleted by Eve", "put back by Eve"], &of_cid[..]].concat());
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
}
