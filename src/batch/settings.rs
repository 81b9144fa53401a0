//! The settings of a batch at submission: everything that a worker on any machine needs to make its workspaces. They
//! are JSON in the batch's row, without secrets: each worker takes keys and headers from its own environment.

use super::{BatchError, CascadeBatch, EvalBatch, OnlyFields};
use crate::store::NewBatch;
use overnight_core::job::{instructions::Instructions, left_out::LeftOut};
use serde::{Deserialize, Serialize};

/// All of the batch's settings. What is missing has its default, so that a row of an older version can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchSettings {
    /// The instructions with the files beside them, and with the limits of the submission.
    pub instructions: Instructions,
    /// Address of the model's server; `None`: the provider's own server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key; none: the provider's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Text of the user's table of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<String>,
    /// The job over all deliverables that is submitted when the batch has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Box<ClosingSettings>>,
    /// The findings of the submission and the files that it left out, for the report.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// The only fields that are asked for, and the results that the jobs begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<OnlyFields>,
    /// Set if the batch is part of an evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<EvalBatch>,
    /// Set if the batch is a later stage of a cascade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<CascadeBatch>,
}

impl BatchSettings {
    /// The settings of a batch. It is an error if another version wrote them.
    pub fn of(batch: &NewBatch) -> Result<Self, BatchError> {
        Self::deserialize(&batch.settings)
            .map_err(|error| BatchError::Settings { batch: batch.id, why: error.to_string() })
    }

    /// The left-out files in stored settings; empty for settings of another version, which the worker reports.
    pub fn left_out(settings: &serde_json::Value) -> LeftOut {
        Self::deserialize(settings).map(|settings| settings.left_out).unwrap_or_default()
    }

    /// The evaluation in stored settings; `None` for settings of another version.
    pub fn eval(settings: &serde_json::Value) -> Option<EvalBatch> {
        EvalBatch::deserialize(settings.get("eval")?).ok()
    }
}

/// The task of the closing job. It uses the batch's table of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosingSettings {
    /// In the same form as the batch's instructions.
    pub instructions: Instructions,
    /// The whole text of the instructions' file.
    pub text: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
}
