//! Who goes first, and who must wait.

use super::{A, B, MINUTE, Place, at, batch, checkpoint, completed, expire, id, ids, on_both, one, queued};
use overnight::store::{Enqueued, Group, NewBatch, QueuedJob, Store};
use overnight_core::job::id::JobId;
use std::{collections::BTreeSet, sync::Arc};
use uuid::Uuid;

/// All that can be claimed now, one by one.
async fn line(store: &dyn Store, host: &str) -> Vec<JobId> {
    let mut line = Vec::new();
    loop {
        let claimed = store.claim_next(A, host, 1, MINUTE).await.unwrap();
        let Some(job) = claimed.first() else { return line };
        line.push(job.id);
    }
}

async fn first_come_first_served_but_for_priority(place: Place) {
    let store = place.store().await;
    let hour =
        |number: u32, time: &str| NewBatch { created: at(&format!("2026-11-21T{time}:00.000Z")), ..batch(number) };
    let job = |number, priority| QueuedJob { priority, ..queued(number) };
    store.submit(&hour(1, "20:00"), &[job(3, 0), job(1, 0), job(2, 2), job(4, -1)], false).await.unwrap();
    // Half an hour later: a step of priority passes by, but not for more than the hour that it is worth.
    store.submit(&hour(2, "20:30"), &[job(5, 1), job(6, 0)], false).await.unwrap();
    store.submit(&hour(3, "21:30"), &[job(7, 1), job(8, i32::MIN), job(9, i32::MAX)], false).await.unwrap();
    assert_eq!(line(&*store, "here").await, [9, 2, 5, 1, 3, 6, 7, 4, 8].map(id));
}

async fn who_comes_back_keeps_its_place(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2), queued(3)], false).await.unwrap();
    assert_eq!(ids(&store.claim_next(A, "here", 2, MINUTE).await.unwrap()), [id(1), id(2)]);
    store.give_back(id(2), 1, 0, None).await.unwrap();
    expire(&place, 1).await;
    store.sweep().await.unwrap();
    assert_eq!(ids(&store.claim_next(B, "here", 9, MINUTE).await.unwrap()), [1, 2, 3].map(id));
}

/// A worker without the workspace store could only put such a job down again.
async fn a_job_in_the_workspace_store_waits_for_a_worker_that_has_one(place: Place) {
    let store = place.store().await;
    store.register_worker(A, "here", 1, true).await.unwrap();
    store.register_worker(B, "here", 2, false).await.unwrap();
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.claim_next(A, "here", 1, MINUTE).await.unwrap();
    store.set_manifest(id(1), 1, "manifests/x").await.unwrap();
    store.give_back(id(1), 1, 0, None).await.unwrap();
    assert_eq!(ids(&store.claim_next(B, "here", 9, MINUTE).await.unwrap()), [id(2)]);
    store.checkpoint(id(2), 1, &checkpoint(completed())).await.unwrap();
    assert_eq!(
        [store.has_work(&[], "here", false).await, store.has_work(&[], "here", true).await],
        [Ok(false), Ok(true)]
    );
    assert_eq!(ids(&store.claim_next(A, "here", 9, MINUTE).await.unwrap()), [id(1)]);
}

async fn a_job_waits_for_its_time_and_its_machine(place: Place) {
    let store = place.store().await;
    let after = |number, time| QueuedJob { run_after: Some(at(time)), ..queued(number) };
    let past = "2026-01-01T00:00:00.000Z";
    store
        .submit(&batch(1), &[after(1, "2099-01-01T00:00:00.000Z"), after(2, past), queued(3), queued(4)], false)
        .await
        .unwrap();
    // The workspace of the third lies on another machine.
    store.claim_next(A, "there", 2, MINUTE).await.unwrap();
    store.set_workspace(id(3), 1, "workspaces/3", Some("there")).await.unwrap();
    store.give_back(id(3), 1, 0, None).await.unwrap();
    store.give_back(id(2), 1, 0, None).await.unwrap();
    assert_eq!(line(&*store, "here").await, [2, 4].map(id));
    assert_eq!(line(&*store, "").await, []);
    let claimed = store.claim_next(A, "there", 5, MINUTE).await.unwrap();
    assert_eq!(ids(&claimed), [id(3)]);
    assert_eq!((claimed[0].workspace.as_str(), claimed[0].host.as_deref()), ("workspaces/3", Some("there")));
    // What wasn't submitted is nobody's.
    place.sql("update jobs set batch = null, status = 'queued', run_after = null").await;
    assert_eq!(line(&*store, "there").await, []);
}

fn grouped(number: u32, key: &str, at_once: u32) -> QueuedJob {
    QueuedJob { group: Some(Group { key: key.to_owned(), at_once }), ..queued(number) }
}

async fn a_group_has_room_for_so_many(place: Place) {
    let store = place.store().await;
    let mut jobs: Vec<QueuedJob> = (1..=4).map(|number| grouped(number, "a", 2)).collect();
    jobs.extend([grouped(5, "b", 1), grouped(6, "b", 1), grouped(7, "", 0), queued(8), grouped(9, "c", 0)]);
    store.submit(&batch(1), &jobs, false).await.unwrap();
    assert_eq!(one(&*store, 1).await.job, jobs[0]);
    assert_eq!(ids(&store.claim_next(A, "here", 3, MINUTE).await.unwrap()), [1, 2, 5].map(id));
    // No room for none would be a job that never runs.
    assert_eq!(ids(&store.claim_next(A, "here", 9, MINUTE).await.unwrap()), [7, 8, 9].map(id));
    store.checkpoint(id(2), 1, &checkpoint(completed())).await.unwrap();
    assert_eq!(line(&*store, "here").await, [id(3)]);
    // Who is lost makes room, and stands first in line for it.
    expire(&place, 1).await;
    store.sweep().await.unwrap();
    assert_eq!(line(&*store, "here").await, [id(1)]);
    // The last word on a group holds for all of it.
    store.submit(&batch(2), &[grouped(10, "a", 3)], false).await.unwrap();
    assert_eq!(line(&*store, "here").await, [id(4)]);
    store.submit(&batch(3), &[grouped(11, "a", 1)], false).await.unwrap();
    for number in [1, 3, 4] {
        assert_eq!(line(&*store, "here").await, []);
        let lease = one(&*store, number).await.lease;
        store.checkpoint(id(number), lease, &checkpoint(completed())).await.unwrap();
    }
    assert_eq!(line(&*store, "here").await, [id(10)]);
}

/// Many claim at once, over several connections: each job goes to one, and a group never has more than its room.
async fn no_two_get_the_same_job(place: Place) {
    let store = place.store().await;
    let jobs: Vec<QueuedJob> = (0..240)
        .map(|number| match number % 4 {
            0 => grouped(number, "a", 3),
            1 => grouped(number, "b", 7),
            _ => queued(number),
        })
        .collect();
    assert_eq!(store.submit(&batch(1), &jobs, false).await, Ok(Enqueued { jobs: 240, linked: 0 }));
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 1..=6_u128 {
        let store: Arc<dyn Store> = if worker % 2 == 0 { store.clone() } else { place.store().await };
        tasks.spawn(async move {
            let mut got = Vec::new();
            loop {
                let claimed = store.claim_next(Uuid::from_u128(worker), "here", 5, MINUTE).await.unwrap();
                if claimed.is_empty() {
                    return got;
                }
                got.extend(ids(&claimed));
            }
        });
    }
    let got: Vec<JobId> = tasks.join_all().await.into_iter().flatten().collect();
    let different: BTreeSet<JobId> = got.iter().copied().collect();
    assert_eq!((got.len(), different.len()), (120 + 3 + 7, 120 + 3 + 7));
    let counted = "select cast(count(*) as text) from jobs where status = 'running' and group_key = ";
    assert_eq!(place.value(format!("{counted} 'a'")).await, "3");
    assert_eq!(place.value(format!("{counted} 'b'")).await, "7");
    // Together with those that still wait, all are there.
    let totals = store.totals(super::batch_id(1)).await.unwrap();
    assert_eq!((totals.running, totals.queued), (130, 110));
}

on_both! {
    a_job_in_the_workspace_store_waits_for_a_worker_that_has_one
    first_come_first_served_but_for_priority
    who_comes_back_keeps_its_place
    a_job_waits_for_its_time_and_its_machine
    a_group_has_room_for_so_many
    no_two_get_the_same_job
}
