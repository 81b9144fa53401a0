//! The one write of a submission. Where the database didn't answer nothing is known of what it wrote: the same submission is
//! tried again, which changes nothing, where a person's next one would be another batch.

use crate::{
    cli::CliError,
    store::{NewBatch, QueuedJob, Store},
};
use std::time::Duration;

/// Before a database that didn't answer is asked again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// Puts the batch into the queue.
pub(super) async fn put(
    store: &dyn Store,
    batch: &NewBatch,
    jobs: &[QueuedJob],
    link_done: bool,
) -> Result<(), CliError> {
    let mut pauses = PAUSES.into_iter();
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
