//! Deliverables as people left them: with other field values, records added after the last one, and records deleted. A
//! place always refers to the model's file, with added records after its own: a deleted record stays there as null
//! until the whole file is written.

use super::{
    finding::{Finding, FindingKind, Settlement},
    json_path,
    state::Job,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    ops::Bound,
};

impl Job {
    /// Corrections of the present result, oldest first.
    pub fn corrections(&self) -> impl Iterator<Item = &Finding> {
        self.proof.findings.iter().filter(|finding| finding.kind == FindingKind::Correction)
    }

    /// The corrected places in `file`, each with the value before and the value now, oldest first.
    fn changes<'j>(&'j self, file: &str) -> impl Iterator<Item = (&'j str, &'j Value, &'j Value)> {
        let of_file = self.corrections().filter(move |finding| finding.file.as_deref() == Some(file));
        of_file.filter_map(|finding| match &finding.settled.as_ref()?.settlement {
            Settlement::Corrected { before, after } => Some((finding.place.as_deref()?, before, after)),
            Settlement::Added | Settlement::Dropped | Settlement::Explained { .. } | Settlement::JudgedAgain => None,
        })
    }

    /// Puts the corrections of `file` into its content. Returns false if a place does not exist.
    pub fn correct(&self, file: &str, content: &mut Value) -> bool {
        self.changes(file).fold(true, |all, (place, _, after)| all & put(content, place, after))
    }

    /// The same, but removes the deleted records, which it returns: the result is the file as people left it.
    pub fn correct_whole(&self, file: &str, content: &mut Value) -> DeletedRecords {
        self.correct(file, content);
        let deleted = self.deleted_records(file);
        deleted.remove_from(content);
        deleted
    }

    /// Adds the records that people added to `file` to its content, as they were then.
    pub fn add_records(&self, file: &str, content: &mut Value) {
        let added = self.changes(file).filter(|(_, before, after)| before.is_null() && after.is_object());
        for (place, _, after) in added {
            push(content, place, after);
        }
    }

    /// Whether people may have added records to `file`.
    pub fn has_added_records(&self, file: &str) -> bool {
        self.changes(file).any(|(place, before, after)| place.ends_with(']') && before.is_null() && after.is_object())
    }

    /// The records that people deleted from `file`.
    pub fn deleted_records(&self, file: &str) -> DeletedRecords {
        let mut deleted = DeletedRecords::default();
        for (place, before, after) in self.changes(file) {
            deleted.note(place, (before, after));
        }
        deleted
    }
}

/// Records that people deleted from a deliverable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedRecords(BTreeMap<String, BTreeSet<usize>>);

impl DeletedRecords {
    /// Notes a change from `before` to `after` at a place: an object in a list that becomes null is a deleted record.
    pub fn note(&mut self, place: &str, (before, after): (&Value, &Value)) {
        let Some((list, index)) = of_list(place) else { return };
        if before.is_object() && after.is_null() {
            self.0.entry(list.to_owned()).or_default().insert(index);
        } else if let Some(indices) = self.0.get_mut(list) {
            indices.remove(&index);
        }
    }

    /// Whether the value at a place was deleted, or belongs to a deleted record.
    pub fn has(&self, place: &str) -> bool {
        let mut ends = place.match_indices(']').map(|(end, _)| &place[..=end]);
        ends.any(|record| {
            of_list(record)
                .is_some_and(|(list, index)| self.0.get(list).is_some_and(|of_list| of_list.contains(&index)))
        })
    }

    /// The deleted records of lists within the record at this place, by their place within it.
    pub(super) fn within(&self, record: &str) -> Self {
        let of_record = self.0.range::<str, _>((Bound::Included(record), Bound::Unbounded));
        let of_record = of_record.take_while(|(list, _)| list.starts_with(record));
        let within = |(list, indices): (&String, &BTreeSet<usize>)| {
            Some((format!("${}", json_path::within(list, record)?), indices.clone()))
        };
        Self(of_record.filter_map(within).collect())
    }

    /// Removes the deleted records, which are null, from the content. Later places change: see [`Self::place_before`].
    pub fn remove_from(&self, content: &mut Value) {
        // A list within a record comes before the list of that record.
        for (list, indices) in self.0.iter().rev() {
            let Some(Value::Array(items)) = json_path::at_mut(content, list) else { continue };
            let mut at = 0..;
            items.retain(|item| !(at.next().is_some_and(|at| indices.contains(&at)) && item.is_null()));
        }
    }

    /// The place, before the removal, of the value that is now at `place`.
    pub fn place_before(&self, place: &str) -> String {
        let mut before = String::new();
        for part in place.split_inclusive(']') {
            match of_list(part) {
                Some((list, mut index)) => {
                    before.push_str(list);
                    for deleted in self.0.get(&before).into_iter().flatten() {
                        index += usize::from(*deleted <= index);
                    }
                    let _ = write!(before, "[{index}]");
                }
                None => before.push_str(part),
            }
        }
        before
    }
}

/// Puts a value at a place, or as a new record after the last one of its list. Returns false if there is no such place.
pub fn put(content: &mut Value, place: &str, value: &Value) -> bool {
    let found = json_path::at_mut(content, place).map(|found| found.clone_from(value));
    found.is_some() || push(content, place, value)
}

/// Puts a record directly after the last one of its list. Returns false if the place is another one.
fn push(content: &mut Value, place: &str, record: &Value) -> bool {
    let list =
        of_list(place).and_then(|(list, index)| Some((json_path::at_mut(content, list)?.as_array_mut()?, index)));
    let list = list.filter(|(items, index)| items.len() == *index);
    list.map(|(items, _)| items.push(record.clone())).is_some()
}

/// List and index of a place: `$.terms` and 3 of `$.terms[3]`.
fn of_list(place: &str) -> Option<(&str, usize)> {
    let (list, index) = place.strip_suffix(']')?.rsplit_once('[')?;
    Some((list, index.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_those_before_the_deleted_ones_were_taken_out() {
        let list = |name: &str, indices: &[usize]| (name.to_owned(), indices.iter().copied().collect());
        let deleted = DeletedRecords([list("$.a", &[0, 2, 3]), list("$.a[1].b", &[1])].into());
        let mut content = json!({"a": [null, {"b": [10, null, 12]}, null, null, {"b": [40]}], "b": [null]});
        deleted.remove_from(&mut content);
        assert_eq!(content, json!({"a": [{"b": [10, 12]}, {"b": [40]}], "b": [null]}));
        let places = ["$.a[0].b[1]", "$.a[0].b[0]", "$.a[1].b[0]", "$.b[0]", "$.a", "$"];
        let before = ["$.a[1].b[2]", "$.a[1].b[0]", "$.a[4].b[0]", "$.b[0]", "$.a", "$"];
        assert_eq!(places.map(|place| deleted.place_before(place)), before);
        assert_eq!(
            ["$.a[2].b[0]", "$.a[1].b[1].c", "$.a[1].b[0]", "$.b[0]"].map(|place| deleted.has(place)),
            [true, true, false, false]
        );
    }
}
