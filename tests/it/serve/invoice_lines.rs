//! Lines of a list within a record: on its page a person adds one, deletes one and puts it back.

use super::{Served, jobs};
use crate::cli_run::{RUN, TestDir, bootstrap, done, reply, work};
use regex::Regex;
use reqwest::StatusCode;
use serde_json::{Value, json};

const TASK: &str = r"---
name: invoices
description: What each invoice asks for
coverage: 0
deliverables:
  - path: output/invoices.json
    schema:
      type: object
      properties:
        invoices:
          type: array
          items:
            type: object
            properties:
              number: { type: string }
              lines:
                type: array
                items:
                  type: object
                  properties: { item: { type: string }, amount: { type: number } }
              notes: { type: array, items: { type: string } }
---
# Task

List the invoices.
";

/// What the page offers for lines: places that can be added to, with their fields, and places with the value that a press of
/// their button puts there.
fn offered(page: &str) -> (Vec<String>, Vec<[String; 2]>) {
    let form = Regex::new(
        r#"(?s)<summary>Add a line to ([^<]*)</summary>.*?name="place" value="([^"]*)">\n<ul hidden>(.*?)</ul>"#,
    );
    let field = Regex::new(r#"data-field="([^"]*)""#).unwrap();
    let added = form
        .unwrap()
        .captures_iter(page)
        .map(|found| {
            let fields: Vec<&str> =
                field.captures_iter(&found[3]).map(|found| found.get(1).unwrap().as_str()).collect();
            format!("{} at {}: {}", &found[1], &found[2], fields.join(", "))
        })
        .collect();
    let button = Regex::new(
        r#"name="place" value="([^"]*)"><input type="hidden" name="value" value="([^"]*)"><button aria-label"#,
    )
    .unwrap();
    let buttons = button.captures_iter(page).map(|found| [1, 2].map(|at| found[at].replace("&#34;", "\""))).collect();
    (added, buttons)
}

#[test]
fn lines_within_a_record_are_added_deleted_and_put_back() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.put("docs/invoice.md", "Invoice 7: pump 10, seal 2.\n");
    let line = |item: &str, amount: u64| json!({"item": item, "amount": amount});
    let lines = [line("pump", 10), line("seal", 2)];
    let invoices = json!({ "invoices": [{"number": "7", "lines": lines, "notes": []}, {"number": "8", "lines": []}] });
    let write = json!({"write_file": {"path": "output/invoices.json", "content": invoices.to_string()}});
    let complete =
        json!({"job_complete": {"summary": "All.", "deliverables": ["output/invoices.json"], "confidence": 0.9}});
    dir.script("script.json", &[bootstrap(&["Reading"]), work(write), reply(&vec![done(); 5]), reply(&[complete])]);
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let served = Served::start(&dir, &["--as", "Eve"]);
    let job = format!("/jobs/{}", jobs(&dir)[0]["id"].as_str().unwrap());
    // What is known of the record: its corrections so far.
    let put = |known: &str, place: &str, value: &str| {
        let fields = [
            ("result", "0"),
            ("file", "output/invoices.json"),
            ("corrections", known),
            ("place", place),
            ("value", value),
        ];
        let answer = served.post(&format!("{job}/correct"), &fields).send().unwrap();
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{place}");
        offered(&served.page(&format!("{job}/review")))
    };
    let button = |place: &str, value: &str| [place, value].map(str::to_owned);
    let adds = |first: u64, second: u64| {
        vec![
            format!("lines at $.invoices[0].lines[{first}]: item, amount"),
            format!("lines at $.invoices[1].lines[{second}]: item, amount"),
        ]
    };
    let [pump, seal] = ["$.invoices[0].lines[0]", "$.invoices[0].lines[1]"];
    let page = served.page(&format!("{job}/review"));
    assert_eq!(offered(&page), (adds(2, 0), vec![button(pump, "null"), button(seal, "null")]));
    let is_null = |place| button(place, "null");
    let [added, first] = ["$.invoices[0].lines[2]", "$.invoices[1].lines[0]"];
    let all = vec![is_null(pump), is_null(seal), is_null(added)];
    assert_eq!(put("0", added, &line("hose", 5).to_string()), (adds(3, 0), all.clone()));
    assert_eq!(put("0", first, &line("lamp", 1).to_string()), (adds(3, 1), [all, vec![is_null(first)]].concat()));
    let back = button(pump, &line("pump", 10).to_string());
    let shown = vec![back, is_null(seal), is_null(added), is_null(first)];
    assert_eq!(put("1", pump, "null"), (adds(3, 1), shown));
    let exported = || -> Vec<Value> {
        let rows = dir.run(&["export", "last", "--format", "jsonl"]).stdout;
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["lines"].clone()).collect()
    };
    assert_eq!(exported(), [json!([line("seal", 2), line("hose", 5)]), json!([line("lamp", 1)])]);
    put("2", pump, &line("pump", 10).to_string());
    assert_eq!(exported()[0], json!([line("pump", 10), line("seal", 2), line("hose", 5)]));
    let said = Regex::new(r#"<p class="people">(lines[^,]*)"#).unwrap();
    let page = served.page(&format!("{job}/review"));
    let said: Vec<&str> = said.captures_iter(&page).map(|found| found.get(1).unwrap().as_str()).collect();
    let of_pump = ["lines[0] deleted by Eve", "lines[0] put back by Eve"];
    assert_eq!(said, [&of_pump[..], &["lines[2] added by Eve", "lines[0] added by Eve"]].concat());
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
}
