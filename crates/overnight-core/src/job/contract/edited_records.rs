//! Records of a deliverable by their places: shown a line each, and changed or removed.

use super::{
    record_list::{ListPath, list_of},
    records::refused,
    sources::Sources,
};
use crate::{
    answer,
    job::{
        arguments::{ListRecords, RecordEdit},
        instructions::Deliverable,
    },
    tokens::{estimate, head},
};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// Tokens of one text of a record that are shown.
const TEXT_TOKENS: u64 = 60;
/// Tokens of the first line, and of the line that names the next call.
const FRAME_TOKENS: u64 = 80;
/// The field of a record that names its document, unless a rule for quotes names another.
const DOCUMENT: &str = "document";

/// Makes all `edits` of the file whose text is `current`, and returns the whole file. The error is a sentence for the
/// caller: then no edit is made.
pub fn edit_records(
    d: &Deliverable,
    current: &str,
    edits: &[RecordEdit],
    sources: &mut dyn Sources,
) -> Result<String, String> {
    let mut file = read(d, current)?;
    let mut by_list: Vec<(ListPath, BTreeMap<usize, &RecordEdit>)> = Vec::new();
    for edit in edits {
        let (list, index) = place_of(d, &edit.place)?;
        let known = by_list.iter().position(|(known, _)| *known == list);
        let place = known.unwrap_or_else(|| {
            by_list.push((list, BTreeMap::new()));
            by_list.len() - 1
        });
        if by_list[place].1.insert(index, edit).is_some() {
            return Err(answer!("records.named_twice", place = edit.place));
        }
    }
    for (list, edits) in &by_list {
        let items = list.items(&mut file).ok_or_else(|| answer!("records.no_list", list, file = d.path))?;
        let mut changed: Vec<(usize, Value)> = Vec::new();
        for (&index, edit) in edits {
            let Some(record) = items.get(index) else {
                let place = format!("{list}[{index}]");
                return Err(answer!("records.no_such_place", place, count = items.len()));
            };
            if let Some(fields) = &edit.set {
                let mut record = record.clone();
                let Some(object) = record.as_object_mut() else {
                    return Err(answer!("records.no_fields", place = format!("{list}[{index}]")));
                };
                object.extend(fields.clone());
                changed.push((index, record));
            }
        }
        let records: Vec<Value> = changed.iter().map(|(_, record)| record.clone()).collect();
        let all: Vec<usize> = (0..records.len()).collect();
        let refused = refused(d, list, &records, &all, sources)?;
        if !refused.is_empty() {
            let faults = refused.iter().flat_map(|(place, refusal)| {
                refusal.faults.iter().map(|fault| format!("{list}[{}]{fault}", changed[*place].0))
            });
            return Err(answer!("records.unchanged", faults = faults.collect::<Vec<_>>().join(" ")));
        }
        for (index, record) in changed {
            items[index] = record;
        }
        let removed: BTreeSet<usize> =
            edits.iter().filter(|(_, edit)| edit.remove == Some(true)).map(|(index, _)| *index).collect();
        let mut index = 0;
        items.retain(|_| {
            index += 1;
            !removed.contains(&(index - 1))
        });
    }
    Ok(format!("{file:#}\n"))
}

/// A summary of the edits: `Changed 2 records and removed 1`.
pub fn edits_told(edits: &[RecordEdit]) -> String {
    let removed = edits.iter().filter(|edit| edit.remove == Some(true)).count();
    let records = |count: usize| if count == 1 { "1 record".to_owned() } else { format!("{count} records") };
    match edits.len() - removed {
        0 => format!("Removed {}", records(removed)),
        changed if removed == 0 => format!("Changed {}", records(changed)),
        changed => format!("Changed {} and removed {removed}", records(changed)),
    }
}

/// The records of the file whose text is `current`, one per line, in at most `most` tokens. `is_meant` says whether a
/// record's document is the one that was named. The error is a sentence for the caller.
pub fn list_records(
    d: &Deliverable,
    current: &str,
    wanted: &ListRecords,
    is_meant: &dyn Fn(&str) -> bool,
    most: u64,
) -> Result<String, String> {
    let list = list_of(d, wanted.list.as_deref())?;
    let mut file = read(d, current)?;
    let items = list.items(&mut file).ok_or_else(|| answer!("records.no_list", list, file = d.path))?;
    let key = d.quotes.first().map_or(DOCUMENT, |rule| rule.document.as_str());
    let is_wanted =
        |record: &Value| wanted.document.is_none() || record.get(key).and_then(Value::as_str).is_some_and(is_meant);
    let all: Vec<(usize, &Value)> = items.iter().enumerate().filter(|(_, record)| is_wanted(record)).collect();
    let of = match &wanted.document {
        Some(document) => format!(" of {}", head(document, 30)),
        None => String::new(),
    };
    let offset = usize::try_from(wanted.offset.unwrap_or(0)).unwrap_or(usize::MAX);
    if offset > 0 && offset >= all.len() {
        return Err(answer!("records.offset_too_large", records = format!("{} records{of}", all.len())));
    }
    let records = format!("{} {}{of}", all.len(), if all.len() == 1 { "record" } else { "records" });
    let mut text = answer!("records.listed", list, records);
    let mut left = most.saturating_sub(FRAME_TOKENS);
    let mut shown = 0;
    for (index, record) in &all[offset.min(all.len())..] {
        let line = format!("\n[{index}] {}", compact(record, wanted.fields.as_deref()));
        let tokens = estimate(&line);
        if tokens > left && shown > 0 {
            break;
        }
        left = left.saturating_sub(tokens);
        text.push_str(&line);
        shown += 1;
    }
    let next = offset + shown;
    if next < all.len() {
        let _ = write!(text, "\n{}", answer!("records.listed_in_part", count = all.len() - next, next));
    }
    Ok(text)
}

/// A record in a line: these fields of it, long texts cut.
fn compact(record: &Value, fields: Option<&[String]>) -> String {
    let cut = |value: &Value| match value {
        Value::String(text) => {
            let shown = head(text, TEXT_TOKENS);
            Value::from(if shown.len() < text.len() { format!("{shown}…") } else { shown.to_owned() })
        }
        other => other.clone(),
    };
    match record {
        Value::Object(object) => {
            let is_wanted = |key: &String| fields.is_none_or(|fields| fields.is_empty() || fields.contains(key));
            let shown = object.iter().filter(|(key, _)| is_wanted(key)).map(|(key, value)| (key.clone(), cut(value)));
            Value::Object(shown.collect::<Map<_, _>>()).to_string()
        }
        other => cut(other).to_string(),
    }
}

fn read(d: &Deliverable, text: &str) -> Result<Value, String> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
        .map_err(|error| answer!("records.unreadable_file", file = d.path, error))
}

/// The list and the index of a place: `$.items[3]`, or `[3]` and `3` where there is one list.
fn place_of(d: &Deliverable, place: &str) -> Result<(ListPath, usize), String> {
    let wrong = || answer!("records.unreadable_place", place = head(place, 30));
    let place = place.trim();
    let (list, index) = match place.strip_suffix(']').and_then(|place| place.rsplit_once('[')) {
        Some((list, index)) => (list, index),
        None => ("", place),
    };
    let index = index.trim().parse().map_err(|_| wrong())?;
    Ok((list_of(d, Some(list).filter(|list| !list.is_empty() && *list != "$"))?, index))
}

#[cfg(test)]
mod tests {
    use super::super::{QuoteQuery, QuoteResult};
    use super::*;
    use crate::job::instructions::Quotes;
    use serde_json::json;

    fn deliverable() -> Deliverable {
        let schema = json!({
            "type": "object", "properties": {
                "items": {"type": "array", "items": {
                    "type": "object", "required": ["quote"], "properties": {"quote": {"type": "string"}, "n": {"type": "integer"}},
                }},
                "notes": {"type": "array"},
            },
        });
        let rule = Quotes {
            each: "$.items[*]".to_owned(),
            text: "quote".to_owned(),
            document: "source".to_owned(),
            ..Quotes::default()
        };
        Deliverable {
            path: "output/r.json".to_owned(),
            schema: Some(schema),
            quotes: vec![rule],
            ..Deliverable::default()
        }
    }

    fn file() -> String {
        let item = |n: u64, source: &str| json!({"quote": format!("good {n}"), "n": n, "source": source});
        json!({"items": [item(0, "a.md"), item(1, "b.md"), item(2, "a.md")], "notes": []}).to_string()
    }

    fn find(asked: QuoteQuery<'_>) -> QuoteResult {
        if asked.quote.starts_with("good") { QuoteResult::Found } else { QuoteResult::NotFound { nearest: None } }
    }

    fn edit(edits: &Value) -> Result<Value, String> {
        let edits: Vec<RecordEdit> = serde_json::from_value(edits.clone()).unwrap();
        let text = edit_records(&deliverable(), &file(), &edits, &mut find)?;
        Ok(serde_json::from_str::<Value>(&text).unwrap()["items"].clone())
    }

    #[test]
    fn places_are_those_before_the_call() {
        let edited = edit(&json!([
            {"place": "$.items[0]", "remove": true},
            {"place": "2", "set": {"n": 7, "quote": "good one"}},
            {"place": "[1]", "set": {"n": null, "more": [1]}},
        ]));
        // A field that the schema doesn't know may be there; null is no integer.
        let unchanged = answer!("records.unchanged", faults = "$.items[1].n: ");
        assert!(edited.clone().unwrap_err().starts_with(&unchanged), "{edited:?}");
        let edited = edit(&json!([
            {"place": "$.items[0]", "remove": true},
            {"place": "2", "set": {"n": 7, "quote": "good one"}},
        ]));
        let expected = json!([
            {"quote": "good 1", "n": 1, "source": "b.md"},
            {"quote": "good one", "n": 7, "source": "a.md"},
        ]);
        assert_eq!(edited, Ok(expected));
    }

    #[test]
    fn what_cannot_be_done_is_a_sentence_and_nothing_is_done() {
        let error = |place: &str, set: Value| edit(&json!([{"place": place, "set": set}])).unwrap_err();
        let absent = answer!("records.no_such_place", place = "$.items[3]", count = 3);
        assert_eq!(error("$.items[3]", json!({"n": 1})), absent);
        let unreadable = answer!("records.unreadable_place", place = "first");
        assert_eq!(error("first", json!({"n": 1})), unreadable);
        assert_eq!(
            error("$.none[0]", json!({"n": 1})),
            "output/r.json has no list '$.none'; its lists are $.items, $.notes"
        );
        let wrong = error("$.items[1]", json!({"quote": "bad"}));
        assert!(wrong.starts_with(&answer!("records.unchanged", faults = "$.items[1]")), "{wrong}");
        let twice = edit(&json!([{"place": "1", "remove": true}, {"place": "$.items[1]", "remove": true}]));
        assert_eq!(twice, Err(answer!("records.named_twice", place = "$.items[1]")));
    }

    #[test]
    fn records_are_listed_in_lines_as_many_as_there_is_room_for() {
        let list = |wanted: Value, most| {
            let wanted: ListRecords = serde_json::from_value(wanted).unwrap();
            list_records(&deliverable(), &file(), &wanted, &|name| name == "a.md", most).unwrap()
        };
        let listed = |records: &str| answer!("records.listed", list = "$.items", records);
        assert_eq!(
            list(json!({"path": "output/r.json", "document": "a.md", "fields": ["n"]}), 1_000),
            listed("2 records of a.md") + "\n[0] {\"n\":0}\n[2] {\"n\":2}"
        );
        let more = answer!("records.listed_in_part", count = 1, next = 2);
        assert_eq!(
            list(json!({"path": "output/r.json", "offset": 1, "fields": ["quote"]}), 80),
            format!("{}\n[1] {{\"quote\":\"good 1\"}}\n{more}", listed("3 records"))
        );
    }
}
