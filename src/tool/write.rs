//! `write_file`, `append_file`, `edit_file`. The hashes before and after are facts in the journal before the file is
//! touched, so that a change that a crash cut off is repeated once, and never made twice.

use super::{
    ToolError,
    files::{MOST_BYTES, parse},
    reading::tell_model,
};
use crate::{
    failpoint,
    workspace::{KnownPath, Workspace, known_path::ResolvedPath},
};
use overnight_core::job::{
    call::FileChange,
    digest::sha256,
    event::{CallEnd, ChangedFile, PreparedWrite, SavedFile, ToolResult},
};

/// A change worked out, with nothing written yet.
#[derive(Debug)]
pub struct PlannedChange {
    resolved: ResolvedPath,
    prepared: PreparedWrite,
    after: String,
}

impl PlannedChange {
    /// The facts for the journal.
    pub fn facts(&self) -> (PreparedWrite, Option<SavedFile>) {
        (self.prepared.clone(), saved(self.resolved.known, &self.after))
    }
}

/// What a change would do.
pub fn prepare(workspace: &Workspace, change: &FileChange) -> Result<PlannedChange, ToolError> {
    let (resolved, before) = find(workspace, change)?;
    plan(change, resolved, before)
}

fn saved(known: KnownPath, text: &str) -> Option<SavedFile> {
    match known {
        KnownPath::Plan => Some(SavedFile::Plan { text: text.to_owned() }),
        KnownPath::Memory => Some(SavedFile::Memory { text: text.to_owned() }),
        KnownPath::Instructions
        | KnownPath::Summary
        | KnownPath::Progress
        | KnownPath::Todos
        | KnownPath::Quotes
        | KnownPath::Journal
        | KnownPath::JobFile
        | KnownPath::Lock
        | KnownPath::Under(_)
        | KnownPath::Other => None,
    }
}

/// Where a change goes, and what is there now.
fn find(workspace: &Workspace, change: &FileChange) -> Result<(ResolvedPath, Option<Vec<u8>>), ToolError> {
    let resolved = workspace.resolve_for_write(&parse(change.path())?)?;
    match workspace.read_at_most(&resolved.path, MOST_BYTES) {
        Ok(content) => Ok((resolved, Some(content))),
        Err(error) if error.is_not_found() => Ok((resolved, None)),
        Err(error) => Err(error.into()),
    }
}

fn plan(change: &FileChange, resolved: ResolvedPath, before: Option<Vec<u8>>) -> Result<PlannedChange, ToolError> {
    let hash = before.as_deref().map(sha256);
    let after = match change {
        FileChange::Whole(write) => write.content.clone(),
        FileChange::Append(write) => text_of(before, &resolved.path)? + &write.content,
        FileChange::Edit(edit) => {
            if before.is_none() {
                return Err(ToolError::Tell(format!("{} does not exist; create it with write_file", resolved.path)));
            }
            if edit.old.is_empty() {
                return Err(ToolError::Tell(
                    "old is empty; give the text to be replaced, or use append_file".to_owned(),
                ));
            }
            let text = text_of(before, &resolved.path)?;
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
            "{} would be over {} MB; write several files, or divide the documents among several jobs",
            resolved.path,
            MOST_BYTES >> 20
        )));
    }
    let prepared = PreparedWrite { before: hash, after: sha256(after.as_bytes()) };
    Ok(PlannedChange { resolved, prepared, after })
}

fn text_of(content: Option<Vec<u8>>, path: &str) -> Result<String, ToolError> {
    String::from_utf8(content.unwrap_or_default())
        .map_err(|_| ToolError::Tell(format!("{path} is not text; write a new file with write_file")))
}

/// Makes the change that was prepared, unless it was made already. `planned` is what [`prepare`] gave, where this process
/// called it.
pub fn write(
    workspace: &Workspace,
    change: &FileChange,
    prepared: &PreparedWrite,
    planned: Option<PlannedChange>,
) -> Result<(ToolResult, Option<SavedFile>), ToolError> {
    match make(workspace, change, prepared, planned) {
        Ok(done) => Ok(done),
        Err(error) => Ok((tell_model(Err(error))?, None)),
    }
}

fn make(
    workspace: &Workspace,
    change: &FileChange,
    prepared: &PreparedWrite,
    planned: Option<PlannedChange>,
) -> Result<(ToolResult, Option<SavedFile>), ToolError> {
    let planned = match planned {
        Some(planned) if planned.prepared == *prepared => planned,
        Some(_) | None => plan_again(workspace, change, prepared)?,
    };
    let PlannedChange { resolved, prepared: PreparedWrite { before, after: hash }, after } = planned;
    if before.as_ref() != Some(&hash) {
        failpoint::hit("tool.write.before");
        workspace.write(&resolved.path, after.as_bytes())?;
        failpoint::hit("tool.write.done");
    }
    let bytes = after.len() as u64;
    let verb = match change {
        FileChange::Whole(_) => "Wrote",
        FileChange::Append(_) => "Appended to",
        FileChange::Edit(_) => "Edited",
    };
    let text = format!("{verb} {} ({bytes} bytes now).", resolved.path);
    let saved = saved(resolved.known, &after);
    let changed = Some(ChangedFile { path: resolved.path, sha256: hash, bytes });
    Ok((ToolResult { changed, ..ToolResult::plain(CallEnd::Done, text) }, saved))
}

/// What is left to do of a change that another process prepared, before a crash.
fn plan_again(
    workspace: &Workspace,
    change: &FileChange,
    prepared: &PreparedWrite,
) -> Result<PlannedChange, ToolError> {
    let (resolved, current) = find(workspace, change)?;
    let hash = current.as_deref().map(sha256);
    if hash.as_deref() == Some(&prepared.after) {
        let after = text_of(current, &resolved.path)?;
        return Ok(PlannedChange {
            resolved,
            prepared: PreparedWrite { before: hash, after: prepared.after.clone() },
            after,
        });
    }
    if hash == prepared.before {
        return plan(change, resolved, current);
    }
    Err(ToolError::Tell(format!("{} was changed by someone else meanwhile; read it and decide anew", resolved.path)))
}
