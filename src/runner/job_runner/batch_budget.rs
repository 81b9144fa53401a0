//! A job's share of the budget that the jobs of its batch have together: reserved before a call, and a few calls at once where
//! there is room.

use super::{checkpoints::RETRY_AFTER, recorder::JobRecorder};
use crate::{
    runner::{RunError, lease::until_stopped, open_job::OpenJob},
    store::Grant,
};
use std::time::Duration;

/// The number of calls that are reserved together.
const RESERVED_CALLS: f64 = 8.0;
/// The pause before a job that waits for the reservations of others asks again.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Whether the budget has room for the next call.
pub(super) enum BudgetAnswer {
    Fits,
    /// Calls in flight hold what is reserved, or the work is to stop: check again what there is to do.
    Later,
    /// Other jobs have reserved the rest.
    AskAgainAfter(Duration),
    /// There is no room; the sentence states why.
    Spent(String),
}

/// The job's share of the budget.
#[derive(Debug, Default)]
pub(super) struct BatchBudget {
    /// USD that the job may cost before it must reserve again; none: the budget isn't shared.
    granted_usd: Option<f64>,
    /// The job was held because the batch's budget has no room.
    pub(super) is_spent: bool,
}

impl BatchBudget {
    /// The share of a job; one that isn't shared has no bound here.
    pub(super) fn shared(is_shared: bool) -> Self {
        Self { granted_usd: is_shared.then_some(0.0), is_spent: false }
    }

    /// Reserves the worst-case cost of the next call and of those in flight, unless it is reserved already.
    /// `is_alone`: no call of the job is in flight.
    pub(super) async fn reserve(
        &mut self,
        recorder: &mut JobRecorder<'_>,
        opened: &mut OpenJob,
        cost: Option<f64>,
        is_alone: bool,
    ) -> Result<BudgetAnswer, RunError> {
        let (Some(granted), Some(cost)) = (self.granted_usd, cost) else { return Ok(BudgetAnswer::Fits) };
        let spent = opened.job.totals.spent.cost_usd;
        if spent + cost <= granted {
            return Ok(BudgetAnswer::Fits);
        }
        let mut last = Grant::Spent;
        for calls in [RESERVED_CALLS, 1.0] {
            let Some(grant) = self.ask(recorder, opened, spent + calls * cost).await? else {
                return Ok(BudgetAnswer::Later);
            };
            last = grant;
            if grant == Grant::Granted {
                return Ok(BudgetAnswer::Fits);
            }
        }
        // The reservations of calls in flight belong to them, and their ends are awaited.
        if last == Grant::Later && !is_alone {
            return Ok(BudgetAnswer::Later);
        }
        if last == Grant::Later {
            // Other jobs may wait for just what this one reserves without need, and the rows must state what was spent.
            self.ask(recorder, opened, spent).await?;
            opened.journal.sync()?;
            recorder.save(opened).await?;
            return Ok(BudgetAnswer::AskAgainAfter(ASK_AGAIN_AFTER));
        }
        self.is_spent = true;
        Ok(BudgetAnswer::Spent(format!(
            "the budget of its batch has no room for the next call, which may cost {cost:.4} USD; `overnight resume BATCH --budget-usd N` gives it more"
        )))
    }

    /// Asks until the database answers; none where the work is to stop first.
    async fn ask(
        &mut self,
        recorder: &mut JobRecorder<'_>,
        opened: &mut OpenJob,
        usd: f64,
    ) -> Result<Option<Grant>, RunError> {
        loop {
            recorder.await_lease(opened).await?;
            match recorder.store.reserve(opened.lease.id, opened.lease.number, usd).await {
                Ok(grant) => {
                    if grant == Grant::Granted {
                        self.granted_usd = Some(usd);
                    }
                    return Ok(Some(grant));
                }
                Err(error) => recorder.tolerate_outage(opened, error)?,
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY_AFTER) => {}
                // No more calls are made.
                () = until_stopped(&mut recorder.stop) => return Ok(None),
            }
        }
    }
}
