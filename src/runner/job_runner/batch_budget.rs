//! A job's share of the budget that the jobs of its batch have together: reserved before a call, and a few calls at once where
//! there is room.

use super::{JobRunner, checkpoints::RETRY_AFTER};
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
    /// Other jobs have reserved the rest, or the work is to stop: check again what there is to do.
    Later,
    /// There is no room; the sentence states why.
    Spent(String),
}

/// The job's share of the budget.
#[derive(Debug, Default)]
pub(super) struct BatchBudget {
    /// USD that the job may cost before it must reserve again; none: the budget isn't shared.
    granted_usd: Option<f64>,
    is_spent: bool,
}

impl JobRunner<'_> {
    /// The job belongs to a batch: the cost of its calls is reserved from the batch's budget.
    #[must_use]
    pub fn with_shared_budget(mut self, is_shared: bool) -> Self {
        self.budget.granted_usd = is_shared.then_some(0.0);
        self
    }

    /// Whether the job was held because the budget of its batch has no room.
    pub fn has_spent_batch_budget(&self) -> bool {
        self.budget.is_spent
    }

    /// Reserves the worst-case cost of the next call and of those in flight, unless it is reserved already.
    pub(super) async fn reserve_call(
        &mut self,
        opened: &mut OpenJob,
        cost: Option<f64>,
    ) -> Result<BudgetAnswer, RunError> {
        let (Some(granted), Some(cost)) = (self.budget.granted_usd, cost) else { return Ok(BudgetAnswer::Fits) };
        let spent = opened.job.totals.spent.cost_usd;
        if spent + cost <= granted {
            return Ok(BudgetAnswer::Fits);
        }
        let mut last = Grant::Spent;
        for calls in [RESERVED_CALLS, 1.0] {
            let Some(grant) = self.reserve(opened, spent + calls * cost).await? else {
                return Ok(BudgetAnswer::Later);
            };
            last = grant;
            if grant == Grant::Granted {
                return Ok(BudgetAnswer::Fits);
            }
        }
        // The reservations of calls in flight belong to them, and their ends are awaited.
        if last == Grant::Later && !self.in_flight.is_empty() {
            return Ok(BudgetAnswer::Later);
        }
        if last == Grant::Later {
            // Other jobs may wait for just what this one reserves without need, and the rows must state what was spent.
            self.reserve(opened, spent).await?;
            opened.journal.sync()?;
            self.save(opened).await?;
            self.wait(opened, ASK_AGAIN_AFTER).await?;
            return Ok(BudgetAnswer::Later);
        }
        self.budget.is_spent = true;
        Ok(BudgetAnswer::Spent(format!(
            "the budget of its batch has no room for the next call, which may cost {cost:.4} USD; `overnight resume BATCH --budget-usd N` gives it more"
        )))
    }

    /// Asks until the database answers; none where the work is to stop first.
    async fn reserve(&mut self, opened: &mut OpenJob, usd: f64) -> Result<Option<Grant>, RunError> {
        loop {
            self.await_lease(opened).await?;
            match self.store.reserve(opened.lease.id, opened.lease.number, usd).await {
                Ok(grant) => {
                    if grant == Grant::Granted {
                        self.budget.granted_usd = Some(usd);
                    }
                    return Ok(Some(grant));
                }
                Err(error) => self.tolerate_outage(opened, error)?,
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY_AFTER) => {}
                // No more calls are made.
                () = until_stopped(&mut self.stop) => return Ok(None),
            }
        }
    }
}
