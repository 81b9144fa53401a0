//! The page of a job: its instructions, the result or the todos, the cost, the phases, and the possible next commands.

use super::JobView;
use crate::{
    audit::timeline::Spending,
    cli::{
        audit,
        jobs::{INTERRUPTED, standing},
        local_time, out,
        progress::{BY_CHECKS, counted},
    },
};
use overnight_core::{
    amount::{cost, percent},
    job::{
        answered::{PaidRole, list_models},
        contract::doubts_told,
        digest::short,
        event::{PhaseKind, Why},
        finding::FINDINGS_FILE,
        left_out::LeftOutFile,
        state::Job,
        time::duration,
    },
    prompt::todo_board,
};
use overnight_documents::AGAINST_GAPS;
use std::fmt::Write;

/// Documents that are listed one by one, at most.
const MOST_DOCUMENTS: usize = 40;
/// Open findings that are named, at most.
const MOST_FINDINGS: usize = 20;

impl JobView<'_> {
    /// `job`: the job's state from its journal, if that is here.
    pub(super) fn text(&self, job: Option<&Job>) -> String {
        let standing = if self.interrupted {
            format!("{INTERRUPTED}: no process works on it")
        } else {
            standing(self.summary.status, self.summary.hold_reason)
        };
        let mut text = format!("job {}: {standing}\n", self.id);
        // A blocked job's reason is its summary, which comes below.
        if let Some(reason) =
            self.summary.reason.as_deref().filter(|reason| Some(*reason) != self.summary.summary.as_deref())
        {
            let _ = writeln!(text, "reason: {}", out::one_line(reason));
        }
        if let Some(damage) = &self.damage {
            let _ = writeln!(text, "{damage}");
        }
        let _ = write!(
            text,
            "\nAsked {}\n  instructions  {}{}\n                sha256 {}\n  model         {}\n",
            local_time::second(self.created),
            out::one_line(self.instructions),
            if self.description.is_empty() { String::new() } else { format!(": {}", out::one_line(self.description)) },
            short(self.instructions_sha256),
            out::one_line(&list_models(self.models, self.model))
        );
        for document in self.documents.iter().take(MOST_DOCUMENTS) {
            let shown = if document.units == 0 {
                "nothing to show".to_owned()
            } else {
                format!("{} shown", percent(document.coverage))
            };
            let _ = writeln!(
                text,
                "  document      {} ({}, {}): {shown}",
                out::one_line(document.name),
                document.format,
                counted(document.units, document.unit),
            );
            for gap in document.gaps {
                let _ = writeln!(text, "                not read: {}", out::one_line(&gap.to_string()));
            }
            for pages in document.recognised {
                let _ = writeln!(text, "                {pages} read once, from its picture");
            }
            for note in document.notes {
                let _ = writeln!(text, "                {}", out::one_line(note));
            }
        }
        if self.documents.iter().any(|document| !document.gaps.is_empty()) {
            let _ = writeln!(text, "                to have a document read: {AGAINST_GAPS}");
        }
        if self.documents.len() > MOST_DOCUMENTS {
            let rest = self.documents.len() - MOST_DOCUMENTS;
            let _ = writeln!(text, "  and {rest} more documents (--json lists them all)");
        }
        for LeftOutFile { path, why } in self.left_out.iter().take(MOST_DOCUMENTS) {
            let _ = writeln!(text, "  left out      {}", out::one_line(&format!("{path} ({why})")));
        }
        if let Some(queue) = &self.queue {
            text.push_str(&queue.text());
        }
        let is_ended = job.map_or(self.summary.status.is_end(), |job| job.decided_ending().is_some());
        if is_ended {
            text.push_str(&self.result());
        } else if let Some(job) = job {
            let planning = self.planning.map(|step| format!("\n  then planning: {step}")).unwrap_or_default();
            let heading = if job.is_phase_open() { "Now" } else { "Last" };
            let board = format!("{}\n\n{}", todo_board::place(job), todo_board::plain(&job.phase.todos));
            let _ = write!(text, "\n{heading}\n{}{planning}\n", indented(&board));
        }
        let cached = Spending {
            tokens_in: self.summary.tokens_in,
            tokens_out: self.summary.tokens_out,
            tokens_cached: self.summary.tokens_cached,
            cost_usd: self.summary.cost_usd,
            ..Spending::default()
        };
        let _ = write!(
            text,
            "\nSpent\n  {}, {} of work\n  tokens: {}\n",
            counted(self.summary.turns, "turn"),
            duration(self.summary.worked_ms),
            audit::tokens(&cached)
        );
        if PaidRole::is_telling(self.paid) {
            for paid in self.paid {
                let spending = Spending {
                    tokens_in: paid.tokens_in,
                    tokens_out: paid.tokens_out,
                    tokens_cached: paid.tokens_cached,
                    cost_usd: paid.cost(),
                    ..Spending::default()
                };
                let (role, turns) = (paid.told(), counted(paid.turns, "turn"));
                let _ = writeln!(text, "    {role}: {turns}, {}", audit::tokens(&spending));
            }
            for told in PaidRole::savings(self.paid) {
                let _ = writeln!(text, "  {told}");
            }
        }
        if !self.phases.is_empty() {
            text.push_str("\nPhases\n");
        }
        for phase in &self.phases {
            if phase.kind == PhaseKind::Review.name()
                && phase.spent.turns == 0
                && phase.outcome == Why::PhaseDone.outcome()
            {
                let (number, title) = (phase.number, out::one_line(phase.title));
                let _ = writeln!(text, "  {number} {title}: done {BY_CHECKS}");
                continue;
            }
            let attempt = if phase.attempt > 1 { format!(", attempt {}", phase.attempt) } else { String::new() };
            let _ = writeln!(
                text,
                "  {}{attempt} {}: {}, {}/{} todos, {}, {}, {}",
                phase.number,
                out::one_line(phase.title),
                phase.outcome,
                phase.todos_completed,
                phase.todos,
                counted(phase.spent.turns, "turn"),
                cost(phase.spent.cost_usd),
                duration(phase.spent.worked_ms)
            );
        }
        if !self.people.is_empty() {
            text.push_str("\nPeople\n");
        }
        for act in self.people {
            let _ = writeln!(text, "  {}  {}", local_time::second(act.at), out::one_line(&act.told()));
        }
        if !self.workspace.is_empty() {
            let _ = write!(text, "\nWorkspace\n  {}\n", out::one_line(&self.workspace));
        }
        text.push_str("\nNext\n");
        for command in &self.next {
            let _ = writeln!(text, "  {command}");
        }
        text
    }

    /// The job's deliverables, and the missing ones.
    fn result(&self) -> String {
        let mut text = "\nResult\n".to_owned();
        for file in self.deliverables {
            let _ = writeln!(text, "  {} ({})", out::one_line(&file.path), counted(file.bytes, "byte"));
        }
        if let Some(quotes) = self.quotes {
            let found = if quotes.found == quotes.quotes {
                counted(quotes.quotes, "quote")
            } else {
                format!("{} of {}", quotes.found, counted(quotes.quotes, "quote"))
            };
            let _ = writeln!(text, "  {found} found, positions in {}", quotes.path);
        }
        if let Some(proof) = &self.proof {
            let _ = writeln!(text, "  {}", proof.told());
        }
        if let Some(refused) = &self.refused_records {
            let _ = writeln!(text, "  {}", refused.told());
        }
        if self.doubts > 0 {
            let _ = writeln!(text, "  {}; they come first in `overnight review`", doubts_told(self.doubts));
        }
        for record in self.unmended_records.iter().take(MOST_FINDINGS) {
            let _ = writeln!(text, "  refused: {}", out::one_line(&record.told()));
        }
        if self.unmended_records.len() > MOST_FINDINGS {
            let more = self.unmended_records.len() - MOST_FINDINGS;
            let _ = writeln!(text, "  refused: {more} more, on the page of overnight review");
        }
        let open = || self.findings.iter().filter(|finding| finding.settled.is_none());
        for finding in open().take(MOST_FINDINGS) {
            let _ = writeln!(text, "  open: {}", out::one_line(&finding.told()));
        }
        if open().count() > MOST_FINDINGS {
            let _ = writeln!(text, "  open: {} more, in {FINDINGS_FILE}", open().count() - MOST_FINDINGS);
        }
        let passed = self.checks.iter().filter(|check| check.passed).count();
        if !self.checks.is_empty() {
            let _ = writeln!(text, "  {passed} of {} checks passed", self.checks.len());
        }
        for check in self.checks.iter().filter(|check| !check.passed) {
            let _ = writeln!(text, "  not met: {}: {}", out::one_line(&check.name), out::one_line(&check.detail));
        }
        for todo in self.open_todos {
            let _ = writeln!(text, "  not done: {}", out::one_line(todo));
        }
        if let Some(confidence) = self.summary.confidence {
            let _ = writeln!(text, "  confidence {confidence}");
        }
        for (name, said) in [("summary", &self.summary.summary), ("notes", &self.summary.notes)] {
            if let Some(said) = said.as_deref().filter(|said| !said.trim().is_empty()) {
                let _ = writeln!(text, "  {name}:\n{}", indented(&indented(said.trim())));
            }
        }
        if text.ends_with("Result\n") {
            text.push_str("  nothing was delivered\n");
        }
        text
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = out::plain(text)
        .lines()
        .map(|line| if line.is_empty() { String::new() } else { format!("  {line}") })
        .collect();
    lines.join("\n")
}
