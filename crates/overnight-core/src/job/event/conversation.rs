//! Facts on conversations with models.

use crate::{
    job::{
        call::PendingCall,
        conversation::OWN,
        epoch::EpochCause,
        failure::FailureKind,
        models::Tier,
        part::Part,
        sub_agent_role::{SubAgentEnd, SubAgentRole},
        submitted_call::SubmittedCall,
        tool::ToolSet,
    },
    message::{Image, Stop, Usage},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use strum::VariantNames;

/// The purpose of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardKind {
    /// The todos are worked.
    Todos,
    /// The model plans.
    Planning,
    /// The model writes the digest of the past.
    Digest,
    /// A sub-agent works.
    #[serde(rename = "helper")]
    SubAgent,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_own(conversation: &u32) -> bool {
    *conversation == OWN
}

/// A model's conversation: what it is shown, its answers, its sub-agents. `conversation` names it; 0 is the job's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum ConversationEvent {
    /// A new history begins with this opening as its first message; its last part is the board.
    EpochOpened {
        conversation: u32,
        number: u32,
        cause: EpochCause,
        opening: Vec<Part>,
        /// The images of results that the model has not answered yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        tokens: u64,
    },
    /// The runner's message with the newest result: the board in full if it changed, and the status line of the turn.
    BoardShown {
        conversation: u32,
        kind: BoardKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        board: Option<String>,
        line: String,
        tokens: u64,
    },
    /// A phase has ended, and the history goes on: the job fits in one piece.
    CompactionNotDue { prompt_tokens: u64, document_tokens: u64 },
    /// A turn: the model has answered.
    ModelReplied {
        conversation: u32,
        turn: u64,
        text: String,
        /// The calls as the model made them, and in their parsed form.
        calls: Vec<PendingCall>,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// The cost at the standard tier, if it was answered at another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        standard_usd: Option<f64>,
        /// The provider's name for the batch in which it was answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<String>,
        stop: Stop,
        model: String,
        /// Tokens of the prompt as counted here, and of the reply.
        prompt_tokens: u64,
        reply_tokens: u64,
        /// SHA-256 of the prompt as JSON, by which a prompt that is rebuilt later can be checked.
        prompt_sha256: String,
        /// Data that is sent back to the vendor with the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Arc<Value>>,
        /// The tier at which it was answered, if that differs from the requested one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tier: Option<Tier>,
        /// The repairs that were needed to read the reply.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mended: Vec<String>,
    },
    /// An attempt to get a reply failed; the next one comes after `wait_ms`. If no conversation is named, it is that of
    /// the one sub-agent at work, else the job's own.
    AttemptFailed {
        #[serde(default, skip_serializing_if = "is_own")]
        conversation: u32,
        turn: u64,
        /// The number of the attempt, from 1 at each turn.
        attempt: u32,
        kind: FailureKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        wait_ms: u64,
        reason: String,
        /// The beginning and the end of a reply that could not be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        received: Option<String>,
    },
    /// A call was submitted, and is answered later.
    CallSubmitted {
        #[serde(default, skip_serializing_if = "is_own")]
        conversation: u32,
        turn: u64,
        call: SubmittedCall,
    },
    /// A sub-agent's conversation begins, with its role, its model (`None` means the job's own) and its tools.
    #[serde(rename = "helper_started")]
    #[strum(serialize = "helper_started")]
    SubAgentStarted {
        conversation: u32,
        role: SubAgentRole,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        tools: ToolSet,
        tools_sha256: String,
        system_prompt: Part,
    },
    /// A sub-agent's conversation is over.
    #[serde(rename = "helper_ended")]
    #[strum(serialize = "helper_ended")]
    SubAgentEnded { conversation: u32, end: SubAgentEnd, report: String },
    /// The system reads documents by these calls, and their text stands in the first opening of a conversation.
    DocumentsGiven { conversation: u32, calls: Vec<PendingCall> },
}
