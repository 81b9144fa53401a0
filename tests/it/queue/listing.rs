//! Lists: pages, names, and which rows have changed.

use super::{A, MINUTE, Place, at, at_work, batch, batch_id, checkpoint, id, on_both, queued};
use overnight::store::{BatchWork, JobPageQuery, JobTarget, QueuedJob, RecentWork, Store, WaitingJobs};
use overnight_core::job::{
    id::JobId,
    record::{HoldReason, JobStatus, JobSummary},
};
use std::collections::BTreeSet;

async fn pages_of_a_list(place: Place) {
    let store = place.store().await;
    let label = |number: u32| if number.is_multiple_of(2) { "Übersicht 50%_a.pdf" } else { "contract.md" };
    let jobs: Vec<QueuedJob> = (0..25).map(|n| QueuedJob { label: label(n).to_owned(), ..queued(n) }).collect();
    store.submit(&batch(1), &jobs, false).await.unwrap();
    store.submit(&batch(2), &[queued(30)], false).await.unwrap();
    let page = async |query: JobPageQuery| {
        let (rows, found) = store.job_page(&JobPageQuery { most: 10, ..query }).await.unwrap();
        (rows.into_iter().map(|row| row.job.id).collect::<Vec<_>>(), found)
    };
    let of_first = || JobPageQuery { batch: Some(batch_id(1)), ..JobPageQuery::default() };
    let mut seen = BTreeSet::new();
    for skipped in [0, 10, 20] {
        let (ids, found) = page(JobPageQuery { skipped, ..of_first() }).await;
        assert_eq!((ids.len(), found), (if skipped == 20 { 5 } else { 10 }, 25));
        seen.extend(ids);
    }
    assert_eq!(seen, (0..25).map(id).collect());
    let count = async |text: &str| page(JobPageQuery { text: text.to_owned(), ..of_first() }).await.1;
    for (text, found) in [("contract", 12), ("CONTRACT", 12), ("übersicht", 13), ("0%_A", 13), ("0%a", 0), ("", 25)] {
        assert_eq!(count(text).await, found, "{text}");
    }
    assert_eq!(count(&id(3).to_string()).await, 1);
    let running = || JobPageQuery { status: Some(JobStatus::Running), ..JobPageQuery::default() };
    assert_eq!(page(running()).await, (vec![], 0));
    store.claim_next(A, "here", 2, MINUTE).await.unwrap();
    assert_eq!(page(running()).await.1, 2);
    let counts = async |text: &str| {
        let wanted = JobPageQuery { text: text.to_owned(), ..of_first() };
        let alike = store.job_counts(&wanted).await.unwrap().into_iter();
        alike.map(|alike| (alike.status, alike.hold_reason, alike.jobs, alike.of_batches)).collect::<Vec<_>>()
    };
    let (queued_ones, running_ones) = ((JobStatus::Queued, None, 23, 23), (JobStatus::Running, None, 2, 2));
    assert_eq!(counts("").await, [queued_ones, running_ones]);
    store.hold(JobTarget::Job(id(9)), HoldReason::Paused, None).await.unwrap();
    assert_eq!(counts(&id(9).to_string()).await, [(JobStatus::Held, Some(HoldReason::Paused), 1, 1)]);
    store.resume(JobTarget::Job(id(9))).await.unwrap();
    let totals = store.job_totals().await.unwrap();
    assert_eq!((totals.running, totals.queued, store.count_batches().await), (2, 24, Ok(2)));
    let heads = store.batch_heads(vec![batch_id(1), batch_id(2), batch_id(9)]).await.unwrap();
    let mut names: Vec<_> = heads.values().map(|head| head.name.clone().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["night 1", "night 2"]);
}

async fn sums_of_a_batch(place: Place) {
    let store = place.store().await;
    let work = async || store.batch_work(batch_id(1)).await.unwrap();
    let recent = async || store.recent_work(batch_id(1), 2).await.unwrap();
    assert_eq!((work().await, recent().await), (BatchWork::default(), RecentWork::default()));
    let until =
        |number, hour| QueuedJob { run_after: Some(at(&format!("2099-01-01T{hour}:00:00.000Z"))), ..queued(number) };
    let jobs = [queued(1), queued(2), queued(3), queued(4), queued(5), until(6, "09"), until(7, "08")];
    store.submit(&batch(1), &jobs, false).await.unwrap();
    store.submit(&batch(2), &[queued(30)], false).await.unwrap();
    store.claim_next(A, "here", 4, MINUTE).await.unwrap();
    for (number, worked_ms, status) in [
        (1, 700, JobStatus::Completed),
        (2, 300, JobStatus::Partial),
        (3, 900, JobStatus::Failed),
        (4, 0, JobStatus::Completed),
    ] {
        let completed_at = Some(at(&format!("2026-11-22T0{number}:00:00.000Z")));
        let state = JobSummary { status, worked_ms, completed_at, turns: 5, tokens_in: 70, tokens_out: 3, ..at_work() };
        store.checkpoint(id(number), 1, &checkpoint(state)).await.unwrap();
    }
    store.hold(JobTarget::Job(id(5)), HoldReason::Paused, None).await.unwrap();
    let mut found = work().await;
    found.waiting.sort_by_key(|alike| (alike.status == JobStatus::Held, alike.until));
    let alike = |status, hold_reason, jobs, until| WaitingJobs { status, hold_reason, host: None, jobs, until };
    let waiting = vec![
        alike(JobStatus::Queued, None, 2, Some(at("2099-01-01T08:00:00.000Z"))),
        alike(JobStatus::Held, Some(HoldReason::Paused), 1, None),
    ];
    assert_eq!(found, BatchWork { turns: 20, tokens_in: 280, tokens_out: 12, worked_ms: 1_900, waiting });
    let ends = [4, 3].map(|hour| at(&format!("2026-11-22T0{hour}:00:00.000Z"))).to_vec();
    assert_eq!(recent().await, RecentWork { ends, middle_ms: Some(300) });
    let ids: BTreeSet<_> = store.all_ids().await.unwrap().into_iter().collect();
    let expected = (1..8).chain([30]).map(|number| id(number).0).chain([batch_id(1), batch_id(2)]);
    assert_eq!(ids, expected.collect());
}

/// Who asks again from the horizon on, and leaves out what was seen. Another database of the same server may hold the horizon.
struct Watcher<'s> {
    store: &'s dyn Store,
    horizon: Option<u64>,
    seen: BTreeSet<(JobId, u64)>,
}

impl<'s> Watcher<'s> {
    async fn new(store: &'s dyn Store) -> Self {
        let mut watcher = Self { store, horizon: None, seen: BTreeSet::new() };
        watcher.changed().await;
        watcher
    }

    /// Jobs that have changed since it was asked last.
    async fn changed(&mut self) -> BTreeSet<u32> {
        let changes = self.store.job_changes(self.horizon).await.unwrap();
        assert!(!changes.is_cut);
        self.horizon = Some(changes.horizon);
        let new = changes.rows.iter().filter(|change| self.seen.insert((change.job, change.number)));
        new.map(|change| (0..100).find(|number| id(*number) == change.job).unwrap()).collect()
    }
}

async fn each_committed_change_is_told(place: Place) {
    let store = place.store().await;
    let mut watcher = Watcher::new(&*store).await;
    store.submit(&batch(1), &(0..3).map(queued).collect::<Vec<_>>(), false).await.unwrap();
    assert_eq!(watcher.changed().await, BTreeSet::from([0, 1, 2]));
    assert_eq!(watcher.changed().await, BTreeSet::new());
    let claimed = store.claim_next(A, "here", 1, MINUTE).await.unwrap();
    assert_eq!(watcher.changed().await, BTreeSet::from([0]));
    // That it is alive is no change.
    store.renew(claimed[0].id, claimed[0].lease, MINUTE).await.unwrap();
    assert_eq!(watcher.changed().await, BTreeSet::new());
}

on_both! {
    pages_of_a_list
    sums_of_a_batch
    each_committed_change_is_told
}

/// A transaction that began first and is committed last: by a clock, or by a number given at its beginning, its change would lie
/// before what was seen.
mod concurrent {
    use super::*;
    use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

    #[tokio::test]
    async fn postgres() {
        let place = Place::postgres().await;
        let store = place.store().await;
        store.submit(&batch(1), &(0..3).map(queued).collect::<Vec<_>>(), false).await.unwrap();
        let mut watcher = Watcher::new(&*store).await;
        let change = |number| format!("update jobs set updated = now() where id = '{}'", id(number));
        let mut early = PgConnection::connect(&place.url).await.unwrap();
        early.execute("begin").await.unwrap();
        early.execute(AssertSqlSafe(change(0))).await.unwrap();
        place.sql(change(1)).await;
        assert_eq!(watcher.changed().await, BTreeSet::from([1]), "what isn't committed isn't told");
        place.sql(change(2)).await;
        assert_eq!(watcher.changed().await, BTreeSet::from([2]));
        early.execute("commit").await.unwrap();
        assert_eq!(watcher.changed().await, BTreeSet::from([0]));
        assert_eq!(watcher.changed().await, BTreeSet::new());
    }
}
