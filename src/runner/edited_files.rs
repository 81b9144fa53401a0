//! A person's edits of plan and memory while the job was held. They become a fact from which the job continues; a plan
//! that can't be read stops the job before anything is spent on it.

use super::{RunError, open_job::OpenJob};
use crate::workspace::WorkspaceError;
use overnight_core::{
    job::{
        plan::{self, Plan},
        state::{MEMORY_FILE, PLAN_FILE},
    },
    machine::effect::Command,
};

/// The command that reports the edits to the job; none if both files are as in the journal.
pub(super) fn find(opened: &OpenJob) -> Result<Option<Command>, RunError> {
    let job = &opened.job;
    // An unfinished change of before a crash is completed first: until then the files may differ without an edit.
    if job.ended().is_some() || !job.writes.is_empty() || job.conversations().any(|one| one.calls.prepared.is_some()) {
        return Ok(None);
    }
    let memory = read(opened, MEMORY_FILE)?;
    let text = read(opened, PLAN_FILE)?;
    let plan = match (&job.plan, text) {
        (Some(known), Some(text)) if known.text() == text => None,
        (None, None) => None,
        (Some(_), None) => {
            let text = format!("{PLAN_FILE} is not there any more; put it back, the last one is in the newest archive");
            return Err(RunError::Configuration(text));
        }
        (_, Some(text)) => Some(Plan::parse(&text).map_err(|error| {
            RunError::Configuration(format!("{PLAN_FILE} was edited, and can't be read as a plan: {error}"))
        })?),
    };
    let is_same = plan.is_none() && memory == job.memory;
    Ok((!is_same).then_some(Command::Edited { plan, memory }))
}

fn read(opened: &OpenJob, path: &str) -> Result<Option<String>, RunError> {
    match opened.workspace.read_at_most(path, plan::MAX_BYTES as u64 * 16) {
        Ok(content) => match String::from_utf8(content) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(RunError::Configuration(format!("{path} was edited, and is not UTF-8 text any more"))),
        },
        Err(error) if WorkspaceError::is_not_found(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
