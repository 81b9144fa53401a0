//! The settings that make a batch part of an evaluation; no report of a night has such batches.

use super::{Document, derived_id::derived_id, hash_of};
use overnight_core::job::digest::sha256;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The runs of one candidate: a job for each case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalBatch {
    /// The folder of the golden set, a whole path.
    pub gold: String,
    /// The name of its candidate.
    pub candidate: String,
    /// The instructions, as they were typed.
    pub instructions: String,
    /// How much the model is to reason; `None`: the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// From 1.
    pub repeat: u32,
    /// A hash of all inputs of its runs: runs with the same key are the same.
    pub key: String,
    /// The cases, in the order of the jobs.
    pub cases: Vec<String>,
    /// The cases are the held-out ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold_out: bool,
}

impl EvalBatch {
    /// Sets the key: of the instructions by their hash, the model at a tier, and the documents of each case.
    pub fn add_key(&mut self, instructions: &str, (model, tier): (&str, &str), cases: &[Vec<Document>]) {
        let documents: Vec<String> = cases
            .iter()
            .map(|case| hash_of(case.iter().map(|one| (one.name.as_str(), one.sha256.as_str()))).unwrap_or_default())
            .collect();
        let (effort, repeat) = (self.effort.as_deref().unwrap_or_default(), self.repeat);
        let (names, documents) = (self.cases.join("\n"), documents.join("\n"));
        let whole = format!("{instructions}\n{model}\n{tier}\n{effort}\n{repeat}\n{names}\n{documents}");
        self.key = sha256(whole.as_bytes());
    }

    /// Its id, which follows from its key and from when its set was made, in milliseconds since 1970.
    pub fn id(&self, made_ms: u64) -> Uuid {
        derived_id(made_ms, &self.key)
    }

    /// The hash that its jobs have in place of their instructions' hash: a job with the same hash, model and documents
    /// counts as already done. Another effort or another repetition gives another hash.
    pub(super) fn instructions_hash(&self, instructions: String) -> String {
        match (&self.effort, self.repeat) {
            (None, ..=1) => instructions,
            (effort, repeat) => {
                let effort = effort.as_deref().unwrap_or_default();
                sha256(format!("{instructions}\neffort {effort}\nrepeat {repeat}").as_bytes())
            }
        }
    }
}
