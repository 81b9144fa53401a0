//! The models that the instructions name for other work than the main work.

use super::Instructions;
use crate::job::{models::ModelRoles, sub_agent_role::SubAgentRole};
use std::collections::BTreeSet;

impl Instructions {
    /// The model that is named for a sub-agent; `None` means the job's own.
    pub fn model_of(&self, role: &SubAgentRole) -> Option<&str> {
        match role {
            SubAgentRole::Delegate { agent } => {
                let own = self.agents.get(agent).and_then(|agent| agent.model.as_deref());
                own.or(self.models.helpers.as_deref())
            }
            SubAgentRole::SecondReader { .. } => self.models.second_reader.as_deref(),
            SubAgentRole::Reader { .. } => self.models.readers.as_deref(),
            SubAgentRole::Verifier { .. } => self.models.verify.as_deref(),
            SubAgentRole::Transcriber { reader: 1, .. } => self.models.vision.as_deref(),
            SubAgentRole::Transcriber { .. } => self.models.vision_second.as_deref(),
        }
    }

    /// The models that are named for sub-agents, each once.
    pub fn named_models(&self) -> BTreeSet<&str> {
        let ModelRoles { second_reader, readers, verify, helpers, vision, vision_second } = &self.models;
        let agents = self.agents.values().filter_map(|agent| agent.model.as_deref());
        let used = [
            second_reader.as_deref().filter(|_| self.second_reader.is_some()),
            readers.as_deref().filter(|_| self.readers.is_some()),
            verify.as_deref().filter(|_| self.verify.is_some()),
            helpers.as_deref().filter(|_| !self.agents.is_empty()),
            vision.as_deref(),
            vision_second.as_deref(),
            self.cascade.as_ref().map(|cascade| cascade.strong.as_str()),
        ];
        used.into_iter().flatten().chain(agents).collect()
    }

    /// If the job's own model is a set of rules: removes readers, second reader and verifier that would use it, because
    /// agreement with itself proves nothing. Those for which `models` names a model stay.
    pub fn without_own_proof(&mut self) {
        let ModelRoles { readers, second_reader, verify, .. } = &self.models;
        self.readers.take_if(|_| readers.is_none());
        self.second_reader.take_if(|_| second_reader.is_none());
        self.verify.take_if(|_| verify.is_none());
    }
}
