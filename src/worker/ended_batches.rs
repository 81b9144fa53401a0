//! The steps after all jobs of a batch have ended: its closing job, the next stage of its cascade. Any worker may do
//! them; repeating changes nothing, and the mark is set last, so that a crash in between loses no batch.

use super::context::WorkerContext;
use crate::{
    batch::{BatchError, ClosingOutcome, DeliverableSources, close},
    cascade::{CascadeStep, advance},
    runner::now,
    store::{BatchRow, StoreError},
};

/// Handles all batches that have ended since. An outage of the database is reported elsewhere; this is tried again soon.
pub(super) async fn settle(context: &WorkerContext) {
    if !context.config.batches.is_empty() {
        return;
    }
    let _one_at_a_time = context.settling.lock().await;
    for batch in context.store.batches_to_end().await.unwrap_or_default() {
        // If the database fails, the batch stays unmarked.
        let _ = end(context, &batch).await;
    }
}

async fn end(context: &WorkerContext, batch: &BatchRow) -> Result<(), StoreError> {
    let name = batch.batch.shown_name();
    let mut sentences = Vec::new();
    let sources = DeliverableSources {
        workspaces: &context.config.workspaces,
        workspace_store: context.config.workspace_store.as_ref(),
        extractor: &context.config.extractor,
    };
    match close(context.store.as_ref(), batch, sources, now()).await {
        Ok(ClosingOutcome::NotAsked) => {}
        Ok(ClosingOutcome::TooEarly) => return Ok(()),
        Ok(ClosingOutcome::Nothing { notes }) => {
            sentences.push(format!("batch {name} delivered nothing that its closing job could read"));
            sentences.extend(notes);
        }
        Ok(ClosingOutcome::Submitted { job, documents, notes, .. }) => {
            sentences.push(format!("batch {name} has ended; its closing job {job} reads {documents} deliverables"));
            sentences.extend(notes);
        }
        Err(BatchError::Store(error)) => return Err(error),
        // The batch waits until the store is back.
        Err(BatchError::WorkspaceStore(error)) => {
            context.note(format!("the closing job of batch {name} has to wait: {error}"));
            return Ok(());
        }
        Err(error @ (BatchError::Settings { .. } | BatchError::Unwritable { .. } | BatchError::Unread { .. })) => {
            sentences.push(format!("the closing job of batch {name} can't be submitted: {error}"));
        }
    }
    match advance(context.store.as_ref(), batch, &context.config.workspaces, now()).await {
        Ok(CascadeStep::NotAsked | CascadeStep::TooEarly) => {}
        Ok(CascadeStep::Submitted { escalated, drawn, .. }) => sentences.push(format!(
            "the cascade of batch {name} goes on: the strong model reads {escalated} documents that left a doubt, and {drawn} that were drawn"
        )),
        Ok(CascadeStep::ForPeople { unread }) => {
            sentences.push(format!("the cascade of batch {name} waits for people: {unread} drawn results are to be read"));
        }
        Ok(CascadeStep::Over { told }) => sentences.push(format!("cascade: {told}")),
        Err(BatchError::Store(error)) => return Err(error),
        Err(error) => sentences.push(format!("the cascade of batch {name} can't go on: {error}")),
    }
    if context.store.mark_ended(batch.batch.id).await? {
        let totals = &batch.totals;
        context.note(format!("batch {name} has ended: {} of {} completed", totals.completed, totals.all()));
        for sentence in sentences {
            context.note(sentence);
        }
    }
    Ok(())
}
