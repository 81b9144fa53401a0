//! `overnight export`: the records of all jobs of a batch in one table, in each form.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]
#![expect(dead_code, reason = "an example's own entry is not used here")]

#[path = "../../examples/make_contracts.rs"]
mod make_contracts;
mod workbook;

use crate::{
    cli_run::{TestDir, bootstrap, complete, done, reply, write},
    support::wait,
};
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::Field,
};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::Read,
};

const LIST: &str = "output/requirements.json";
/// What the program tells of each record, in the order of the columns.
const KNOWN: [&str; 17] = [
    "page_found",
    "line_found",
    "box",
    "check",
    "value_in_quote",
    "found_by",
    "open_finding",
    "reviewer",
    "corrected",
    "review_page",
    "model",
    "paid",
    "job_confidence",
    "job_status",
    "instructions_sha256",
    "job",
    "place",
];

/// Three jobs of a batch, each with its statements; one document has what a spreadsheet would take for a formula.
fn batch() -> TestDir {
    let dir = TestDir::new();
    dir.put("many/a.md", "# One\n\nThe keeper must sign, \"twice\".\n\nA guest may stay.\n");
    dir.put("many/b.md", "# Two\n\n=1+1 must be computed.\n");
    dir.put("many/c.md", "# Three\n\nNobody is bound here.\n");
    work(&dir, "extract-requirements", "many", "night");
    dir
}

fn work(dir: &TestDir, instructions: &str, documents: &str, batch: &str) {
    let submitted = ["submit", instructions, "-d", documents, "--each", "--batch", batch, "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
}

/// Exit code, and what was told.
fn told(dir: &TestDir, words: &[&str]) -> (i32, String) {
    let ran = dir.run_with(&[], &[&["export"], words].concat());
    // Ids of jobs differ from run to run.
    let line = |line: &str| match line.strip_prefix("without any record: ").and_then(|rest| rest.split_once(": ")) {
        Some((count, _)) => format!("without any record: {count}\n"),
        None => format!("{line}\n"),
    };
    (ran.code, ran.stderr.lines().map(line).collect::<Vec<_>>().concat())
}

fn rows(dir: &TestDir, words: &[&str]) -> Vec<Value> {
    let ran = dir.run_with(&[], &[&["export", "--format", "jsonl"], words].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records of all deliverables, each with its job and its place, as they lie in the workspaces.
fn delivered(dir: &TestDir) -> Vec<Value> {
    let jobs: Vec<Value> = serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap();
    let mut ids: Vec<&str> = jobs.iter().map(|job| job["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let mut records = Vec::new();
    for id in ids {
        let path = dir.path().join("workspaces").join(id).join(LIST);
        let Ok(list) = std::fs::read(path) else { continue };
        let list: Value = serde_json::from_slice(&list).unwrap();
        records.extend(list["requirements"].as_array().unwrap().iter().enumerate().map(|(number, record)| {
            let mut record = record.clone();
            record["job"] = json!(id);
            record["place"] = json!(format!("$.requirements[{number}]"));
            record
        }));
    }
    records
}

/// Each record stands in its row with all its fields.
fn are_rows_of(records: &[Value], rows: &[Value], form: &str) {
    assert_eq!(rows.len(), records.len(), "{form}");
    for (row, record) in rows.iter().zip(records) {
        for (field, value) in record.as_object().unwrap() {
            assert_eq!(&row[field], value, "{form}: {field} of {row}");
        }
    }
}

fn of_csv(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn of_parquet(dir: &TestDir, name: &str) -> Vec<Value> {
    let reader = SerializedFileReader::new(File::open(dir.path().join(name)).unwrap()).unwrap();
    let cell = |field: &Field| match field {
        Field::Null => Value::Null,
        Field::Str(text) => json!(text),
        Field::Long(number) => json!(number),
        Field::Bool(flag) => json!(flag),
        Field::Double(number) => json!(number),
        other => panic!("{other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    rows.map(|row| row.get_column_iter().map(|(name, field)| (name.clone(), cell(field))).collect()).collect()
}

fn of_sqlite(dir: &TestDir, name: &str, columns: &[&str]) -> Vec<Value> {
    let fields: Vec<String> = columns.iter().map(|name| format!("'{name}', \"{name}\"")).collect();
    let select = format!("select json_object({}) from records order by rowid", fields.join(", "));
    let url = format!("sqlite://{}", dir.path().join(name).display());
    let rows: Vec<String> = wait(async {
        let mut database = SqliteConnection::connect(&url).await.unwrap();
        sqlx::query_scalar(sqlx::AssertSqlSafe(select)).fetch_all(&mut database).await.unwrap()
    });
    rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// A part of a workbook.
fn of_xlsx(dir: &TestDir, name: &str, part: &str) -> String {
    let mut file = zip::ZipArchive::new(File::open(dir.path().join(name)).unwrap()).unwrap();
    let mut text = String::new();
    file.by_name(part).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_table_has_every_record_of_every_job_in_each_form() {
    let dir = batch();
    let expected = delivered(&dir);
    assert_eq!(expected.len(), 3);
    let lines = rows(&dir, &["night"]);
    are_rows_of(&expected, &lines, "jsonl");
    let own = ["document", "id", "page", "line", "section", "strength", "quote"];
    let names: Vec<&str> = lines[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, [&own[..], &KNOWN].concat());
    for row in &lines {
        let known = ["check", "found_by", "model", "job_status"].map(|name| &row[name]);
        assert_eq!(known, [&json!("found"), &Value::Null, &json!("offline (8 turns)"), &json!("completed")]);
    }
    let table = dir.run_with(&[], &["export", "night"]);
    let cells = of_csv(&table.stdout);
    let quotes: Vec<&str> = cells.iter().map(|row| row["quote"].as_str()).collect();
    assert_eq!(quotes, ["The keeper must sign, \"twice\".", "A guest may stay.", "'=1+1 must be computed."]);
    for name in ["table.xlsx", "table.parquet", "table.sqlite", "table.csv"] {
        let words = ["night", "-o", name, "--review", "pages"];
        assert_eq!(told(&dir, &words), (0, "without any record: 1 job\n3 records of 3 jobs\n".to_owned()), "{name}");
        let there = "is there already, and nothing is written over: name a new file, or delete it";
        assert_eq!(told(&dir, &words), (2, format!("error: {name} {there}\n")));
    }
    are_rows_of(&expected, &of_parquet(&dir, "table.parquet"), "parquet");
    are_rows_of(&expected, &of_sqlite(&dir, "table.sqlite", &names), "sqlite");
    let page = |row: &Value| format!("pages/{}.html", row["job"].as_str().unwrap());
    let csv = of_csv(&std::fs::read_to_string(dir.path().join("table.csv")).unwrap());
    let linked = format!("{}#record-requirements-requirements-1", page(&expected[1]));
    assert_eq!(csv[1]["review_page"], linked);
    let sheet = of_xlsx(&dir, "table.xlsx", "xl/worksheets/sheet1.xml");
    for part in ["<pane ySplit=\"1\"", "<autoFilter ref=\"A1:X4\"", ">=1+1 must be computed.<"] {
        assert!(sheet.contains(part), "{part}: {sheet}");
    }
    assert!(!sheet.contains("<f>"), "no formula: {sheet}");
    let notes = of_xlsx(&dir, "table.xlsx", "xl/comments1.xml");
    assert!(notes.contains("A guest may stay.\n\na.md, line 5, found"), "{notes}");
    let addresses = of_xlsx(&dir, "table.xlsx", "xl/worksheets/_rels/sheet1.xml.rels");
    assert!(addresses.contains(&page(&expected[2])), "{addresses}");
}

#[test]
fn what_people_said_stands_beside_the_record() {
    let dir = batch();
    let ids: Vec<String> = delivered(&dir).iter().map(|record| record["job"].as_str().unwrap().to_owned()).collect();
    let say = |words: &[&str]| {
        let ran = dir.run_with(&[], words);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    say(&["correct", &ids[0], "$.requirements[0].strength", "SHALL", "--as", "anna"]);
    say(&["correct", &ids[0], "$.requirements[0].strength", "SHOULD", "--as", "anna"]);
    say(&["approve", &ids[0], "--record", "$.requirements[1]", "--as", "ben"]);
    let reviewed = |words: &[&str]| -> Vec<[Value; 3]> {
        rows(&dir, words)
            .iter()
            .map(|row| ["strength", "corrected", "reviewer"].map(|name| row[name].clone()))
            .collect()
    };
    let corrected = json!(r#"{"strength":"SHOULD"}"#);
    let rest = [[json!("MAY"), Value::Null, json!("ben")], [json!("MUST"), Value::Null, Value::Null]];
    let as_written = [&[[json!("MUST"), corrected.clone(), json!("anna")]], &rest[..]].concat();
    assert_eq!(reviewed(&["night", "--as-written"]), as_written);
    let as_corrected = [&[[json!("SHOULD"), corrected, json!("anna")]], &rest[..]].concat();
    assert_eq!(reviewed(&["night"]), as_corrected);
}

#[test]
fn a_table_is_of_one_list_and_says_which_others_there_are() {
    let dir = batch();
    work(&dir, "summarize-documents", "many/b.md", "short");
    let others = "other lists, each a table of its own with --deliverable: output/key_points.json (1 job)\n";
    assert_eq!(
        told(&dir, &["night", "short", "-o", "a.csv"]),
        (0, format!("without any record: 1 job\n{others}3 records of 3 jobs\n"))
    );
    let words = ["night", "short", "--deliverable", "output/key_points.json"];
    assert_eq!(rows(&dir, &words)[0]["quote"], "=1+1 must be computed.");
    let (code, told) = told(&dir, &["night", "--deliverable", "output/none.json"]);
    let none = "error: there is nothing to export, because none of these jobs has a list of records 'output/none.json': name \
                one of output/requirements.json (3 jobs)\n";
    assert_eq!((code, told.as_str()), (1, none));
}

#[test]
fn odd_records_keep_what_they_say_and_a_broken_list_is_left_out() {
    let dir = batch();
    let ids: BTreeSet<String> = delivered(&dir).iter().map(|row| row["job"].as_str().unwrap().to_owned()).collect();
    let [first, second] = &ids.into_iter().collect::<Vec<_>>()[..] else { panic!("two jobs have records") };
    let odd = [
        json!({"quote": "q", "party": {"name": "A", "share": 0.5}, "tags": ["x", {"y": 1}], "mixed": 1, "job": "mine"}),
        json!({"quote": "@q", "party": {"name": null, "share": 1}, "mixed": "one", "large": u64::MAX, "Tags": true}),
    ];
    let put = |job: &str, text: String| dir.put(&format!("workspaces/{job}/{LIST}"), text);
    put(first, json!({"before": [{"requirements": 1}], "requirements": odd}).to_string());
    put(second, "{\"requirements\": [{\"quote\": \"q\"}, ".to_owned());
    let broken = format!(
        "left out: job {second} (output/requirements.json is not JSON: EOF while parsing a value at line 1 column 34)\n"
    );
    assert_eq!(
        told(&dir, &["night", "-o", "a.parquet"]),
        (3, format!("{broken}without any record: 1 job\n2 records of 2 jobs\n"))
    );
    let rows = of_parquet(&dir, "a.parquet");
    let names = ["party.name", "party.share", "tags", "mixed", "job", "overnight_job", "large"];
    let cells = |row: &Value| names.map(|name| row[name].clone());
    let tags = json!(r#"["x",{"y":1}]"#);
    assert_eq!(cells(&rows[0]), [json!("A"), json!(0.5), tags, json!("1"), json!("mine"), json!(first), Value::Null]);
    // What of it has one name and one kind for a program has them for a database too.
    assert_eq!(told(&dir, &["night", "-o", "a.db"]).0, 3);
    let sqlite = of_sqlite(&dir, "a.db", &["mixed", "tags", "Tags_2"]);
    assert_eq!(sqlite[1], json!({"mixed": "one", "tags": null, "Tags_2": 1}));
    let lines = dir.run_with(&[], &["export", "night", "--format", "jsonl", "-o", "-"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        [&lines[0]["mixed"], &lines[1]["mixed"], &lines[1]["large"]],
        [&json!(1), &json!("one"), &json!(u64::MAX)]
    );
    let large = json!(u64::MAX.to_string());
    assert_eq!(cells(&rows[1]), [Value::Null, json!(1.0), Value::Null, json!("one"), Value::Null, json!(first), large]);
}

/// Reference numbers and shares with more digits than a binary number of 64 bits has: as the model wrote them, as a person corrects
/// another field, as `add_records` writes the file anew, and in each table.
#[test]
fn numbers_keep_all_their_digits() {
    let [reference, share] = ["12345678901234567890123", "0.12345678901234567890"];
    let dir = TestDir::new();
    dir.put("greetings/a.txt", "Hello.\n");
    dir.put(
        "t.md",
        "---\nname: s\ndeliverables:\n  - path: output/o.json\n    quotes: { each: \"$.items[*]\", text: quote, document: document }\n---\nDo.\n",
    );
    let record = format!(r#"{{"ref":{reference},"share":{share},"quote":"Hello.","document":"a.txt"}}"#);
    let added = json!({"ref": 7, "share": 1.5, "quote": "Hello", "document": "a.txt"});
    let add = json!({"add_records": {"path": "output/o.json", "records": [added]}});
    dir.script(
        "s.json",
        &[
            bootstrap(&["Work"]),
            reply(&[json!({"read_document": {"name": "a.txt"}}), done()]),
            reply(&[
                write("output/o.json", &format!(r#"{{"items":[{record}]}}"#)),
                add,
                done(),
                done(),
                done(),
                done(),
            ]),
            reply(&[done(), done(), complete("output/o.json")]),
        ],
    );
    let run = |words: &[&str]| {
        let ran = dir.run_with(&[], words);
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        ran.stdout
    };
    run(&["run", "./t.md", "-d", "greetings", "--model", "scripted:s.json", "-q"]);
    run(&["correct", "last", "$.items[1].ref", "8", "-q"]);
    let has_all = |text: &str| [reference, share].map(|number| text.contains(number));
    let [deliverable, corrected] = ["o.json", "o.corrected.json"]
        .map(|name| fs::read_to_string(dir.workspace().join("output").join(name)).unwrap());
    let ours = |form: &str| run(&["export", "last", "--format", form, "-o", "-"]);
    run(&["export", "last", "-o", "a.xlsx"]);
    let sheet = of_xlsx(&dir, "a.xlsx", "xl/worksheets/sheet1.xml");
    let all = [deliverable, corrected, ours("jsonl"), ours("csv"), sheet];
    assert_eq!(all.each_ref().map(|text| has_all(text)), [[true; 2]; 5], "{all:#?}");
    let lines: Vec<Value> = ours("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0]["ref"].to_string(), lines[0]["share"].to_string()), (reference.to_owned(), share.to_owned()));
}

#[test]
fn made_contracts_have_the_truth_beside_them() {
    let dir = TestDir::new();
    make_contracts::make(dir.path(), 6).unwrap();
    work(&dir, "extract-requirements", "contracts", "contracts");
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let read: BTreeMap<String, Vec<String>> = walkdir::WalkDir::new(dir.path().join("workspaces"))
        .into_iter()
        .map(Result::unwrap)
        .filter(|file| file.file_type().is_file() && file.path().parent().unwrap().ends_with("documents/.text"))
        .map(|file| {
            let name = file.file_name().to_str().unwrap().strip_suffix(".txt").unwrap().to_owned();
            (name, std::fs::read_to_string(file.path()).unwrap().split('\u{c}').map(one_line).collect())
        })
        .collect();
    let text = std::fs::read_to_string(dir.path().join("truth.jsonl")).unwrap();
    let truth: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_there = |sentence: &&Value| {
        let (document, text) = (sentence["document"].as_str().unwrap(), one_line(sentence["text"].as_str().unwrap()));
        let place = sentence["page"].as_u64().map_or(0, |page| page - 1);
        read[document][usize::try_from(place).unwrap()].contains(&text)
    };
    let gone: Vec<&Value> = truth.iter().filter(|sentence| !is_there(sentence)).collect();
    assert!(truth.len() > 100 && gone.is_empty(), "{gone:#?}");
}

#[test]
fn what_can_t_be_exported_is_said() {
    let dir = batch();
    let file = "error: a table of this form goes into a file: name it with --output FILE\n".to_owned();
    assert_eq!(told(&dir, &["night", "--format", "xlsx"]), (2, file));
    let form = "error: the form of the table can't be told by the file's name: add --format csv, jsonl, xlsx, parquet or \
                sqlite\n";
    assert_eq!(told(&dir, &["night", "-o", "table.doc"]), (2, form.to_owned()));
    let folder = "error: there is no folder none for the table: make it first\n".to_owned();
    assert_eq!(told(&dir, &["night", "-o", "none/table.csv"]), (2, folder));
}
