//! One opened workspace: its lock, its journal, and the state that follows from the journal. Resuming is no separate
//! path: read the journal, apply each decision, continue.

use super::{
    RunError,
    clock::{Clock, now},
    lease::{LeaseHandle, WorkerTimes},
    other_version,
};
use crate::{
    failpoint,
    store::{JobRow, JobStore, StoreError},
    tool::{DocumentCache, PlannedChange},
    workspace::{
        Workspace, chain,
        journal::{self, Journal, JournalError},
        lock::Lock,
        packed::unpack,
    },
};
use overnight_core::{
    job::{
        contract::RuleMemory,
        digest::ZERO,
        event::{ConversationEvent, Decision, Event, LifeEvent, ToolEvent},
        id::JobId,
        record::{Checkpoint, JobStatus, JobSummary, NewJob},
        rows::CheckpointExtent,
        state::Job,
        time::Timestamp,
    },
    machine::effect::{Command, EffectId, Outcome},
};
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};
use uuid::Uuid;

/// A job's state according to its journal, read without the lock.
#[derive(Debug)]
pub struct LoadedJob {
    pub job: Job,
    pub seq: u64,
    pub head: String,
    /// The largest lease number under which a line was written; 0 where no line was.
    pub lease: u64,
}

/// The journal's end as the database last saw it: a chain that doesn't contain this pair was rewritten or cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub seq: u64,
    pub head: String,
}

impl Anchor {
    /// The anchor in the row; a job's first row has no line yet.
    pub fn of(row: &JobRow) -> Option<Self> {
        let state = &row.state;
        (state.journal_seq > 0).then(|| Self { seq: state.journal_seq, head: state.journal_head.clone() })
    }

    /// Before the first line.
    pub(super) fn start() -> Self {
        Self { seq: 0, head: ZERO.to_owned() }
    }
}

/// Builds the state from decisions as they are read.
#[derive(Default)]
struct ReplayedJournal {
    job: Option<Job>,
    spec_sha256: String,
    anchor: Option<Anchor>,
    lease: u64,
}

impl ReplayedJournal {
    fn on(&mut self, line: chain::JournalLine<Event>) -> Result<(), String> {
        if let Some(anchor) = &self.anchor
            && line.seq == anchor.seq + 1
            && line.prev != anchor.head
        {
            return Err(format!("it is not the line after line {} as the database saw it", anchor.seq));
        }
        self.lease = self.lease.max(line.lease);
        let decision = Decision { at: line.at, events: line.events };
        if let Some(job) = &mut self.job {
            job.apply_all(&decision);
            return Ok(());
        }
        self.job = Some(Job::begin(&decision).ok_or("the first line does not begin a job")?);
        if let Some(Event::Life(LifeEvent::JobCreated { spec_sha256, .. })) = decision.events.first() {
            self.spec_sha256.clone_from(spec_sha256);
        }
        Ok(())
    }

    /// The anchored line must exist, and be unchanged.
    fn check_end(&self, seq: u64, head: &str) -> Result<(), RunError> {
        let Some(anchor) = self.anchor.as_ref().filter(|anchor| anchor.seq >= seq) else {
            return Ok(());
        };
        let what = if anchor.seq > seq {
            format!(
                "the database saw line {} of the chain, and the journal ends at {seq}: its end was cut off",
                anchor.seq
            )
        } else if anchor.head == head {
            return Ok(());
        } else {
            "it is not the line that the database saw".to_owned()
        };
        Err(JournalError::Broken { file: chain::LIVE.to_owned(), line: seq, what }.into())
    }

    fn job(self, path: &Path) -> Result<Job, RunError> {
        self.job.ok_or_else(|| RunError::Request(format!("{} holds no job: its journal is empty", path.display())))
    }
}

/// Reads a job without working on it; safe beside a running one.
pub fn load(path: &Path) -> Result<LoadedJob, RunError> {
    load_from(path, None)
}

/// [`load`], where the chain must contain `anchor`.
pub fn load_from(path: &Path, anchor: Option<Anchor>) -> Result<LoadedJob, RunError> {
    let workspace = Workspace::open(path)?;
    let mut replayed = ReplayedJournal { anchor, ..ReplayedJournal::default() };
    let read = journal::read(&workspace, |line| replayed.on(line))
        .map_err(|error| other_version::explain(&workspace, error))?;
    replayed.check_end(read.position.seq, &read.position.head)?;
    let lease = replayed.lease;
    Ok(LoadedJob { job: replayed.job(path)?, seq: read.position.seq, head: read.position.head, lease })
}

/// A job that this process works on.
#[derive(Debug)]
pub struct OpenJob {
    pub job: Job,
    pub(super) workspace: Arc<Workspace>,
    pub(super) journal: Journal,
    pub(super) document_cache: DocumentCache,
    /// The last prepared change, until it is made, with its conversation.
    pub(super) planned: Option<(u32, PlannedChange)>,
    /// The results of the rules for values, for records that haven't changed since.
    pub(super) rules: RuleMemory,
    /// `todos.md` and `progress.md` as this process wrote them last.
    pub(super) derived: BTreeMap<&'static str, String>,
    pub(super) derived_at: Option<Instant>,
    /// The hash of `job.yaml` according to the journal's first line.
    pub(super) spec_sha256: String,
    /// Whether the database had the journal's last line, and so all rows, when the job was opened.
    pub(super) is_recorded: bool,
    /// The lease under which this process works.
    pub(super) lease: LeaseHandle,
    clock: Clock,
    lock: Lock,
}

impl OpenJob {
    /// Takes the lock, reads the journal, and repairs what a crash left. The chain must contain `anchor`.
    /// A packed workspace is unpacked first.
    pub fn open(path: &Path, anchor: Option<Anchor>) -> Result<Self, RunError> {
        let mut workspace = Workspace::open(path)?;
        if workspace.is_packed() {
            unpack(path)?;
            workspace = Workspace::open(path)?;
        }
        let lock = Lock::acquire(&workspace, now())?;
        let mut replayed = ReplayedJournal { anchor, ..ReplayedJournal::default() };
        let journal = Journal::open(&workspace, |line| replayed.on(line))
            .map_err(|error| other_version::explain(&workspace, error))?;
        replayed.check_end(journal.seq(), journal.head())?;
        let end = Anchor { seq: journal.seq(), head: journal.head().to_owned() };
        let is_recorded = replayed.anchor.as_ref() == Some(&end);
        let spec_sha256 = std::mem::take(&mut replayed.spec_sha256);
        let job = replayed.job(path)?;
        let lease = LeaseHandle::of_one_job(job.spec.id);
        Ok(Self {
            job,
            workspace: Arc::new(workspace),
            journal,
            document_cache: DocumentCache::default(),
            planned: None,
            rules: RuleMemory::default(),
            derived: BTreeMap::new(),
            derived_at: None,
            spec_sha256,
            is_recorded,
            lease,
            clock: Clock::default(),
            lock,
        })
    }

    /// Gives the job its place in the database, and takes its lease: this process works on it.
    pub async fn claim(&mut self, store: &dyn JobStore) -> Result<(), RunError> {
        failpoint::hit("row.before");
        store.create(&self.row()).await?;
        failpoint::hit("claim.before");
        match self.lease.claim(store).await {
            // The process that sent the result back died before the row was updated.
            Err(StoreError::Ended { .. }) if self.job.ended().is_none() => {
                self.lease.claim_for_review(store).await?;
                store.reopen(self.lease.id, self.lease.number, self.row().documents).await?;
            }
            claimed => claimed?,
        }
        failpoint::hit("claim.done");
        Ok(())
    }

    /// Works under a lease that a worker claimed before the workspace was opened, and keeps.
    pub fn set_lease(&mut self, lease: LeaseHandle) {
        self.lease = lease;
    }

    /// Whether the database knew the journal's end when the job was opened.
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// The table of models that the job was made with.
    pub fn models(&self) -> Option<String> {
        self.workspace.read_text(super::create::MODELS_ASSET).ok()
    }

    /// Bytes of an incomplete line left by a crash, which opening the journal removed.
    pub fn torn_bytes(&self) -> Option<u64> {
        self.journal.torn()
    }

    /// The command with which this program takes the job up, to work on it with `model`.
    pub fn opening(&self, model: &str) -> Command {
        opening(model, self.torn_bytes())
    }

    /// The journal's end.
    pub(super) fn anchor(&self) -> Anchor {
        Anchor { seq: self.journal.seq(), head: self.journal.head().to_owned() }
    }

    /// The job's first row.
    pub fn row(&self) -> NewJob {
        first_row(&self.job, self.workspace.path())
    }

    /// Decides on what became of an effect, writes the decision, and applies it. Nothing is decided: nothing is written. The line is on the
    /// disk when this returns, unless nothing follows from it by itself: then it goes there before the next effect, in one
    /// go with the lines after it.
    pub(super) fn decide(&mut self, id: EffectId, outcome: Outcome) -> Result<Option<Decision>, RunError> {
        let at = self.clock.tick(self.job.last_at);
        self.commit(at, self.job.decide(at, id, outcome))
    }

    /// [`Self::decide`] on a command.
    pub(super) fn decide_command(&mut self, command: Command) -> Result<Option<Decision>, RunError> {
        let at = self.clock.tick(self.job.last_at);
        self.commit(at, self.job.command(at, command))
    }

    fn commit(&mut self, at: Timestamp, events: Vec<Event>) -> Result<Option<Decision>, RunError> {
        if events.is_empty() {
            return Ok(None);
        }
        // A resting job may stay unopened for a long time.
        if events.iter().any(|event| matches!(event, Event::Life(LifeEvent::JobEnded { .. }))) {
            self.write_derived()?;
        } else if events.iter().any(|event| matches!(event, Event::Life(LifeEvent::Held { .. }))) {
            // The cause of a failed write may be the reason for the hold: that must be recorded all the same.
            let _ = self.write_derived();
        }
        self.lock.check(&self.workspace)?;
        self.journal.append(at, self.lease.number, &events)?;
        if !events.iter().all(is_exchange_only) {
            self.journal.sync()?;
        }
        let decision = Decision { at, events };
        self.job.apply_all(&decision);
        Ok(Some(decision))
    }

    /// Decides on a command from a person or from the runner. `false`: it means nothing in the job's state.
    pub fn command(&mut self, command: Command) -> Result<bool, RunError> {
        failpoint::hit("command.before");
        let is_decided = self.decide_command(command)?.is_some();
        failpoint::hit("command.done");
        if self.job.ended().is_some() {
            // The job has no runner any more, and a crash may have prevented these files.
            self.write_derived()?;
        }
        Ok(is_decided)
    }

    /// Writes the rows of the present state. A status other than running frees the lease.
    pub async fn checkpoint(&self, store: &dyn JobStore, extent: CheckpointExtent) -> Result<(), StoreError> {
        self.checkpoint_since(store, extent, None, None).await.map(drop)
    }

    /// [`Self::checkpoint`] without the rows that `before`, this process's last checkpoint, has written. Returns the
    /// one to pass the next time. `waits_for`: what the job waits for, if it rests until answers have come.
    pub(super) async fn checkpoint_since(
        &self,
        store: &dyn JobStore,
        extent: CheckpointExtent,
        before: Option<&Checkpoint>,
        waits_for: Option<String>,
    ) -> Result<Checkpoint, StoreError> {
        let mut checkpoint = self.job.checkpoint(extent, self.journal.seq(), self.journal.head());
        if waits_for.is_some() {
            (checkpoint.state.status, checkpoint.state.reason) = (JobStatus::Waiting, waits_for);
        }
        failpoint::hit("checkpoint.before");
        store.checkpoint(self.lease.id, self.lease.number, &checkpoint.since(before)).await?;
        failpoint::hit("checkpoint.done");
        Ok(checkpoint)
    }
}

/// `torn_bytes` of an unfinished line were cut off the journal.
pub(super) fn opening(model: &str, torn_bytes: Option<u64>) -> Command {
    Command::Open { version: env!("CARGO_PKG_VERSION").to_owned(), model: model.to_owned(), torn_bytes }
}

/// Whether an event only records output of the model or a tool: its consequences are decided next.
fn is_exchange_only(event: &Event) -> bool {
    matches!(
        event,
        Event::Conversation(ConversationEvent::ModelReplied { .. })
            | Event::Tool(ToolEvent::ToolStarted { .. } | ToolEvent::ToolReturned { .. })
    )
}

/// The first row of a job that lies at `path`.
pub(super) fn first_row(job: &Job, path: &Path) -> NewJob {
    let spec = &job.spec;
    NewJob {
        id: spec.id,
        created: spec.created,
        instructions: spec.instructions.name.clone(),
        instructions_sha256: spec.instructions_sha256.clone(),
        model: spec.model.clone(),
        documents: spec.documents.len() as u64,
        workspace: path.display().to_string(),
    }
}

/// Marks the row of a job with a broken journal as failed: a job never continues silently.
pub async fn fail_row(store: &dyn JobStore, id: JobId, reason: &str) -> Result<(), StoreError> {
    let Some(row) = store.job(id).await? else {
        return Ok(());
    };
    if row.state.status.is_end() {
        return Ok(());
    }
    let lease = store.claim(id, Uuid::now_v7(), WorkerTimes::of_one_job().lease_ms()).await?;
    let state = JobSummary {
        status: JobStatus::Failed,
        hold_reason: None,
        reason: Some(reason.to_owned()),
        completed_at: Some(now()),
        ..row.state
    };
    store.checkpoint(id, lease, &Checkpoint { state, phases: Vec::new(), todos: Vec::new() }).await
}
