//! Records for the list of a deliverable. Each is checked by itself, against the schema as an item of the list and by its
//! quotes, so that good ones are written and bad ones come back with what is wrong.

use super::{
    SPELLED_OUT, compile,
    json_path::JsonPath,
    quote_check::{FindQuote, each_quote},
    what_is_wrong,
};
use crate::job::instructions::Deliverable;
use jsonschema::paths::LocationSegment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

/// Records that one call may bring.
pub const MOST_RECORDS: usize = 200;
/// Errors of the schema that are read, and objects within objects in which lists are looked for.
const MOST_ERRORS: usize = 10_000;
const DEEPEST: usize = 8;
/// Characters of what is wrong with one record.
const MOST_SAID: usize = 600;

/// Records of one call, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordCount {
    /// Written by this call.
    pub added: u64,
    /// Equal to one that was there already.
    pub present: u64,
}

/// What adding records comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedRecords {
    /// The whole file with them.
    pub text: String,
    /// Of those that are in the file now.
    pub count: RecordCount,
    /// `$.obligations`.
    list: String,
    /// Items of the list now.
    now: usize,
    /// Places in the call, from 0, with what is wrong: a sentence.
    refused: BTreeMap<usize, String>,
}

/// Where a list stands in a JSON file: the keys that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListPath(Vec<String>);

impl fmt::Display for ListPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|key| write!(f, ".{key}"))
    }
}

/// Adds `records` to a list of the file whose text is `current`; none where there is no file yet. The error is a sentence for
/// whoever called: nothing was looked at.
pub fn add_records(
    d: &Deliverable,
    current: Option<&str>,
    records: &[Value],
    list: Option<&str>,
    find_quote: FindQuote<'_>,
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
    let refused = refused(d, &path, records, &new, find_quote)?;
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
    /// Whether something that was asked for is in the file now.
    pub fn is_any_there(&self) -> bool {
        self.count.added + self.count.present > 0
    }

    /// The call's answer. `count` is what the call did when it was made first.
    pub fn answer(&self, file: &str, count: RecordCount) -> String {
        let records = |number: u64| if number == 1 { "record" } else { "records" };
        let RecordCount { added, present } = count;
        let mut text = format!("Added {added} {} to {} of {file} ({} now", records(added), self.list, self.now);
        if present > 0 {
            let _ = write!(text, ", {present} {} there already", if present == 1 { "was" } else { "were" });
        }
        text.push_str(").");
        if !self.refused.is_empty() {
            let number = self.refused.len() as u64;
            let verb = if number == 1 { "was" } else { "were" };
            let _ = write!(text, " {number} {} {verb} not written:", records(number));
            for what in self.refused.values().take(SPELLED_OUT) {
                let _ = write!(text, "\n- {what}");
            }
            let rest: Vec<String> =
                self.refused.keys().skip(SPELLED_OUT).map(|index| format!("records[{index}]")).collect();
            if !rest.is_empty() {
                let _ = write!(text, "\n- and {}", rest.join(", "));
            }
            text.push_str("\nSend only these again, mended.");
        }
        text
    }
}

/// Items of the deliverable's list in `value`, where it has one list.
pub(super) fn count(d: &Deliverable, value: &Value) -> Option<u64> {
    if let Value::Array(items) = value {
        return Some(items.len() as u64);
    }
    let list = list_of(d, None).ok()?;
    let found = list.0.iter().try_fold(value, |value, key| value.get(key))?;
    Some(found.as_array()?.len() as u64)
}

/// Where the records of a deliverable stand, a path for each list (`$.obligations[*]`): those that carry quotes, else those of
/// the schema.
pub fn record_lists(d: &Deliverable) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for rule in &d.quotes {
        if !paths.contains(&rule.each) {
            paths.push(rule.each.clone());
        }
    }
    if let (true, Some(schema)) = (paths.is_empty(), &d.schema) {
        let mut found = Vec::new();
        lists(schema, schema, &mut Vec::new(), &mut found);
        paths.extend(found.iter().map(|list| format!("{list}[*]")).filter(|path| JsonPath::parse(path).is_ok()));
    }
    paths
}

/// The list that is meant: the one that was named, else that of the quotes, else the only one of the schema.
fn list_of(d: &Deliverable, named: Option<&str>) -> Result<ListPath, String> {
    let mut quoted = Vec::new();
    for rule in &d.quotes {
        let list = JsonPath::parse(&rule.each).ok().and_then(|path| path.keys_of_list()).map(ListPath);
        quoted.extend(list.filter(|list| !quoted.contains(list)));
    }
    let mut known = quoted.clone();
    if let Some(schema) = &d.schema {
        lists(schema, schema, &mut Vec::new(), &mut known);
    }
    let all = || known.iter().map(ListPath::to_string).collect::<Vec<_>>().join(", ");
    if let Some(named) = named {
        let text = named.trim().trim_end_matches("[*]");
        let text = if text.starts_with('$') { format!("{text}[*]") } else { format!("$.{text}[*]") };
        let list = JsonPath::parse(&text).ok().and_then(|path| path.keys_of_list()).map(ListPath);
        return match list {
            Some(list) if known.is_empty() || known.contains(&list) => Ok(list),
            Some(_) | None if known.is_empty() => Err("list is not the path of a list; write it as $.key".to_owned()),
            Some(_) | None => {
                Err(format!("{} has no list '{}'; its lists are {}", d.path, crate::amount::shown(named), all()))
            }
        };
    }
    match (&quoted[..], &known[..]) {
        ([list], _) | ([], [list]) => Ok(list.clone()),
        ([], []) => Err(format!("nothing says where {} has its list; give list, such as $.records", d.path)),
        (_, _) => Err(format!("{} has several lists; give list, one of {}", d.path, all())),
    }
}

/// The lists that a schema has outside of lists.
fn lists(root: &Value, schema: &Value, keys: &mut Vec<String>, found: &mut Vec<ListPath>) {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        match target.and_then(|place| root.pointer(place)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    let is_array = match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            schema.get("items").is_some()
        }
    };
    if is_array {
        let list = ListPath(keys.clone());
        if !found.contains(&list) {
            found.push(list);
        }
    } else if let Some(Value::Object(properties)) = schema.get("properties")
        && keys.len() < DEEPEST
    {
        for (key, schema) in properties {
            keys.push(key.clone());
            lists(root, schema, keys, found);
            keys.pop();
        }
    }
}

impl ListPath {
    /// A file that has this list and nothing else.
    fn around(&self, items: Vec<Value>) -> Value {
        self.0
            .iter()
            .rev()
            .fold(Value::Array(items), |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])))
    }

    /// The list in `file`, made where it is missing; none where something else stands there.
    fn items<'v>(&self, file: &'v mut Value) -> Option<&'v mut Vec<Value>> {
        let mut at = file;
        for (place, key) in self.0.iter().enumerate() {
            let missing = if place + 1 == self.0.len() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            at = at.as_object_mut()?.entry(key.clone()).or_insert(missing);
        }
        at.as_array_mut()
    }
}

/// Those of the records `new` that may not be written.
fn refused(
    d: &Deliverable,
    path: &ListPath,
    records: &[Value],
    new: &[usize],
    find_quote: FindQuote<'_>,
) -> Result<BTreeMap<usize, String>, String> {
    let alone = path.around(records.to_vec());
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    if let Some(schema) = &d.schema {
        let validator = compile(schema).map_err(|why| format!("the schema of {} can't be used: {why}", d.path))?;
        for error in validator.iter_errors(&alone).take(MOST_ERRORS) {
            let mut rest = error.instance_path().segments();
            let leads =
                path.0.iter().all(|key| matches!(rest.next(), Some(LocationSegment::Property(found)) if found == *key));
            // What is wrong around the list is no fault of a record.
            if let (true, Some(LocationSegment::Index(index))) = (leads, rest.next())
                && new.contains(&index)
            {
                let mut place = String::new();
                for segment in rest {
                    let _ = match segment {
                        LocationSegment::Property(key) => write!(place, ".{key}"),
                        LocationSegment::Index(index) => write!(place, "[{index}]"),
                    };
                }
                refuse(&mut refused, index, &format!("{place}: {}.", what_is_wrong(&error)));
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
        each_quote(&d.path, rule, &alone, &mut is_wanted, find_quote, &mut |place, outcome| {
            if let (Err(what), Some((index, rest))) = (outcome, split(place)) {
                wrong.push((index, format!("{rest}{what}")));
            }
        })?;
    }
    for (index, what) in wrong {
        refuse(&mut refused, index, &what);
    }
    Ok(refused)
}

fn refuse(refused: &mut BTreeMap<usize, String>, index: usize, what: &str) {
    let said = refused.entry(index).or_default();
    if said.len() < MOST_SAID {
        let blank = if said.is_empty() { "" } else { " " };
        let _ = write!(said, "{blank}records[{index}]{what}");
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
            page: None,
        };
        Deliverable {
            path: "output/r.json".to_owned(),
            schema: Some(schema),
            quotes: vec![rule],
            min_words: None,
            forbid: Vec::new(),
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
        let expected = "Added 1 record to $.records of output/r.json (1 now, 1 was there already). 3 records were not written:\n\
            - records[1] \"bad\": nothing like it stands in a.\n\
            - records[2].id: this value is not of type \"integer\".\n\
            - records[3]: \"quote\" is a required property.\n\
            Send only these again, mended.";
        assert_eq!(added.answer("output/r.json", added.count), expected);
    }

    #[test]
    fn the_same_call_again_changes_nothing() {
        let records = json!([{"quote": "good one", "document": "a"}, {"quote": "bad", "document": "a"}]);
        let first = add(Some("\n"), &records, None).unwrap();
        let again = add(Some(&first.text), &records, None).unwrap();
        assert_eq!((&again.text, again.count), (&first.text, RecordCount { added: 0, present: 1 }));
        // Repeated after a crash it answers as it did.
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
