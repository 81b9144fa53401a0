//! A worker's data about the batches of its jobs: read once, and everything opened from it is shared.

use crate::{
    batch::{BatchSettings, schedule::Submit, window::Window},
    extraction::UseMode,
    model::Model,
    runner::RunError,
    store::BatchStore,
};
use async_trait::async_trait;
use overnight_core::job::{instructions::Instructions, state::Job};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Mutex;
use uuid::Uuid;

/// The models that work on a job: the first one, and those that take over from it, one after the other.
#[derive(Clone, Debug)]
pub struct JobModels {
    pub first: Arc<dyn Model>,
    pub others: Vec<Arc<dyn Model>>,
    /// Those that the instructions name for sub-agents, by name.
    pub named: BTreeMap<String, Arc<dyn Model>>,
}

/// Opens the models of a batch: keys and headers are no part of the batch itself.
#[async_trait]
pub trait Supply: Send + Sync + std::fmt::Debug {
    /// Opens the model called `name`, and its fallbacks. The error is one sentence with the remedy.
    async fn models(&self, name: &str, settings: &BatchSettings) -> Result<JobModels, String>;

    /// The submitter of schedules' runs here; none: this worker does not submit them.
    fn submit(&self) -> Option<&dyn Submit> {
        None
    }
}

impl JobModels {
    /// The model that reads scanned pages, as configured: the one that the instructions name for it, or else the job's
    /// own; none if that takes no images. An error, a sentence, if a model is required.
    pub fn eyes(&self, instructions: &Instructions, vision: UseMode) -> Result<Option<&dyn Model>, String> {
        let named = instructions.models.vision.as_ref().and_then(|name| self.named.get(name));
        let model: &dyn Model = &**named.unwrap_or(&self.first);
        let sees = model.image_tokens(1, 1).is_some();
        match vision {
            UseMode::Always if !sees => Err(format!(
                "`documents.vision` is `always`, and {} takes no images: name a model that does with `models: {{ vision: … }}`, \
                 or set `auto` or `never`",
                model.name()
            )),
            UseMode::Never => Ok(None),
            UseMode::Auto | UseMode::Always => Ok(sees.then_some(model)),
        }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.first).chain(&self.others).chain(self.named.values())
    }
}

/// A batch, as a worker needs it.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) id: Uuid,
    pub(super) instructions_text: String,
    pub(super) settings: BatchSettings,
    pub(super) window: Option<Window>,
    pub(super) models: JobModels,
}

/// The batches that were needed so far.
#[derive(Debug, Default)]
pub(super) struct Batches {
    known: Mutex<BTreeMap<Uuid, Arc<Batch>>>,
}

/// The most batches that are kept: others are read again when needed.
const MOST_KNOWN: usize = 64;

impl Batch {
    /// The models that work on `job`: the batch's, unless a person chose others for it.
    pub(super) async fn models_of(&self, job: &Job, supply: &dyn Supply) -> Result<JobModels, RunError> {
        let choice = &job.choice;
        if *choice == job.spec.choice() {
            return Ok(self.models.clone());
        }
        let (base_url, api_key_env) = (choice.base_url.clone(), choice.api_key_env.clone());
        let settings = BatchSettings { base_url, api_key_env, ..self.settings.clone() };
        supply.models(&choice.model, &settings).await.map_err(RunError::Configuration)
    }
}

impl Batches {
    pub(super) async fn get(
        &self,
        store: &dyn BatchStore,
        supply: &dyn Supply,
        id: Uuid,
    ) -> Result<Arc<Batch>, RunError> {
        // Held over the wait: one job of a batch reads it, the others wait for that.
        let mut known = self.known.lock().await;
        if let Some(batch) = known.get(&id) {
            return Ok(batch.clone());
        }
        let row = store.batch(&id.to_string()).await?.batch;
        let settings: BatchSettings = serde_json::from_value(row.settings).map_err(|error| {
            RunError::Configuration(format!(
                "the settings of batch {id} can't be read ({error}): was it submitted by another version of overnight?"
            ))
        })?;
        let window = row.time_window.as_deref().map(Window::parse).transpose();
        let window = window
            .map_err(|why| RunError::Configuration(format!("the time window of batch {id} can't be used: {why}")))?;
        let models = supply.models(&row.model, &settings).await.map_err(RunError::Configuration)?;
        let batch = Arc::new(Batch { id, instructions_text: row.instructions_text, settings, window, models });
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(id, batch.clone());
        Ok(batch)
    }

    /// The servers of all models that are known, and whether each is down.
    pub(super) async fn endpoints(&self) -> BTreeMap<String, bool> {
        let known = self.known.lock().await;
        let models = known.values().flat_map(|batch| batch.models.all());
        let endpoints = models.filter_map(|model| model.endpoint());
        endpoints.map(|endpoint| (endpoint.name().to_owned(), endpoint.is_down())).collect()
    }
}
