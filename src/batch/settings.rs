//! What was set when a batch was submitted: all that a worker needs to make its workspaces, on whatever machine. It lies as
//! JSON in the batch's row. Secrets are not in it: keys and headers come from each worker's own surroundings.

use super::{BatchError, CascadeBatch, EvalBatch, OnlyFields};
use crate::store::NewBatch;
use overnight_core::job::{instructions::Instructions, left_out::LeftOut};
use serde::{Deserialize, Serialize};

/// All of the batch's settings. What is missing has its default, so that a row of an older version can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchSettings {
    /// As they were read, with what stood beside their file, and with the limits that the submission set.
    pub instructions: Instructions,
    /// Where the model's server is; none: where its provider's own is.
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
    /// What the submission found and left out, for who reads the report.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// The only fields that are asked for, and the results that the jobs begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<OnlyFields>,
    /// It is one of an evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<EvalBatch>,
    /// It is a stage of a cascade, not its first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<CascadeBatch>,
}

impl BatchSettings {
    /// The settings of a batch. The error: they are of another version.
    pub fn of(batch: &NewBatch) -> Result<Self, BatchError> {
        Self::deserialize(&batch.settings)
            .map_err(|error| BatchError::Settings { batch: batch.id, why: error.to_string() })
    }

    /// The files that stored settings say were left out; none if the settings are of another version, which the worker reports.
    pub fn left_out(settings: &serde_json::Value) -> LeftOut {
        Self::deserialize(settings).map(|settings| settings.left_out).unwrap_or_default()
    }

    /// The evaluation that stored settings are of; none of another version.
    pub fn eval(settings: &serde_json::Value) -> Option<EvalBatch> {
        EvalBatch::deserialize(settings.get("eval")?).ok()
    }
}

/// What the closing job is asked to do. The table of models is the batch's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosingSettings {
    /// As those of the batch.
    pub instructions: Instructions,
    /// Their file's whole text.
    pub text: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
}
