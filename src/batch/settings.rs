//! What was set when a batch was submitted: all that a worker needs to make its workspaces, on whatever machine. It lies as
//! JSON in the batch's row. Secrets are not in it: keys and headers come from each worker's own surroundings.

use crate::job::instructions::Instructions;
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
}
