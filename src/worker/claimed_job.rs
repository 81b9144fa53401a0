//! One job, from its claim until it rests.

use super::{
    WorkerConfig,
    active_jobs::ActiveJobs,
    batches::{Batch, Batches, JobModels, Supply, UnusableBatch},
    hook::Hooks,
    metrics::Metrics,
    open_workspace::OpenedWorkspace,
};
use crate::{
    runner::{Anchor, JobOutcome, JobRunner, LeaseHandle, OpenJob, RunError, RunReport, fail_row, now},
    store::{ClaimedJob, ControlSignal, JobTarget, Store, StoreError, backoff_ms},
    telemetry::Trace,
    workspace::{journal::JournalError, lock::LockError},
};
use overnight_core::job::{
    decide::Command,
    id::JobId,
    record::{Checkpoint, HoldReason, JobState, JobStatus},
    rows::CheckpointExtent,
    state::Status,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{Mutex, watch};
use uuid::Uuid;

/// After how long a job that was held because the workspace store doesn't answer goes on by itself.
const STORE_WAKES: Duration = Duration::from_mins(1);

/// How long a job is left to others when this process has no files left.
const OTHERS_FIRST: Duration = Duration::from_secs(10);

/// How the work on a claimed job ended here.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimOutcome {
    /// With the reason, where there is one.
    Ended(JobStatus, Option<String>),
    Held(HoldReason, String),
    /// Queued again, with no attempt used.
    GivenBack(String),
    /// An attempt failed: the job is queued again.
    Failed(String),
    /// The last attempt failed, and with it the job.
    GivenUp(String),
    /// Another has it, or the database can't be reached: its lease runs out.
    Lost(String),
}

/// What all jobs of a worker share.
#[derive(Debug)]
pub(super) struct WorkerContext {
    pub(super) worker: Uuid,
    pub(super) store: Arc<dyn Store>,
    pub(super) supply: Arc<dyn Supply>,
    pub(super) batches: Batches,
    pub(super) active_jobs: ActiveJobs,
    pub(super) config: WorkerConfig,
    pub(super) metrics: Arc<Metrics>,
    pub(super) hooks: Hooks,
    /// Held by whoever handles batches that have ended.
    pub(super) settling: Mutex<()>,
    pub(super) stop: watch::Receiver<bool>,
}

/// A claimed job, and the channel to the worker.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) job: ClaimedJob,
    pub(super) at: Instant,
    pub(super) held: Arc<AtomicU64>,
    pub(super) status: watch::Receiver<crate::runner::LeaseStatus>,
}

/// Why a job was not driven until it rested.
pub(super) enum Refused {
    Run(RunError),
    /// One sentence: a person must change something, and nobody would get further.
    Person(String),
    Rested(ClaimOutcome),
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

impl WorkerContext {
    /// Works on a claimed job until it rests. Whatever happens to it happens to it alone.
    pub(super) async fn work(self: Arc<Self>, claim: Claim) -> ClaimOutcome {
        let (id, held) = (claim.job.id, claim.held.clone());
        let attempts = claim.job.attempts;
        let context = self.clone();
        // A task of its own: what panics in it ends this job's attempt.
        let worked = tokio::spawn(async move { context.rest(claim).await }).await;
        let rest = if let Ok(rest) = worked {
            rest
        } else {
            let why = "the program failed on it with a defect; please report this with the job's journal";
            self.fail(id, held.load(Ordering::SeqCst), attempts, why).await
        };
        self.active_jobs.remove(id);
        rest
    }

    async fn rest(&self, claim: Claim) -> ClaimOutcome {
        let id = claim.job.id;
        let (attempts, held) = (claim.job.attempts, claim.held.clone());
        let refused = match self.drive(claim).await {
            Ok(rest) => return rest,
            Err(refused) => refused,
        };
        // None where it rests, or never had one.
        let lease = held.load(Ordering::SeqCst);
        match refused {
            Refused::Rested(rest) => rest,
            Refused::Person(why) => self.hold_row(id, lease, HoldReason::Paused, why).await,
            Refused::Run(RunError::Store(error)) => self.give_up(id, lease, &error.to_string()).await,
            Refused::Run(RunError::Lock(error @ LockError::Held { .. })) => {
                self.give_back(id, lease, self.config.times.lock_retry, &error.to_string()).await
            }
            Refused::Run(RunError::Journal(error @ JournalError::Broken { .. })) => {
                held.store(0, Ordering::SeqCst);
                let why = format!("{error}; the job ends as failed, because it can't be known what was done");
                match fail_row(self.store.as_ref(), id, &error.to_string()).await {
                    Ok(()) => ClaimOutcome::GivenUp(why),
                    Err(error) => ClaimOutcome::Lost(error.to_string()),
                }
            }
            Refused::Run(error) if error.is_out_of_files() => {
                let why = format!("{error}; this machine has too many files open (ulimit -n)");
                self.give_back(id, lease, OTHERS_FIRST, &why).await
            }
            Refused::Run(error) if error.is_disk_full() => {
                let why = format!("{error}; make room: it goes on by itself in a few minutes");
                let wakes = now().after(Duration::from_mins(5));
                // Where this fails, it is held until a person comes; the sentence says for what.
                let _ = self.store.wake_at(id, lease, wakes).await;
                self.hold_row(id, lease, HoldReason::Disk, why).await
            }
            Refused::Run(error) if error.is_out_of_reach() => {
                let why = format!("{error}; see that its folder can be written, and resume the job");
                self.hold_row(id, lease, HoldReason::Paused, why).await
            }
            // Where the end of a job has not come to the store, nobody is told of it.
            Refused::Run(RunError::WorkspaceStore(error)) if error.retryable() => {
                let wakes = now().after(STORE_WAKES);
                // As above.
                let _ = self.store.wake_at(id, lease, wakes).await;
                self.hold_row(id, lease, HoldReason::Outage, error.to_string()).await
            }
            // The drive has held the job, and said why in its row.
            Refused::Run(error) if lease == 0 => ClaimOutcome::Held(HoldReason::Paused, error.to_string()),
            Refused::Run(
                error @ (RunError::OtherVersion { .. }
                | RunError::Configuration(_)
                | RunError::Model(_)
                | RunError::WorkspaceStore(_)),
            ) => self.hold_row(id, lease, HoldReason::Paused, error.to_string()).await,
            Refused::Run(
                error @ (RunError::Document(_)
                | RunError::Instructions(_)
                | RunError::Workspace(_)
                | RunError::Journal(_)
                | RunError::Archive(_)
                | RunError::Lock(_)
                | RunError::Request(_)
                | RunError::NoDecision(_)),
            ) => self.fail(id, lease, attempts, &error.to_string()).await,
        }
    }

    async fn drive(&self, claim: Claim) -> Result<ClaimOutcome, Refused> {
        let Claim { job: claimed, at, held, status } = claim;
        let id = claimed.id;
        let batch = match self.batches.get(self.store.as_ref(), self.supply.as_ref(), claimed.batch).await {
            Ok(batch) => batch,
            Err(UnusableBatch::Person(why)) => return Err(Refused::Person(why)),
            Err(UnusableBatch::Store(error)) => return Err(error.into()),
        };
        self.refuse_closed(&claimed, &batch).await?;
        self.active_jobs.set_window(id, batch.window.clone());
        let row = self.store.job(id).await?;
        let row = row.ok_or_else(|| Refused::Rested(ClaimOutcome::Lost("its row is gone".to_owned())))?;
        if claimed.wants == Some(ControlSignal::Cancel) && row.state.journal_seq == 0 && claimed.workspace.is_empty() {
            self.store.give_back(id, claimed.lease, 0, None).await?;
            held.store(0, Ordering::SeqCst);
            self.store.cancel(JobTarget::Job(id)).await?;
            return Ok(ClaimOutcome::Ended(JobStatus::Cancelled, None));
        }
        let path = self.locate(&claimed, &row).await?;
        let OpenedWorkspace { mut opened, mut uploader } = self.open(&claimed, &batch, &path, &row).await?;
        opened.set_lease(claimed.lease);
        if let Some(ending) = opened.job.ended() {
            let (status, reason) = (ending.status, ending.reason.clone());
            // The worker that ended it died before it could say so.
            if let Some(uploader) = &mut uploader {
                opened.upload(uploader).await?;
            }
            opened.checkpoint(self.store.as_ref(), CheckpointExtent::All).await?;
            held.store(0, Ordering::SeqCst);
            return Ok(ClaimOutcome::Ended(status, reason));
        }
        let models = batch.models_of(&opened.job, self.supply.as_ref()).await.map_err(Refused::Person)?;
        let commands = commands(&opened, &models, claimed.wants);
        let mut was_waiting = false;
        let counts = self.metrics.for_job();
        let mut trace = self.config.traces.clone().map(|feed| Trace::begin(feed, &opened.job, models.first.name()));
        let mut observer = |job: &overnight_core::job::state::Job, report: RunReport<'_>| {
            counts.on(&report);
            if let Some(trace) = &mut trace {
                trace.on(job, &report);
            }
            if job.is_out() != was_waiting {
                was_waiting = job.is_out();
                self.active_jobs.set_waiting(id, was_waiting);
            }
        };
        let times = self.config.times;
        let handle = LeaseHandle {
            worker: self.worker,
            lease: times.lease,
            margin: times.margin,
            wakes_after: times.wakes_after,
            status,
            claimed: at,
            held: held.clone(),
        };
        let mut drive = JobRunner::new(self.store.as_ref(), models.first, self.stop.clone(), &mut observer)
            .with_fallbacks(models.others)
            // Whoever submitted it is gone: what can't be reached is waited for, also at first.
            .with_known_server(true)
            .with_commands(commands)
            .with_uploader(uploader, Anchor::of(&row))
            .with_lease_handle(handle);
        let outcome = drive.run(&mut opened).await;
        let has_spent_batch_budget = drive.has_spent_batch_budget();
        drop(drive);
        if let Some(trace) = trace {
            trace.end(&opened.job, outcome.is_err());
        }
        if has_spent_batch_budget {
            // The others would each find out for themselves.
            self.store.hold(JobTarget::Batch(batch.id), HoldReason::Budget, None).await?;
        }
        Ok(match outcome? {
            JobOutcome::Ended(status) => ClaimOutcome::Ended(status, opened.job.job_status().2),
            JobOutcome::Held(reason) => ClaimOutcome::Held(reason, detail(&opened)),
            JobOutcome::Interrupted if opened.job.is_out() => {
                // To be taken up by the next worker at once.
                self.store.keep_held(&[id], 0).await?;
                ClaimOutcome::GivenBack("the worker stops".to_owned())
            }
            JobOutcome::Interrupted => {
                // Whoever claims it next needs the lock.
                drop(opened);
                self.give_back(id, held.load(Ordering::SeqCst), Duration::ZERO, "the worker stops").await
            }
        })
    }

    /// Holds a job whose batch has a window that is closed, and what else of the batch is queued, until it opens. What a
    /// person has cancelled needs no window.
    async fn refuse_closed(&self, claimed: &ClaimedJob, batch: &Batch) -> Result<(), Refused> {
        let at = now();
        let Some(window) = batch.window.as_ref().filter(|window| !window.is_open(at)) else { return Ok(()) };
        if claimed.wants == Some(ControlSignal::Cancel) {
            return Ok(());
        }
        let opens = window.opens_after(at);
        self.store.hold(JobTarget::Batch(batch.id), HoldReason::Window, Some(opens)).await?;
        self.store.wake_at(claimed.id, claimed.lease, opens).await?;
        // Not given back, where it would be claimed again at once.
        let why = format!("its time window is closed; it goes on by itself at {opens}");
        Err(Refused::Rested(self.hold_row(claimed.id, claimed.lease, HoldReason::Window, why).await))
    }

    /// Queues the job again; no attempt is used.
    async fn give_back(&self, id: JobId, lease: u64, after: Duration, why: &str) -> ClaimOutcome {
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        match self.store.give_back(id, lease, after_ms, None).await {
            Ok(_) => ClaimOutcome::GivenBack(why.to_owned()),
            Err(error) => ClaimOutcome::Lost(error.to_string()),
        }
    }

    /// An attempt has failed.
    async fn fail(&self, id: JobId, lease: u64, attempts: u32, why: &str) -> ClaimOutcome {
        match self.store.give_back(id, lease, backoff_ms(attempts), Some(why)).await {
            Ok(JobStatus::Failed) => ClaimOutcome::GivenUp(why.to_owned()),
            Ok(_) => ClaimOutcome::Failed(why.to_owned()),
            Err(error) => ClaimOutcome::Lost(error.to_string()),
        }
    }

    /// The database did not do what it was asked. Where the lease is still this worker's, the next heartbeat finds it
    /// without anybody who drives it, and gives it back.
    async fn give_up(&self, id: JobId, lease: u64, why: &str) -> ClaimOutcome {
        if lease > 0 {
            // Best effort: the heartbeat is the way that can't fail for good.
            let _ = self.store.give_back(id, lease, 0, None).await;
        }
        ClaimOutcome::Lost(why.to_owned())
    }

    /// Holds a job that has no open workspace.
    async fn hold_row(&self, id: JobId, lease: u64, reason: HoldReason, why: String) -> ClaimOutcome {
        let held = async {
            let Some(row) = self.store.job(id).await? else { return Ok(()) };
            let state =
                JobState { status: JobStatus::Held, hold_reason: Some(reason), reason: Some(why.clone()), ..row.state };
            let checkpoint = Checkpoint { state, phases: Vec::new(), todos: Vec::new() };
            self.store.checkpoint(id, lease, &checkpoint).await
        };
        match held.await {
            Ok(()) => ClaimOutcome::Held(reason, why),
            Err(error) => self.give_up(id, lease, &error.to_string()).await,
        }
    }
}

/// The commands to the job before it is driven.
fn commands(opened: &OpenJob, models: &JobModels, wants: Option<ControlSignal>) -> Vec<Command> {
    let model = models.first.name().to_owned();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let mut commands = vec![Command::Open { version, model, torn_bytes: opened.torn_bytes() }];
    match wants {
        Some(ControlSignal::Cancel) => commands.push(Command::Cancel),
        Some(ControlSignal::Pause) | None if !opened.job.is_running() => {
            commands.push(Command::Resume { limits: opened.job.limits });
        }
        Some(ControlSignal::Pause) | None => {}
    }
    commands
}

/// Why the job is held.
fn detail(opened: &OpenJob) -> String {
    match &opened.job.status {
        Status::Held { detail, .. } => detail.clone(),
        Status::Running | Status::Ended(_) => String::new(),
    }
}
