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
            Value::Null
        ]
    );
}
