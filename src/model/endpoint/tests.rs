//! Jobs at one endpoint, in virtual time.

use super::*;
use proptest::prelude::*;
use std::{future::Future, sync::atomic::AtomicU64};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

/// A log of what happened, each entry with its second.
#[derive(Clone)]
struct Log {
    start: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    fn new() -> Self {
        Self { start: Instant::now(), lines: Arc::default() }
    }

    fn say(&self, what: &str) {
        self.lines.lock().unwrap().push(format!("{} {what}", self.start.elapsed().as_secs_f64()));
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

fn endpoint(requests: Option<u64>, tokens: Option<u64>, parallel: Option<u64>) -> Arc<Endpoint> {
    let pace = RateLimits { requests_per_minute: requests, tokens_per_minute: tokens, parallel_calls: parallel };
    Endpoint::new("api.example".to_owned(), pace)
}

fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, "no")
}

async fn take_down(endpoint: &Arc<Endpoint>) {
    for _ in 0..5 {
        endpoint.admit(1, None).await.unwrap().failed(&failure(FailureKind::Unreachable));
    }
}

/// Lets all tasks run as far as they get without time passing.
async fn settle() {
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
}

fn state(is_down: bool, next_probe: Option<u64>, calls_under_way: u64, waiting: usize, held: usize) -> EndpointState {
    let next_probe = next_probe.map(Duration::from_secs);
    EndpointState { name: "api.example".to_owned(), is_down, next_probe, calls_under_way, waiting, held }
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_finds_out_and_all_go_on_when_the_server_answers() {
    let (endpoint, log) = (endpoint(None, None, None), Log::new());
    take_down(&endpoint).await;
    let mut jobs = JoinSet::new();
    for job in ["a", "b", "c", "d", "e"] {
        let (endpoint, log) = (endpoint.clone(), log.clone());
        jobs.spawn(async move {
            loop {
                match endpoint.wake().await {
                    WakeReason::Answers => return log.say(&format!("{job} goes on")),
                    WakeReason::Probe(probe) => {
                        log.say(&format!("{job} probes"));
                        if job == "b" {
                            // Its job is cancelled before the call begins.
                            drop(probe);
                            return;
                        }
                        let permit = endpoint.admit(1, Some(probe)).await.unwrap();
                        sleep(Duration::from_secs(1)).await;
                        match job {
                            "a" => permit.failed(&failure(FailureKind::Server)),
                            // Its job is cancelled while the call is under way.
                            "c" => return drop(permit),
                            _ => return permit.answered(1),
                        }
                    }
                }
            }
        });
    }
    settle().await;
    assert_eq!(endpoint.state(), state(true, Some(1), 0, 0, 5));
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(endpoint.state(), state(true, None, 1, 0, 4));
    while jobs.join_next().await.is_some() {}
    assert_eq!(endpoint.state(), state(false, None, 0, 0, 0));
    // 1, then doubled after the failure, and the same again after each probe without a result.
    assert_eq!(log.lines(), ["1 a probes", "4 b probes", "6 c probes", "9 d probes", "10 e goes on", "10 a goes on"]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_limits_is_told_when_the_server_goes_down() {
    let (endpoint, log) = (endpoint(None, None, Some(5)), Log::new());
    let mut calls = Vec::new();
    for _ in 0..5 {
        calls.push(endpoint.admit(1, None).await.unwrap());
    }
    let mut jobs = JoinSet::new();
    for job in 0..3 {
        let (endpoint, log) = (endpoint.clone(), log.clone());
        jobs.spawn(async move {
            let admitted = endpoint.admit(1, None).await;
            log.say(&format!("{job} {:?}", admitted.map(drop)));
        });
    }
    sleep(Duration::from_secs(3)).await;
    assert_eq!((endpoint.state(), log.lines()), (state(false, None, 5, 3, 0), Vec::new()));
    let slow = calls.pop().unwrap();
    for call in calls {
        call.failed(&failure(FailureKind::Stalled));
    }
    slow.failed(&failure(FailureKind::TimedOut));
    while jobs.join_next().await.is_some() {}
    assert_eq!(log.lines(), ["3 0 Err(ServerDown)", "3 1 Err(ServerDown)", "3 2 Err(ServerDown)"]);
    assert_eq!(endpoint.admit(1, None).await.map(drop), Err(ServerDown));
}

#[tokio::test(start_paused = true)]
async fn any_answer_ends_an_outage_and_late_failures_begin_none() {
    let endpoint = endpoint(None, None, None);
    let mut early = Vec::new();
    for _ in 0..7 {
        early.push(endpoint.admit(1, None).await.unwrap());
    }
    take_down(&endpoint).await;
    let held = tokio::spawn({
        let endpoint = endpoint.clone();
        async move { endpoint.wake().await }
    });
    sleep(Duration::from_secs(1)).await;
    let WakeReason::Probe(probe) = held.await.unwrap() else { panic!("the first has the probe") };
    early.pop().unwrap().answered(1);
    assert!(matches!(endpoint.wake().await, WakeReason::Answers));
    for call in early {
        call.failed(&failure(FailureKind::TimedOut));
    }
    assert!(!endpoint.is_down());
    // The next outage is another: the old probe is no right to call, and its end frees nothing.
    take_down(&endpoint).await;
    assert_eq!(endpoint.admit(1, Some(probe)).await.map(drop), Err(ServerDown));
    assert_eq!(endpoint.state(), state(true, Some(1), 0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_outage_neither_counts_nor_resets() {
    let endpoint = endpoint(None, None, None);
    let mut seen = Vec::new();
    let kinds = [FailureKind::RateLimited, FailureKind::ContextLength, FailureKind::Malformed, FailureKind::Exhausted];
    for kind in kinds {
        endpoint.admit(1, None).await.unwrap().failed(&failure(FailureKind::Overloaded));
        for _ in 0..9 {
            endpoint.admit(1, None).await.unwrap().failed(&failure(kind));
        }
        seen.push(endpoint.is_down());
    }
    endpoint.admit(1, None).await.unwrap().failed(&failure(FailureKind::BrokenStream));
    seen.push(endpoint.is_down());
    assert_eq!(seen, [false, false, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_to_be_left_alone_is_left_alone_by_all() {
    let (endpoint, log) = (endpoint(None, None, None), Log::new());
    let asked =
        |seconds| Failure { retry_after: Some(Duration::from_secs(seconds)), ..failure(FailureKind::RateLimited) };
    for (name, seconds) in [("first", 30), ("years", u64::MAX), ("now", 0)] {
        endpoint.admit(1, None).await.unwrap().failed(&asked(seconds));
        let mut jobs = JoinSet::new();
        for job in 0..2 {
            let (endpoint, log) = (endpoint.clone(), log.clone());
            jobs.spawn(async move {
                endpoint.admit(1, None).await.unwrap().answered(1);
                log.say(&format!("{name} {job}"));
            });
        }
        while jobs.join_next().await.is_some() {}
    }
    assert_eq!(log.lines(), ["30 first 0", "30 first 1", "3630 years 0", "3630 years 1", "3630 now 0", "3630 now 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_hundred_calls_at_sixty_a_minute_take_a_minute() {
    let (endpoint, log) = (endpoint(Some(60), None, None), Log::new());
    let mut jobs = JoinSet::new();
    for job in 0..100 {
        let (endpoint, log) = (endpoint.clone(), log.clone());
        jobs.spawn(async move {
            let permit = endpoint.admit(1, None).await.unwrap();
            log.say(&job.to_string());
            permit.answered(1);
        });
    }
    while jobs.join_next().await.is_some() {}
    let expected: Vec<_> = (0..100).map(|job| format!("{} {job}", if job < 60 { 0 } else { 60 })).collect();
    assert_eq!(log.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn jobs_take_turns_however_much_each_asks_for() {
    let (endpoint, log) = (endpoint(None, None, Some(1)), Log::new());
    let mut jobs = JoinSet::new();
    for (job, calls) in [("a", 6), ("b", 6), ("c", 2)] {
        let (endpoint, log) = (endpoint.clone(), log.clone());
        jobs.spawn(async move {
            for _ in 0..calls {
                let permit = endpoint.admit(1, None).await.unwrap();
                log.say(job);
                sleep(Duration::from_secs(1)).await;
                permit.answered(1);
            }
        });
    }
    while jobs.join_next().await.is_some() {}
    let turns = log.lines().join(" ");
    assert_eq!(turns, "0 a 1 b 2 c 3 a 4 b 5 c 6 a 7 b 8 a 9 b 10 a 11 b 12 a 13 b");
}

#[tokio::test(start_paused = true)]
async fn a_reply_smaller_than_expected_lets_the_next_call_through() {
    let (endpoint, log) = (endpoint(None, Some(1000), None), Log::new());
    let large = endpoint.admit(900, None).await.unwrap();
    let mut jobs = JoinSet::new();
    for tokens in [600, 100, 5000] {
        let (endpoint, log) = (endpoint.clone(), log.clone());
        jobs.spawn(async move {
            let permit = endpoint.admit(tokens, None).await.unwrap();
            log.say(&tokens.to_string());
            permit.answered(tokens);
        });
    }
    sleep(Duration::from_secs(10)).await;
    // First come, first served: the small call would fit, and waits behind the large one.
    assert_eq!((endpoint.state(), log.lines()), (state(false, None, 1, 3, 0), Vec::new()));
    large.answered(300);
    while jobs.join_next().await.is_some() {}
    assert_eq!(log.lines(), ["10 600", "10 100", "70 5000"]);
}

#[tokio::test(start_paused = true)]
async fn who_stops_waiting_is_in_nobodys_way() {
    let endpoint = endpoint(None, None, Some(1));
    let permit = endpoint.admit(1, None).await.unwrap();
    let mut admits: Vec<_> = (0..4).map(|_| Box::pin(endpoint.admit(1, None))).collect();
    for admit in &mut admits {
        assert!(timeout(Duration::from_secs(1), admit).await.is_err());
    }
    assert_eq!(endpoint.state(), state(false, None, 1, 4, 0));
    // The second goes while it waits, the first when its turn has just come.
    drop(admits.remove(1));
    permit.answered(1);
    drop(admits.remove(0));
    for admit in admits {
        admit.await.unwrap().failed(&failure(FailureKind::RateLimited));
    }
    take_down(&endpoint).await;
    let mut wakes: Vec<_> = (0..3).map(|_| Box::pin(endpoint.wake())).collect();
    for wake in &mut wakes {
        assert!(timeout(Duration::from_millis(100), wake).await.is_err());
    }
    drop(wakes.remove(0));
    sleep(Duration::from_secs(5)).await;
    let last = wakes.pop().unwrap();
    let probe = wakes.pop().unwrap().await;
    assert!(matches!(probe, WakeReason::Probe(_)));
    drop(probe);
    assert!(matches!(last.await, WakeReason::Probe(_)));
    assert_eq!(endpoint.state(), state(true, Some(1), 0, 0, 0));
}

/// Counts how often a task is looked at.
async fn counted<F: Future>(polls: &AtomicU64, future: F) -> F::Output {
    let mut future = Box::pin(future);
    std::future::poll_fn(|context| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(context)
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn thousands_wait_at_no_cost() {
    const JOBS: usize = 20_000;
    let (endpoint, polls) = (endpoint(None, None, Some(1)), Arc::new(AtomicU64::new(0)));
    let gone = Arc::new(AtomicU64::new(0));
    let mut jobs = JoinSet::new();
    take_down_later(&endpoint, &mut jobs).await;
    for _ in 0..JOBS {
        let (endpoint, polls, gone) = (endpoint.clone(), polls.clone(), gone.clone());
        jobs.spawn(async move {
            let admitted = counted(&polls, endpoint.admit(1, None)).await;
            assert_eq!(admitted.map(drop), Err(ServerDown));
            match counted(&polls, endpoint.wake()).await {
                WakeReason::Answers => drop(gone.fetch_add(1, Ordering::Relaxed)),
                WakeReason::Probe(probe) => {
                    let permit = endpoint.admit(1, Some(probe)).await.unwrap();
                    sleep(Duration::from_hours(2)).await;
                    permit.answered(1);
                }
            }
        });
    }
    sleep(Duration::from_hours(1)).await;
    assert_eq!(endpoint.state(), state(true, None, 1, 0, JOBS - 1));
    // Each began to wait twice, and was woken once, by the outage; the first of each queue a few times more.
    let waited = polls.load(Ordering::Relaxed);
    assert!((3 * JOBS as u64 - 10..=3 * JOBS as u64 + 10).contains(&waited), "{waited}");
    sleep(Duration::from_secs(3500)).await;
    assert_eq!(polls.load(Ordering::Relaxed), waited);
    while jobs.join_next().await.is_some() {}
    assert_eq!(gone.load(Ordering::Relaxed), JOBS as u64 - 1);
}

/// Four failures, and a call under way that fails in ten seconds.
async fn take_down_later(endpoint: &Arc<Endpoint>, jobs: &mut JoinSet<()>) {
    for _ in 0..4 {
        endpoint.admit(1, None).await.unwrap().failed(&failure(FailureKind::Server));
    }
    let permit = endpoint.admit(1, None).await.unwrap();
    jobs.spawn(async move {
        sleep(Duration::from_secs(10)).await;
        permit.failed(&failure(FailureKind::Stalled));
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    /// Jobs that call, fail, are cancelled at any moment: the rest get through, within the limits.
    #[test]
    fn whoever_is_cancelled_the_rest_get_through(
        parallel in 1_u64..5,
        requests in 3_u64..40,
        jobs in proptest::collection::vec(
            // Calls, milliseconds of each, failures first, milliseconds until it is cancelled.
            (1_u64..6, 0_u64..3000, 0_u64..4, proptest::option::of(0_u64..60_000)), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let uncancelled: Vec<usize> = (0..jobs.len()).filter(|place| jobs[*place].3.is_none()).collect();
        let (done, most) = runtime.block_on(async {
            let endpoint = endpoint(Some(requests), None, Some(parallel));
            let most = Arc::new(AtomicU64::new(0));
            let mut tasks = JoinSet::new();
            for (place, (calls, millis, mut failures, end)) in jobs.into_iter().enumerate() {
                let (endpoint, most) = (endpoint.clone(), most.clone());
                let work = async move {
                    let (mut left, mut probe) = (calls, None);
                    while left > 0 {
                        let Ok(permit) = endpoint.admit(1, probe.take()).await else {
                            if let WakeReason::Probe(given) = endpoint.wake().await {
                                probe = Some(given);
                            }
                            continue;
                        };
                        most.fetch_max(endpoint.state().calls_under_way, Ordering::Relaxed);
                        sleep(Duration::from_millis(millis)).await;
                        if failures > 0 {
                            failures -= 1;
                            permit.failed(&failure(FailureKind::Server));
                        } else {
                            left -= 1;
                            permit.answered(1);
                        }
                    }
                };
                tasks.spawn(async move {
                    let end = end.unwrap_or(86_400_000);
                    timeout(Duration::from_millis(end), work).await.is_ok().then_some(place)
                });
            }
            let done = tasks.join_all().await.into_iter().flatten().collect::<Vec<usize>>();
            assert_eq!(EndpointState { is_down: false, next_probe: None, ..endpoint.state() }, state(false, None, 0, 0, 0));
            (done, most.load(Ordering::Relaxed))
        });
        prop_assert!(uncancelled.iter().all(|place| done.contains(place)), "only {done:?} of {uncancelled:?}");
        prop_assert!(most <= parallel, "{} calls at once", most);
    }
}
