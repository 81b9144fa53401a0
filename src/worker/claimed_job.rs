//! One job, from its claim until it rests.

use super::{
    batches::{Batch, JobModels},
    claim_outcome::ClaimOutcome,
    context::WorkerContext,
    job_setup::JobSetup,
    open_workspace::OpenedWorkspace,
};
use crate::{
    runner::{Disposition, JobOutcome, LeaseHandle, OpenJob, RunError, RunReport, fail_row, now},
    store::{ClaimedJob, ControlSignal, JobTarget, backoff_ms},
};
use overnight_core::{
    job::{
        id::JobId,
        record::{Checkpoint, HoldReason, JobStatus, JobSummary},
        rows::CheckpointExtent,
        state::Job,
    },
    machine::effect::Command,
};
use std::{sync::Arc, time::Duration};

impl WorkerContext {
    /// Works on a claimed job until it rests. A failure affects only this job.
    pub(super) async fn work(self: Arc<Self>, claimed: ClaimedJob, lease: LeaseHandle) -> ClaimOutcome {
        let (id, attempts) = (claimed.id, claimed.attempts);
        let (context, kept) = (self.clone(), lease.clone());
        // A task of its own: a panic in it ends only this job's attempt.
        let worked = tokio::spawn(async move {
            match context.work_on(claimed, &kept).await {
                Ok(outcome) => outcome,
                Err(error) => context.on_error(id, &kept, attempts, error).await,
            }
        });
        let outcome = if let Ok(outcome) = worked.await {
            outcome
        } else {
            let why = "the program failed on it with a defect; please report this with the job's journal";
            self.fail(id, lease.held(), attempts, why).await
        };
        self.active_jobs.remove(id);
        outcome
    }

    async fn on_error(&self, id: JobId, lease: &LeaseHandle, attempts: u32, error: RunError) -> ClaimOutcome {
        let why = error.with_advice(true);
        // None where the job rests.
        let number = lease.held();
        match error.disposition() {
            Disposition::Lost => self.give_up(id, number, &why).await,
            Disposition::GiveBack(after) => self.give_back(id, number, after, &why).await,
            Disposition::Fail => {
                lease.release();
                match fail_row(self.store.as_ref(), id, &error.to_string()).await {
                    Ok(()) => ClaimOutcome::GivenUp(why),
                    Err(error) => ClaimOutcome::Lost(error.to_string()),
                }
            }
            // The runner has held the job, with the reason in its row.
            Disposition::Hold(..) | Disposition::Repair | Disposition::FailAttempt if number == 0 => {
                ClaimOutcome::Held(HoldReason::Paused, error.to_string())
            }
            Disposition::Hold(reason, wakes_after) => {
                if let Some(after) = wakes_after {
                    // If this fails, it is held until a person resumes it; the sentence states the reason.
                    let _ = self.store.wake_at(id, number, now().after(after)).await;
                }
                self.hold_row(id, number, reason, why).await
            }
            Disposition::Repair | Disposition::FailAttempt => self.fail(id, number, attempts, &why).await,
        }
    }

    async fn work_on(&self, claimed: ClaimedJob, lease: &LeaseHandle) -> Result<ClaimOutcome, RunError> {
        let (id, store) = (claimed.id, self.store.as_ref());
        let batch = self.batches.get(store, self.supply.as_ref(), claimed.batch).await?;
        if let Some(held) = self.hold_until_open(&claimed, &batch).await? {
            return Ok(held);
        }
        self.active_jobs.set_window(id, batch.window.clone());
        let Some(row) = store.job(id).await? else { return Ok(ClaimOutcome::Lost("its row is gone".to_owned())) };
        if claimed.wants == Some(ControlSignal::Cancel) && row.state.journal_seq == 0 && claimed.workspace.is_empty() {
            store.give_back(id, claimed.lease, 0, None).await?;
            lease.release();
            store.cancel(JobTarget::Job(id)).await?;
            return Ok(ClaimOutcome::Ended(JobStatus::Cancelled, None));
        }
        let path = self.locate(&claimed, &row).await?;
        let OpenedWorkspace { mut opened, mut uploader } = self.open(&claimed, &batch, &path, &row).await?;
        opened.set_lease(lease.clone());
        if let Some(ending) = opened.job.ended() {
            let (status, reason) = (ending.status, ending.reason.clone());
            // The worker that ended it died before it could say so.
            if let Some(uploader) = &mut uploader {
                opened.upload(uploader).await?;
            }
            opened.checkpoint(store, CheckpointExtent::All).await?;
            lease.release();
            return Ok(ClaimOutcome::Ended(status, reason));
        }
        let models = batch.models_of(&opened.job, self.supply.as_ref()).await?;
        let setup = JobSetup {
            store,
            commands: commands(&opened, &models, claimed.wants),
            models,
            reader: self.config.extractor.clone(),
            // The submitter is gone: an unreachable server is waited for, even at first.
            is_server_known: true,
            uploader,
            row: Some(&row),
            traces: self.config.traces.clone(),
            stop: self.stop.clone(),
        };
        let counts = self.metrics.for_job();
        let mut observer = |job: &Job, report: &RunReport<'_>| {
            counts.on(report);
            self.active_jobs.set_waiting(id, job.is_out());
        };
        let (outcome, is_budget_spent) = setup.work_on(&mut opened, &mut observer).await;
        if is_budget_spent {
            // The others would each find out for themselves.
            store.hold(JobTarget::Batch(batch.id), HoldReason::Budget, None).await?;
        }
        Ok(match outcome? {
            JobOutcome::Ended(status) => ClaimOutcome::Ended(status, opened.job.job_status().2),
            JobOutcome::Held(reason) => ClaimOutcome::Held(reason, opened.job.job_status().2.unwrap_or_default()),
            JobOutcome::Waiting => ClaimOutcome::Waiting(crate::runner::waits_for(&opened)),
            JobOutcome::Interrupted if opened.job.is_out() => {
                // So that the next worker takes it up immediately.
                store.keep_held(&[id], 0).await?;
                ClaimOutcome::GivenBack("the worker stops".to_owned())
            }
            JobOutcome::Interrupted => {
                // The process that claims it next needs the lock.
                drop(opened);
                self.give_back(id, lease.held(), Duration::ZERO, "the worker stops").await
            }
        })
    }

    /// Holds a job whose batch has a closed window, with the batch's other queued jobs, until the window opens. A job
    /// that a person has cancelled needs no window.
    async fn hold_until_open(&self, claimed: &ClaimedJob, batch: &Batch) -> Result<Option<ClaimOutcome>, RunError> {
        let at = now();
        let Some(window) = batch.window.as_ref().filter(|window| !window.is_open(at)) else { return Ok(None) };
        if claimed.wants == Some(ControlSignal::Cancel) {
            return Ok(None);
        }
        let opens = window.opens_after(at);
        self.store.hold(JobTarget::Batch(batch.id), HoldReason::Window, Some(opens)).await?;
        self.store.wake_at(claimed.id, claimed.lease, opens).await?;
        // It is not given back, as it would be claimed again immediately.
        let why = format!("its time window is closed; it goes on by itself at {opens}");
        Ok(Some(self.hold_row(claimed.id, claimed.lease, HoldReason::Window, why).await))
    }

    /// Queues the job again; no attempt is used.
    async fn give_back(&self, id: JobId, lease: u64, after: Duration, why: &str) -> ClaimOutcome {
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        match self.store.give_back(id, lease, after_ms, None).await {
            Ok(_) => ClaimOutcome::GivenBack(why.to_owned()),
            Err(error) => ClaimOutcome::Lost(error.to_string()),
        }
    }

    /// An attempt has failed.
    async fn fail(&self, id: JobId, lease: u64, attempts: u32, why: &str) -> ClaimOutcome {
        match self.store.give_back(id, lease, backoff_ms(attempts), Some(why)).await {
            Ok(JobStatus::Failed) => ClaimOutcome::GivenUp(why.to_owned()),
            Ok(_) => ClaimOutcome::Failed(why.to_owned()),
            Err(error) => ClaimOutcome::Lost(error.to_string()),
        }
    }

    /// The database did not do what was requested. If this worker still has the lease, the next heartbeat finds it
    /// without a runner, and gives it back.
    async fn give_up(&self, id: JobId, lease: u64, why: &str) -> ClaimOutcome {
        if lease > 0 {
            // Best effort: the heartbeat does it reliably.
            let _ = self.store.give_back(id, lease, 0, None).await;
        }
        ClaimOutcome::Lost(why.to_owned())
    }

    /// Holds a job that has no open workspace.
    async fn hold_row(&self, id: JobId, lease: u64, reason: HoldReason, why: String) -> ClaimOutcome {
        let held = async {
            let Some(row) = self.store.job(id).await? else { return Ok(()) };
            let state = JobSummary {
                status: JobStatus::Held,
                hold_reason: Some(reason),
                reason: Some(why.clone()),
                ..row.state
            };
            let checkpoint = Checkpoint { state, phases: Vec::new(), todos: Vec::new() };
            self.store.checkpoint(id, lease, &checkpoint).await
        };
        match held.await {
            Ok(()) => ClaimOutcome::Held(reason, why),
            Err(error) => self.give_up(id, lease, &error.to_string()).await,
        }
    }
}

/// The commands to the job before it is driven.
fn commands(opened: &OpenJob, models: &JobModels, wants: Option<ControlSignal>) -> Vec<Command> {
    let mut commands = vec![opened.opening(models.first.name())];
    match wants {
        Some(ControlSignal::Cancel) => commands.push(Command::Cancel),
        Some(ControlSignal::Pause) | None if !opened.job.is_running() => {
            commands.push(Command::Resume { limits: opened.job.limits });
        }
        Some(ControlSignal::Pause) | None => {}
    }
    commands
}
