//! The circuit breaker of one model server. Pure: `now` is the time since the endpoint was made.
//!
//! ```text
//! Closed { failures } ──fifth failure running──▶ Open { probe: At(now + 1 s) }
//!   ▲                                              │ take_probe, when due: to one caller
//!   │                                              ▼
//!   └──────any answer──────────────────────────  Open { probe: UnderWay }
//!                                                  │ failed: At(now + twice the interval), at most a minute
//!                                                  │ without a result: At(now + interval)
//! ```
//!
//! Each call carries the round in which it began; a round ends when an open breaker closes. A call of an earlier round
//! that fails late says nothing about a server that has answered since, and an earlier probe frees no later one.

use std::time::Duration;

/// Consecutive failures after which only probes are let through.
const MOST_FAILURES: u32 = 5;
/// The pause before the first probe.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between a probe that failed and the next one.
const LAST_INTERVAL: Duration = Duration::from_mins(1);

/// A call, by the breaker's round in which it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BreakerCall {
    pub(super) round: u64,
    pub(super) is_probe: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Breaker {
    round: u64,
    state: BreakerState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BreakerState {
    Closed { failures: u32 },
    Open { interval: Duration, probe: Probing },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probing {
    /// The next probe is due at this time.
    At(Duration),
    /// A caller is probing now.
    UnderWay,
}

impl Breaker {
    pub(super) fn new() -> Self {
        Self { round: 0, state: BreakerState::Closed { failures: 0 } }
    }

    pub(super) fn is_open(&self) -> bool {
        self.probing().is_some()
    }

    /// `None` while calls are let through.
    pub(super) fn probing(&self) -> Option<Probing> {
        match self.state {
            BreakerState::Closed { .. } => None,
            BreakerState::Open { probe, .. } => Some(probe),
        }
    }

    /// Begins a call if allowed: any call while the breaker is closed, otherwise only that of the holder of `probe`.
    pub(super) fn begin(&self, probe: Option<BreakerCall>) -> Option<BreakerCall> {
        match self.state {
            // A probe that waited until another call was answered is an ordinary call.
            BreakerState::Closed { .. } => Some(BreakerCall { round: self.round, is_probe: false }),
            BreakerState::Open { .. } => probe.filter(|probe| probe.is_probe && probe.round == self.round),
        }
    }

    /// Hands the probe, once it is due, to the first caller that asks.
    pub(super) fn take_probe(&mut self, now: Duration) -> Option<BreakerCall> {
        match &mut self.state {
            BreakerState::Open { probe: probe @ Probing::At(_), .. } if matches!(*probe, Probing::At(due) if due <= now) =>
            {
                *probe = Probing::UnderWay;
                Some(BreakerCall { round: self.round, is_probe: true })
            }
            BreakerState::Open { .. } | BreakerState::Closed { .. } => None,
        }
    }

    /// A reply to any call arrived: the server answers.
    pub(super) fn answered(&mut self) {
        if self.is_open() {
            self.round += 1;
        }
        self.state = BreakerState::Closed { failures: 0 };
    }

    /// A call failed, and the server is at fault.
    pub(super) fn failed(&mut self, call: BreakerCall, now: Duration) {
        if call.round != self.round {
            return;
        }
        match &mut self.state {
            BreakerState::Closed { failures } if *failures + 1 < MOST_FAILURES => *failures += 1,
            BreakerState::Closed { .. } => {
                let probe = Probing::At(now.saturating_add(FIRST_INTERVAL));
                self.state = BreakerState::Open { interval: FIRST_INTERVAL, probe };
            }
            BreakerState::Open { interval, probe } if call.is_probe => {
                *interval = (*interval * 2).min(LAST_INTERVAL);
                *probe = Probing::At(now.saturating_add(*interval));
            }
            // This call began before the others failed, and adds nothing new.
            BreakerState::Open { .. } => {}
        }
    }

    /// A call ended without showing whether the server answers.
    pub(super) fn undecided(&mut self, call: BreakerCall, now: Duration) {
        match &mut self.state {
            BreakerState::Open { interval, probe } if call.is_probe && call.round == self.round => {
                *probe = Probing::At(now.saturating_add(*interval));
            }
            BreakerState::Open { .. } | BreakerState::Closed { .. } => {}
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

    fn opened(now: Duration) -> Breaker {
        let mut breaker = Breaker::new();
        let call = breaker.begin(None).unwrap();
        for _ in 0..5 {
            breaker.failed(call, now);
        }
        breaker
    }

    #[test]
    fn it_opens_at_the_fifth_failure_running() {
        let mut breaker = Breaker::new();
        let call = breaker.begin(None).unwrap();
        let mut seen = Vec::new();
        // `f`: the server fails, `a`: it answers, `u`: the outcome is unknown.
        for step in "fffafuffuuffff".chars() {
            match step {
                'f' => breaker.failed(call, seconds(7)),
                'a' => breaker.answered(),
                _ => breaker.undecided(call, seconds(7)),
            }
            seen.push(breaker.state);
        }
        let closed = [1, 2, 3, 0, 1, 1, 2, 3, 3, 3, 4].map(|failures| BreakerState::Closed { failures });
        let open = BreakerState::Open { interval: seconds(1), probe: Probing::At(seconds(8)) };
        assert_eq!(seen, [&closed[..], &[open; 3]].concat());
    }

    #[test]
    fn probes_come_at_growing_intervals() {
        let mut breaker = opened(Duration::ZERO);
        let mut waits = Vec::new();
        let mut now = Duration::ZERO;
        for round in 0..10 {
            let Some(Probing::At(due)) = breaker.probing() else { panic!("{breaker:?}") };
            waits.push(due.saturating_sub(now).as_secs());
            assert_eq!(breaker.take_probe(due.saturating_sub(Duration::from_nanos(1))), None);
            let probe = breaker.take_probe(due).unwrap();
            assert_eq!((breaker.take_probe(due), breaker.probing()), (None, Some(Probing::UnderWay)));
            now = due + seconds(5);
            // The third probe is dropped: the next comes after the same time.
            if round == 2 { breaker.undecided(probe, now) } else { breaker.failed(probe, now) }
        }
        assert_eq!(waits, [1, 2, 4, 4, 8, 16, 32, 60, 60, 60]);
        breaker.answered();
        assert_eq!(breaker, Breaker { round: 1, state: BreakerState::Closed { failures: 0 } });
    }

    #[test]
    fn calls_of_an_earlier_round_say_nothing_of_this_one() {
        let mut breaker = opened(Duration::ZERO);
        let early = BreakerCall { round: 0, is_probe: false };
        let probe = breaker.take_probe(seconds(1)).unwrap();
        breaker.answered();
        for call in [early, early, early, early, early, probe] {
            breaker.failed(call, seconds(2));
        }
        assert_eq!(breaker.state, BreakerState::Closed { failures: 0 });
        let call = breaker.begin(Some(probe)).unwrap();
        assert_eq!(call, BreakerCall { round: 1, is_probe: false });
        for _ in 0..5 {
            breaker.failed(call, seconds(3));
        }
        assert_eq!((breaker.begin(None), breaker.begin(Some(probe))), (None, None));
        let later = breaker.take_probe(seconds(4)).unwrap();
        breaker.undecided(probe, seconds(4));
        assert_eq!((breaker.begin(Some(later)), breaker.probing()), (Some(later), Some(Probing::UnderWay)));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Pass(u64),
        Begin,
        Ask,
        Answered(usize),
        Failed(usize),
        Dropped(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0_u64..90_000).prop_map(Step::Pass),
            (0_u64..3_000).prop_map(Step::Pass),
            Just(Step::Begin),
            Just(Step::Begin),
            Just(Step::Ask),
            Just(Step::Ask),
            (0_usize..8).prop_map(Step::Answered),
            (0_usize..8).prop_map(Step::Failed),
            (0_usize..8).prop_map(Step::Failed),
            (0_usize..8).prop_map(Step::Failed),
            (0_usize..8).prop_map(Step::Dropped),
        ]
    }

    proptest! {
            #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
            #[test]
            fn one_probe_at_most_and_never_stuck(steps in proptest::collection::vec(step(), 0..120)) {
                let mut breaker = Breaker::new();
                let mut now = Duration::ZERO;
                let mut calls: Vec<BreakerCall> = Vec::new();
                // The counts that follow from the documented rules.
                let (mut running, mut closings, mut failed_probes) = (0, 0, 0_u32);
                let mut left_alone = Duration::ZERO;
                for step in steps {
                    match step {
                        Step::Pass(millis) => now += Duration::from_millis(millis),
                        Step::Begin => calls.extend(breaker.begin(None)),
                        Step::Ask => {
                            let is_free = running == 5 && calls.iter().all(|call| !call.is_probe || call.round != closings);
                            let interval = seconds(1 << failed_probes.min(6)).min(seconds(60));
                            let expected = is_free && now >= left_alone + interval;
                            let probe = breaker.take_probe(now);
                            prop_assert_eq!(probe.is_some(), expected);
                            calls.extend(probe);
                        }
                        Step::Answered(place) => if place < calls.len() {
                            calls.remove(place);
                            breaker.answered();
                            closings += u64::from(running == 5);
                            (running, failed_probes) = (0, 0);
                        },
                        Step::Failed(place) => if place < calls.len() {
                            let call = calls.remove(place);
                            breaker.failed(call, now);
                            if call.round == closings && running < 5 {
                                running += 1;
                                left_alone = now;
                            } else if call.round == closings && call.is_probe {
                                failed_probes += 1;
                                left_alone = now;
                            }
                        },
                        Step::Dropped(place) => if place < calls.len() {
                            let call = calls.remove(place);
                            breaker.undecided(call, now);
                            if call.round == closings && call.is_probe {
                                left_alone = now;
                            }
                        },
                    }
                    prop_assert_eq!((breaker.is_open(), breaker.round), (running == 5, closings));
                    prop_assert_eq!(breaker.begin(None).is_none(), breaker.is_open());
                    let probes = calls.iter().filter(|call| call.is_probe && call.round == breaker.round).count();
                    prop_assert_eq!(probes, usize::from(breaker.probing() == Some(Probing::UnderWay)));
                }
                // Once all calls are over, a minute is enough to have a probe, and its answer is enough to go on.
                for call in calls {
     breaker.undecided(call, now);
    }
                if breaker.is_open() {
                    prop_assert!(breaker.take_probe(now + seconds(60)).is_some());
                    breaker.answered();
                }
                prop_assert!(!breaker.is_open());
            }
        }
}
