//! Facts on calls that are done outside the machine.

use crate::job::tool_result::{PreparedWrite, ToolResult};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// Calls of a reply that are done outside the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a field is a key of the journal, named for what it holds")]
#[expect(clippy::large_enum_variant, reason = "each is written and applied soon, few are held at once")]
pub enum ToolEvent {
    /// A change is about to be made.
    ToolStarted { conversation: u32, call: String, prepared: PreparedWrite },
    /// A call has its one result.
    ToolReturned { conversation: u32, call: String, name: String, result: ToolResult, tokens: u64 },
}
