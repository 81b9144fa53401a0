//! A result too large for the conversation goes to `tool_results/` whole; the conversation gets its head, its tail and
//! the path.

use super::ToolError;
use crate::{
    context::tokens::{estimate, head, tail},
    crash,
    job::event::{Spilled, ToolResult},
    workspace::Workspace,
};

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
    let path = format!("tool_results/{call}.txt");
    let hash = workspace.write(&path, result.text.as_bytes())?;
    crash::point("tool.spilled");
    let text = format!(
        "{}\n[… {tokens} tokens in all; the whole is in {path} …]\n{}",
        head(&result.text, most / 2),
        tail(&result.text, most / 4)
    );
    Ok(ToolResult { text, spilled: Some(Spilled { path, sha256: hash.sha256 }), ..result })
}
