//! Cases from a table: a row for each document, or several rows that are a list's records. A column names the document.

use super::{
    given_cases::{GivenCases, documents_of},
    gold_file::GoldDeliverable,
    golden_set::{GoldError, NewCase},
};
use overnight_evals::comparison::RecordPlaces;
use serde_json::{Map, Number, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Columns that may name the document by default.
const DOCUMENT_COLUMNS: [&str; 4] = ["document", "file", "filename", "name"];

/// Reads a CSV table, such as a workbook's first sheet as `csv`. With `list`, a document's rows are the records of that
/// list, else each document has one row, whose columns are its fields. A dot in a column's name leads into an object.
pub fn given_table(
    csv: &[u8],
    documents: &Path,
    column: Option<&str>,
    list: Option<&str>,
) -> Result<GivenCases, GoldError> {
    let invalid = |why: String| GoldError::Invalid(format!("the table {why}"));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(csv);
    let headers = reader.headers().map_err(|error| invalid(format!("can't be read: {error}")))?.clone();
    let is_it = |header: &str| match column {
        Some(column) => header == column,
        None => DOCUMENT_COLUMNS.iter().any(|known| header.eq_ignore_ascii_case(known)),
    };
    let at = headers.iter().position(is_it).ok_or_else(|| {
        let known: Vec<&str> = headers.iter().collect();
        let which = column.map_or("that names the document".to_owned(), |column| format!("'{column}'"));
        invalid(format!(
            "has no column {which}: its columns are {}; say which with --document-column",
            known.join(", ")
        ))
    })?;
    let mut names = BTreeSet::new();
    if let Some(twice) = headers.iter().find(|header| !names.insert(*header)) {
        return Err(invalid(format!("has two columns '{twice}'")));
    }
    let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut given = GivenCases::default();
    for (number, record) in (2..).zip(reader.records()) {
        let record = record.map_err(|error| invalid(format!("can't be read: {error}")))?;
        if record.len() != headers.len() {
            let why = format!("it has {} cells, and there are {} columns", record.len(), headers.len());
            given.left_out.push((format!("row {number}"), why));
            continue;
        }
        let Some(document) = record.get(at).map(str::trim).filter(|document| !document.is_empty()) else {
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                given.left_out.push((format!("row {number}"), "it names no document".to_owned()));
            }
            continue;
        };
        let mut row = Value::Object(Map::new());
        for (place, header) in headers.iter().enumerate().filter(|(place, _)| *place != at) {
            put(&mut row, header, value(record.get(place).unwrap_or_default().trim()));
        }
        rows.entry(document.to_owned()).or_default().push(row);
    }
    for (document, mut rows) in rows {
        let content = match list {
            Some(list) => Value::Object(Map::from_iter([(list.to_owned(), Value::Array(rows))])),
            None if rows.len() == 1 => rows.remove(0),
            None => {
                let why = format!("it has {} rows: name the list that they are with --list", rows.len());
                given.left_out.push((document, why));
                continue;
            }
        };
        let found = documents_of(documents, &document)?;
        if found.is_empty() {
            given.left_out.push((document, format!("there is no such document in {}", documents.display())));
            continue;
        }
        let name = document.rsplit_once('.').map_or(document.clone(), |(name, _)| name.to_owned());
        given.cases.push(NewCase {
            name,
            documents: found,
            expected: vec![(GoldDeliverable::default(), content, RecordPlaces::default())],
            schemas: vec![None],
            ..NewCase::default()
        });
    }
    Ok(given)
}

/// A cell: an empty one is null; a plain number or truth value is just that, and everything else is text.
fn value(cell: &str) -> Value {
    let is_plain = cell.strip_prefix('-').unwrap_or(cell);
    let is_plain = is_plain.starts_with(|c: char| c.is_ascii_digit())
        && (is_plain.len() == 1 || !is_plain.starts_with('0') || is_plain.starts_with("0."));
    match cell {
        "" => Value::Null,
        "true" | "TRUE" => Value::Bool(true),
        "false" | "FALSE" => Value::Bool(false),
        cell if is_plain => cell.parse::<Number>().map_or_else(|_| Value::from(cell), Value::Number),
        cell => Value::from(cell),
    }
}

fn put(row: &mut Value, path: &str, value: Value) {
    let mut at = row;
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        let Value::Object(fields) = at else { return };
        if keys.peek().is_none() {
            fields.insert(key.to_owned(), value);
            return;
        }
        at = fields.entry(key.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_documents_or_records_of_a_list() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b.txt"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let csv = b"file,tenant.name,rent,start\na.txt,Ann,1250.5,2027-05-03\nb.txt,Bo,,007\nc.txt,Cy,1,\n";
        let given = given_table(csv, folder.path(), None, None).unwrap();
        let expected: Vec<(String, Value)> =
            given.cases.iter().map(|case| (case.name.clone(), case.expected[0].1.clone())).collect();
        let a = json!({"tenant": {"name": "Ann"}, "rent": 1250.5, "start": "2027-05-03"});
        let b = json!({"tenant": {"name": "Bo"}, "rent": null, "start": "007"});
        assert_eq!(expected, [("a".to_owned(), a), ("b".to_owned(), b)]);
        assert_eq!(given.left_out[0].0, "c.txt");

        let csv = b"document,rent\na,1\na,2\n";
        let given = given_table(csv, folder.path(), None, Some("terms")).unwrap();
        assert_eq!(given.cases[0].expected[0].1, json!({"terms": [{"rent": 1}, {"rent": 2}]}));
        let given = given_table(csv, folder.path(), None, None).unwrap();
        assert_eq!(
            given.left_out,
            [("a".to_owned(), "it has 2 rows: name the list that they are with --list".to_owned())]
        );
        let error = given_table(b"x,y\n1,2\n", folder.path(), None, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "the table has no column that names the document: its columns are x, y; say which with --document-column"
        );
    }
}
