//! An open and claimed job with everything needed to work on it. This is the only way to work on a job, for a worker of
//! the queue and for a person's command.

use super::batches::JobModels;
use crate::{
    runner::{Anchor, JobOutcome, JobRunner, OpenJob, RunError, RunReport},
    store::{JobRow, Store},
    table_query::DocumentReader,
    telemetry::{SpanSender, Trace},
    workspace_store::Uploader,
};
use overnight_core::{job::state::Job, machine::effect::Command};
use std::sync::Arc;
use tokio::sync::watch;

/// Everything needed to work on a job.
#[derive(Debug)]
pub struct JobSetup<'a> {
    pub store: &'a dyn Store,
    pub models: JobModels,
    /// Reads documents for tools, in processes of their own.
    pub reader: Arc<dyn DocumentReader>,
    /// Whether the first model's server is known to be at its address: then failing to reach it is no mistake.
    pub is_server_known: bool,
    /// The commands to the job before work on it begins.
    pub commands: Vec<Command>,
    /// Copies the workspace for other machines; none: it stays here.
    pub uploader: Option<Uploader>,
    /// The job's earlier row in the database; none: it is new.
    pub row: Option<&'a JobRow>,
    /// The target of the work's spans.
    pub traces: Option<SpanSender>,
    /// Turns true when the work is to stop.
    pub stop: watch::Receiver<bool>,
}

impl JobSetup<'_> {
    /// Works on the job until it rests, with each report to `observer`. Gives the outcome, and whether the
    /// budget of its batch is spent.
    pub async fn work_on(
        self,
        opened: &mut OpenJob,
        observer: &mut (dyn FnMut(&Job, &RunReport<'_>) + Send),
    ) -> (Result<JobOutcome, RunError>, bool) {
        let JobModels { first, others, named } = self.models;
        let mut trace = self.traces.map(|traces| Trace::begin(traces, &opened.job, first.name()));
        let mut observe = |job: &Job, report: RunReport<'_>| {
            if let Some(trace) = &mut trace {
                trace.on(job, &report);
            }
            observer(job, &report);
        };
        let mut runner = JobRunner::new(self.store, first, self.stop, &mut observe)
            .with_fallbacks(others)
            .with_named(named)
            .with_known_server(self.is_server_known)
            .with_commands(self.commands)
            .with_reader(self.reader)
            .with_uploader(self.uploader, self.row.and_then(Anchor::of))
            .with_shared_budget(self.row.is_some_and(|row| row.queue.is_some()));
        let outcome = runner.run(opened).await;
        let is_budget_spent = runner.has_spent_batch_budget();
        drop(runner);
        if let Some(trace) = trace {
            trace.end(&opened.job, outcome.is_err());
        }
        (outcome, is_budget_spent)
    }
}
