//! `write_file`, `append_file`, `edit_file`, `add_records`, `edit_records`. The hashes before and after are facts in the journal before the file is
//! touched, so that a change that a crash cut off is repeated once, and never made twice.

use super::{
    ToolError,
    files::{MOST_BYTES, parse},
    partial::tell_model,
};
use crate::{
    failpoint,
    workspace::{KnownPath, Workspace, known_path::ResolvedPath},
};
use overnight_core::{
    answer,
    job::{
        arguments::AddRecords,
        call::FileChange,
        contract::{
            CheckedDeliverable, Sources,
            edited_records::{edit_records, edits_told},
            records::{AddedRecords, add_records, mended_records},
        },
        conversation::SUB_AGENTS_FOLDER,
        digest::sha256,
        event::{CallEnd, ChangedFile, PreparedWrite, SavedFile, ToolResult},
        instructions::Deliverable,
        refused_records::RefusedRecord,
        spec::JobSpec,
        state::Job,
    },
};

/// A prepared change, with nothing written yet.
#[derive(Debug)]
pub struct PlannedChange {
    resolved: ResolvedPath,
    prepared: PreparedWrite,
    after: String,
    records: Option<AddedRecords>,
}

impl PlannedChange {
    /// The facts for the journal.
    pub fn facts(&self) -> (PreparedWrite, Option<SavedFile>) {
        (self.prepared.clone(), saved(self.resolved.known, &self.after))
    }
}

/// Prepares a change. Quotes of records are searched for in `sources`.
pub fn prepare(
    workspace: &Workspace,
    job: &Job,
    change: &FileChange,
    sources: &mut dyn Sources,
) -> Result<PlannedChange, ToolError> {
    let (resolved, before) = find(workspace, change)?;
    plan(job, change, resolved, before, sources)
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
        | KnownPath::Findings
        | KnownPath::Journal
        | KnownPath::JobFile
        | KnownPath::Lock
        | KnownPath::Under(_)
        | KnownPath::Other => None,
    }
}

/// The target of a change, and its current content.
fn find(workspace: &Workspace, change: &FileChange) -> Result<(ResolvedPath, Option<Vec<u8>>), ToolError> {
    let resolved = workspace.resolve_for_write(&parse(change.path())?)?;
    match workspace.read_at_most(&resolved.path, MOST_BYTES) {
        Ok(content) => Ok((resolved, Some(content))),
        Err(error) if error.is_not_found() => Ok((resolved, None)),
        Err(error) => Err(error.into()),
    }
}

fn plan(
    job: &Job,
    change: &FileChange,
    resolved: ResolvedPath,
    before: Option<Vec<u8>>,
    sources: &mut dyn Sources,
) -> Result<PlannedChange, ToolError> {
    let hash = before.as_deref().map(sha256);
    let text_before = before.as_deref().and_then(|content| std::str::from_utf8(content).ok()).map(str::to_owned);
    let mut records = None;
    let after = match change {
        FileChange::Whole(write) => write.content.clone(),
        FileChange::Append(write) => text_of(before, &resolved.path)? + &write.content,
        FileChange::Edit(edit) => {
            if before.is_none() {
                return Err(ToolError::Tell(answer!("write.no_file", path = resolved.path)));
            }
            if edit.old.is_empty() {
                return Err(ToolError::Tell(answer!("write.old_is_empty")));
            }
            let text = text_of(before, &resolved.path)?;
            match text.matches(&edit.old).take(2).count() {
                1 => text.replacen(&edit.old, &edit.new, 1),
                0 => return Err(ToolError::Tell(answer!("write.old_is_not_there", path = resolved.path))),
                _ => return Err(ToolError::Tell(answer!("write.old_is_there_again", path = resolved.path))),
            }
        }
        FileChange::Records(add) => {
            let added = added(&job.spec, add, &resolved.path, before, sources)?;
            if !added.is_any_there() {
                let refused = added.refused(&resolved.path, &add.records);
                return Err(ToolError::RecordsRefused { text: added.answer(&resolved.path, added.count), refused });
            }
            records.insert(added).text.clone()
        }
        FileChange::EditRecords(edit) => {
            let deliverable = deliverable(&job.spec, &resolved.path)?;
            if before.is_none() {
                return Err(ToolError::Tell(answer!("write.no_records_yet", path = resolved.path)));
            }
            let text = text_of(before, &resolved.path)?;
            edit_records(deliverable, &text, &edit.edits, sources).map_err(ToolError::Tell)?
        }
    };
    if after.len() as u64 > MOST_BYTES {
        return Err(ToolError::Tell(answer!("write.too_large", path = resolved.path, most = MOST_BYTES >> 20)));
    }
    let count = records.as_ref().map(|added| added.count);
    let mended = deliverable_of(&job.spec, &resolved.path)
        .map(|deliverable| mended_records(deliverable, &resolved.path, &job.refused, text_before.as_deref(), &after));
    let prepared = PreparedWrite {
        before: hash,
        after: sha256(after.as_bytes()),
        records: count,
        mended: mended.unwrap_or_default(),
    };
    Ok(PlannedChange { resolved, prepared, after, records })
}

fn added(
    spec: &JobSpec,
    add: &AddRecords,
    path: &str,
    before: Option<Vec<u8>>,
    sources: &mut dyn Sources,
) -> Result<AddedRecords, ToolError> {
    let deliverable = deliverable(spec, path).map_err(|error| match (error, &spec.instructions.deliverables[..]) {
        // If there is only one deliverable, the records are meant for it.
        (ToolError::Tell(why), [only]) => all_refused(add, &only.path, why),
        (error, _) => error,
    })?;
    let text = before.map(|content| text_of(Some(content), path)).transpose()?;
    let added = add_records(deliverable, text.as_deref(), &add.records, add.list.as_deref(), sources);
    added.map_err(|why| all_refused(add, path, why))
}

/// All records were refused unseen, for one reason.
fn all_refused(add: &AddRecords, file: &str, why: String) -> ToolError {
    let refused = |record: &serde_json::Value| RefusedRecord {
        number: 0,
        file: file.to_owned(),
        list: None,
        record: record.clone(),
        why: why.clone(),
        fields: Vec::new(),
    };
    ToolError::RecordsRefused { refused: add.records.iter().map(refused).collect(), text: why }
}

/// The deliverable whose records a file holds.
pub(super) fn deliverable<'s>(spec: &'s JobSpec, path: &str) -> Result<&'s Deliverable, ToolError> {
    deliverable_of(spec, path).ok_or_else(|| {
        let names: Vec<&str> =
            spec.instructions.deliverables.iter().map(|deliverable| deliverable.path.as_str()).collect();
        ToolError::Tell(answer!("write.not_a_deliverable", path, names = names.join(", ")))
    })
}

/// The deliverable whose contract applies to a file: a second reader's list has that of the first reader's.
fn deliverable_of<'s>(spec: &'s JobSpec, path: &str) -> Option<&'s Deliverable> {
    let listed = spec.instructions.second_reader.as_ref().filter(|_| path.starts_with(SUB_AGENTS_FOLDER));
    let wanted = listed.map_or(path, |second| &second.deliverable);
    spec.instructions.deliverables.iter().find(|deliverable| deliverable.path == wanted)
}

fn text_of(content: Option<Vec<u8>>, path: &str) -> Result<String, ToolError> {
    String::from_utf8(content.unwrap_or_default()).map_err(|_| ToolError::Tell(answer!("write.not_text", path)))
}

/// Makes the prepared change, unless it was made already. `planned` is the result of [`prepare`], if this process
/// called it.
pub fn write(
    workspace: &Workspace,
    job: &Job,
    change: &FileChange,
    prepared: &PreparedWrite,
    planned: Option<PlannedChange>,
    sources: &mut dyn Sources,
) -> Result<(ToolResult, Option<SavedFile>), ToolError> {
    let planned = match planned {
        Some(planned) if planned.prepared == *prepared => Ok(planned),
        Some(_) | None => plan_again(workspace, job, change, prepared, sources),
    };
    match planned.and_then(|planned| make(workspace, change, prepared, planned)) {
        Ok(done) => Ok(done),
        Err(error) => Ok((tell_model(Err(error))?, None)),
    }
}

fn make(
    workspace: &Workspace,
    change: &FileChange,
    prepared: &PreparedWrite,
    planned: PlannedChange,
) -> Result<(ToolResult, Option<SavedFile>), ToolError> {
    let PlannedChange { resolved, prepared: PreparedWrite { before, after: hash, .. }, after, records } = planned;
    if before.as_ref() != Some(&hash) {
        failpoint::hit("tool.write.before");
        workspace.write(&resolved.path, after.as_bytes())?;
        failpoint::hit("tool.write.done");
    }
    let bytes = after.len() as u64;
    let text = match &records {
        Some(added) => added.answer(&resolved.path, prepared.records.unwrap_or(added.count)),
        None => answer(change, &resolved.path, &format!("{bytes} bytes now")),
    };
    let refused = match (&records, change) {
        (Some(added), FileChange::Records(add)) => added.refused(&resolved.path, &add.records),
        (_, _) => Vec::new(),
    };
    let saved = saved(resolved.known, &after);
    let changed = Some(ChangedFile { path: resolved.path, sha256: hash, bytes });
    Ok((ToolResult { changed, refused, ..ToolResult::plain(CallEnd::Done, text) }, saved))
}

/// A sentence on the change to the file, with its new size.
fn answer(change: &FileChange, path: &str, amount: &str) -> String {
    match change {
        FileChange::Whole(_) => answer!("done.wrote", path, amount),
        FileChange::Append(_) => answer!("done.appended", path, amount),
        FileChange::Edit(_) => answer!("done.edited", path, amount),
        FileChange::Records(_) => answer!("done.added_to", path, amount),
        FileChange::EditRecords(edit) => answer!("done.edited_records", edits = edits_told(&edit.edits), path, amount),
    }
}

/// Adds the findings of the file's checks to a change's result.
pub fn with_checks(mut result: ToolResult, change: &FileChange, checked: &CheckedDeliverable) -> ToolResult {
    let state = checked.state();
    if let (Some(number), false) = (state.records, matches!(change, FileChange::Records(_))) {
        let records = if number == 1 { "record" } else { "records" };
        result.text = answer(change, &state.path, &format!("{number} {records}"));
    }
    let paragraph = checked.paragraph();
    if !paragraph.is_empty() {
        result.text.push(if result.text.contains('\n') { '\n' } else { ' ' });
        result.text.push_str(&paragraph);
    }
    result.checked.push(state);
    result
}

/// The rest of a change that another process prepared before a crash.
fn plan_again(
    workspace: &Workspace,
    job: &Job,
    change: &FileChange,
    prepared: &PreparedWrite,
    sources: &mut dyn Sources,
) -> Result<PlannedChange, ToolError> {
    let (resolved, current) = find(workspace, change)?;
    let hash = current.as_deref().map(sha256);
    if hash.as_deref() == Some(&prepared.after) {
        let records = match change {
            FileChange::Records(add) => Some(added(&job.spec, add, &resolved.path, current.clone(), sources)?),
            FileChange::Whole(_) | FileChange::Append(_) | FileChange::Edit(_) | FileChange::EditRecords(_) => None,
        };
        let after = text_of(current, &resolved.path)?;
        return Ok(PlannedChange {
            resolved,
            prepared: PreparedWrite { before: hash, ..prepared.clone() },
            after,
            records,
        });
    }
    if hash == prepared.before {
        return plan(job, change, resolved, current, sources);
    }
    Err(ToolError::Tell(answer!("write.changed_meanwhile", path = resolved.path)))
}
