//! The state as database rows: what a checkpoint writes.

use super::{
    record::{Checkpoint, HoldReason, JobStatus, JobSummary, PhaseRow, TodoRow},
    reviewed::Approval,
    state::{Job, PastPhase, Phase, Status},
};

/// The phases that a checkpoint writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointExtent {
    /// The current phase and the one before it: what may have changed since the last checkpoint.
    Recent,
    /// All of them: the first checkpoint of a process, and `reindex`.
    All,
}

impl Job {
    /// The rows of this state. (`seq`, `head`) is the journal's last line.
    pub fn checkpoint(&self, extent: CheckpointExtent, seq: u64, head: &str) -> Checkpoint {
        let skip = match extent {
            CheckpointExtent::Recent => self.past.len().saturating_sub(2),
            CheckpointExtent::All => 0,
        };
        let mut phases: Vec<PhaseRow> = self.past[skip..].iter().map(past_row).collect();
        let mut todos: Vec<TodoRow> = self.past[skip..].iter().flat_map(|past| todo_rows(&past.phase)).collect();
        if self.is_phase_open() {
            phases.push(phase_row(&self.phase));
            todos.extend(todo_rows(&self.phase));
        }
        Checkpoint { state: self.summary(seq, head), phases, todos }
    }

    /// The status of the job, in the database's terms.
    pub fn job_status(&self) -> (JobStatus, Option<HoldReason>, Option<String>) {
        match &self.status {
            Status::Running => (JobStatus::Running, None, None),
            Status::Held { reason, detail } => (JobStatus::Held, Some(*reason), Some(detail.clone())),
            Status::Ended(ending) => (ending.status, None, ending.reason.clone()),
        }
    }

    /// The summary that views show. (`seq`, `head`) is the journal's last line.
    pub fn summary(&self, seq: u64, head: &str) -> JobSummary {
        let (status, hold_reason, reason) = self.job_status();
        // While a result waits for a person's review, its ending is already known.
        let ending = self.decided_ending();
        let completion = ending.and_then(|ending| ending.completion.as_ref());
        let complete = self.plan.as_ref().map_or(0, |plan| {
            plan.phases().iter().filter(|phase| phase.state == super::plan::PhaseState::Complete).count()
        });
        JobSummary {
            status,
            hold_reason,
            reason,
            phase_number: self.phase.number,
            phase_title: self.phase.title.clone(),
            phases_planned: self.planned_count(),
            phases_complete: u32::try_from(complete).unwrap_or(u32::MAX).min(self.planned_count()),
            turns: self.totals.spent.turns,
            tokens_in: self.totals.spent.usage.input,
            tokens_out: self.totals.spent.usage.output,
            tokens_cached: self.totals.spent.usage.cached,
            cost_usd: self.totals.spent.cost(),
            worked_ms: self.totals.worked_ms,
            coverage: self.own.coverage.total(&self.spec.documents),
            summary: completion.map(|completion| completion.summary.clone()),
            confidence: completion.map(|completion| completion.confidence),
            notes: completion.and_then(|completion| completion.notes.clone()),
            deliverables: ending.map(|ending| ending.deliverables.clone()).unwrap_or_default(),
            completed_at: self.ended_at,
            approved_by: self.reviewed.approvals.last().map(Approval::name),
            corrections: self.corrections().count() as u64,
            journal_seq: seq,
            journal_head: head.to_owned(),
        }
    }
}

fn phase_row(phase: &Phase) -> PhaseRow {
    PhaseRow {
        number: phase.number,
        attempt: phase.attempt,
        kind: phase.kind.name().to_owned(),
        title: phase.title.clone(),
        outcome: "running".to_owned(),
        issue: None,
        turns: phase.spent.turns,
        tokens_in: phase.spent.usage.input,
        tokens_out: phase.spent.usage.output,
        cost_usd: phase.spent.cost(),
        started: phase.started,
        ended: None,
        archive: None,
    }
}

fn past_row(past: &PastPhase) -> PhaseRow {
    PhaseRow {
        outcome: past.why.outcome().to_owned(),
        issue: past.why.issue().map(str::to_owned),
        ended: Some(past.ended),
        archive: Some(past.folder.clone()),
        ..phase_row(&past.phase)
    }
}

fn todo_rows(phase: &Phase) -> impl Iterator<Item = TodoRow> {
    phase.todos.all().iter().map(|todo| TodoRow { phase: phase.number, attempt: phase.attempt, todo: todo.clone() })
}
