//! The page of a batch: its instructions, the status of its jobs, their cost, and the possible next commands.

use crate::{
    batch::BatchSettings,
    cascade::stored_state,
    cli::{
        AppContext, CliError, exit,
        job_or_batch::{batch_argument, batch_title, short_label},
        local_time, out,
        progress::counted,
        queue::STATUSES,
    },
    report::batch::Waiting,
    store::{BatchRow, BatchTotals},
    view::{BatchView, ClosingJobView},
};
use overnight_core::{
    amount::cost_of_all,
    job::{digest::short, id::JobId, record::JobStatus, time::duration},
};
use std::fmt::Write;

/// Drawn results that are named, at most.
const MOST_UNREAD: usize = 10;

pub(super) async fn show(app: &AppContext, batch: &BatchRow, typed: &str, as_json: bool) -> Result<u8, CliError> {
    let shown = batch_view(app, batch, typed).await?;
    out::answer(as_json, &shown, || shown.text(batch))?;
    Ok(exit::COMPLETED)
}

/// A batch as `--json` prints it, for requests over HTTP.
pub(in crate::cli) async fn batch_json(app: &AppContext, batch: &BatchRow) -> Result<String, CliError> {
    out::json_text(&batch_view(app, batch, "").await?)
}

async fn batch_view<'b>(app: &AppContext, batch: &'b BatchRow, typed: &str) -> Result<BatchView<'b>, CliError> {
    let BatchRow { batch: asked, totals, .. } = batch;
    let work = app.store.batch_work(asked.id).await?;
    let waiting = Waiting::summed(work.waiting.into_iter().map(|alike| Waiting {
        status: alike.status,
        hold_reason: alike.hold_reason,
        host: alike.host,
        jobs: alike.jobs,
        until: alike.until,
    }));
    Ok(BatchView {
        batch: asked.id,
        name: asked.name.as_deref(),
        created: asked.created,
        instructions: &asked.instructions,
        instructions_sha256: &asked.instructions_sha256,
        model: &asked.model,
        jobs: totals.all(),
        totals: *totals,
        turns: work.turns,
        tokens_in: work.tokens_in,
        tokens_out: work.tokens_out,
        worked_ms: work.worked_ms,
        spent_usd: batch.spent_usd,
        unpriced_jobs: batch.unpriced_jobs,
        budget_usd: asked.budget_usd,
        left_out_files: BatchSettings::left_out(&asked.settings).files,
        time_window: asked.time_window.as_deref(),
        cascade: stored_state(app.store.as_ref(), batch.batch.id).await?,
        closing: app.closing(batch).await?.map(|job| ClosingJobView {
            job: job.id(),
            batch: job.queue.as_ref().map(|queue| queue.batch),
            status: job.status(),
        }),
        next: next(totals, &waiting, &batch_argument(batch, typed)),
        waiting,
    })
}

fn next(totals: &BatchTotals, waiting: &[Waiting], name: &str) -> Vec<String> {
    let mut commands = Vec::new();
    if totals.running > 0 {
        commands.push(format!("overnight watch {name}"));
    }
    if totals.queued + totals.waiting > 0 {
        if waiting.iter().any(|sum| sum.status != JobStatus::Held && sum.host.is_none()) {
            commands.push("overnight work".to_owned());
        }
        commands.push(format!("overnight pause {name}"));
    }
    if totals.held > 0 {
        commands.push(format!("overnight resume {name}"));
    }
    if totals.failed > 0 {
        commands.push(format!("overnight retry {name}"));
    }
    commands.push(format!("overnight jobs --batch {name}"));
    commands.push(format!("overnight report {name}"));
    if totals.ended() < totals.all() {
        commands.push(format!("overnight cancel {name}"));
    }
    commands
}

impl BatchView<'_> {
    fn text(&self, batch: &BatchRow) -> String {
        let mut text = format!("{}: {}\n", batch_title(batch), counted(self.jobs, "job"));
        if self.name.is_some() {
            let _ = writeln!(text, "id: {}", self.batch);
        }
        let _ = write!(
            text,
            "\nAsked {}\n  instructions  {}\n                sha256 {}\n  model         {}\n",
            local_time::second(self.created),
            short_label(self.instructions),
            short(self.instructions_sha256),
            short_label(self.model)
        );
        if let Some(window) = self.time_window {
            let _ = writeln!(text, "  window        {}", short_label(window));
        }
        if self.left_out_files > 0 {
            let _ = writeln!(text, "  left out      {}, named in the report", counted(self.left_out_files, "file"));
        }
        text.push_str("\nJobs\n");
        for status in STATUSES {
            let number = batch.totals.of(status);
            if number > 0 {
                let _ = writeln!(text, "  {:<12}  {number}", status.name());
            }
        }
        if self.totals.linked > 0 {
            let _ = writeln!(text, "  linked        {} of them done before by other jobs", self.totals.linked);
        }
        if self.jobs == 0 {
            text.push_str("  none\n");
        }
        if let Some(ClosingJobView { job, status, .. }) = &self.closing {
            let _ = writeln!(text, "\nThen, over their deliverables\n  {:<12}  job {job}", status.name());
        }
        if let Some(cascade) = &self.cascade {
            let _ = writeln!(text, "\nCascade\n  {}", cascade.told());
            let unread: Vec<JobId> = cascade.unread().collect();
            for job in unread.iter().take(MOST_UNREAD) {
                let _ = writeln!(text, "  to read       job {job}");
            }
            if let Some(more) = unread.len().checked_sub(MOST_UNREAD + 1) {
                let _ = writeln!(text, "                and {} more", more + 1);
            }
        }
        // Facts that the number of jobs doesn't show: a machine, a time.
        let told = self.waiting.iter().filter(|sum| sum.host.is_some() || sum.until.is_some());
        for (place, sum) in told.enumerate() {
            let standing = match sum.hold_reason {
                Some(reason) => format!("{} ({reason})", sum.status),
                None => sum.status.to_string(),
            };
            let head = if place == 0 { "\nWaits\n" } else { "" };
            let _ = writeln!(text, "{head}  {:<13}  {}: {}", standing, sum.jobs, sum.words(&local_time::minute));
        }
        let budget = self.budget_usd.map(|usd| format!(" of a budget of {usd:.2}")).unwrap_or_default();
        let _ = write!(
            text,
            "\nSpent\n  {}{budget}\n  {}, {} of work\n  tokens: {} in, {} out\n\nNext\n",
            cost_of_all(self.spent_usd, self.unpriced_jobs == 0),
            counted(self.turns, "turn"),
            duration(self.worked_ms),
            self.tokens_in,
            self.tokens_out
        );
        for command in &self.next {
            let _ = writeln!(text, "  {command}");
        }
        text
    }
}
