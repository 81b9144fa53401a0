//! A result too large for the conversation goes to `tool_results/` whole; the conversation gets its head, its tail and
//! the path.

use super::ToolError;
use crate::{failpoint, workspace::Workspace};
use overnight_core::{
    answer,
    job::event::{SpilledResult, ToolResult},
    tokens::{estimate, head, tail},
};

/// Removes the file that the same call wrote before a crash: it is no fact yet, and would be found or listed itself.
pub(super) fn take_back(workspace: &Workspace, call: &str) -> Result<(), ToolError> {
    let path = path(call);
    if workspace.exists(&path)? {
        workspace.remove(&path)?;
    }
    Ok(())
}

fn path(call: &str) -> String {
    format!("tool_results/{call}.txt")
}

/// `result` as the conversation gets it: at most `most` tokens. `call` names the file.
pub(super) fn bounded(
    workspace: &Workspace,
    call: &str,
    result: ToolResult,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let tokens = estimate(&result.text);
    if tokens <= most {
        return Ok(result);
    }
    let path = path(call);
    let hash = workspace.write(&path, result.text.as_bytes())?;
    failpoint::hit("tool.spilled");
    let note = answer!("note.spilled", tokens, path);
    let text = format!("{}\n{note}\n{}", head(&result.text, most / 2), tail(&result.text, most / 4));
    Ok(ToolResult { text, spilled: Some(SpilledResult { path, sha256: hash.sha256 }), ..result })
}

#[cfg(test)]
mod tests {
    use super::*;
    use overnight_core::job::event::CallEnd;

    #[test]
    fn a_repeated_call_does_not_meet_its_own_result() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create_temporary(folder.path()).unwrap();
        let large = ToolResult::plain(CallEnd::Done, "word ".repeat(100));
        for call in ["call_1_1", "call_1_2"] {
            bounded(&workspace, call, large.clone(), 20).unwrap();
        }
        take_back(&workspace, "call_1_2").unwrap();
        let left: Vec<String> = workspace.list(".").unwrap().into_iter().map(|entry| entry.path).collect();
        assert_eq!(left, ["tool_results/call_1_1.txt"]);
        take_back(&workspace, "call_1_2").unwrap();
    }
}
