//! Writes a submission to the database. If the database doesn't answer, the same submission is tried again: that is idempotent, while submitting anew would make a second batch.

use crate::{
    cli::CliError,
    store::{NewBatch, QueueStore, QueuedJob},
};
use std::time::Duration;

/// The waits before the next attempts.
const RETRY_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// Puts the batch into the queue.
pub(super) async fn enqueue(
    store: &dyn QueueStore,
    batch: &NewBatch,
    jobs: &[QueuedJob],
    link_done: bool,
) -> Result<(), CliError> {
    let mut pauses = RETRY_AFTER.into_iter();
    loop {
        match (store.submit(batch, jobs, link_done).await, pauses.next()) {
            (Ok(_), _) => return Ok(()),
            (Err(error), Some(pause)) if error.retryable() => tokio::time::sleep(pause).await,
            (Err(error), None) if error.retryable() => {
                let id = batch.id;
                return Err(CliError::failed(format!(
                    "{error}: look with `overnight jobs --batch {id}` whether the batch is there before you submit it again"
                )));
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
}
