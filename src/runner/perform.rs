//! An effect of the machine, performed; calls of the model and of reading tools are in `model_call` and `read_call`. Each is harmless to repeat: writes by
//! temporary file and rename, archives made once, changes under the hashes in the journal.

use super::{RunError, clock::now, contract_check, open_job::OpenJob, second_lists};
use crate::{
    failpoint,
    table_query::DocumentReader,
    tool::{self, ToolError},
    workspace::{archive, archive_manifest::ArchiveMeta, hash::FileHash},
};
use overnight_core::{
    answer,
    job::{
        call::ReadCall,
        event::{CallEnd, ExaminedFiles, ToolResult, Why},
        finding::FINDINGS_FILE,
        part::Part,
        state::{INSTRUCTIONS_FILE, MEMORY_FILE, PLAN_FILE, PROGRESS_FILE, SUMMARY_FILE, TODOS_FILE},
    },
    machine::effect::{Effect, EffectId, EffectResult},
    message::ToolCall,
    prompt::{
        bounds::ResultBound,
        summary::{self, FileEntry},
        todo_board,
    },
};
use std::time::{Duration, Instant};

/// The interval at which `todos.md` and `progress.md` are written while only a person may read them.
const DERIVED_EVERY: Duration = Duration::from_secs(5);

impl OpenJob {
    /// Brings to the disk the files that the effect may show, and the decisions that led to what it may change.
    pub(super) fn prepare(&mut self, effect: &Effect) -> Result<(), RunError> {
        if reads_folder(effect) {
            self.write_derived()?;
        }
        if changes_something(effect) {
            self.journal.sync()?;
        }
        Ok(())
    }

    /// Answers everything but `Effect::Model` and reading calls, which are awaited.
    pub(super) fn perform(
        &mut self,
        id: EffectId,
        effect: &Effect,
        reader: Option<&dyn DocumentReader>,
    ) -> Result<EffectResult, RunError> {
        self.prepare(effect)?;
        Ok(match effect {
            Effect::Decide | Effect::Model | Effect::Read { .. } | Effect::ReadPages | Effect::FindDoubled => {
                EffectResult::Now
            }
            Effect::Prepare(change) => {
                let (job, workspace) = (&self.job, &self.workspace);
                let planned = contract_check::with_quotes(job, workspace, change, |sources| {
                    tool::prepare(workspace, job, change, sources)
                });
                match planned {
                    Ok(planned) => {
                        let (_, planned) = self.planned.insert((id.conversation, planned));
                        let (prepared, saved) = planned.facts();
                        EffectResult::Prepared(prepared, saved)
                    }
                    Err(error) => EffectResult::Tool(unless_fatal(Err(error))?, None),
                }
            }
            Effect::Change(change, prepared) => {
                let planned = self.planned.take().filter(|(conversation, _)| *conversation == id.conversation);
                let (job, workspace, planned) = (&self.job, &self.workspace, planned.map(|(_, planned)| planned));
                let written = contract_check::with_quotes(job, workspace, change, |sources| {
                    tool::write(workspace, job, change, prepared, planned, sources)
                });
                let (written, saved) = match written {
                    Ok(written) => written,
                    Err(error) => (unless_fatal(Err(error))?, None),
                };
                let written = match contract_check::check_written(job, workspace, &written, &mut self.rules) {
                    Some(checked) => tool::with_checks(written, change, &checked),
                    None => written,
                };
                EffectResult::Tool(written, saved)
            }
            Effect::GenerateSummary => {
                let hash = self.write_summary()?;
                let text = answer!("done.summary_written", file = SUMMARY_FILE, bytes = hash.bytes);
                EffectResult::Tool(ToolResult::plain(CallEnd::Done, text), None)
            }
            Effect::Archive { folder, why } => {
                let phase = &self.job.phase;
                let meta = match why {
                    // The phase is archived already; this is its result, before it is planned anew.
                    Why::Feedback { number, .. } => ArchiveMeta {
                        folder: folder.clone(),
                        phase: phase.number,
                        kind: archive::RESULT_KIND.to_owned(),
                        title: format!("Result {number}"),
                        attempt: phase.attempt,
                        outcome: why.outcome().to_owned(),
                        issue: why.issue().map(str::to_owned),
                        ended: now(),
                    },
                    _ => ArchiveMeta {
                        folder: folder.clone(),
                        phase: phase.number,
                        kind: phase.kind.name().to_owned(),
                        title: phase.title.clone(),
                        attempt: phase.attempt,
                        outcome: why.outcome().to_owned(),
                        issue: why.issue().map(str::to_owned),
                        ended: self.job.past.last().map_or_else(now, |past| past.ended),
                    },
                };
                let todos = todo_board::file(&self.job);
                let stored = archive::build(&self.workspace, &mut self.journal, meta, &todos)?;
                EffectResult::Archived { manifest_sha256: stored.manifest_sha256 }
            }
            Effect::Summary => EffectResult::Summarised { sha256: self.write_summary()?.sha256 },
            Effect::Examine => EffectResult::Examined(ExaminedFiles {
                plan: self.text_of(PLAN_FILE)?.map(Part::from),
                memory: self.text_of(MEMORY_FILE)?.map(Part::from),
                instructions: self.text_of(INSTRUCTIONS_FILE)?.unwrap_or_default().into(),
                summary: self.text_of(SUMMARY_FILE)?.unwrap_or_default().into(),
            }),
            Effect::Write(write) => {
                failpoint::hit("owed.write.before");
                self.workspace.write(write.path, write.text.as_bytes())?;
                failpoint::hit("owed.write.done");
                EffectResult::Written
            }
            Effect::FindQuotes(given) => {
                EffectResult::QuotesFound(second_lists::find_quotes(&self.job, &self.workspace, given))
            }
            Effect::Check(completion) => {
                let contract_check::ContractResult { checks, states, deliverables, quotes, lists } =
                    contract_check::check(&self.job, &self.workspace, completion.as_ref(), (&mut self.rules, reader))?;
                failpoint::hit("contract.checked");
                EffectResult::Checked { checks, states, deliverables, quotes, lists }
            }
        })
    }

    /// The consequence of a reading call's result for the job.
    pub(super) fn answer_read(
        &self,
        call: &ToolCall,
        work: &ReadCall,
        bound: ResultBound,
        read: Result<ToolResult, ToolError>,
    ) -> Result<EffectResult, RunError> {
        unless_fatal(tool::bounded(bound, &self.workspace, &call.id, work, read))
            .map(|result| EffectResult::Tool(result, None))
    }

    fn write_summary(&self) -> Result<FileHash, RunError> {
        let files: Vec<FileEntry> = self
            .workspace
            .list(".")?
            .into_iter()
            .filter(|entry| is_listed(&entry.path))
            .map(|entry| FileEntry { path: entry.path, bytes: entry.bytes, modified: entry.modified })
            .collect();
        let text = summary::workspace_summary(&self.job, now(), &files);
        failpoint::hit("summary.before");
        let hash = self.workspace.write(SUMMARY_FILE, text.as_bytes())?;
        failpoint::hit("summary.done");
        Ok(hash)
    }

    /// A file that may be missing. Invalid UTF-8 (a person edited it) is replaced.
    fn text_of(&self, path: &str) -> Result<Option<String>, RunError> {
        match self.workspace.read(path) {
            Ok(content) => Ok(Some(String::from_utf8_lossy(&content).into_owned())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// [`Self::write_derived`], but only every few seconds: a person can't read faster.
    pub(super) fn refresh_derived(&mut self) -> Result<(), RunError> {
        if self.derived_at.is_none_or(|at| at.elapsed() >= DERIVED_EVERY) { self.write_derived() } else { Ok(()) }
    }

    /// Writes the files derived from the state, if they are not up to date.
    pub(super) fn write_derived(&mut self) -> Result<(), RunError> {
        self.derived_at = Some(Instant::now());
        let mut changed = Vec::new();
        let mut files = vec![(TODOS_FILE, todo_board::file(&self.job)), (PROGRESS_FILE, summary::progress(&self.job))];
        // Corrections are removed from it together with the result in which they were made.
        if !self.job.proof.findings.is_empty() || self.job.reviewed.corrections > 0 {
            files.push((FINDINGS_FILE, self.job.proof.file()));
        }
        for (path, text) in files {
            let is_there = match self.derived.get(path) {
                Some(written) => *written == text,
                // If it is missing, or replaced by a link or a pipe, it is written anew.
                None => self.workspace.read(path).is_ok_and(|content| content == text.as_bytes()),
            };
            if !is_there {
                changed.push((path, text));
            }
        }
        if !changed.is_empty() {
            self.journal.sync()?;
            self.workspace.write_together(&changed)?;
            self.derived.extend(changed);
        }
        failpoint::hit("derived.done");
        Ok(())
    }
}

/// Whether the effect may show `todos.md` and `progress.md`, or list them.
fn reads_folder(effect: &Effect) -> bool {
    match effect {
        Effect::Read { read, .. } => !tool::leaves_no_trace(read),
        Effect::GenerateSummary | Effect::Summary | Effect::Check(_) => true,
        Effect::Decide
        | Effect::Model
        | Effect::ReadPages
        | Effect::FindDoubled
        | Effect::Prepare(_)
        | Effect::Change(..)
        | Effect::Examine
        | Effect::Archive { .. }
        | Effect::FindQuotes(_)
        | Effect::Write(_) => false,
    }
}

/// Whether the effect may change anything: the decisions that led to it must be on the disk first.
fn changes_something(effect: &Effect) -> bool {
    match effect {
        Effect::Decide | Effect::Prepare(_) | Effect::FindQuotes(_) | Effect::Examine => false,
        Effect::Read { read, .. } => !tool::leaves_no_trace(read),
        Effect::Model
        | Effect::ReadPages
        | Effect::FindDoubled
        | Effect::Change(..)
        | Effect::GenerateSummary
        | Effect::Archive { .. }
        | Effect::Summary
        | Effect::Write(_)
        | Effect::Check(_) => true,
    }
}

/// The summary lists only files that may matter to the model.
fn is_listed(path: &str) -> bool {
    !path.starts_with("archive/")
        && !path.starts_with("documents/.text/")
        && !matches!(path, "journal.jsonl" | ".lock" | "job.yaml")
}

/// A tool's failure that the job can't resolve stops the work.
fn unless_fatal(result: Result<ToolResult, ToolError>) -> Result<ToolResult, RunError> {
    Ok(result.or_else(ToolError::told)?)
}
