//! The facts. An event states what happened, in the past tense; the journal stores events, and the state follows from
//! them. They are divided into groups, one file each under `event/`, so that code matches only the groups it needs.

mod conversation;
mod life;
mod person;
mod phase;
mod plan;
mod proof;
mod tool;

pub use self::{
    conversation::{BoardKind, ConversationEvent},
    life::LifeEvent,
    person::PersonEvent,
    phase::{PhaseEvent, PhaseKind, Why},
    plan::{ExaminedFiles, PlanEvent, PlanningEnd},
    proof::ProofEvent,
    tool::ToolEvent,
};
pub use super::epoch::EpochCause;
pub use super::tool_result::{CallEnd, ChangedFile, PreparedWrite, SavedFile, ShownPart, SpilledResult, ToolResult};
use super::{conversation::OWN, time::Timestamp};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;
use strum::VariantNames;

/// One line of the journal, as the machine reads it: its time and its facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// When it was decided.
    pub at: Timestamp,
    /// The facts, at least one; either all of them hold or none.
    pub events: Vec<Event>,
}

/// Defines [`Event`] from its groups. The journal stores only the group's object, because `type` implies the group.
macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident($events:ident),)+) => {
        /// A fact.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Event {
            $($(#[$doc])* $group($events),)+
        }

        $(impl From<$events> for Event {
            fn from(event: $events) -> Self {
                Self::$group(event)
            }
        })+

        impl Event {
            /// Reads it from a tree of values, which is not copied.
            pub fn from_value(value: Value) -> serde_json::Result<Self> {
                let kind = value.get("type").and_then(Value::as_str);
                let kind = kind.ok_or_else(|| serde_json::Error::missing_field("type"))?;
                $(if $events::VARIANTS.contains(&kind) {
                    return $events::deserialize(value).map(Self::$group);
                })+
                Err(serde_json::Error::custom(format!("unknown type of event `{kind}`")))
            }
        }
    };
}

groups! {
    /// The job as a whole.
    Life(LifeEvent),
    /// A phase and its todos.
    Phase(PhaseEvent),
    /// Planning.
    Plan(PlanEvent),
    /// A conversation with a model.
    Conversation(ConversationEvent),
    /// Calls that are done outside the machine.
    Tool(ToolEvent),
    /// Readings, checks and findings.
    Proof(ProofEvent),
    /// Actions of people.
    Person(PersonEvent),
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Event {
    /// The conversation that it belongs to.
    pub fn conversation(&self) -> u32 {
        match self {
            Self::Conversation(
                ConversationEvent::EpochOpened { conversation, .. }
                | ConversationEvent::BoardShown { conversation, .. }
                | ConversationEvent::ModelReplied { conversation, .. }
                | ConversationEvent::AttemptFailed { conversation, .. }
                | ConversationEvent::CallSubmitted { conversation, .. }
                | ConversationEvent::SubAgentEnded { conversation, .. }
                | ConversationEvent::DocumentsGiven { conversation, .. },
            )
            | Self::Tool(ToolEvent::ToolStarted { conversation, .. } | ToolEvent::ToolReturned { conversation, .. }) => {
                *conversation
            }
            Self::Conversation(
                ConversationEvent::CompactionNotDue { .. } | ConversationEvent::SubAgentStarted { .. },
            )
            | Self::Life(_)
            | Self::Phase(_)
            | Self::Plan(_)
            | Self::Proof(_)
            | Self::Person(_) => OWN,
        }
    }
}
