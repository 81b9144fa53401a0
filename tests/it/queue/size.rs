//! A queue with tens of thousands of jobs: what comes out is right. How long it takes, `benches/queue` measures.

use super::{A, B, MINUTE, Place, batch, batch_id, id, ids, on_both, queued};
use overnight::store::{Enqueued, Group, QueuedJob, Swept};
use overnight_core::job::digest::sha256;

async fn ten_thousand_are_one_submission(place: Place) {
    let store = place.store().await;
    let jobs: Vec<QueuedJob> = (0..10_000).map(queued).collect();
    assert_eq!(store.submit(&batch(1), &jobs, true).await, Ok(Enqueued { jobs: 10_000, linked: 0 }));
    // Half of them are found done.
    place.sql("update jobs set status = 'completed'").await;
    let again: Vec<QueuedJob> = (10_000..20_000)
        .map(|number| {
            let done = if number % 2 == 0 { number - 10_000 } else { number };
            QueuedJob { documents_sha256: Some(sha256(format!("document {done}").as_bytes())), ..queued(number) }
        })
        .collect();
    assert_eq!(store.submit(&batch(2), &again, true).await, Ok(Enqueued { jobs: 10_000, linked: 5_000 }));
    assert_eq!(store.batch_entries(batch_id(2)).await.unwrap().len(), 10_000);
}

async fn what_ended_and_what_waits_is_passed_over(place: Place) {
    let store = place.store().await;
    let group = |key: &str| Some(Group { key: key.to_owned(), at_once: 1 });
    // First in line: those that ended, those of a group without room, those of another machine, those whose time hasn't come.
    for part in 0..5 {
        let jobs: Vec<QueuedJob> = (0..10_000).map(|number| queued(part * 10_000 + number)).collect();
        store.submit(&batch(part), &jobs, false).await.unwrap();
    }
    place.sql("update jobs set status = 'completed'").await;
    let mut jobs: Vec<QueuedJob> = (50_000..60_000).map(|n| QueuedJob { group: group("full"), ..queued(n) }).collect();
    jobs.extend((60_000..65_000).map(|n| QueuedJob { label: "elsewhere".to_owned(), ..queued(n) }));
    jobs.extend(
        (65_000..70_000).map(|n| QueuedJob { run_after: Some(super::at("2099-01-01T00:00:00.000Z")), ..queued(n) }),
    );
    jobs.extend((70_000..70_400).map(queued));
    store.submit(&batch(6), &jobs, false).await.unwrap();
    place.sql("update jobs set host = 'elsewhere' where label = 'elsewhere'").await;
    assert_eq!(ids(&store.claim_next(A, "here", 1, MINUTE).await.unwrap()), [id(50_000)]);
    for number in 0..100 {
        assert_eq!(ids(&store.claim_next(B, "here", 1, MINUTE).await.unwrap()), [id(70_000 + number)]);
    }
    assert_eq!(store.claim_next(B, "here", 300, MINUTE).await.unwrap().len(), 300);
    assert_eq!(store.heartbeat(B, MINUTE).await.unwrap().len(), 400);
    assert_eq!(store.sweep().await, Ok(Swept::default()));
}

on_both! {
    ten_thousand_are_one_submission
    what_ended_and_what_waits_is_passed_over
}
