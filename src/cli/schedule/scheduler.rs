//! Submits the runs of schedules: the same code as `overnight submit`, with the stored arguments of a schedule.

use crate::{
    batch::schedule::{NotSubmitted, Submit},
    cli::submit::{self, SubmitArgs},
    config::Flags,
    store::{CommandLine, Store},
};
use async_trait::async_trait;
use std::{path::Path, sync::Arc};
use uuid::Uuid;

/// Submits into `store`.
#[derive(Debug)]
pub(in crate::cli) struct Scheduler {
    /// The flags of the submitting process: the schedule's arguments override them.
    pub(in crate::cli) flags: Flags,
    pub(in crate::cli) store: Arc<dyn Store>,
}

#[async_trait]
impl Submit for Scheduler {
    async fn submit(&self, command: &CommandLine, batch: Uuid) -> Result<(), NotSubmitted> {
        let refused = |error: crate::cli::CliError| NotSubmitted::Refused(error.message);
        let args = SubmitArgs::of_words(&command.words, Path::new(&command.folder)).map_err(refused)?;
        let ready = Box::pin(submit::ready(self.flags.clone(), &args, batch, Some(self.store.clone())))
            .await
            .map_err(refused)?;
        self.store.submit(&ready.batch, &ready.jobs(), args.dedupes()).await?;
        Ok(())
    }
}
