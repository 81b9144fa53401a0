//! Prints the result of a job to stdout: a short text, or one JSON object.

use super::{
    CliError, out,
    progress::{counted, spent},
};
use crate::{
    report::facts::{NotRead, Recognised},
    runner::JobOutcome,
};
use overnight_core::amount::percent;
use overnight_core::job::{
    contract::{Check, doubts_told},
    ending::Ending,
    left_out::LeftOutFile,
    proof::ProofResult,
    record::{Delivered, HoldReason, JobStatus, JobSummary},
    refused_records::RefusedCounts,
    state::Job,
    time::duration,
    todo::TodoStatus,
};
use serde::Serialize;
use serde_json::json;
use std::{fmt::Write, path::Path};

/// Parts that are named in the text, at most.
const MOST_NOT_READ: usize = 20;

/// The object that `--json` prints. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct ResultView<'j> {
    id: String,
    #[serde(flatten)]
    summary: JobSummary,
    instructions: &'j str,
    model: &'j str,
    /// Absolute.
    workspace: String,
    /// Paths are relative to the workspace.
    deliverables: &'j [Delivered],
    /// Parts of the documents from which no text was extracted.
    not_read: Vec<NotRead>,
    /// Files that were found beside the documents, but left out: their number, and the first of them by name.
    left_out_files: u64,
    left_out: &'j [LeftOutFile],
    /// Pages whose characters were recognised in images of them (OCR).
    recognised: Vec<Recognised>,
    checks: &'j [Check],
    /// The results of second reader and verifier; null if neither has worked.
    proof: Option<ProofResult>,
    /// Records that were refused when they were added, and their outcome; null if there was none.
    refused_records: Option<RefusedCounts>,
    /// Values that a person should look at: those flagged by rules, and those that are not in their quotes.
    doubts: u64,
    /// Phases that were worked, each attempt counted.
    phases: usize,
    /// Todos that were completed.
    todos: usize,
}

/// The severity of a job's status.
pub(super) fn level(status: JobStatus) -> out::LogLevel {
    match status {
        JobStatus::Failed | JobStatus::Partial | JobStatus::Blocked => out::LogLevel::Error,
        JobStatus::Held => out::LogLevel::Warn,
        JobStatus::Completed | JobStatus::Cancelled | JobStatus::Queued | JobStatus::Running | JobStatus::Waiting => {
            out::LogLevel::Info
        }
    }
}

/// Prints the result of `job`, whose workspace lies at `path`.
pub(super) fn show(job: &Job, path: &Path, outcome: JobOutcome, as_json: bool) -> Result<(), CliError> {
    let shown = ResultView::new(job, path, outcome);
    // A person reads it in the result; the log needs an entry of its own.
    if out::is_json() {
        let JobSummary { status, reason, .. } = &shown.summary;
        let text = reason.as_ref().map_or_else(|| status.to_string(), |reason| format!("{status}: {reason}"));
        let fields = vec![("rest", json!(status.name())), ("reason", json!(reason))];
        out::log(&out::LogMessage { fields, ..out::LogMessage::new(level(*status), "rested", &text) });
    }
    out::answer(as_json, &shown, || shown.text(job, path))
}

impl<'j> ResultView<'j> {
    fn new(job: &'j Job, path: &Path, outcome: JobOutcome) -> Self {
        let (status, hold_reason) = match outcome {
            JobOutcome::Ended(status) => (status, None),
            JobOutcome::Held(reason) => (JobStatus::Held, Some(reason)),
            JobOutcome::Waiting => (JobStatus::Waiting, None),
            JobOutcome::Interrupted => (JobStatus::Held, Some(HoldReason::Paused)),
        };
        let summary = job.summary(0, "");
        // A full disk is no event of the journal: nothing could be written any more.
        let reason = summary.reason.clone().or_else(|| {
            (hold_reason == Some(HoldReason::Disk)).then(|| "the disk is full; make room and resume".to_owned())
        });
        // A job that waits for its review shows the result that would be accepted.
        let ending: Option<&Ending> = job.decided_ending();
        let open = job.is_phase_open().then_some(&job.phase);
        let phases = || job.past.iter().map(|past| &past.phase).chain(open);
        Self {
            id: job.spec.id.to_string(),
            summary: JobSummary { status, hold_reason, reason, ..summary },
            instructions: &job.spec.instructions.name,
            model: &job.spec.model,
            workspace: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string(),
            deliverables: ending.map_or(&[], |ending| &ending.deliverables),
            not_read: job.spec.documents.iter().flat_map(NotRead::of).collect(),
            left_out_files: job.spec.left_out.files,
            left_out: &job.spec.left_out.first,
            recognised: job.spec.documents.iter().flat_map(Recognised::of).collect(),
            checks: ending.map_or(&[], |ending| &ending.checks),
            proof: job.proof_result(),
            refused_records: job.refused.counts(),
            doubts: job.doubts(),
            phases: phases().count(),
            todos: phases()
                .flat_map(|phase| phase.todos.all())
                .filter(|todo| todo.status == TodoStatus::Completed)
                .count(),
        }
    }

    fn text(&self, job: &Job, path: &Path) -> String {
        let mut text = String::new();
        let hold = self.summary.hold_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        let status = match self.summary.status {
            JobStatus::Completed => console::style(self.summary.status).green(),
            JobStatus::Held | JobStatus::Partial | JobStatus::Queued | JobStatus::Running | JobStatus::Waiting => {
                console::style(self.summary.status).yellow()
            }
            JobStatus::Blocked | JobStatus::Failed | JobStatus::Cancelled => console::style(self.summary.status).red(),
        };
        let _ = writeln!(text, "job {}: {}{hold}", self.id, status.bold());
        // A blocked job's reason is its summary, which comes below.
        if let Some(reason) =
            self.summary.reason.as_deref().filter(|reason| Some(*reason) != self.summary.summary.as_deref())
        {
            let _ = writeln!(text, "reason: {}", out::one_line(reason));
        }
        for file in self.deliverables {
            let place = nearby(&path.join(&file.path));
            let _ = writeln!(text, "deliverable: {place} ({})", counted(file.bytes, "byte"));
        }
        let passed = self.checks.iter().filter(|check| check.passed).count();
        if !self.checks.is_empty() {
            let _ = writeln!(text, "checks: {passed} of {} passed", self.checks.len());
        }
        for check in self.checks.iter().filter(|check| !check.passed) {
            let _ = writeln!(text, "  not met: {}: {}", out::one_line(&check.name), out::one_line(&check.detail));
        }
        if let Some(proof) = &self.proof {
            let _ = writeln!(text, "proof: {}", proof.told());
        }
        if let Some(refused) = &self.refused_records {
            let _ = writeln!(text, "refused: {}", refused.told());
        }
        if self.doubts > 0 {
            let _ = writeln!(text, "in doubt: {}; they come first in `overnight review`", doubts_told(self.doubts));
        }
        let _ = writeln!(text, "coverage: {}", percent(self.summary.coverage));
        for part in self.not_read.iter().take(MOST_NOT_READ) {
            let NotRead { document, why, .. } = part;
            let told =
                if part.whole { format!("{document}: {why}") } else { format!("{document} {}: {why}", part.part()) };
            let _ = writeln!(text, "not read: {}", out::one_line(&told));
        }
        if self.not_read.len() > MOST_NOT_READ {
            let _ = writeln!(
                text,
                "not read: {} more parts, in overnight show {}",
                self.not_read.len() - MOST_NOT_READ,
                self.id
            );
        }
        for file in self.left_out.iter().take(MOST_NOT_READ) {
            let _ = writeln!(text, "left out: {}", out::one_line(&format!("{} ({})", file.path, file.why)));
        }
        let named = self.left_out.len().min(MOST_NOT_READ) as u64;
        if self.left_out_files > named {
            let more = counted(self.left_out_files - named, "more file");
            let _ = writeln!(text, "left out: {more}, in job.yaml of the workspace");
        }
        for part in self.recognised.iter().take(MOST_NOT_READ) {
            let told = out::one_line(&format!("{} {}", part.document, part.part()));
            let _ = writeln!(text, "read once, from its picture: {told}");
        }
        if self.recognised.len() > MOST_NOT_READ {
            let more = self.recognised.len() - MOST_NOT_READ;
            let _ = writeln!(text, "read once, from its picture: {more} more parts, in overnight show {}", self.id);
        }
        if let Some(confidence) = self.summary.confidence {
            let _ = writeln!(text, "confidence: {confidence}");
        }
        let _ = writeln!(
            text,
            "worked: {}, {}, {}, {}",
            counted(self.phases as u64, "phase"),
            counted(self.todos as u64, "todo"),
            spent(job),
            duration(self.summary.worked_ms)
        );
        for (name, said) in [("summary", &self.summary.summary), ("notes", &self.summary.notes)] {
            if let Some(said) = said.as_deref().map(|said| out::plain(said.trim())).filter(|said| !said.is_empty()) {
                let _ = writeln!(text, "{name}:\n  {}", said.replace('\n', "\n  "));
            }
        }
        let _ = writeln!(text, "more: overnight show {}, overnight audit {}", self.id, self.id);
        text
    }
}

/// The shortest path from here: relative if it is below the current folder.
fn nearby(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let below = std::env::current_dir().ok().and_then(|here| whole.strip_prefix(here).ok().map(Path::to_owned));
    out::one_line(&below.unwrap_or(whole).display().to_string())
}
