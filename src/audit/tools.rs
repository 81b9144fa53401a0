//! The tools as a model was given them: from the catalogue that the job keeps, because another version of the program may
//! describe them differently.

use crate::{runner::TOOLS_ASSET, workspace::Workspace};
use overnight_core::{
    job::{
        event::{ConversationEvent, Event},
        state::Job,
    },
    message::ToolSpec,
    prompt::tools::ToolList,
};
use std::{collections::BTreeMap, sync::Arc};

/// A job's catalogue of tools, and the lists that its journal names.
#[derive(Debug)]
pub(super) struct RecordedTools {
    /// Empty, where the job was made before there were catalogues.
    catalogue: Vec<ToolSpec>,
    /// The hashes of the sub-agents' lists.
    of_sub_agents: BTreeMap<u32, String>,
}

/// The tools of a conversation.
#[derive(Debug)]
pub(super) struct GivenTools {
    pub(super) specs: Arc<[ToolSpec]>,
    /// They have the hash that the journal names.
    pub(super) are_recorded: bool,
}

impl RecordedTools {
    pub(super) fn open(workspace: &Workspace) -> Self {
        let text = workspace.read_text(TOOLS_ASSET).unwrap_or_default();
        Self { catalogue: serde_json::from_str(&text).unwrap_or_default(), of_sub_agents: BTreeMap::new() }
    }

    /// Notes the list of a sub-agent that starts.
    pub(super) fn observe(&mut self, event: &Event) {
        if let Event::Conversation(ConversationEvent::SubAgentStarted { conversation, tools_sha256, .. }) = event {
            self.of_sub_agents.insert(*conversation, tools_sha256.clone());
        }
    }

    /// The tools that a conversation has now.
    pub(super) fn given(&self, job: &Job, conversation: u32) -> GivenTools {
        let set = job.conversation(conversation).unwrap_or(&job.own).tools;
        let recorded = self.of_sub_agents.get(&conversation).unwrap_or(&job.tools_sha256);
        let kept = ToolList::of_catalogue(&self.catalogue, set);
        if kept.sha256 == *recorded {
            return GivenTools { specs: kept.specs, are_recorded: true };
        }
        let own = ToolList::of(set);
        GivenTools { specs: own.specs.clone(), are_recorded: own.sha256 == *recorded }
    }
}
