//! Rules for values and values in their quotes, from the instructions to the write, the contract, the review pages and the
//! table.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{RUN, TestDir, bootstrap, done, read, reply, work},
    support::events,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const TASK: &str = r#"---
name: invoices
description: What each invoice says
coverage: 0
deliverables:
  - path: output/invoices.json
    schema:
      type: object
      required: [list, invoices]
      properties:
        list: { type: string }
        invoices:
          type: array
          items:
            type: object
            required: [number, total, lines, document, quote]
            properties:
              number: { type: string }
              total: { type: number }
              due: { type: [string, "null"] }
              lines: { type: array, items: { type: object, properties: { amount: { type: number } } } }
              document: { type: string }
              quote: { type: string }
    quotes: { each: "$.invoices[*]", text: quote, document: document, carries: [total, due] }
    checks:
      - { each: "$.invoices[*]", rule: "sum(lines.map(l, l.amount)) == total", message: lines do not add up to the total }
      - { rule: "unique(invoices.map(i, i.number))" }
      - { rule: "count(invoices) == rows(list)", message: "invoices are missing, or are there too often" }
      - { each: "$.invoices[*]", rule: "due == null || date(due) > date('2024-01-01')", level: doubt }
---
# Task

List the invoices.
"#;

const LIST: &str = "output/invoices.json";

fn invoice(number: &str, amounts: &[f64], total: f64, due: Option<&str>, document: &str, quote: &str) -> Value {
    let lines: Vec<Value> = amounts.iter().map(|amount| json!({ "amount": amount })).collect();
    json!({"number": number, "total": total, "due": due, "lines": lines, "document": document, "quote": quote})
}

/// Two invoices, and the list of all three.
fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.put("docs/a.md", "Rechnung R-16\n\nSumme 1.180,00 EUR, zahlbar bis 3. Mai 2024\n");
    dir.put(
        "docs/b.md",
        "Invoice R-17\n\nTotal USD 30.50 due 04/03/2023\n\nInvoice R-18\n\nTotal USD 12 due 31/12/2024\n",
    );
    dir.put("docs/list.csv", "number,total\nR-16,1180\nR-17,30.5\nR-18,12\n");
    dir
}

fn good() -> [Value; 3] {
    [
        invoice(
            "R-16",
            &[1000.0, 180.0],
            1180.0,
            Some("2024-05-03"),
            "a.md",
            "Summe 1.180,00 EUR, zahlbar bis 3. Mai 2024",
        ),
        invoice("R-17", &[0.1, 30.4], 30.5, Some("2023-03-04"), "b.md", "Total USD 30.50 due 04/03/2023"),
        invoice("R-18", &[12.0], 12.0, None, "b.md", "Total USD 12 due 31/12/2024"),
    ]
}

fn written(invoices: &[Value]) -> Value {
    let content = json!({"list": "list.csv", "invoices": invoices}).to_string();
    json!({"write_file": {"path": LIST, "content": content}})
}

/// The job's folder; the texts of its documents lie beside it.
fn workspace(dir: &TestDir) -> PathBuf {
    let folder = std::fs::read_dir(dir.path().join("workspaces")).unwrap();
    let mut folders = folder.map(|entry| entry.unwrap().path()).filter(|path| path.join("job.yaml").exists());
    folders.next().unwrap()
}

/// What each call that changed the list was told.
fn told(dir: &TestDir) -> Vec<String> {
    let returned = events(&workspace(dir)).into_iter().filter(|event| event["type"] == "tool_returned");
    let of_list = returned.filter(|event| event["result"]["changed"]["path"] == LIST);
    of_list.map(|event| event["result"]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_fails_is_told_at_the_write_and_refuses_the_end() {
    let dir = dir();
    let [one, two, three] = good();
    let wrong_sum =
        invoice("R-16", &[1000.0, 80.0], 1180.0, None, "a.md", "Summe 1.180,00 EUR, zahlbar bis 3. Mai 2024");
    let wrong_value = invoice("R-17", &[35.0], 35.0, None, "b.md", "Total USD 30.50 due 04/03/2023");
    let complete = json!({"job_complete": {"summary": "All.", "deliverables": [LIST], "confidence": 0.9}});
    dir.script(
        "script.json",
        &[
            bootstrap(&["Reading"]),
            reply(&[written(&[wrong_sum, wrong_value])]),
            work(written(&[one.clone(), one, two, three])),
            work(json!({"list_documents": {}})),
            reply(&[json!({"list_files": {"path": "output"}}), done(), read(LIST), done(), complete.clone()]),
            reply(&[written(&good()), complete]),
        ],
    );
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let expected = [
        "Wrote output/invoices.json (2 records). Schema: ok. \
         Values in quotes (quote): $.invoices[1]: 'total' 35.0 does not stand in its quote. Quotes: 2 of 2 found. \
         Rule \"lines do not add up to the total\": 1 of 2 fail. $.invoices[0] (R-16): lines do not add up to the total: \
         sum(lines.map(l, l.amount)) is 1080, total is 1180. \
         Rule \"invoices are missing, or are there too often\": $: invoices are missing, or are there too often: \
         count(invoices) is 2, rows(list) is 3. Rules: 2 of 4 rules hold.",
        "Wrote output/invoices.json (4 records). Schema: ok. \
         Values in quotes (quote): total, due of 4 stand in their quotes, as far as they are there. \
         Quotes: 4 of 4 found. \
         Rule \"unique(invoices.map(i, i.number))\": $: `unique(invoices.map(i, i.number))` does not hold: \
         \"R-16\" is there more than once. \
         Rule \"invoices are missing, or are there too often\": $: invoices are missing, or are there too often: \
         count(invoices) is 4, rows(list) is 3. Rules: 1 of 4 rules hold. \
         1 value is in doubt: $.invoices[2]: `due == null || date(due) > date('2024-01-01')` does not hold: \
         due is \"2023-03-04\", date(due) is 2023-03-04, date('2024-01-01') is 2024-01-01.",
    ];
    assert_eq!(told(&dir)[..2], expected);
    let refused = ran.stderr.lines().any(|line| line.contains("invoices are missing, or are there too often"));
    assert!(refused || !ran.stderr.is_empty(), "{}", ran.stderr);
}

#[test]
fn doubts_stand_in_the_review_and_the_table() {
    let dir = dir();
    dir.put("task.md", TASK.replace("carries: [total, due]", "context: 2"));
    let [one, two, _] = good();
    let other = invoice("R-18", &[13.0], 13.0, None, "b.md", "Total USD 12 due 31/12/2024");
    let complete = json!({"job_complete": {"summary": "All.", "deliverables": [LIST], "confidence": 0.9}});
    dir.script("script.json", &[bootstrap(&["Reading"]), work(written(&[one, two, other])), reply(&[complete])]);
    assert_eq!(dir.run(&RUN).code, 0);
    let id = workspace(&dir).file_name().unwrap().to_str().unwrap().to_owned();
    let table = dir.run(&["export", &id, "--format", "jsonl"]);
    let values: Vec<Value> = table
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["value_in_quote"].clone())
        .collect();
    assert_eq!(values, [json!("yes"), json!("yes"), json!("not total")]);
    let pages = dir.run(&["review", &id, "-o", "pages"]);
    assert_eq!(pages.code, 0, "{}", pages.stderr);
    let page = std::fs::read_to_string(dir.path().join(format!("pages/{id}.html"))).unwrap();
    for doubt in ["'total' does not stand in its quote", "date(due) is 2023-03-04"] {
        let escaped = doubt.replace('\'', "&#39;").replace('"', "&#34;");
        assert!(page.contains(doubt) || page.contains(&escaped), "{doubt}");
    }
}

#[test]
fn wrong_rules_are_refused_when_the_instructions_are_read() {
    let dir = dir();
    let refused = |rule: &str| {
        dir.put("wrong.md", TASK.replace("unique(invoices.map(i, i.number))", rule));
        let ran = dir.run(&["run", "wrong.md", "--documents", "docs"]);
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        ran.stderr
    };
    let at = "error: wrong.md:27: 'deliverables[0].checks[1].rule'";
    for (rule, what) in [
        ("count(invoices) >", "is no rule at column 18: it ends too early"),
        ("counts(invoices) > 1", "is no rule at column 7: there is no function 'counts'; did you mean 'count'?"),
        ("count(invoice) > 1", "names 'invoice' at column 7, which the schema does not have; did you mean 'invoices'?"),
        ("count(invoices)", "is no rule at column 1: it gives a number, and is no condition"),
    ] {
        assert_eq!(refused(rule), format!("{at} {what}\n"), "{rule}");
    }
    dir.put("wrong.md", TASK.replace("carries: [total, due]", "carries: [totl]"));
    let ran = dir.run(&["run", "wrong.md", "--documents", "docs"]);
    let what = "'deliverables[0].quotes' carries 'totl', a field that the schema does not have; did you mean 'total'?";
    assert_eq!((ran.code, ran.stderr), (2, format!("error: wrong.md:24: {what}\n")));
}
