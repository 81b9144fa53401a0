//! A job's share of the budget that the jobs of its batch have together: reserved before a call, and a few calls at once where
//! there is room.

use super::{JobRunner, checkpoints::RETRY_AFTER};
use crate::{
    runner::{RunError, lease::until_stopped, open_job::OpenJob},
    store::Grant,
};
use std::time::Duration;

/// How many calls are reserved together.
const RESERVED_CALLS: f64 = 8.0;
/// How long a job waits for what others have reserved, before it asks again.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Whether the budget has room for the next call.
pub(super) enum BudgetAnswer {
    Fits,
    /// Others have reserved what is left, or the work is to stop: look again at what there is to do.
    Later,
    /// There is no room, in a sentence.
    Spent(String),
}

/// The job's share of the budget.
#[derive(Debug, Default)]
pub(super) struct BatchBudget {
    /// USD that the job may cost before its batch is asked again; none: nobody else spends from its budget.
    granted_usd: Option<f64>,
    is_spent: bool,
}

impl JobRunner<'_> {
    /// The job is one of a batch: what its calls may cost is asked of the batch's budget.
    #[must_use]
    pub fn with_shared_budget(mut self, is_shared: bool) -> Self {
        self.budget.granted_usd = is_shared.then_some(0.0);
        self
    }

    /// Whether the job was held because the budget of its batch has no room.
    pub fn has_spent_batch_budget(&self) -> bool {
        self.budget.is_spent
    }

    /// Reserves what the next call and those in flight may cost at worst, where that is not reserved yet.
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
        // What is reserved for calls in flight is theirs, and they are waited for.
        if last == Grant::Later && !self.in_flight.is_empty() {
            return Ok(BudgetAnswer::Later);
        }
        if last == Grant::Later {
            // What each keeps without need may be all that another waits for, and the rows must tell what was spent.
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
                // Nothing is called any more.
                () = until_stopped(&mut self.stop) => return Ok(None),
            }
        }
    }
}
