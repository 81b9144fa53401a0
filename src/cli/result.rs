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
    record::{Delivered, HoldReason, JobStatus},
    refused_records::RefusedCounts,
    state::Job,
    time::duration,
    todo::TodoStatus,
};
use serde::Serialize;
use serde_json::json;
use std::{fmt::Write, path::Path};

/// Parts that are named in the text.
const MOST_NOT_READ: usize = 20;

/// The object that `--json` prints. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct ResultView<'j> {
    id: String,
    status: JobStatus,
    hold_reason: Option<HoldReason>,
    /// One sentence.
    reason: Option<String>,
    instructions: &'j str,
    model: &'j str,
    /// Absolute.
    workspace: String,
    /// Paths are relative to the workspace.
    deliverables: &'j [Delivered],
    /// 0 to 1.
    coverage: f64,
    /// Parts of the documents that no text was got from.
    not_read: Vec<NotRead>,
    /// What was found where documents were looked for, and is none of them: how many, and the first of them by name.
    left_out_files: u64,
    left_out: &'j [LeftOutFile],
    /// Pages whose characters were recognised in images of them (OCR).
    recognised: Vec<Recognised>,
    /// 0 to 1.
    confidence: Option<f64>,
    notes: Option<&'j str>,
    summary: Option<&'j str>,
    checks: &'j [Check],
    /// What second reader and verifier say; null where neither has worked.
    proof: Option<ProofResult>,
    /// Records that were not written when they were added, and what became of them; null where there was none.
    refused_records: Option<RefusedCounts>,
    /// Values that a person should look at: rules that say so, and what does not stand in its quote.
    doubts: u64,
    /// Phases that were worked, each attempt counted.
    phases: usize,
    /// Todos that were completed.
    todos: usize,
    turns: u64,
    tokens_in: u64,
    tokens_out: u64,
    tokens_cached: u64,
    /// Null where a turn's price isn't known.
    cost_usd: Option<f64>,
    worked_ms: u64,
}

/// How much it matters that a job has come to this.
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
    // A person reads it in the result; who reads the log has no other word of it.
    if out::is_json() {
        let text = shown
            .reason
            .clone()
            .map_or_else(|| shown.status.to_string(), |reason| format!("{}: {reason}", shown.status));
        let fields = vec![("rest", json!(shown.status.name())), ("reason", json!(shown.reason))];
        out::log(&out::LogMessage { fields, ..out::LogMessage::new(level(shown.status), "rested", &text) });
    }
    if as_json { out::json(&shown) } else { out::result(&shown.text(job, path)) }
}

impl<'j> ResultView<'j> {
    fn new(job: &'j Job, path: &Path, outcome: JobOutcome) -> Self {
        let (status, hold_reason) = match outcome {
            JobOutcome::Ended(status) => (status, None),
            JobOutcome::Held(reason) => (JobStatus::Held, Some(reason)),
            JobOutcome::Waiting => (JobStatus::Waiting, None),
            JobOutcome::Interrupted => (JobStatus::Held, Some(HoldReason::Paused)),
        };
        let (_, _, reason) = job.job_status();
        // A full disk is not a fact of the job: nothing could be written any more.
        let reason = reason.or_else(|| {
            (hold_reason == Some(HoldReason::Disk)).then(|| "the disk is full; make room and resume".to_owned())
        });
        // A job that waits for its review shows what would be accepted.
        let ending: Option<&Ending> = job.decided_ending();
        let completion = ending.and_then(|ending| ending.completion.as_ref());
        let open = job.is_phase_open().then_some(&job.phase);
        let phases = || job.past.iter().map(|past| &past.phase).chain(open);
        let totals = &job.totals;
        Self {
            id: job.spec.id.to_string(),
            status,
            hold_reason,
            reason,
            instructions: &job.spec.instructions.name,
            model: &job.spec.model,
            workspace: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string(),
            deliverables: ending.map_or(&[], |ending| &ending.deliverables),
            coverage: job.own.coverage.total(&job.spec.documents),
            not_read: job.spec.documents.iter().flat_map(NotRead::of).collect(),
            left_out_files: job.spec.left_out.files,
            left_out: &job.spec.left_out.first,
            recognised: job.spec.documents.iter().flat_map(Recognised::of).collect(),
            confidence: completion.map(|completion| completion.confidence),
            notes: completion.and_then(|completion| completion.notes.as_deref()),
            summary: completion.map(|completion| completion.summary.as_str()),
            checks: ending.map_or(&[], |ending| &ending.checks),
            proof: job.proof_result(),
            refused_records: job.refused.counts(),
            doubts: job.doubts(),
            phases: phases().count(),
            todos: phases()
                .flat_map(|phase| phase.todos.all())
                .filter(|todo| todo.status == TodoStatus::Completed)
                .count(),
            turns: totals.spent.turns,
            tokens_in: totals.spent.usage.input,
            tokens_out: totals.spent.usage.output,
            tokens_cached: totals.spent.usage.cached,
            cost_usd: totals.spent.cost(),
            worked_ms: totals.worked_ms,
        }
    }

    fn text(&self, job: &Job, path: &Path) -> String {
        let mut text = String::new();
        let hold = self.hold_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        let status = match self.status {
            JobStatus::Completed => console::style(self.status).green(),
            JobStatus::Held | JobStatus::Partial | JobStatus::Queued | JobStatus::Running | JobStatus::Waiting => {
                console::style(self.status).yellow()
            }
            JobStatus::Blocked | JobStatus::Failed | JobStatus::Cancelled => console::style(self.status).red(),
        };
        let _ = writeln!(text, "job {}: {}{hold}", self.id, status.bold());
        // A blocked job's reason is its summary, which comes below.
        if let Some(reason) = self.reason.as_deref().filter(|reason| Some(*reason) != self.summary) {
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
        let _ = writeln!(text, "coverage: {}", percent(self.coverage));
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
        if let Some(confidence) = self.confidence {
            let _ = writeln!(text, "confidence: {confidence}");
        }
        let _ = writeln!(
            text,
            "worked: {}, {}, {}, {}",
            counted(self.phases as u64, "phase"),
            counted(self.todos as u64, "todo"),
            spent(job),
            duration(self.worked_ms)
        );
        for (name, said) in [("summary", self.summary), ("notes", self.notes)] {
            if let Some(said) = said.map(|said| out::plain(said.trim())).filter(|said| !said.is_empty()) {
                let _ = writeln!(text, "{name}:\n  {}", said.replace('\n', "\n  "));
            }
        }
        let _ = writeln!(text, "more: overnight show {}, overnight audit {}", self.id, self.id);
        text
    }
}

/// A path as it is shortest from here: relative where it lies below the current folder.
fn nearby(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let below = std::env::current_dir().ok().and_then(|here| whole.strip_prefix(here).ok().map(Path::to_owned));
    out::one_line(&below.unwrap_or(whole).display().to_string())
}
