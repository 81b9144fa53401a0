//! The candidates of an evaluation.

use crate::batch::EvalBatch;
use serde::Serialize;

/// Instructions with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// A unique name: `terms+openai:gpt-5`, `terms+openai:gpt-5@low`.
    pub name: String,
    /// As they were typed.
    pub instructions: String,
    pub instructions_sha256: String,
    pub model: String,
    /// How much the model is to reason; `None`: the provider's default.
    pub effort: Option<String>,
}

impl Candidate {
    /// The candidate of a batch.
    pub fn of(batch: &EvalBatch, instructions_sha256: &str, model: &str) -> Self {
        Self {
            name: batch.candidate.clone(),
            instructions: batch.instructions.clone(),
            instructions_sha256: instructions_sha256.to_owned(),
            model: model.to_owned(),
            effort: batch.effort.clone(),
        }
    }
}
