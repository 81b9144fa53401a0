//! The result of comparing one document: a cell for each compared value, and the records of its lists, one to one.

use crate::{field_rule::ComparisonKind, statistics::DocumentScore};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, ops::AddAssign};

/// Where the quotes of records stand in their documents, by the path of the record: `$.terms[3]`. Records without a
/// place are paired by their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPlaces {
    /// The places of expected records.
    pub expected: BTreeMap<String, RecordPlace>,
    /// The places of found records.
    pub found: BTreeMap<String, RecordPlace>,
}

/// Where the quote of a record stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPlace {
    /// The name of the document.
    pub document: String,
    /// The first byte or character of the quote; the same unit must be used everywhere.
    pub start: u64,
    /// The end of the quote, behind its last byte or character.
    pub end: u64,
}

/// The result of comparing a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DocumentComparison {
    /// One cell for each expected value, in the expected order, and for values found where nothing is expected.
    pub cells: Vec<FieldCell>,
    /// Each list that the expected or the found value has, also within records.
    pub lists: Vec<ListPairing>,
}

/// One value that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldCell {
    /// The path of the value, with `[*]` for the places of lists.
    pub field: String,
    /// The path in the expected value, there or not; none if its record doesn't exist there.
    pub expected_path: Option<String>,
    /// The path in the found value, there or not; none if its record doesn't exist, or nothing was found.
    pub found_path: Option<String>,
    /// Null where nothing is expected.
    pub expected: Value,
    /// Null where nothing was found.
    pub found: Value,
    /// Whether the found value is right. Null is right where null is expected, unless the whole record is missing.
    pub is_right: bool,
    /// How the two values were compared.
    pub kind: ComparisonKind,
}

/// The pairing of one list's records. Numbers are places, from 0 on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListPairing {
    /// The path of the list, with `[*]` for the places of the lists that contain it.
    pub list: String,
    /// The path in the expected value; none if the record that contains the list doesn't exist there.
    pub expected_path: Option<String>,
    /// The path in the found value; none if the record that contains the list doesn't exist there.
    pub found_path: Option<String>,
    /// The pairs, ordered by the expected record.
    pub pairs: Vec<PairedRecords>,
    /// Expected records that were not found: each of their fields is a wrong cell.
    pub missing: Vec<usize>,
    /// Found records that are not expected. They have no cells.
    pub extra: Vec<usize>,
}

/// Two records that are taken for the same one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedRecords {
    /// The expected record.
    pub expected: usize,
    /// The found one.
    pub found: usize,
    /// Whether the quotes stand at the same place; otherwise the values are alike.
    pub by_place: bool,
    /// The share of differing values, in 0..=1. Free texts count by dissimilarity, values null in both not at all.
    pub difference: f64,
}

/// Records of one list, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairingCounts {
    /// The number of expected records.
    pub expected: usize,
    /// The number of found records.
    pub found: usize,
    /// The number of paired records.
    pub paired: usize,
}

impl DocumentComparison {
    /// The number of right cells and of all cells.
    pub fn score(&self) -> DocumentScore {
        let mut score = DocumentScore::default();
        for cell in &self.cells {
            score += cell.score();
        }
        score
    }

    /// The right cells and all cells by field.
    pub fn fields(&self) -> BTreeMap<&str, DocumentScore> {
        let mut fields: BTreeMap<&str, DocumentScore> = BTreeMap::new();
        for cell in &self.cells {
            *fields.entry(&cell.field).or_default() += cell.score();
        }
        fields
    }

    /// How many records were expected, found and paired, by list.
    pub fn lists(&self) -> BTreeMap<&str, PairingCounts> {
        let mut lists: BTreeMap<&str, PairingCounts> = BTreeMap::new();
        for pairing in &self.lists {
            *lists.entry(&pairing.list).or_default() += pairing.counts();
        }
        lists
    }
}

impl FieldCell {
    fn score(&self) -> DocumentScore {
        DocumentScore { right: f64::from(u8::from(self.is_right)), total: 1.0 }
    }
}

impl ListPairing {
    /// How many records were expected, found and paired.
    pub fn counts(&self) -> PairingCounts {
        let paired = self.pairs.len();
        PairingCounts { expected: paired + self.missing.len(), found: paired + self.extra.len(), paired }
    }
}

impl PairingCounts {
    /// The share of the found records that are expected, in 0..=1; 1 where nothing was found.
    pub fn precision(&self) -> f64 {
        share(self.paired, self.found)
    }

    /// The share of the expected records that were found, in 0..=1; 1 where nothing is expected.
    pub fn recall(&self) -> f64 {
        share(self.paired, self.expected)
    }

    /// The harmonic mean of precision and recall, in 0..=1, as twice the pairs among all records; 1 where there are none.
    pub fn f1(&self) -> f64 {
        share(2 * self.paired, self.expected + self.found)
    }
}

impl AddAssign for PairingCounts {
    fn add_assign(&mut self, other: Self) {
        self.expected += other.expected;
        self.found += other.found;
        self.paired += other.paired;
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of records, far fewer than 2^52")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}
