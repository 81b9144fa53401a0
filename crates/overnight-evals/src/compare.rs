//! Compares the values found in one document with the right ones, value by value.

use crate::{
    comparison::{DocumentComparison, FieldCell, ListPairing, PairedRecords, RecordPlace, RecordPlaces},
    field_rule::ComparisonKind,
    form, pairing,
    plan::ComparisonPlan,
    tree::{NOTHING, TreeBuilder, TreeContent, TreeField, ValueTree},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Judges two values that differ by the rules of their kind: whether the found value (the second one) is right all the
/// same, or none if the judge can't decide. The first argument is the field. It is never called with null.
pub type CellJudge<'j> = dyn Fn(&str, &Value, &Value) -> Option<bool> + 'j;

/// Compares the values found in a document with the right ones.
///
/// - There is a cell for each single value that is expected or named by the schema. A missing value is null, and null
///   is right where null is expected. A key that is in neither of them has no cell.
/// - If nothing was found at all (`found` is none: the run failed), every cell is wrong.
/// - Records of a list are paired one to one: first records whose quotes in `places` overlap by at least half of the
///   shorter one, the largest overlaps first; then the rest, with the least sum of differences (minimum cost
///   assignment). Records that have nothing in common are no pair. Each field of a missing record is a wrong cell; an
///   extra record has none.
/// - Where a list or an object is expected and a value of another shape was found, each expected cell is wrong, and the
///   found value is one more wrong cell. An empty list or object counts as nothing.
/// - `judge` is called for texts that are not similar enough, and for fields whose rule asks for it.
///
/// Every record of a list is compared with every other, and the time of the assignment grows with the third power of
/// the records. 2,000 expected and 2,000 found records of six fields, on one core and optimised at level 1, take about
/// a second if most were found correctly (half a second more with a text of 20 words), and seven if hardly any was.
/// Each pair takes 8 bytes: 10,000 records on both sides take 800 MB, and minutes.
pub fn compare(
    expected: &Value,
    found: Option<&Value>,
    plan: &ComparisonPlan,
    places: &RecordPlaces,
    judge: Option<&CellJudge>,
) -> DocumentComparison {
    let mut builder = TreeBuilder::new(plan);
    let expected = builder.document(expected);
    let found = found.map(|found| builder.document(found));
    let place = FieldPlace {
        field: "$".to_owned(),
        expected: Some("$".to_owned()),
        found: found.as_ref().map(|_| "$".to_owned()),
    };
    let mut walk = Walk { places, judge, done: DocumentComparison::default() };
    walk.value(&expected, found.as_ref(), place);
    walk.done
}

struct Walk<'w> {
    places: &'w RecordPlaces,
    judge: Option<&'w CellJudge<'w>>,
    done: DocumentComparison,
}

/// The current position in both values.
#[derive(Clone)]
struct FieldPlace {
    field: String,
    expected: Option<String>,
    found: Option<String>,
}

impl FieldPlace {
    fn key(&self, name: &str) -> Self {
        let below = |path: &String| format!("{path}.{name}");
        Self {
            field: below(&self.field),
            expected: self.expected.as_ref().map(below),
            found: self.found.as_ref().map(below),
        }
    }

    fn item(&self, expected: Option<usize>, found: Option<usize>) -> Self {
        let below = |path: &Option<String>, at: Option<usize>| Some(item_path(path.as_ref()?, at?));
        Self {
            field: format!("{}[*]", self.field),
            expected: below(&self.expected, expected),
            found: below(&self.found, found),
        }
    }
}

fn item_path(list: &str, at: usize) -> String {
    format!("{list}[{at}]")
}

impl Walk<'_> {
    /// `found` is none where nothing can be right, because its record or the whole result is missing.
    fn value(&mut self, expected: &ValueTree, found: Option<&ValueTree>, at: FieldPlace) {
        let is_absent = found.is_none_or(ValueTree::is_null);
        match (&expected.content, found.map(|found| &found.content)) {
            (TreeContent::Object(fields), Some(TreeContent::Object(found))) => self.fields(fields, Some(found), &at),
            (TreeContent::Object(fields), _) if is_absent => self.fields(fields, found.map(|_| &[][..]), &at),
            (TreeContent::Single { form: None, .. }, Some(TreeContent::Object(_))) => {
                self.cell(expected, found.map(|found| if found.is_empty() { &NOTHING } else { found }), at);
            }
            (TreeContent::List(items), Some(TreeContent::List(found))) => self.list(items, found, &at),
            (TreeContent::List(items), _) if is_absent => self.list(items, &[], &at),
            (TreeContent::Single { form: None, .. }, Some(TreeContent::List(found))) => self.list(&[], found, &at),
            (TreeContent::Object(_) | TreeContent::List(_), Some(_)) => {
                self.value(expected, Some(&NOTHING), at.clone());
                if found.is_some_and(|found| !found.is_empty()) {
                    self.cell(&NOTHING, found, at);
                }
            }
            (_, _) => self.cell(expected, found, at),
        }
    }

    /// Compares the fields of the expected object, sorted by key. Fields that only the found one has are skipped.
    fn fields(&mut self, expected: &[TreeField], found: Option<&[TreeField]>, at: &FieldPlace) {
        let of_key = |fields: &[TreeField], key: u32| fields.binary_search_by_key(&key, |field| field.key);
        for field in expected {
            let other = found.map(|found| of_key(found, field.key).map_or(&NOTHING, |place| &found[place].tree));
            self.value(&field.tree, other, at.key(field.name));
        }
    }

    fn list(&mut self, expected: &[ValueTree], found: &[ValueTree], at: &FieldPlace) {
        let places = (
            places_of(&self.places.expected, at.expected.as_deref(), expected.len()),
            places_of(&self.places.found, at.found.as_deref(), found.len()),
        );
        let pairs = pairing::pair((expected, found), (&places.0, &places.1));
        let partners: BTreeMap<usize, usize> = pairs.iter().map(|pair| (pair.expected, pair.found)).collect();
        let extra = self.pairing(at, pairs, expected.len(), found.len());
        for (place, record) in expected.iter().enumerate() {
            let partner = partners.get(&place).copied();
            self.value(record, partner.map(|partner| &found[partner]), at.item(Some(place), partner));
        }
        for place in extra {
            self.lists_of_extra(&found[place], &at.item(None, Some(place)));
        }
    }

    /// Keeps the pairing of a list and returns its extra records.
    fn pairing(&mut self, at: &FieldPlace, pairs: Vec<PairedRecords>, expected: usize, found: usize) -> Vec<usize> {
        let (of_expected, of_found): (BTreeSet<usize>, BTreeSet<usize>) =
            pairs.iter().map(|pair| (pair.expected, pair.found)).unzip();
        let rest = |all: usize, taken: &BTreeSet<usize>| (0..all).filter(|place| !taken.contains(place)).collect();
        let extra: Vec<usize> = rest(found, &of_found);
        self.done.lists.push(ListPairing {
            list: at.field.clone(),
            expected_path: at.expected.clone(),
            found_path: at.found.clone(),
            pairs,
            missing: rest(expected, &of_expected),
            extra: extra.clone(),
        });
        extra
    }

    /// Adds the lists of an extra record: the record has no cells, but the records of its lists are extra ones too.
    fn lists_of_extra(&mut self, record: &ValueTree, at: &FieldPlace) {
        match &record.content {
            TreeContent::Single { .. } => {}
            TreeContent::Object(fields) => {
                for field in fields {
                    self.lists_of_extra(&field.tree, &at.key(field.name));
                }
            }
            TreeContent::List(items) => {
                for place in self.pairing(at, Vec::new(), 0, items.len()) {
                    self.lists_of_extra(&items[place], &at.item(None, Some(place)));
                }
            }
        }
    }

    fn cell(&mut self, expected: &ValueTree, found: Option<&ValueTree>, at: FieldPlace) {
        let parts = |tree: &ValueTree| match &tree.content {
            TreeContent::Single { kind, judge, form } => (*kind, *judge, form.is_some()),
            TreeContent::Object(_) | TreeContent::List(_) => (ComparisonKind::Exact, false, true),
        };
        let (kind, judge, has_expected) = parts(expected);
        let (found_kind, _, has_found) = found.map_or((kind, false, false), parts);
        let kind = if has_expected || !has_found { kind } else { found_kind };
        let by_kind = match (&expected.content, found.map(|found| &found.content)) {
            (TreeContent::Single { form: Some(one), .. }, Some(TreeContent::Single { form: Some(other), .. })) => {
                form::is_right(kind, one, other)
            }
            (_, Some(_)) => !has_expected && !has_found,
            (_, None) => false,
        };
        let found_value = found.map_or(&Value::Null, |found| found.value);
        let is_asked = !by_kind && has_expected && has_found && (judge || matches!(kind, ComparisonKind::Text { .. }));
        let by_judge = self.judge.filter(|_| is_asked).and_then(|judge| judge(&at.field, expected.value, found_value));
        self.done.cells.push(FieldCell {
            field: at.field,
            expected_path: at.expected,
            found_path: at.found,
            expected: expected.value.clone(),
            found: found_value.clone(),
            is_right: by_judge.unwrap_or(by_kind),
            kind,
        });
    }
}

/// The places of a list's records.
fn places_of<'p>(
    places: &'p BTreeMap<String, RecordPlace>,
    list: Option<&str>,
    records: usize,
) -> Vec<Option<&'p RecordPlace>> {
    (0..records).map(|at| places.get(&item_path(list?, at))).collect()
}

#[cfg(test)]
mod tests;
