//! A job's share of the budget that the jobs of its batch have together: reserved before a call, and a few calls at once where
//! there is room.

use super::{
    RunError,
    drive::{Drive, RETRY_AFTER, stopped},
    lease::Beat,
    session::Session,
};
use crate::store::Grant;
use overnight_core::prompt::message::Usage;
use std::time::Duration;

/// How many calls are reserved together.
const RESERVED_CALLS: f64 = 8.0;
/// How long a job waits for what others have reserved, before it asks again.
const AGAIN: Duration = Duration::from_secs(1);

/// What the budget says to the next call.
pub(super) enum Share {
    Room,
    /// Others have reserved what is left, or the work is to stop: look again at what there is to do.
    Later,
    /// There is no room, in a sentence.
    Spent(String),
}

impl Drive<'_> {
    /// Whether the next call fits.
    pub(super) async fn share(&mut self, session: &mut Session, beat: &mut Beat) -> Result<Share, RunError> {
        // At worst: as long a reply as there may be, where that is known.
        let expected = session.job.expected_call();
        let output = expected.output.max(self.model.most_output().unwrap_or_default());
        let cost = self.model.cost(&Usage { output, ..expected });
        let (Some(granted), Some(cost)) = (self.granted_usd, cost) else { return Ok(Share::Room) };
        let spent = session.job.totals.spent.cost_usd;
        if spent + cost <= granted {
            return Ok(Share::Room);
        }
        let mut last = Grant::Spent;
        for calls in [RESERVED_CALLS, 1.0] {
            let Some(grant) = self.ask_share(session, beat, spent + calls * cost).await? else {
                return Ok(Share::Later);
            };
            last = grant;
            if grant == Grant::Granted {
                return Ok(Share::Room);
            }
        }
        if last == Grant::Later {
            // What each keeps without need may be all that another waits for, and the rows must tell what was spent.
            self.ask_share(session, beat, spent).await?;
            session.journal.sync()?;
            self.save(session).await?;
            self.wait(session, beat, AGAIN).await?;
            return Ok(Share::Later);
        }
        self.has_spent_all = true;
        Ok(Share::Spent(format!(
            "the budget of its batch has no room for the next call, which may cost {cost:.4} USD; `overnight resume BATCH --budget-usd N` gives it more"
        )))
    }

    /// Asks until the database answers; none where the work is to stop first.
    async fn ask_share(&mut self, session: &Session, beat: &mut Beat, usd: f64) -> Result<Option<Grant>, RunError> {
        loop {
            self.keep_lease(session, beat).await?;
            match self.store.reserve(session.job.spec.id, session.lease, usd).await {
                Ok(grant) => {
                    if grant == Grant::Granted {
                        self.granted_usd = Some(usd);
                    }
                    return Ok(Some(grant));
                }
                Err(error) => self.unless_lost(session, error)?,
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY_AFTER) => {}
                // Nothing is called any more.
                () = stopped(&mut self.stop) => return Ok(None),
            }
        }
    }
}
