//! Lists: pages, names, and which rows have changed.

use super::{A, MINUTE, Place, batch, batch_id, id, on_both, queued};
use overnight::store::{JobPageQuery, QueuedJob, Store};
use overnight_core::job::record::JobStatus;
use std::collections::BTreeSet;

async fn pages_of_a_list(place: Place) {
    let store = place.store().await;
    let label = |number: u32| if number % 2 == 0 { "Übersicht 50%_a.pdf" } else { "contract.md" };
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

/// Jobs of which a change is told from `since` on, and the next horizon.
async fn changed(store: &dyn Store, since: Option<u64>) -> (BTreeSet<u32>, u64) {
    let changes = store.job_changes(since).await.unwrap();
    assert!(!changes.is_cut);
    let number = |job| (0..100).find(|number| id(*number) == job).unwrap();
    (changes.rows.iter().map(|change| number(change.job)).collect(), changes.horizon)
}

async fn each_committed_change_is_told(place: Place) {
    let store = place.store().await;
    let (none, horizon) = changed(&*store, None).await;
    assert_eq!(none, BTreeSet::new());
    store.submit(&batch(1), &(0..3).map(queued).collect::<Vec<_>>(), false).await.unwrap();
    let (first, next) = changed(&*store, Some(horizon)).await;
    assert_eq!(first, BTreeSet::from([0, 1, 2]));
    assert_eq!(changed(&*store, Some(next)).await.0, BTreeSet::new());
    let claimed = store.claim_next(A, "here", 1, MINUTE).await.unwrap();
    assert_eq!(changed(&*store, Some(next)).await.0, BTreeSet::from([0]));
    // That it is alive is no change.
    let (_, next) = changed(&*store, Some(next)).await;
    store.renew(claimed[0].id, claimed[0].lease, MINUTE).await.unwrap();
    assert_eq!(changed(&*store, Some(next)).await.0, BTreeSet::new());
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
        let (_, horizon) = changed(&*store, None).await;
        let change = |number| format!("update jobs set updated = now() where id = '{}'", id(number));
        let mut early = PgConnection::connect(&place.url).await.unwrap();
        early.execute("begin").await.unwrap();
        early.execute(AssertSqlSafe(change(0))).await.unwrap();
        place.sql(change(1)).await;
        let (seen, horizon) = changed(&*store, Some(horizon)).await;
        assert_eq!(seen, BTreeSet::from([1]), "what isn't committed isn't told");
        assert_eq!(changed(&*store, Some(horizon)).await.0, BTreeSet::from([1]), "the open one holds the horizon");
        early.execute("commit").await.unwrap();
        let (seen, horizon) = changed(&*store, Some(horizon)).await;
        assert_eq!(seen, BTreeSet::from([0, 1]));
        assert_eq!(changed(&*store, Some(horizon)).await.0, BTreeSet::new());
    }
}
