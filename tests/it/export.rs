//! `overnight export`: the records of all jobs of a batch in one table, in each form.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::TestDir;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LIST: &str = "output/requirements.json";

/// Three jobs of a batch, each with its statements; one document has what a spreadsheet would take for a formula.
fn batch() -> TestDir {
    let dir = TestDir::new();
    dir.put("many/a.md", "# One\n\nThe keeper must sign, \"twice\".\n\nA guest may stay.\n");
    dir.put("many/b.md", "# Two\n\n=1+1 must be computed.\n");
    dir.put("many/c.md", "# Three\n\nNobody is bound here.\n");
    let submitted = ["submit", "extract-requirements", "-d", "many", "--each", "--batch", "night", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    dir
}

/// The records of all deliverables, each with its job.
fn delivered(dir: &TestDir) -> Vec<Value> {
    let jobs: Vec<Value> = serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap();
    let mut ids: Vec<&str> = jobs.iter().map(|job| job["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let mut records = Vec::new();
    for id in ids {
        let path = dir.path().join("workspaces").join(id).join(LIST);
        let list: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        records.extend(list["requirements"].as_array().unwrap().iter().map(|record| {
            let mut record = record.clone();
            record["job"] = json!(id);
            record
        }));
    }
    records
}

#[test]
fn a_table_has_every_record_of_every_job_in_each_form() {
    let dir = batch();
    let expected = delivered(&dir);
    assert_eq!(expected.len(), 3);
    let export = |words: &[&str]| dir.run_with(&[], &[&["export", "night"], words].concat());
    let lines = export(&["--format", "jsonl"]);
    assert_eq!(lines.code, 0, "{}", lines.stderr);
    let rows: Vec<Value> = lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (row, record) in rows.iter().zip(&expected) {
        for (field, value) in record.as_object().unwrap() {
            assert_eq!(&row[field], value, "{field} of {row}");
        }
        assert_eq!([&row["check"], &row["model"]], [&json!("found"), &json!("offline (11 turns)")]);
    }
    assert_eq!(rows.len(), expected.len());
    assert!(rows.iter().all(|row| row["found_by"].is_null()), "nothing was read twice");
    let table = export(&[]);
    let mut reader = csv::Reader::from_reader(table.stdout.as_bytes());
    let cells: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let quotes: Vec<&str> = cells.iter().map(|row| row["quote"].as_str()).collect();
    assert_eq!(quotes, ["The keeper must sign, \"twice\".", "A guest may stay.", "'=1+1 must be computed."]);
    for name in ["table.xlsx", "table.parquet", "table.sqlite", "table.csv"] {
        let ran = export(&["-o", name]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, "3 records of 3 jobs\n"), "{name}");
        let again = export(&["-o", name]);
        assert_eq!(again.code, 1, "{name} is not written over: {}", again.stderr);
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("table.csv")).unwrap(), table.stdout);
}

#[test]
fn what_can_t_be_exported_is_said() {
    let dir = batch();
    let export = |words: &[&str]| {
        let ran = dir.run_with(&[], &[&["export", "night"], words].concat());
        (ran.code, ran.stderr)
    };
    let file = "error: a table of this form goes into a file: name it with --output FILE\n".to_owned();
    assert_eq!(export(&["--format", "xlsx"]), (2, file));
    let form = "error: the form of the table can't be told by the file's name: add --format csv, jsonl, xlsx, parquet or sqlite\n";
    assert_eq!(export(&["-o", "table.doc"]), (2, form.to_owned()));
    let (code, told) = export(&["--deliverable", "output/none.json"]);
    let none = "error: none of these jobs has a list of records with quotes: there is nothing to export\n";
    assert_eq!((code, told.as_str()), (1, none));
}
