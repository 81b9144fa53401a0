//! Lists: pages, names, and which rows have changed.

use super::{A, MINUTE, Place, batch, batch_id, id, on_both, queued};
use overnight::store::{JobPageQuery, QueuedJob, Store};
use overnight_core::job::{id::JobId, record::JobStatus};
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
    let totals = store.job_totals().await.unwrap();
    assert_eq!((totals.running, totals.queued, store.count_batches().await), (2, 24, Ok(2)));
    let heads = store.batch_heads(vec![batch_id(1), batch_id(2), batch_id(9)]).await.unwrap();
    let mut names: Vec<_> = heads.values().map(|head| head.name.clone().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["night 1", "night 2"]);
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
