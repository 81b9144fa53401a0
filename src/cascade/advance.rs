//! The next step of a cascade, when the jobs of a stage have ended.

use super::{
    acceptance::why_escalated,
    cascade_state::{CascadeStage, CascadeState, DrawnJob, EscalatedJob, StrongJob, stored_state},
    person_reading::person_reading,
    same_result::difference,
};
use crate::{
    batch::{BatchError, BatchSettings, CascadeBatch, stage_ids, workspace_of},
    blocking::run_blocking,
    failpoint,
    store::{BatchRow, JobRow, NewBatch, QueueEntry, QueuedJob, Store, StoreError},
};
use overnight_core::job::{
    id::JobId,
    instructions::{Cascade, DrawReader},
    left_out::LeftOut,
    record::JobStatus,
    time::Timestamp,
};
use overnight_evals::statistics::{Certify, draw_order};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum CascadeStep {
    /// The batch is in no cascade.
    NotAsked,
    /// Other jobs of it have not ended.
    TooEarly,
    /// Documents go to the strong model.
    Submitted { batch: Uuid, escalated: usize, drawn: usize },
    /// People have so many drawn results still to read.
    ForPeople { unread: usize },
    /// The cascade is finished.
    Over { told: String },
}

/// Advances the cascade of `batch`, if all its jobs have ended. Repeating this changes nothing. `workspaces` is the
/// folder of the workspaces that aren't where their rows say.
pub async fn advance(
    store: &dyn Store,
    batch: &BatchRow,
    workspaces: &Path,
    now: Timestamp,
) -> Result<CascadeStep, BatchError> {
    let settings = BatchSettings::of(&batch.batch)?;
    let (root, settings) = match (&settings.instructions.cascade, &settings.cascade) {
        (Some(_), _) => (batch.clone(), settings),
        (None, Some(CascadeBatch { first, .. })) => {
            let root = store.batch(&first.to_string()).await?;
            let settings = BatchSettings::of(&root.batch)?;
            (root, settings)
        }
        (None, None) => return Ok(CascadeStep::NotAsked),
    };
    let Some(cascade) = settings.instructions.cascade.clone() else { return Ok(CascadeStep::NotAsked) };
    let entries = store.batch_entries(root.batch.id).await?;
    CascadeRun { store, root, settings, cascade, entries, workspaces, now }.step().await
}

/// Takes the cascade further whose draw a person reads, after something was said of a job's result. None: the job is in no such draw.
pub async fn read_by_person(
    store: &dyn Store,
    job: &JobRow,
    workspaces: &Path,
    now: Timestamp,
) -> Result<Option<CascadeStep>, BatchError> {
    let Some(batch) = job.queue.as_ref().map(|queue| queue.batch) else { return Ok(None) };
    match stored_state(store, batch).await? {
        Some(state) if state.unread().any(|unread| unread == job.job.id) => {}
        Some(_) | None => return Ok(None),
    }
    let batch = store.batch(&batch.to_string()).await?;
    advance(store, &batch, workspaces, now).await.map(Some)
}

/// A cascade while it is advanced.
struct CascadeRun<'c> {
    store: &'c dyn Store,
    /// The batch with which it was begun, with its jobs.
    root: BatchRow,
    settings: BatchSettings,
    cascade: Cascade,
    entries: Vec<QueueEntry>,
    workspaces: &'c Path,
    now: Timestamp,
}

impl CascadeRun<'_> {
    async fn step(&self) -> Result<CascadeStep, BatchError> {
        let first = self.root.batch.id;
        let mut state = match stored_state(self.store, first).await? {
            Some(state) if state.is_over => return Ok(CascadeStep::NotAsked),
            Some(state) => state,
            None if self.entries.iter().any(|entry| !entry.status.is_end()) => return Ok(CascadeStep::TooEarly),
            None => {
                let state = run_blocking(|| self.decided());
                save(self.store, first, &state).await?;
                state
            }
        };
        if state.is_read_by_people() {
            run_blocking(|| self.read_by_people(&mut state));
            save(self.store, first, &state).await?;
        }
        let mut strong = Vec::new();
        let mut cost = CascadeCost::of(&self.root);
        for stage in &state.stages {
            let row = match self.store.batch(&stage.batch.to_string()).await {
                Ok(row) => row,
                // It was decided, and never submitted.
                Err(StoreError::NoBatch { .. }) => return self.submit(stage, state.stages.len(), &cost).await,
                Err(error) => return Err(error.into()),
            };
            cost.add(&row, stage);
            let jobs = self.store.batch_entries(stage.batch).await?;
            if jobs.iter().any(|entry| !entry.status.is_end()) {
                return Ok(CascadeStep::TooEarly);
            }
            strong.extend(jobs);
        }
        if !state.is_read_by_people() {
            state.drawn = run_blocking(|| self.outcomes(&state, &strong));
        }
        (state.cost_usd, state.strong_usd) = cost.told(state.documents());
        let next = self.next_stage(&mut state);
        if next.escalated.is_empty() && next.drawn.is_empty() {
            let unread = state.unread().count();
            state.is_over = unread == 0;
            save(self.store, first, &state).await?;
            return Ok(match unread {
                0 => CascadeStep::Over { told: state.told() },
                unread => CascadeStep::ForPeople { unread },
            });
        }
        state.stages.push(next.clone());
        save(self.store, first, &state).await?;
        failpoint::hit("cascade.decided");
        self.submit(&next, state.stages.len(), &cost).await
    }

    /// The next stage: in the first one all escalated documents, and as many draws as the bound still needs.
    fn next_stage(&self, state: &mut CascadeState) -> CascadeStage {
        let draws = if state.is_read_by_people() { 0 } else { draws(state) };
        let (id, job_of) = stage_ids(self.root.batch.id, state.stages.len() + 1);
        let pair = |first: JobId| StrongJob { first, job: job_of(first) };
        let escalated = state.escalated.iter().filter(|_| state.stages.is_empty());
        CascadeStage {
            batch: id,
            escalated: escalated.map(|one| pair(one.job)).collect(),
            drawn: state.order.iter().skip(state.drawn.len()).take(draws).copied().map(pair).collect(),
        }
    }

    /// Takes over people's reviews of the drawn results, and draws more if all are read and the bound still needs it.
    fn read_by_people(&self, state: &mut CascadeState) {
        let (instructions, settled) = (&self.settings.instructions, state.settled.unwrap_or(self.now));
        let workspaces: BTreeMap<JobId, PathBuf> =
            self.entries.iter().map(|entry| (entry.job.id, workspace_of(entry, self.workspaces))).collect();
        loop {
            let asked = state.order.iter().take(state.for_people);
            state.drawn = asked
                .filter_map(|job| match state.drawn.iter().find(|read| read.first == *job) {
                    Some(read) => Some(read.clone()),
                    None => person_reading(instructions, *job, workspaces.get(job)?, settled),
                })
                .collect();
            if state.drawn.len() < state.for_people {
                return;
            }
            match draws(state) {
                0 => return,
                more => state.for_people += more,
            }
        }
    }

    /// Which documents go to the strong model, and the order in which the others are drawn: settled before the first draw.
    fn decided(&self) -> CascadeState {
        let Self { cascade, entries, workspaces, .. } = self;
        let batch = self.root.batch.id;
        // The random part of a batch's id is a good enough seed.
        let seed = cascade.certify.and_then(|wanted| wanted.seed);
        #[expect(clippy::cast_possible_truncation, reason = "the random part of the id")]
        let seed = seed.unwrap_or((batch.as_u128() as u64) >> 16);
        let mut state = CascadeState {
            cheap: cascade.cheap.clone(),
            strong: cascade.strong.clone(),
            wanted: cascade.certify,
            seed,
            settled: Some(self.now),
            ..CascadeState::default()
        };
        let mut accepted = Vec::new();
        for entry in entries.iter().filter(|entry| entry.status != JobStatus::Cancelled) {
            match why_escalated(entry.status, &workspace_of(entry, workspaces), cascade.accept) {
                Some(why) => state.escalated.push(EscalatedJob { job: entry.job.id, why }),
                None => accepted.push(entry.job.id),
            }
        }
        let count = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
        state.order =
            draw_order(count, seed).into_iter().filter_map(|place| accepted.get(place as usize)).copied().collect();
        state
    }

    /// The outcomes of the drawn jobs so far.
    fn outcomes(&self, state: &CascadeState, strong: &[QueueEntry]) -> Vec<DrawnJob> {
        let by_id = |entries: &[QueueEntry]| -> BTreeMap<JobId, (JobStatus, PathBuf)> {
            entries.iter().map(|entry| (entry.job.id, (entry.status, workspace_of(entry, self.workspaces)))).collect()
        };
        let (cheap, strong) = (by_id(&self.entries), by_id(strong));
        let drawn = state.stages.iter().flat_map(|stage| &stage.drawn);
        drawn
            .map(|pair| {
                let differs = match (cheap.get(&pair.first), strong.get(&pair.job)) {
                    (Some((_, first)), Some((JobStatus::Completed | JobStatus::Partial, strong))) => {
                        difference(&self.settings.instructions, first, strong)
                    }
                    (_, Some((status, _))) => Some(format!("the strong reading is {status}")),
                    (_, None) => Some("the strong reading is gone".to_owned()),
                };
                DrawnJob { first: pair.first, differs, by: None }
            })
            .collect()
    }

    /// Submits a stage: for each of its documents a job that sees no earlier result.
    async fn submit(
        &self,
        stage: &CascadeStage,
        number: usize,
        spent: &CascadeCost,
    ) -> Result<CascadeStep, BatchError> {
        let Self { root, settings, cascade, .. } = self;
        let first = &root.batch;
        let mut instructions = settings.instructions.clone();
        instructions.cascade = None;
        instructions.model = Some(cascade.strong.clone());
        let of_stage = BatchSettings {
            instructions,
            closing: None,
            left_out: LeftOut::default(),
            only: None,
            eval: None,
            cascade: Some(CascadeBatch { first: first.id, stage: number }),
            ..settings.clone()
        };
        let new = NewBatch {
            id: stage.batch,
            created: self.now,
            name: Some(format!("{}, strong {number}", first.shown_name())),
            model: cascade.strong.clone(),
            settings: serde_json::to_value(&of_stage)
                .map_err(|error| BatchError::Unwritable { batch: stage.batch, why: error.to_string() })?,
            budget_usd: first.budget_usd.map(|budget| (budget - root.spent_usd - spent.strong_usd).max(0.0)),
            ..first.clone()
        };
        let by_id: BTreeMap<JobId, &QueuedJob> = self.entries.iter().map(|entry| (entry.job.id, &entry.job)).collect();
        let jobs: Vec<QueuedJob> = stage
            .escalated
            .iter()
            .chain(&stage.drawn)
            .filter_map(|pair| {
                let job = by_id.get(&pair.first)?;
                Some(QueuedJob { id: pair.job, run_after: None, is_held: false, ..(*job).clone() })
            })
            .collect();
        self.store.submit(&new, &jobs, false).await?;
        let CascadeStage { batch, escalated, drawn } = stage;
        Ok(CascadeStep::Submitted { batch: *batch, escalated: escalated.len(), drawn: drawn.len() })
    }
}

async fn save(store: &dyn Store, batch: Uuid, state: &CascadeState) -> Result<(), BatchError> {
    let text =
        serde_json::to_string(state).map_err(|error| BatchError::Unwritable { batch, why: error.to_string() })?;
    Ok(store.set_cascade(batch, &text).await?)
}

/// The number of results to draw next; 0: none.
fn draws(state: &mut CascadeState) -> usize {
    let Some(wanted) = state.wanted else { return 0 };
    let Ok(certify) = Certify::new(wanted.right, wanted.confidence) else { return 0 };
    let agreed: Vec<bool> = state.drawn.iter().map(|drawn| drawn.differs.is_none()).collect();
    let count = |jobs: usize| u32::try_from(jobs).unwrap_or(u32::MAX);
    // An escalated result is the strong model's reading by definition, and no person has seen it.
    let (documents, escalated) = match wanted.by {
        DrawReader::Model => (state.documents(), count(state.escalated.len())),
        DrawReader::Person => (count(state.order.len()), 0),
    };
    match certify.certificate(documents, escalated, &agreed) {
        Ok(certificate) => {
            let needed = if certificate.holds { 0 } else { certificate.still_needed as usize };
            state.certificate = Some(certificate);
            needed.min(state.order.len() - state.drawn.len())
        }
        Err(_) => 0,
    }
}

/// The cost of the stages.
struct CascadeCost {
    all_usd: Option<f64>,
    strong_usd: f64,
    read: usize,
}

impl CascadeCost {
    fn of(root: &BatchRow) -> Self {
        let all_usd = (root.unpriced_jobs == 0).then_some(root.spent_usd);
        Self { all_usd, strong_usd: 0.0, read: 0 }
    }

    fn add(&mut self, row: &BatchRow, stage: &CascadeStage) {
        self.all_usd = self.all_usd.filter(|_| row.unpriced_jobs == 0).map(|usd| usd + row.spent_usd);
        self.strong_usd += row.spent_usd;
        self.read += stage.escalated.len() + stage.drawn.len();
    }

    /// The total cost, and the estimated cost of the strong model for all documents.
    #[expect(clippy::cast_precision_loss, reason = "no batch has so many jobs that it matters")]
    fn told(&self, documents: u32) -> (Option<f64>, Option<f64>) {
        let each = (self.read > 0).then(|| self.strong_usd / self.read as f64);
        (self.all_usd, each.filter(|_| self.all_usd.is_some()).map(|usd| usd * f64::from(documents)))
    }
}
