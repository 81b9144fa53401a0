//! The models of a job: the chosen one with its server, and those that are named for sub-agents.

pub use crate::message::Tier;

use serde::{Deserialize, Serialize};

/// A model, and where it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// `provider:name`.
    pub model: String,
    /// The address of the model's server; `None` means the provider's own server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the key; `None`: the provider's usual one, for the provider's own server only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
}

impl ModelChoice {
    /// The server that is called: its address, or the provider's name for the provider's own server.
    pub fn server(&self) -> &str {
        self.base_url.as_deref().unwrap_or_else(|| provider(&self.model))
    }
}

/// The models for other work than the job's main work; `None` means the job's main model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRoles {
    /// Reads the documents a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_reader: Option<String>,
    /// Reads the parts of the documents side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<String>,
    /// Judges the deliverables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
    /// Does what is delegated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helpers: Option<String>,
    /// Transcribes pages that can only be read from their image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<String>,
    /// Transcribes them a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision_second: Option<String>,
}

impl ModelRoles {
    /// Whether the one model does everything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The provider of a model: `openai` of `openai:gpt-4.1`.
pub fn provider(model: &str) -> &str {
    model.split(':').next().unwrap_or_default()
}
