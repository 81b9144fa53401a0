//! `gold.yaml`: what a golden set says of its cases. Paths in it are relative to its folder.

use overnight_core::job::{
    instructions::{Quotes, ValueCheck},
    time::Timestamp,
};
use overnight_evals::field_rule::FieldRule;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// The version of the file that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;

/// Whether a file of this path is JSON: of others nothing is compared.
pub fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldFile {
    pub version: u32,
    /// What is known of the files that jobs deliver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<GoldDeliverable>,
    /// How fields are compared, where neither their schema nor their value says it: `$.terms[*].rent`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, FieldRule>,
    /// Who judges texts that are not the same by their words; none: nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<GoldJudge>,
    /// Which cases are kept back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_out: Option<HoldOut>,
    #[serde(default)]
    pub cases: Vec<GoldenCase>,
}

impl Default for GoldFile {
    fn default() -> Self {
        let (deliverables, fields) = (Vec::new(), BTreeMap::new());
        Self { version: VERSION, deliverables, fields, judge: None, hold_out: None, cases: Vec::new() }
    }
}

impl GoldFile {
    /// Every file that it names.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        let schemas = self.deliverables.iter().filter_map(|deliverable| deliverable.schema.clone());
        schemas.chain(self.cases.iter().flat_map(GoldenCase::files))
    }
}

/// How many cases are kept back, and which.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldOut {
    /// Of all cases, over 0 and under 1.
    pub share: f64,
    /// Another one keeps others back.
    #[serde(default)]
    pub seed: u64,
}

/// Who judges, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldJudge {
    /// `openai:gpt-6-sol`
    pub model: String,
    /// When a found value is right.
    pub rubric: String,
}

/// A file that jobs deliver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldDeliverable {
    /// `output/terms.json`; none: the first JSON file that the instructions ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `schemas/terms.json`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Where its quotes stand: they are proof, and not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quotes>,
    /// Rules for its values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ValueCheck>,
}

impl GoldDeliverable {
    /// Fields that hold quotes and where they stand, which are not compared.
    pub fn proof_fields(&self) -> impl Iterator<Item = String> {
        self.quotes.iter().flat_map(Quotes::proof_fields)
    }
}

/// Documents that are worked together, and what is right of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenCase {
    /// Unique in the set.
    pub name: String,
    pub documents: Vec<GoldDocument>,
    pub expected: Vec<GoldExpected>,
    /// Where it comes from, where a job was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<CaseOrigin>,
    /// Kept back: see [`HoldOut`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
}

impl GoldenCase {
    /// Its documents, and what is right of them.
    pub(super) fn files(&self) -> impl Iterator<Item = String> {
        let expected =
            self.expected.iter().flat_map(|one| [Some(one.file.clone()), one.places.clone(), one.schema.clone()]);
        self.documents.iter().map(GoldDocument::path).chain(expected.flatten())
    }
}

/// A document, at `documents/SHA256/NAME`, where NAME is the last part of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldDocument {
    /// As the jobs call it.
    pub name: String,
    pub sha256: String,
}

impl GoldDocument {
    /// Where it lies in the set.
    pub fn path(&self) -> String {
        let name = self.name.rsplit('/').next().unwrap_or(&self.name);
        format!("documents/{}/{name}", self.sha256)
    }
}

/// What is right of a deliverable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldExpected {
    /// As [`GoldDeliverable::path`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<String>,
    /// `expected/lease-1.json`: what is right.
    pub file: String,
    /// `expected/lease-1.places.json`: where its records stand, by their paths in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<String>,
    /// The schema of this one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

/// The job that a case comes from, and who approved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseOrigin {
    pub job: String,
    pub by: String,
    pub at: Timestamp,
}
