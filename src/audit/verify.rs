//! Checks every hash that a workspace contains. It needs no database and changes nothing, so it works on a copy.
//!
//! What protects what: each line's own checksum shows damage to it; the journal's chain protects every line but the
//! last; the journal protects `job.yaml`, documents, assets, the task, the model's files, and each archive's manifest;
//! a manifest protects its archive's files and the contents of `output/` and `tool_results/`. So nothing inside the
//! workspace protects the end of the chain: if lines at the live journal's end (with an archive stored last: also that
//! archive's manifest) were removed, or rewritten so that they fit, only the anchor shows it, the (seq, head) of the
//! last checkpoint in the database.
//! Until a job has ended, a person may edit `main_plan.md` and `workspace.md`; `workspace_summary.md`, `progress.md`
//! and `todos.md` are generated from the journal, so they are not checked.

mod chain;
mod expected_files;
mod files;

use crate::workspace::{
    files::Workspace,
    prune::{PRUNED, PruneRecord},
};
use serde::Serialize;
use std::{fmt, path::Path};

/// The results of a check that found no fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Lines of the journal in all files.
    pub lines: u64,
    pub archives: u64,
    /// Files whose hash was compared.
    pub files: u64,
    /// SHA-256 and number of the journal's last line.
    pub head: String,
    pub seq: u64,
    /// The files that `overnight prune` removed, which can no longer be checked.
    pub pruned: Option<PruneRecord>,
}

/// One difference between the workspace and its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordFault {
    /// Relative to the workspace.
    pub file: String,
    /// From 1, where it is about a line of the journal.
    pub line: Option<u64>,
    pub what: String,
}

/// The first word of faults about a missing file.
const MISSING: &str = "missing";
/// The fault reported if the journal's first line is missing.
const NO_JOB: &str = "no job_created is in the journal: the task and the inputs can't be checked";

impl RecordFault {
    fn is_missing_archive(&self) -> bool {
        let folder = self.file.strip_prefix("archive/").is_some_and(|name| !name.contains('/'));
        folder && self.what.starts_with(MISSING)
    }
}

impl fmt::Display for RecordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{} line {line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// Checks the workspace at `path`. `anchor` is (seq, head) of a line that the chain must contain. The error holds all faults, at least one.
pub fn verify(path: &Path, anchor: Option<(u64, &str)>) -> Result<Verified, Vec<RecordFault>> {
    let mut faults = Faults::default();
    let workspace = match Workspace::open(path) {
        Ok(workspace) => workspace,
        Err(error) => {
            faults.add(".", None, error.to_string());
            return Err(faults.found);
        }
    };
    faults.pruned = PruneRecord::read(&workspace);
    let archives = chain::archives(&workspace, &mut faults);
    let record = chain::read(&workspace, &archives, anchor, &mut faults);
    if let Some((file, format)) = &record.other_format {
        let what = format.sentence(&path.display().to_string());
        return Err(vec![RecordFault { file: file.clone(), line: Some(1), what }]);
    }
    let mut files = files::check_archives(&workspace, &archives, &record, &mut faults);
    files += files::check_inputs(&workspace, &record, &mut faults);
    files += files::check_root(&workspace, &record, &mut faults);
    files += files::check_results(&workspace, &archives, &record, &mut faults);
    if faults.found.is_empty() {
        Ok(Verified {
            lines: record.lines,
            archives: archives.len() as u64,
            files,
            head: record.end.head,
            seq: record.end.seq,
            pruned: faults.pruned,
        })
    } else {
        // Faults that follow from the absence of a whole archive are listed after it.
        faults.found.sort_by_key(|fault| !(fault.is_missing_archive()));
        Err(faults.found)
    }
}

/// The faults so far, up to a number that a person can read.
#[derive(Debug, Default)]
struct Faults {
    found: Vec<RecordFault>,
    pruned: Option<PruneRecord>,
}

impl Faults {
    const MOST: usize = 1000;

    fn add(&mut self, file: &str, line: Option<u64>, what: impl Into<String>) {
        let fault = RecordFault { file: file.to_owned(), line, what: what.into() };
        if self.found.len() < Self::MOST && !self.is_pruned(&fault) {
            self.found.push(fault);
        }
    }

    /// Whether the fault follows from pruning. The record of pruning can be forged, so it proves nothing.
    fn is_pruned(&self, fault: &RecordFault) -> bool {
        let Some(pruned) = &self.pruned else { return false };
        let is_gone = fault.what.starts_with(MISSING) || fault.what == NO_JOB;
        fault.file == PRUNED || (is_gone && pruned.has(&fault.file))
    }
}

#[cfg(test)]
mod tests;
