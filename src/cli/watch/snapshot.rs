//! A snapshot of the database: the running jobs, their current work, and the progress of their batches.

use super::Watched;
use crate::{
    cli::{
        AppContext, CliError,
        jobs::{self, KnownIds},
        progress::{MOST_ENDS, RecentEnds},
        queue::DatabaseJob,
    },
    report::words::one_line,
    runner::now,
    store::{BatchRow, BatchTotals, JobFilter, RecentWork},
};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
    time::Timestamp,
    todo::TodoStatus,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uuid::Uuid;

/// A snapshot. Its fields are a promise; a value that isn't known is null.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Snapshot {
    pub(super) at: Timestamp,
    pub(super) jobs: Vec<JobLine>,
    /// The batches of these jobs, and the one that is watched.
    pub(super) batches: Vec<BatchLine>,
    /// Nothing runs any more, and no job of the watched batch is queued.
    #[serde(skip)]
    pub(super) is_over: bool,
    /// One job is watched, and no batch.
    #[serde(skip)]
    pub(super) is_one_job: bool,
    /// Jobs that ran at the last snapshot, and no longer do.
    #[serde(skip)]
    pub(super) rested: Vec<JobLine>,
    /// The ids of all jobs and batches.
    #[serde(skip)]
    pub(super) ids: KnownIds,
}

/// A job.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JobLine {
    pub(super) id: JobId,
    pub(super) status: JobStatus,
    pub(super) hold_reason: Option<HoldReason>,
    batch: Option<Uuid>,
    label: Option<String>,
    instructions: String,
    phase_number: u32,
    pub(super) phase_title: String,
    pub(super) phases_planned: u32,
    pub(super) phases_complete: u32,
    /// The current work, in the words of the todo.
    pub(super) todo: Option<String>,
    /// Completed todos of the phase.
    pub(super) todos_completed: u64,
    pub(super) todos: u64,
    pub(super) turns: u64,
    pub(super) tokens_in: u64,
    pub(super) tokens_out: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) worked_ms: u64,
    /// Estimated milliseconds of work left, from the batch's completed jobs, else from the job's own completed phases.
    pub(super) left_ms: Option<u64>,
    /// `2 of 4`.
    #[serde(skip)]
    pub(super) phase: String,
}

impl JobLine {
    /// A person's name for the job.
    pub(super) fn called(&self) -> &str {
        self.label.as_deref().filter(|label| !label.trim().is_empty()).unwrap_or(&self.instructions)
    }
}

/// A batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BatchLine {
    pub(super) batch: Uuid,
    pub(super) name: Option<String>,
    pub(super) jobs: u64,
    #[serde(flatten)]
    pub(super) totals: BatchTotals,
    /// The cost of its jobs so far, as far as prices are known.
    pub(super) spent_usd: f64,
    /// Jobs with turns whose price isn't known.
    pub(super) unpriced_jobs: u64,
    /// Jobs that end in an hour, computed from the last ends; null before three have ended.
    pub(super) ended_an_hour: Option<f64>,
    /// Milliseconds until all queued and running jobs have ended, at that rate.
    pub(super) left_ms: Option<u64>,
}

/// Takes snapshots, and caches unchanging facts.
pub(super) struct Watcher<'o> {
    app: &'o AppContext,
    watched: Watched,
    /// The queue's facts about jobs that were seen.
    known: HashMap<JobId, DatabaseJob>,
    ids: KnownIds,
    paces: HashMap<Uuid, BatchPace>,
    before: BTreeMap<JobId, JobLine>,
}

/// The pace of a batch's jobs.
#[derive(Debug, Default)]
struct BatchPace {
    /// The number of ended jobs when the pace was computed.
    ended: u64,
    /// The median time of work of the completed jobs, in milliseconds.
    middle_ms: Option<u64>,
    ends: RecentEnds,
}

impl<'o> Watcher<'o> {
    pub(super) fn new(app: &'o AppContext, watched: Watched) -> Self {
        let (known, paces) = (HashMap::new(), HashMap::new());
        Self { app, watched, known, ids: KnownIds::default(), paces, before: BTreeMap::new() }
    }

    pub(super) async fn snapshot(&mut self) -> Result<Snapshot, CliError> {
        let jobs = self.jobs().await?;
        let mut ids: BTreeSet<Uuid> = jobs.iter().filter_map(|job| Some(job.queue.as_ref()?.batch)).collect();
        if let Watched::Batch(batch) = &self.watched {
            ids.insert(batch.batch.id);
        }
        let mut batches = Vec::with_capacity(ids.len());
        for id in ids {
            let batch = self.app.store.batch(&id.to_string()).await?;
            self.pace(&batch).await?;
            batches.push(batch);
        }
        let mut lines = Vec::with_capacity(jobs.len());
        for job in &jobs {
            lines.push(self.line(job).await?);
        }
        let rested = self.rested(&lines).await?;
        let at = now();
        let batches: Vec<BatchLine> = batches.into_iter().map(|batch| self.batch(batch, at)).collect();
        let is_over = match &self.watched {
            Watched::All => lines.is_empty(),
            Watched::Job(_) => lines
                .iter()
                .all(|line| !matches!(line.status, JobStatus::Running | JobStatus::Waiting | JobStatus::Queued)),
            Watched::Batch(batch) => batches
                .iter()
                .filter(|line| line.batch == batch.batch.id)
                .all(|line| line.totals.queued + line.totals.running + line.totals.waiting == 0),
        };
        self.before = lines.iter().map(|line| (line.id, line.clone())).collect();
        let is_one_job = matches!(self.watched, Watched::Job(_));
        Ok(Snapshot { at, jobs: lines, batches, is_over, is_one_job, rested, ids: self.ids.clone() })
    }

    /// The jobs to show: the watched jobs that run, the oldest first; a named job also if it doesn't run.
    async fn jobs(&mut self) -> Result<Vec<DatabaseJob>, CliError> {
        let running = JobFilter { status: Some(JobStatus::Running), ..JobFilter::default() };
        let mut rows = match &self.watched {
            Watched::Job(id) => self.app.store.job(*id).await?.into_iter().collect(),
            Watched::All | Watched::Batch(_) => self.app.store.jobs(&self.app.store.job_ids(&running).await?).await?,
        };
        rows.sort_by_key(|row| row.job.id);
        if rows.iter().any(|row| !self.known.contains_key(&row.job.id)) {
            let known = self.app.database_jobs(rows.clone()).await?;
            self.known.extend(known.into_iter().map(|job| (job.id(), job)));
            self.ids = self.app.ids().await?;
        }
        let queue = |id: JobId| self.known.get(&id).and_then(|known| known.queue.clone());
        let mut jobs: Vec<DatabaseJob> =
            rows.into_iter().map(|row| DatabaseJob { queue: queue(row.job.id), row }).collect();
        if let Watched::Batch(batch) = &self.watched {
            jobs.retain(|job| job.queue.as_ref().is_some_and(|queue| queue.batch == batch.batch.id));
        }
        Ok(jobs)
    }

    /// Updates the pace of a batch's jobs, if more of them have ended since the last snapshot.
    async fn pace(&mut self, batch: &BatchRow) -> Result<(), CliError> {
        let (id, ended) = (batch.batch.id, batch.totals.ended());
        if self.paces.get(&id).is_some_and(|known| known.ended == ended) {
            return Ok(());
        }
        let RecentWork { ends, middle_ms } = self.app.store.recent_work(id, MOST_ENDS).await?;
        self.paces.insert(id, BatchPace { ended, middle_ms, ends: RecentEnds::of(ends) });
        Ok(())
    }

    async fn line(&self, job: &DatabaseJob) -> Result<JobLine, CliError> {
        let todos = self.app.store.todos(job.id()).await?;
        let last = todos.iter().map(|row| (row.phase, row.attempt)).max();
        let of_phase: Vec<_> = todos.iter().filter(|row| Some((row.phase, row.attempt)) == last).collect();
        let current = of_phase.iter().find(|row| row.todo.status == TodoStatus::InProgress);
        let completed = of_phase.iter().filter(|row| row.todo.status == TodoStatus::Completed).count();
        let state = &job.row.state;
        let queue = job.queue.as_ref();
        let is_running = state.status == JobStatus::Running;
        let pace = queue.and_then(|queue| self.paces.get(&queue.batch)).and_then(|pace| pace.middle_ms);
        Ok(JobLine {
            id: job.id(),
            status: state.status,
            hold_reason: state.hold_reason,
            batch: queue.map(|queue| queue.batch),
            label: queue.map(|queue| queue.label.clone()),
            instructions: job.row.job.instructions.clone(),
            phase_number: state.phase_number,
            phase_title: state.phase_title.clone(),
            phases_planned: state.phases_planned,
            phases_complete: state.phases_complete,
            todo: current.map(|row| one_line(&row.todo.active_form)),
            todos_completed: completed as u64,
            todos: of_phase.len() as u64,
            turns: state.turns,
            tokens_in: state.tokens_in,
            tokens_out: state.tokens_out,
            cost_usd: state.cost_usd,
            worked_ms: state.worked_ms,
            left_ms: is_running
                .then(|| left(state.worked_ms, pace, state.phases_complete, state.phases_planned))
                .flatten(),
            phase: jobs::phase(state),
        })
    }

    /// The jobs that ran at the last snapshot and no longer do, in their current state.
    async fn rested(&self, lines: &[JobLine]) -> Result<Vec<JobLine>, CliError> {
        let mut rested = Vec::new();
        for id in self.before.keys().filter(|id| lines.iter().all(|line| line.id != **id)) {
            if let Some(row) = self.app.store.job(*id).await? {
                let queue = self.known.get(id).and_then(|known| known.queue.clone());
                rested.push(self.line(&DatabaseJob { row, queue }).await?);
            }
        }
        Ok(rested)
    }

    fn batch(&self, batch: BatchRow, at: Timestamp) -> BatchLine {
        let BatchRow { batch, spent_usd, unpriced_jobs, totals, .. } = batch;
        let ends = self.paces.get(&batch.id).map(|pace| &pace.ends);
        let more = totals.queued + totals.running + totals.waiting;
        let left = ends.filter(|_| totals.running > 0).and_then(|ends| ends.left(at, more));
        BatchLine {
            batch: batch.id,
            name: batch.name,
            jobs: totals.all(),
            totals,
            spent_usd,
            unpriced_jobs,
            ended_an_hour: ends.filter(|_| totals.running > 0).and_then(|ends| ends.an_hour(at)),
            left_ms: left.and_then(|left| u64::try_from(left.as_millis()).ok()),
        }
    }
}

/// The time left of a job after `worked` milliseconds: by the pace of the batch's other jobs, else by that of its own completed phases.
fn left(worked: u64, pace: Option<u64>, complete: u32, planned: u32) -> Option<u64> {
    let by_pace = pace.filter(|pace| *pace > worked).map(|pace| pace - worked);
    let phases = u64::from(planned.checked_sub(complete)?);
    by_pace.or_else(|| (phases > 0).then(|| worked.checked_div(complete.into())?.checked_mul(phases)).flatten())
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn what_is_left_is_told_where_anything_tells_it() {
        assert_eq!(left(40, Some(100), 0, 4), Some(60));
        assert_eq!(left(120, Some(100), 1, 4), Some(360));
        assert_eq!(left(120, None, 2, 4), Some(120));
        assert_eq!(left(120, None, 0, 4), None);
        assert_eq!(left(120, None, 4, 4), None);
        assert_eq!(left(u64::MAX, None, 1, u32::MAX), None);
    }
}
