//! The loop of a worker: claim while there is room, until it is to stop.

use super::{
    Rest, Terms, Told,
    batches::{Batches, Supply},
    ends,
    heartbeat::Heartbeat,
    hook::Hooks,
    metrics,
    pulse::{self, Reach, Tell},
    roster::Roster,
    work::{Claim, Desk},
};
use crate::{
    report::words::{counted, short},
    runner::now,
    store::{Store, StoreError},
};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus},
};
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

/// The most jobs that are claimed at once: what begins in step ends its phases in step.
const MOST_CLAIMED: usize = 8;
/// How long after a claim of so many the next one comes.
const APART: Duration = Duration::from_millis(150);
/// How soon a claim that failed is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// What became of the jobs that a worker had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// By how they ended here.
    pub ended: BTreeMap<&'static str, u64>,
    pub held: BTreeMap<&'static str, u64>,
    pub given_back: u64,
    pub failed_attempts: u64,
    pub lost: u64,
    /// Jobs that wait for a worker on another machine, which has their workspaces; by machine, where there was nothing else
    /// left to do.
    pub elsewhere: BTreeMap<String, u64>,
    pub failed_hooks: u64,
}

/// How the jobs came to rest, each for the last time: who was held first and has ended since has ended. Attempts that
/// failed are counted each, whatever came after them.
#[derive(Debug, Default)]
struct Rests {
    ended: BTreeMap<&'static str, u64>,
    /// Of those that have not ended.
    last: HashMap<JobId, Last>,
    failed_attempts: u64,
}

#[derive(Clone, Copy, Debug)]
enum Last {
    Held(HoldReason),
    GivenBack,
    Lost,
}

impl Rests {
    fn add(&mut self, id: JobId, rest: &Rest) {
        self.failed_attempts += u64::from(matches!(rest, Rest::Failed(_) | Rest::GivenUp(_)));
        let last = match rest {
            Rest::Ended(status, _) => return self.end(id, *status),
            Rest::GivenUp(_) => return self.end(id, JobStatus::Failed),
            Rest::Failed(_) => {
                self.last.remove(&id);
                return;
            }
            Rest::Held(reason, _) => Last::Held(*reason),
            Rest::GivenBack(_) => Last::GivenBack,
            Rest::Lost(_) => Last::Lost,
        };
        self.last.insert(id, last);
    }

    fn end(&mut self, id: JobId, status: JobStatus) {
        self.last.remove(&id);
        *self.ended.entry(JobStatus::name(status)).or_default() += 1;
    }

    fn summary(&self) -> Summary {
        let (ended, failed_attempts) = (self.ended.clone(), self.failed_attempts);
        let mut summary = Summary { ended, failed_attempts, ..Summary::default() };
        for last in self.last.values() {
            match last {
                Last::Held(reason) => *summary.held.entry(HoldReason::name(*reason)).or_default() += 1,
                Last::GivenBack => summary.given_back += 1,
                Last::Lost => summary.lost += 1,
            }
        }
        summary
    }
}

/// A worker.
pub struct Worker {
    desk: Arc<Desk>,
    tell: Tell,
    reach: Arc<Reach>,
    listener: Mutex<Option<TcpListener>>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("desk", &self.desk).finish_non_exhaustive()
    }
}

/// Ends a task when the worker does.
struct Beside(JoinHandle<()>);

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A job that came to rest: which, what it is called, and how.
type Done = (JobId, String, Rest);

impl Worker {
    /// `stop` turns true when the worker is to stop; `tell` hears what it does.
    pub fn new(
        store: Arc<dyn Store>,
        supply: Arc<dyn Supply>,
        terms: Terms,
        stop: watch::Receiver<bool>,
        tell: Arc<dyn Fn(Told<'_>) + Send + Sync>,
    ) -> Self {
        let desk = Desk {
            worker: Uuid::now_v7(),
            store,
            supply,
            batches: Batches::default(),
            roster: Roster::default(),
            terms,
            metrics: Arc::default(),
            hooks: Hooks::default(),
            settling: tokio::sync::Mutex::default(),
            stop,
        };
        Self { desk: Arc::new(desk), tell, reach: Arc::new(Reach::default()), listener: Mutex::default() }
    }

    /// Has the worker's numbers read at an address: `/metrics` and `/health`.
    #[must_use]
    pub fn read_at(self, listener: TcpListener) -> Self {
        Self { listener: Mutex::new(Some(listener)), ..self }
    }

    /// Works until it is stopped, or nothing is left to do where that was asked for.
    pub async fn run(&self) -> Result<Summary, StoreError> {
        let desk = &self.desk;
        if !self.enlist().await? {
            return Ok(Summary::default());
        }
        let heartbeat = Heartbeat::start(desk.clone(), self.reach.clone(), &self.tell);
        let heartbeat = heartbeat.map_err(|error| StoreError::Unreachable {
            database: "for the heartbeat".to_owned(),
            detail: format!("the system gives no thread for it ({error})"),
        })?;
        let beside = [
            Beside(tokio::spawn(pulse::look(desk.clone()))),
            Beside(tokio::spawn(pulse::sweep(desk.clone(), self.tell.clone()))),
            Beside(tokio::spawn(pulse::submit(desk.clone(), self.tell.clone()))),
        ];
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _read = listener.map(|listener| Beside(tokio::spawn(metrics::serve(listener, desk.clone()))));
        let mut jobs = JoinSet::new();
        let mut rests = Rests::default();
        let worked = self.claim_and_wait(&mut jobs, &mut rests).await;
        // What runs has heard of the stop, or is waited for.
        while let Some(done) = jobs.join_next().await {
            self.done(done.ok(), &mut rests);
        }
        let mut summary = rests.summary();
        if desk.terms.until_empty && worked.is_ok() {
            summary.elsewhere = self.tell_of_others().await;
        }
        if !*desk.stop.borrow() {
            // What is seen to now is seen to whole.
            drop(desk.settling.lock().await);
        }
        drop(beside);
        summary.failed_hooks = desk.hooks.end(desk.stop.clone(), &self.tell).await;
        heartbeat.end().await;
        // Best effort: who doesn't beat is forgotten.
        let _ = desk.store.dismiss(desk.worker).await;
        worked.map(|()| summary)
    }

    /// Says that it is there. What passes is waited for, but by who works until all is done. False: it is to stop.
    async fn enlist(&self) -> Result<bool, StoreError> {
        let desk = &self.desk;
        let mut stop = desk.stop.clone();
        loop {
            let (host, has_depot) = (&desk.terms.host, desk.terms.depot.is_some());
            match desk.store.enlist(desk.worker, host, std::process::id(), has_depot).await {
                Ok(()) => return Ok(true),
                Err(error) if error.passes() && !desk.terms.until_empty => self.reach.lost(&self.tell, &error),
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = tokio::time::sleep(TRY_AGAIN) => {}
                _ = stop.wait_for(|stops| *stops) => return Ok(false),
            }
        }
    }

    /// Says what stays in the queue for other machines.
    async fn tell_of_others(&self) -> BTreeMap<String, u64> {
        // Best effort: the work is done.
        let others = self.desk.store.elsewhere(&self.desk.terms.host).await.unwrap_or_default();
        for (host, jobs) in &others {
            let (stay, their) = if *jobs == 1 { ("stays", "its workspace") } else { ("stay", "their workspaces") };
            (self.tell)(Told::Note(format!(
                "{} {stay} in the queue for a worker on {}, which has {their}: run `overnight work` there",
                counted(*jobs, "job"),
                short(host)
            )));
        }
        others.into_iter().collect()
    }

    async fn claim_and_wait(&self, jobs: &mut JoinSet<Done>, rests: &mut Rests) -> Result<(), StoreError> {
        let desk = &self.desk;
        let mut stop = desk.stop.clone();
        let begun = Instant::now();
        loop {
            while let Some(done) = jobs.try_join_next() {
                self.done(done.ok(), rests);
            }
            if *stop.borrow() {
                return Ok(());
            }
            let drains = desk.terms.drain_after.is_some_and(|after| begun.elapsed() >= after);
            if drains && jobs.is_empty() {
                return Ok(());
            }
            let is_open = desk.terms.window.as_ref().is_none_or(|window| window.is_open(now()));
            let room = desk.terms.concurrency.saturating_sub(jobs.len());
            let mut pause = None;
            if room > 0 && is_open && !drains {
                match self.claim(jobs, room.min(MOST_CLAIMED)).await {
                    Ok(0) => {}
                    Ok(claimed) if claimed < MOST_CLAIMED => continue,
                    Ok(_) => pause = Some(APART),
                    Err(error) if error.passes() => {
                        self.reach.lost(&self.tell, &error);
                        pause = Some(TRY_AGAIN);
                    }
                    Err(error) => return Err(error),
                }
                if desk.terms.until_empty && jobs.is_empty() && pause.is_none() && self.is_empty().await {
                    return Ok(());
                }
            }
            tokio::select! {
                stopped = stop.wait_for(|stops| *stops) => if stopped.is_err() { return Ok(()) },
                Some(done) = jobs.join_next(), if !jobs.is_empty() => self.done(done.ok(), rests),
                () = wait(desk, pause) => {}
            }
        }
    }

    /// Claims up to `most` jobs and begins to work on them. How many there were.
    async fn claim(&self, jobs: &mut JoinSet<Done>, most: usize) -> Result<usize, StoreError> {
        let desk = &self.desk;
        let at = Instant::now();
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let lease_ms = desk.terms.times.lease_ms();
        let claimed = desk.store.claim_next(desk.worker, &desk.terms.host, most, lease_ms).await?;
        desk.metrics.claimed(at.elapsed(), &claimed);
        let count = claimed.len();
        for job in claimed {
            let (id, label) = (job.id, job.label.clone());
            (self.tell)(Told::Begun { id, label: &label });
            let (held, pulse) = desk.roster.add(id, job.lease, at);
            let work = desk.clone().work(Claim { job, at, held, pulse });
            jobs.spawn(async move { (id, label, work.await) });
        }
        Ok(count)
    }

    fn done(&self, done: Option<Done>, rests: &mut Rests) {
        // None: the task was ended with the runtime.
        let Some((id, label, rest)) = done else { return };
        rests.add(id, &rest);
        self.desk.metrics.rested(&rest);
        (self.tell)(Told::Rested { id, label: &label, rest: &rest });
    }

    /// Nothing is left that a worker on this machine could do, now or later, without a person.
    async fn is_empty(&self) -> bool {
        // What follows a batch is work as well.
        ends::settle(&self.desk, &self.tell).await;
        match self.desk.store.has_work(&self.desk.terms.host, self.desk.terms.depot.is_some()).await {
            Ok(has_work) => !has_work,
            Err(error) => {
                self.reach.lost(&self.tell, &error);
                false
            }
        }
    }
}

/// Until something may have changed, or for `pause`.
async fn wait(desk: &Desk, pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => drop(desk.store.changed(desk.terms.times.poll).await),
    }
}
