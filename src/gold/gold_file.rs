//! `gold.yaml`: the facts of a golden set about its cases. Paths in it are relative to its folder.

use overnight_core::job::{
    instructions::{Quotes, ValueCheck},
    time::Timestamp,
};
use overnight_evals::field_rule::FieldRule;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// The version of the file that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;

/// Whether a file of this path is JSON: other files are not compared.
pub fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldFile {
    pub version: u32,
    /// Facts about the files that jobs deliver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliverables: Vec<GoldDeliverable>,
    /// Rules for comparing fields, if neither their schema nor their value determines it: `$.terms[*].rent`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, FieldRule>,
    /// The judge of texts whose words differ; `None`: nobody judges them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<GoldJudge>,
    /// The held-out cases.
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

/// The number of held-out cases, and their choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldOut {
    /// Their share of all cases, over 0 and under 1.
    pub share: f64,
    /// Another seed holds out other cases.
    #[serde(default)]
    pub seed: u64,
}

/// The judging model, and its rubric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldJudge {
    /// `openai:gpt-6-sol`
    pub model: String,
    /// The rule for when a found value is right.
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
    /// The fields with quotes and their places: they are evidence, and not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quotes>,
    /// Rules for its values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ValueCheck>,
}

impl GoldDeliverable {
    /// Fields with quotes and their places, which are not compared.
    pub fn proof_fields(&self) -> impl Iterator<Item = String> {
        self.quotes.iter().flat_map(Quotes::proof_fields)
    }
}

/// Documents that are worked on together, and their expected results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenCase {
    /// Unique in the set.
    pub name: String,
    pub documents: Vec<GoldDocument>,
    pub expected: Vec<GoldExpected>,
    /// The job of origin, if the case comes from an approved job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<CaseOrigin>,
    /// The case is held out: see [`HoldOut`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
}

impl GoldenCase {
    /// The files of its documents, and of its expected results.
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
    /// The document's name in jobs.
    pub name: String,
    pub sha256: String,
}

impl GoldDocument {
    /// The document's path in the set.
    pub fn path(&self) -> String {
        let name = self.name.rsplit('/').next().unwrap_or(&self.name);
        format!("documents/{}/{name}", self.sha256)
    }
}

/// The expected content of a deliverable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldExpected {
    /// As [`GoldDeliverable::path`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<String>,
    /// `expected/lease-1.json`: the expected content.
    pub file: String,
    /// `expected/lease-1.places.json`: the places of its records, by their paths in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<String>,
    /// A schema for this file alone.
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
