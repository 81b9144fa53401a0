//! `query_tables`: tables of documents of several kinds in one statement, through the reader process, and what it refuses.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{TestDir, reply},
    support::events,
};
use overnight_core::answer;
use serde_json::{Value, json};

/// Two turns, then the job is held.
const TASK: &str = "---
name: tables
context: { inline: never }
description: What the tables say
limits: { turns: 1 }
deliverables:
  - path: output/report.md
---
# Task

Write a report.
";

const RUN: [&str; 7] = ["run", "task.md", "--documents", "docs", "--model", "scripted:script.json", "--quiet"];

/// How each call ended, and what it was told.
fn told(documents: &[(&str, &str)], calls: &[Value]) -> Vec<(String, String)> {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    for (name, content) in documents {
        dir.put(&format!("docs/{name}"), content);
    }
    dir.script("script.json", &[reply(calls)]);
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
    let folder = std::fs::read_dir(dir.path().join("workspaces")).unwrap();
    let mut folders = folder.map(|entry| entry.unwrap().path()).filter(|path| path.join("job.yaml").exists());
    let returned = events(&folders.next().unwrap()).into_iter().filter(|event| event["type"] == "tool_returned");
    let text = |event: &Value, key: &str| event["result"][key].as_str().unwrap().to_owned();
    returned.map(|event| (text(&event, "end"), text(&event, "text"))).collect()
}

fn query(sql: &str) -> Value {
    json!({"query_tables": {"sql": sql}})
}

#[test]
fn tables_of_several_documents_are_asked_in_one_statement() {
    let documents = [
        ("prices.csv", "Article;Price;Since\nBolt;1,37;03.05.2024\nNut;1.002,50;04.05.2024\nPin;5;05.05.2024\n"),
        ("stock.md", "# Stock\n\n| Article | Count |\n|---|---|\n| Bolt | 3 |\n| Nut | 4 |\n"),
    ];
    let sql = "SELECT p.article, count * price AS value, since_text FROM prices p JOIN stock s ON s.article = p.article ORDER BY 2 DESC";
    let told = told(
        &documents,
        &[
            json!({"list_documents": {}}),
            query(sql),
            query("SELECT count(*) FROM prices WHERE since > '2024-05-03'"),
            query("DELETE FROM prices"),
            query("SELECT * FROM nothing"),
            query("SELECT price FROM prices; SELECT 1"),
            query("SELECT colour FROM prices"),
            query("SELECT count(DISTINCT \"Colour\") FROM prices"),
        ],
    );
    for line in ["table prices (article, price, since; 3 rows)", "table stock (article, count; 2 rows)"] {
        assert!(told[0].1.contains(line), "{}", told[0].1);
    }
    let no_table = answer!("query.names_no_table", names = "prices, stock");
    let expected = [
        (
            "done",
            "2 rows\n| article | value | since_text |\n| --- | --- | --- |\n| Nut | 4010 | 04.05.2024 |\n| Bolt | 4.11 | 03.05.2024 |",
        ),
        ("done", "1 row\n| count(*) |\n| --- |\n| 2 |"),
        ("failed", "only SELECT over the tables of documents is allowed"),
        ("failed", no_table.as_str()),
        ("failed", "there is more than one statement; send one at a time"),
        ("failed", "no such column: colour"),
        ("failed", "no such column: \"Colour\" - should this be a string literal in single-quotes?"),
    ];
    let expected = expected.map(|(end, text)| (end.to_owned(), text.to_owned()));
    assert_eq!(told[1..], expected);
}

#[test]
fn a_long_answer_is_cut_and_an_endless_one_is_given_up() {
    let rows: Vec<String> = (0..5_000).map(|row| format!("{row},{}", row * 2)).collect();
    let documents = [("numbers.csv", &*format!("n,twice\n{}\n", rows.join("\n")))];
    let endless = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r, numbers";
    let told = told(&documents, &[query("SELECT * FROM numbers"), query(endless)]);
    let (end, text) = &told[0];
    // Above the rows are two lines of the table, and the sentence.
    let cut = answer!("query.cut", rows = "1,000 rows", shown = text.lines().count() - 3);
    assert!(end == "done" && text.starts_with(&cut), "{text}");
    assert_eq!(told[1], ("failed".to_owned(), "it takes longer than 5 seconds; ask for less".to_owned()));
}

#[test]
fn without_tables_there_is_nothing_to_ask() {
    assert_eq!(told(&[], &[query("SELECT 1")]), [("failed".to_owned(), answer!("query.no_tables"))]);
}
