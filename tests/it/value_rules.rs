//! Rules for values and values in their quotes, from the instructions to the write, the contract, the review pages and the
//! table.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{RUN, TestDir, bootstrap, done, read, reply, work},
    support::events,
};
use overnight_core::answer;
use overnight_rules::{
    evaluate::{Evaluator, Outside, RuleVerdict},
    rule::Rule,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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
    let wrote = |amount: &str| answer!("done.wrote", path = LIST, amount);
    let expected = [
        wrote("2 records")
            + " Schema: ok. \
         Values in quotes (quote): $.invoices[1]: 'total' 35.0 does not stand in its quote. Quotes: 2 of 2 found. \
         Rule \"lines do not add up to the total\": 1 of 2 fail. $.invoices[0] (R-16): \
         sum(lines.map(l, l.amount)) is 1080, total is 1180. \
         Rule \"invoices are missing, or are there too often\": \
         count(invoices) is 2, rows(list) is 3. Rules: 2 of 4 rules hold.",
        wrote("4 records")
            + " Schema: ok. \
         Values in quotes (quote): total, due of 4 stand in their quotes, as far as they are there. \
         Quotes: 4 of 4 found. \
         Rule \"unique(invoices.map(i, i.number))\": \
         \"R-16\" is there more than once. \
         Rule \"invoices are missing, or are there too often\": \
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
    let shown: Value = serde_json::from_str(&dir.run(&["show", &id, "--json"]).stdout).unwrap();
    assert_eq!(shown["doubts"], 2);
    let told = "2 values are in doubt; they come first in `overnight review`";
    assert!(dir.run(&["show", &id]).stdout.contains(told));
    let report = dir.run(&["report", &id]).stdout;
    assert!(report.contains("Values in doubt"), "{report}");
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

/// The shipped task of that name, with its schema, in the folder of the test; nobody judges its result.
fn shipped(name: &str, schema: &str) -> TestDir {
    let dir = TestDir::new();
    let source =
        |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions").join(path));
    let task = source(&format!("{name}.md")).unwrap();
    let without_judge: Vec<&str> = task.lines().filter(|line| !line.starts_with("verify:")).collect();
    dir.put("task.md", without_judge.join("\n") + "\n");
    dir.put(&format!("schemas/{schema}.schema.json"), source(&format!("schemas/{schema}.schema.json")).unwrap());
    dir
}

fn samples(kind: &str) -> String {
    format!("{}/instructions/samples/{kind}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_shipped_invoices_hold_for_their_samples() {
    let dir = shipped("extract-invoices", "invoices");
    let line = |text: &str, quantity: Option<f64>, price: Option<f64>, amount: f64| json!({"text": text, "quantity": quantity, "unit_price": price, "amount": amount});
    let invoices = json!({"invoices": [
        {
            "document": "hollis-2024-118.txt", "number": "HR-2024-118", "supplier": "HOLLIS & REED BOOKBINDERS LTD",
            "customer": "Norwick County Archive", "issued": "2024-05-03", "due": "2024-06-02", "currency": "GBP",
            "lines": [line("Clamshell box", Some(12.0), Some(48.5), 582.0), line("Folder", Some(40.0), Some(1.15), 46.0),
                line("Discount", None, None, -28.0)],
            "net": 600.0, "tax_rate": 20, "tax": 120.0, "gross": 720.0,
            "head_quote": "Invoice No. HR-2024-118                               Date: 03/05/2024",
            "total_quote": "Total due                                                  GBP 720.00",
        },
        {
            "document": "kuehnlein-7731.md", "number": "RE-7731", "supplier": "Kühnlein Klimatechnik GmbH",
            "customer": "Kreisarchiv Nordwick", "issued": "2024-05-03", "due": "2024-05-17", "currency": "EUR",
            "lines": [line("Wartung", Some(1.0), Some(1150.0), 1150.0), line("Filter F9", Some(6.0), Some(38.5), 231.0),
                line("Anfahrt", Some(1.0), Some(62.4), 62.4)],
            "net": 1443.4, "tax_rate": 19, "tax": 274.25, "gross": 1717.65,
            "head_quote": "Rechnung Nr. **RE-7731** vom 3. Mai 2024",
            "total_quote": "**Rechnungsbetrag: 1.717,65 EUR**",
        },
        {
            "document": "papeterie-duval.txt", "number": "A-2024-09", "supplier": "Papeterie Duval SARL",
            "customer": "Archives de Nordwick", "issued": "2024-05-03", "due": null, "currency": "EUR",
            "lines": [line("Retour de papier", Some(-5.0), Some(18.4), -92.0)],
            "net": -92.0, "tax_rate": 20, "tax": -18.4, "gross": -110.4,
            "head_quote": "AVOIR n° A-2024-09                         Rouen, le 3 mai 2024",
            "total_quote": "Total TTC                                                   -110,40 €",
        },
    ]});
    let mut wrong = invoices.clone();
    wrong["invoices"][0]["issued"] = json!("2024-03-05");
    wrong["invoices"][1]["lines"][2]["amount"] = json!(26.4);
    wrong["invoices"][2]["gross"] = json!(110.4);
    let write = |content: &Value| json!({"write_file": {"path": LIST, "content": content.to_string()}});
    let read = |name: &str| json!({"read_document": {"name": name}});
    let names = ["hollis-2024-118.txt", "kuehnlein-7731.md", "papeterie-duval.txt"];
    let complete = json!({"job_complete": {"summary": "All.", "deliverables": [LIST], "confidence": 0.9}});
    dir.script(
        "script.json",
        &[
            bootstrap(&["Reading"]),
            reply(&names.map(read)),
            reply(&[write(&wrong)]),
            reply(&[&[write(&invoices)][..], &vec![done(); 5]].concat()),
            reply(&[complete]),
        ],
    );
    let ran = dir.run(&["run", "./task.md", "--documents", &samples("invoices"), "--model", "scripted:script.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told = told(&dir);
    for what in [
        "$.invoices[0]: 'issued' \"2024-03-05\" does not stand in its quote",
        "Rule \"the lines do not add up to the net amount\": 1 of 3 fail. $.invoices[1] (kuehnlein-7731.md): lines.size() is 3, net is 1443.4, sum(lines.map(l, l.amount)) is 1407.4",
        "Rule \"net and tax do not add up to the gross amount\": 1 of 3 fail. $.invoices[2] (papeterie-duval.txt): net is -92, tax is -18.4, net + tax is -110.4, gross is 110.4",
    ] {
        assert!(told[0].contains(what), "{what}: {}", told[0]);
    }
    assert!(!told[1].contains("fail") && !told[1].contains("doubt"), "{}", told[1]);
}

/// The documents of the page's examples.
struct Examples;

impl Outside for Examples {
    fn text(&mut self, document: &str, _: Option<u64>) -> Result<String, String> {
        assert_eq!(document, "a.md");
        Ok("Rechnung R-17 über 1.180,00 EUR".to_owned())
    }

    fn rows(&mut self, document: &str, _: Option<&str>) -> Result<u64, String> {
        assert_eq!(document, "list.csv");
        Ok(3)
    }

    fn records(&mut self, file: &str, _: &str) -> Result<Vec<Value>, String> {
        Err(format!("there is no {file}"))
    }
}

#[test]
fn the_examples_of_the_book_are_as_it_says() {
    let page = include_str!("../../docs/src/value-rules.md");
    let (_, rest) = page.split_once("### Twenty examples").unwrap();
    let record: Value = serde_json::from_str(rest.split("```").nth(1).unwrap().trim_start_matches("json")).unwrap();
    let (table, _) = rest.split_once("\n## ").unwrap();
    let mut count = 0;
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let (rule, told) = line.trim_start_matches("| `").trim_end_matches(" |").split_once("` | ").unwrap();
        let rule = Rule::parse(&rule.replace("\\|", "|")).unwrap();
        let told = match told {
            "holds" => RuleVerdict::Holds,
            told if told.starts_with("can't") => RuleVerdict::Unclear(told.to_owned()),
            told => RuleVerdict::Fails(told.to_owned()),
        };
        assert_eq!(Evaluator::default().evaluate(&[&rule], &record, &record, &mut Examples), [told], "{line}");
        count += 1;
    }
    assert_eq!(count, 20);
}
