//! Records that `add_records` did not write: the outcome of each is counted, so that none is lost silently.
//!
//! A refused record is *mended* when the same list later has a record that says the same except for the fault: every
//! field that both have is equal, or a text that shares more than half of its words, except for the fields for which it
//! was refused; and at least three quarters of all words of both are the same. A record mends only one other. A refused
//! record that matches an earlier one like this replaces it: it was sent again, and refused again.

use super::{
    digest::sha256,
    event::{CallEnd, PreparedWrite, ToolResult},
};
use crate::amount::{counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Open records whose content is kept: more are counted only.
const MOST_KEPT: usize = 1_000;
/// Bytes up to which a record is kept unchanged.
const MOST_BYTES: usize = 16 << 10;
/// Share of the words of two records that both must have for one to mend the other.
const LEAST_SHARED: f64 = 0.75;

/// A record that was not written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusedRecord {
    /// The number, from 1 in its job; 0 until it is a fact.
    pub number: u64,
    /// The deliverable, or the list of a second reader.
    pub file: String,
    /// Its list in the file: `$.requirements`; `None` if it isn't known which list is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// The record as it was sent; a very long one is cut to a text.
    pub record: Value,
    /// The faults, in sentences.
    pub why: String,
    /// The fields for which it was refused, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// A refused record that is written after all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MendedRecord {
    /// The number of the refused record.
    pub number: u64,
    /// SHA-256 of the record that was written, as JSON: it mends no other.
    pub by: String,
}

/// How many records were refused, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusedCounts {
    /// All refused records.
    pub refused: u64,
    /// Refused records that were written after all.
    pub mended: u64,
    /// Refused records that were not written.
    pub unmended: u64,
}

impl RefusedCounts {
    /// For people: `3 records were refused when they were added: 2 were mended and written, 1 is not in the result`.
    pub fn told(&self) -> String {
        let verb = |number: u64| if number == 1 { "was" } else { "were" };
        format!(
            "{} {} refused when {} added: {} {} mended and written, {} {} not in the result",
            counted(self.refused, "record"),
            verb(self.refused),
            if self.refused == 1 { "it was" } else { "they were" },
            grouped(self.mended),
            verb(self.mended),
            grouped(self.unmended),
            if self.unmended == 1 { "is" } else { "are" }
        )
    }
}

/// The refused records of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefusedRecords {
    open: Vec<RefusedRecord>,
    /// The records that were written since, by number, with the hash of the record that mended them.
    mended: BTreeMap<u64, String>,
    refused: u64,
}

impl RefusedRecords {
    /// The records that are not written, by number.
    pub fn open(&self) -> &[RefusedRecord] {
        &self.open
    }

    /// The counts; `None` if no record was refused.
    pub fn counts(&self) -> Option<RefusedCounts> {
        let mended = self.mended.len() as u64;
        let counts = RefusedCounts { refused: self.refused, mended, unmended: self.refused - mended };
        (self.refused > 0).then_some(counts)
    }

    /// Whether the model already knows that this record was refused for this reason.
    pub(crate) fn knows(&self, refused: &RefusedRecord) -> bool {
        let is_same = |open: &RefusedRecord| open.record == refused.record && open.why == refused.why;
        self.open.iter().any(|open| open.number == refused.number && is_same(open))
    }

    /// Numbers the records of a call: a record that was sent again gets the number of its earlier version.
    pub(crate) fn number(&self, refused: &mut [RefusedRecord]) {
        let mut taken = BTreeSet::new();
        let mut next = self.refused;
        for record in refused {
            let is_again = |open: &&RefusedRecord| !taken.contains(&open.number) && open.is_same_list(record);
            let equal = self.open.iter().filter(is_again).find(|open| open.record == record.record);
            let again = equal.or_else(|| self.open.iter().filter(is_again).find(|open| open.is_like(&record.record)));
            if let Some(open) = again {
                record.number = open.number;
                taken.insert(open.number);
            } else {
                next += 1;
                record.number = next;
                let is_full = self.open.len() as u64 + next - self.refused > MOST_KEPT as u64;
                if is_full {
                    record.record = Value::Null;
                }
            }
            let text = record.record.to_string();
            if text.len() > MOST_BYTES {
                record.record = Value::String(text[..text.floor_char_boundary(MOST_BYTES)].to_owned());
            }
        }
    }

    /// Which open records of `file` are mended by `items` of their list.
    pub fn mended_by(&self, file: &str, list: Option<&str>, items: &[Value]) -> Vec<MendedRecord> {
        let mut mended: Vec<MendedRecord> = Vec::new();
        for open in self.open.iter().filter(|open| open.file == file && open.list.as_deref() == list) {
            let is_free = |by: &String| {
                self.mended.values().all(|known| known != by) && mended.iter().all(|known| known.by != *by)
            };
            let like = items.iter().filter(|item| open.is_like(item));
            if let Some(by) = like.map(|item| sha256(item.to_string().as_bytes())).find(is_free) {
                mended.push(MendedRecord { number: open.number, by });
            }
        }
        mended
    }

    /// The number of refused records in a result that are new to the model.
    pub(crate) fn news(&self, result: &ToolResult) -> u64 {
        result.refused.iter().filter(|record| !self.knows(record)).count() as u64
    }

    /// Updates the records from a call's result and from the change that it prepared.
    pub(crate) fn observe(&mut self, result: &ToolResult, prepared: Option<&PreparedWrite>) {
        let mended = prepared.filter(|_| result.end == CallEnd::Done).map_or(&[][..], |prepared| &prepared.mended);
        for MendedRecord { number, by } in mended {
            self.open.retain(|open| open.number != *number);
            self.mended.insert(*number, by.clone());
        }
        for record in &result.refused {
            self.refused = self.refused.max(record.number);
            match self.open.iter_mut().find(|open| open.number == record.number) {
                Some(open) => open.clone_from(record),
                None => self.open.push(record.clone()),
            }
        }
    }
}

impl RefusedRecord {
    /// For people: why it was refused, and its content.
    pub fn told(&self) -> String {
        format!("{} refused a record ({}): {}", self.file, self.why.trim_end_matches('.'), self.content())
    }

    /// The record in a line.
    pub fn content(&self) -> String {
        match &self.record {
            Value::Null => "its content was not kept, there being too many".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    fn is_same_list(&self, other: &Self) -> bool {
        self.file == other.file && self.list == other.list
    }

    /// Whether `other` says the same except for the fault: at most one faulty text may differ, so that a similar
    /// sentence of another document doesn't match. A mended record that is missed counts as unmended: the lesser error.
    fn is_like(&self, other: &Value) -> bool {
        let (Value::Object(fields), Value::Object(others)) = (&self.record, other) else {
            return self.record == *other && !self.record.is_null();
        };
        let mut changed = 0;
        let mut agrees = |key: &String, value: &Value| match (value, others.get(key)) {
            (_, None | Some(Value::Null)) | (Value::Null, _) => true,
            (Value::String(text), Some(Value::String(other))) => {
                let (one, two) = (words([text]), words([other]));
                if self.fields.contains(key) {
                    changed += u8::from(one != two);
                    changed <= 1
                } else {
                    shared(&one, &two) > 0.5
                }
            }
            (value, Some(other)) => value == other || self.fields.contains(key),
        };
        fields.iter().all(|(key, value)| agrees(key, value)) && {
            let told = fields.keys().filter_map(|key| others.get(key)).flat_map(texts);
            shared(&words(texts(&self.record)), &words(told)) >= LEAST_SHARED
        }
    }
}

/// All texts and numbers of a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
    }
}

/// The number of occurrences of each word. In scripts without blanks between words, each character counts as a word.
fn words(texts: impl IntoIterator<Item = impl AsRef<str>>) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for text in texts {
        let mut word = String::new();
        let mut end = |word: &mut String| {
            if !word.is_empty() {
                *words.entry(std::mem::take(word)).or_default() += 1;
            }
        };
        for letter in text.as_ref().chars() {
            let is_sign = letter.is_alphanumeric() && letter >= '\u{2e80}';
            if is_sign || !letter.is_alphanumeric() {
                end(&mut word);
            }
            if letter.is_alphanumeric() {
                word.extend(letter.to_lowercase());
            }
            if is_sign {
                end(&mut word);
            }
        }
        end(&mut word);
    }
    words
}

/// The share of the words of both that occur in both; 1 if neither has any.
#[expect(clippy::cast_precision_loss, reason = "a share of counted words")]
fn shared(one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>) -> f64 {
    let shared: usize = one.iter().map(|(word, times)| other.get(word).copied().unwrap_or_default().min(*times)).sum();
    let all = one.values().sum::<usize>() + other.values().sum::<usize>();
    if all == 0 { 1.0 } else { 2.0 * shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(record: Value, fields: &[&str]) -> RefusedRecord {
        let list = Some("$.items".to_owned());
        let fields = fields.iter().map(ToString::to_string).collect();
        RefusedRecord { number: 0, file: "output/l.json".to_owned(), list, record, why: "wrong".to_owned(), fields }
    }

    fn observe(all: &mut RefusedRecords, records: &[RefusedRecord], mended: Vec<MendedRecord>) {
        let result = ToolResult { refused: records.to_vec(), ..ToolResult::plain(CallEnd::Done, "") };
        let prepared = PreparedWrite { before: None, after: String::new(), records: None, mended };
        all.observe(&result, Some(&prepared));
    }

    fn of(records: &[RefusedRecord]) -> RefusedRecords {
        let mut all = RefusedRecords::default();
        let mut records = records.to_vec();
        all.number(&mut records);
        observe(&mut all, &records, Vec::new());
        all
    }

    fn item(section: &str, line: u64, quote: &str) -> Value {
        json!({"document": "a.md", "section": section, "line": line, "quote": quote})
    }

    const QUOTE: [&str; 4] = ["quote", "document", "page", "line"];
    const SEAL: &str = "The seal is worn and must be replaced.";

    #[test]
    fn what_says_the_same_but_for_the_fault_mends_one_record() {
        let wrong = item("Pump 1", 5, "The seal is torn and must be replaced.");
        let all = of(&[refused(wrong.clone(), &QUOTE), refused(json!({"line": "x", "quote": SEAL}), &["line"])]);
        let numbers = |items: &[Value]| -> Vec<u64> {
            all.mended_by("output/l.json", Some("$.items"), items).iter().map(|mended| mended.number).collect()
        };
        // Mended; of another section; something else; at another place of the file.
        assert_eq!(numbers(&[item("Pump 1", 6, SEAL)]), [1]);
        assert_eq!(numbers(&[item("Pump 3", 6, SEAL)]), [2]);
        assert_eq!(numbers(&[item("Pump 1", 6, "No findings at all.")]), Vec::<u64>::new());
        assert_eq!(all.mended_by("output/l.json", None, &[item("Pump 1", 6, SEAL)]), []);
        assert_eq!(numbers(&[item("Pump 1", 6, SEAL), item("Pump 3", 9, SEAL)]), [1, 2]);

        // A like sentence of another document doesn't mend the first record; the same sentence found there does.
        let other = |quote: &str| {
            let mut item = item("Pump 1", 5, quote);
            item["document"] = json!("b.md");
            item
        };
        assert_eq!(numbers(&[other(SEAL)]), [2]);
        assert_eq!(numbers(&[other("The seal is torn and must be replaced.")]), [1]);

        let mut after = all.clone();
        let mended = all.mended_by("output/l.json", Some("$.items"), &[item("Pump 1", 6, SEAL)]);
        observe(&mut after, &[], mended);
        assert_eq!(after.counts(), Some(RefusedCounts { refused: 2, mended: 1, unmended: 1 }));
        // The record that mended one mends no other.
        assert_eq!(after.mended_by("output/l.json", Some("$.items"), &[item("Pump 1", 6, SEAL)]), []);
    }

    #[test]
    fn what_is_sent_again_and_refused_again_is_the_same_record() {
        let mut all = of(&[refused(item("Pump 1", 5, "The seal is torn and must be replaced."), &QUOTE)]);
        let first = all.open()[0].clone();
        assert!(all.knows(&first));
        let mut again =
            [refused(item("Pump 1", 5, "The seal is worn and must be repaired."), &QUOTE), refused(json!(7), &[])];
        all.number(&mut again);
        assert_eq!(again.each_ref().map(|record| record.number), [1, 2]);
        assert!(!all.knows(&again[0]), "it is refused for something else");
        observe(&mut all, &again, Vec::new());
        assert_eq!(all.counts(), Some(RefusedCounts { refused: 2, mended: 0, unmended: 2 }));
        assert_eq!(all.open(), again);
    }
}
