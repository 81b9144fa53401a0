//! The tiers `flex` and `batch`: the provider answers when it has room, or within hours, for less. A job leaves them for the standard
//! tier when its time is nearly over, or when nothing was answered for an hour at `flex`, and stays there until it is taken up
//! anew.

use super::JobRunner;
use crate::runner::{RunError, clock::now, open_job::OpenJob};
use chrono::TimeDelta;
use overnight_core::{
    job::{models::Tier, time::Timestamp},
    machine::effect::Command,
};
use std::time::{Duration, Instant};

/// How long nothing may be answered before the standard tier is asked.
const MOST_SILENCE: Duration = Duration::from_hours(1);
/// What is left of a job's time when its end is near: this, or a quarter of what there was, if that is less.
const NEAR: Duration = Duration::from_mins(30);
const NEAR_SHARE: u32 = 4;
/// What is left of a window for the work that comes behind the last answer of a batch, or in its stead.
const BEHIND_BATCH: TimeDelta = TimeDelta::minutes(30);

/// How long a job has waited for the tier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlexWait {
    /// When the first of the calls was made to which no answer has come.
    since: Option<Instant>,
    /// The time that the job had when this process took it up.
    had: Option<Duration>,
}

impl JobRunner<'_> {
    /// The model is asked: from now on an answer is waited for.
    pub(super) fn flex_is_asked(&mut self, opened: &OpenJob) {
        let wait = &mut self.models.flex;
        wait.since.get_or_insert_with(Instant::now);
        if wait.had.is_none() {
            wait.had = time_left(opened);
        }
    }

    pub(super) fn flex_has_answered(&mut self) {
        self.models.flex.since = None;
    }

    /// Why the tier is left now; none where it isn't, or the job is at the standard one.
    pub(super) fn tier_is_over(&self, opened: &OpenJob) -> Option<&'static str> {
        match self.models.current.tier() {
            Tier::Standard => return None,
            Tier::Batch => {
                let is_over = batch_deadline(opened).is_some_and(|until| now() >= until);
                return is_over.then_some("the time for answers of batches is over");
            }
            Tier::Flex => {}
        }
        let wait = &self.models.flex;
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

    /// What is left of the job's time when its end is near.
    fn near(&self) -> Duration {
        NEAR.min(self.models.flex.had.unwrap_or(Duration::MAX) / NEAR_SHARE)
    }

    /// Goes over to the standard tier.
    pub(super) async fn leave_tier(&mut self, opened: &mut OpenJob, reason: &str) -> Result<(), RunError> {
        if let Some(standard) = self.models.current.standard_tier() {
            self.models.left = Some(std::mem::replace(&mut self.models.current, standard));
        }
        self.models.has_left_tier = true;
        self.tell_tier(opened, reason).await
    }

    /// Has the journal say at which tier the model is asked, where that has changed.
    pub(super) async fn tell_tier(&mut self, opened: &mut OpenJob, reason: &str) -> Result<(), RunError> {
        let tier = self.models.current.tier();
        if tier == opened.job.answered.tier {
            return Ok(());
        }
        self.command(opened, Command::ChangeTier { tier, reason: reason.to_owned() }).await
    }
}

/// Until the job's time of work is over or its window closes; none where neither is bounded.
fn time_left(opened: &OpenJob) -> Option<Duration> {
    let work = opened.job.work_left(now()).map(|(left_ms, _)| left_ms);
    let window = opened.lease.status.borrow().closes.map(|closes| closes.millis_since(now()));
    work.into_iter().chain(window).min().map(Duration::from_millis)
}

/// Until when an answer of a batch is waited for: as the instructions say, and not up to the end of the window.
pub(super) fn batch_deadline(opened: &OpenJob) -> Option<Timestamp> {
    let spec = &opened.job.spec;
    let said = spec.instructions.batch_until.map(|until| until.of_job(spec.created));
    let closes = opened.lease.status.borrow().closes;
    said.into_iter().chain(closes.map(|closes| Timestamp::new(closes.utc() - BEHIND_BATCH))).min()
}
