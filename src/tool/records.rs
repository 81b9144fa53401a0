//! `list_records`.

use super::{
    ToolError,
    files::{MOST_BYTES, parse},
    write::deliverable,
};
use crate::workspace::Workspace;
use overnight_core::job::{
    arguments::ListRecords,
    contract::edited_records::list_records,
    event::{CallEnd, ToolResult},
    spec::JobSpec,
};

/// The records of a deliverable, a line each, in `most` tokens.
pub(super) fn list(
    spec: &JobSpec,
    workspace: &Workspace,
    wanted: &ListRecords,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let resolved = workspace.resolve_for_read(&parse(&wanted.path)?)?;
    let deliverable = deliverable(spec, &resolved.path)?;
    let text = workspace.read_text_at_most(&resolved.path, MOST_BYTES)?;
    let name = |document: &str| spec.named(document).map_or_else(|| document.to_owned(), |known| known.name.clone());
    let meant = wanted.document.as_deref().map(name);
    let is_meant = |document: &str| meant.as_deref() == Some(&*name(document));
    let listed = list_records(deliverable, &text, wanted, &is_meant, most).map_err(ToolError::Tell)?;
    Ok(ToolResult::plain(CallEnd::Done, listed))
}
