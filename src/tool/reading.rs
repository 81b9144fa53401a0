//! The reading tools' table: one call, one result.

use super::{Library, ToolError, documents, files, search, spill};
use crate::{
    context::{compact::RESULT_TOKENS, layers::share_of},
    job::{
        event::{CallEnd, ToolResult},
        state::Job,
        working::Working,
    },
    workspace::Workspace,
};

/// Whether a call leaves everything as it is: not even its result is put aside.
pub fn leaves_no_trace(working: &Working) -> bool {
    matches!(working, Working::ReadDocument(_))
}

/// Does a reading call. `call` is its id. What the model can mend comes back as a failed result.
pub fn read(
    job: &Job,
    workspace: &Workspace,
    library: &mut Library,
    call: &str,
    working: &Working,
) -> Result<ToolResult, ToolError> {
    let most = share_of(job.spec.budget_tokens, RESULT_TOKENS);
    if !leaves_no_trace(working) {
        spill::take_back(workspace, call)?;
    }
    let result = match working {
        Working::ReadFile(wanted) => files::read(workspace, wanted, most),
        Working::ListFiles(wanted) => files::list(workspace, wanted),
        Working::SearchFiles(wanted) => search::search(job, workspace, wanted),
        Working::ListDocuments(wanted) => documents::list(job, wanted, most),
        // It fits by itself, and goes on where it says.
        Working::ReadDocument(wanted) => return told(documents::read(job, workspace, library, wanted, most)),
        Working::GenerateWorkspaceSummary | Working::Write(_) => {
            Err(ToolError::Tell("this call is not a reading one".to_owned()))
        }
    };
    told(result).and_then(|result| spill::bounded(workspace, call, result, most))
}

/// What the model can mend is a failed result; the rest stays an error.
pub(super) fn told(result: Result<ToolResult, ToolError>) -> Result<ToolResult, ToolError> {
    match result {
        Err(ToolError::Tell(text)) => Ok(ToolResult::plain(CallEnd::Failed, text)),
        other => other,
    }
}
