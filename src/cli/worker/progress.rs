//! Shows a worker's progress on stderr: on a terminal as a bar below its messages, elsewhere as a line each minute.

use crate::{
    cli::{
        out,
        progress::{RecentEnds, counted, ends_text, rate_text},
    },
    runner::now,
    store::Store,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use overnight_core::amount::cost_of_all;
use overnight_core::job::{id::JobId, record::JobStatus, time::Timestamp};
use std::{fmt::Write, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

/// The interval at which the queue is read for the bar.
const BAR_EVERY: Duration = Duration::from_secs(1);
/// The time between two lines.
const LINE_EVERY: Duration = Duration::from_mins(1);

/// Follows a worker until it ends.
#[derive(Debug)]
pub(super) struct QueueProgress {
    rested: UnboundedSender<JobId>,
    task: JoinHandle<()>,
    bar: Option<ProgressBar>,
}

impl QueueProgress {
    /// `None`: the output is suppressed.
    pub(super) fn begin(store: Arc<dyn Store>) -> Option<Self> {
        if out::is_quiet() || out::is_json() {
            return None;
        }
        let bar = console::Term::stderr().is_term().then(bar);
        if let Some(bar) = &bar {
            out::set_bar(bar.clone());
        }
        let (rested, hears) = unbounded_channel();
        let task = tokio::spawn(follow(store, hears, bar.clone()));
        Some(Self { rested, task, bar })
    }

    /// The channel for the ids of jobs that came to rest.
    pub(super) fn sender(&self) -> UnboundedSender<JobId> {
        self.rested.clone()
    }

    /// Removes the bar before the summary is printed.
    pub(super) fn end(self) {
        self.task.abort();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:16.green} {wide_msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
    ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr()).with_style(style)
}

/// The progress of the queue.
#[derive(Debug, Default)]
struct QueueTally {
    /// Jobs that had ended before this worker began; `None` until the queue was read.
    ended_before: Option<u64>,
    /// Jobs that have ended since then, by all workers.
    ended: u64,
    /// Jobs that are queued or running.
    left: u64,
    ends: RecentEnds,
    /// The cost of the jobs that came to rest here, as far as prices are known.
    spent_usd: f64,
    /// Whether some of them have no known price.
    has_unpriced: bool,
}

impl QueueTally {
    async fn look(&mut self, store: &dyn Store) {
        // If it can't be read now, it is read at the next interval.
        let Ok(depth) = store.depth().await else { return };
        let sum = |fits: fn(JobStatus) -> bool| -> u64 {
            depth.iter().filter(|(status, _)| fits(*status)).map(|(_, jobs)| jobs).sum()
        };
        let ended = sum(JobStatus::is_end);
        let ended = ended.saturating_sub(*self.ended_before.get_or_insert(ended));
        for _ in self.ended..ended {
            self.ends.push(now());
        }
        self.ended = ended;
        self.left = sum(|status| matches!(status, JobStatus::Queued | JobStatus::Running | JobStatus::Waiting));
    }

    /// `312 of 500 jobs ended; 41 an hour; ends ~06:40 +01:00 (in 4h 35m); 12.31 USD`.
    fn text(&self, now: Timestamp) -> String {
        let mut text = format!("{} of {} ended", self.ended, counted(self.ended + self.left, "job"));
        if let Some(rate) = self.ends.an_hour(now).filter(|_| self.left > 0) {
            let _ = write!(text, "; {}", rate_text(rate));
        }
        if let Some(left) = self.ends.left(now, self.left).filter(|_| self.left > 0) {
            let _ = write!(text, "; {}", ends_text(now, left));
        }
        if self.spent_usd > 0.0 || self.has_unpriced {
            let _ = write!(text, "; {}", cost_of_all(self.spent_usd, !self.has_unpriced));
        }
        text
    }
}

async fn follow(store: Arc<dyn Store>, mut rested: UnboundedReceiver<JobId>, bar: Option<ProgressBar>) {
    let mut tally = QueueTally::default();
    tally.look(&*store).await;
    let mut looks = tokio::time::interval(if bar.is_some() { BAR_EVERY } else { LINE_EVERY });
    // The first tick is immediate.
    looks.tick().await;
    let mut told = 0;
    loop {
        if let Some(bar) = &bar {
            bar.set_length((tally.ended + tally.left).max(1));
            bar.set_position(tally.ended);
            bar.set_message(tally.text(now()));
        } else if tally.ended != told {
            told = tally.ended;
            out::note(&tally.text(now()));
        }
        tokio::select! {
            id = rested.recv() => {
                let Some(id) = id else { return };
                if let Some(state) = store.job(id).await.ok().flatten().map(|row| row.state) {
                    tally.spent_usd += state.cost_usd.unwrap_or_default();
                    tally.has_unpriced |= state.cost_usd.is_none() && state.turns > 0;
                }
            }
            _ = looks.tick() => tally.look(&*store).await,
        }
    }
}
