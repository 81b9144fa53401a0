//! `write_file`, `append_file`, `edit_file`. The hashes before and after are facts in the journal before the file is
//! touched, so that a change that a crash cut off is repeated once, and never made twice.

use super::{
    ToolError,
    files::{MOST_BYTES, parse},
    reading::told,
};
use crate::{
    crash,
    job::{
        digest::sha256,
        event::{CallEnd, Changed, Prepared, Saved, ToolResult},
        working::Writing,
    },
    workspace::{Known, Workspace, WorkspaceError, known::Resolved},
};

/// A change worked out, with nothing written yet.
struct Planned {
    path: String,
    known: Known,
    before: Option<Vec<u8>>,
    after: String,
}

/// What a change would do. The inner error is the tool's sentence to the model.
pub fn prepare(
    workspace: &Workspace,
    writing: &Writing,
) -> Result<Result<(Prepared, Option<Saved>), String>, WorkspaceError> {
    match find(workspace, writing).and_then(|(resolved, before)| plan(writing, resolved, before)) {
        Ok(planned) => {
            let prepared =
                Prepared { before: planned.before.as_deref().map(sha256), after: sha256(planned.after.as_bytes()) };
            Ok(Ok((prepared, saved(planned.known, planned.after))))
        }
        Err(ToolError::Tell(text)) => Ok(Err(text)),
        Err(ToolError::Fatal(error)) => Err(error),
    }
}

fn saved(known: Known, text: String) -> Option<Saved> {
    match known {
        Known::Plan => Some(Saved::Plan { text }),
        Known::Memory => Some(Saved::Memory { text }),
        Known::Instructions
        | Known::Summary
        | Known::Progress
        | Known::Todos
        | Known::Journal
        | Known::JobFile
        | Known::Lock
        | Known::Under(_)
        | Known::Other => None,
    }
}

/// Where a change goes, and what is there now.
fn find(workspace: &Workspace, writing: &Writing) -> Result<(Resolved, Option<Vec<u8>>), ToolError> {
    let resolved = workspace.resolve_for_write(&parse(writing.path())?)?;
    match workspace.read_at_most(&resolved.path, MOST_BYTES) {
        Ok(content) => Ok((resolved, Some(content))),
        Err(error) if error.is_not_found() => Ok((resolved, None)),
        Err(error) => Err(error.into()),
    }
}

fn plan(writing: &Writing, resolved: Resolved, before: Option<Vec<u8>>) -> Result<Planned, ToolError> {
    let after = match writing {
        Writing::Whole(write) => write.content.clone(),
        Writing::Append(write) => text_of(before.as_deref(), &resolved.path)? + &write.content,
        Writing::Edit(edit) => {
            if before.is_none() {
                return Err(ToolError::Tell(format!("{} does not exist; create it with write_file", resolved.path)));
            }
            if edit.old.is_empty() {
                return Err(ToolError::Tell(
                    "old is empty; give the text to be replaced, or use append_file".to_owned(),
                ));
            }
            let text = text_of(before.as_deref(), &resolved.path)?;
            match text.matches(&edit.old).take(2).count() {
                1 => text.replacen(&edit.old, &edit.new, 1),
                0 => {
                    return Err(ToolError::Tell(format!(
                        "old does not occur in {}; read the file and copy the text exactly",
                        resolved.path
                    )));
                }
                _ => {
                    return Err(ToolError::Tell(format!(
                        "old occurs more than once in {}; give more of the text around it",
                        resolved.path
                    )));
                }
            }
        }
    };
    if after.len() as u64 > MOST_BYTES {
        return Err(ToolError::Tell(format!(
            "{} would be over {} MB; write several files",
            resolved.path,
            MOST_BYTES >> 20
        )));
    }
    Ok(Planned { path: resolved.path, known: resolved.known, before, after })
}

fn text_of(content: Option<&[u8]>, path: &str) -> Result<String, ToolError> {
    String::from_utf8(content.unwrap_or_default().to_vec())
        .map_err(|_| ToolError::Tell(format!("{path} is not text; write a new file with write_file")))
}

/// Makes the change that was prepared, unless it was made already.
pub fn write(workspace: &Workspace, writing: &Writing, prepared: &Prepared) -> Result<ToolResult, ToolError> {
    told(change(workspace, writing, prepared))
}

fn change(workspace: &Workspace, writing: &Writing, prepared: &Prepared) -> Result<ToolResult, ToolError> {
    let (resolved, current) = find(workspace, writing)?;
    let hash = current.as_deref().map(sha256);
    let after = if hash.as_deref() == Some(&prepared.after) {
        // Made before a crash, or a change that changes nothing.
        text_of(current.as_deref(), &resolved.path)?
    } else if hash == prepared.before {
        let planned = plan(writing, resolved.clone(), current)?;
        crash::point("tool.write.before");
        workspace.write(&planned.path, planned.after.as_bytes())?;
        crash::point("tool.write.done");
        planned.after
    } else {
        return Err(ToolError::Tell(format!(
            "{} was changed by someone else meanwhile; read it and decide anew",
            resolved.path
        )));
    };
    let bytes = after.len() as u64;
    let verb = match writing {
        Writing::Whole(_) => "Wrote",
        Writing::Append(_) => "Appended to",
        Writing::Edit(_) => "Edited",
    };
    Ok(ToolResult {
        changed: Some(Changed { path: resolved.path.clone(), sha256: prepared.after.clone(), bytes }),
        saved: saved(resolved.known, after),
        ..ToolResult::plain(CallEnd::Done, format!("{verb} {} ({bytes} bytes now).", resolved.path))
    })
}
