//! A workbook as it is opened: its sheets with their cells, formats and colours.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{LIST, batch, delivered, of_xlsx, rows};
use crate::cli_run::{RUN, TestDir, bootstrap, complete, done, reply, work, write};
use regex::Regex;
use serde_json::{Value, json};

const TASK: &str = r#"---
name: contracts
description: What each contract says
coverage: 0
confidence_floor: 0.95
deliverables:
  - path: output/c.json
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
              share: { type: number }
    quotes:
      - { each: "$.contracts[*]", text: words, document: document }
      - { each: "$.contracts[*]", text: title_quote, document: document }
      - { each: "$.contracts[*].lines[*]", text: words, document: document }
---
# Task

List the contracts.
"#;

/// All matches of a pattern's groups.
fn found(pattern: &str, text: &str) -> Vec<Vec<String>> {
    let group = |found: regex::Match<'_>| found.as_str().to_owned();
    let all = |found: regex::Captures<'_>| {
        found.iter().skip(1).map(|found| found.map(group).unwrap_or_default()).collect::<Vec<_>>()
    };
    Regex::new(pattern).unwrap().captures_iter(text).map(all).collect()
}

/// How cells look, by the number of their style: `[yyyy-mm-dd yellow grey]`.
fn looks(dir: &TestDir, name: &str) -> Vec<String> {
    let styles = of_xlsx(dir, name, "xl/styles.xml");
    let part = |tag: &str| found(&format!("(?s)<{tag}[ >](.*?)</{tag}>"), &styles)[0][0].clone();
    let fonts = found("(?s)<font>(.*?)</font>", &part("fonts"));
    let fills = found("(?s)<fill>(.*?)</fill>", &part("fills"));
    let own = found("numFmtId=\"(\\d+)\" formatCode=\"([^\"]*)\"", &styles);
    let formats = found("numFmtId=\"(\\d+)\" fontId=\"(\\d+)\" fillId=\"(\\d+)\"", &part("cellXfs"));
    let look = |xf: &Vec<String>| {
        let [format, font, fill] = [0, 1, 2].map(|place| xf[place].parse::<usize>().unwrap());
        let number = match format {
            0 => "",
            3 => "#,##0",
            4 => "#,##0.00",
            _ => own.iter().find(|own| own[0] == xf[0]).unwrap()[1].as_str(),
        };
        let colours = [("FFF2AB", "yellow"), ("D5EFCF", "green"), ("808080", "grey"), ("<b/>", "bold")];
        let seen =
            colours.iter().filter(|(sign, _)| [&fonts[font][0], &fills[fill][0]].iter().any(|it| it.contains(sign)));
        let words = [number].into_iter().chain(seen.map(|(_, name)| *name)).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    };
    formats.iter().map(look).collect()
}

/// The sheets by their names: of each row its cells, each with how it looks in brackets.
fn sheets(dir: &TestDir, name: &str) -> Vec<(String, Vec<String>)> {
    let looks = looks(dir, name);
    let names = found("<sheet name=\"([^\"]*)\"", &of_xlsx(dir, name, "xl/workbook.xml"));
    let sheet = |number: usize| {
        let text = of_xlsx(dir, name, &format!("xl/worksheets/sheet{number}.xml"));
        let row = |row: &Vec<String>| {
            let cells = found("(?s)<c r=\"[A-Z]+\\d+\"( s=\"\\d+\")?[^>]*?(?:/>|>(.*?)</c>)", &row[0]);
            let cell = |cell: &Vec<String>| {
                let value = Regex::new("<[^>]*>").unwrap().replace_all(&cell[1], "").into_owned();
                let style =
                    found("s=\"(\\d+)\"", &cell[0]).first().map_or(0, |style| style[0].parse::<usize>().unwrap());
                if looks[style].is_empty() { value } else { format!("{value} [{}]", looks[style]) }
            };
            cells.iter().map(cell).collect::<Vec<_>>().join(" | ")
        };
        found("(?s)<row [^>]*>(.*?)</row>", &text).iter().map(row).collect()
    };
    names.into_iter().zip(1..).map(|(name, number)| (name[0].clone(), sheet(number))).collect()
}

/// What is compared of it.
fn as_text(sheets: &[(String, Vec<String>)]) -> String {
    sheets.iter().map(|(name, rows)| [&[format!("{name}:")], &rows[..], &[String::new()]].concat().join("\n")).collect()
}

#[test]
fn values_have_formats_and_colours_lists_have_sheets_and_what_is_missing_is_named() {
    let dir = batch();
    dir.put("later/d.md", "# Four\n\nA seal must be set.\n");
    dir.put("later/e.md", "# Five\n\nA seal may be broken.\n");
    dir.put("later/f.pdf", "%PDF-1.4 and no more");
    assert_eq!(dir.run(&["submit", "extract-requirements", "-d", "later", "--each", "--batch", "later", "-q"]).code, 0);
    let jobs: Vec<Value> = serde_json::from_str(&dir.run(&["jobs", "--json"]).stdout).unwrap();
    let id = |label: &str| jobs.iter().find(|job| job["label"] == label).unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(dir.run(&["cancel", &id("e.md"), "-q"]).code, 0);
    let first = delivered(&dir)[0]["job"].as_str().unwrap().to_owned();
    let corrected = dir.run(&["correct", &first, "$.requirements[0].strength", "SHALL", "--as", "anna"]);
    assert_eq!(corrected.code, 0, "{}", corrected.stderr);
    let record = |due: &str, amount: f64, count: u64, lines: Value, quote: &str| {
        json!({
            "id": due, "document": "a.md", "due": due, "amount": amount, "count": count, "year": 2024,
            "strength": "MUST", "lines": lines, "quote": quote,
        })
    };
    let lines = json!([{"what": "seal", "amount": 7, "tags": ["x"]}, {"what": "wax", "amount": 0.25, "id": 9}]);
    let list = json!({"requirements": [
        record("2024-05-03", 1250.5, 1200, lines, "The keeper must sign, \"twice\"."),
        record("2024-12-31", 3.0, 7, json!([]), "A guest may stay."),
    ]});
    dir.put(&format!("workspaces/{first}/{LIST}"), list.to_string());
    let file = format!("workspaces/{first}/quotes.jsonl");
    let quotes = std::fs::read_to_string(dir.path().join(&file)).unwrap();
    let quotes = quotes.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        match line["item"].as_str().unwrap() {
            "$.requirements[0]" => line["values"] = json!({"amount": "not_in_quote"}),
            _ => line["result"] = json!("not_found"),
        }
        format!("{line}\n")
    });
    dir.put(&file, quotes.collect::<String>());
    let columns = "quote,document,due,amount,count,year,strength,lines";
    let words = ["export", "night", "later", "--columns", columns, "-o", "a.xlsx", "-q"];
    assert_eq!(dir.run(&words).code, 3);
    let text = ["c.md", "d.md", "e.md"]
        .iter()
        .fold(as_text(&sheets(&dir, "a.xlsx")), |text, label| text.replace(&id(label), &format!("JOB-{label}")));
    assert_eq!(
        text,
        "\
records:
quote [bold] | document [bold] | due [bold] | amount [bold] | count [bold] | year [bold] | strength [bold] | lines [bold]
The keeper must sign, \"twice\". | a.md [yellow] | 45415 [yyyy-mm-dd] | 1250.5 [#,##0.00 yellow] | 1200 [#,##0] | 2024 | SHALL [green] | 2 rows: see the sheet lines
A guest may stay. [yellow] | a.md [yellow] | 45657 [yyyy-mm-dd] | 3 [#,##0.00] | 7 [#,##0] | 2024 | MUST | []
=1+1 must be computed. | b.md | MUST
Not in this table:
documents [bold] | job_status [bold] | reason [bold] | job [bold]
c.md | completed | it has no record | JOB-c.md
d.md | queued | it is not finished (queued) | JOB-d.md
e.md | cancelled | it was cancelled: cancelled before it was begun | JOB-e.md
later/f.pdf | no job has read it: can't be read as PDF, because it is cut off before its table of objects: open it in its own program and save it again, or leave it out
lines:
row [bold] | document [bold] | id [bold] | section [bold] | what [bold] | amount [bold] | tags [bold] | lines.id [bold]
2 | a.md | 2024-05-03 | seal | 7 [#,##0.00] | [\"x\"]
2 | a.md | 2024-05-03 | wax | 0.25 [#,##0.00] | 9 [#,##0]
Legend:
colour [bold] | meaning [bold]
yellow [yellow] | The value does not stand in its quote, or may not; or the quote is not found, or only one of two readings of a scan has it. The document is yellow where anything of its row is.
green [green] | A person has corrected the value.
grey [grey] | The job of the record is partial or blocked.
"
    );
    // In every form the columns are those that were named, in their order.
    let lines = rows(&dir, &["night", "--columns", "due, document"]);
    assert_eq!(lines[0].to_string(), r#"{"due":"2024-05-03","document":"a.md"}"#);
    let unknown = dir.run(&["export", "night", "--columns", "due,date,quote"]);
    let known = "error: there is no column 'date': the columns are document, id, page, line, section, strength, quote, due, \
                 amount, count, year, lines, page_found, line_found, box, check, value_in_quote, found_by, open_finding, reviewer, \
                 corrected, review_page, model, paid, job_confidence, job_status, instructions_sha256, job, place\n";
    assert_eq!((unknown.code, unknown.stderr.as_str()), (2, known));
}

#[test]
fn rows_of_a_partial_job_are_grey_and_lines_have_the_document_of_their_contract() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    let contract = |title: &str, signed: &str, document: &str, lines: Value| {
        let quote = (title == "B").then_some("It stands nowhere.");
        json!({
            "title": title, "title_quote": quote, "signed": signed, "share": 0.5, "document": document, "words": null,
            "lines": lines,
        })
    };
    let contracts = json!({"contracts": [
        contract("A", "2024-05-03", "a.md", json!([{"what": "x", "words": null}, {"what": "y", "words": null, "document": "b.md"}])),
        contract("B", "open", "b.md", json!([{"what": "z", "words": null}])),
    ]});
    let refused = json!({"add_records": {"path": "output/c.json", "list": "contracts", "records": [{"title": 7}]}});
    let written = write("output/c.json", &contracts.to_string());
    let ends = std::iter::repeat_n(reply(&[complete("output/c.json")]), 4);
    let replies = [bootstrap(&["Reading"]), reply(&[refused]), work(written), reply(&vec![done(); 5])];
    dir.script("script.json", &replies.into_iter().chain(ends).collect::<Vec<_>>());
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let corrected = dir.run(&["correct", "last", "$.contracts[0].lines[1].what", "w"]);
    assert_eq!(corrected.code, 0, "{}", corrected.stderr);
    let lines = rows(&dir, &["last", "--deliverable", "output/c.json#contracts[*].lines"]);
    let documents: Vec<&Value> = lines.iter().map(|line| &line["document"]).collect();
    assert_eq!(documents, ["a.md", "b.md", "b.md"]);
    assert_eq!(dir.run(&["export", "last", "-o", "a.xlsx", "--columns", "document,title,signed,share,lines"]).code, 0);
    let id = dir.workspace().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(
        as_text(&sheets(&dir, "a.xlsx")).replace(&id, "JOB"),
        "\
records:
document [bold] | title [bold] | signed [bold] | share [bold] | lines [bold]
a.md [grey] | A [grey] | 45415 [yyyy-mm-dd grey] | 0.5 [#,##0.00 grey] | 2 rows: see the sheet lines [green grey]
b.md [yellow grey] | B [yellow grey] | open [grey] | 0.5 [#,##0.00 grey] | 1 row: see the sheet lines [grey]
Not in this table:
documents [bold] | job_status [bold] | reason [bold] | job [bold]
a.md, b.md | partial | it is partial: not met after 3 refusals: output/c.json: schema; output/c.json: quotes (title_quote): 0 of 1 found; 1 record was refused, and not mended: title: this value is not of type \"string\" | JOB
lines:
row [bold] | document [bold] | title [bold] | signed [bold] | what [bold] | lines.document [bold]
2 [grey] | a.md [grey] | A [grey] | 45415 [yyyy-mm-dd grey] | x [grey]
2 [grey] | a.md [grey] | A [grey] | 45415 [yyyy-mm-dd grey] | w [green grey] | b.md [grey]
3 [grey] | b.md [grey] | B [grey] | open [grey] | z [grey]
Legend:
colour [bold] | meaning [bold]
yellow [yellow] | The value does not stand in its quote, or may not; or the quote is not found, or only one of two readings of a scan has it. The document is yellow where anything of its row is.
green [green] | A person has corrected the value.
grey [grey] | The job of the record is partial or blocked.
"
    );
}
