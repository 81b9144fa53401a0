//! The models of a job: the chosen one with its server, and how many turns each model answered.

use super::event::Event;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

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

/// `openai` of `openai:gpt-4.1`.
pub fn provider(model: &str) -> &str {
    model.split(':').next().unwrap_or_default()
}

/// Turns that one model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelTurns {
    /// As it was asked for.
    pub model: String,
    /// The name under which the server answered, where that is another.
    pub answered_as: Option<String>,
    pub turns: u64,
}

/// Counts from the facts which models answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    asked: String,
    base_url: Option<String>,
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
        } else if let Event::ModelReplied { model, .. } = event {
            self.servers.insert(self.base_url.as_deref().unwrap_or_else(|| provider(&self.asked)).to_owned());
            let is_asked = *model == self.asked || self.asked.split_once(':').is_some_and(|(_, name)| name == model);
            let answered_as = (!is_asked).then(|| model.clone());
            let same = |one: &&mut ModelTurns| one.model == self.asked && one.answered_as == answered_as;
            match self.models.iter_mut().find(same) {
                Some(one) => one.turns += 1,
                None => self.models.push(ModelTurns { model: self.asked.clone(), answered_as, turns: 1 }),
            }
        }
    }

    /// The same choice of model with no turns counted: for the next part of the journal.
    #[must_use]
    pub fn without_turns(&self) -> Self {
        Self { asked: self.asked.clone(), base_url: self.base_url.clone(), ..Self::default() }
    }
}

impl fmt::Display for ModelTurns {
    /// `openai:gpt-4.1 (12 turns, answered as gpt-4.1-2025-04-14)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered_as = self.answered_as.as_ref().map(|name| format!(", answered as {name}")).unwrap_or_default();
        write!(f, "{} ({} {}{answered_as})", self.model, self.turns, if self.turns == 1 { "turn" } else { "turns" })
    }
}

/// The models in one line; `else_by` where none has answered yet.
pub fn list_models(models: &[ModelTurns], else_by: &str) -> String {
    let listed: Vec<String> = models.iter().map(ToString::to_string).collect();
    if listed.is_empty() { else_by.to_owned() } else { listed.join(", ") }
}
