//! The rate limits of one model server. Pure: `now` is the time since the endpoint was made; the endpoint decides who waits,
//! and in what order.
//!
//! Requests and tokens are held to a sliding window: in no minute, wherever it begins, do they exceed the limit. A
//! bucket that refills would let through nearly twice the limit in its first minute. The crate `governor` has only such
//! buckets. It can't refund tokens that were charged and not used, can't close until a given moment, and doesn't queue
//! in the order of asking; the code needed around it would be larger than the part it provides.

use std::{collections::VecDeque, time::Duration};

const MINUTE: Duration = Duration::from_mins(1);

/// The rate limits of one server; `None`: no limit is set. Zero counts as one: a server that accepts nothing is no server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens.
    pub tokens_per_minute: Option<u64>,
    pub parallel_calls: Option<u64>,
}

/// Admits calls, by what the calls of the last minute have used of the limits.
#[derive(Debug)]
pub(super) struct RateGate {
    pace: RateLimits,
    /// The server asked for no calls until this time.
    closed_until: Duration,
    under_way: u64,
    /// When the calls of the last minute began, oldest first. Empty without a limit.
    begun: VecDeque<Duration>,
    /// Tokens of the last minute, oldest first, by ascending number. Empty without a limit.
    charges: VecDeque<Charge>,
    /// The sum of `charges`.
    charged: u128,
    next_charge: u64,
}

#[derive(Debug)]
struct Charge {
    number: u64,
    at: Duration,
    tokens: u64,
}

/// An admitted call, and its charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    charge: u64,
    tokens: u64,
}

/// Why a call may not begin yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateClosed {
    /// Not before this time.
    Until(Duration),
    /// Not before a call ends.
    Full,
}

impl RateGate {
    pub(super) fn new(pace: RateLimits) -> Self {
        Self {
            pace,
            closed_until: Duration::ZERO,
            under_way: 0,
            begun: VecDeque::new(),
            charges: VecDeque::new(),
            charged: 0,
            next_charge: 0,
        }
    }

    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    /// Admits one call of about `tokens`, or returns when to ask again. A call with more tokens than the limit of a
    /// minute is admitted when no other calls of the last minute are charged.
    pub(super) fn enter(&mut self, tokens: u64, now: Duration) -> Result<Admission, GateClosed> {
        self.forget(now);
        if self.pace.parallel_calls.is_some_and(|most| self.under_way >= most.max(1)) {
            return Err(GateClosed::Full);
        }
        if let Some(until) = self.shut_until(tokens).filter(|until| *until > now) {
            return Err(GateClosed::Until(until));
        }
        self.under_way += 1;
        if self.pace.requests_per_minute.is_some() {
            self.begun.push_back(now);
        }
        Ok(Admission { charge: self.charge(tokens, now), tokens })
    }

    /// A call is over.
    pub(super) fn leave(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Corrects a charge. An excess is refunded where it was charged; a shortfall is charged now, as the provider
    /// counts output when it arrives.
    pub(super) fn settle(&mut self, entry: Admission, tokens: u64, now: Duration) {
        self.forget(now);
        if let Some(more) = tokens.checked_sub(entry.tokens).filter(|more| *more > 0) {
            self.charge(more, now);
            return;
        }
        // A charge older than a minute is forgotten, and there is nothing to give back.
        if let Ok(place) = self.charges.binary_search_by_key(&entry.charge, |charge| charge.number) {
            let charge = &mut self.charges[place];
            self.charged = self.charged.saturating_sub(u128::from(charge.tokens.saturating_sub(tokens)));
            charge.tokens = charge.tokens.min(tokens);
        }
    }

    /// Admits no calls until this time.
    pub(super) fn close(&mut self, until: Duration) {
        self.closed_until = self.closed_until.max(until);
    }

    fn charge(&mut self, tokens: u64, at: Duration) -> u64 {
        let number = self.next_charge;
        self.next_charge += 1;
        if self.pace.tokens_per_minute.is_some() {
            self.charges.push_back(Charge { number, at, tokens });
            self.charged += u128::from(tokens);
        }
        number
    }

    /// The time at which the call will be admitted if no other call begins or ends.
    fn shut_until(&self, tokens: u64) -> Option<Duration> {
        let requests = self.pace.requests_per_minute.and_then(|most| {
            let most = usize::try_from(most.max(1)).unwrap_or(usize::MAX);
            // The number of calls to forget before one more is within the limit.
            let place = self.begun.len().checked_sub(most)?;
            self.begun.get(place).map(|begun| begun.saturating_add(MINUTE))
        });
        let tokens = self.pace.tokens_per_minute.and_then(|most| {
            let mut left = self.charged;
            let mut until = None;
            for charge in &self.charges {
                if left == 0 || left + u128::from(tokens) <= u128::from(most.max(1)) {
                    break;
                }
                left = left.saturating_sub(u128::from(charge.tokens));
                until = Some(charge.at.saturating_add(MINUTE));
            }
            until
        });
        requests.max(tokens).max(Some(self.closed_until))
    }

    /// Drops entries that are a minute old.
    fn forget(&mut self, now: Duration) {
        while self.begun.front().is_some_and(|begun| begun.saturating_add(MINUTE) <= now) {
            self.begun.pop_front();
        }
        while let Some(charge) = self.charges.pop_front_if(|charge| charge.at.saturating_add(MINUTE) <= now) {
            self.charged = self.charged.saturating_sub(u128::from(charge.tokens));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn gate(requests: Option<u64>, tokens: Option<u64>, parallel: Option<u64>) -> RateGate {
        RateGate::new(RateLimits { requests_per_minute: requests, tokens_per_minute: tokens, parallel_calls: parallel })
    }

    /// The results for several calls, each given as the second of its request and its tokens.
    fn heard(gate: &mut RateGate, asks: &[(u64, u64)]) -> Vec<Result<(), GateClosed>> {
        asks.iter().map(|(at, tokens)| gate.enter(*tokens, seconds(*at)).map(drop)).collect()
    }

    #[test]
    fn requests_of_any_minute_are_within_the_limit() {
        assert_eq!(
            heard(&mut gate(Some(2), None, None), &[(0, 9), (40, 9), (41, 9), (59, 9), (60, 9), (61, 9), (100, 9)]),
            [
                Ok(()),
                Ok(()),
                Err(GateClosed::Until(seconds(60))),
                Err(GateClosed::Until(seconds(60))),
                Ok(()),
                Err(GateClosed::Until(seconds(100))),
                Ok(())
            ]
        );
    }

    #[test]
    fn tokens_of_any_minute_are_within_the_limit() {
        assert_eq!(
            heard(
                &mut gate(None, Some(100), None),
                &[(0, 30), (10, 30), (20, 40), (30, 1), (30, 31), (30, 61), (60, 30)]
            ),
            [
                Ok(()),
                Ok(()),
                Ok(()),
                Err(GateClosed::Until(seconds(60))),
                Err(GateClosed::Until(seconds(70))),
                Err(GateClosed::Until(seconds(80))),
                Ok(())
            ]
        );
    }

    #[test]
    fn a_call_larger_than_a_minute_goes_alone() {
        assert_eq!(
            heard(&mut gate(None, Some(100), None), &[(0, 1), (1, 500), (60, 500), (61, 0), (119, 1), (120, 1)]),
            [
                Ok(()),
                Err(GateClosed::Until(seconds(60))),
                Ok(()),
                Err(GateClosed::Until(seconds(120))),
                Err(GateClosed::Until(seconds(120))),
                Ok(())
            ]
        );
    }

    #[test]
    fn a_call_that_used_nothing_stands_in_nobodys_way() {
        let mut gate = gate(None, Some(100), None);
        let first = gate.enter(40, seconds(0)).unwrap();
        gate.settle(first, 0, seconds(1));
        assert_eq!(heard(&mut gate, &[(1, 500), (2, 1)]), [Ok(()), Err(GateClosed::Until(seconds(61)))]);
    }

    #[test]
    fn what_a_call_was_charged_is_set_right() {
        let mut gate = gate(None, Some(100), None);
        let large = gate.enter(90, seconds(0)).unwrap();
        assert_eq!(gate.enter(20, seconds(1)), Err(GateClosed::Until(seconds(60))));
        gate.settle(large, 50, seconds(2));
        let small = gate.enter(20, seconds(3)).unwrap();
        assert_eq!(gate.charged, 70);
        // Its output came later than its input, and is charged when it came.
        gate.settle(small, 50, seconds(30));
        assert_eq!(
            heard(&mut gate, &[(31, 1), (60, 50), (61, 1), (63, 1)]),
            [Err(GateClosed::Until(seconds(60))), Ok(()), Err(GateClosed::Until(seconds(63))), Ok(())]
        );
        // Long forgotten: nothing is refunded, and the excess is charged.
        gate.settle(large, 0, seconds(200));
        assert_eq!(gate.charged, 0);
        gate.settle(small, u64::MAX, seconds(200));
        gate.settle(small, u64::MAX, seconds(200));
        assert_eq!(heard(&mut gate, &[(259, 1), (260, 1)]), [Err(GateClosed::Until(seconds(260))), Ok(())]);
    }

    #[test]
    fn a_closed_gate_lets_nobody_through_and_a_full_one_nobody_more() {
        let mut gate = gate(None, None, Some(2));
        gate.close(seconds(20));
        gate.close(seconds(10));
        assert_eq!(
            heard(&mut gate, &[(19, 0), (20, 0), (20, 0), (20, 0)]),
            [Err(GateClosed::Until(seconds(20))), Ok(()), Ok(()), Err(GateClosed::Full)]
        );
        gate.leave();
        assert_eq!((heard(&mut gate, &[(20, 0), (20, 0)]), gate.under_way()), (vec![Ok(()), Err(GateClosed::Full)], 2));
    }

    #[test]
    fn without_limits_nothing_is_kept() {
        let mut gate = gate(None, None, None);
        assert!(heard(&mut gate, &[(0, u64::MAX); 1000]).into_iter().all(|heard| heard.is_ok()));
        assert_eq!((gate.begun.len(), gate.charges.len(), gate.charged, gate.under_way()), (0, 0, 0, 1000));
    }

    proptest! {
        /// Each call begins at the first moment that the gate allows; no minute exceeds the limits.
        #[test]
        fn no_minute_has_more_than_the_limits(
            requests in 0_u64..6,
            limit in 0_u64..200,
            calls in proptest::collection::vec((0_u64..40, 0_u64..120, 0_u64..120), 1..60),
        ) {
            let mut gate = gate(Some(requests), Some(limit), None);
            let (mut now, mut begun) = (Duration::ZERO, Vec::<(Duration, u64)>::new());
            for (pause, expected, tokens) in calls {
                now += seconds(pause);
                let mut asked = 0;
                let entry = loop {
                    match gate.enter(expected, now) {
                        Ok(entry) => break entry,
                        Err(GateClosed::Until(until)) => {
                            prop_assert!(until > now && until <= now + MINUTE);
                            now = until;
                        }
                        Err(GateClosed::Full) => prop_assert!(false, "there is no such limit"),
                    }
                    asked += 1;
                    prop_assert!(asked < 2, "what is told is the moment, when nothing else happens");
                };
                let minute = |begun: &[(Duration, u64)]| -> (u64, u64) {
                    let last = begun.iter().filter(|(at, _)| *at + MINUTE > now);
                    last.fold((0, 0), |(calls, sum), (_, tokens)| (calls + 1, sum + tokens))
                };
                let (others, sum) = minute(&begun);
                prop_assert!(others < requests.max(1));
                prop_assert!(sum == 0 || sum + expected <= limit.max(1), "{sum} and {expected}");
                gate.settle(entry, tokens, now);
                gate.leave();
                begun.push((now, tokens));
            }
        }
    }
}
