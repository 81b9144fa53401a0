//! Jobs that wait for answers to submitted calls: their models are polled for all jobs together, and a job whose answer
//! has come is queued. The worker that claims it fetches the answer.

use super::context::WorkerContext;
use crate::{model::Model, runner::RunError, store::AwaitingJob};
use overnight_core::job::id::JobId;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};
use uuid::Uuid;

/// The last times at which the models were polled, by batch and name, and the faults that were reported.
#[derive(Debug, Default)]
pub(super) struct AnswerWatch {
    asked: BTreeMap<(Uuid, String), Instant>,
    told: BTreeMap<(Uuid, String), String>,
}

/// Looks for answers for as long as the worker works.
pub(super) async fn look_on(context: Arc<WorkerContext>) {
    let mut watch = AnswerWatch::default();
    let mut ticks = tokio::time::interval(context.config.times.sweep);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        watch.look(&context).await;
    }
}

impl AnswerWatch {
    async fn look(&mut self, context: &WorkerContext) {
        let has_store = context.config.workspace_store.is_some();
        // The heartbeat reports an unreachable database.
        let Ok(waiting) = context.store.awaited(&context.config.host, has_store).await else { return };
        let mut handles: BTreeMap<(Uuid, String), Vec<(String, JobId)>> = BTreeMap::new();
        for AwaitingJob { id, batch, calls } in waiting {
            for call in calls {
                handles.entry((batch, call.model)).or_default().push((call.handle, id));
            }
        }
        self.asked.retain(|key, _| handles.contains_key(key));
        let mut come = BTreeSet::new();
        for (key, calls) in handles {
            match self.ended(context, &key, &calls).await {
                Ok(ended) => {
                    come.extend(ended);
                    self.told.remove(&key);
                }
                Err(why) if self.told.get(&key) != Some(&why) => {
                    context.note(format!("{why}; its answers are looked for again"));
                    self.told.insert(key, why);
                }
                Err(_) => {}
            }
        }
        if !come.is_empty() {
            let come: Vec<JobId> = come.into_iter().collect();
            // If this fails, it is found out again the next time.
            let _ = context.store.bring(&come).await;
        }
    }

    /// The jobs of which a call has ended; none where it is too early to ask.
    async fn ended(
        &mut self,
        context: &WorkerContext,
        key: &(Uuid, String),
        calls: &[(String, JobId)],
    ) -> Result<BTreeSet<JobId>, String> {
        let Some(model) = model(context, key).await.map_err(|error| error.to_string())? else {
            return Ok(BTreeSet::new());
        };
        let Some(later) = model.later() else { return Ok(calls.iter().map(|(_, id)| *id).collect()) };
        if self.asked.get(key).is_some_and(|at| at.elapsed() < later.every()) {
            return Ok(BTreeSet::new());
        }
        self.asked.insert(key.clone(), Instant::now());
        let handles: Vec<String> = calls.iter().map(|(handle, _)| handle.clone()).collect();
        let ended = later.ended(&handles).await.map_err(|failure| failure.to_string())?;
        Ok(calls.iter().filter(|(handle, _)| ended.contains(handle)).map(|(_, id)| *id).collect())
    }
}

/// The model of a batch by its name; none: a person has chosen it for one job, which looks for itself now and then.
async fn model(context: &WorkerContext, (batch, name): &(Uuid, String)) -> Result<Option<Arc<dyn Model>>, RunError> {
    let batch = context.batches.get(context.store.as_ref(), context.supply.as_ref(), *batch).await?;
    Ok(batch.models.all().find(|model| model.name() == name).cloned())
}
