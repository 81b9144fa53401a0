//! Decides about a job whose attempt ended before the job did: the only place that does. SQL gets the numbers.
//!
//! - An attempt that gets further in turns than the job was at the claim resets the failed ones before it: only
//!   consecutive failures at the same place count.
//! - With as many failed attempts as allowed, a job is given up: it has failed and waits for `retry` (dead letter).
//! - Otherwise it is queued again, with a longer wait after each attempt. A lost worker costs one step less than an
//!   error, and nothing at first, because most workers die through no fault of the job.

/// How long a job waits after its first failed attempt; twice as long after each further one.
const FIRST_WAIT_MS: u64 = 10_000;

/// The longest wait of a job after an attempt.
const LONGEST_WAIT_MS: u64 = 600_000;

/// The reason of a job that was given up because its workers were lost.
const WORKERS_LOST: &str =
    "given up: each time, the worker that had it died or stopped answering; `overnight retry` queues it again";

/// The wait of a job in milliseconds after a failed attempt, with `before` failed attempts before it.
pub fn backoff_ms(before: u32) -> u64 {
    FIRST_WAIT_MS.saturating_mul(1 << before.min(20)).min(LONGEST_WAIT_MS)
}

/// The attempts at a job that its worker no longer has.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryAttempts {
    /// The number that failed before this one, and how many may fail.
    pub(super) failed: u32,
    pub(super) allowed: u32,
    /// Turns of the job when this one began, and now.
    pub(super) turns_at_claim: u64,
    pub(super) turns: u64,
}

/// The decision about the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AfterAttempt {
    /// The number of failed attempts from now on.
    pub(super) attempts: u32,
    /// It has failed; otherwise it is queued, to be taken after `wait_ms` milliseconds at the earliest.
    pub(super) is_given_up: bool,
    pub(super) wait_ms: u64,
    pub(super) reason: Option<String>,
}

impl RetryAttempts {
    fn in_a_row(self) -> u32 {
        if self.turns > self.turns_at_claim { 0 } else { self.failed }
    }

    fn failed_once_more(
        self,
        wait_ms: u64,
        reason: Option<String>,
        last_words: impl Fn(u32) -> String,
    ) -> AfterAttempt {
        let attempts = self.in_a_row().saturating_add(1);
        let is_given_up = attempts >= self.allowed;
        let reason = if is_given_up { Some(last_words(attempts)) } else { reason };
        AfterAttempt { attempts, is_given_up, wait_ms, reason }
    }

    /// The worker gives the job back: without a reason this costs no attempt; with `failed` it does.
    pub(super) fn given_back(self, wait_ms: u64, failed: Option<&str>) -> AfterAttempt {
        let Some(why) = failed else {
            return AfterAttempt { attempts: self.failed, is_given_up: false, wait_ms, reason: None };
        };
        self.failed_once_more(wait_ms, Some(why.to_owned()), |attempts| {
            format!("given up after attempt {attempts}: {why}")
        })
    }

    /// The worker didn't keep its lease.
    pub(super) fn worker_lost(self) -> AfterAttempt {
        let wait_ms = self.in_a_row().checked_sub(1).map_or(0, backoff_ms);
        self.failed_once_more(wait_ms, None, |_| WORKERS_LOST.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_the_last_attempt_gives_up() {
        let after = |failed, turns| RetryAttempts { failed, allowed: 4, turns_at_claim: 5, turns };
        let waits = |call: fn(RetryAttempts) -> AfterAttempt| {
            [0, 1, 2, 3]
                .map(|failed| call(after(failed, 5)))
                .map(|then| (then.attempts, then.wait_ms, then.is_given_up))
        };
        let lost = waits(RetryAttempts::worker_lost);
        assert_eq!(lost, [(1, 0, false), (2, 10_000, false), (3, 20_000, false), (4, 40_000, true)]);
        assert_eq!(
            after(3, 6).worker_lost(),
            AfterAttempt { attempts: 1, is_given_up: false, wait_ms: 0, reason: None }
        );
        let back = waits(|attempts| attempts.given_back(7, Some("it broke")));
        assert_eq!(back, [(1, 7, false), (2, 7, false), (3, 7, false), (4, 7, true)]);
        assert_eq!([0, 1, 5, 6, u32::MAX].map(backoff_ms), [10_000, 20_000, 320_000, 600_000, 600_000]);
    }
}
