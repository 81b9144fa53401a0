//! What follows when all jobs of a batch have ended: its closing job. Any worker may find it; what is done twice changes
//! nothing, and the mark that it is done is set last, so that a crash in between leaves it to be found again.

use super::{pulse::Tell, terms::Told, work::Desk};
use crate::{
    batch::{BatchError, Closed, Sources, close},
    runner::now,
    store::{BatchRow, StoreError},
};

/// Sees to all batches that have ended since. An outage of the database is told by others; it is tried again soon.
pub(super) async fn settle(desk: &Desk, tell: &Tell) {
    let _one_at_a_time = desk.settling.lock().await;
    for batch in desk.store.end_batches().await.unwrap_or_default() {
        // Where the database fails, the batch stays unmarked.
        let _ = end(desk, tell, &batch).await;
    }
}

async fn end(desk: &Desk, tell: &Tell, batch: &BatchRow) -> Result<(), StoreError> {
    let name = batch.batch.shown_name();
    let mut sentences = Vec::new();
    let sources = Sources {
        workspaces: &desk.terms.workspaces,
        depot: desk.terms.depot.as_ref(),
        extractor: &desk.terms.extractor,
    };
    match close(desk.store.as_ref(), batch, sources, now()).await {
        Ok(Closed::NotAsked) => {}
        Ok(Closed::TooEarly) => return Ok(()),
        Ok(Closed::Nothing { notes }) => {
            sentences.push(format!("batch {name} delivered nothing that its closing job could read"));
            sentences.extend(notes);
        }
        Ok(Closed::Submitted { job, documents, notes, .. }) => {
            sentences.push(format!("batch {name} has ended; its closing job {job} reads {documents} deliverables"));
            sentences.extend(notes);
        }
        Err(BatchError::Store(error)) => return Err(error),
        // Until the store is back.
        Err(BatchError::Depot(error)) => {
            tell(Told::Note(format!("the closing job of batch {name} has to wait: {error}")));
            return Ok(());
        }
        Err(error @ (BatchError::Settings { .. } | BatchError::Unwritable { .. } | BatchError::Unread { .. })) => {
            sentences.push(format!("the closing job of batch {name} can't be submitted: {error}"));
        }
    }
    if desk.store.mark_ended(batch.batch.id).await? {
        let totals = &batch.totals;
        tell(Told::Note(format!("batch {name} has ended: {} of {} completed", totals.completed, totals.all())));
        for sentence in sentences {
            tell(Told::Note(sentence));
        }
        // After the mark: told once at most, where the worker dies in between not at all.
        if let Some(hook) = &desk.terms.hook {
            desk.hooks.begin(hook.clone(), batch.clone(), tell.clone());
        }
    }
    Ok(())
}
