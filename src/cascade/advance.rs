//! The next step of a cascade, when the jobs of a stage have ended.

use super::{
    acceptance::why_escalated,
    cascade_state::{CascadeStage, CascadeState, DrawnJob, EscalatedJob, StrongJob, stored_state},
    same_result::difference,
};
use crate::{
    batch::{BatchError, BatchSettings, CascadeBatch, stage_ids},
    blocking::run_blocking,
    failpoint,
    store::{BatchRow, NewBatch, QueueEntry, QueuedJob, Store, StoreError},
    workspace::packed::is_there,
};
use overnight_core::job::{
    id::JobId,
    instructions::{Cascade, CertifyWanted},
    record::JobStatus,
    time::Timestamp,
};
use overnight_evals::statistics::{Certify, draw_order};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// What a step was.
#[derive(Clone, Debug, PartialEq)]
pub enum CascadeStep {
    /// The batch is in no cascade.
    NotAsked,
    /// Other jobs of it have not ended.
    TooEarly,
    /// Documents go to the strong model.
    Submitted { batch: Uuid, escalated: usize, drawn: usize },
    /// All is said that was to be said.
    Over { told: String },
}

/// Takes the cascade further to which `batch` belongs, if all its jobs have ended. Doing so again changes nothing. `workspaces`: where
/// workspaces are that aren't where their rows say.
pub async fn advance(
    store: &dyn Store,
    batch: &BatchRow,
    workspaces: &Path,
    now: Timestamp,
) -> Result<CascadeStep, BatchError> {
    let settings = read_settings(batch)?;
    let (root, settings) = match (&settings.instructions.cascade, &settings.cascade) {
        (Some(_), _) => (batch.clone(), settings),
        (None, Some(CascadeBatch { first, .. })) => {
            let root = store.batch(&first.to_string()).await?;
            let settings = read_settings(&root)?;
            (root, settings)
        }
        (None, None) => return Ok(CascadeStep::NotAsked),
    };
    let Some(cascade) = settings.instructions.cascade.clone() else { return Ok(CascadeStep::NotAsked) };
    let first = &root.batch;
    let entries = store.batch_entries(first.id).await?;
    let mut state = match stored_state(store, first.id).await? {
        Some(state) if state.is_over => return Ok(CascadeStep::NotAsked),
        Some(state) => state,
        None if entries.iter().any(|entry| !entry.status.is_end()) => return Ok(CascadeStep::TooEarly),
        None => {
            let state = run_blocking(|| decided(&cascade, first.id, &entries, workspaces));
            save(store, first.id, &state).await?;
            state
        }
    };
    let mut strong = Vec::new();
    let mut spent = CascadeCost::of(&root);
    for stage in &state.stages {
        let of_stage = match store.batch(&stage.batch.to_string()).await {
            Ok(row) => row,
            // It was decided, and its submission was lost.
            Err(StoreError::NoBatch { .. }) => {
                submit(store, &root, &settings, &cascade, &entries, stage, state.stages.len(), now).await?;
                return Ok(step(stage));
            }
            Err(error) => return Err(error.into()),
        };
        spent.add(&of_stage, stage);
        let of_stage = store.batch_entries(stage.batch).await?;
        if of_stage.iter().any(|entry| !entry.status.is_end()) {
            return Ok(CascadeStep::TooEarly);
        }
        strong.extend(of_stage);
    }
    state.drawn = run_blocking(|| outcomes(&settings, &state, &entries, &strong, workspaces));
    (state.cost_usd, state.strong_usd) = spent.told(state.documents());
    let draws = draws(&mut state, cascade.certify.as_ref());
    let is_first = state.stages.is_empty();
    let escalated = if is_first { state.escalated.iter().map(|one| one.job).collect() } else { Vec::new() };
    if draws == 0 && escalated.is_empty() {
        state.is_over = true;
        save(store, first.id, &state).await?;
        return Ok(CascadeStep::Over { told: state.told() });
    }
    let number = state.stages.len() + 1;
    let (id, job_of) = stage_ids(first.id, number);
    let pair = |first: JobId| StrongJob { first, job: job_of(first) };
    let begun = state.drawn.len();
    let stage = CascadeStage {
        batch: id,
        escalated: escalated.into_iter().map(pair).collect(),
        drawn: state.order.iter().skip(begun).take(draws).copied().map(pair).collect(),
    };
    state.stages.push(stage.clone());
    save(store, first.id, &state).await?;
    failpoint::hit("cascade.decided");
    submit(store, &root, &settings, &cascade, &entries, &stage, number, now).await?;
    Ok(step(&stage))
}

fn step(stage: &CascadeStage) -> CascadeStep {
    let CascadeStage { batch, escalated, drawn } = stage;
    CascadeStep::Submitted { batch: *batch, escalated: escalated.len(), drawn: drawn.len() }
}

fn read_settings(batch: &BatchRow) -> Result<BatchSettings, BatchError> {
    serde_json::from_value(batch.batch.settings.clone())
        .map_err(|error| BatchError::Settings { batch: batch.batch.id, why: error.to_string() })
}

async fn save(store: &dyn Store, batch: Uuid, state: &CascadeState) -> Result<(), BatchError> {
    let text =
        serde_json::to_string(state).map_err(|error| BatchError::Unwritable { batch, why: error.to_string() })?;
    Ok(store.set_cascade(batch, &text).await?)
}

/// Which documents go to the strong model, and the order in which the others are drawn: settled before the first draw.
fn decided(cascade: &Cascade, batch: Uuid, entries: &[QueueEntry], workspaces: &Path) -> CascadeState {
    // A batch's own id is as good as chance.
    let seed = cascade.certify.and_then(|wanted| wanted.seed);
    #[expect(clippy::cast_possible_truncation, reason = "the random part of the id")]
    let seed = seed.unwrap_or((batch.as_u128() as u64) >> 16);
    let mut state = CascadeState {
        cheap: cascade.cheap.clone(),
        strong: cascade.strong.clone(),
        wanted: cascade.certify,
        seed,
        ..CascadeState::default()
    };
    let mut accepted = Vec::new();
    for entry in entries.iter().filter(|entry| entry.status != JobStatus::Cancelled) {
        match why_escalated(entry.status, &folder(entry, workspaces), cascade.accept) {
            Some(why) => state.escalated.push(EscalatedJob { job: entry.job.id, why }),
            None => accepted.push(entry.job.id),
        }
    }
    let count = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
    state.order =
        draw_order(count, seed).into_iter().filter_map(|place| accepted.get(place as usize)).copied().collect();
    state
}

/// Where a job's workspace is.
fn folder(entry: &QueueEntry, workspaces: &Path) -> PathBuf {
    let said = Path::new(&entry.workspace);
    if !entry.workspace.is_empty() && is_there(said) {
        return said.to_owned();
    }
    workspaces.join(entry.same_as.unwrap_or(entry.job.id).to_string())
}

/// What came of the drawn jobs so far.
fn outcomes(
    settings: &BatchSettings,
    state: &CascadeState,
    entries: &[QueueEntry],
    strong: &[QueueEntry],
    workspaces: &Path,
) -> Vec<DrawnJob> {
    let by_id = |entries: &'_ [QueueEntry]| -> BTreeMap<JobId, (JobStatus, PathBuf)> {
        entries.iter().map(|entry| (entry.job.id, (entry.status, folder(entry, workspaces)))).collect()
    };
    let (cheap, strong) = (by_id(entries), by_id(strong));
    let drawn = state.stages.iter().flat_map(|stage| &stage.drawn);
    drawn
        .map(|pair| {
            let differs = match (cheap.get(&pair.first), strong.get(&pair.job)) {
                (Some((_, first)), Some((JobStatus::Completed | JobStatus::Partial, strong))) => {
                    difference(&settings.instructions, first, strong)
                }
                (_, Some((status, _))) => Some(format!("the strong reading is {status}")),
                (_, None) => Some("the strong reading is gone".to_owned()),
            };
            DrawnJob { first: pair.first, differs }
        })
        .collect()
}

/// How many are drawn next; 0: none.
fn draws(state: &mut CascadeState, wanted: Option<&CertifyWanted>) -> usize {
    let Some(certify) = wanted.and_then(|wanted| Certify::new(wanted.right, wanted.confidence).ok()) else { return 0 };
    let agreed: Vec<bool> = state.drawn.iter().map(|drawn| drawn.differs.is_none()).collect();
    let escalated = u32::try_from(state.escalated.len()).unwrap_or(u32::MAX);
    match certify.certificate(state.documents(), escalated, &agreed) {
        Ok(certificate) => {
            let needed = if certificate.holds { 0 } else { certificate.still_needed as usize };
            state.certificate = Some(certificate);
            needed.min(state.order.len() - state.drawn.len())
        }
        Err(_) => 0,
    }
}

/// Submits a stage: for each of its documents a job that sees nothing of what was read before.
#[expect(clippy::too_many_arguments, reason = "all that a batch is made of")]
async fn submit(
    store: &dyn Store,
    root: &BatchRow,
    settings: &BatchSettings,
    cascade: &Cascade,
    entries: &[QueueEntry],
    stage: &CascadeStage,
    number: usize,
    now: Timestamp,
) -> Result<(), BatchError> {
    let first = &root.batch;
    let mut instructions = settings.instructions.clone();
    instructions.cascade = None;
    instructions.model = Some(cascade.strong.clone());
    let of_stage = BatchSettings {
        instructions,
        closing: None,
        left_out: overnight_core::job::left_out::LeftOut::default(),
        only: None,
        eval: None,
        cascade: Some(CascadeBatch { first: first.id, stage: number }),
        ..settings.clone()
    };
    let new = NewBatch {
        id: stage.batch,
        created: now,
        name: Some(format!("{}, strong {number}", first.shown_name())),
        model: cascade.strong.clone(),
        settings: serde_json::to_value(&of_stage)
            .map_err(|error| BatchError::Unwritable { batch: stage.batch, why: error.to_string() })?,
        budget_usd: first.budget_usd.map(|budget| (budget - root.spent_usd).max(0.0)),
        ..first.clone()
    };
    let by_id: BTreeMap<JobId, &QueuedJob> = entries.iter().map(|entry| (entry.job.id, &entry.job)).collect();
    let jobs: Vec<QueuedJob> = stage
        .escalated
        .iter()
        .chain(&stage.drawn)
        .filter_map(|pair| {
            let job = by_id.get(&pair.first)?;
            Some(QueuedJob { id: pair.job, run_after: None, is_held: false, ..(*job).clone() })
        })
        .collect();
    store.submit(&new, &jobs, false).await?;
    Ok(())
}

/// What the stages have cost.
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

    /// What all has cost, and what the strong model would have taken for everything.
    #[expect(clippy::cast_precision_loss, reason = "no batch has so many jobs that it matters")]
    fn told(&self, documents: u32) -> (Option<f64>, Option<f64>) {
        let each = (self.read > 0).then(|| self.strong_usd / self.read as f64);
        (self.all_usd, each.filter(|_| self.all_usd.is_some()).map(|usd| usd * f64::from(documents)))
    }
}
