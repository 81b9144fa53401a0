//! A job's share of the budget that the jobs of its batch have together: reserved before a call, and a few calls at once where
//! there is room.

use super::{
    RunError,
    job_runner::{JobRunner, RETRY_AFTER, until_stopped},
    lease::Timers,
    open_job::OpenJob,
};
use crate::store::Grant;
use overnight_core::prompt::message::Usage;
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

impl JobRunner<'_> {
    /// Reserves what the next call may cost, where that is not reserved yet.
    pub(super) async fn reserve_call(
        &mut self,
        opened: &mut OpenJob,
        timers: &mut Timers,
    ) -> Result<BudgetAnswer, RunError> {
        // At worst: as long a reply as there may be, where that is known.
        let expected = opened.job.expected_call();
        let output = expected.output.max(self.model.most_output().unwrap_or_default());
        let cost = self.model.cost(&Usage { output, ..expected });
        let (Some(granted), Some(cost)) = (self.granted_usd, cost) else { return Ok(BudgetAnswer::Fits) };
        let spent = opened.job.totals.spent.cost_usd;
        if spent + cost <= granted {
            return Ok(BudgetAnswer::Fits);
        }
        let mut last = Grant::Spent;
        for calls in [RESERVED_CALLS, 1.0] {
            let Some(grant) = self.reserve(opened, timers, spent + calls * cost).await? else {
                return Ok(BudgetAnswer::Later);
            };
            last = grant;
            if grant == Grant::Granted {
                return Ok(BudgetAnswer::Fits);
            }
        }
        if last == Grant::Later {
            // What each keeps without need may be all that another waits for, and the rows must tell what was spent.
            self.reserve(opened, timers, spent).await?;
            opened.journal.sync()?;
            self.save(opened).await?;
            self.wait(opened, timers, ASK_AGAIN_AFTER).await?;
            return Ok(BudgetAnswer::Later);
        }
        self.has_spent_batch_budget = true;
        Ok(BudgetAnswer::Spent(format!(
            "the budget of its batch has no room for the next call, which may cost {cost:.4} USD; `overnight resume BATCH --budget-usd N` gives it more"
        )))
    }

    /// Asks until the database answers; none where the work is to stop first.
    async fn reserve(&mut self, opened: &OpenJob, timers: &mut Timers, usd: f64) -> Result<Option<Grant>, RunError> {
        loop {
            self.keep_lease(opened, timers).await?;
            match self.store.reserve(opened.job.spec.id, opened.lease, usd).await {
                Ok(grant) => {
                    if grant == Grant::Granted {
                        self.granted_usd = Some(usd);
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
