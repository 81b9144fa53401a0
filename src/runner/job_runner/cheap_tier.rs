//! The tiers `flex` and `batch`: the provider answers when it has room, or within hours, for less. A job leaves them for the standard
//! tier when its time is nearly over, or when nothing was answered for an hour at `flex`, and stays there until it is taken up
//! anew.

use super::{model_chain::ModelChain, recorder::JobRecorder};
use crate::runner::{RunError, clock::now, open_job::OpenJob};
use chrono::TimeDelta;
use overnight_core::job::{models::Tier, time::Timestamp};
use std::time::{Duration, Instant};

/// The longest time without any answer before the standard tier is used.
const MOST_SILENCE: Duration = Duration::from_hours(1);
/// The rest of a job's time that counts as near its end: this, or a quarter of the initial time, if that is less.
const NEAR: Duration = Duration::from_mins(30);
const NEAR_SHARE: u32 = 4;
/// The rest of a window that is reserved for the work after the last answer of a batch, or in place of one.
const BEHIND_BATCH: TimeDelta = TimeDelta::minutes(30);

/// The job's wait for the tier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlexWait {
    /// The time of the first call that has not been answered.
    since: Option<Instant>,
    /// The time that the job had left when this process began to work on it.
    had: Option<Duration>,
}

impl ModelChain {
    /// Notes a call: from now on an answer is awaited.
    pub(super) fn flex_is_asked(&mut self, opened: &OpenJob) {
        let wait = &mut self.flex;
        wait.since.get_or_insert_with(Instant::now);
        if wait.had.is_none() {
            wait.had = time_left(opened);
        }
    }

    pub(super) fn flex_has_answered(&mut self) {
        self.flex.since = None;
    }

    /// The reason to leave the tier now; none if it isn't left, or the job is at the standard tier.
    pub(super) fn tier_is_over(&self, opened: &OpenJob) -> Option<&'static str> {
        match self.current(&opened.job).tier() {
            Tier::Standard => return None,
            Tier::Batch => {
                let is_over = batch_deadline(opened).is_some_and(|until| now() >= until);
                return is_over.then_some("the time for answers of batches is over");
            }
            Tier::Flex => {}
        }
        let wait = &self.flex;
        if time_left(opened).is_some_and(|left| left <= self.near()) {
            Some("the end of its time is near")
        } else if wait.since.is_some_and(|since| since.elapsed() >= MOST_SILENCE) {
            Some("the flex tier has not answered for an hour")
        } else {
            None
        }
    }

    /// Whether so little time is left that calls under way are given up also where an answer has begun: half of what was left
    /// for them is gone.
    pub(super) fn flex_is_last(&self, opened: &OpenJob) -> bool {
        time_left(opened).is_some_and(|left| left <= self.near() / 2)
    }

    /// The rest of the job's time at which its end counts as near.
    fn near(&self) -> Duration {
        NEAR.min(self.flex.had.unwrap_or(Duration::MAX) / NEAR_SHARE)
    }

    /// Goes over to the standard tier.
    pub(super) async fn leave_tier(
        &self,
        recorder: &mut JobRecorder<'_>,
        opened: &mut OpenJob,
        reason: &str,
    ) -> Result<(), RunError> {
        self.tell_tier(recorder, opened, Tier::Standard, reason).await
    }
}

/// Until the job's time of work is over or its window closes; none where neither is bounded.
fn time_left(opened: &OpenJob) -> Option<Duration> {
    let work = opened.job.work_left(now()).map(|(left_ms, _)| left_ms);
    let window = opened.lease.status.borrow().closes.map(|closes| closes.millis_since(now()));
    work.into_iter().chain(window).min().map(Duration::from_millis)
}

/// The time until which a batch's answer is awaited: as in the instructions, and not up to the end of the window.
pub(super) fn batch_deadline(opened: &OpenJob) -> Option<Timestamp> {
    let spec = &opened.job.spec;
    let said = spec.instructions.batch_until.map(|until| until.of_job(spec.created));
    let closes = opened.lease.status.borrow().closes;
    said.into_iter().chain(closes.map(|closes| Timestamp::new(closes.utc() - BEHIND_BATCH))).min()
}
