//! Attempts at a turn that brought no reply. Each is a fact; the next reply resets the count.

use super::ending::held;
use crate::{
    job::{
        event::{EpochCause, Event},
        failure::{Failure, Remedy},
        hold_cause::HoldCause,
        record::{HoldReason, JobStatus},
        state::Job,
    },
    prompt::{compact::counted_room, opening},
};

/// Times that one turn's prompt may be too long for the model before the job is held: the first shortens it.
const MOST_TOO_LONG: u32 = 4;

impl Job {
    /// What follows from a failed attempt after which the runner waits for `wait_ms`.
    pub(super) fn attempt_failed(&self, failure: Failure, wait_ms: u64) -> Vec<Event> {
        let remedy = failure.kind.remedy();
        if remedy == Remedy::GiveUp {
            return self.end_unfinished(JobStatus::Failed, failure.reason);
        }
        let Failure { kind, status, reason, .. } = failure;
        let mut events = vec![Event::AttemptFailed {
            turn: self.totals.spent.turns + 1,
            attempt: self.attempts.failed + 1,
            kind,
            status,
            wait_ms,
            reason: reason.clone(),
        }];
        match remedy {
            Remedy::Retry { .. } | Remedy::GiveUp => {}
            Remedy::Compact if self.attempts.too_long == 0 => events.push(self.shorter()),
            // Some servers say so now and then for no reason: the same prompt may be taken the next time.
            Remedy::Compact if self.attempts.too_long < MOST_TOO_LONG => {}
            Remedy::Compact => events.push(held(&HoldCause::PromptTooLong { said: reason })),
            Remedy::Reopen if self.epoch.has_reasoning() => {
                events.push(opening::event(self, EpochCause::HistoryRefused, None, counted_room(self)));
            }
            Remedy::Configure | Remedy::Reopen => {
                events.push(Event::Held { reason: HoldReason::Paused, detail: reason });
            }
        }
        events
    }

    /// What makes the next prompt half as long, as far as an opening can give that: the provider's count says that it is too
    /// long, whatever was counted here.
    fn shorter(&self) -> Event {
        let room = counted_room(self).min(self.epoch.tokens());
        opening::event(self, EpochCause::TooLong, None, room)
    }
}
