//! Runs a call of a reading tool, and bounds its result.

use super::partial::tell_model;
use super::{DocumentCache, Eyes, ToolError, document_list, documents, files, records, search, spill, tables, view};
use crate::workspace::Workspace;
use overnight_core::{
    job::{call::ReadCall, coverage::Coverage, event::ToolResult, spec::JobSpec},
    prompt::bounds::ResultBound,
};

/// Whether a call changes nothing: it doesn't even write its result to a file.
pub fn leaves_no_trace(work: &ReadCall) -> bool {
    matches!(work, ReadCall::ReadDocument(_))
}

/// Before a reading call: removes the file that the call `call` wrote before a crash.
pub fn take_back(workspace: &Workspace, call: &str, work: &ReadCall) -> Result<(), ToolError> {
    if leaves_no_trace(work) { Ok(()) } else { spill::take_back(workspace, call) }
}

/// The result of a reading call. Changes nothing.
pub fn read(
    spec: &JobSpec,
    coverage: &Coverage,
    workspace: &Workspace,
    (document_cache, eyes): (&mut DocumentCache, Option<&Eyes>),
    work: &ReadCall,
    bound: ResultBound,
) -> Result<ToolResult, ToolError> {
    match work {
        ReadCall::ReadFile(wanted) => files::read(workspace, wanted, bound),
        ReadCall::ListFiles(wanted) => files::list(workspace, wanted),
        ReadCall::SearchFiles(wanted) => search::search(spec, workspace, wanted, bound.most()),
        ReadCall::ListRecords(wanted) => records::list(spec, workspace, wanted, bound.most()),
        ReadCall::ListDocuments(wanted) => {
            document_list::list(spec, coverage, workspace, document_cache, wanted, bound.most())
        }
        ReadCall::ReadDocument(wanted) => documents::read(spec, workspace, document_cache, wanted, bound),
        ReadCall::ViewPage(wanted) => view::view(spec, workspace, eyes, wanted, bound),
        ReadCall::QueryTables(wanted) => tables::query(spec, workspace, eyes, wanted, bound.most()),
    }
}

/// The result of the reading call `call` for the conversation: a long one is written to a file. An error that the model
/// can correct becomes a failed result.
pub fn bounded(
    bound: ResultBound,
    workspace: &Workspace,
    call: &str,
    work: &ReadCall,
    result: Result<ToolResult, ToolError>,
) -> Result<ToolResult, ToolError> {
    let result = tell_model(result)?;
    if work.is_of_document() {
        return Ok(result);
    }
    let most = if matches!(work, ReadCall::ReadFile(_)) { bound.most_whole() } else { bound.most() };
    spill::bounded(workspace, call, result, most)
}
