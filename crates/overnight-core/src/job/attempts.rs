//! Attempts at a turn that brought no reply. Each is a fact; the next reply resets the count.

use super::{
    event::Event,
    failure::{Failure, Remedy},
    record::HoldReason,
    state::Job,
};
use crate::prompt::compact;

/// Times that one turn's prompt may be too long for the model before the job is held: the first shortens it.
const MOST_TOO_LONG: u32 = 4;

/// Failed attempts at the present turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    pub failed: u32,
    /// Those whose prompt was too long.
    pub too_long: u32,
}

impl Job {
    /// What follows from a failed attempt after which the runner waits for `wait_ms`.
    pub(super) fn attempt_failed(&self, failure: Failure, wait_ms: u64) -> Vec<Event> {
        let remedy = failure.kind.remedy();
        if remedy == Remedy::GiveUp {
            return self.failed(failure.reason);
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
            Remedy::Compact if self.attempts.too_long == 0 => events.extend(compact::shorter(self)),
            // Some servers say so now and then for no reason: the same prompt may be taken the next time.
            Remedy::Compact if self.attempts.too_long < MOST_TOO_LONG => {}
            Remedy::Compact => {
                let detail = format!(
                    "the prompt is as short as it gets and still too long for the model ({reason}); make the job with \
                     fewer --budget-tokens, or resume with another --model"
                );
                events.push(Event::Held { reason: HoldReason::Limit, detail });
            }
            Remedy::Configure => events.push(Event::Held { reason: HoldReason::Paused, detail: reason }),
        }
        events
    }
}
