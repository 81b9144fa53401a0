//! Facts on the job as a whole.

use crate::job::{ending::Ending, limits::Limits, models::Tier, record::HoldReason, spec::JobSpec};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// Changes of the job as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
pub enum LifeEvent {
    /// The first fact of every job. `tools_sha256` is the hash of the list of tools that the model is given.
    JobCreated { spec_sha256: String, spec: Box<JobSpec>, tools_sha256: String },
    /// A process opened the job; the time between this line and the one before was not work.
    Opened {
        version: String,
        model: String,
        tools_sha256: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torn_bytes: Option<u64>,
    },
    /// The model is asked at another tier from here on.
    TierChanged { tier: Tier, reason: String },
    /// The job waits, with everything kept.
    Held { reason: HoldReason, detail: String },
    /// A person lets a held job go on.
    Resumed { limits: Limits },
    /// All that will be delivered is decided; the phase's archive and the end follow.
    EndingDecided { ending: Box<Ending> },
    /// The job has ended; only people's reviews of the result come after it.
    JobEnded { ending: Box<Ending> },
}
