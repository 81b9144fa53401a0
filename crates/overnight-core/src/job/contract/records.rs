//! Records for the list of a deliverable. Each is checked by itself, against the schema as an item of the list and by
//! its quotes, so that good ones are written, and bad ones are returned with their faults.

pub use super::record_list::{RecordQuote, VALUE, field_name, record_lists, record_quotes, record_with, records_of};
use super::{
    SPELLED_OUT,
    quote_check::each_quote,
    record_list::{ListPath, list_of},
    sources::Sources,
    what_is_wrong,
};
use crate::amount::counted;
use crate::answer;
use crate::job::schema::compile;
use crate::job::{
    instructions::{Deliverable, Quotes},
    refused_records::{MendedRecord, RefusedRecord, RefusedRecords},
};
use jsonschema::paths::LocationSegment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// Records that one call may bring.
pub const MOST_RECORDS: usize = 200;
/// Errors of the schema that are read.
const MOST_ERRORS: usize = 10_000;
/// The most characters on the faults of one record.
const MOST_SAID: usize = 600;

/// The number of records of one call, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordCount {
    /// Records written by this call.
    pub added: u64,
    /// Records equal to one that was there already.
    pub present: u64,
}

/// The result of adding records.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedRecords {
    /// The text of the whole file with the records.
    pub text: String,
    /// The number of the records that are in the file now.
    pub count: RecordCount,
    /// The list: `$.obligations`.
    list: String,
    /// The number of items of the list now.
    now: usize,
    /// The refused records, by place in the call, from 0.
    refused: BTreeMap<usize, RecordRefusal>,
}

/// Why a record is not written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RecordRefusal {
    /// The faults, each a text that follows the record's place directly: `.id: this value is not of type "integer".`
    pub(super) faults: Vec<String>,
    /// The fields that are at fault.
    fields: Vec<String>,
}

/// Adds `records` to a list of the file whose text is `current` (`None` if there is no file yet). The error is a
/// sentence for the caller: then no record was looked at.
pub fn add_records(
    d: &Deliverable,
    current: Option<&str>,
    records: &[Value],
    list: Option<&str>,
    sources: &mut dyn Sources,
) -> Result<AddedRecords, String> {
    let path = list_of(d, list)?;
    let text = current.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text)).filter(|text| !text.trim().is_empty());
    let mut file = match text {
        None => path.around(Vec::new()),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| format!("{} is not JSON: {error}; mend it first, or write it anew", d.path))?,
    };
    let Some(items) = path.items(&mut file) else {
        return Err(format!("{path} of {} is not a list; mend the file first, or name another list", d.path));
    };
    let mut new: Vec<usize> = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let is_present = items.contains(record) || new.iter().any(|earlier| records[*earlier] == *record);
        if !is_present {
            new.push(index);
        }
    }
    let present = records.len() - new.len();
    let refused = refused(d, &path, records, &new, sources)?;
    new.retain(|index| !refused.contains_key(index));
    items.extend(new.iter().map(|index| records[*index].clone()));
    let (now, list) = (items.len(), path.to_string());
    let text = match current {
        Some(text) if new.is_empty() => text.to_owned(),
        Some(_) | None => format!("{file:#}\n"),
    };
    let count = RecordCount { added: new.len() as u64, present: present as u64 };
    Ok(AddedRecords { text, count, list, now, refused })
}

impl AddedRecords {
    /// Whether any of the given records is in the file now.
    pub fn is_any_there(&self) -> bool {
        self.count.added + self.count.present > 0
    }

    /// The given `records` that were not written to `file`, as facts.
    pub fn refused(&self, file: &str, records: &[Value]) -> Vec<RefusedRecord> {
        let fact = |(index, refusal): (&usize, &RecordRefusal)| {
            let RecordRefusal { faults, fields } = refusal;
            let faults: Vec<&str> = faults.iter().map(|fault| fault.trim_start_matches([':', '.', ' '])).collect();
            let list = Some(self.list.clone());
            let record = records.get(*index)?.clone();
            Some(RefusedRecord {
                number: 0,
                file: file.to_owned(),
                list,
                record,
                why: faults.join(" "),
                fields: fields.clone(),
            })
        };
        self.refused.iter().filter_map(fact).collect()
    }

    /// The call's answer. `count` is the outcome of the call when it was first made.
    pub fn answer(&self, file: &str, count: RecordCount) -> String {
        let were = |number: u64| if number == 1 { "was" } else { "were" };
        let (RecordCount { added, present }, list, now) = (count, &self.list, self.now);
        let added = counted(added, "record");
        let mut text = if present == 0 {
            answer!("records.added", added, list, file, now)
        } else {
            let present = format!("{present} {}", were(present));
            answer!("records.added_some", added, list, file, now, present)
        };
        if !self.refused.is_empty() {
            let number = self.refused.len() as u64;
            let mut faults = String::new();
            for (index, refusal) in self.refused.iter().take(SPELLED_OUT) {
                let of_record: Vec<String> =
                    refusal.faults.iter().map(|fault| format!("records[{index}]{fault}")).collect();
                let _ = write!(faults, "\n- {}", of_record.join(" "));
            }
            let rest: Vec<String> =
                self.refused.keys().skip(SPELLED_OUT).map(|index| format!("records[{index}]")).collect();
            if !rest.is_empty() {
                let _ = write!(faults, "\n- and {}", rest.join(", "));
            }
            let refused = format!("{} {}", counted(number, "record"), were(number));
            let _ = write!(text, " {}", answer!("records.refused", refused, faults));
        }
        text
    }
}

/// The refused records for `file` that are mended by the records which a change adds to their lists: `before` is the
/// file's text before the change, `after` its text after it.
pub fn mended_records(
    d: &Deliverable,
    file: &str,
    refused: &RefusedRecords,
    before: Option<&str>,
    after: &str,
) -> Vec<MendedRecord> {
    let lists: BTreeSet<Option<&str>> =
        refused.open().iter().filter(|open| open.file == file).map(|open| open.list.as_deref()).collect();
    if lists.is_empty() {
        return Vec::new();
    }
    let read = |text: &str| serde_json::from_str::<Value>(text.strip_prefix('\u{feff}').unwrap_or(text)).ok();
    let (Some(mut after), mut before) = (read(after), before.and_then(read)) else { return Vec::new() };
    let mended_in = |list: Option<&str>| {
        let path = list_of(d, list).ok()?;
        let mut there: BTreeMap<String, usize> = BTreeMap::new();
        for item in before.as_mut().and_then(|before| path.items(before)).into_iter().flatten() {
            *there.entry(item.to_string()).or_default() += 1;
        }
        let is_new = |item: &&mut Value| match there.get_mut(&item.to_string()) {
            Some(times) if *times > 0 => {
                *times -= 1;
                false
            }
            Some(_) | None => true,
        };
        let new: Vec<Value> = path.items(&mut after)?.iter_mut().filter(is_new).map(|item| item.clone()).collect();
        Some(refused.mended_by(file, list, &new))
    };
    lists.into_iter().filter_map(mended_in).flatten().collect()
}

/// The records of `new` that may not be written.
pub(super) fn refused(
    d: &Deliverable,
    path: &ListPath,
    records: &[Value],
    new: &[usize],
    sources: &mut dyn Sources,
) -> Result<BTreeMap<usize, RecordRefusal>, String> {
    let alone = path.around(records.to_vec());
    let mut refused: BTreeMap<usize, RecordRefusal> = BTreeMap::new();
    if let Some(schema) = &d.schema {
        let validator = compile(schema).map_err(|why| format!("the schema of {} can't be used: {why}", d.path))?;
        for error in validator.iter_errors(&alone).take(MOST_ERRORS) {
            let mut rest = error.instance_path().segments();
            let leads =
                path.0.iter().all(|key| matches!(rest.next(), Some(LocationSegment::Property(found)) if found == *key));
            // An error outside of the list is no fault of a record.
            if let (true, Some(LocationSegment::Index(index))) = (leads, rest.next())
                && new.contains(&index)
            {
                let mut place = String::new();
                let mut field = None;
                for segment in rest {
                    if let (None, LocationSegment::Property(key)) = (&field, &segment) {
                        field = Some(key.to_string());
                    }
                    let _ = match segment {
                        LocationSegment::Property(key) => write!(place, ".{key}"),
                        LocationSegment::Index(index) => write!(place, "[{index}]"),
                    };
                }
                refuse(&mut refused, index, format!("{place}: {}.", what_is_wrong(schema, &error)), field);
            }
        }
    }
    let faulty: Vec<usize> = refused.keys().copied().collect();
    let before = format!("{path}[");
    let split = |place: &str| -> Option<(usize, String)> {
        let (index, rest) = place.strip_prefix(&before)?.split_once(']')?;
        Some((index.parse().ok()?, rest.to_owned()))
    };
    let mut wrong = Vec::new();
    for rule in &d.quotes {
        let mut is_wanted =
            |place: &str| split(place).is_some_and(|(index, _)| new.contains(&index) && !faulty.contains(&index));
        each_quote(d, rule, &alone, &mut is_wanted, sources, &mut |place, _, outcome, _| {
            if let (Err(what), Some((index, rest))) = (outcome, split(place)) {
                wrong.push((index, format!("{rest}{what}"), rule));
            }
        })?;
    }
    for (index, what, Quotes { text, document, page, line, .. }) in wrong {
        // A mended quote may have another place.
        refuse(&mut refused, index, what, [text, document].into_iter().chain(page).chain(line).cloned());
    }
    Ok(refused)
}

fn refuse(
    refused: &mut BTreeMap<usize, RecordRefusal>,
    index: usize,
    what: String,
    fields: impl IntoIterator<Item = String>,
) {
    let refusal = refused.entry(index).or_default();
    refusal.fields.extend(fields);
    if refusal.faults.iter().map(String::len).sum::<usize>() < MOST_SAID {
        refusal.faults.push(what);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{QuoteQuery, QuoteResult};
    use super::*;
    use crate::job::instructions::Quotes;
    use serde_json::json;

    fn deliverable() -> Deliverable {
        let schema = json!({
            "type": "object", "required": ["records", "title"], "additionalProperties": false,
            "properties": {
                "title": {"type": "string"},
                "notes": {"type": "array"},
                "records": {"type": "array", "items": {"$ref": "#/$defs/record"}},
            },
            "$defs": {"record": {
                "type": "object", "required": ["quote"],
                "properties": {"id": {"type": "integer"}, "quote": {"type": "string"}},
            }},
        });
        let rule = Quotes {
            each: "$.records[*]".to_owned(),
            text: "quote".to_owned(),
            document: "document".to_owned(),
            ..Quotes::default()
        };
        Deliverable {
            path: "output/r.json".to_owned(),
            schema: Some(schema),
            quotes: vec![rule],
            ..Deliverable::default()
        }
    }

    fn find(asked: QuoteQuery<'_>) -> QuoteResult {
        if asked.quote.starts_with("good") { QuoteResult::Found } else { QuoteResult::NotFound { nearest: None } }
    }

    fn add(current: Option<&str>, records: &Value, list: Option<&str>) -> Result<AddedRecords, String> {
        add_records(&deliverable(), current, records.as_array().unwrap(), list, &mut find)
    }

    #[test]
    fn good_records_are_written_and_bad_ones_come_back() {
        let records = json!([
            {"quote": "good one", "document": "a"},
            {"quote": "bad", "document": "a"},
            {"id": "x", "quote": "good", "document": "a"},
            {"document": "a"},
            {"quote": "good one", "document": "a"},
        ]);
        let added = add(None, &records, None).unwrap();
        assert_eq!(added.count, RecordCount { added: 1, present: 1 });
        let file: Value = serde_json::from_str(&added.text).unwrap();
        assert_eq!(file, json!({"records": [{"quote": "good one", "document": "a"}]}));
        let (list, file) = ("$.records", "output/r.json");
        let some = answer!("records.added_some", added = "1 record", list, file, now = 1, present = "1 was");
        let faults = "\n- records[1] \"bad\": nothing like it stands in a.\n\
            - records[2].id: this value is not of type \"integer\".\n\
            - records[3]: \"quote\" is a required property.";
        let refused = answer!("records.refused", refused = "3 records were", faults);
        assert_eq!(added.answer(file, added.count), format!("{some} {refused}"));
    }

    #[test]
    fn the_same_call_again_changes_nothing() {
        let records = json!([{"quote": "good one", "document": "a"}, {"quote": "bad", "document": "a"}]);
        let first = add(Some("\n"), &records, None).unwrap();
        let again = add(Some(&first.text), &records, None).unwrap();
        assert_eq!((&again.text, again.count), (&first.text, RecordCount { added: 0, present: 1 }));
        // After a crash, the repeated call answers as the first one did.
        assert_eq!(again.answer("r", first.count), first.answer("r", first.count));
        let none = add(Some(&first.text), &json!([{"quote": "bad", "document": "a"}]), None).unwrap();
        assert!(!none.is_any_there() && again.is_any_there());
    }

    #[test]
    fn a_list_is_named_or_known() {
        let record = json!([{"quote": "good", "document": "a"}]);
        let named = |list: &str| add(Some(r#"{"title": "t", "notes": 7}"#), &record, Some(list));
        for list in ["records", "$.records", "$.records[*]", "$['records']"] {
            assert_eq!(named(list).unwrap().count.added, 1, "{list}");
        }
        assert_eq!(
            named("$.notes").unwrap_err(),
            "$.notes of output/r.json is not a list; mend the file first, or name another list"
        );
        let unknown = "output/r.json has no list '$.record'; its lists are $.records, $.notes";
        assert_eq!(named("$.record").unwrap_err(), unknown);
        let broken = add(Some("{\n\"title\": }"), &record, None).unwrap_err();
        assert_eq!(
            broken,
            "output/r.json is not JSON: expected value at line 2 column 10; mend it first, or write it anew"
        );
        let mut d = Deliverable { quotes: Vec::new(), ..deliverable() };
        let of = |d: &Deliverable, records: &Value| add_records(d, None, records.as_array().unwrap(), None, &mut find);
        assert_eq!(
            of(&d, &record).unwrap_err(),
            "output/r.json has several lists; give list, one of $.notes, $.records"
        );
        d.schema = Some(json!({"type": "array"}));
        assert_eq!(serde_json::from_str::<Value>(&of(&d, &record).unwrap().text).unwrap(), record);
        d.schema = None;
        assert_eq!(
            of(&d, &record).unwrap_err(),
            "nothing says where output/r.json has its list; give list, such as $.records"
        );
    }
}
