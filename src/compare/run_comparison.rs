//! Two runs compared, document by document and field by field.

use super::{
    pairs::Pairs,
    run_records::{CompareError, RunDocument, RunRecord, RunRecords},
    same_value::is_same,
};
use crate::export::CorrectedRecord;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

/// The kind of a change from one run to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Another value.
    Changed,
    /// Null or missing in the first run.
    Filled,
    /// Null or missing in the second run.
    Emptied,
    /// A record that is missing in the second run.
    OnlyInA,
    /// A record that is missing in the first run.
    OnlyInB,
}

impl ChangeKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Filled => "filled",
            Self::Emptied => "emptied",
            Self::OnlyInA => "only in A",
            Self::OnlyInB => "only in B",
        }
    }
}

/// A value that is not the same in both runs, or a record that only one has. Its fields are a promise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueChange {
    pub list: String,
    /// The document's name in the first run; in the second, if only that has the record.
    pub document: String,
    /// Null: the whole record.
    pub field: Option<String>,
    pub change: ChangeKind,
    pub a: Value,
    pub b: Value,
    /// A person has accepted the value in this run: the value of the other run is wrong.
    pub accepted_a: bool,
    pub accepted_b: bool,
    /// The record's place in the deliverable, and its job; null if this run does not have it.
    pub place_a: Option<String>,
    pub place_b: Option<String>,
    pub job_a: Option<String>,
    pub job_b: Option<String>,
}

/// The comparison of one field of a list. Its fields are a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldComparison {
    pub field: String,
    pub same: u64,
    pub changed: u64,
    pub filled: u64,
    pub emptied: u64,
    /// Values of the first run that equal, or differ from, values accepted by a person in the second run.
    pub right_a: u64,
    pub wrong_a: u64,
    /// The same for the second run.
    pub right_b: u64,
    pub wrong_b: u64,
}

/// The comparison of one list. Its fields are a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListComparison {
    pub list: String,
    /// Records that both runs have.
    pub records: u64,
    pub only_in_a: u64,
    pub only_in_b: u64,
    /// Records that only one run has and of which people have accepted at least a field.
    pub accepted_only_in_a: u64,
    pub accepted_only_in_b: u64,
    pub fields: Vec<FieldComparison>,
}

/// The whole comparison of two runs. Its fields are a promise.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunComparison {
    /// Documents of which both runs have a result.
    pub documents: u64,
    /// The documents among them with different content.
    pub other_content: u64,
    /// Documents that only one run has, by name.
    pub only_in_a: Vec<String>,
    pub only_in_b: Vec<String>,
    /// Documents that both runs have, but for which this run has no readable list.
    pub without_result_in_a: Vec<String>,
    pub without_result_in_b: Vec<String>,
    pub lists: Vec<ListComparison>,
    /// The first changes, by document.
    pub changes: Vec<ValueChange>,
    /// The number of further changes.
    pub more_changes: u64,
}

/// Compares two runs; keeps up to `most_changes` changes, and counts all.
pub fn compare_runs(a: &RunRecords, b: &RunRecords, most_changes: usize) -> Result<RunComparison, CompareError> {
    let mut builder = ComparisonBuilder { done: RunComparison::default(), places: HashMap::new(), most_changes };
    let pairs = Pairs::of_documents(&a.documents, &b.documents);
    for (of_a, of_b) in pairs.both {
        builder.documents((a, &a.documents[of_a]), (b, &b.documents[of_b]))?;
    }
    let names = |run: &RunRecords, places: Vec<usize>| {
        let documents = places.into_iter().map(|place| &run.documents[place]);
        documents.filter(|document| document.is_document).map(|document| document.name.clone()).collect()
    };
    let mut done = builder.done;
    done.only_in_a = names(a, pairs.only_a);
    done.only_in_b = names(b, pairs.only_b);
    Ok(done)
}

struct ComparisonBuilder {
    done: RunComparison,
    /// Indexes of fields, by list and field.
    places: HashMap<(usize, String), usize>,
    most_changes: usize,
}

/// A document of a run.
type DocumentOf<'r> = (&'r RunRecords, &'r RunDocument);

impl ComparisonBuilder {
    fn documents(&mut self, a: DocumentOf<'_>, b: DocumentOf<'_>) -> Result<(), CompareError> {
        let mut without = |document: &RunDocument, is_a: bool| {
            let names = if is_a { &mut self.done.without_result_in_a } else { &mut self.done.without_result_in_b };
            names.extend(document.is_document.then(|| document.name.clone()));
        };
        if !a.1.has_result {
            without(a.1, true);
        }
        if !b.1.has_result {
            without(b.1, false);
        }
        if !a.1.has_result || !b.1.has_result {
            return Ok(());
        }
        let has_same_text = a.1.content == b.1.content;
        if a.1.is_document {
            self.done.documents += 1;
            self.done.other_content += u64::from(!has_same_text);
        }
        let (records_a, records_b) = (a.0.records(a.1)?, b.0.records(b.1)?);
        let names = a.0.lists.iter().chain(b.0.lists.iter().filter(|list| !a.0.lists.contains(list)));
        for name in names {
            let of = |run: &RunRecords, records: &[RunRecord]| -> Vec<RunRecord> {
                let list = run.lists.iter().position(|known| known == name);
                records.iter().filter(|record| Some(record.list) == list).cloned().collect()
            };
            self.list(name, (a.1, &of(a.0, &records_a)), (b.1, &of(b.0, &records_b)), has_same_text);
        }
        Ok(())
    }

    fn list(
        &mut self,
        name: &str,
        (document_a, a): (&RunDocument, &[RunRecord]),
        (document_b, b): (&RunDocument, &[RunRecord]),
        has_same_text: bool,
    ) {
        let known = self.done.lists.iter().position(|list| list.list == name);
        let list = known.unwrap_or_else(|| {
            self.done.lists.push(ListComparison { list: name.to_owned(), ..ListComparison::default() });
            self.done.lists.len() - 1
        });
        let [refs_a, refs_b] = [a, b].map(|records| records.iter().collect::<Vec<_>>());
        let pairs = Pairs::of_records(&refs_a, &refs_b, has_same_text);
        let counts = &mut self.done.lists[list];
        counts.records += pairs.both.len() as u64;
        counts.only_in_a += pairs.only_a.len() as u64;
        counts.only_in_b += pairs.only_b.len() as u64;
        let accepted = |records: &[RunRecord], places: &[usize]| {
            places.iter().filter(|place| records[**place].accepted.is_any()).count() as u64
        };
        counts.accepted_only_in_a += accepted(a, &pairs.only_a);
        counts.accepted_only_in_b += accepted(b, &pairs.only_b);
        let change = |a: Option<&RunRecord>, b: Option<&RunRecord>| ValueChange {
            list: name.to_owned(),
            document: if a.is_some() { document_a.name.clone() } else { document_b.name.clone() },
            field: None,
            change: if a.is_some() { ChangeKind::OnlyInA } else { ChangeKind::OnlyInB },
            a: a.map(|record| record.record.clone()).unwrap_or_default(),
            b: b.map(|record| record.record.clone()).unwrap_or_default(),
            accepted_a: a.is_some_and(|record| record.accepted.is_any()),
            accepted_b: b.is_some_and(|record| record.accepted.is_any()),
            place_a: a.map(|record| record.place.clone()),
            place_b: b.map(|record| record.place.clone()),
            job_a: a.map(|_| document_a.job.clone()),
            job_b: b.map(|_| document_b.job.clone()),
        };
        for (of_a, of_b) in pairs.both {
            let names = (document_a.name.as_str(), document_b.name.as_str());
            self.record(list, (&a[of_a], &b[of_b]), names, &|| change(Some(&a[of_a]), Some(&b[of_b])));
        }
        for place in pairs.only_a {
            self.add(|| change(Some(&a[place]), None));
        }
        for place in pairs.only_b {
            self.add(|| change(None, Some(&b[place])));
        }
    }

    /// Compares the fields of a record that both runs have. `names`: the two runs' names of its document.
    fn record(
        &mut self,
        list: usize,
        (a, b): (&RunRecord, &RunRecord),
        names: (&str, &str),
        change: &dyn Fn() -> ValueChange,
    ) {
        let (fields_a, fields_b) = (CorrectedRecord::fields(&a.record), CorrectedRecord::fields(&b.record));
        let of = |fields: &[(String, Value)], name: &str| {
            fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let new = fields_b.iter().filter(|(name, _)| of(&fields_a, name).is_none());
        for (name, _) in fields_a.iter().chain(new) {
            let (value_a, value_b) = (of(&fields_a, name), of(&fields_b, name));
            // An object that is null in one run has its fields in the other, each with an entry of its own.
            let is_inner = |value: &Option<Value>, fields: &[(String, Value)]| {
                let begins = |known: &str| known.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'));
                value.is_none() && fields.iter().any(|(known, _)| begins(known))
            };
            if is_inner(&value_a, &fields_a) || is_inner(&value_b, &fields_b) {
                continue;
            }
            let (value_a, value_b) = (value_a.unwrap_or_default(), value_b.unwrap_or_default());
            // A value that only names the document may differ as the names do.
            let are_names = value_a.as_str() == Some(names.0) && value_b.as_str() == Some(names.1);
            let is_same = are_names || is_same(&value_a, &value_b);
            let (accepted_a, accepted_b) = (a.accepted.has(name), b.accepted.has(name));
            let place = *self.places.entry((list, name.clone())).or_insert_with(|| {
                let fields = &mut self.done.lists[list].fields;
                fields.push(FieldComparison { field: name.clone(), ..FieldComparison::default() });
                fields.len() - 1
            });
            let counts = &mut self.done.lists[list].fields[place];
            counts.right_a += u64::from(accepted_b && is_same);
            counts.wrong_a += u64::from(accepted_b && !is_same);
            counts.right_b += u64::from(accepted_a && is_same);
            counts.wrong_b += u64::from(accepted_a && !is_same);
            if is_same {
                counts.same += 1;
                continue;
            }
            let (kind, count) = match (&value_a, &value_b) {
                (Value::Null, _) => (ChangeKind::Filled, &mut counts.filled),
                (_, Value::Null) => (ChangeKind::Emptied, &mut counts.emptied),
                (_, _) => (ChangeKind::Changed, &mut counts.changed),
            };
            *count += 1;
            self.add(|| ValueChange {
                field: Some(name.clone()),
                change: kind,
                a: value_a,
                b: value_b,
                accepted_a,
                accepted_b,
                ..change()
            });
        }
    }

    fn add(&mut self, change: impl FnOnce() -> ValueChange) {
        if self.done.changes.len() < self.most_changes {
            self.done.changes.push(change());
        } else {
            self.done.more_changes += 1;
        }
    }
}
