//! Runs a call of a reading tool, and bounds its result.

use super::{DocumentCache, ToolError, documents, files, search, spill};
use crate::workspace::Workspace;
use overnight_core::{
    job::{
        call::ReadCall,
        coverage::Coverage,
        event::{CallEnd, ToolResult},
        spec::JobSpec,
    },
    prompt::compact::room,
};

/// Whether a call leaves everything as it is: not even its result is put aside.
pub fn leaves_no_trace(work: &ReadCall) -> bool {
    matches!(work, ReadCall::ReadDocument(_))
}

/// Before a reading call: takes away what the call `call` put aside before a crash.
pub fn take_back(workspace: &Workspace, call: &str, work: &ReadCall) -> Result<(), ToolError> {
    if leaves_no_trace(work) { Ok(()) } else { spill::take_back(workspace, call) }
}

/// What a reading call finds. Changes nothing.
pub fn read(
    spec: &JobSpec,
    coverage: &Coverage,
    workspace: &Workspace,
    document_cache: &mut DocumentCache,
    work: &ReadCall,
) -> Result<ToolResult, ToolError> {
    let most = most(spec);
    match work {
        ReadCall::ReadFile(wanted) => files::read(workspace, wanted, most),
        ReadCall::ListFiles(wanted) => files::list(workspace, wanted),
        ReadCall::SearchFiles(wanted) => search::search(spec, workspace, wanted),
        ReadCall::ListDocuments(wanted) => documents::list(spec, coverage, wanted, most),
        ReadCall::ReadDocument(wanted) => documents::read(spec, workspace, document_cache, wanted, most),
    }
}

/// The result of the reading call `call` as the conversation gets it: a long one is put aside. What the model can mend comes
/// back as a failed result.
pub fn bounded(
    spec: &JobSpec,
    workspace: &Workspace,
    call: &str,
    work: &ReadCall,
    result: Result<ToolResult, ToolError>,
) -> Result<ToolResult, ToolError> {
    let result = tell_model(result)?;
    // A document's part fits by itself, and goes on where it says.
    if leaves_no_trace(work) { Ok(result) } else { spill::bounded(workspace, call, result, most(spec)) }
}

/// Tokens of a result at most.
fn most(spec: &JobSpec) -> u64 {
    room(spec.budget_tokens, &spec.system_prompt) / 5
}

/// Makes what the model can correct a failed result; the rest stays an error.
pub(super) fn tell_model(result: Result<ToolResult, ToolError>) -> Result<ToolResult, ToolError> {
    match result {
        Err(ToolError::Tell(text)) => Ok(ToolResult::plain(CallEnd::Failed, text)),
        other => other,
    }
}
