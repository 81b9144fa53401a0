//! The models of a job: the chosen one with its server, and how many turns each model answered.

pub use crate::message::Tier;

use super::event::Event;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A model, and where it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// `provider:name`.
    pub model: String,
    /// Where the model's server is; none: where its provider's own is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key; none: the provider's usual one, for the provider's own server only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
}

impl ModelChoice {
    /// The server that is called: its address, or the provider whose own it is.
    pub fn server(&self) -> &str {
        self.base_url.as_deref().unwrap_or_else(|| provider(&self.model))
    }
}

/// Which models work on a job beside the one that does the work; none: that one.
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
    /// Transcribes pages that only eyes can read.
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

/// `openai` of `openai:gpt-4.1`.
pub fn provider(model: &str) -> &str {
    model.split(':').next().unwrap_or_default()
}

/// Turns that one model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTurns {
    /// As it was asked for.
    pub model: String,
    /// The name under which the server answered, where that is another.
    pub answered_as: Option<String>,
    /// At which it was asked.
    pub tier: Tier,
    /// Why it was the standard one, where the tier `flex` was left for it.
    pub left_flex: Option<String>,
    /// At least 1.
    pub turns: u64,
}

/// Counts from the facts which models answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    asked: String,
    base_url: Option<String>,
    /// In its stead, for the helpers at work that another model is named for.
    helpers: BTreeMap<u32, String>,
    /// At which the model is asked now.
    pub tier: Tier,
    left_flex: Option<String>,
    /// In the order in which they first answered.
    pub models: Vec<ModelTurns>,
    /// As [`ModelChoice::server`] names them.
    pub servers: BTreeSet<String>,
}

impl Answered {
    /// Takes in what an event says of models.
    pub fn observe(&mut self, event: &Event) {
        if let Event::JobCreated { spec, .. } = event {
            self.asked.clone_from(&spec.model);
            self.base_url.clone_from(&spec.base_url);
        } else if let Event::ModelChosen { choice } = event {
            self.base_url.clone_from(&choice.base_url);
        } else if let Event::Opened { model, .. } = event {
            self.asked.clone_from(model);
        } else if let Event::HelperStarted { conversation, model: Some(model), .. } = event {
            self.helpers.insert(*conversation, model.clone());
        } else if let Event::HelperEnded { conversation, .. } = event {
            self.helpers.remove(conversation);
        } else if let Event::JobEnded { .. } = event {
            self.helpers.clear();
        } else if let Event::TierChanged { tier, reason } = event {
            self.tier = *tier;
            self.left_flex = tier.is_standard().then(|| reason.clone());
        } else if let Event::ModelReplied { conversation, model, tier, .. } = event {
            let asked = self.helpers.get(conversation).unwrap_or(&self.asked).clone();
            self.servers.insert(self.base_url.as_deref().unwrap_or_else(|| provider(&asked)).to_owned());
            let is_asked = *model == asked || asked.split_once(':').is_some_and(|(_, name)| name == model);
            let answered_as = (!is_asked).then(|| model.clone());
            let one = ModelTurns {
                model: asked,
                answered_as,
                tier: tier.unwrap_or(self.tier),
                left_flex: self.left_flex.clone(),
                turns: 1,
            };
            match self.models.iter_mut().find(|other| ModelTurns { turns: 1, ..(*other).clone() } == one) {
                Some(same) => same.turns += 1,
                None => self.models.push(one),
            }
        }
    }

    /// The same choice of model with no turns counted: for the next part of the journal.
    #[must_use]
    pub fn without_turns(&self) -> Self {
        Self { models: Vec::new(), servers: BTreeSet::new(), ..self.clone() }
    }
}

impl fmt::Display for ModelTurns {
    /// `openai:gpt-5.4 (12 turns at the flex tier, answered as gpt-5.4-2026-03-05)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered_as = self.answered_as.as_ref().map(|name| format!(", answered as {name}")).unwrap_or_default();
        let turns = if self.turns == 1 { "turn" } else { "turns" };
        let tier = if self.tier.is_standard() { "" } else { " at the flex tier" };
        let left = self.left_flex.as_ref().map(|why| format!("; the flex tier was left: {why}")).unwrap_or_default();
        write!(f, "{} ({} {turns}{tier}{answered_as}{left})", self.model, self.turns)
    }
}

/// The models in one line; `else_by` where none has answered yet.
pub fn list_models(models: &[ModelTurns], else_by: &str) -> String {
    let listed: Vec<String> = models.iter().map(ToString::to_string).collect();
    if listed.is_empty() { else_by.to_owned() } else { listed.join(", ") }
}
