//! The loop of a worker: claim while there is room, until it is to stop.

use super::{
    ClaimOutcome, WorkerConfig, WorkerEvent, awaited, background,
    batches::{Batches, Supply},
    context::DatabaseHealth,
    context::WorkerContext,
    ended_batches,
    notices::{self, NoticeTasks},
};
use crate::{
    report::words::{counted, short},
    runner::{Heartbeat, Leases, now},
    store::{Store, StoreError},
};
use overnight_core::job::id::JobId;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
};
use uuid::Uuid;

/// The most jobs that are claimed at once: jobs that begin in step end their phases in step.
const MOST_CLAIMED: usize = 8;
/// The pause after a claim of that many jobs.
const CLAIM_SPACING: Duration = Duration::from_millis(150);
/// The pause before a failed claim is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The outcomes of a worker's jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerSummary {
    /// By the way in which they ended here.
    pub ended: BTreeMap<&'static str, u64>,
    pub held: BTreeMap<&'static str, u64>,
    /// Jobs whose answers to submitted calls are still to come.
    pub waiting: u64,
    pub given_back: u64,
    pub failed_attempts: u64,
    pub lost: u64,
    /// Jobs that wait for a worker on another machine, which has their workspaces; by machine, where there was nothing else
    /// left to do.
    pub elsewhere: BTreeMap<String, u64>,
    pub failed_hooks: u64,
}

/// The last outcome of each job: one that was held first and has ended since counts as ended. Every failed attempt is
/// counted, whatever came after it.
#[derive(Debug, Default)]
struct LastOutcomes {
    /// The outcomes of jobs that have ended.
    summary: WorkerSummary,
    /// The outcomes of the others.
    last: HashMap<JobId, ClaimOutcome>,
}

impl LastOutcomes {
    fn add(&mut self, id: JobId, outcome: ClaimOutcome) {
        self.last.remove(&id);
        self.summary.failed_attempts +=
            u64::from(matches!(outcome, ClaimOutcome::Failed(_) | ClaimOutcome::GivenUp(_)));
        match outcome {
            ClaimOutcome::Ended(..) | ClaimOutcome::GivenUp(_) => {
                *self.summary.ended.entry(outcome.name()).or_default() += 1;
            }
            ClaimOutcome::Failed(_) => {}
            ClaimOutcome::Held(..) | ClaimOutcome::Waiting(_) | ClaimOutcome::GivenBack(_) | ClaimOutcome::Lost(_) => {
                self.last.insert(id, outcome);
            }
        }
    }

    fn summary(self) -> WorkerSummary {
        let mut summary = self.summary;
        for last in self.last.into_values() {
            match last {
                ClaimOutcome::Held(reason, _) => *summary.held.entry(reason.name()).or_default() += 1,
                ClaimOutcome::Waiting(_) => summary.waiting += 1,
                ClaimOutcome::GivenBack(_) => summary.given_back += 1,
                ClaimOutcome::Lost(_) => summary.lost += 1,
                ClaimOutcome::Ended(..) | ClaimOutcome::GivenUp(_) | ClaimOutcome::Failed(_) => {}
            }
        }
        summary
    }
}

/// A worker.
#[derive(Debug)]
pub struct Worker {
    context: Arc<WorkerContext>,
    listener: Mutex<Option<TcpListener>>,
}

/// Ends a task when the worker does.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A job that came to rest: its id, its label, and its outcome.
type FinishedJob = (JobId, String, ClaimOutcome);

impl Worker {
    /// `stop` becomes true when the worker is to stop; `notify` receives its reports.
    pub fn new(
        store: Arc<dyn Store>,
        supply: Arc<dyn Supply>,
        config: WorkerConfig,
        stop: watch::Receiver<bool>,
        notify: Arc<dyn Fn(WorkerEvent<'_>) + Send + Sync>,
    ) -> Self {
        let context = WorkerContext {
            worker: Uuid::now_v7(),
            store,
            supply,
            batches: Batches::default(),
            active_jobs: Arc::default(),
            config,
            metrics: Arc::default(),
            notices: NoticeTasks::default(),
            settling: tokio::sync::Mutex::default(),
            submitting: tokio::sync::Mutex::default(),
            notify,
            health: DatabaseHealth::default(),
            stop,
        };
        Self { context: Arc::new(context), listener: Mutex::default() }
    }

    /// Has the worker's numbers read at an address: `/metrics` and `/health`.
    #[must_use]
    pub fn with_metrics_at(self, listener: TcpListener) -> Self {
        Self { listener: Mutex::new(Some(listener)), ..self }
    }

    /// Works until it is stopped, or nothing is left to do where that was asked for.
    pub async fn run(&self) -> Result<WorkerSummary, StoreError> {
        let context = &self.context;
        if !self.register_worker().await? {
            return Ok(WorkerSummary::default());
        }
        let leases = Leases {
            worker: context.worker,
            jobs: context.active_jobs.clone(),
            times: context.config.times,
            window: context.config.window.clone(),
        };
        let observer = background::heartbeat_observer(context.clone());
        let heartbeat = Heartbeat::start(context.store.as_ref(), leases, observer)?;
        let beside = [
            AbortOnDrop(tokio::spawn(background::sweep(context.clone()))),
            AbortOnDrop(tokio::spawn(background::run_schedules(context.clone()))),
            AbortOnDrop(tokio::spawn(awaited::look_on(context.clone()))),
            AbortOnDrop(tokio::spawn(notices::tell_on(context.clone()))),
        ];
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        #[cfg(feature = "network")]
        let _read =
            listener.map(|listener| AbortOnDrop(tokio::spawn(super::metrics_page::serve(listener, context.clone()))));
        let mut jobs = JoinSet::new();
        let mut rests = LastOutcomes::default();
        let worked = self.claim_and_wait(&mut jobs, &mut rests).await;
        // Running jobs have noticed the stop, or are awaited.
        while let Some(done) = jobs.join_next().await {
            self.done(done.ok(), &mut rests);
        }
        let mut summary = rests.summary();
        if context.config.until_empty && context.config.batches.is_empty() && worked.is_ok() {
            summary.elsewhere = self.note_elsewhere().await;
        }
        if !*context.stop.borrow() {
            // A batch that is being handled now is handled to its end.
            drop(context.settling.lock().await);
        }
        // Likewise, no notice is left between being taken and being sent.
        let taking = context.notices.taking.lock().await;
        drop(beside);
        drop(taking);
        if context.config.until_empty && worked.is_ok() && !*context.stop.borrow() {
            notices::tell(context, true).await;
        }
        summary.failed_hooks = notices::end(context, context.stop.clone()).await;
        heartbeat.end().await;
        // Best effort: a worker without heartbeats is forgotten.
        let _ = context.store.forget_worker(context.worker).await;
        worked.map(|()| summary)
    }

    /// Registers the worker. Retries after temporary errors, except with `until_empty`. False: it is to stop.
    async fn register_worker(&self) -> Result<bool, StoreError> {
        let context = &self.context;
        let mut stop = context.stop.clone();
        loop {
            let (host, has_store) = (&context.config.host, context.config.workspace_store.is_some());
            match context.store.register_worker(context.worker, host, std::process::id(), has_store).await {
                Ok(()) => return Ok(true),
                Err(error) if error.passes() && !context.config.until_empty => self.context.database_lost(&error),
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = tokio::time::sleep(TRY_AGAIN) => {}
                _ = stop.wait_for(|stops| *stops) => return Ok(false),
            }
        }
    }

    /// Reports the jobs that stay in the queue for other machines.
    async fn note_elsewhere(&self) -> BTreeMap<String, u64> {
        // Best effort: the work is done.
        let others = self.context.store.elsewhere(&self.context.config.host).await.unwrap_or_default();
        for (host, jobs) in &others {
            let (stay, their) = if *jobs == 1 { ("stays", "its workspace") } else { ("stay", "their workspaces") };
            self.context.note(format!(
                "{} {stay} in the queue for a worker on {}, which has {their}: run `overnight work` there",
                counted(*jobs, "job"),
                short(host)
            ));
        }
        others.into_iter().collect()
    }

    async fn claim_and_wait(
        &self,
        jobs: &mut JoinSet<FinishedJob>,
        rests: &mut LastOutcomes,
    ) -> Result<(), StoreError> {
        let context = &self.context;
        let mut stop = context.stop.clone();
        let begun = Instant::now();
        loop {
            while let Some(done) = jobs.try_join_next() {
                self.done(done.ok(), rests);
            }
            if *stop.borrow() {
                return Ok(());
            }
            let drains = context.config.drain_after.is_some_and(|after| begun.elapsed() >= after);
            if drains && jobs.is_empty() {
                return Ok(());
            }
            let is_open = context.config.window.as_ref().is_none_or(|window| window.is_open(now()));
            let room = context.config.concurrency.saturating_sub(jobs.len());
            let mut pause = None;
            if room > 0 && is_open && !drains {
                match self.claim(jobs, room.min(MOST_CLAIMED)).await {
                    Ok(0) => {}
                    Ok(claimed) if claimed < MOST_CLAIMED => continue,
                    Ok(_) => pause = Some(CLAIM_SPACING),
                    Err(error) if error.passes() => {
                        self.context.database_lost(&error);
                        pause = Some(TRY_AGAIN);
                    }
                    Err(error) => return Err(error),
                }
                if context.config.until_empty && jobs.is_empty() && pause.is_none() && self.is_empty().await {
                    return Ok(());
                }
            }
            tokio::select! {
                stopped = stop.wait_for(|stops| *stops) => if stopped.is_err() { return Ok(()) },
                Some(done) = jobs.join_next(), if !jobs.is_empty() => self.done(done.ok(), rests),
                () = wait(context, pause) => {}
            }
        }
    }

    /// Claims up to `most` jobs and begins to work on them. How many there were.
    async fn claim(&self, jobs: &mut JoinSet<FinishedJob>, most: usize) -> Result<usize, StoreError> {
        let context = &self.context;
        let at = Instant::now();
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let lease_ms = context.config.times.lease_ms();
        let claimed = context
            .store
            .claim_of(&context.config.batches, context.worker, &context.config.host, most, lease_ms)
            .await?;
        context.metrics.claimed(at.elapsed(), &claimed);
        let count = claimed.len();
        for job in claimed {
            let (id, label) = (job.id, job.label.clone());
            (self.context.notify)(WorkerEvent::Begun { id, label: &label });
            let lease = context.active_jobs.add(id, job.lease, context.worker, at, context.config.times);
            let work = context.clone().work(job, lease);
            jobs.spawn(async move { (id, label, work.await) });
        }
        Ok(count)
    }

    fn done(&self, done: Option<FinishedJob>, rests: &mut LastOutcomes) {
        // None: the task was ended with the runtime.
        let Some((id, label, rest)) = done else { return };
        self.context.metrics.rested(&rest);
        (self.context.notify)(WorkerEvent::Rested { id, label: &label, rest: &rest });
        rests.add(id, rest);
    }

    /// Nothing is left that a worker on this machine could do, now or later, without a person.
    async fn is_empty(&self) -> bool {
        // Due runs count as work, as does everything that follows the end of a batch.
        background::submit_due(&self.context).await;
        ended_batches::settle(&self.context).await;
        match self
            .context
            .store
            .has_work(
                &self.context.config.batches,
                &self.context.config.host,
                self.context.config.workspace_store.is_some(),
            )
            .await
        {
            Ok(has_work) => !has_work,
            Err(error) => {
                self.context.database_lost(&error);
                false
            }
        }
    }
}

/// Until something may have changed, or for `pause`.
async fn wait(context: &WorkerContext, pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => drop(context.store.changed(context.config.times.poll).await),
    }
}
