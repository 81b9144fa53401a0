//! Jumps of the database's clock: it was set wrongly or corrected. They are detected by comparison with a monotonic
//! clock. Live workers then renew their leases by the new time before any lease is taken from a worker.

use super::context::WorkerContext;
use crate::batch::schedule::mend_runs;
use overnight_core::job::time::{Timestamp, duration};
use std::time::{Duration, Instant};

/// The most by which the clocks may differ between two checks: the database may answer late, and a machine may sleep.
const TOLERANCE: Duration = Duration::from_secs(10);

/// The database's clock at the last check.
#[derive(Debug, Default)]
pub(super) struct ClockWatch(Option<(Timestamp, Instant)>);

/// The size of a clock's jump, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockJump {
    Back(u64),
    Forward(u64),
}

impl ClockJump {
    fn told(self) -> String {
        let (by, which) = match self {
            Self::Back(ms) => (ms, "back"),
            Self::Forward(ms) => (ms, "forward"),
        };
        format!(
            "the database's clock was set {which} by {}: leases and schedules are reckoned by the new time",
            duration(by)
        )
    }
}

impl ClockWatch {
    /// Notes that the clock was at `now` at `seen`; returns its jump since the last note, if any.
    fn note(&mut self, now: Timestamp, seen: Instant) -> Option<ClockJump> {
        let (before, then) = self.0.replace((now, seen))?;
        let passed = seen.saturating_duration_since(then);
        let expected = before.after(passed);
        let tolerated = u64::try_from(TOLERANCE.as_millis()).unwrap_or(u64::MAX);
        let jump = if now < expected {
            ClockJump::Back(expected.millis_since(now))
        } else {
            ClockJump::Forward(now.millis_since(expected))
        };
        let (ClockJump::Back(ms) | ClockJump::Forward(ms)) = jump;
        (ms > tolerated).then_some(jump)
    }

    /// Checks the database's clock, and reports a jump. True: it has jumped. Schedules whose next run was computed from
    /// a later time are recomputed, even if no worker noticed the jump.
    pub(super) async fn look(&mut self, context: &WorkerContext) -> bool {
        let Ok(now) = context.store.clock().await else { return false };
        let jump = self.note(now, Instant::now());
        if let Some(jump) = jump {
            context.note(jump.told());
        }
        if context.supply.submit().is_some()
            && let Ok(mended) = mend_runs(context.store.as_ref(), now).await
        {
            for name in mended {
                context.note(format!("schedule {name}: its next run is reckoned anew, because the clock was set back"));
            }
        }
        jump.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_a_clock_that_only_goes_on_is_a_jump() {
        let (start, now) = (Instant::now(), Timestamp::default().after(Duration::from_hours(100)));
        let at = |seconds| start + Duration::from_secs(seconds);
        let hours = |hours, seconds| now.after(Duration::from_hours(hours)).after(Duration::from_secs(seconds));
        let mut watch = ClockWatch::default();
        let seen = [
            watch.note(now, at(0)),
            watch.note(hours(0, 9), at(4)),
            watch.note(hours(10, 8), at(8)),
            watch.note(hours(0, 12), at(12)),
            watch.note(hours(0, 16), at(16)),
        ];
        let ten = 36_000_000;
        assert_eq!(seen, [None, None, Some(ClockJump::Forward(ten - 5_000)), Some(ClockJump::Back(ten)), None]);
    }
}
