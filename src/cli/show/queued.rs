//! What the queue knows of a batch's job, and the page of a job whose workspace can't be read here: no worker has made it yet, another machine has
//! it, or another job did the work. That page shows only what the database knows.

use super::inspect_commands;
use crate::{
    audit::timeline::Spending,
    cli::{
        AppContext, CliError, exit,
        job_or_batch::{batch_name, short_label},
        local_time, out,
        progress::counted,
        queue::DatabaseJob,
    },
    report::facts::JobQueueFacts,
    view::{InQueue, JobView, PhaseLine},
    workspace::lock,
};
use overnight_core::job::{
    record::{HoldReason, JobStatus, PhaseRow, TodoRow},
    todo::TodoStatus,
};
use std::fmt::Write;

/// The location of a workspace that is on no single machine.
const STORED: &str = "in the workspace store; `overnight fetch` brings a copy";

/// Whether only the database's row can be shown of the job here.
pub(super) fn is_only_a_row(app: &AppContext, job: &DatabaseJob) -> bool {
    job.same_as().is_some() || !app.has_workspace(job)
}

pub(super) async fn show(app: &AppContext, job: &DatabaseJob, as_json: bool) -> Result<u8, CliError> {
    let rows = PhaseRows::read(app, job).await?;
    let shown = job_view(app, job, &rows);
    out::answer(as_json, &shown, || shown.text(None))?;
    Ok(exit::COMPLETED)
}

/// Such a job as `--json` prints it.
pub(super) async fn json(app: &AppContext, job: &DatabaseJob) -> Result<String, CliError> {
    let rows = PhaseRows::read(app, job).await?;
    out::json_text(&job_view(app, job, &rows))
}

/// The database's rows of a job's phases.
struct PhaseRows {
    phases: Vec<PhaseRow>,
    todos: Vec<TodoRow>,
}

impl PhaseRows {
    async fn read(app: &AppContext, job: &DatabaseJob) -> Result<Self, CliError> {
        Ok(Self { phases: app.store.phases(job.id()).await?, todos: app.store.todos(job.id()).await? })
    }
}

fn job_view<'j>(app: &AppContext, job: &'j DatabaseJob, PhaseRows { phases, todos }: &'j PhaseRows) -> JobView<'j> {
    let lines = phases.iter().map(|phase| {
        let of = todos.iter().filter(|row| (row.phase, row.attempt) == (phase.number, phase.attempt));
        let completed = of.clone().filter(|row| row.todo.status == TodoStatus::Completed).count();
        line(phase, completed as u64, of.count())
    });
    let mut summary = job.row.state.clone();
    // A job without turns has cost nothing.
    if summary.turns == 0 {
        summary.cost_usd = Some(0.0);
    }
    JobView {
        id: job.id(),
        interrupted: false,
        damage: None,
        instructions: &job.row.job.instructions,
        instructions_sha256: &job.row.job.instructions_sha256,
        description: "",
        model: &job.row.job.model,
        models: &[],
        created: job.row.job.created,
        last: job.row.updated,
        documents: Vec::new(),
        left_out_files: 0,
        left_out: &[],
        planning: None,
        phases: lines.collect(),
        paid: &[],
        checks: &[],
        deliverables: &job.row.state.deliverables,
        quotes: None,
        proof: None,
        refused_records: None,
        doubts: 0,
        unmended_records: &[],
        findings: &[],
        people: &[],
        open_todos: &[],
        workspace: app.workspace(job).map_or_else(
            |_| if job.is_stored() { STORED.to_owned() } else { job.row.job.workspace.clone() },
            |path| std::path::absolute(&path).unwrap_or(path).display().to_string(),
        ),
        next: next(job, summary.status, summary.hold_reason, None).unwrap_or_default(),
        summary,
        queue: InQueue::of(job),
    }
}

fn line(phase: &PhaseRow, todos_completed: u64, todos: usize) -> PhaseLine<'_> {
    PhaseLine {
        number: phase.number,
        attempt: phase.attempt,
        kind: &phase.kind,
        title: &phase.title,
        outcome: &phase.outcome,
        todos_completed,
        todos,
        spent: Spending {
            turns: phase.turns,
            tokens_in: phase.tokens_in,
            tokens_out: phase.tokens_out,
            cost_usd: phase.cost_usd,
            worked_ms: phase.ended.map_or(0, |ended| ended.millis_since(phase.started)),
            ..Spending::default()
        },
    }
}

/// The commands for a batch's job, if they differ from those for a single job. `here`: whether it is interrupted, if its workspace is here.
pub(super) fn next(
    job: &DatabaseJob,
    status: JobStatus,
    hold: Option<HoldReason>,
    here: Option<bool>,
) -> Option<Vec<String>> {
    let queue = job.queue.as_ref()?;
    let name = job.id().to_string();
    let [resume, cancel, pause] = ["resume", "cancel", "pause"].map(|verb| format!("overnight {verb} {name}"));
    let is_here = here.is_some();
    let work = "overnight work".to_owned();
    Some(match status {
        JobStatus::Queued if is_here => vec![work, resume, pause, cancel],
        JobStatus::Queued => vec![work, pause, cancel],
        // The next worker takes it over by itself.
        JobStatus::Running if here == Some(true) => vec![work, resume, cancel],
        JobStatus::Running if is_here => return None,
        JobStatus::Running | JobStatus::Waiting => vec![pause, cancel],
        // Its workspace should be here, and isn't.
        JobStatus::Held if !is_here && job.is_held_here() => {
            vec![format!("overnight retry {name}"), resume, cancel]
        }
        JobStatus::Held if hold == Some(HoldReason::Paused) => {
            vec![resume, format!("overnight resume {}", queue.batch), cancel]
        }
        JobStatus::Held if is_here => return None,
        JobStatus::Held if hold == Some(HoldReason::Review) => {
            vec![format!("overnight approve {name}"), format!("overnight feedback {name} \"…\"")]
        }
        JobStatus::Held => vec![resume, cancel],
        JobStatus::Failed => {
            let mut commands = vec![format!("overnight retry {name}")];
            if is_here {
                commands.extend(inspect_commands(&name));
            }
            commands
        }
        JobStatus::Completed | JobStatus::Partial | JobStatus::Blocked | JobStatus::Cancelled => match queue.same_as {
            Some(done) => [vec![format!("overnight show {done}")], inspect_commands(&done.to_string())].concat(),
            None if job.is_unbegun() => vec![format!("overnight show {}", queue.batch)],
            None => inspect_commands(&name),
        },
    })
}

impl<'k> InQueue<'k> {
    pub(super) fn of(job: &'k DatabaseJob) -> Option<Self> {
        let queue = job.queue.as_ref()?;
        Some(Self {
            batch: queue.batch,
            batch_name: queue.batch_name.as_deref(),
            label: &queue.label,
            group: queue.group.as_deref(),
            attempts: queue.attempts,
            max_attempts: queue.max_attempts,
            run_after: queue.run_after,
            host: queue.host.as_deref(),
            same_as: queue.same_as,
            waits: waits(job, queue),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("\nBatch {}\n", batch_name(self.batch, self.batch_name));
        if self.batch_name.is_some() {
            let _ = writeln!(text, "  id            {}", self.batch);
        }
        let _ = writeln!(text, "  label         {}", short_label(self.label));
        if self.same_as.is_none() {
            let _ = writeln!(text, "  attempts      {} of {} failed", self.attempts, self.max_attempts);
        }
        if let Some(group) = self.group {
            let _ = writeln!(text, "  group         {}", short_label(group));
        }
        if let Some(done) = self.same_as {
            let _ = writeln!(text, "  linked        job {done} did the same before: its deliverables are this one's");
        }
        if let Some(host) = self.host {
            let place = if host == lock::host() { "this machine" } else { "another machine" };
            let only = if self.same_as.is_some() { "" } else { "; only workers there can go on with it" };
            let _ = writeln!(text, "  place         its workspace is on {} ({place}){only}", short_label(host));
        }
        if let Some(waits) = &self.waits {
            let _ = writeln!(text, "  waits         {waits}");
        }
        text
    }
}

/// The reason why no process works on the job now.
fn waits(job: &DatabaseJob, queue: &JobQueueFacts) -> Option<String> {
    let until = queue.run_after.map(local_time::second);
    let who =
        job.elsewhere().map_or_else(|| "a worker".to_owned(), |host| format!("a worker on {}", short_label(host)));
    match (job.status(), until) {
        (JobStatus::Queued, Some(until)) if queue.attempts > 0 => Some(format!(
            "until {until}, because {} failed; then {who} takes it",
            counted(queue.attempts.into(), "attempt")
        )),
        (JobStatus::Queued, Some(until)) => Some(format!("until {until}; then {who} takes it")),
        (JobStatus::Queued, None) => Some(match &queue.group {
            Some(group) => format!("for {who} (`overnight work`), and for room in the group {}", short_label(group)),
            None => format!("for {who} (`overnight work`)"),
        }),
        (JobStatus::Waiting, _) => job.row.state.reason.as_ref().map(|reason| format!("for {reason}")),
        (JobStatus::Held, Some(until)) => Some(format!("until {until}; then it is queued by itself")),
        (JobStatus::Held, None) if job.row.state.hold_reason == Some(HoldReason::Review) => {
            Some("for a person's review".to_owned())
        }
        (JobStatus::Running, _) if job.is_unbegun() => {
            Some("for its workspace, which a worker is about to make".to_owned())
        }
        (JobStatus::Held, None) => Some("until somebody resumes it, or its batch".to_owned()),
        (
            JobStatus::Running
            | JobStatus::Completed
            | JobStatus::Partial
            | JobStatus::Blocked
            | JobStatus::Failed
            | JobStatus::Cancelled,
            _,
        ) => None,
    }
}
